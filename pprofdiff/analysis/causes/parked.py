"""Where the goroutines of goroutine profiles wait, and for what, by stack."""

from __future__ import annotations

from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.readable import short
from pprofdiff.model.csr import first_in_row
from pprofdiff.model.profiles.profile import Profile

# Why a goroutine waits, in the words of Go's goroutine dumps (waitReasonStrings in
# runtime2.go), by the functions whose frames show it. The innermost one counts.
_WAITS = {
    "chan receive": ("runtime.chanrecv", "runtime.chanrecv1", "runtime.chanrecv2"),
    "chan send": ("runtime.chansend", "runtime.chansend1"),
    "select": ("runtime.selectgo", "reflect.rselect"),
    "select (no cases)": ("runtime.block",),
    "sleep": ("time.Sleep",),
    "IO wait": ("internal/poll.runtime_pollWait",),
    "sync.Mutex.Lock": ("sync.(*Mutex).Lock", "internal/sync.(*Mutex).Lock"),
    "sync.RWMutex.Lock": ("sync.(*RWMutex).Lock",),
    "sync.RWMutex.RLock": ("sync.(*RWMutex).RLock",),
    "sync.WaitGroup.Wait": ("sync.(*WaitGroup).Wait",),
    "sync.Cond.Wait": ("sync.(*Cond).Wait",),
    "system call": (
        "syscall.Syscall", "syscall.Syscall6", "syscall.RawSyscall6",
        "syscall.syscall", "syscall.syscall6",
    ),
}  # fmt: skip
WAITS = ("", *_WAITS)
"""Why goroutines wait, "" if their stacks do not show it."""

Column = NDArray[np.int64]


class Stacks(NamedTuple):
    """Stacks of goroutines that have frames, one row each, all int64.

    `function` is the innermost frame outside the standard library, or the root if there
    is none; `root` is the function that the goroutine started with. Both are rows of
    `ProfileDiff.paired_functions`. `wait` is a position in `WAITS`, `line` the row of
    the function's frame in the `Locations` of its side. `base` and `new` are how many
    goroutines have the stack: one of them is 0.
    """

    function: Column
    root: Column
    wait: Column
    line: Column
    base: Column
    new: Column


def waiting_in(function: str, wait: str) -> str:
    """Return a function, and why goroutines wait in it: ``server.Run (chan send)``."""
    return f"{short(function)}{f' ({wait})' if wait else ''}"


def stacks_of_both(diff: ProfileDiff) -> Stacks:
    """Return the stacks of base, then those of new."""
    sides = zip(_stacks(diff, 0), _stacks(diff, 1), strict=True)
    return Stacks(*map(np.concatenate, sides))


def line_at(profile: Profile, row: int) -> str:
    """Return a row of the profile's lines as ``main.go:57``, "" if unknown."""
    functions, locations = profile.functions, profile.locations
    path = profile.strings[functions.filename[locations.line_function[row]]]
    number = int(locations.line_number[row])
    return f"{basename(path)}:{number}" if path and number > 0 else ""


def _stacks(diff: ProfileDiff, side: int) -> Stacks:
    names, of_line = diff.paired_functions.names, diff.paired_functions.of_lines(side)
    own = owned(names)
    words = {f: i for i, w in enumerate(WAITS) if w for f in _WAITS[w]}
    codes = np.array([words.get(name, 0) for name in names], np.int64)
    parts: list[tuple[Column, ...]] = [(np.zeros(0, np.int64),) * 5]
    for start, stop, frames in walk((diff.base, diff.new)[side].profile):
        ids, offsets = of_line[frames.line], frames.offsets
        filled = np.diff(offsets) > 0
        root = (offsets[1:] - 1)[filled]
        owner = first_in_row(own[ids], offsets)[filled]
        owner = np.where(owner < 0, root, owner)
        waits = first_in_row(codes[ids] > 0, offsets)[filled]
        parts.append(
            (
                ids[owner].astype(np.int64),
                ids[root].astype(np.int64),
                np.where(waits < 0, 0, codes[np.append(ids, 0)[waits]]),
                frames.line[owner].astype(np.int64),
                diff.values[side][start:stop][filled],
            )
        )
    function, root, wait, line, values = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    none = np.zeros_like(values)
    counts = (values, none) if side == 0 else (none, values)
    return Stacks(function, root, wait, line, *counts)
