"""States as profiles: time by the goroutine's own stack, all of it and once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pprofdiff.analysis.traces.goroutines import INACTIVE
from pprofdiff.analysis.traces.profiles import STATES, state_profile
from pprofdiff.errors import UsageError
from pprofdiff.model.traces.trace import Stacks, State
from tests.examples import daily, examples

from . import built
from .real import CAPTURES, SIDES, times_of, trace_of
from .test_exports import said

# Frames (function, line) of each stack, leaf first; functions by `built.STRINGS`.
FRAMES = [
    [], [(3, 7), (1, 9)], [(3, 8), (1, 5)], [(4, 1), (2, 4)], [(0, 0)], [(2, 3)],
    [(3, 7), (5, 2), (1, 9)],
]  # fmt: skip
STATE_OF = {
    "running": {State.RUNNING}, "runnable": {State.RUNNABLE}, "blocked": {State.WAITING},
    "syscall": {State.SYSCALL, State.SYSCALL_BLOCKED},
}  # fmt: skip


@st.composite
def traces(draw):
    """Return a trace whose rows have stacks of `FRAMES`."""
    trace = draw(built.traces())
    size = len(trace.intervals)
    chosen = st.integers(0, len(FRAMES) - 1)
    stack = draw(st.lists(chosen, min_size=size, max_size=size))
    frames = list(dict.fromkeys(f for stack in FRAMES for f in stack))
    table = Stacks(
        np.cumsum([0, *map(len, FRAMES)]),
        np.array([frames.index(f) for stack in FRAMES for f in stack], np.int32),
        np.array([function for function, _ in frames], np.int32),
        np.zeros(len(frames), np.int32),
        np.array([line for _, line in frames], np.int64),
    )
    rows = structs.replace(trace.intervals, stack=np.array(stack, np.int32))
    return replace(trace, stacks=table, intervals=rows)


def frames_of(trace, row):
    """Return a row's stack of (function, file, line), () if it says nothing."""
    frames = FRAMES[trace.intervals.stack[row]]
    return (
        ()
        if frames == [(0, 0)]
        else tuple((trace.strings[f], "", n) for f, n in frames)
    )


def stands(trace, g):
    """Return where goroutine g stands in each of its rows, () where it is unknown."""
    at, before, found = (), None, []
    for _, _, state, row in built.rows_of(trace, g):
        if before is None:
            at = () if trace.goroutines.born[g] else frames_of(trace, row)
        elif (
            state == State.WAITING
            or (state, before) == (State.RUNNABLE, State.RUNNING)
            or (state, before) == (State.SYSCALL, State.RUNNING)
        ):
            at = frames_of(trace, row)
        elif state == State.GONE:
            at = ()
        found.append(at)
        before = state
    return found


def root_of(trace, g):
    """Return the stack of the root function alone, at its lowest line of any stack."""
    name = trace.goroutines.name[g]
    lines = [stack[-1][1] for stack in FRAMES if stack and stack[-1][0] == name]
    return ((trace.strings[name], "", min(lines)),) if name and lines else ()


def expected(trace, state):
    """Return {(stack, goroutine, reason): [times, ns]} of a state."""
    found = {}
    reasons = [trace.reasons[r] for r in trace.intervals.reason.tolist()]
    for g in range(len(trace.goroutines)):
        name = trace.strings[trace.goroutines.name[g]] or INACTIVE
        rows, at = built.rows_of(trace, g), stands(trace, g)
        for k, (start, end, now, row) in enumerate(rows):
            if now not in STATE_OF[state]:
                continue
            stack, reason = at[k], reasons[row]
            if state == "running":
                more = k + 1 < len(rows)
                stack, reason = (at[k + 1], reasons[row + 1]) if more else (at[k], "")
            elif state == "blocked":
                stack = frames_of(trace, row)
            if state == "runnable" and k and rows[k - 1][2] == State.WAITING:
                reason = reasons[row - 1]
            again = state == "syscall" and k and rows[k - 1][2] in STATE_OF["syscall"]
            if not again:
                key = stack or root_of(trace, g), name, reason
            total = found.setdefault(key, [0, 0])
            total[0] += not again
            total[1] += end - start
    return found


def samples_of(profile):
    """Return a profile's samples as `expected` does."""
    labels, strings = profile.labels, profile.strings
    texts = [{} for _ in range(len(profile))]
    for i in range(len(labels)):
        texts[labels.sample[i]][strings[labels.key[i]]] = strings[labels.text[i]]
    found = {}
    for i in range(len(profile)):
        ((stack, values),) = said(profile.take(np.array([i]))).items()
        key = stack, texts[i]["goroutine"], texts[i].get("reason", "")
        assert key not in found, "samples of one stack and labels are one"
        found[key] = values
    return found


@pytest.mark.slow
@given(traces(), st.sampled_from(STATES))
@settings(derandomize=True, max_examples=examples(100))
def test_samples_are_those_counted_one_by_one(trace, state):
    assert samples_of(state_profile(trace, state)) == expected(trace, state)


@pytest.mark.parametrize("name", daily(CAPTURES, SIDES))
def test_blocked_time_is_the_goroutines(name):
    """Of the other states, too: see test_processors."""
    trace = trace_of(name)
    blocked = state_profile(trace, "blocked")
    assert blocked.values[:, 1].sum() == times_of(trace).block_ns.sum()
    assert blocked.duration_ns == trace.end_ns - trace.start_ns
    # tests/data was recorded in 2026.
    assert 1_767_225_600 < blocked.time_ns / 1e9 < 1_830_297_600


def test_what_there_is_not_is_refused():
    trace = trace_of("health-check/base")
    with pytest.raises(UsageError, match="running, runnable, blocked, syscall"):
        state_profile(trace, "waiting")
