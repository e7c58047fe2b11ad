"""Real comparisons to draw: GC logs, traces and profiles of the stories in tests/data."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.gclogs.compare import compare_logs
from pprofdiff.analysis.traces.compare import compare_traces
from pprofdiff.api import diff, fleet, load
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.side import Capture, Side

DATA = Path(__file__).parents[1] / "data"
LABELS = ("main", "pr")
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
HOSTILE = (
    "</script><b>&amp;",
    "$x$",
    r"$\frac{",
    r"\$a\$ $",
    "_hidden",
    "日本語",
    "a\u202eb\x00\n",
)


@cache
def logs(base, new):
    """Return both GC logs."""
    return load(DATA / base).data, load(DATA / new).data


@cache
def traces(story):
    """Return both traces of a story."""
    return tuple(
        load(DATA / story / side / "trace.out").data for side in ("base", "new")
    )


def gc_diff(base, new, labels=LABELS):
    """Return two GC logs compared."""
    sides = [
        (label, [Capture(path, "gctrace", log)])
        for label, path, log in zip(labels, (base, new), logs(base, new), strict=True)
    ]
    return compare_logs((sides[0], sides[1]))


def story_logs(story, labels=LABELS):
    """Return a story's GC logs compared."""
    return gc_diff(f"{story}/base/gctrace.log", f"{story}/new/gctrace.log", labels)


def pools(labels=LABELS):
    """Return the two logs of sync-pool-gctrace compared: 64 and 38 cycles."""
    return gc_diff(
        "sync-pool-gctrace/sync-pool.log", "sync-pool-gctrace/none-pool.log", labels
    )


def trace_diff(story, labels=LABELS):
    """Return a story's traces compared, nothing of them analysed yet."""
    sides = [
        (label, [Capture("trace.out", "trace", trace)])
        for label, trace in zip(labels, traces(story), strict=True)
    ]
    return compare_traces(sides[0], sides[1])


def profile_diff(story, kind, labels=LABELS):
    """Return a story's profiles of a kind compared."""
    base, new = (
        load(DATA / story / side / f"{kind}.pb.gz", label=label)
        for side, label in zip(("base", "new"), labels, strict=True)
    )
    return diff(base, new).data


@cache
def _fleet():
    pytest.importorskip("ruptures")
    return fleet(f"zip://**/*.gz::{DATA}/fleet.zip", over="build", workers=0).data


def a_fleet(labels=LABELS):
    """Return six builds of the notebook's fleet, the first and last by these labels."""
    judged = _fleet()
    first, *steps, last = judged.series.steps
    steps = (replace(first, name=labels[0]), *steps, replace(last, name=labels[1]))
    return replace(judged, series=replace(judged.series, steps=steps))


def measured_runs(labels=LABELS, base=(100, 104, 98, 170), new=(121, 118)):
    """Return benchmark A run so often on each side, in ns an operation, compared."""
    sides = [
        Side(
            label,
            tuple(
                Capture(f"{place}.txt", "benchmark", _output(value))
                for place, value in enumerate(values, 1)
            ),
        )
        for label, values in zip(labels, (base, new), strict=True)
    ]
    return compare_sides(*sides)


def _output(value):
    return parse(f"BenchmarkA-4 \t 1000 \t {value} ns/op\n".encode(), "bench.txt")


PLOTS = {
    "pauses": pools,
    "latency": partial(trace_diff, "health-check"),
    "mmu": partial(trace_diff, "health-check"),
    "states": partial(trace_diff, "health-check"),
    "waits": partial(trace_diff, "health-check"),
    "waterfall": partial(profile_diff, "syncpool", "cpu"),
    "movers": partial(profile_diff, "syncpool", "cpu"),
    "flamegraph": partial(profile_diff, "zstd", "cpu"),
    "curves": a_fleet,
    "runs": measured_runs,
}
"""Every plot, and what makes its subject of the sides' labels."""
