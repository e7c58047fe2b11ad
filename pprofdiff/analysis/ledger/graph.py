"""Sums over the call graph: flat and cum of nodes, and calls between them.

Sums match ``go tool pprof`` (internal/graph of github.com/google/pprof).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.model.arrays import Mask
from pprofdiff.model.csr import (
    Offsets,
    count_in_row,
    offsets_of,
    once_per_row,
    sums,
    take_rows,
)
from pprofdiff.model.csr import chunks as row_chunks
from pprofdiff.model.profiles.profile import Frames, Profile

# Called while stacks are summed, with offsets and the node of each frame.
Watch = Callable[[Offsets, NDArray[np.int64]], None]

Values = NDArray[np.int64]
# Edges of a batch of stacks: key, value, and whether the callee is inlined.
_Calls = tuple[Values, Values, Mask]

# Frames per batch, which keeps temporaries within a few megabytes.
_FRAMES_AT_ONCE = 1 << 16
# Integer sums in float64 are exact below this bound (IEEE 754 binary64); larger values
# are summed in two parts.
_EXACT = float(1 << 52)
_HALF = 26


def walk(profile: Profile) -> Iterator[tuple[int, int, Frames]]:
    """Yield (start, stop, frames of samples ``start:stop``) in batches.

    A batch has about 2**16 frames, to keep temporaries small. Frame offsets start at 0;
    lines are int64.
    """
    starts = profile.locations.line_offsets[:-1]
    counts = np.diff(profile.locations.line_offsets)
    plain = bool((counts == 1).all())
    for start, stop in row_chunks(profile.stack_offsets, _FRAMES_AT_ONCE):
        offsets = profile.stack_offsets[start : stop + 1]
        items = profile.stack_locations[int(offsets[0]) : int(offsets[-1])]
        offsets = offsets - offsets[0]
        if plain:
            yield start, stop, Frames(offsets, items.astype(np.int64))
            continue
        inlined = counts[items]
        ends = offsets_of(inlined)
        lines = np.repeat(starts[items] - ends[:-1], inlined)
        lines += np.arange(len(lines))
        yield start, stop, Frames(ends[offsets], lines)


def walk_some(profile: Profile, samples: Values) -> Iterator[tuple[Values, Frames]]:
    """Yield (samples, their frames) in batches like `walk`, for chosen samples only."""
    depths = np.diff(profile.stack_offsets)[samples]
    for start, stop in row_chunks(offsets_of(depths), _FRAMES_AT_ONCE):
        some = samples[start:stop]
        stacks = take_rows(profile.stack_offsets, profile.stack_locations, some)
        yield some, profile.frames_of(*stacks)


def calls_between(
    profile: Profile, callees: Mask, callers: Mask
) -> Iterator[tuple[Values, Values, Values]]:
    """Yield the calls from one location of a stack to the next, in batches.

    Only calls of a location in `callees` by one in `callers`, or by none if the callee
    is the root. Yields int64 columns (callee, caller, item): locations, -1 for no
    caller, and the callee's index in `Profile.stack_locations`.
    """
    items = profile.stack_locations
    roots = np.zeros(len(items) + 1, np.bool_)
    roots[profile.stack_offsets[1:] - 1] = True
    for start in range(0, len(items), _FRAMES_AT_ONCE):
        at = start + np.flatnonzero(callees[items[start : start + _FRAMES_AT_ONCE]])
        above = items[np.minimum(at + 1, len(items) - 1)]
        caller = np.where(roots[at], -1, above)
        kept = roots[at] | callers[above]
        at = at[kept]
        yield items[at].astype(np.int64), caller[kept].astype(np.int64), at


def by_location(profile: Profile, values: Values) -> Values:
    """Return the sum of the samples' values at each location, once per occurrence."""
    size = len(profile.locations.line_offsets) - 1
    total = np.zeros(size, np.int64)
    for start, stop in row_chunks(profile.stack_offsets, _FRAMES_AT_ONCE):
        offsets = profile.stack_offsets[start : stop + 1]
        items = profile.stack_locations[int(offsets[0]) : int(offsets[-1])]
        total += sums(items, np.repeat(values[start:stop], np.diff(offsets)), size)
    return total


def flat_and_cum(
    profile: Profile,
    line_ids: NDArray[np.integer],
    size: int,
    values: Values,
    watch: Watch | None = None,
) -> tuple[Values, Values]:
    """Return the exact flat and cum of each node, for each column of `values`.

    A sample counts once towards the cum of each node on its stack, even if the node
    recurs. `line_ids` has the node, in [0, size), of each row of
    `Locations.line_function`; `values` are int64 of shape (samples, K), results int64
    of shape (size, K). `watch` is called with (offsets, node of each frame) for all
    stacks, in batches and in order.
    """
    if float(np.abs(values.astype(np.float64)).sum()) < _EXACT:
        return _flat_and_cum(profile, line_ids, size, values, watch)
    # Sum both halves exactly in float64, then combine them in int64.
    high = _flat_and_cum(profile, line_ids, size, values >> _HALF, watch)
    low = _flat_and_cum(profile, line_ids, size, values & ((1 << _HALF) - 1), None)
    return (high[0] << _HALF) + low[0], (high[1] << _HALF) + low[1]


def _flat_and_cum(
    profile: Profile,
    line_ids: NDArray[np.integer],
    size: int,
    values: Values,
    watch: Watch | None,
) -> tuple[Values, Values]:
    """Return flat and cum of values whose sum is exact in float64."""
    ids_of = line_ids.astype(np.int64)
    columns = [np.ascontiguousarray(c, np.float64) for c in values.T]
    flat = np.zeros((len(columns), size))
    cum = np.zeros_like(flat)
    for start, stop, frames in walk(profile):
        ids = ids_of[frames.line]
        if watch is not None:
            watch(frames.offsets, ids)
        kept = once_per_row(frames.offsets, ids, size)
        depths = np.diff(frames.offsets)
        filled = np.flatnonzero(depths)
        leaves = ids[frames.offsets[filled]]
        for i, column in enumerate(columns):
            part = column[start:stop]
            flat[i] += np.bincount(leaves, part[filled], size)
            cum[i] += np.bincount(ids, np.repeat(part, depths) * kept, size)
    return flat.T.astype(np.int64), cum.T.astype(np.int64)


class Edges(Struct, frozen=True, eq=False):
    """Calls between nodes (int64), one row per (caller, callee) pair.

    `weight` (int64) is the sum of the samples in which the caller calls the callee,
    which is `inline` if it is inlined into the caller in all of them.
    """

    caller: Values
    callee: Values
    weight: Values
    inline: Mask

    def __len__(self) -> int:
        """Return the number of edges."""
        return len(self.weight)

    def take(self, rows: NDArray[np.integer] | Mask) -> Edges:
        """Return the chosen edges in the given order."""
        return Edges(
            self.caller[rows], self.callee[rows], self.weight[rows], self.inline[rows]
        )


def edges(
    profile: Profile,
    line_ids: NDArray[np.integer],
    values: Values,
    *,
    counted: Mask,
    callers: Mask,
    callees: Mask,
) -> Edges:
    """Return the edges of all `counted` samples (bool, one per sample).

    A sample counts once per edge, however often the edge recurs on its stack; the call
    nearest the root decides whether it is inlined. Self-calls are not edges. `line_ids`
    has the node of each row of `Locations.line_function`; -1 skips a frame, so that its
    caller calls its callee. Only edges from a node in `callers` or to one in `callees`
    (bool, one per node) are returned.
    """
    size = len(callees)
    inner = np.ones(len(profile.locations.line_function), np.bool_)
    inner[profile.locations.line_offsets[1:] - 1] = False
    nodes = line_ids.astype(np.int64)
    none = np.zeros(0, np.int64)
    parts: list[_Calls] = [(none, none, none.astype(np.bool_))]
    for start, stop, frames in walk(profile):
        ids = nodes[frames.line]
        kept = ids >= 0
        kept &= np.repeat(counted[start:stop], np.diff(frames.offsets))
        offsets = frames.offsets
        if not kept.all():
            offsets = offsets_of(count_in_row(kept, offsets))
            ids = ids[kept]
        keys, rows, inlined = _calls(
            offsets, ids, inner[frames.line[kept]], callers, callees
        )
        parts.append(_summed(keys, values[start:stop][rows], inlined))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    keys, weight, inline = _summed(columns[0], columns[1], columns[2])
    return Edges(keys // max(size, 1), keys % max(size, 1), weight, inline)


def _calls(
    offsets: Offsets, ids: Values, inlined: Mask, callers: Mask, callees: Mask
) -> _Calls:
    """Return (caller * size + callee, stack, inlined) of each stack's distinct calls.

    Stacks are leaf first; `inlined` frames are inlined into the next.
    """
    size, stacks = len(callees), len(offsets) - 1
    rows = np.repeat(np.arange(stacks), np.diff(offsets))
    recursive = np.zeros(stacks, np.bool_)
    recursive[rows[~once_per_row(offsets, ids, size)]] = True
    calls = np.flatnonzero(rows[1:] == rows[:-1])
    callee, caller = ids[calls], ids[calls + 1]
    wanted = callers[caller] | callees[callee]
    calls = calls[wanted & (caller != callee)]
    keys = ids[calls + 1] * size + ids[calls]
    rows = rows[calls]
    if recursive.any():
        chosen = _nearest_root(keys, rows, recursive[rows])
        calls, keys, rows = calls[chosen], keys[chosen], rows[chosen]
    return keys, rows, inlined[calls]


def _nearest_root(
    keys: NDArray[np.int64], rows: NDArray[np.int64], doubtful: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mark the last of equal keys in each doubtful row, and all keys of other rows."""
    chosen = ~doubtful
    among = np.flatnonzero(doubtful)
    among = among[np.lexsort((keys[among], rows[among]))]
    last = np.ones(len(among), np.bool_)
    last[:-1] = (np.diff(keys[among]) != 0) | (np.diff(rows[among]) != 0)
    chosen[among[last]] = True
    return chosen


def _summed(keys: Values, weights: Values, inline: Mask) -> _Calls:
    """Return each distinct key, its summed weight, and whether all of it is inline."""
    order = np.argsort(keys)
    ranked = keys[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    if not len(starts):
        return keys, weights, inline
    return (
        ranked[starts],
        np.add.reduceat(weights[order], starts),
        np.logical_and.reduceat(inline[order], starts),
    )
