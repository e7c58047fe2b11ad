"""Commands run side by side, each with its wall time and its peak memory.

This process has to stay small: Linux counts the memory of the process that starts a
child, up to its exec, towards the child's peak. So nothing here imports numpy.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
# What an installed command does without: pip compiles its modules, and it buffers.
_NOT_SET = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}


class BenchmarkError(Exception):
    """A command did not do its work: its time means nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: wall and processor seconds, peak memory in bytes."""

    wall: float
    cpu: float
    peak: int


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the least and greatest it was taken from."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: list[float]) -> Spread:
        """Return the spread of some numbers."""
        return cls(median(numbers), min(numbers), max(numbers))


def run(command: list[str]) -> Run:
    """Run a command once, its output thrown away; raises BenchmarkError if it fails."""
    settings = {k: v for k, v in os.environ.items() if k not in _NOT_SET}
    settings["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            # Not here, whose pyproject.toml would be read for settings.
            cwd=tempfile.gettempdir(),
            env=settings,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        # Popen did not wait itself: set it, or it warns of a child left behind.
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip()[-2000:]
            msg = f"exit status {process.returncode}: {' '.join(command)}\n{said}"
            raise BenchmarkError(msg)
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def compared(commands: list[list[str]], rounds: int) -> list[list[Run]]:
    """Run all commands in turn, `rounds` times, after one warm-up of each.

    Returns a list of runs for each round, in the order of `commands`. Which of them
    comes first rotates, so that none always has the machine the other leaves behind.
    """
    for command in commands:
        run(command)
    size = len(commands)
    found: list[list[Run]] = []
    for i in range(rounds):
        order = [(i + k) % size for k in range(size)]
        runs = {k: run(commands[k]) for k in order}
        found.append([runs[k] for k in range(size)])
    return found
