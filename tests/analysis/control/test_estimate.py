"""The internal control: exact where it is, robust, true on real captures and calibrated."""

import json
from math import log

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.causes.cpu import load_of
from pprofdiff.analysis.control.alike import scaled_alike
from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.judge.scaling import InferredWork
from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.side import side
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture
from tests.analysis.building import MARK, PERIOD, compared, given, profile
from tests.calibration.control import Runs, full_name, rates
from tests.examples import daily

DELAY = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))
COUNTS = st.lists(st.integers(100, 5000), min_size=10, max_size=16)


def functions(counts, *more):
    """Return a CPU profile of one function a count, each with as many samples."""
    samples = [((f"example.com/a.F{i}",), n) for i, n in enumerate(counts)]
    return profile([*samples, *more])


@given(COUNTS, st.integers(1, 50))
def test_all_rows_scaled_alike_are_that_ratio_and_the_same_cost(counts, times):
    sides = functions(counts), functions(n * times for n in counts)
    there, back = control(compared(*sides)), control(compared(*sides[::-1]))
    assert there.work.ratio == pytest.approx(times, rel=1e-9)
    assert back.work.ratio == pytest.approx(1 / times, rel=1e-9)
    assert there.cost.ratio == pytest.approx(1, rel=1e-9)
    assert there.cost.low < 1 < there.cost.high
    assert there.cost.low * back.cost.high == pytest.approx(1, rel=1e-9)
    assert there.work.sigma == pytest.approx(back.work.sigma, rel=1e-9)


@given(COUNTS, st.integers(1, 9), st.integers(1, 9))
def test_it_is_of_raw_values_and_the_load_of_scaled_ones(counts, old, new):
    sides = functions(n * old for n in counts), functions(n * new for n in counts)
    plain, by_work = compared(*sides), compared(*sides, work=(old, new))
    there, same = control(plain), control(by_work)
    assert same.work == pytest.approx(there.work, rel=1e-9)
    assert same.cost[:3] == pytest.approx(there.cost[:3], rel=1e-9)
    assert same[2:4] == pytest.approx(there[2:4], rel=1e-9)
    assert load_of(by_work).ratio == pytest.approx(1.0, rel=1e-9)


@given(COUNTS, st.integers(2, 9))
def test_a_sampling_rate_is_no_work(counts, times):
    """Sampled less often, as many seconds are fewer samples."""
    often = functions(n * times for n in counts)
    seldom = replace(functions(counts), period=PERIOD * times)
    seldom = replace(seldom, values=seldom.values * [[1, times]])
    for sides in ((often, seldom), (seldom, often)):
        found = control(compared(*sides))
        assert found.work.ratio == pytest.approx(1, rel=1e-9)
        assert found.cost.ratio == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("change", [0.0, 0.1, 3.0, 30.0])
@pytest.mark.parametrize("part", [0.06, 0.45])
@pytest.mark.parametrize("times", [0.5, 1, 2])
def test_one_function_that_plainly_changed_is_no_yardstick(part, change, times):
    others = [400] * 12
    own = round(part / (1 - part) * sum(others))
    new = [round(n * times) for n in others]
    there = control(
        compared(
            functions([own, *others]), functions([round(own * change * times), *new])
        )
    )
    assert there.work.ratio == pytest.approx(times, rel=0.01)
    assert there.cost.ratio == pytest.approx(1 - part + part * change, rel=0.01)
    assert there.holds


@given(COUNTS, st.integers(2, 9), st.integers(0, 10**6))
def test_the_runtime_does_not_vote(counts, times, garbage):
    base = functions(counts, (MARK, 500))
    new = functions([n * times for n in counts], (MARK, garbage))
    there = control(compared(base, new))
    total = (sum(counts) * times + garbage) / (sum(counts) + 500)
    assert there.cost.ratio == pytest.approx(total / there.work.ratio, rel=1e-9)
    assert there.work.low < times < there.work.high


def test_a_chain_of_calls_is_one_vote():
    # Twelve callees of one function that is called twice as often, against seven others.
    under = [((f"example.com/a.G{i}", "example.com/a.Twice"), 300) for i in range(12)]
    rest = [((f"example.com/a.F{i}",), 600) for i in range(7)]
    base, new = [*under, *rest], [*((s, 2 * n) for s, n in under), *rest]
    there = control(compared(profile(base), profile(new)))
    assert there.cost.low < 11_400 / 7_800 < there.cost.high


@pytest.mark.parametrize(
    ("base", "new"),
    [([], []), ([100] * 4, [200] * 4), ([15] * 50, [15] * 50)],
)
def test_none_where_too_few_rows_have_samples(base, new):
    assert control(compared(functions(base), functions(new))) is None


def test_none_where_values_are_no_samples():
    waits = [((f"a.F{i}",), (100, 10**9)) for i in range(12)]
    one = profile(waits, types=DELAY, period=None)
    assert control(compared(one, one)) is None


def test_it_does_not_hold_where_no_two_rows_agree():
    base, new = [1000] * 12, [round(1000 * 1.7**i) for i in range(-6, 6)]
    there = control(compared(functions(base), functions(new)))
    assert there is None or (not there.holds and there.reason)


def test_it_does_not_hold_across_go_releases(data_folder, load_capture):
    sides = [
        load_capture(data_folder / "versions" / go / "cpu.pb.gz")
        for go in ("go1.25", "go1.26")
    ]
    there = control(compared(*sides))
    assert not there.holds
    assert "Go releases" in there.reason


@pytest.mark.parametrize(
    ("ratio", "low", "high", "sure"),
    [
        (1.0, 0.9, 1.1, False),
        (1.14, 1.13, 1.15, False),
        (2.0, 1.1, 3.6, False),
        (2.0, 1.5, 2.7, True),
        (0.5, 0.3, 0.8, True),
    ],
)
def test_a_sure_load_differs_by_more_than_chance_and_a_bit(ratio, low, high, sure):
    assert InferredWork(ratio, low, high, 0.1, 8).sure is sure


@pytest.mark.parametrize("name", ["syncpool", "rss-search", "node-pool"])
def test_real_changes_cost_what_cpu_an_operation_says(load_story, load_capture, name):
    # The machine's own speed is in CPU an operation: 5 % more or less between runs.
    story = load_story(name)
    folders = story.base, story.new
    diff = compared(*(load_capture(f / "cpu.pb.gz") for f in folders))
    done = [json.loads((f / "work.json").read_text("utf-8")) for f in folders]
    rates_of = [d["operations"] / d["seconds"] for d in done]
    absolute = diff.totals[1] / diff.totals[0] * rates_of[0] / rates_of[1]
    there = control(diff)
    assert there.holds
    assert log(there.cost.low) - 0.05 <= log(absolute) <= log(there.cost.high) + 0.05


def test_nothing_vanished_is_the_yardstick(load_story, load_capture):
    # Nearly all that base allocates is gone from new, which sends more messages.
    story = load_story("zstd")
    sides = [load_capture(f / "allocs.pb.gz") for f in (story.base, story.new)]
    base, new = (
        json.loads((f / "work.json").read_text("utf-8"))["since_start"]["operations"]
        for f in (story.base, story.new)
    )
    there = control(compared(*sides, sample_type="alloc_space"))
    assert there.work.low < new / base < there.work.high
    assert there.of_work


@pytest.mark.parametrize("folder", ["unchanged", "control/records", "control/requests"])
def test_all_groups_of_one_build_are_scaled_alike(folder, load_capture):
    files = Runs(folder).files
    pairs = list(zip(files[::2], files[1::2], strict=True))
    alike = [scaled_alike(compared(*map(load_capture, pair))).alike for pair in pairs]
    assert sum(alike) >= len(pairs) - 1


def test_groups_are_not_alike_where_one_doubled():
    stacks = [(f"example.com/a.F{i}",) for i in range(5)]
    base = profile([*((s, 500) for s in stacks), (MARK, 500)])
    new = profile([*((s, 1000) for s in stacks), (MARK, 3000)])
    got = scaled_alike(compared(base, new))
    assert not got.alike
    same = scaled_alike(
        compared(base, profile([*((s, 1000) for s in stacks), (MARK, 1000)]))
    )
    assert same.alike
    assert same.ratio == 2


CALIBRATED = [
    ("unchanged", None, 0.0),
    ("unchanged", "lineproto.Parse", 0.10),
    ("unchanged", "lineproto.(*Point).Key", 0.05),
    ("control/records", None, 0.0),
    ("control/records", "main.distance", 0.10),
    ("control/records", "main.slug", 0.05),
]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "end", "part"), daily(CALIBRATED, CALIBRATED[::4]))
def test_intervals_hold_what_they_state(folder, end, part):
    runs = Runs(folder)
    function = None if end is None else full_name(runs, end)
    got = rates(runs, 4, 30, function, part)
    assert len(got.holding) >= 10
    # At 95 % of 30, five or more miss once in 30 000 tests.
    assert got.coverage * len(got.holding) >= len(got.holding) - 4
    assert got.wrong <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("end", daily((None, "lineproto.Parse"), ["lineproto.Parse"]))
def test_a_machine_that_gives_more_is_no_cost(end):
    runs = Runs("unchanged")
    function = None if end is None else full_name(runs, end)
    got = rates(runs, 4, 20, function, 0.05 if end else 0.0, times=2.0)
    assert got.coverage >= 0.85
    assert got.wrong <= 0.05


def of_runs(*marked):
    """Return a side of runs with the same code, and so many samples of marking each."""
    code = [400] * 12
    runs = (functions(code, (MARK, count)) for count in marked)
    return side(
        "a",
        [Capture(f"{i}.pb.gz", "profile", run, run=i) for i, run in enumerate(runs)],
    )


def test_what_runs_differ_by_is_in_the_interval():
    """Of as many samples, a collector that swings from run to run makes it wider."""
    steady, swings = (1000, 1000, 1000, 1000), (100, 1900, 200, 1800)
    got, apart = (control(compare(of_runs(*m), of_runs(*m))) for m in (steady, swings))
    assert got.cost.ratio == pytest.approx(1) == apart.cost.ratio
    assert log(apart.cost.high / apart.cost.low) > 2 * log(got.cost.high / got.cost.low)
