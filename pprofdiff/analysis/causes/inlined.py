"""Which calls the compiler inlined, by the frames that share a location.

A location of a profile has a line for each inlined call, and a last one for the
function that was called (profile.proto, Location.line).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.ledger.graph import by_location, walk
from pprofdiff.analysis.policy import FEW_SAMPLES, NEARLY_ALL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.names import runtime_like
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import grouped, sums
from pprofdiff.model.kept import kept
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.parallel import both

R = TypeVar("R")


class Inlined(NamedTuple):
    """Calls between functions of the program that one side inlined somewhere.

    `key` (rising) encodes caller and callee, rows of the union; `value` sums the
    samples that have the call inlined. `most`, by callee, is an upper bound for all
    samples of the call.
    """

    key: Column
    value: Column
    most: Column

    def callers_of(self, row: int) -> tuple[Column, Column]:
        """Return what calls of a function are inlined into, as rows, and the values."""
        size = len(self.most)
        mine = self.key % size == row
        return self.key[mine] // size, self.value[mine]

    def of(self, keys: Column) -> Column:
        """Return the values of other keys, 0 for those not here."""
        if not len(self.key):
            return np.zeros(len(keys), np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, self.value[at], 0)


def _inlined_calls(diff: ProfileDiff, side: int, own: NDArray[np.bool_]) -> Inlined:
    """Return one side's inlined calls between `own` functions."""
    profile, union = lines_of(diff, side)
    locations, size = profile.locations, len(own)
    values = diff.values[side]
    inner = np.ones(len(union), np.bool_)
    last = locations.line_offsets[1:] - 1
    inner[last] = False
    line = np.flatnonzero(inner)
    callee, caller = union[line], union[line + 1]
    chosen = own[callee] & own[caller]
    key, place = grouped((caller * size + callee)[chosen])
    located = by_location(profile, values)
    of_line = np.repeat(located, np.diff(locations.line_offsets))
    value = sums(place, of_line[line[chosen]], len(key))
    # A profile that is a diff may have negative values.
    if values.min(initial=0) < 0:
        located = by_location(profile, np.abs(values))
    most = sums(union[last], located, size)
    return Inlined(key, value, most)


def lines_of(diff: ProfileDiff, side: int) -> tuple[Profile, Column]:
    """Return a side's profile, and each line's function: a row of the union."""
    profile = (diff.base, diff.new)[side].profile
    return profile, diff.paired_functions.of_lines[side]


def on_both(diff: ProfileDiff, work: Callable[[int], R]) -> tuple[R, R]:
    """Return (work(0), work(1)), of base and new; of large profiles in two threads."""
    profiles = diff.base.profile, diff.new.profile
    return both(work, 0, 1, size=sum(len(one.stack_locations) for one in profiles))


def inlined_calls(cpu: CPUComparison) -> tuple[Inlined, Inlined]:
    """Return both sides' inlined calls between functions that are not the runtime's."""
    return inlined_calls_of(cpu.diff)


@kept
def inlined_calls_of(diff: ProfileDiff) -> tuple[Inlined, Inlined]:
    """Return both sides' inlined calls between functions that are not the runtime's."""
    own = ~runtime_like(diff.paired_functions.names)
    return on_both(diff, lambda side: _inlined_calls(diff, side, own))


def inlined_now(cpu: CPUComparison, row: int) -> bool | None:
    """Return whether calls of a function are inlined in new only, or in base only.

    None unless nearly all are on one side and nearly none on the other. Of a function
    that calls itself, the compiler inlines the outermost call at most.
    """
    parts = _inlined_parts(cpu, row)
    if not parts or max(parts) < NEARLY_ALL or min(parts) > 1 - NEARLY_ALL:
        return None
    return None if calls_itself(cpu.diff, row) else parts[1] > parts[0]


def calls_itself(diff: ProfileDiff, row: int) -> bool:
    """Return whether a stack of either side has a function more than once."""
    for profile, union in (lines_of(diff, side) for side in (0, 1)):
        mine = union == row
        for _, _, frames in walk(profile):
            before = np.append(0, np.cumsum(mine[frames.line]))
            if (np.diff(before[frames.offsets]) > 1).any():
                return True
    return False


def always_inlined(cpu: CPUComparison, row: int) -> bool:
    """Return whether nearly all calls of a function are inlined, on both sides."""
    parts = _inlined_parts(cpu, row)
    return bool(parts) and min(parts) >= NEARLY_ALL


def _inlined_parts(cpu: CPUComparison, row: int) -> list[float]:
    """Return the inlined part of calls on (base, new), empty if one has too few."""
    parts = []
    for calls, worth in zip(inlined_calls(cpu), cpu.model.worth, strict=True):
        inlined = int(calls.callers_of(row)[1].sum())
        whole = inlined + int(calls.most[row])
        if whole < FEW_SAMPLES * worth:
            return []
        parts.append(inlined / whole)
    return parts


def inlining_caller(cpu: CPUComparison, row: int) -> int | None:
    """Return the function that nearly all calls are inlined in on both sides."""
    callers = set[int | None]()
    for calls in inlined_calls(cpu):
        caller, value = calls.callers_of(row)
        best = int(np.argmax(value)) if len(value) else -1
        most = NEARLY_ALL * (int(value.sum()) + int(calls.most[row]))
        large = best >= 0 and 0 < most <= value[best]
        callers.add(int(caller[best]) if large else None)
    return callers.pop() if len(callers) == 1 else None
