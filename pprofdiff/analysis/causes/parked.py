"""Where the goroutines of goroutine profiles wait, and for what, by stack."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.finding import Fact
from pprofdiff.analysis.causes.wording import counts
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.readable import short
from pprofdiff.model.arrays import Column
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
_NIL = {
    "runtime.chansend": "chan send (nil chan)",
    "runtime.chanrecv": "chan receive (nil chan)",
}
# Both functions of runtime/chan.go park in two places: where the channel is nil, 5 to
# 12 lines after their first in Go 1.26 and 1.27, and 100 lines or more after it.
_NIL_WITHIN = 30
WAITS = ("", *_WAITS, *_NIL.values())
"""Why goroutines wait, "" if their stacks do not show it."""


class Stacks(NamedTuple):
    """Stacks of goroutines that have frames, one row each, all int64.

    `function` is the innermost frame outside the standard library, or the root if there
    is none; `root` is the function that the goroutine started with. Both are rows of
    `ProfileDiff.paired_functions`. `wait` is a position in `WAITS`, `line` a row of
    `Locations`. `base` and `new` are how many goroutines have the stack: one of them is
    0.
    """

    function: Column
    root: Column
    wait: Column
    line: Column
    base: Column
    new: Column


class Parked(NamedTuple):
    """Goroutines by their code: `function`, and the `root` that they started with.

    `function` is the innermost frame outside the standard library (`own`), or the root
    if there is none. `base` and `new` count goroutines; `wait` is why most of those
    wait that one side has more of, "" if unknown. `line` is where most of them wait on
    that side, as ``main.go:57``, "" if unknown.
    """

    function: str
    root: str
    base: int
    new: int
    wait: str
    line: str = ""
    own: bool = True

    @property
    def delta(self) -> int:
        """How many more goroutines new has."""
        return self.new - self.base

    @property
    def words(self) -> str:
        """The function, and why goroutines wait: ``server.Run (chan send)``."""
        return f"{short(self.function)}{f' ({self.wait})' if self.wait else ''}"

    @property
    def where(self) -> str:
        """The line, and what the goroutines started as."""
        text = f"{self.words}{f' at {self.line}' if self.line else ''}"
        if self.root != self.function:
            text += f", started as {short(self.root)}"
        return text

    @property
    def sentence(self) -> str:
        """The line, what the goroutines started as, and how many there are."""
        return f"{self.where}: {counts(self.base, self.new)}"


def facts(
    what: str, source: str, totals: tuple[int, int], places: Sequence[Parked]
) -> tuple[Fact, ...]:
    """Return how many goroutines there are in all, and in each place, as evidence."""
    rows = [(what, *totals), *((f"in {p.words}", p.base, p.new) for p in places)]
    return tuple(
        Fact(name, source, base, new, "goroutines") for name, base, new in rows
    )


def stacks_of_both(diff: ProfileDiff) -> Stacks:
    """Return the stacks of base, then of new."""
    sides = zip(_stacks(diff, 0), _stacks(diff, 1), strict=True)
    return Stacks(*map(np.concatenate, sides))


def line_at(profile: Profile, row: int) -> str:
    """Return a row of the profile's lines as ``main.go:57``, "" if unknown."""
    functions, locations = profile.functions, profile.locations
    path = profile.strings[functions.filename[locations.line_function[row]]]
    number = int(locations.line_number[row])
    return f"{basename(path)}:{number}" if path and number > 0 else ""


def waits_of(names: Sequence[str]) -> Column:
    """Return for what each function waits, by name: a position in `WAITS` (int64)."""
    words = {f: i for i, w in enumerate(WAITS) for f in _WAITS.get(w, ())}
    return np.array([words.get(name, 0) for name in names], np.int64)


def _stacks(diff: ProfileDiff, side: int) -> Stacks:
    names, of_line = diff.paired_functions.names, diff.paired_functions.of_lines[side]
    own, codes = owned(names), waits_of(names)
    parts: list[tuple[Column, ...]] = [(np.zeros(0, np.int64),) * 5]
    profile = (diff.base, diff.new)[side].profile
    for_nil, nil = _for_nil(profile), np.arange(len(WAITS))
    for word in _NIL.values():
        nil[WAITS.index(word.removesuffix(" (nil chan)"))] = WAITS.index(word)
    for start, stop, frames in walk(profile):
        ids, offsets = of_line[frames.line], frames.offsets
        filled = np.diff(offsets) > 0
        root = (offsets[1:] - 1)[filled]
        owner = first_in_row(own[ids], offsets)[filled]
        owner = np.where(owner < 0, root, owner)
        waits = first_in_row(codes[ids] > 0, offsets)[filled]
        wait = np.where(waits < 0, 0, codes[np.append(ids, 0)[waits]])
        lines = np.append(frames.line, 0)[waits]
        at_nil = for_nil[lines] & (waits >= 0)
        parts.append(
            (
                ids[owner].astype(np.int64),
                ids[root].astype(np.int64),
                np.where(at_nil, nil[wait], wait),
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


def _for_nil(profile: Profile) -> NDArray[np.bool_]:
    """Return which lines are where a send or a receive parks on a nil channel.

    None are where functions have no first line, as before Go 1.20.
    """
    functions, locations = profile.functions, profile.locations
    names = profile.function_names()
    parks = np.array([name in _NIL for name in names] + [False], np.bool_)
    first = np.append(functions.start_line, 0)[locations.line_function]
    after = locations.line_number - first
    near = (first > 0) & (after > 0) & (after <= _NIL_WITHIN)
    found: NDArray[np.bool_] = parks[locations.line_function] & near
    return found
