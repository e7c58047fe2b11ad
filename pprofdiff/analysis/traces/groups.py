"""Goroutine time by root function, or by the function that created them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from pprofdiff.analysis.traces.goroutines import (
    INACTIVE,
    TIMES,
    Times,
    spread_columns,
    times_in_parts,
)
from pprofdiff.analysis.traces.interval_rows import owners_of
from pprofdiff.model.arrays import Column, Index, Mask
from pprofdiff.model.csr import slices, sums
from pprofdiff.model.traces.trace import State, Trace

if TYPE_CHECKING:
    import pandas as pd

# A request for a profile or trace is served like any other, on a goroutine of net/http.
_HANDLERS = "net/http/pprof."
# Started by trace.Start, flight recorders and the runtime to write the trace, by
# pprof.StartCPUProfile to write a profile, and by agents to upload them.
_TRACING = (
    _HANDLERS,
    "runtime/trace.",
    "golang.org/x/exp/trace.",
    "runtime.(*traceAdvancerState).",
    "runtime.traceStartReadCPU.",
    "runtime/pprof.profileWriter",
    "gopkg.in/DataDog/dd-trace-go.v1/profiler.",
    "github.com/DataDog/dd-trace-go/v2/profiler.",
    "github.com/grafana/pyroscope-go.",
    "github.com/grafana/pyroscope-go/",
)


def is_system(name: str) -> bool:
    """Return whether goroutines of a root function belong to the runtime.

    Like Go (internal/trace/summary.go), this includes an unknown root function.
    """
    return not name or (name.startswith("runtime.") and name != "runtime.main")


def is_tracing(name: str) -> bool:
    """Return whether goroutines of a function exist only to write and send profiles."""
    return name.startswith(_TRACING)


# The group of goroutines whose creation is not in the trace.
_UNSEEN = "(created before the trace)"


class Groups(Times, frozen=True):
    """Times of goroutines by function, one row per name, largest `total_ns` first.

    `count` (int64) is the number of goroutines, `group_of` (int32, by goroutine) each
    one's row. `system` (bool) marks rows with only runtime goroutines, `tracing` rows
    with only goroutines that write the trace.
    """

    names: list[str]
    group_of: Index
    count: Column
    system: Mask
    tracing: Mask

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per name, with the fields and `spread_columns`."""
        import pandas as pd

        columns: dict[str, object] = {"count": self.count, "total_ns": self.total_ns}
        for field in TIMES:
            columns[field] = getattr(self, field)
        columns |= spread_columns(self)
        columns |= {"system": self.system, "tracing": self.tracing}
        return pd.DataFrame(columns, pd.Index(self.names, name="name"))


def both_groups(trace: Trace) -> tuple[Groups, Groups]:
    """Return goroutines grouped by root function, and by creating function.

    Goroutines without a known root function are in the row `INACTIVE`, as on Go's page.
    """
    by_name = _Grouping(trace, trace.once("roots", _roots), INACTIVE)
    by_creation = _Grouping(trace, _creators(trace), _UNSEEN)
    for here, times in times_in_parts(trace):
        by_name.add(times, here)
        by_creation.add(times, here)
    return by_name.groups(), by_creation.groups()


class _Grouping:
    """The running sums of times by function; `key` has each goroutine's, a string."""

    def __init__(self, trace: Trace, key: Index, unknown: str) -> None:
        self._trace, self._unknown = trace, unknown
        count = np.bincount(key, minlength=len(trace.strings))
        self._key = np.flatnonzero(count)
        self._count = count[self._key]
        place = np.zeros(len(count), np.int32)
        place[self._key] = np.arange(len(self._key))
        self._group = place[key]
        self._sums: dict[str, Column] = {}
        self._names: tuple[tuple[str, ...], tuple[str, ...]] = (), ()

    def add(self, times: Times, here: slice) -> None:
        group, size = self._group[here], len(self._key)
        self._names = times.reasons, times.range_names
        for field in ("total_ns", *TIMES, "block_ns", "range_ns"):
            total = _summed(getattr(times, field), group, size)
            if field in self._sums:
                total += self._sums[field]
            self._sums[field] = total

    def groups(self) -> Groups:
        trace, size = self._trace, len(self._key)
        order = np.argsort(-self._sums["total_ns"], kind="stable")
        place = np.empty(size, np.int32)
        place[order] = np.arange(size)
        group, keys = place[self._group], self._key[order].tolist()
        reasons, range_names = self._names
        return Groups(
            names=[trace.strings[i] or self._unknown for i in keys],
            group_of=group,
            count=self._count[order],
            reasons=reasons,
            range_names=range_names,
            system=_all(_roots_that(trace, is_system), group, size),
            tracing=_all(of_tracing(trace), group, size),
            **{field: total[order] for field, total in self._sums.items()},
        )


def _creators(trace: Trace) -> Index:
    """Return the string index of each goroutine's creating function, 0 if unknown."""
    stacks, stack = trace.stacks, trace.goroutines.creation_stack
    names = np.zeros(len(stack), np.int32)
    known = np.flatnonzero(np.diff(stacks.offsets)[stack])
    names[known] = stacks.function[stacks.frame[stacks.offsets[stack[known]]]]
    return names


def _roots(trace: Trace) -> Index:
    """Return the string index of each goroutine's root function.

    Of one that served a request for a profile or trace, it is that handler.
    """
    stacks, names = trace.stacks, trace.goroutines.name.astype(np.int32)
    handles = [trace.strings[i].startswith(_HANDLERS) for i in stacks.function.tolist()]
    frames = np.flatnonzero(np.array(handles, np.bool_)[stacks.frame])
    if not len(frames):
        return names
    stack = np.searchsorted(stacks.offsets, frames, "right") - 1
    handler = np.zeros(len(stacks), np.int32)
    # Frames are leaf first: the handler is the last of its stack's.
    handler[stack] = stacks.function[stacks.frame[frames]]
    rows = trace.intervals
    for here in slices(len(rows)):
        # Where a goroutine became runnable, the stack is its waker's.
        own = rows.state[here] != State.RUNNABLE
        row = here.start + np.flatnonzero(own & (handler[rows.stack[here]] > 0))
        names[owners_of(rows.offsets, row)] = handler[rows.stack[row]]
    return names


def of_tracing(trace: Trace) -> Mask:
    """Mark goroutines (bool) that exist only to write and send profiles."""
    return _roots_that(trace, is_tracing)


def _roots_that(trace: Trace, matches: Callable[[str], bool]) -> Mask:
    """Mark goroutines (bool) whose root function's name satisfies a predicate."""
    names = trace.once("roots", _roots)
    answers = np.zeros(len(trace.strings), np.bool_)
    for name in np.flatnonzero(np.bincount(names)).tolist():
        answers[name] = matches(trace.strings[name])
    return answers[names]


def _summed(values: Column, group: Index, size: int) -> Column:
    """Return the sum of each group; `values` has a row or a cell per goroutine."""
    if values.ndim == 1:
        return sums(group, values, size)
    total = np.zeros((size, values.shape[1]), np.int64)
    for place in range(values.shape[1]):
        total[:, place] = sums(group, values[:, place], size)
    return total


def _all(marked: Mask, group: Index, size: int) -> Mask:
    """Mark the groups whose goroutines are all marked."""
    whole = np.ones(size, np.bool_)
    whole[group[~marked]] = False
    return whole


def added_up(parts: Sequence[Groups]) -> Groups:
    """Return groups of several traces by name; ties are ordered by name."""
    if len(parts) == 1:
        return parts[0]
    lives: Counter[str] = Counter()
    for part in parts:
        lives.update(dict(zip(part.names, part.total_ns.tolist(), strict=True)))
    names = sorted(lives, key=lambda name: (-lives[name], name))
    place = {name: row for row, name in enumerate(names)}
    rows = [np.array([place[n] for n in part.names], np.int64) for part in parts]

    def added(field: str) -> Column:
        total = np.zeros(len(names), np.int64)
        for row, part in zip(rows, parts, strict=True):
            np.add.at(total, row, getattr(part, field))
        return total

    def everywhere(field: str) -> Mask:
        marked = np.ones(len(names), np.bool_)
        for row, part in zip(rows, parts, strict=True):
            marked[row] &= getattr(part, field)
        return marked

    reasons, block = _matrix(parts, rows, ("reasons", "block_ns"), len(names))
    ranges, within = _matrix(parts, rows, ("range_names", "range_ns"), len(names))
    return Groups(
        names=names,
        group_of=np.concatenate(
            [row[part.group_of] for row, part in zip(rows, parts, strict=True)]
        ),
        count=added("count"),
        total_ns=added("total_ns"),
        **{field: added(field) for field in TIMES},
        reasons=reasons,
        block_ns=block,
        range_names=ranges,
        range_ns=within,
        system=everywhere("system"),
        tracing=everywhere("tracing"),
    )


def _matrix(
    parts: Sequence[Times],
    rows: Sequence[Column],
    fields: tuple[Literal["reasons", "range_names"], Literal["block_ns", "range_ns"]],
    size: int,
) -> tuple[tuple[str, ...], Column]:
    """Return the column names, sorted, and the sum of shape (size, columns)."""
    named, values = fields
    names = sorted({name for part in parts for name in getattr(part, named)})
    total = np.zeros((size, len(names)), np.int64)
    for row, part in zip(rows, parts, strict=True):
        columns = np.array([names.index(n) for n in getattr(part, named)], np.int64)
        np.add.at(total, np.ix_(row, columns), getattr(part, values))
    return tuple(names), total
