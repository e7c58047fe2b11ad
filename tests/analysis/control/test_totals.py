"""A total is marked by the interval of the outcome, turns or runs."""

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.control.totals import ratio_of_totals, total_noise
from pprofdiff.analysis.judge.totals import InTurns
from tests.analysis.building import compared, profile


@pytest.mark.parametrize(
    ("change", "noise"), [(1.0, True), (1.04, True), (1.08, True), (1.13, False)]
)
def test_the_total_of_turns_is_marked_at_the_confidence_of_the_outcome(change, noise):
    """Of 8 % a 95 % interval would leave chance out, and a 99 % interval does not."""
    turns = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.1, 0.9]
    base, new = (1.0,) * len(turns), tuple(change * one for one in turns)
    made = [profile([(("main.main",), 100)]) for _ in range(2)]
    diff = replace(compared(*made, work=(1, 1)), turns=InTurns(base, new))
    got = ratio_of_totals(diff).ratio
    assert (got.low, got.high) == got.wide == InTurns(base, new).ratio().wide
    assert total_noise(diff) is noise
    if change == 1.08:
        assert InTurns(base, new).ratio().low > 1
