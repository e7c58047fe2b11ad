"""The ledger of lock contention: who waits for which lock, and on which line."""

from __future__ import annotations

import re
from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.ledger.views import Dimension, Ledger, View
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.csr import first_in_row
from pprofdiff.model.profiles.profile import Profile

__all__ = ["LockWaits", "lock_waits"]

Column = NDArray[np.int64]

_OF_LOCKS = ("sync", "internal/sync", "runtime")
# Functions of locks, and channel sends, below which a profile counts waits.
_LOCK = re.compile(r"(internal/)?sync\.\(\*(Mutex|RWMutex)\)\.|runtime\.chansend")


class LockWaits(NamedTuple):
    """The waits for locks of a mutex or block profile.

    The dimensions of `ledger` are ``waiter`` and ``lock``, which are rows of
    `ProfileDiff.paired_functions`, and ``line``, a position in `lines`. Other samples
    have the code -1 in all of them. `lines` are ``main.go:57``, "" if unknown.
    """

    ledger: Ledger
    lines: list[str]

    @property
    def waiters(self) -> View:
        """The delays by ``waiter``."""
        return self.ledger.by("waiter").known("waiter")


def lock_waits(diff: ProfileDiff) -> LockWaits:
    """Return who waits for which locks, and on which lines.

    The waiter is the innermost function of the program, or else the innermost one that
    is not part of a lock.
    """
    names = diff.paired_functions.names
    own = owned(names)
    other = np.array([package_of(n) not in _OF_LOCKS for n in names], np.bool_)
    lock = np.array([bool(_LOCK.match(n)) for n in names], np.bool_)
    places: dict[str, int] = {}
    codes = [_codes(diff, side, (own, other, lock), places) for side in (0, 1)]
    sizes = len(names), len(names), len(places)
    dimensions = {
        name: Dimension(size, (base, new))
        for name, size, base, new in zip(
            ("waiter", "lock", "line"), sizes, *codes, strict=True
        )
    }
    return LockWaits(Ledger(diff.run_values, dimensions), list(places))


def _codes(
    diff: ProfileDiff,
    side: int,
    marks: tuple[NDArray[np.bool_], ...],
    places: dict[str, int],
) -> tuple[Column, Column, Column]:
    """Return the waiter, lock and line of each sample; add new lines to `places`."""
    profile, functions = (diff.base, diff.new)[side].profile, diff.paired_functions
    union = functions.union[side][functions.sides[side].ids]
    waiter, lock, line = (np.full(len(profile), -1, np.int64) for _ in range(3))
    for start, stop, frames in walk(profile):
        ids, offsets = union[frames.line], frames.offsets
        own, other, locks = (first_in_row(mark[ids], offsets) for mark in marks)
        caller = np.where(own >= 0, own, other)
        some = np.flatnonzero((locks >= 0) & (caller >= 0))
        waiter[start:stop][some] = ids[caller[some]]
        lock[start:stop][some] = ids[locks[some]]
        line[start:stop][some] = frames.line[caller[some]]
    rows, at = np.unique(line[line >= 0], return_inverse=True)
    rows_of = [
        places.setdefault(_line(profile, row), len(places)) for row in rows.tolist()
    ]
    line[line >= 0] = np.array(rows_of, np.int64)[at]
    return waiter, lock, line


def _line(profile: Profile, row: int) -> str:
    """Return a row of the profile's lines as ``main.go:57``, "" if unknown."""
    functions, locations = profile.functions, profile.locations
    path = profile.strings[functions.filename[locations.line_function[row]]]
    number = int(locations.line_number[row])
    return f"{basename(path)}:{number}" if path and number > 0 else ""
