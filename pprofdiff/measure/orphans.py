"""What programs leave behind: adopted while they run, and ended after them (Linux).

While a program runs, this process is the reaper of its descendants (prctl(2),
PR_SET_CHILD_SUBREAPER): one whose parent has ended becomes its child, whatever session,
process group and environment it has. What is told from children of other origin is
never touched: those that were there before, and those of this process's own session,
to which a program, which has a session of its own, cannot return.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["adopted"]

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
# How long killed processes may take to go: a port of theirs is wanted again.
_GONE_S, _PAUSE_S = 5.0, 0.01


class _Running:
    """How many programs run now, and which children are none of theirs."""

    def __init__(self) -> None:
        self.programs = 0
        self.others: set[int] = set()
        self.reaper_before = 0


_RUNNING = _Running()


@contextmanager
def adopted() -> Iterator[None]:
    """Adopt what programs leave that run in the block, and end it with the last one.

    Where several run at once nothing tells whose an orphan is: a server's are not to
    end with its load. Process 1 adopts what others leave too, and ends nothing, as
    systems without prctl.
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
    """Set whether orphans become ours; return what it was, 1 where it is not known."""
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
    """End what was adopted, until there is none: children of what ends come next."""
    if os.getpid() == 1:
        return
    until = time.monotonic() + _GONE_S
    while _orphans_left() and time.monotonic() < until:
        time.sleep(_PAUSE_S)


def _orphans_left() -> bool:
    """Send SIGKILL to each orphan, collect those that ended; return whether any is."""
    found = False
    for pid in _strangers():
        if pid not in _RUNNING.others:
            found = True
            # A child keeps its number until it is collected, here.
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
    return found


def _strangers() -> Iterator[int]:
    """Yield the children of this process that have another session."""
    if not (_has_children() and os.path.isdir("/proc/self")):
        return
    own, session = os.getpid(), os.getsid(0)
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        with suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name in parentheses may hold anything.
                fields = file.read().rpartition(b")")[2].split()
            parent, its_session = int(fields[1]), int(fields[3])
            if parent == own and its_session != session:
                yield int(name)


def _has_children() -> bool:
    """Return whether there are any, which costs less than to look who."""
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
