"""GC logs compared: the published pair to the last digit, and runtime/metrics."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pprofdiff.analysis.gclogs.compare import compare_logs
from pprofdiff.analysis.gclogs.figures import figures
from pprofdiff.analysis.gclogs.side import window_of
from pprofdiff.analysis.settings import Span
from pprofdiff.analysis.work import counted, rated
from pprofdiff.errors import UsageError
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.side import Capture
from tests.conftest import STORIES as NAMES

PUBLISHED = "sync-pool-gctrace"
STORIES = [f"{story}/{side}" for story in NAMES for side in ("base", "new")]
VERSIONS = [f"versions/go1.{minor}" for minor in range(19, 28)]


@pytest.fixture(scope="module")
def log(data_folder):
    """Return a function: a path in the captures in, the GC log there out."""

    def read(path):
        return parse((data_folder / path).read_bytes(), path)

    return read


@pytest.fixture(scope="module")
def published(log):
    """Return the published pair, compared."""

    def compared(spans=(None, None), work=None, seconds=(None, None)):
        base, new = (
            Capture(name, "gctrace", log(f"{PUBLISHED}/{name}.log"))
            for name in ("none-pool", "sync-pool")
        )
        sides = ("none", [base]), ("pool", [new])
        return compare_logs(sides, spans, work, seconds)

    return compared


def test_the_published_pair_adds_up_to_the_last_digit(published):
    gc = published()
    base, new = gc.base.whole, gc.new.whole
    assert (base.cycles, new.cycles) == (38, 64)
    times = base.times, new.times
    assert [t.mark_wall_us for t in times] == [7_019_530, 15_227_590]
    assert [t.stw_wall_us for t in times] == [31_122, 25_040]
    assert [t.sweep_termination_wall_us for t in times] == [25_459, 16_289]
    assert [t.mark_termination_wall_us for t in times] == [5_663, 8_751]
    assert [t.stw_cpu_us for t in times] == [499_242, 402_939]
    assert [t.sweep_termination_cpu_us for t in times] == [408_260, 261_730]
    assert [t.mark_termination_cpu_us for t in times] == [90_982, 141_209]
    assert [t.assist_cpu_us for t in times] == [10_503_740, 11_803_673]
    assert [t.background_cpu_us for t in times] == [27_612_660, 59_946_500]
    assert [t.idle_cpu_us for t in times] == [751_920, 1_066_160]
    assert [f.heap.allocated for f in (base, new)] == [84_099, 77_055]


def test_the_published_pair_in_its_window(published):
    gc = published()
    base, new = gc.base.steady, gc.new.steady
    assert (base.first_cycle, base.last_cycle) == (12, 37)
    assert (new.first_cycle, new.last_cycle) == (12, 63)
    assert round(base.gc_cpu_us_per_cycle / 1000) == 1441
    assert round(new.gc_cpu_us_per_cycle / 1000) == 1357
    assert [round(f.heap.mean_live) for f in (base, new)] == [3327, 1464]
    assert [round(f.heap.mean_goal) for f in (base, new)] == [6285, 2879]
    assert [round(f.heap.per_cycle) for f in (base, new)] == [3106, 1454]
    assert round(gc.factors.cycles, 2) == 1.72
    assert round(gc.factors.cpu_per_cycle, 2) == 0.94
    assert round(gc.restored.gogc) == 212
    assert gc.restored.heap_mb is None  # Go 1.16 has no GOMEMLIMIT


@pytest.mark.parametrize("work", [None, rated((322_108, 280_371))])
def test_factors_multiply_to_the_whole(published, work):
    factors = published(work=work).factors
    whole = factors.allocation / factors.bytes_per_cycle * factors.cpu_per_cycle
    assert factors.gc_cpu == pytest.approx(whole, rel=1e-12)
    assert factors.gc_cpu == pytest.approx(
        factors.cycles * factors.cpu_per_cycle, rel=1e-12
    )


def test_work_changes_what_rates_are_by(published):
    alone, by_work = published().factors, published(work=rated((2.0, 1.0))).factors
    assert by_work.cycles == pytest.approx(2 * alone.cycles, rel=1e-12)
    assert by_work.cpu_per_cycle == alone.cpu_per_cycle
    done = published(work=counted((100, 100)), seconds=(10.0, 20.0))
    assert done.rates == (10.0, 5.0)


def test_counted_work_took_as_long_as_the_window_where_nothing_else_is_known(published):
    gc = published(work=counted((100, 100)))
    for side, rate in zip((gc.base, gc.new), gc.rates, strict=True):
        assert rate == 100 / (side.steady.end_s - side.steady.start_s)


def test_a_window_that_is_asked_for(published):
    gc = published(spans=(Span(10.0, 20.0), Span(None, None)))
    started = gc.base.shown.cycles.start_ms
    assert started.min() >= 10_000
    assert started.max() < 20_000
    assert gc.base.whole == gc.base.steady
    assert gc.new.whole.cycles == 64
    with pytest.raises(UsageError, match="none-pool: no collection started within"):
        published(spans=(Span(1000.0, None), None))


def test_without_a_whole_line_there_is_nothing_to_compare(log):
    entry = Capture("none-pool", "gctrace", log(f"{PUBLISHED}/none-pool.log"))
    torn = Capture("torn", "gctrace", parse(b"gc 12 @30.250s 3", "torn"))
    assert torn.content.runs[0].torn == 1
    assert compare_logs((("a", [entry]), ("b", [torn]))) is None


def test_gaps_are_reported_and_do_not_lower_rates(log):
    whole = log(f"{PUBLISHED}/sync-pool.log").longest
    text = b"".join(
        line + b"\n" for i, line in enumerate(_lines(whole)) if i not in (20, 21, 40)
    )
    gappy = parse(text, "gappy")
    logs = [Capture("a", "gctrace", gappy)]
    gc = compare_logs((("a", logs), ("b", logs)))
    assert (gappy.longest.lines_seen, gappy.longest.lines_expected) == (61, 64)
    for side in (gc.base, gc.new):
        (caveat,) = side.caveats()
        assert caveat.id == "gctrace-gaps"
        assert "61 of 64 GC lines intact" in caveat.text
    assert gc.base.whole.cycles_per_second == figures(whole.cycles).cycles_per_second
    assert gc.base.whole.heap.allocated is None


def test_lines_that_stand_twice_or_in_the_wrong_order_are_reported(data_folder, log):
    lines = (data_folder / f"{PUBLISHED}/sync-pool.log").read_bytes().splitlines(True)
    whole = Capture("whole", "gctrace", log(f"{PUBLISHED}/sync-pool.log"))
    twice = Capture(
        "twice", "gctrace", parse(b"".join([*lines[:9], lines[8], *lines[9:]]), "twice")
    )
    moved = [*lines[:30], lines[31], lines[30], *lines[32:]]
    swapped = Capture("swapped", "gctrace", parse(b"".join(moved), "swapped"))
    gc = compare_logs((("a", [twice]), ("b", [swapped])))
    assert {c.id: c.text for c in [*gc.base.caveats(), *gc.new.caveats()]} == {
        "gctrace-repeated": "twice: repeated GC lines: 1; each collection counts once",
        "gctrace-order": "swapped: GC lines in the wrong order: 1; read in the order "
        "of their numbers",
    }
    same = compare_logs((("a", [whole]), ("b", [whole])))
    assert [*same.base.caveats(), *same.new.caveats()] == []
    for side in (gc.base, gc.new):
        assert side.others == 0
        assert side.whole == same.base.whole
        assert side.steady == same.base.steady


def _lines(run):
    """Print a run's collections as the runtime does, in as much as matters here."""
    c = run.cycles
    for i in range(len(c)):
        phases = "sweep_termination", "mark", "mark_termination"
        times = [getattr(c, f"{phase}_wall_us")[i] for phase in phases]
        wall = "+".join(f"{time / 1000:g}" for time in times)
        yield (
            f"gc {c.number[i]} @{c.start_ms[i] / 1000:.3f}s {c.percent[i]}%: {wall} ms "
            f"clock, 1+2/3/4+5 ms cpu, {c.heap_start_mb[i]}->{c.heap_end_mb[i]}->"
            f"{c.heap_live_mb[i]} MB, {c.goal_mb[i]} MB goal, {c.procs[i]} P"
        ).encode()


class Truth:
    """What runtime/metrics counted, and the collections of that window."""

    def __init__(self, folder, run):
        begin_end = json.loads((folder / "work.json").read_text("utf-8"))["since_start"]
        held = json.loads((folder / "metrics.json").read_text("utf-8"))
        self.delta = held["delta"]
        span = Span(begin_end["window_begin_seconds"], begin_end["window_end_seconds"])
        self.window = window_of(run, span)
        self.run = run
        self.cycles = self.window.of(run.cycles)

    def cpu(self, name):
        """Return a CPU class in microseconds, None before Go 1.20."""
        seconds = self.delta.get(f"/cpu/classes/gc/{name}:cpu-seconds")
        return None if seconds is None else seconds * 1e6


@pytest.fixture(scope="module")
def truth(data_folder, log):
    """Return a function: a capture's folder in, its `Truth` out."""
    return lambda path: Truth(data_folder / path, log(f"{path}/gctrace.log").longest)


@pytest.mark.parametrize("path", STORIES + VERSIONS)
def test_the_window_has_the_cycles_that_the_runtime_counted(truth, path):
    held = truth(path)
    assert len(held.cycles) == held.delta["/gc/cycles/total:gc-cycles"]
    assert held.cycles.forced.sum() >= held.delta["/gc/cycles/forced:gc-cycles"] - 1


def cut_off(us):
    """Return what the runtime may have cut off each number that it printed."""
    steps = [us < 10, us < 100, us < 10_000]
    return np.select(
        steps, [1, 1, 10 ** np.floor(np.log10(np.maximum(us, 1)) - 1)], 1000
    )


@pytest.mark.parametrize("path", STORIES + VERSIONS[1:])
@pytest.mark.parametrize(
    ("column", "name"),
    [("assist_cpu_us", "mark/assist"), ("background_cpu_us", "mark/dedicated")],
)
def test_mark_cpu_matches_the_runtime_but_for_digits_cut_off(truth, path, column, name):
    held = truth(path)
    printed = getattr(held.cycles, column)
    got = held.cpu(name)
    assert printed.sum() <= got
    assert got <= printed.sum() + cut_off(printed).sum()


@pytest.mark.parametrize("path", [*STORIES[:2], *VERSIONS])
def test_bytes_allocated_match_the_runtime(truth, path):
    held = truth(path)
    # The runtime counted from the end of the cycle before the window's first.
    first = held.window.first - 1
    counted = figures(held.run.cycles.take(slice(first, held.window.stop)))
    before = held.run.cycles.take(slice(first, first + 1))
    allocated = counted.heap.allocated - figures(before).heap.allocated_during_mark
    got = held.delta["/gc/heap/allocs:bytes"] / (1 << 20)
    # Heap sizes count spans as full: 0.3 % less to 2.6 % more, Go 1.20 to 1.27.
    low, high = got * (1 - 0.003), got * (1 + 0.026)
    error = counted.heap.allocated_error
    assert low - error <= allocated <= high + error
