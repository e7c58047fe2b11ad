"""Trace comparisons as DataFrames; imported only when one is requested.

Times are raw int64 nanoseconds; ``…_scaled`` columns are nanoseconds per second of wall
time, or per op (`TraceDiff.mode`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.analysis.traces.catalogue import FIGURES
from pprofdiff.analysis.traces.goroutines import Groups
from pprofdiff.analysis.traces.quantiles import QUANTILES
from pprofdiff.analysis.traces.waited import End, Wait, Waited, lines_of, waited
from pprofdiff.model.arrays import Column
from pprofdiff.model.traces.trace import Trace

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import StateTime, TraceDiff

_TIMES = ("total", "exec", "sched_wait", "syscall", "syscall_block", "unknown")
_SIDES = ("base", "new")


def states_frame(diff: TraceDiff) -> pd.DataFrame:
    """Return one row per state of application goroutines, blocked by reason."""
    rows = diff.states
    names = {"state": [row.state for row in rows], "reason": [r.reason for r in rows]}
    return pd.DataFrame({**names, **_compared(diff, "", *_times(rows))})


def waits_frame(diff: TraceDiff) -> pd.DataFrame:
    """Return one row per place where goroutines wait and end of the wait."""
    rows, lines = waited(diff), lines_of(diff)
    names = {
        **{name: [getattr(row.wait, name) for row in rows] for name in Wait._fields},
        "line": [lines.get(row.wait, "") for row in rows],
        **{f"end_{n}": [getattr(row.end, n) for row in rows] for n in End._fields},
    }
    return pd.DataFrame({**names, **_compared(diff, "", *_times(rows))})


def groups_frame(
    diff: TraceDiff, by: Literal["groups", "by_creation"] = "groups"
) -> pd.DataFrame:
    """Return one row per root function, or creating one, largest change first."""
    pairs = diff.groups if by == "groups" else diff.creations
    tables = [getattr(side, by) for side in diff.sides]
    rows = [np.array([pair[i] for pair in pairs], np.int64) for i in (1, 2)]
    there = [row >= 0 for row in rows]
    status = np.where(there[0] & there[1], 0, np.where(there[1], 1, 2))
    columns: dict[str, object] = {
        "status": pd.Categorical.from_codes(status.tolist(), pd.Index(STATUSES))
    }
    counts = [_at(g.count, row) for g, row in zip(tables, rows, strict=True)]
    columns |= {"base_count": counts[0], "new_count": counts[1]}
    columns["delta_count"] = counts[1] - counts[0]
    for name in (*_TIMES, "block"):
        base, new = (
            _at(_total(groups, name), row)
            for groups, row in zip(tables, rows, strict=True)
        )
        columns |= _compared(diff, name, base, new)
    marks = [
        _at(g.system | g.tracing, row, missing=1).astype(np.bool_)
        for g, row in zip(tables, rows, strict=True)
    ]
    columns["runtime"] = marks[0] & marks[1]
    index = pd.Index([pair.name for pair in pairs], name="name", dtype=object)
    return pd.DataFrame(columns, index=index)


def latency_frame(diff: TraceDiff) -> pd.DataFrame:
    """Return one row per scheduling latency quantile."""
    sides = [side.latency for side in diff.sides]
    index = pd.Index([*QUANTILES, "max"], name="quantile", dtype=object)
    fields = (*QUANTILES.values(), "max_ns")
    base, new = (
        pd.Series([getattr(side, field) for field in fields], index, "Int64")
        for side in sides
    )
    bounds = [diff.latency_intervals.get(name) for name in index]
    frame = pd.DataFrame({"base_ns": base, "new_ns": new, "delta_ns": new - base})
    for place, name in enumerate(("delta_low_ns", "delta_high_ns")):
        ends = [bound[place] if bound else None for bound in bounds]
        frame[name] = pd.Series(ends, index, "Int64")
    counts = [side.count for side in sides]
    return frame.assign(base_count=counts[0], new_count=counts[1])


def stops_frame(diff: TraceDiff) -> pd.DataFrame:
    """Return one row per kind of STW pause."""
    by_kind = [{stop.kind: stop for stop in s.collections.stops} for s in diff.sides]
    kinds = sorted({*by_kind[0], *by_kind[1]})
    counts, totals = (
        [
            np.array([getattr(of.get(k), field, 0) for k in kinds], np.int64)
            for of in by_kind
        ]
        for field in ("count", "total_ns")
    )
    columns: dict[str, object] = {"base_count": counts[0], "new_count": counts[1]}
    columns["delta_count"] = counts[1] - counts[0]
    columns |= _compared(diff, "total", *totals)
    for side, stops in zip(_SIDES, by_kind, strict=True):
        longest = [stops[k].duration.max_ns if k in stops else None for k in kinds]
        columns[f"{side}_longest_ns"] = pd.array(longest, "Int64")
    return pd.DataFrame(columns, index=pd.Index(kinds, name="kind", dtype=object))


def mmu_frame(diff: TraceDiff) -> pd.DataFrame:
    """Return the minimum mutator utilization, one row per window."""
    rows = [
        [np.nan if share is None else share for share in shares]
        for shares in diff.mmu.values()
    ]
    index = pd.Index(np.array(list(diff.mmu), np.int64), name="window_ns")
    shares = np.array(rows, np.float64).reshape(-1, 2)
    frame = pd.DataFrame(shares, index, columns=list(_SIDES))
    return frame.assign(delta=frame["new"] - frame["base"])


def figures_frame(diff: TraceDiff) -> pd.DataFrame:
    """Return one row per figure: label, raw base and new, delta, ratio, unit."""
    columns: dict[str, object] = {"label": [figure.label for figure in FIGURES]}
    index = pd.Index([figure.name for figure in FIGURES], name="figure", dtype=object)
    for word, side in zip(_SIDES, diff.sides, strict=True):
        values = [figure.of(side) for figure in FIGURES]
        columns[word] = pd.Series(values, index, dtype="float64")
    frame = pd.DataFrame(columns, index=index)
    frame["delta"] = frame["new"] - frame["base"]
    frame["ratio"] = frame["new"] / frame["base"].where(frame["base"] != 0)
    return frame.assign(unit=[figure.unit for figure in FIGURES])


def heap_frame(trace: Trace) -> pd.DataFrame:
    """Return live_bytes and goal_bytes (Int64), one row per change, by time_ns."""
    live, goal = (
        pd.Series(one.value, one.time_ns).groupby(level=0).last()
        for one in (trace.heap_live_bytes, trace.heap_goal_bytes)
    )
    frame = pd.DataFrame({"live_bytes": live, "goal_bytes": goal})
    whole = frame.ffill().astype("Int64")
    return whole.rename_axis("time_ns").reset_index()


def sided(base: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return both sides' rows stacked, with a column `side` in front."""
    parts = [base, new]
    frame = pd.concat(parts, ignore_index=True)
    for name in base.select_dtypes("category"):
        frame[name] = union_categoricals([part[name] for part in parts])
    sizes = [len(part) for part in parts]
    codes = np.repeat([0, 1], sizes)
    side = pd.Categorical.from_codes(codes.tolist(), pd.Index(_SIDES))
    frame.insert(0, "side", pd.Series(side))
    return frame


def _times(rows: Sequence[StateTime] | Sequence[Waited]) -> Column:
    return np.array([(row.base_ns, row.new_ns) for row in rows], np.int64).T


def _compared(
    diff: TraceDiff, name: str, base: Column, new: Column
) -> dict[str, object]:
    """Return the columns of one time: raw values and the scaled delta."""
    word = f"{name}_" if name else ""
    scaled = diff.normalization.scaled(base, new)
    columns: dict[str, object] = {
        f"base_{word}ns": base,
        f"new_{word}ns": new,
        f"delta_{word}ns": new - base,
    }
    if not name:
        columns |= {"base_scaled": scaled[0], "new_scaled": scaled[1]}
    return columns | {f"delta_{word}scaled": scaled[1] - scaled[0]}


def _total(groups: Groups, name: str) -> Column:
    if name == "block":
        return np.asarray(groups.block_ns.sum(axis=1), np.int64)
    column: Column = getattr(groups, f"{name}_ns")
    return column


def _at(column: Column, rows: Column, missing: int = 0) -> Column:
    values: Column = np.append(column, missing)[rows].astype(np.int64)
    return values
