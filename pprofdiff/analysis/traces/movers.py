"""Time in a state by reason and application function, base against new."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, replace
from posixpath import basename
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.interval_rows import waits_throughout
from pprofdiff.analysis.traces.profiles import StateName, state_profile
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.goruntime.names import package_of
from pprofdiff.identity.model import SideKeys
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.csr import Offsets, first_in_row, row_of_item, sums, unique_tuples
from pprofdiff.model.profiles.profile import Profile

# Packages whose functions are system calls, in any module.
_SYSTEM_CALLS = re.compile(
    r"syscall$|internal/(runtime/)?syscall|(.*/)?golang\.org/x/sys/"
)
_RUNTIME = re.compile(r"(internal/)?runtime$|(internal/)?runtime/(?!pprof|trace)")
# Functions that the runtime has in other packages' names, and what calls them to wait:
# events leave them out of a wait's stack.
_LINKED = re.compile(
    r"(internal/)?(poll|sync)\.runtime_|internal/poll\.\(\*pollDesc\)\.wait"
)
# A root function that only calls what a ``go`` statement names.
_WRAPPER = re.compile(r"\.(gowrap\d+|func\d+(\.\d+|\.gowrap\d+)*)$")
# Reasons that can mean waiting for work or for time to pass. Waiting for a lock, or for
# room in a channel, never does.
_GIVEN = ("network", "select", "sync.(*Cond).Wait", "chan receive", "sleep")
# Standard library calls that wait for a reply to the program's own request.
_ASKS = re.compile(
    r"net/http\.\(\*(Client|Transport)\)|net/http\.(Get|Head|Post)|database/sql\."
    r"|net\.(Dial|Lookup|\(\*(Dialer|Resolver)\))|os/exec\."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where and why goroutines are in a state; fields up to `under` identify it.

    `root` is the goroutines' root function. `function` is the frame nearest the leaf
    outside the standard library and golang.org/x/sys; if a stack has none (`own` is
    False), the nearest frame outside the runtime, or else the root function. `under` is
    the frame of package main nearest to `function`, "" if there is none or `function`
    is in main too.

    `call` is the system call, such as ``syscall.Fdatasync``, or what `function` called
    to wait, such as ``sync.(*Mutex).Lock``; "" for the language's own operations.

    `idle` marks waits that delay nobody, as far as stacks show: in the standard
    library's own loops, on runtime locks, and of a root function for work, data or
    time. `asked` marks waits of application code for any other reason, or for a reply
    to its own request; `chosen` marks requests and sleeps, whose number the program
    controls.

    `at` is the line of `function` with more than half of the time, such as
    ``main.go:57``; "" if there is none or `own` is False.
    """

    root: str
    reason: str
    call: str
    function: str
    under: str
    own: bool
    idle: bool
    asked: bool
    chosen: bool
    at: str

    def seen_as(self, some: Place, more: Place) -> Place:
        """Return this place with the flags that stacks of both others show."""
        return replace(
            self,
            idle=some.idle or more.idle,
            asked=some.asked and more.asked,
            chosen=some.chosen and more.chosen,
        )

    def key(self, keys: SideKeys) -> tuple[Hashable, ...]:
        """Return the key that pairs places across sides; `keys` is its side's."""
        names = self.root, self.call, self.function, self.under
        return (self.reason, *map(keys.function, names))


@dataclass(frozen=True, slots=True)
class Mover(Place):
    """Time of application goroutines in a state for one reason, in one function.

    Times are raw nanoseconds and `*_number` counts intervals; `*_lone_ns` is time in
    system calls without a P. All are sums over a side's traces; `varies` means that the
    difference is within run-to-run noise.
    """

    base_ns: int
    new_ns: int
    base_number: int
    new_number: int
    base_lone_ns: int = 0
    new_lone_ns: int = 0
    varies: bool = False


class _Cell(NamedTuple):
    """A total at a place: number of intervals, time and time without a P in ns."""

    place: Place
    number: int = 0
    time_ns: int = 0
    lone_ns: int = 0


_Cells = dict[tuple[Hashable, ...], _Cell]


def movers(diff: TraceDiff, state: StateName) -> tuple[Mover, ...]:
    """Return every reason and function, largest change in scaled time first.

    Goroutines that wait all through a trace do not count: no operation waits with them.
    """
    return diff.once(f"movers {state}", lambda diff: _movers(diff, state))


def _movers(diff: TraceDiff, state: StateName) -> tuple[Mover, ...]:
    runs = [
        [
            _added((one.place.key(keys), one) for one in spent(p, state))
            for p in side.parts
        ]
        for side, keys in zip(diff.sides, diff.identity.sides, strict=True)
    ]
    old_ns, now_ns = (
        [{key: cell.time_ns for key, cell in run.items()} for run in side]
        for side in runs
    )
    changes = diff.changes_of_times(old_ns, now_ns) if diff.several else None
    base, new = (_added(one for run in side for one in run.items()) for side in runs)
    rows = []
    for key in dict.fromkeys([*base, *new]):
        # Show new's names.
        place = (new.get(key) or base[key]).place
        old, now = base.get(key, _Cell(place)), new.get(key, _Cell(place))
        rows.append(
            Mover(
                **asdict(place.seen_as(old.place, now.place)),
                base_ns=old.time_ns,
                new_ns=now.time_ns,
                base_number=old.number,
                new_number=now.number,
                base_lone_ns=old.lone_ns,
                new_lone_ns=now.lone_ns,
                varies=changes is not None
                and not (key in changes and changes[key].significant),
            )
        )
    by = diff.normalization

    def moved(row: Mover) -> float:
        return -abs(by.delta(row.base_ns, row.new_ns))

    return tuple(sorted(rows, key=moved))


def _added(parts: Iterable[tuple[tuple[Hashable, ...], _Cell]]) -> _Cells:
    cells: _Cells = {}
    for key, one in parts:
        cells[key] = _sum(cells[key], one) if key in cells else one
    return cells


def _sum(some: _Cell, more: _Cell) -> _Cell:
    return _Cell(
        some.place.seen_as(some.place, more.place),
        some.number + more.number,
        some.time_ns + more.time_ns,
        some.lone_ns + more.lone_ns,
    )


def spent(side: TraceSide, state: StateName) -> list[_Cell]:
    """Return one trace's totals by place; computed once per trace."""
    return side.trace.once(f"spent {state}", lambda _: _spent(side, state))


def _spent(side: TraceSide, state: StateName) -> list[_Cell]:
    groups = side.groups
    program = ~(groups.system | groups.tracing)[groups.group_of]
    program &= ~waits_throughout(side.trace)
    calls = state == "syscall"
    profile = state_profile(side.trace, state, goroutines=program, alone=calls)
    if not len(profile.values):
        return []
    places, of = _places(profile, calls=calls)
    columns = [sums(of, column, len(places)).tolist() for column in profile.values.T]
    return list(map(_Cell, places, *columns))


def _places(profile: Profile, *, calls: bool) -> tuple[list[Place], Column]:
    stacks = StackFrames.of(profile)
    root, reason = _text(profile, "goroutine"), _text(profile, "reason")
    called = stacks.system_call if calls else stacks.called
    columns = [
        root,
        reason,
        stacks.function_at(called, 0),
        stacks.function_at(stacks.function, root),
        stacks.function_at(stacks.under, 0),
        stacks.owner >= 0,
        stacks.shallow,
        stacks.runtime_leaf,
    ]
    first, place = unique_tuples([column.astype(np.int64) for column in columns])
    strings = profile.strings
    lines = stacks.lines(profile, place, len(first))
    places = []
    rows = zip(*(column[first].tolist() for column in columns), lines, strict=True)
    for *row, at in rows:
        root_name, why, call, function, above = (strings[int(i)] for i in row[:5])
        own, shallow, inside = (bool(flag) for flag in row[5:])
        asks = own and bool(_ASKS.match(call))
        given = why in _GIVEN and not asks
        # A root function that reads, receives or selects waits for input; an allocation
        # that starts a GC cycle waits for a runtime lock.
        internal = why == "sync" and inside
        idle = not calls and (not own or internal or (given and shallow))
        asked = own and not given
        chosen = asks or (own and not idle and why == "sleep")
        places.append(
            Place(root_name, why, call, function, above, own, idle, asked, chosen, at)
        )
    return places, place


class StackFrames(Struct, frozen=True, eq=False):
    """The frames of a profile's samples; columns hold frame positions.

    Columns are int64, one position per sample, -1 for none: `owner` is the application
    frame nearest the leaf, `function` that or else the nearest frame outside the
    runtime, `called` what `owner` called, `system_call` the system call, `under` the
    nearest frame of package main above `owner`. `shallow` (bool) means that `owner` is
    the root or is called by a root that wraps it, `runtime_leaf` (bool) that the leaf
    is in the runtime.
    """

    names: Column
    owner: Column
    function: Column
    called: Column
    system_call: Column
    under: Column
    shallow: Mask
    runtime_leaf: Mask

    @classmethod
    def of(cls, profile: Profile) -> StackFrames:
        """Classify the frames of a profile's stacks."""
        ids = profile.functions.name.astype(np.int64)
        texts = [profile.strings[i] for i in ids.tolist()]
        # Each location of a trace's profile has exactly one line.
        frames = profile.locations.line_function[profile.stack_locations]
        offsets = profile.stack_offsets
        system, runtime, main, wraps = (
            np.array(
                [
                    (
                        bool(_SYSTEM_CALLS.match(package)),
                        bool(_RUNTIME.match(package or text) or _LINKED.match(text)),
                        package == "main",
                        bool(_WRAPPER.search(text)),
                    )
                    for text in texts
                    for package in [package_of(text)]
                ],
                np.bool_,
            )
            .reshape(-1, 4)
            .T
        )
        own = owned(texts) & ~system
        owner = first_in_row(own[frames], offsets)
        other = first_in_row(~runtime[frames], offsets)
        place = owner[row_of_item(offsets)]
        above = (place >= 0) & (np.arange(len(place)) > place)
        under = first_in_row(main[frames] & above, offsets)
        under[np.append(main[frames], False)[owner] & (owner >= 0)] = -1
        root = offsets[1:] - 1
        depth = root - owner
        wrapped = (depth == 1) & np.append(wraps[frames], False)[root]
        return cls(
            ids[frames],
            owner,
            np.where(owner >= 0, owner, other),
            _called(owner, offsets, runtime[frames]),
            _system_call(offsets, system[frames], runtime[frames]),
            under,
            (owner >= 0) & ((depth == 0) | wrapped),
            (first_in_row(runtime[frames], offsets) == offsets[:-1])
            & (np.diff(offsets) > 0),
        )

    def lines(self, profile: Profile, place: Column, size: int) -> list[str]:
        """Return each place's line of `owner`, formatted as `Place.at`."""
        some = np.flatnonzero(self.owner >= 0)
        location = profile.stack_locations[self.owner[some]]
        file = profile.functions.filename[profile.locations.line_function[location]]
        number = profile.locations.line_number[location]
        keys = [place[some], file.astype(np.int64), number]
        first, cell = unique_tuples(keys)
        time = profile.values[:, 1]
        whole = sums(place, time, size)[keys[0][first]]
        most = first[2 * sums(cell, time[some], len(first)) > whole]
        lines = [""] * size
        for i in most.tolist():
            path = profile.strings[file[i]]
            if path and number[i] > 0:
                lines[keys[0][i]] = f"{basename(path)}:{number[i]}"
        return lines

    def function_at(self, position: Column, otherwise: Column | int) -> Column:
        """Return the names (string indices) of frames, `otherwise` for -1."""
        names = np.append(self.names, 0)
        return np.where(position >= 0, names[position], otherwise)


def _called(owner: Column, offsets: Offsets, runtime: Mask) -> Column:
    """Return the frame each owner called, -1 for none and for runtime frames."""
    called = owner - 1
    none = (owner < 0) | (called < offsets[:-1])
    none |= np.append(runtime, True)[np.where(none, -1, called)]
    return np.where(none, -1, called)


def _system_call(offsets: Offsets, system: Mask, runtime: Mask) -> Column:
    """Return the system call's frame: the outermost of those at the leaf.

    Without one, as in a cgo call, return the first frame outside the runtime.
    """
    caller = first_in_row(~(system | runtime), offsets)
    last = np.where(caller >= 0, caller, offsets[1:]) - 1
    within = last >= offsets[:-1]
    within &= np.append(system, False)[np.where(within, last, -1)]
    return np.where(within, last, caller)


def _text(profile: Profile, key: str) -> Column:
    """Return the text of a label (a string index) of each sample, 0 for none."""
    labels, texts = profile.labels, np.zeros(len(profile.values), np.int64)
    if key in profile.strings:
        some = labels.key == profile.strings.index(key)
        texts[labels.sample[some]] = labels.text[some]
    return texts
