"""Run programs, and kill everything that they started when they end.

A process group is killed at once. What left it (setsid, a daemon) is adopted on Linux:
while a program runs, this process is a child subreaper (prctl(2),
PR_SET_CHILD_SUBREAPER), so that a descendant whose parent exits becomes its child.
Other children are never touched: those that existed before, and those in this process's
own session, which a program, running in its own session, cannot rejoin.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Any, NamedTuple

from pprofdiff.errors import MeasureError
from pprofdiff.units import printable

# How much of a failed program's output is repeated.
_LINES = 10
_BYTES = 1 << 16
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
# How long killed processes may take to exit: their ports are needed again.
_GONE_S, _PAUSE_S = 5.0, 0.01


class Program(NamedTuple):
    """A program to run: words (never shell text), folder and environment."""

    words: Sequence[str]
    folder: str
    environment: Mapping[str, str]


@contextmanager
def started(
    program: Program, out: IO[bytes], errors: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program; kill it and everything it started when the block ends.

    Raises MeasureError if it cannot be started.
    """
    with adopted():
        process = None
        try:
            with signals_later():
                process = _popen(program, out, errors)
            yield process
        finally:
            if process is not None:
                _end(process)


def _popen(
    program: Program, out: IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - a list of words, no shell
            program.words,
            cwd=program.folder,
            env={**program.environment, "PWD": program.folder},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        name = printable(program.words[0])
        reason = getattr(error, "strerror", None) or str(error)
        raise MeasureError(f"{name}: cannot be started: {reason}") from None


@contextmanager
def signals_later() -> Iterator[None]:
    """Defer signals to the end of the block, when a starting process is known."""
    caught: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    with suppress(ValueError):
        for name in {"SIGINT", "SIGTERM", "SIGHUP"} & set(signal.Signals.__members__):
            number = signal.Signals[name]
            handler = signal.getsignal(number)
            if callable(handler):
                signal.signal(number, lambda *of: caught.append(of))
                handlers[number] = handler
    try:
        yield
    finally:
        for caught_by, handler in handlers.items():
            signal.signal(caught_by, handler)
        for came, frame in caught:
            handlers[came](came, frame)


class Ended(NamedTuple):
    """How a process ended, and its resource usage, children included.

    `status` is negative for a signal. `wall_s` is the time from start to exit. `cpu_s`
    is user and system time; `preempted` is the number of involuntary context switches.
    Both are None without ``wait4``.
    """

    status: int
    wall_s: float = 0.0
    cpu_s: float | None = None
    preempted: int | None = None


def run(program: Program, out: IO[bytes], errors: IO[bytes]) -> Ended:
    """Run a program to its end."""
    began = time.monotonic()
    with started(program, out, errors) as process:
        _over(process)
        ended = Ended(0, time.monotonic() - began)
        if hasattr(os, "wait4"):
            # Kill its process group while the pid is still reserved.
            _end_group(process)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu_s = usage.ru_utime + usage.ru_stime
            ended = ended._replace(cpu_s=cpu_s, preempted=usage.ru_nivcsw)
    return ended._replace(status=process.returncode)


def _over(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has exited, without reaping it: that would free its pid."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has exited, without reaping it."""
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll() is not None
    flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
    return os.waitid(os.P_PID, process.pid, flags) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    # The pid of a reaped process may have been reused.
    if process.returncode is None:
        _end_group(process)
        process.wait()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def first_lines(*texts: bytes) -> tuple[str, ...]:
    """Return the first non-empty lines of a program's output, made printable."""
    lines = (line for text in texts for line in text[:_BYTES].splitlines())
    shown = (printable(line.decode("utf-8", "replace").expandtabs(4)) for line in lines)
    return tuple([line for line in shown if line.strip()][:_LINES])


class _Running:
    """How many programs run now, and the children that belong to none of them."""

    def __init__(self) -> None:
        self.programs = 0
        self.others: set[int] = set()
        self.reaper_before = 0


_RUNNING = _Running()


@contextmanager
def adopted() -> Iterator[None]:
    """Adopt orphans of programs run in the block; kill them when the last one ends.

    While several programs run, an orphan's origin is unknown, and a server's children
    must not die with its load generator. As process 1, nothing is killed.
    """
    if not _RUNNING.programs:
        _RUNNING.others = set(_strangers())
        _RUNNING.reaper_before = _set_reaper(1)
    _RUNNING.programs += 1
    try:
        yield
    finally:
        _RUNNING.programs -= 1
        if not _RUNNING.programs:
            try:
                _end_orphans()
            finally:
                _set_reaper(_RUNNING.reaper_before)


def _set_reaper(value: int) -> int:
    if not sys.platform.startswith("linux"):
        return 1
    before = ctypes.c_int(1)
    with suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0)
        if before.value != value:
            prctl(_SET_SUBREAPER, value, 0, 0, 0)
    return before.value


def _end_orphans() -> None:
    """Kill adopted processes until none is left; their children are adopted in turn."""
    if os.getpid() == 1:
        return
    until = time.monotonic() + _GONE_S
    while _orphans_left() and time.monotonic() < until:
        time.sleep(_PAUSE_S)


def _orphans_left() -> bool:
    """SIGKILL every orphan and reap those that exited; return whether any exists."""
    found = False
    for pid in _strangers():
        if pid not in _RUNNING.others:
            found = True
            # A child keeps its pid until it is reaped here.
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
    return found


def _strangers() -> Iterator[int]:
    if not (_has_children() and os.path.isdir("/proc/self")):
        return
    own, session = os.getpid(), os.getsid(0)
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        with suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as file:
                # The process name, in parentheses, may contain anything.
                fields = file.read().rpartition(b")")[2].split()
            parent, its_session = int(fields[1]), int(fields[3])
            if parent == own and its_session != session:
                yield int(name)


def _has_children() -> bool:
    """Return whether there are children, a cheaper check than listing /proc."""
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
