"""Work that nobody typed: what a load generator, or benchmarks, show."""

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.inferred_work import inferred_work
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted, rated
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.loaders.gclogs import parse as parse_log
from pprofdiff.model.benchmarks import LoadSummary
from pprofdiff.model.side import Capture, Side
from tests.analysis.benchmarks.benchtext import printed

from .building import profile

WORK = ("example.com/a.Encode", "example.com/a.BenchmarkEncode")
LOOP = (*WORK, "testing.(*B).runN", "testing.(*B).launch")
SERVED = ("example.com/a.Serve", "net/http.(*conn).serve")


def hey(per_second, tool="hey"):
    loop = "" if tool == "vegeta" else "closed"
    summary = LoadSummary(tool, 10.0, None, None, per_second, loop=loop)
    return Capture("load.txt", "load", summary)


def bench(*rows, unit="ns/op"):
    """Return benchmark output of (name, values)."""
    runs = {f"{name}-4": [{unit: value} for value in values] for name, values in rows}
    text = printed(runs)
    return Capture("bench.txt", "benchmark", parse(text.encode(), "bench.txt"))


def evidence(*given, stacks=(LOOP,)):
    """Return a side: a CPU profile of each stack, and what is given."""
    profiles = tuple(
        Capture("cpu", "profile", profile([(stack, 200)])) for stack in stacks
    )
    return Side("side", (*profiles, *given))


def rates(base, new):
    work = inferred_work(base, new)
    return None if work is None else work.rates


ENCODE = bench(("Encode", [100, 200, 400]))
FASTER = bench(("Encode", [50, 50, 90]))


@pytest.mark.parametrize("tool", ["hey", "wrk"])
def test_load_on_both_sides_shows_operations_a_second(tool):
    sides = [evidence(hey(rate, tool), stacks=(SERVED,)) for rate in (120.5, 98.0)]
    work = inferred_work(*sides)
    assert (work.rates, work.counts) == ((120.5, 98.0), None)
    assert work.reason == f"{tool}: 120.5 and 98 operations per second"


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ([hey(1.0)], []),
        ([], [hey(1.0)]),
        ([hey(1.0), hey(2.0)], [hey(1.0)]),  # which of the two?
        ([hey(0.0)], [hey(1.0)]),
    ],
)
def test_load_that_shows_nothing(base, new):
    sides = [evidence(*given, stacks=(SERVED,)) for given in (base, new)]
    assert rates(*sides) is None


def test_load_goes_before_benchmarks():
    base, new = evidence(hey(5.0), ENCODE), evidence(hey(7.0), FASTER)
    assert rates(base, new) == (5.0, 7.0)


def test_the_one_benchmark_that_was_profiled_shows_them_over_all_runs():
    # The profile is of all runs: their iterations over the time they all took.
    work = inferred_work(evidence(ENCODE), evidence(FASTER))
    means = sum([100, 200, 400]) / 3, sum([50, 50, 90]) / 3
    assert work.rates == pytest.approx(tuple(1e9 / mean for mean in means))
    assert work.reason.startswith("BenchmarkEncode: 4,286,000 and 15,790,000 ")


def test_operations_in_parallel_are_a_benchmarks_too():
    """The goroutine of the benchmark waits for them, and is in no sample."""
    parallel = (*WORK, "testing.(*B).RunParallel.func1")
    sides = (evidence(one, stacks=(parallel,)) for one in (ENCODE, FASTER))
    assert rates(*sides) == pytest.approx((3 / 700e-9, 3 / 190e-9))


def test_seconds_are_seconds():
    one = bench(("Encode", [0.5]), unit="sec/op")
    assert rates(evidence(one), evidence(one)) == (2.0, 2.0)


def test_values_of_several_files_count_together():
    base = evidence(bench(("Encode", [100])), bench(("Encode", [300, 300])))
    assert rates(base, evidence(FASTER))[0] == pytest.approx(3 / 700e-9)


@pytest.mark.parametrize(
    ("base", "new"),
    [
        (evidence(ENCODE, stacks=(SERVED,)), evidence(FASTER)),
        (evidence(ENCODE), evidence(FASTER, stacks=(SERVED,))),
        (evidence(ENCODE, stacks=(LOOP, SERVED)), evidence(FASTER)),
        (evidence(ENCODE, stacks=()), evidence(FASTER, stacks=())),
        (evidence(ENCODE), evidence()),
        (evidence(ENCODE), evidence(bench(("Decode", [9])))),
        (evidence(ENCODE), evidence(bench(("Encode", [100]), ("Added", [5])))),
        (evidence(bench(("Encode", [100]), ("Gone", [5]))), evidence(ENCODE)),
        (evidence(bench(("Encode", [9]), unit="B/op")), evidence(FASTER)),
        (evidence(bench(("Encode", [0]))), evidence(FASTER)),
    ],
    ids=[
        "base profile of a server", "new profile of a server", "one of two profiles",
        "no profile", "no benchmark", "no common one", "one more in new", "one more in base",
        "no time", "0",
    ],
)  # fmt: skip
def test_benchmarks_that_show_nothing(base, new):
    assert rates(base, new) is None


@pytest.mark.parametrize(("seconds", "got"), [(3.9, True), (7.0, True), (8.0, False)])
def test_a_program_that_printed_its_operations_ran_them_most_of_its_life(seconds, got):
    """Without a CPU profile its GC log says how long it ran."""
    line = (
        "gc 1 @{at:.3f}s 1%: 0.1+1+0.1 ms clock, 0.2+0/1/0+0.2 ms cpu, 4->4->1 MB, "
        "8 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
    )
    log = parse_log(line.format(at=seconds).encode(), "gc.log")
    captures = (bench(("Load", [3.7e7])), Capture("gc.log", "gctrace", log))
    sides = [Side("side", captures)] * 2
    assert rates(*sides) == (pytest.approx((1e9 / 3.7e7,) * 2) if got else None)


def mixed(*rows, procs="-4"):
    """Return benchmark output of (name, iterations, nanoseconds an operation)."""
    text = "".join(f"Benchmark{n}{procs} \t {i} \t {ns} ns/op\n" for n, i, ns in rows)
    return Capture("bench.txt", "benchmark", parse(text.encode(), "bench.txt"))


def test_several_benchmarks_are_not_pooled():
    """They are units of work, each with its own operations; see `ledger.units`."""
    both = evidence(mixed(("A", 1000, 100), ("B", 10, 5000)))
    assert inferred_work(both, both) is None


# A program that measures itself prints one line, of the ten seconds it is profiled.
OWN = mixed(("Serve", 1000, 10_000_000), procs="")


def test_a_programs_own_line_shows_its_work():
    faster = mixed(("Serve", 2000, 5_000_000), procs="")
    sides = evidence(OWN, stacks=(SERVED,)), evidence(faster, stacks=(SERVED,))
    assert rates(*sides) == pytest.approx((100, 200))


@pytest.mark.parametrize(
    "odd",
    [
        mixed(("Serve", 1000, 8_900_000), procs=""),  # a tenth of the profile is else
        mixed(("Serve", 1000, 11_100_000), procs=""),  # longer than the profile
        mixed(("Serve", 500, 10**7), ("Serve", 500, 10**7), procs=""),  # two lines
        mixed(("Serve", 500, 10**7), ("Other", 500, 10**7), procs=""),
    ],
    ids=["shorter", "longer", "two values", "two benchmarks"],
)
def test_a_line_that_may_be_of_something_else_shows_nothing(odd):
    own, other = (evidence(one, stacks=(SERVED,)) for one in (OWN, odd))
    assert rates(own, own) is not None
    assert rates(own, other) is rates(other, own) is rates(other, other) is None


def test_a_closed_loop_is_reported_from_what_was_asked():
    assert inferred_work(evidence(ENCODE), evidence(FASTER)).closed
    for tool, closed in (("hey", True), ("wrk", True), ("vegeta", False)):
        sides = [evidence(hey(9.0, tool), stacks=(SERVED,)) for _ in range(2)]
        assert inferred_work(*sides).closed is closed
    mixed_tools = (
        evidence(hey(9.0), stacks=(SERVED,)),
        evidence(hey(9.0, "vegeta"), stacks=(SERVED,)),
    )
    assert not inferred_work(*mixed_tools).closed


@pytest.mark.parametrize("value", ["Inf", "NaN", "1e-300", "1e300"])
def test_a_time_that_cannot_be_shows_nothing_and_refuses_nothing(value):
    odd = bench(("Encode", [value]))
    assert rates(evidence(odd), evidence(odd)) is None


@pytest.mark.parametrize("rate", [float("inf"), float("nan"), 1e300, 1e-300])
def test_a_rate_that_cannot_be_does_not_either(rate):
    sides = [evidence(hey(rate), stacks=(SERVED,)) for _ in range(2)]
    assert rates(*sides) is None


def modes(base, new, **how):
    """Return the mode of a comparison's comparison, and what work it rests on."""
    comparison = compare_sides(base, new, Settings(**how))
    (diff,) = comparison.profiles
    return diff.normalization.mode, comparison.work


def test_what_was_typed_wins():
    base, new = evidence(hey(5.0)), evidence(hey(7.0))
    assert modes(base, new)[1].rates == (5.0, 7.0)
    for typed in (counted((3, 4)), rated((3, 4))):
        mode, work = modes(base, new, work=typed)
        took = (10.0, 10.0)
        timed = typed._replace(seconds=took, ages=took, counted=took, whole=True)
        assert (mode, work) == ("per_work", timed)
        assert work.reason.startswith("--")


def test_normalize_is_never_contradicted():
    base, new = evidence(hey(5.0), ENCODE), evidence(hey(7.0), FASTER)
    assert modes(base, new, normalize=True) == ("share", None)


def test_rates_need_a_duration():
    base, new = evidence(hey(5.0)), evidence(hey(7.0))
    (cpu,) = base.of("profile")
    short = replace(cpu, content=replace(cpu.content, duration_ns=None))
    untimed = replace(base, captures=(short, *base.of("load")))
    assert modes(untimed, new)[0] == "composition"
    assert modes(base, new)[0] == "per_work"


@pytest.mark.parametrize(
    ("new", "paired"), [("-16", True), ("", True), ("-4", True), (None, False)]
)
def test_another_gomaxprocs_is_configuration_not_another_benchmark(new, paired):
    runs = {f"Encode{'' if new is None else new}": [{"ns/op": 50}]}
    if new is None:
        runs |= {"Encode-2": [{"ns/op": 50}]}
    text = parse(printed(runs).encode(), "bench.txt")
    side = evidence(Capture("bench.txt", "benchmark", text))
    found = compare_sides(evidence(ENCODE), side)
    diff = found.results["benchmark"]
    assert all(row.change is not None for row in diff.rows) is paired
    differs = [(d.key, d.base, d.new) for d in diff.differences]
    procs = ("GOMAXPROCS", ("4",), (new.lstrip("-") or "1",)) if paired else None
    assert differs == ([procs] if paired and new != "-4" else [])
    assert (found.work is not None) is paired
