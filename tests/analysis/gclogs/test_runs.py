"""Several runs a side: which logs are runs, their means, and what is marked."""

from __future__ import annotations

from math import prod

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.gclogs.catalogue import RATES, SUMS
from pprofdiff.analysis.gclogs.compare import JUDGED, compare_logs
from pprofdiff.api.comparison import compare_paths
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Capture
from tests.analysis.gclogs.cycles import run_of


def log_of(path, count, run=None, **fields):
    """Return a log of as many equal cycles, a tenth of a second apart."""
    rows = [{"start_ms": 100 * i, "heap_start_mb": 8, **fields} for i in range(count)]
    content = GCLog((run_of(rows),))
    return Capture(path, "gctrace", content, run or 0, run is not None)


def side(*logs):
    gc = compare_logs((("a", logs), ("b", logs)))
    return gc.base


def test_a_run_is_what_was_captured_together():
    logs = [
        log_of("1/x.log", 5, run=0),
        log_of("1/y.log", 9, run=0),
        log_of("2/x.log", 7, run=1),
    ]
    made = side(*logs)
    assert [run.path for run in made.runs] == ["1/y.log", "2/x.log"]
    assert (made.others, made.shown.path) == (1, "1/y.log")
    (caveat,) = made.caveats()
    assert caveat.text == (
        "a: 3 processes in the GC logs; compared is the one with most cycles in each "
        "of 2 runs"
    )


def test_numbered_logs_are_runs_and_logs_of_unlike_names_are_not():
    numbered = side(log_of("gc1.log", 5), log_of("gc2.log", 7), log_of("client.log", 6))
    assert [run.path for run in numbered.runs] == ["gc1.log", "gc2.log"]
    assert numbered.others == 1
    unlike = side(log_of("server.log", 5), log_of("client.log", 7))
    assert [run.path for run in unlike.runs] == ["client.log"]


def test_figures_of_runs_are_geometric_means():
    logs = [
        log_of(f"{i}.log", 6, sweep_termination_wall_us=us)
        for i, us in enumerate((10, 10, 640))
    ]
    made = side(*logs)
    assert made.whole.p99_pause_us == 40
    assert made.whole.cycles == 6
    assert made.whole.times.stw_wall_us == 240
    assert made.whole.heap.effective_gogc is None
    only = side(logs[2])
    assert only.whole == only.runs[0].whole


def test_every_judged_figure_is_one_that_is_shown():
    assert set(JUDGED) <= {*SUMS, *RATES}
    worse = {figure.key for figure in (*SUMS, *RATES) if figure.worse}
    assert worse <= {figure.key for figure in JUDGED}


@pytest.fixture(scope="module")
def pauses(data_folder):
    """Return base and new of three runs: new waits for loops that nothing stops."""
    return [data_folder / "pauses" / side for side in ("base", "new")]


def test_real_runs_with_one_that_differs_in_its_pauses(pauses):
    got = compare_paths(*pauses)
    gc = got.gc.data
    assert [len(one.runs) for one in (gc.base, gc.new)] == [3, 3]
    assert gc.estimates["p99_pause_us"].mark == "more"
    # The middle of a symmetric interval of logarithms is the ratio.
    for one in gc.estimates.values():
        if one.ratio is not None and one.bounds is not None:
            assert prod(one.bounds) == pytest.approx(one.ratio**2, rel=1e-9)
    # What sentences say is what the table says.
    logged = gc.estimates["gc_cpu_us_per_cycle"].ratio
    assert gc.factors.cpu_per_cycle == pytest.approx(logged, rel=1e-9)
    often = gc.estimates["cycles_per_second"].ratio
    assert gc.factors.cycles == pytest.approx(often, rel=1e-9)


def test_one_of_these_runs_a_side_is_not_enough_for_a_small_change(pauses):
    logs = [
        Capture(f"{i}", "gctrace", parse(path.read_bytes(), f"{i}"))
        for i, path in enumerate(sorted(pauses[0].glob("*/gctrace.log")))
    ]
    for base in logs:
        for new in logs:
            gc = compare_logs((("a", [base]), ("b", [new])))
            assert {change.significant for change in gc.estimates.values()} == {False}
    gc = compare_logs((("a", logs), ("b", [replace(log, path="x") for log in logs])))
    assert not any(change.significant for change in gc.estimates.values())
