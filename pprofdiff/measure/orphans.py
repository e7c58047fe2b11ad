"""Adopt processes that measured programs leave behind, and kill them (Linux).

While a program runs, this process is a child subreaper (prctl(2),
PR_SET_CHILD_SUBREAPER): a descendant whose parent exits becomes its child. Other
children are never touched: those that existed before, and those in this process's own
session, which a program, running in its own session, cannot rejoin.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
# How long killed processes may take to exit: their ports are needed again.
_GONE_S, _PAUSE_S = 5.0, 0.01


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
    """Set the subreaper flag; return its old value, 1 if unknown."""
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
    """Yield the pids of this process's children in other sessions."""
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
