"""Traces of programs that keep the tracer busy, made by Go of PATH, kept on disk.

``channels`` is `tests.traces.make.big` (channels, short goroutines, loopback
connections, tasks), the other kinds of work are in ``busy.go``; ``objects`` is of the
alloc/free experiment. Base and new are two runs of the same program.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.traces.make import BIG_GODEBUG, TRIES, big
from tests.traces.toolchains import cached, environment, run_go, version

VERSION = 3
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


def _busy(name: str, godebug: str = "") -> Callable[[Path, float], None]:
    """Return what makes a trace of one of the kinds in ``busy.go``."""
    settings = ",".join(filter(None, (BIG_GODEBUG, godebug)))

    def made(path: Path, size: float) -> None:
        if path.exists():
            return
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        command = [_program(), name, str(int(size)), str(draft)]
        # Go 1.26 spoils traces of the experiment now and then: see `Maker.spoils`.
        for _ in range(TRIES if godebug else 1):
            subprocess.run(
                command, env=environment() | {"GODEBUG": settings}, check=not godebug
            )
            if not godebug or _read_by_go(draft):
                draft.replace(path)
                return
        raise subprocess.SubprocessError(f"Go spoiled {TRIES} traces: {name}")

    return made


def _read_by_go(path: Path) -> bool:
    """Return whether ``go tool trace`` reads a trace to its end."""
    command = ["go", "tool", "trace", "-pprof=sched", path]
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return done.returncode == 0


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
    "goroutines": _busy("goroutines"),
    "objects": _busy("objects", "traceallocfree=1"),
}

if __name__ == "__main__":
    print(*make(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])), sep="\n")
