"""A busy machine is seen in CPU profiles, and the wall clock decides nothing there."""

import pytest

from pprofdiff.analysis.busy import busy, clock_sigma, scheduling_alone
from pprofdiff.analysis.causes.finding import Findings
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.gate.judging import judge
from pprofdiff.analysis.gate.measures import Judged
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.judge.calibration import (
    BUSIER_SIGMA,
    BUSY_FROM,
    BUSY_SIGMA,
    TOTAL_SIGMA,
)
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.work import counted
from pprofdiff.report.sections.outcome import outcome_text
from tests.analysis.building import MARK, SCHEDULE
from tests.analysis.outcome.evidence import (
    PACKAGES,
    bench,
    compared_sides,
    cpu,
    decided,
)

STOPPED = ("runtime.asyncPreempt", PACKAGES[0], "main.main")
WORK = counted((1000, 1000))
ALIKE = dict.fromkeys(PACKAGES, 120)


def side(time, stopped, grown=1, runs=1):
    """Return runs with so many samples of 960 of stopped goroutines."""
    samples = {**ALIKE, PACKAGES[0]: 120 * grown - stopped, STOPPED: stopped}
    one = cpu({stack: count for stack, count in samples.items() if count})
    return (*bench(*({"A": time + i} for i in range(runs))), *one)


def _judged(base, new):
    """Return what a gate judges."""
    comparison = compared_sides(base, new)
    return Judged(comparison, Findings((), None))


@pytest.mark.parametrize(
    ("base", "new", "share", "sigma"),
    [
        (0, 0, None, TOTAL_SIGMA),
        (0, 40, None, TOTAL_SIGMA),
        (0, 60, 60 / 960, BUSY_SIGMA),
        (96, 10, 0.1, BUSIER_SIGMA),
    ],
)
def test_the_busier_side_shows(base, new, share, sigma):
    comparison = compared_sides(side(1000, base), side(1000, new))
    assert busy(comparison) == (None if share is None else pytest.approx(share))
    assert clock_sigma(comparison) == sigma
    assert 40 / 960 < BUSY_FROM <= 60 / 960


def test_twice_the_time_on_a_busy_machine_is_no_news():
    quiet, loud = (decided(side(1000, n), side(2000, n), work=WORK) for n in (0, 96))
    assert (quiet.headline.id, quiet.headline.verdict) == ("time", "slower")
    assert quiet.busy is None
    assert loud.verdict == "unknown"
    ids = [measure.id for measure in loud.measures]
    assert ids.index("cpu") < ids.index("time")
    assert loud.busy == pytest.approx(96 / 960, rel=0.1)
    clock = next(m for m in loud.measures if m.id == "time")
    assert clock.judged.low < 1 / 3
    said = [sentence.text for sentence in outcome_text(loud).below]
    assert sum("machine was busy" in text for text in said) == 1
    assert not any("busy" in s.text for s in outcome_text(quiet).below)


def test_cpu_decides_where_it_is_plain():
    said = decided(side(1000, 96), side(1500, 96, grown=12), work=WORK)
    assert (said.verdict, said.headline.id) == ("slower", "cpu")


def test_several_runs_show_by_themselves():
    comparison = compared_sides(side(1000, 96, runs=3), side(2000, 96, runs=3))
    said = outcome(comparison)
    assert (said.busy, said.headline.id) == (None, "time")


def test_the_gate_says_what_the_outcome_says():
    gate = Gate.of(["bench:ns/op:+10%"])
    ruled = [
        judge(gate, _judged(side(1000, n), side(2000, n))).rules[0].outcome
        for n in (0, 96)
    ]
    assert ruled == ["fail", "cannot tell"]


def scheduled(scheduling, stopped, grown=1):
    """Return a side's CPU profile: its code, and so much scheduling."""
    made = dict.fromkeys(PACKAGES, 200) | {MARK: 300, SCHEDULE: scheduling}
    made |= {PACKAGES[0]: 400 - stopped, STOPPED: stopped, PACKAGES[1]: 200 * grown}
    return cpu(made)


def test_scheduling_alone_on_a_busy_machine_is_the_machines():
    """Time and scheduling doubled while the program's code cost the same CPU."""

    def compared(stopped, grown=1):
        base = bench(*({"A": time} for time in (1000, 1010, 990)))
        new = bench(*({"A": time} for time in (2000, 2020, 1980)))
        return compared_sides(
            (*base, *scheduled(150, 20)),
            (*new, *scheduled(400, stopped, grown)),
            work=WORK,
        )

    quiet, loud, changed = compared(20), compared(300), compared(300, grown=10)
    assert [scheduling_alone(one) for one in (quiet, loud, changed)] == [
        False,
        True,
        False,
    ]
    named = [{f.id for f in find(one).found} for one in (quiet, loud, changed)]
    assert ["scheduler" in ids for ids in named] == [True, False, True]
    assert outcome(quiet).verdict == "slower"
    assert outcome(loud).verdict == "unknown"
    gate = Gate.of(["bench:ns/op:+10%"])
    rulings = [
        judge(gate, Judged(one, Findings((), None))).rules[0] for one in (quiet, loud)
    ]
    assert [ruling.outcome for ruling in rulings] == ["fail", "no data"]
    assert "machine was busy" in rulings[1].figure
