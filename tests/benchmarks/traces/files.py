"""Traces of programs that keep the tracer busy, made by Go of PATH, kept on disk.

Three kinds of work: ``channels`` is `tests.traces.make.big` (channels, short goroutines,
loopback connections, tasks), ``syscalls`` and ``gc`` are in ``busy.go``. Base and new are
two runs of the same program.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.traces.make import BIG_GODEBUG, big
from tests.traces.toolchains import cached, environment, run_go, version

__all__ = ["WORKLOADS", "make"]

VERSION = 2
_BUSY = Path(__file__).with_name("busy.go")
# Bytes of the trace, by event of `big`.
_BYTES_AN_EVENT = 4.4


def make(folder: Path, workload: str, megabytes: float) -> tuple[Path, Path]:
    """Return base and new of about this size, made if they are not in `folder`."""
    home = folder / f"traces-v{VERSION}"
    home.mkdir(parents=True, exist_ok=True)
    made = []
    for side in ("base", "new"):
        path = home / f"{workload}-{megabytes:g}-{side}.trace"
        WORKLOADS[workload](path, megabytes * 1e6)
        made.append(path)
    return made[0], made[1]


def _channels(path: Path, size: float) -> None:
    big(path, int(size / _BYTES_AN_EVENT))


def _busy(name: str) -> Callable[[Path, float], None]:
    """Return what makes a trace of one of the kinds in ``busy.go``."""

    def made(path: Path, size: float) -> None:
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        subprocess.run(
            [_program(), name, str(int(size)), str(draft)],
            env=environment() | {"GODEBUG": BIG_GODEBUG}, check=True,
        )  # fmt: skip
        draft.replace(path)

    return made


def _program() -> Path:
    """Return ``busy.go`` as a program, built if need be."""
    program = cached(version(), _BUSY) / "busy"
    if not program.exists():
        draft = program.with_name(f"busy.{os.getpid()}")
        run_go("build", "-o", draft, _BUSY)
        draft.replace(program)
    return program


WORKLOADS: dict[str, Callable[[Path, float], None]] = {
    "channels": _channels,
    "syscalls": _busy("syscalls"),
    "gc": _busy("gc"),
}

if __name__ == "__main__":
    print(*make(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])), sep="\n")
