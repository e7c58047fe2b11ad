"""A rule fails, passes or cannot tell as its figure's interval lies by the limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.causes.finding import Findings
from pprofdiff.analysis.control.totals import ratio_of_totals
from pprofdiff.analysis.gate.judging import judge
from pprofdiff.analysis.gate.measures import Judged
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.outcome.figures import measures
from pprofdiff.analysis.work import counted, rated
from tests.analysis.outcome.evidence import bench, compared_sides, cpu
from tests.examples import examples

NO_FINDINGS = Findings((), None)
OTHER = {"fail": "pass", "pass": "fail", "cannot tell": "cannot tell"}
GC = ("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")

few = settings(max_examples=examples(60), deadline=None)
counts = st.integers(0, 3000)
stacks = st.fixed_dictionaries(
    {"main.f": counts, "main.g": st.integers(1, 3000), GC: counts}
)
limits = st.sampled_from((0, 1, 2, 5, 10, 25, 60, 150))
values = st.lists(st.integers(1, 60), min_size=1, max_size=12)


def rulings(comparison, *rules, strict=False):
    """Return what becomes of each rule."""
    return judge(Gate.of(rules, strict=strict), Judged(comparison, NO_FINDINGS)).rules


def by_its_interval(ruling):
    """Return the case that a ruling's interval and limit are."""
    if ruling.low > ruling.allowed:
        return "fail"
    within = ruling.high is not None and ruling.high <= ruling.allowed
    return "pass" if within else "cannot tell"


@pytest.mark.slow
@few
@given(stacks, stacks, limits, st.booleans())
def test_the_three_cases_of_profiles(base, new, limit, known):
    work = counted((1000, 1000)) if known else None
    compared = compared_sides(cpu(base), cpu(new), work=work)
    rules = [f"{kind}:+{limit}%" for kind in ("flat:main.f", "cum:main.g", "group:gc")]
    rules += [f"{kind}:+{limit}pp" for kind in ("flat:main.f", "category:gc.mark.bg")]
    if known:
        rules += [f"total:+{limit}%", f"total:+{limit}us", f"package:^main$:+{limit}us"]
    for ruling, strictly in zip(
        rulings(compared, *rules), rulings(compared, *rules, strict=True), strict=True
    ):
        if ruling.matched:
            assert ruling.outcome == by_its_interval(ruling)
            assert (strictly.outcome == "pass") == (ruling.outcome == "pass")
            assert bool(ruling.needs) == (ruling.outcome == "cannot tell")
            delta = ruling.new - ruling.base
            assert ruling.low <= delta
            assert ruling.high is None or delta <= ruling.high


@few
@given(values, values, limits, st.sampled_from(("allocs/op", "ns/op", "hits")))
def test_the_three_cases_of_benchmarks(base, new, limit, unit):
    compared = compared_sides(
        bench({"A": tuple(base)}, unit=unit), bench({"A": tuple(new)}, unit=unit)
    )
    for ruling in rulings(
        compared, f"bench:{unit}:+{limit}%", f"bench:{unit}:+{limit}"
    ):
        if ruling.low is None:
            # Too few values for an interval: the U test, which found nothing either.
            assert min(len(base), len(new)) < 6
            over = ruling.new - ruling.base > ruling.allowed
            assert (ruling.outcome == "pass") == (not over or ruling.noise is True)
        else:
            assert ruling.outcome == by_its_interval(ruling)


@few
@given(stacks, stacks)
def test_the_total_turns_around(base, new):
    """Surely more is surely less, the other way round."""
    work = counted((1000, 1000))
    forth, back = (
        rulings(compared_sides(cpu(one), cpu(other), work=work), "total:+0%")[0]
        for one, other in ((base, new), (new, base))
    )
    assert back.outcome == OTHER[forth.outcome]


@few
@given(values, values, st.integers(0, 30))
def test_a_rule_of_either_direction_turns_around(base, new, limit):
    """More of base by a limit is less of new by it; the unit says nothing of better."""
    sides = [bench({"A": tuple(side)}, unit="hits") for side in (base, new)]
    (forth,) = rulings(compared_sides(*sides), f"bench:hits:+{limit}")
    (back,) = rulings(compared_sides(*sides[::-1]), f"bench:hits:-{limit}")
    assert back.outcome == forth.outcome
    if forth.low is None:
        assert back.low is back.high is None
    else:
        assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low))


@pytest.mark.slow
@few
@given(stacks, stacks)
def test_what_fails_forth_does_not_fail_back(base, new):
    rules = "flat:.:+0%", "cum:.:+0pp", "group:gc:+0%", "group:user:+0pp"
    forth, back = (
        rulings(compared_sides(cpu(one), cpu(other)), *rules)
        for one, other in ((base, new), (new, base))
    )
    for rule, first, second in zip(rules, forth, back, strict=True):
        if rule.startswith("group:"):
            assert {first.outcome, second.outcome} != {"fail"}


def of_runs(base, new):
    """Return the comparison of runs, each (samples, operations a second), as reported."""
    captures = [
        tuple(
            replace(one, run=number, run_known=True)
            for number, (samples, _) in enumerate(side)
            for one in cpu({"main.f": samples})
        )
        for side in (base, new)
    ]
    by_run = tuple(
        {number: rate for number, (_, rate) in enumerate(side)} for side in (base, new)
    )
    means = [sum(rates.values()) / len(rates) for rates in by_run]
    work = rated((means[0], means[1]))._replace(by_run=by_run)
    return compared_sides(*captures, work=work)


runs = st.lists(
    st.tuples(st.integers(500, 1500), st.floats(50, 150)), min_size=1, max_size=6
)


@pytest.mark.slow
@few
@given(runs, runs, st.integers(0, 200))
def test_the_gate_and_the_headline_say_the_same(base, new, limit):
    """Run by run where runs are known: no rule fails within the headline's interval."""
    compared = of_runs(base, new)
    (diff,) = compared.profiles
    known = ratio_of_totals(diff)
    assert known.by_run == (max(len(base), len(new)) > 1)
    headline = next(m for m in measures(compared) if m.id == "cpu")
    (ruling,) = rulings(compared, f"total:+{limit}%")
    low, high = (1 + end / ruling.base for end in (ruling.low, ruling.high))
    assert (low, high) == pytest.approx(headline.judged.bounds)
    assert ruling.new / ruling.base == pytest.approx(headline.judged.ratio)
    if headline.judged.low <= 1 + limit / 100 < headline.judged.high:
        assert ruling.outcome == "cannot tell"


def test_more_runs_show_what_one_cannot():
    """Of runs that hardly differ three a side show 10 %; of one, nothing is known."""
    each = (1000, 1002, 998)
    outcomes = {}
    for count in (1, 3):
        sides = (
            [(round(samples * factor), 100.0) for samples in each[:count]]
            for factor in (1, 1.1)
        )
        compared = of_runs(*sides)
        ruled = rulings(compared, "total:+5%", "total:+20%", "total:+10%")
        outcomes[count] = tuple(ruling.outcome for ruling in ruled)
        needs = ruled[-1].needs
        if count == 1:
            assert needs.startswith(
                "one run per side does not show how far runs differ"
            )
        assert outcome(compared).headline.id == "cpu"
    assert outcomes[1] == ("cannot tell",) * 3
    assert outcomes[3] == ("fail", "pass", "cannot tell")
    assert (
        needs == "over 200 runs per side are needed: the change is too near the limit"
    )


def test_how_busy_the_machine_is_trips_nothing():
    """Goroutines are stopped more often where threads wait for a processor."""
    base, new = ({"main.f": 900, "runtime.asyncPreempt": n} for n in (10, 400))
    compared = compared_sides(cpu(base), cpu(new), work=counted((100, 100)))
    stopped, other = rulings(compared, "flat:asyncPreempt:+5%", "flat:main.f:+50%")
    assert (stopped.outcome, stopped.low, stopped.high) == ("pass", None, None)
    assert other.outcome == "pass"


def test_equal_values_are_exact():
    """Three a side that are all equal have no chance in them; two may have."""
    rules = [f"bench:allocs/op:+{limit}" for limit in (0, 1, 2)]
    for count, expected in (
        (2, ("no data", "pass", "pass")),
        (3, ("fail", "pass", "pass")),
    ):
        sides = [bench({"A": (value,) * count}, unit="allocs/op") for value in (63, 64)]
        got = rulings(compared_sides(*sides), *rules)
        assert tuple(ruling.outcome for ruling in got) == expected
        points = {(ruling.low, ruling.high) for ruling in got}
        assert points == ({(1.0, 1.0)} if count > 2 else {(None, None)})
