"""One run a side: no row of one build is marked, whatever the machine did."""

from itertools import combinations
from pathlib import Path

import pytest

from pprofdiff.analysis.judge.run_spread import ONE_RUN
from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.work import counted
from pprofdiff.model.side import Capture
from tests.conftest import capture

RUNS = Path(__file__).parents[2] / "data" / "unchanged"


def compared(base, new, kind="cpu", slower=1.0):
    """Compare two runs of one build; an operation of new takes so many times as long."""
    sides = []
    for label, run in (("base", base), ("new", new)):
        content = capture(RUNS / run / f"{kind}.pb.gz")
        sides.append(side(label, [Capture(f"{label}.pb.gz", "profile", content)]))
    return compare(*sides, work=counted((1200, round(1200 / slower))))


@pytest.mark.slow
@pytest.mark.parametrize("slower", [0.8, 1.0, 1.3])
def test_a_slower_machine_marks_no_row(slower):
    """Of eight runs; by counts alone a dozen functions of each pair would be marked."""
    names = [f"run{number}" for number in range(1, 9)]
    marked = counting = 0
    for pair in list(combinations(names, 2))[::3]:
        diff = compared(*pair, slower=slower)
        table = diff.table("functions")
        for column in ("flat", "cum"):
            judged = table.judge(column)
            marked += int((~judged.noise).sum())
            alone = diff.model.counting.rows(table.runs(column))
            counting += int((~alone.noise).sum())
            assert (judged.known | ~alone.noise).all()
        marked += sum(group.noise is False for group in judged_groups(diff))
    assert marked == 0
    assert counting > 100 or slower == 1


def test_what_allocates_goes_by_the_program_alone():
    diff = compared("run1", "run2", "allocs")
    assert diff.model.spread is ONE_RUN
