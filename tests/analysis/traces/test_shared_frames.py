"""The functions that two stacks share, from the root on."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.traces.profiles import shared_frames
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.traces.trace import Stacks
from tests.analysis.traces.built import SOME, traces

# Each frame is a line of a function: two lines of three functions.
FUNCTIONS, FRAMES = 3, 6
_stacks = st.lists(st.lists(st.integers(0, FRAMES - 1), max_size=5), max_size=5)


@SOME
@given(traces(), _stacks, st.data())
def test_functions_are_shared_from_the_root_on(trace, stacks, data):
    stacks = [[], *stacks]
    frame = np.array([f for stack in stacks for f in stack], np.int32)
    lines = np.arange(FRAMES)
    table = Stacks(
        offsets_of(np.array(list(map(len, stacks)), np.int64)),
        frame,
        (lines % FUNCTIONS).astype(np.int32),
        np.zeros(FRAMES, np.int32),
        lines,
    )
    one = st.integers(0, len(stacks) - 1)
    pairs = data.draw(st.lists(st.tuples(one, one)))
    start, stop = np.array(pairs, np.int64).reshape(-1, 2).T
    offsets, frames = shared_frames(replace(trace, stacks=table), start, stop)
    found = [frames[a:b].tolist() for a, b in pairwise(offsets)]
    expected = []
    for i, j in pairs:
        both = zip(stacks[i][::-1], stacks[j][::-1], strict=False)
        same = takewhile(lambda two: two[0] % FUNCTIONS == two[1] % FUNCTIONS, both)
        expected.append(stacks[j] if i == 0 else [f for _, f in same][::-1])
    assert found == expected
