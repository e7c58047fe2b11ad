"""Execution traces in the JSON report: raw nanoseconds, unscaled."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pprofdiff.diff.trace.compare import TraceDiff
from pprofdiff.diff.trace.latency import by_cause
from pprofdiff.diff.trace.side import TraceSide

__all__ = ["trace_row"]

Row = dict[str, Any]


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
        "goroutines": [
            {
                "name": pair.name,
                "base": _group(diff.base, pair.base),
                "new": _group(diff.new, pair.new),
            }
            for pair in diff.groups
        ],
        "latency": {
            "base": _latency(diff.base),
            "new": _latency(diff.new),
            "delta_interval_ns": diff.latency_intervals,
        },
        "mmu": [
            {"window_ns": window, "base": base, "new": new}
            for window, (base, new) in diff.mmu().items()
        ],
    }


def _side(side: TraceSide) -> Row:
    held, ran = side.collections, side.processors
    limits = ran.gomaxprocs.value
    return {
        "path": side.path,
        "format": f"go1.{side.trace.version}",
        "wall_ns": side.wall_ns,
        "events": side.trace.events,
        "gomaxprocs": int(limits[-1]) if len(limits) else None,
        "capacity_ns": ran.capacity_ns,
        "goroutine_ns": ran.goroutine_ns,
        "utilisation": ran.utilisation,
        "steals": int(ran.steals.sum()),
        "gc_cycles": held.begun,
        "gc_triggers": side.triggers,
        "gc_mark_wall_ns": held.mark_wall_ns,
        "gc_worker_ns": held.worker_ns,
        "gc_assist_cpu_ns": held.assist_cpu_ns,
        "gc_assist_wait_ns": held.assist_wait_ns,
        "gc_sweep_ns": held.sweep_ns,
        "gc_fraction": held.gc_fraction,
        "stw_ns": {stop.kind: stop.total_ns for stop in held.stops},
        "stw": [
            {
                "kind": stop.kind,
                "count": stop.count,
                "duration": asdict(stop.duration),
                "stopping": asdict(stop.stopping),
            }
            for stop in held.stops
        ],
        "allocated_bytes": held.allocated_bytes,
    }


def _group(side: TraceSide, row: int) -> Row | None:
    if row < 0:
        return None
    held = side.groups
    fields = (
        *("count", "exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns"),
        *("total_ns", "unknown_ns"),
    )
    out: Row = {name: int(getattr(held, name)[row]) for name in fields}
    for field, names in (("block_ns", held.reasons), ("range_ns", held.range_names)):
        values = getattr(held, field)[row].tolist()
        out[field] = {
            name: value for name, value in zip(names, values, strict=True) if value
        }
    return out


def _latency(side: TraceSide) -> Row:
    waits = side.waits
    causes = by_cause(waits)
    return {
        **asdict(waits.quantiles()),
        "by_cause": {name: asdict(causes.row(name)) for name in causes.name},
        "gc_mark_ns": int(waits.gc_mark_ns.sum()),
        "stw_ns": int(waits.stw_ns.sum()),
        "busy_ns": int(waits.busy_ns.sum()),
    }
