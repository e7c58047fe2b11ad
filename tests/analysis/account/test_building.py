"""The account of CPU profiles and benchmarks: which one, and that it adds up."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.account.building import account
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.traces.workers import worker_rows
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import compare_paths
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.side import Capture
from pprofdiff.report.sections.account import outside_notes
from tests.analysis.building import MARK, profiles
from tests.analysis.growing import goroutines, heap
from tests.analysis.outcome.evidence import bench, compared_sides, cpu, swapped
from tests.examples import examples
from tests.field.capture import PAIRS

WORK = ("example.com/a.Work", "example.com/a.BenchmarkWork")
LAUNCH = ("testing.(*B).runN", "testing.(*B).launch")
ON_PATH = (*WORK, *LAUNCH)
ALLOCATES = ("runtime.mallocgc", *WORK, *LAUNCH)
PARALLEL = (*WORK, "testing.(*B).RunParallel.func1")
SERVE = ("example.com/a.Work", "example.com/a.Serve", "main.main")


def by_id(rows):
    return {part.id: part.amount for part in rows}


def groups(diff, side):
    """Return the raw CPU of each group, summed over its samples one by one."""
    names = rules().categories
    sums = dict.fromkeys((group.id for group in rules().groups), 0)
    for category, value in zip(
        diff.attributions[side].category.tolist(),
        diff.values[side].tolist(),
        strict=True,
    ):
        (group,) = (g.id for g in rules().groups if names[category] in g.categories)
        sums[group] += value
    return sums


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(profiles(counts=st.integers(0, 400)), profiles(counts=st.integers(0, 400)), st.sampled_from((None, (1, 1), (3, 7), (1e6, 0.1))))  # fmt: skip
def test_parts_are_groups_and_add_up_exactly(base, new, work):
    sides = [(Capture("cpu", "profile", one),) for one in (base, new)]
    compared = compared_sides(*sides, work=work and counted(work))
    (diff,) = compared.profiles
    assume(min(diff.totals) > 0)
    whole = account(compared)
    by = [
        Fraction(100, t) if work is None else Fraction(f)
        for t, f in zip(diff.totals, diff.normalization.factors, strict=True)
    ]
    parts = by_id(whole.parts)
    for side in (0, 1):
        wanted = {
            f"cpu.{id_}": raw * by[side] for id_, raw in groups(diff, side).items()
        }
        assert all(parts[id_][side] == wanted[id_] for id_ in parts)
        # What is left out is nothing on both sides.
        assert sum(wanted.values()) == sum(a[side] for a in parts.values())
        assert whole.total[side] == diff.totals[side] * by[side]
    assert (whole.of, whole.unit) == (
        ("shares of CPU", "%") if work is None else ("CPU per op", "ns")
    )
    if work is None:
        assert whole.total == (100, 100)
        assert any("not known" in gap for gap in whole.gaps)
    back = account(compared_sides(*sides[::-1], work=work and swapped(counted(work))))
    assert by_id(back.parts) == {id_: amount[::-1] for id_, amount in parts.items()}
    assert back.total.delta == -whole.total.delta
    assert back.gaps == whole.gaps


def test_what_is_measured_of_no_cpu_has_no_account():
    for one in (heap({SERVE: (9, 9)}), goroutines({SERVE: 9})):
        side = (Capture("x", "profile", one),)
        assert account(compared_sides(side, side)) is None
    assert account(compared_sides(bench({"A": 5}), bench({"A": 6}))) is None


@pytest.fixture
def benchmarked():
    """Return two sides of one benchmark: a sample is 10 ms, an operation 1 and 2 ms."""
    base = cpu({ON_PATH: 600, ALLOCATES: 100, MARK: 50})
    new = cpu({ON_PATH: 300, ALLOCATES: 300, MARK: 150})
    return (*base, *bench({"Work": 1_000_000})), (*new, *bench({"Work": 2_000_000}))


def test_time_of_a_benchmark_is_cpu_on_its_path_and_the_rest(benchmarked):
    whole = account(compared_sides(*benchmarked))
    assert (whole.of, whole.unit) == ("mean time per op", "ns")
    assert [float(side) for side in whole.total] == pytest.approx([1e6, 2e6])
    # In ten seconds there were 10,000 and 5,000 operations.
    parts = {
        id_: [float(side) for side in amount]
        for id_, amount in by_id(whole.parts).items()
    }
    assert parts == {
        "cpu.user": pytest.approx([600e3, 600e3]),
        "cpu.alloc": pytest.approx([100e3, 600e3]),
        "off-cpu": pytest.approx([300e3, 800e3]),
    }
    # The collector works next to it, on processors of its own.
    beside = {
        id_: [float(side) for side in amount]
        for id_, amount in by_id(whole.outside).items()
    }
    assert beside == {"beside.cpu.gc": pytest.approx([50e3, 300e3])}
    assert any("off-CPU time by reason" in gap for gap in whole.gaps)
    back = account(compared_sides(*benchmarked[::-1]))
    assert by_id(back.parts).keys() == by_id(whole.parts).keys()
    assert float(back.total.delta) == pytest.approx(-float(whole.total.delta))


def test_a_group_that_is_next_to_it_as_well_is_labelled_apart(benchmarked):
    """The table of groups has all of it: one label is one number."""
    base, new = (
        (*cpu({ON_PATH: count, ALLOCATES: 90, SERVE: 50, MARK: 20}), *side[1:])
        for count, side in zip((600, 300), benchmarked, strict=True)
    )
    compared = compared_sides(base, new)
    whole = account(compared)
    labels = {part.id: part.label for part in whole.parts}
    assert labels["cpu.user"] == "User code (benchmark's goroutine)"
    assert labels["cpu.alloc"] == "Allocation"
    assert whole.gaps[0] == "CPU of other goroutines"
    diff = next(d for d in compared.profiles if d.is_cpu)
    rows = {group.label: group for group in judged_groups(diff)}
    equal = [part for part in whole.parts if part.label in rows]
    assert [part.label for part in equal] == ["Allocation"]
    for part in equal:
        row = rows[part.label]
        scaled = diff.normalization.scaled(row.base, row.new)
        assert [float(side) for side in part.amount] == pytest.approx(scaled)
    plain = account(compared_sides(*benchmarked))
    assert not any("(without" in part.label for part in plain.parts)
    assert len(plain.gaps) == 1


def test_operations_in_parallel_take_the_time_of_each_goroutine():
    side = (*cpu({PARALLEL: 2000}), *bench({"Work": 1_000_000}, procs="-4"))
    whole = account(compared_sides(side, side))
    assert whole.of == "mean time per op, of the benchmark's goroutines"
    # Four goroutines, each for all of the time: a millisecond is four of theirs.
    assert float(whole.total.base) == pytest.approx(4e6)
    assert float(by_id(whole.parts)["cpu.user"].base) == pytest.approx(2e6)


@pytest.mark.parametrize("missing", ["several benchmarks", "another program"])
def test_else_it_is_of_cpu_alone(missing):
    """What nobody knows to be one benchmark's time is not taken for it."""
    if missing == "several benchmarks":
        side = (*cpu({ON_PATH: 700}), *bench({"Work": 1000, "Rest": 500}))
    else:
        side = (*cpu({SERVE: 700}), *bench({"Serve": 10_000_000}))
    whole = account(compared_sides(side, side))
    assert whole.of == "CPU per op"
    assert "off-cpu" not in by_id(whole.parts)
    assert any("waiting was not measured" in gap for gap in whole.gaps)


def test_what_adds_up_is_a_mean_and_says_so_where_medians_differ():
    sides = (
        (*cpu({ON_PATH: 600}), *bench({"Work": values}))
        for values in ((1_000_000, 1_000_000, 2_500_000), (2_000_000,) * 3)
    )
    whole = account(compared_sides(*sides))
    assert [float(side) for side in whole.total] == pytest.approx([1.5e6, 2e6])
    assert whole.medians == pytest.approx((1e6, 2e6))
    assert [*outside_notes(whole)][-1].endswith("the outcome: 1.00 → 2.00 ms/op.")
    side = (*cpu({ON_PATH: 600}), *bench({"Work": (1_000_000, 1_010_000)}))
    assert account(compared_sides(side, side)).medians is None


@pytest.mark.parametrize("value", ["Inf", "NaN", "1e308"])
def test_a_time_that_cannot_be_has_no_mean(value):
    runs = bench({"Work": 1_000_000}, {"Work": value})
    side = (*cpu({ON_PATH: 600}), *runs)
    whole = account(compared_sides(side, side, work=counted((1000, 1000))))
    assert whole.of == "CPU per op"


TRACED = ("lock-held-longer-gin", "sync-gone-bbolt", "third-fares-pool")


@pytest.mark.slow
@pytest.mark.parametrize("pair", TRACED)
def test_time_off_the_cpu_is_by_its_ends_exactly(pair):
    compared = compare_paths(PAIRS / pair / "base", PAIRS / pair / "new").data
    diff, whole = compared.trace, account(compared)
    states = diff.time.by_state(worker_rows(diff))
    times = [0, 0]
    for name, view in states.items():
        if name not in ("running", "unknown"):
            times[0] += int(view.base[0])
            times[1] += int(view.new[0])
    off = [part for part in whole.parts if part.id.startswith("off.")]
    assert len({part.id for part in off}) == len(off) > 2
    assert any(part.paths for part in off)
    for side, factor in enumerate(diff.factors):
        spent = [part.amount[side] / Fraction(factor) for part in off]
        assert all(ns.denominator == 1 for ns in spent)
        assert sum(spent) == times[side]
        for part in off:
            if part.paths:
                assert sum(p.amount[side] for p in part.paths) == part.amount[side]


def test_what_holds_up_is_named_and_the_lock_is_its_path():
    sides = [PAIRS / "lock-held-longer-gin" / side for side in ("base", "new")]
    parts = {part.id: part for part in account(compare_paths(*sides).data).parts}
    running = parts["off.running.main.(*visits).visit."]
    assert running.label == "waiting while main.(*visits).visit runs"
    most = max(running.paths, key=lambda path: path.amount.new)
    assert most.label == "main.(*visits).visit waits in sync.(*Mutex).Lock"
    assert most.amount.new > 0.9 * running.amount.new


def test_cpu_in_system_calls_is_not_of_running():
    """A trace has it in its system calls: twice it would be more than there is."""
    sides = [PAIRS / "zap-buffered" / side for side in ("base", "new")]
    compared = compare_paths(*sides).data
    whole, diff = account(compared), compared.trace
    states = diff.time.by_state(worker_rows(diff))
    parts = {part.id: part.amount for part in whole.parts}
    assert "cpu.syscall" not in parts
    running = [part for id_, part in parts.items() if id_.startswith("cpu.")]
    for side, factor in enumerate(diff.factors):
        ran = (states["running"].base, states["running"].new)[side]
        on_cpu = sum(amount[side] for amount in running)
        assert on_cpu + parts["off-cpu"][side] == int(ran[0]) * Fraction(factor)
    (calls,) = [part for part in whole.within if part.id == "within.cpu.syscall"]
    assert calls.label == "on-CPU: System calls, non-Go code"
    assert calls.amount.base > 5_000


def test_a_connection_that_waits_for_requests_is_idle():
    """Most goroutines are connections: what an operation waits for is little of it."""
    sides = [PAIRS / "network-wait-added-chi" / side for side in ("base", "new")]
    whole = account(compare_paths(*sides).data)
    parts = {part.id: part.amount for part in whole.parts}
    idle = parts["off.idle"]
    (network,) = [
        part for part in whole.parts if part.id.startswith("off.network.internal/poll.")
    ]
    assert network.amount.new < idle.new
    # All of it is waited by those who ask.
    assert {path.label for path in network.paths} >= {
        "main.fetchQuote waits in http.(*Client).Get",
        "main.setup.func2 waits in http.(*Client).Get",
    }
