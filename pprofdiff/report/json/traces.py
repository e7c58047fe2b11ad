"""Execution traces in the JSON report: raw nanoseconds, unscaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pprofdiff.analysis.traces.catalogue import BY_KEY, FIGURES, TraceFigure
from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
from pprofdiff.analysis.traces.goroutines import STATE_TIMES, Groups
from pprofdiff.analysis.traces.quantiles import grouped_quantiles
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.tasks import Durations
from pprofdiff.analysis.traces.waited import End, Wait, chained, lines_of, waited
from pprofdiff.report.json import Row

_SUMS = (
    *("count", "exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns"),
    *("total_ns", "unknown_ns"),
)
# So many chains of waits are listed.
_CHAINS = 200
_SUFFIXES = {"ns": "_ns", "bytes": "_bytes"}


def trace_row(diff: TraceDiff) -> Row:
    """Return the comparison of traces as one entry of ``comparisons``."""
    return {
        "kind": "trace",
        "normalization": {
            "mode": diff.mode,
            "base_factor": diff.factors[0],
            "new_factor": diff.factors[1],
        },
        "base": _side(diff.base),
        "new": _side(diff.new),
        "states": [row._asdict() for row in diff.states],
        "waits": _waits(diff),
        "goroutines": _groups(diff, diff.groups, "groups"),
        "created_by": _groups(diff, diff.creations, "by_creation"),
        "latency": {
            "base": _latency(diff.base),
            "new": _latency(diff.new),
            "delta_interval_ns": diff.latency_intervals,
        },
        "mmu": [
            {"window_ns": window, "base": base, "new": new}
            for window, (base, new) in diff.mmu.items()
        ],
        "figures": [_figure(diff, figure) for figure in FIGURES],
        **({"runs": _runs(diff)} if diff.run_ratios else {}),
        **({"rows": _row_changes(diff)} if diff.several else {}),
        "tasks": _durations(diff.base.tasks, diff.new.tasks),
        "regions": _durations(diff.base.regions, diff.new.regions),
    }


def _waits(diff: TraceDiff) -> list[Row]:
    """Return what goroutines waited for, and through whom.

    The `chains` of a row add up to it: the root function that waits, and the places
    between the wait and its end. Only those that changed most are listed; the last of a
    row, without a root, is all its others.
    """
    chains: dict[tuple[Wait, End], list[Row]] = {}
    for (root, waits, end), *times in chained(diff)[:_CHAINS]:
        through = [wait._asdict() for wait in waits[1:]]
        row = {"root": root, "through": through, **_times(*times)}
        chains.setdefault((waits[0], end), []).append(row)
    rows, lines = [], lines_of(diff)
    for wait, end, *times in waited(diff):
        listed = chains.get((wait, end), [])
        base, new = (
            time - sum(row[side] for row in listed)
            for time, side in zip(times, _times(0, 0), strict=True)
        )
        if base or new:
            listed.append({"root": None, "through": None, **_times(base, new)})
        ends = {"wait": wait._asdict(), "end": end._asdict()}
        line = {"line": lines.get(wait)}
        rows.append({**ends, **line, **_times(*times), "chains": listed})
    return rows


def _times(base_ns: int, new_ns: int) -> dict[str, int]:
    return {"base_ns": base_ns, "new_ns": new_ns}


def _runs(diff: TraceDiff) -> list[Row]:
    return [
        {"figure": key, "unit": BY_KEY[key].unit, **one._asdict()}
        for key, one in diff.run_ratios.items()
    ]


def _row_changes(diff: TraceDiff) -> list[Row]:
    return [
        {"table": one.table, "row": one.row, **one.change._asdict()}
        for one in diff.row_changes
    ]


def _figure(diff: TraceDiff, figure: TraceFigure) -> Row:
    base, new = map(figure.of, diff.sides)
    shown = diff.estimate(figure)
    return {
        **figure.declaration,
        "base": base,
        "new": new,
        "base_scaled": shown.base,
        "new_scaled": shown.new,
        **dict(zip(shown._fields[2:], shown[2:], strict=True)),
    }


# Figures by mark worker mode and by kind of stop are listed as such.
_SIDE = [
    (f"{figure.column}{_SUFFIXES.get(figure.unit, '')}", figure.of)
    for figure in FIGURES
    if figure.column and not figure.column.startswith("gc_worker")
]


def _side(side: TraceSide) -> Row:
    gc, limits = side.collections, side.processors.gomaxprocs.value
    return {
        "path": side.path,
        "format": f"go1.{side.trace.version}",
        **{name: of(side) for name, of in _SIDE},
        "gomaxprocs": int(limits[-1]) if len(limits) else None,
        "running_at_once": asdict(side.running_at_once),
        "runnable_at_once": asdict(side.runnable_at_once),
        "gc_triggers": side.triggers,
        "gc_worker_ns": gc.worker_ns,
        "stw_ns": {stop.kind: stop.total_ns for stop in gc.stops},
        "stw": [
            {
                "kind": stop.kind,
                "count": stop.count,
                "duration": asdict(stop.duration),
                "stopping": asdict(stop.stopping),
            }
            for stop in gc.stops
        ],
    }


def _groups(diff: TraceDiff, pairs: Sequence[GroupPair], grouping: str) -> list[Row]:
    base, new = (_rows(side, getattr(side, grouping)) for side in diff.sides)
    return [
        {
            "name": pair.name,
            "base": base[pair.base] if pair.base >= 0 else None,
            "new": new[pair.new] if pair.new >= 0 else None,
        }
        for pair in pairs
    ]


def _rows(side: TraceSide, groups: Groups) -> list[Row]:
    waits = side.waits
    whole = ~waits.cut
    group = groups.group_of[waits.goroutine[whole]]
    names = tuple(groups.names)
    latency = grouped_quantiles(group, waits.duration_ns[whole], names)
    columns = {name: getattr(groups, name).tolist() for name in _SUMS}
    block, within = groups.block_ns.tolist(), groups.range_ns.tolist()
    capacity = side.processors.capacity_ns
    return [
        {
            **(sums := {field: column[i] for field, column in columns.items()}),
            "block_ns": _named(groups.reasons, block[i]),
            "range_ns": _named(groups.range_names, within[i]),
            "capacity_share": _share(sums["exec_ns"], capacity),
            "life_share": {
                **{
                    state: _share(sums[column], sums["total_ns"])
                    for state, column in STATE_TIMES.items()
                },
                "blocked": _share(sum(block[i]), sums["total_ns"]),
            },
            "latency": asdict(latency.row(name)),
            "system": bool(groups.system[i]),
            "tracing": bool(groups.tracing[i]),
        }
        for i, name in enumerate(groups.names)
    ]


def _named(names: tuple[str, ...], values: list[int]) -> dict[str, int]:
    return {name: value for name, value in zip(names, values, strict=True) if value}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _latency(side: TraceSide) -> Row:
    return {
        **asdict(side.latency),
        "by_cause": {name: asdict(one) for name, one in side.causes.items()},
        **side.waits.during_ns,
    }


def _durations(base: Durations, new: Durations) -> list[Row]:
    """Return tasks or regions by name, "" for those that began before the trace."""
    sides = [_counted(durations) for durations in (base, new)]
    names = sorted({*sides[0], *sides[1]})
    return [
        {"name": name, "base": sides[0].get(name), "new": sides[1].get(name)}
        for name in names
    ]


def _counted(of: Durations) -> dict[str, Row]:
    rows = {name: of.durations.row(name) for name in of.counts}
    return {
        name: {**asdict(row), "count": of.counts[name], "complete": row.count}
        for name, row in rows.items()
    }
