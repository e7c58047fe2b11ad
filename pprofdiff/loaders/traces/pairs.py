"""Marks in pairs: begins and ends become ranges, tasks and regions."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.marks import Marks
from pprofdiff.loaders.traces.schema import Kind
from pprofdiff.model.traces.marks import RangeKind, Ranges, Regions, Tasks

__all__ = ["ranges_of", "regions_of", "tasks_of"]

K = Kind
T = TypeVar("T", bound=np.generic)
_NONE = np.int64(-1)
# Begin, go on, end of each kind of range.
_RANGES = {
    RangeKind.GC_MARK: (K.GC_BEGIN, K.GC_ACTIVE, K.GC_END),
    RangeKind.STOP_THE_WORLD: (K.STW_BEGIN, None, K.STW_END),
    RangeKind.MARK_ASSIST: (K.ASSIST_BEGIN, K.ASSIST_ACTIVE, K.ASSIST_END),
    RangeKind.SWEEP: (K.SWEEP_BEGIN, K.SWEEP_ACTIVE, K.SWEEP_END),
}


def ranges_of(marks: Marks) -> Ranges:
    """Return all ranges."""
    found = [_ranges(marks, kind, *kinds) for kind, kinds in _RANGES.items()]
    names = Ranges.__dataclass_fields__
    return Ranges(*(np.concatenate([getattr(r, n) for r in found]) for n in names))


def _chosen(marks: Marks, rows: NDArray[np.int64]) -> Marks:
    """Return some rows of marks."""
    return Marks._make(column[rows] for column in marks)


def _by_owner(marks: Marks, kinds: list[Kind]) -> Marks:
    """Return the marks of some types, owner after owner, each one's in order."""
    rows = np.flatnonzero(np.isin(marks.kind, kinds))
    return _chosen(marks, rows[np.argsort(marks.owner[rows], kind="stable")])


def _previous(column: NDArray[T]) -> NDArray[T]:
    """Return each row's value of the row before; zero for the first."""
    shifted = np.zeros_like(column)
    shifted[1:] = column[:-1]
    return shifted


def _changes(column: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Mark the rows that differ from the one before, the first among them."""
    fresh = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=fresh[1:])
    return fresh


def _ranges(
    marks: Marks, kind: RangeKind, begin: Kind, active: Kind | None, end: Kind
) -> Ranges:
    """Return the ranges of one kind."""
    held = _by_owner(marks, [k for k in (begin, active, end) if k is not None])
    ends = held.kind == end
    fresh = _changes(held.owner)
    was_open = _previous(~ends) & ~fresh
    first = np.flatnonzero(~ends & (~was_open | (held.kind == begin)))
    # The end is the next row that is one, if nothing of another owner comes first.
    stops = np.append(np.flatnonzero(ends), len(ends))
    last = stops[np.searchsorted(stops, first)]
    bounds = np.append(first[1:], len(ends))
    closed = last < bounds
    closed[closed] = held.owner[last[closed]] == held.owner[first[closed]]
    last = np.where(closed, last, first)
    seen = held.kind[first] == begin
    swept = closed & (kind == RangeKind.SWEEP)
    owner = held.owner[first]
    of_goroutine = kind in (RangeKind.STOP_THE_WORLD, RangeKind.MARK_ASSIST)
    of_processor = kind == RangeKind.SWEEP
    return Ranges(
        kind=np.full(len(first), kind, np.uint8),
        name=held.name[first],
        goroutine=owner if of_goroutine else held.goroutine[first],
        last_goroutine=np.where(closed, held.goroutine[last], np.int32(-1)),
        processor=(owner if of_processor else held.processor[first]).astype(np.int32),
        start_ns=np.where(seen, held.time[first], held.since[first]),
        end_ns=np.where(closed, held.time[last], _NONE),
        seen=seen,
        stack=held.stack[first],
        swept=np.where(swept, held.id[last], _NONE),
        reclaimed=np.where(swept, held.other[last], _NONE),
    )


def tasks_of(marks: Marks) -> Tasks:
    """Return all tasks: by id, then by time."""
    rows = np.flatnonzero(np.isin(marks.kind, (K.TASK_BEGIN, K.TASK_END)))
    rows = rows[np.argsort(marks.time[rows], kind="stable")]
    held = _chosen(marks, rows[np.argsort(marks.id[rows], kind="stable")])
    begins = held.kind == K.TASK_BEGIN
    follows = _previous(begins) & ~begins & ~_changes(held.id)
    first = np.flatnonzero(~follows)
    known = begins[first]
    after = np.minimum(first + 1, len(begins) - 1)
    closed = follows[after] & (first + 1 < len(begins)) if len(first) else known
    last = np.where(closed, after, first)
    ended = closed | ~known
    return Tasks(
        id=held.id[first],
        parent=held.other[first],
        name=held.name[first],
        goroutine=np.where(known, held.goroutine[first], np.int32(-1)),
        last_goroutine=np.where(ended, held.goroutine[last], np.int32(-1)),
        start_ns=np.where(known, held.time[first], _NONE),
        end_ns=np.where(ended, held.time[last], _NONE),
        stack=held.stack[first],
    )


def regions_of(marks: Marks) -> Regions:
    """Return all regions: by goroutine, then in the order they begin."""
    held = _by_owner(marks, [K.REGION_BEGIN, K.REGION_END])
    begins = held.kind == K.REGION_BEGIN
    depth, unopened = _depths(begins, _changes(held.owner))
    # Regions of one goroutine and depth follow each other: a begin, its end, a begin.
    order = np.lexsort((depth, held.owner))
    order = order[~unopened[order]]
    opens = begins[order]
    rows = np.flatnonzero(opens)
    after = np.minimum(rows + 1, len(order) - 1)
    closed = (rows + 1 < len(order)) & ~opens[after]
    first = np.concatenate((order[rows], np.flatnonzero(unopened)))
    last = np.concatenate(
        (order[np.where(closed, after, rows)], np.flatnonzero(unopened))
    )
    ended = np.append(closed, np.ones(np.count_nonzero(unopened), np.bool_))
    known = begins[first]
    place = np.lexsort((first,))
    found = Regions(
        goroutine=held.owner[first],
        task=held.id[first],
        name=held.name[first],
        depth=np.where(known, depth[first], 0).astype(np.int32),
        start_ns=np.where(known, held.time[first], _NONE),
        end_ns=np.where(ended, held.time[last], _NONE),
        stack=held.stack[first],
    )
    return found.take(place)


def _depths(
    begins: NDArray[np.bool_], fresh: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return how deep each begin leads and each end was, and ends without a begin."""
    step = np.where(begins, 1, -1)
    level = np.cumsum(step)
    run = np.cumsum(fresh) - 1
    level -= (level - step)[fresh][run]
    # What lies below the ground so far is what ended without having begun.
    far = len(begins) + 1
    ground = np.minimum.accumulate(np.minimum(level, 0) - run * far) + run * far
    ground = np.minimum(ground, 0)
    unopened = ~begins & (level == ground) & (level < 0)
    before = _previous(ground)
    before[fresh] = 0
    unopened &= ground < before
    depth = level - ground
    return np.where(begins, depth, depth + 1), unopened
