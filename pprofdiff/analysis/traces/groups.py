"""What goroutines spend their time on, by root function or by creating function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.goroutines import (
    INACTIVE,
    TIMES,
    GoroutineStats,
    Times,
    spread_columns,
)
from pprofdiff.analysis.traces.roots import is_system, is_tracing
from pprofdiff.model.csr import grouped
from pprofdiff.model.traces.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Groups", "groups"]

Column = NDArray[np.int64]
# The name of goroutines by creating function where the trace does not show it.
_UNSEEN = "(created before the trace)"


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Times):
    """Times of goroutines by function, largest `total_ns` first; one row a name.

    Times are sums over the goroutines of a row; `count` (int64) is how many there are.
    `group_of` (int64, one a goroutine of the trace) is the row of each goroutine.
    `system` (bool) marks rows whose goroutines are all the runtime's, `tracing` rows
    whose goroutines all exist only to write the trace.
    """

    names: list[str]
    group_of: Column
    count: Column
    system: NDArray[np.bool_]
    tracing: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.names)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a name; columns as in `GoroutineStats.to_frame`."""
        import pandas as pd

        columns: dict[str, object] = {"count": self.count, "total_ns": self.total_ns}
        for field in TIMES:
            columns[field] = getattr(self, field)
        columns |= spread_columns(self)
        columns |= {"system": self.system, "tracing": self.tracing}
        return pd.DataFrame(columns, pd.Index(self.names, name="name"))


def groups(
    trace: Trace,
    stats: GoroutineStats,
    by: Literal["name", "creation"] = "name",
) -> Groups:
    """Return goroutines by root function, or by the function that created them.

    `stats` are those of the trace. A goroutine without a known root function is in the
    row `INACTIVE`, as on Go's page.
    """
    roots = trace.goroutines.name
    if by == "name":
        key, unknown = roots, INACTIVE
    else:
        key, unknown = _creators(trace), _UNSEEN
    distinct, group = grouped(key)
    size = len(distinct)
    count = np.bincount(group, minlength=size)
    total = _summed(stats.total_ns, group, size)
    order = np.argsort(-total, kind="stable")
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    group = place[group]
    fields = ("total_ns", *TIMES)
    sums = {f: _summed(getattr(stats, f), group, size) for f in fields}
    return Groups(
        names=[trace.strings[i] or unknown for i in distinct[order].tolist()],
        group_of=group,
        count=count[order],
        **sums,
        reasons=stats.reasons,
        block_ns=_summed(stats.block_ns, group, size),
        range_names=stats.range_names,
        range_ns=_summed(stats.range_ns, group, size),
        system=_all(_roots_that(trace, is_system), group, size),
        tracing=_all(_roots_that(trace, is_tracing), group, size),
    )


def _creators(trace: Trace) -> NDArray[np.int32]:
    """Return the function (a string) that created each goroutine, 0 if unknown."""
    stacks, stack = trace.stacks, trace.goroutines.creation_stack
    names = np.zeros(len(stack), np.int32)
    known = np.flatnonzero(np.diff(stacks.offsets)[stack])
    names[known] = stacks.function[stacks.frame[stacks.offsets[stack[known]]]]
    return names


def _roots_that(trace: Trace, tells: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Mark goroutines (bool) whose root function's name fulfils a condition."""
    names, group = grouped(trace.goroutines.name)
    answers = [tells(trace.strings[i]) for i in names.tolist()]
    return np.array(answers, np.bool_)[group]


def _summed(values: Column, group: Column, size: int) -> Column:
    """Return the sum of each group; `values` has a row or a cell a goroutine."""
    total = np.zeros((size, *values.shape[1:]), np.int64)
    np.add.at(total, group, values)
    return total


def _all(marked: NDArray[np.bool_], group: Column, size: int) -> NDArray[np.bool_]:
    """Mark the groups of which all goroutines are marked."""
    alone: NDArray[np.bool_] = np.bincount(group[~marked], minlength=size) == 0
    return alone
