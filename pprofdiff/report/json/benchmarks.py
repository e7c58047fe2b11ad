"""Benchmarks in the JSON report: one object per benchmark and unit, as printed."""

from __future__ import annotations

from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff
from pprofdiff.analysis.judge.samples import Summary
from pprofdiff.report.json import Row


def comparison_row(diff: BenchmarkDiff) -> Row:
    """Return the entry of ``comparisons`` for benchmarks."""
    return {"kind": "benchmark", "rows": benchmark_rows(diff)}


def load_row(diff: BenchmarkDiff) -> Row:
    """Return the entry of ``comparisons`` for load generators.

    Rows are as of benchmarks: ``rate`` in req/s, ``failed`` in %, ``mean``, ``p50``,
    ``p99.9``, ``max`` … in sec.
    """
    return {"kind": "load", "rows": benchmark_rows(diff)}


def benchmark_rows(diff: BenchmarkDiff) -> list[Row]:
    """Return one object per benchmark and unit, missing values None.

    ``base``, ``new`` and their bounds are medians in ``unit``. For interleaved rounds
    they are geometric means, and ``ratio`` has a 99% CI.
    """
    return [
        {
            "name": row.name,
            "procs": row.procs,
            "config": dict(table.config),
            "unit": row.unit,
            "better": row.better,
            **_side("base", row.base),
            **_side("new", row.new),
            "delta": row.delta,
            "ratio": row.ratio,
            "ratio_low": row.bounds[0],
            "ratio_high": row.bounds[1],
            "p": row.p,
            "significant": row.significant if row.tested else None,
            "worse": row.worse,
            "notes": list(row.notes),
        }
        for table in diff.tables
        for row in table.rows
    ]


def _side(side: str, summary: Summary | None) -> dict[str, float | int | None]:
    median, low, high, n = summary or (None, None, None, 0)
    return {side: median, f"{side}_low": low, f"{side}_high": high, f"n_{side}": n}
