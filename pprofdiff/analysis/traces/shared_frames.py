"""What two stacks of one goroutine share: where it was all the time between them."""

from __future__ import annotations

import numpy as np

from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import Offsets, take_rows
from pprofdiff.model.traces.trace import Trace


def shared_frames(trace: Trace, start: Column, stop: Column) -> tuple[Offsets, Index]:
    """Return the frames, from the root, of each stack in `stop` that `start` shares.

    The result is (offsets, frames) as `profile_of` takes them, with the lines of
    `stop`; all of `stop` where `start` is 0 (no stack).
    """
    stacks = trace.stacks
    function = stacks.function[stacks.frame]
    (first, last), (other, end) = (
        (stacks.offsets[:-1][stack], stacks.offsets[1:][stack])
        for stack in (start, stop)
    )
    both = np.minimum(last - first, end - other)
    shared = np.where(start == 0, end - other, 0)
    live = np.flatnonzero((start > 0) & (both > 0))
    while len(live):
        depth = shared[live] + 1
        same = function[last[live] - depth] == function[end[live] - depth]
        shared[live] += same
        live = live[same & (depth < both[live])]
    offsets, frame = take_rows(stacks.offsets, stacks.frame, stop)
    kept = np.arange(len(frame)) >= np.repeat(offsets[1:] - shared, np.diff(offsets))
    return np.concatenate(([0], np.cumsum(shared))), frame[kept]
