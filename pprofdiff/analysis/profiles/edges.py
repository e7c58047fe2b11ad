"""Who calls whom: the edges between nodes, as ``go tool pprof`` counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.model.csr import count_in_row, offsets_of, once_per_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pprofdiff.model.profiles.profile import Profile

__all__ = ["Edges", "Ends", "edges"]


class Edges(NamedTuple):
    """Calls between two nodes, one row each.

    `caller` and `callee` are int64 nodes, `weight` int64; `inline` (bool) holds where
    every sample has the callee inlined.
    """

    caller: NDArray[np.int64]
    callee: NDArray[np.int64]
    weight: NDArray[np.int64]
    inline: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of edges."""
        return len(self.weight)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Edges:
        """Return the chosen edges, in that order."""
        return Edges(
            self.caller[rows], self.callee[rows], self.weight[rows], self.inline[rows]
        )


# Which nodes are wanted (bool by node) as callers, and which as callees.
Ends = tuple[NDArray[np.bool_], NDArray[np.bool_]]
_Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]


def edges(
    profile: Profile,
    line_ids: NDArray[np.integer],
    size: int,
    samples: tuple[NDArray[np.int64], NDArray[np.bool_]],
    ends: Ends,
) -> Edges:
    """Return the edges of the stacks of all samples that count.

    `samples` are their values (int64), and which of them count (bool).

    `line_ids` gives the node in [0, size) of each location line, or -1 for frames to
    step over: their callers then call their callees. A sample counts once for an edge,
    however often it recurs, and the call nearest the root says if it is inlined; calls
    of a node by itself are none. `ends` limits them to those from a wanted caller
    or to a wanted callee.
    """
    inner = np.ones(len(profile.locations.line_function), np.bool_)
    inner[profile.locations.line_offsets[1:] - 1] = False
    ids_of = line_ids.astype(np.int64)
    parts = [
        _collected(*pairs) for pairs in _pairs(profile, ids_of, inner, samples, ends)
    ]
    none = np.zeros(0, np.int64)
    parts.append((none, none, none.astype(np.bool_)))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    keys, weight, inline = _collected(columns[0], columns[1], columns[2])
    return Edges(keys // max(size, 1), keys % max(size, 1), weight, inline)


def _pairs(
    profile: Profile,
    ids_of: NDArray[np.int64],
    inner: NDArray[np.bool_],
    samples: tuple[NDArray[np.int64], NDArray[np.bool_]],
    ends: Ends,
) -> Iterator[_Pairs]:
    """Yield (caller * size + callee, weight, inlined) of the calls that count."""
    weights, counted = samples
    from_wanted, to_wanted = ends
    size = len(to_wanted)
    for start, stop, frames in walk(profile):
        ids = ids_of[frames.line]
        kept = ids >= 0
        kept &= np.repeat(counted[start:stop], np.diff(frames.offsets))
        offsets = frames.offsets
        if not kept.all():
            offsets = offsets_of(count_in_row(kept, offsets))
            ids = ids[kept]
        inlined = inner[frames.line[kept]]
        rows = np.repeat(np.arange(stop - start), np.diff(offsets))
        recursive = np.zeros(stop - start, np.bool_)
        recursive[rows[~once_per_row(offsets, ids, size)]] = True
        calls = np.flatnonzero(rows[1:] == rows[:-1])
        callee, caller = ids[calls], ids[calls + 1]
        wanted = from_wanted[caller] | to_wanted[callee]
        calls = calls[wanted & (caller != callee)]
        keys = ids[calls + 1] * size + ids[calls]
        rows = rows[calls]
        if recursive.any():
            chosen = _nearest_root(keys, rows, recursive[rows])
            calls, keys, rows = calls[chosen], keys[chosen], rows[chosen]
        yield keys, weights[start:stop][rows], inlined[calls]


def _nearest_root(
    keys: NDArray[np.int64], rows: NDArray[np.int64], doubtful: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mark the last of equal keys in each row, where the row is doubtful; else all."""
    chosen = ~doubtful
    among = np.flatnonzero(doubtful)
    among = among[np.lexsort((keys[among], rows[among]))]
    last = np.ones(len(among), np.bool_)
    last[:-1] = (np.diff(keys[among]) != 0) | (np.diff(rows[among]) != 0)
    chosen[among[last]] = True
    return chosen


def _collected(
    keys: NDArray[np.int64], weights: NDArray[np.int64], inline: NDArray[np.bool_]
) -> _Pairs:
    """Return each distinct key with its weights' sum, and whether all are inline."""
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
