"""GC logs and benchmarks in the JSON report: every field, and sums that add up."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import pytest

from tests.analysis.benchmarks.benchtext import printed
from tests.loaders.gclogs.gctext import reference
from tests.report.json.shapes import FLOAT, INPUT, INT, TEXT, check

PUBLISHED = ("none-pool", "sync-pool")
# The runtime cut digits off each of these; the JSON has them as milliseconds.
SUMS = {
    "mark_wall_ms": ["mark_wall_us"],
    "stw_wall_ms": ["sweep_termination_wall_us", "mark_termination_wall_us"],
    "stw_cpu_ms": ["sweep_termination_cpu_us", "mark_termination_cpu_us"],
    "sweep_termination_wall_ms": ["sweep_termination_wall_us"],
    "mark_termination_wall_ms": ["mark_termination_wall_us"],
    "sweep_termination_cpu_ms": ["sweep_termination_cpu_us"],
    "mark_termination_cpu_ms": ["mark_termination_cpu_us"],
    "assist_cpu_ms": ["assist_cpu_us"],
    "background_cpu_ms": ["background_cpu_us"],
    "idle_cpu_ms": ["idle_cpu_us"],
}
WINDOW = {
    "reason": TEXT, "first_cycle": INT, "last_cycle": INT, "start_s": FLOAT, "end_s": FLOAT,
    "gc_cpu_ms_per_cycle": FLOAT, "mark_wall_share": "float?", "mean_trigger_mb": FLOAT,
    "mean_peak_mb": FLOAT, "mean_live_mb": FLOAT, "mean_goal_mb": FLOAT, "gomaxprocs": FLOAT,
    "allocated_mb_per_second": "float?", "allocated_mb_per_cycle": "float?",
}  # fmt: skip
SIDE = {
    "path": TEXT, "cycles": INT, **dict.fromkeys(SUMS, FLOAT),
    "worst_pause_ms": FLOAT, "p99_pause_ms": FLOAT, "forced_cycles": INT, "timer_cycles": INT,
    "allocated_mb": "int?", "allocated_error_mb": INT, "allocated_during_mark_mb": INT,
    "median_live_mb": FLOAT, "median_goal_mb": FLOAT, "effective_gogc": "float?",
    "gc_cpu_share": "float?", "cycles_per_second": "float?",
    "lines_seen": INT, "lines_expected": INT, "lines_torn": INT, "window": WINDOW,
}  # fmt: skip
FACTORS = dict.fromkeys(
    ("gc_cpu", "cycles", "cpu_per_cycle", "allocation", "bytes_per_cycle"), FLOAT
)
RESTORED = {"gogc": FLOAT, "heap_mb": "float?", "outside_mb": "float?"}
FIGURE = {
    "id": TEXT, "label": TEXT, "unit": TEXT, "worse_if": "text?", "base": "float?", "new": "float?", "ratio": "float?",
    "low": "float?", "high": "float?", "mark": TEXT, "base_runs": ["float?"], "new_runs": ["float?"],
}  # fmt: skip
GC = {
    "kind": TEXT, "base": SIDE, "new": SIDE, "work_per_second": ({"base": FLOAT, "new": FLOAT},),
    "factors": (FACTORS,), "restored": (RESTORED,), "runs": {"base": INT, "new": INT}, "figures": [FIGURE],
}  # fmt: skip
BENCHMARK = {
    "name": TEXT, "procs": "int?", "unit": TEXT, "better": "text?", "base": "float?", "base_low": "float?",
    "base_high": "float?", "n_base": INT, "new": "float?", "new_low": "float?", "new_high": "float?",
    "n_new": INT, "delta": "float?", "ratio": "float?",
    "ratio_low": "float?", "ratio_high": "float?", "p": "float?", "significant": "flag?", "worse": "flag?",
    "config": {}, "notes": [TEXT],
}  # fmt: skip


def of_kind(report, kind):
    """Return the comparison of this kind, None for none."""
    found = [c for c in report["comparisons"] if c["kind"] == kind]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.fixture(scope="module")
def logs(data_folder):
    """Return a story's logs, or the published ones."""

    def paths(name):
        if name == "published":
            return [data_folder / "sync-pool-gctrace" / f"{n}.log" for n in PUBLISHED]
        return [data_folder / name / side / "gctrace.log" for side in ("base", "new")]

    return paths


@pytest.mark.parametrize("words", [(), ("--rps=322108:280371",), ("--window=10:40",)])
@pytest.mark.parametrize("name", ["published", "zstd"])
def test_every_field_of_gc_logs(written, logs, name, words):
    if name == "zstd" and "--window=10:40" in words:
        words = ("--window=5:16",)
    report = written(*logs(name), *words)
    gc = of_kind(report, "gctrace")
    check(gc, GC)
    assert gc["runs"] == {"base": 1, "new": 1}
    for figure in gc["figures"]:
        assert figure["base_runs"] == [figure["base"]]
        assert figure["new_runs"] == [figure["new"]]
    for side in ("base", "new"):
        (entry,) = report["inputs"][side]
        check(entry, INPUT)
        assert (entry["kind"], entry["path"]) == ("gctrace", gc[side]["path"])
        assert (entry["cycles"], entry["samples"]) == (gc[side]["lines_seen"], None)
    rates = {"base": 322108.0, "new": 280371.0} if "--rps" in str(words) else None
    assert gc["work_per_second"] == rates
    # Go 1.16, which has no memory limit, printed the published logs.
    assert (gc["restored"]["heap_mb"] is None) == (name == "published")


@pytest.mark.parametrize("name", ["published", "syncpool", "node-pool", "zstd"])
def test_sums_match_the_log(written, logs, name):
    paths = logs(name)
    gc = of_kind(written(*paths), "gctrace")
    for path, side in zip(paths, ("base", "new"), strict=True):
        rows, got = reference(path.read_bytes()), gc[side]
        assert got["cycles"] == got["lines_seen"] == len(rows)
        assert got["lines_expected"] == rows[-1]["number"] - rows[0]["number"] + 1
        for field, columns in SUMS.items():
            assert got[field] == sum(row[c] for row in rows for c in columns) / 1000
        assert got["forced_cycles"] == sum(row["forced"] for row in rows)
        pauses = sorted(row[c] for row in rows for c in SUMS["stw_wall_ms"])
        assert got["worst_pause_ms"] == pauses[-1] / 1000
        assert got["p99_pause_ms"] == pauses[ceil(0.99 * len(pauses)) - 1] / 1000
        assert got["allocated_mb"] == sum(
            b["heap_start_mb"] - a["heap_live_mb"] for a, b in pairwise(rows)
        ) + sum(row["heap_end_mb"] - row["heap_start_mb"] for row in rows)


def test_one_cycle_has_no_rate_and_that_is_null(written, logs, tmp_path):
    first = logs("published")[0].read_bytes().splitlines()[0] + b"\n"
    path = tmp_path / "one.log"
    path.write_bytes(first)
    gc = of_kind(written(path, path), "gctrace")
    check(gc, GC)
    for field in ("cycles_per_second", "gc_cpu_share", "effective_gogc"):
        assert gc["base"][field] is None
    for field in (
        "mark_wall_share", "allocated_mb_per_second", "allocated_mb_per_cycle",
    ):  # fmt: skip
        assert gc["base"]["window"][field] is None
    assert gc["factors"] is gc["restored"] is gc["work_per_second"] is None


def test_bytes_allocated_are_null_where_lines_are_missing(written, logs, tmp_path):
    lines = logs("published")[0].read_bytes().splitlines(keepends=True)
    path = tmp_path / "gappy.log"
    path.write_bytes(b"".join(lines[:20] + lines[22:]))
    gc = of_kind(written(path, logs("published")[1]), "gctrace")
    assert (gc["base"]["lines_seen"], gc["base"]["lines_expected"]) == (36, 38)
    assert gc["base"]["allocated_mb"] is None
    assert isinstance(gc["new"]["allocated_mb"], int)


def test_every_field_of_benchmarks(written, data_folder):
    paths = [data_folder / "zstd" / side / "bench.txt" for side in ("base", "new")]
    report = written(*paths)
    held = of_kind(report, "benchmark")
    check(held, {"kind": TEXT, "rows": [BENCHMARK | {"better": TEXT}]})
    for row in held["rows"]:
        assert set(row["config"]) <= {"goos", "goarch", "pkg", "cpu"}
        assert row["delta"] == row["new"] - row["base"]
        assert row["ratio"] == pytest.approx(row["new"] / row["base"])
    assert {(row["name"], row["unit"]) for row in held["rows"]} >= {
        ("Compress", "ns/op"),
        ("CompressOld", "allocs/op"),
    }
    (entry,) = report["inputs"]["new"]
    check(entry, INPUT)
    assert (entry["kind"], entry["results"]) == ("benchmark", 2)


def test_what_a_benchmark_lacks_is_null_and_what_it_counts_is_zero(written, tmp_path):
    base, new = tmp_path / "base.txt", tmp_path / "new.txt"
    one = [{"ns/op": 5, "B/op": 0}] * 3
    base.write_text(printed({"Same-2": one, "Gone-2": one}))
    new.write_text(printed({"Same-2": one, "Fresh": one}))
    rows = of_kind(written(base, new), "benchmark")["rows"]
    by_name = {(row["name"], row["unit"]): row for row in rows}
    check(rows, [BENCHMARK])
    gone, fresh = by_name["Gone", "ns/op"], by_name["Fresh", "ns/op"]
    ratio = ("ratio", "ratio_low", "ratio_high")
    missing = ("delta", *ratio, "p", "significant", "worse")
    assert [gone[f] for f in ("new", "new_low", "new_high", *missing)] == [None] * 10
    assert [fresh[f] for f in ("base", "base_low", "base_high", *missing)] == [
        None
    ] * 10
    assert (gone["n_base"], gone["n_new"], fresh["n_base"]) == (3, 0, 0)
    assert (gone["procs"], fresh["procs"]) == (2, None)
    same = by_name["Same", "B/op"]
    assert (same["base"], same["new"], same["delta"]) == (0.0, 0.0, 0.0)


@pytest.mark.slow
def test_the_parts_of_a_bundle_stand_side_by_side(written, data_folder):
    report = written(data_folder / "zstd" / "base", data_folder / "zstd" / "new")
    kinds = [c["kind"] for c in report["comparisons"]]
    assert kinds[0] == "profile"
    assert kinds.index("gctrace") < kinds.index("benchmark")
    assert report["unpaired"] == []
    alone = of_kind(
        written(*(data_folder / "zstd" / s / "gctrace.log" for s in ("base", "new"))),
        "gctrace",
    )
    beside = of_kind(report, "gctrace")
    for side in ("base", "new"):
        assert {**beside[side], "path": ""} == {**alone[side], "path": ""}
    assert beside["factors"] == alone["factors"]
