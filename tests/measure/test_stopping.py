"""When a verdict is sure: an early look asks for more than the last one."""

from __future__ import annotations

import numpy as np
import pytest

from pprofdiff.analysis.figures.costs import CPU, TIME
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.outcome.model import Measure, Outcome
from pprofdiff.measure.rounds import FEWEST_ROUNDS, sure, to_trace, unexplained
from tests.analysis.measuring import Unit, compared, path


def outcome_of(verdict, ratio, bounds, narrow=None, confidence=95):
    """Return an outcome that rests on one figure."""
    judged = Ratio(ratio, *bounds, narrow or bounds, bounds, 0.1)
    measure = Measure(TIME, 1.0, ratio, judged, "test", confidence=confidence)
    return Outcome(verdict, (measure,))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(), False),
        (outcome_of("unknown", 1.5, (0.9, 2.5)), False),
        (outcome_of("slower", 1.5, (1.4, 1.6)), True),
        (outcome_of("slower", 1.10, (1.01, 1.20)), False),
        (outcome_of("faster", 0.5, (0.45, 0.55)), True),
        (outcome_of("faster", 0.90, (0.82, 0.99)), False),
        (outcome_of("same", 1.0, (0.99, 1.01), (0.995, 1.005)), True),
        (outcome_of("same", 1.01, (0.99, 1.03), (1.001, 1.019)), False),
        (outcome_of("slower", 1.5, (0.0, float("inf"))), False),
    ],
)
def test_sure(outcome, expected):
    assert sure(outcome) is expected


SLOWER = ("slower", 1.5, (1.4, 1.6))


@pytest.mark.parametrize(
    ("time", "cpu", "expected"),
    [
        (SLOWER, None, True),
        (SLOWER, 1.0, True),
        (SLOWER, 0.9, True),
        (SLOWER, 1.4, False),
        # Next to other programs an operation takes twice its CPU, on both sides.
        (("faster", 0.7, (0.65, 0.75)), 0.71, False),
        (("faster", 0.7, (0.65, 0.75)), 1.0, True),
        (("same", 1.0, (0.99, 1.01)), 1.3, False),
        (("unknown", 1.3, (0.9, 1.7)), 1.0, False),
    ],
)
def test_a_trace_is_taken_where_time_moved_and_cpu_did_not(time, cpu, expected):
    first = outcome_of(*time).headline
    assert first.verdict == time[0]
    measures = (first,)
    if cpu is not None:
        measures += (first._replace(cost=CPU, judged=first.judged._replace(ratio=cpu)),)
    assert unexplained(Outcome(time[0], measures)) is expected


@pytest.mark.parametrize(("within", "expected"), [(0.02, True), (0.005, False)])
def test_the_same_is_sure_within_what_was_asked(within, expected):
    got = outcome_of("same", 1.0, (0.99, 1.01), (0.995, 1.005))
    measure = got.headline._replace(same_within=within)
    assert sure(Outcome("same", (measure,))) is expected


@pytest.mark.slow
@pytest.mark.parametrize(("confidence", "level"), [(95, 0.05), (99, 0.01)])
def test_looking_after_each_round_hardly_adds_false_alarms(confidence, level):
    """Of 10 pairs of runs of one build so many are marked, had one looked at the end.

    To stop at the first interval without 1 would alarm more than half as often again.
    """
    rng = np.random.default_rng(15)
    tries, deviation = 4_000, 0.05
    early = first = 0
    for deltas in rng.normal(0.0, deviation * 2**0.5, (tries, 10)):
        looks = [
            _look(deltas[:n], deviation, confidence) for n in range(FEWEST_ROUNDS, 11)
        ]
        got = [look.verdict != "unknown" for look in looks]
        first += any(got)
        early += got[-1] or any(map(sure, looks))
    # Each early look adds 0.1 % at most; two standard errors are 0.7 % and 0.3 %.
    added = 0.001 * (10 - FEWEST_ROUNDS)
    assert early / tries < level + added + 2 * (level * (1 - level) / tries) ** 0.5
    assert first / tries > 1.5 * level


@pytest.mark.parametrize("confidence", [95, 99])
def test_an_early_look_asks_for_three_standard_errors(confidence):
    """Whatever confidence the interval has, the verdict is sure from 3.29 on."""
    for errors, expected in ((3.2, False), (3.4, True)):
        deltas = np.full(8, errors * (2 / 8) ** 0.5 * 0.05)
        assert sure(_look(deltas, 0.05, confidence)) is expected


def _look(deltas, deviation, confidence):
    """Return the verdict on these differences, where their spread is known."""
    mean = float(deltas.mean())
    reach = {95: 1.96, 99: 2.576}[confidence]
    half = reach * deviation * (2 / len(deltas)) ** 0.5
    low, high = np.exp(mean - half), np.exp(mean + half)
    verdict = "slower" if low > 1 else "faster" if high < 1 else "unknown"
    bounds = float(low), float(high)
    return outcome_of(verdict, float(np.exp(mean)), bounds, confidence=confidence)


@pytest.mark.parametrize(
    ("cpu", "wall", "expected"),
    [
        # Time is CPU time, then three times that: it waits.
        (600, 3.0, ("A",)),
        (1800, 1.0, ()),
        # CPU moves by a little more than half of what time does, and by a little less.
        (900, 1.45, ()),
        (900, 1.55, ("A",)),
        (600, 1.0, ()),
        # As much time of less CPU is no change of time.
        (300, 2.0, ()),
        (200, 1.5, ()),
        (300, 6.0, ("A",)),
    ],
)
def test_of_several_those_that_wait_are_worth_a_trace(cpu, wall, expected):
    stack = path("F")
    others = Unit({stack: 600}, name="B"), Unit({stack: 600}, name="C/sub")
    base = Unit({stack: 600}, name="A"), *others
    new = Unit({stack: cpu}, wall=wall, name="A"), others[0], others[1]._replace(wall=3)
    assert to_trace(outcome(compared(base, new))) == expected
