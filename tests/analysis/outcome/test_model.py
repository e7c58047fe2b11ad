"""What one figure says alone."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pprofdiff.analysis.figures.costs import TIME
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.analysis.outcome.model import Measure, beyond_turns
from pprofdiff.analysis.policy import SAME_WITHIN

OTHER = {"slower": "faster", "faster": "slower", "same": "same", "unknown": "unknown"}


def measure(low, high, *, more_is="slower", narrow=None, ratio=None):
    """Return a figure with these bounds."""
    middle = (low * high) ** 0.5 if ratio is None else ratio
    return Measure(
        TIME._replace(more_is=more_is), 1.0, middle,
        Ratio(middle, low, high, narrow or (low, high), (low, high), 0.1),
        "Benchmark",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.05, 1.5, "slower"),
        (0.5, 0.95, "faster"),
        (0.9, 1.1, "unknown"),
        (1.0, 1.5, "unknown"),  # 1 is in it
        (0.5, 1.0, "unknown"),
        (0.99, 1.01, "same"),
        (1.005, 1.015, "same"),  # surely more, and too little to matter
        (1.005, 1.03, "unknown"),  # surely more, and not surely enough to matter
        (1.005, 1.05, "slower"),
        (0.98, 1.02, "same"),
        (0.979, 1.0, "unknown"),
    ],
)
def test_the_verdict(low, high, verdict):
    assert measure(low, high).verdict == verdict
    assert measure(low, high, more_is="faster").verdict == OTHER[verdict]
    assert measure(low, high, more_is="").verdict == "unknown"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.004, 1.2, "unknown"),  # hardly more, after many turns
        (1.006, 1.2, "slower"),
        (0.8, 0.996, "unknown"),
        (0.8, 0.994, "faster"),
    ],
)
def test_of_turns_an_interval_ends_well_apart_from_no_change(low, high, verdict):
    assert measure(*beyond_turns(low, high)).verdict == verdict


def test_the_same_is_asked_of_the_narrow_interval():
    assert measure(0.97, 1.03, narrow=(0.985, 1.015)).verdict == "same"
    assert measure(0.97, 1.03, narrow=(0.975, 1.015)).verdict == "unknown"


@given(st.floats(0.001, 0.5), st.floats(0.5, 2), st.floats(0.5, 2))
def test_the_same_is_within_what_is_asked(within, one, other):
    low, high = sorted((one, other))
    got = measure(low, high)._replace(same_within=within)
    assert (got.verdict == "same") == (1 - within <= low and high <= 1 + within)


@given(st.floats(0.01, 10), st.floats(0.01, 10))
def test_swapped_sides_say_the_opposite(one, other):
    low, high = sorted((one, other))
    # 1 ÷ 0.98 is not 1.02: at that edge both verdicts are true.
    edges = (
        (1 - SAME_WITHIN, 1 / (1 + SAME_WITHIN)),
        (1 + SAME_WITHIN, 1 / (1 - SAME_WITHIN)),
    )
    assume(not any(min(e) <= b <= max(e) for e in edges for b in (low, high)))
    assert measure(1 / high, 1 / low).verdict == OTHER[measure(low, high).verdict]


@given(st.floats(0.01, 10), st.floats(1, 5))
def test_a_verdict_never_contradicts_its_ratio(ratio, reach):
    got = measure(ratio / reach, ratio * reach, ratio=ratio)
    if got.verdict == "slower":
        assert got.judged.ratio > 1
    if got.verdict == "faster":
        assert got.judged.ratio < 1
    assert got.judged.width == pytest.approx(reach**2)
