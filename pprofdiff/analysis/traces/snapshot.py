"""The goroutines that there are when a trace ends, as a goroutine profile."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.diff import compare as compare_profiles
from pprofdiff.analysis.profiles.side import side as side_of
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.goroutines import Groups
from pprofdiff.analysis.traces.profiles import (
    KeyedSums,
    frames_of,
    informative_stacks,
    profile_of,
    sum_by_key,
)
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.model.side import Capture
from pprofdiff.model.traces.trace import State, Trace

_TYPE = ValueType("goroutine", "count")


def goroutines_at_end(diff: TraceDiff) -> ProfileDiff:
    """Return the comparison of the program's goroutines at the end of the traces."""
    return diff.once("goroutines at end", _compared)


def _compared(diff: TraceDiff) -> ProfileDiff:
    base, new = (
        side_of(
            side.label,
            [
                Capture(part.path, "profile", at_end(part), run)
                for run, part in enumerate(side.parts)
            ],
        )
        for side in diff.sides
    )
    return compare_profiles(base, new, identity=diff.identity)


def at_end(side: TraceSide) -> Profile:
    """Return the program's goroutines at the end of one trace, by stack; cached.

    Goroutines that do not wait have no stack.
    """
    return side.trace.once("goroutines at end", lambda trace: _of(trace, side.groups))


def _of(trace: Trace, groups: Groups) -> Profile:
    program = ~(groups.system | groups.tracing)[groups.group_of]
    rows = trace.intervals
    some = np.flatnonzero((np.diff(rows.offsets) > 0) & program)
    last = rows.offsets[1:][some] - 1
    last = last[rows.state[last] != State.GONE]
    # Only where it waits does a goroutine's last row have its own stack.
    stack = np.where(rows.state[last] == State.WAITING, rows.stack[last], 0)
    stack = informative_stacks(trace)[stack]
    ones = np.ones((len(stack), 1), np.int64)
    total = sum_by_key([KeyedSums(stack[None], ones)], 1, 1)
    stacks = frames_of(trace, total.keys[0])
    profile = profile_of(trace, stacks, total.values, (_TYPE,))
    return replace(profile, period_type=_TYPE)
