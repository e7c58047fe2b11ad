"""Values run by run: they add up to what is merged, exactly, and rows vary by themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.side import side
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.side import Capture
from tests.analysis.building import given, profiles
from tests.building import cpu

SIDES = st.lists(profiles(), min_size=1, max_size=4)


def side_of(label, runs):
    """Return the side that profiles make, one a run."""
    captures = (
        Capture(f"{label}{number}.pb.gz", "profile", run, number)
        for number, run in enumerate(runs)
    )
    return side(label, tuple(captures))


@given(runs=SIDES)
def test_runs_add_up_to_the_merged_profile(runs):
    made = side_of("base", runs)
    merged = merge(runs)
    assert made.profile.sample_types == merged.sample_types
    assert made.profile.to_frame().equals(merged.to_frame())
    assert (made.by_run.sum(axis=1) == made.profile.values).all()
    for number, run in enumerate(runs):
        total = run.values.sum(axis=0)
        assert made.by_run[:, number].sum(axis=0).tolist() == total.tolist()


@given(base=SIDES, new=SIDES)
def test_rows_and_categories_run_by_run_add_up(base, new):
    diff = compare(side_of("base", base), side_of("new", new))
    several = len(base) + len(new) > 2
    for granularity in ("functions", "lines", "files", "packages"):
        table = diff.table(granularity)
        assert (table.by_run is not None) == several
        for place, column in enumerate(("flat", "cum")) if several else ():
            for runs, sums in zip(table.by_run, table.raw(column), strict=True):
                assert (runs[place].sum(axis=1) == sums).all()
    sums = diff.category_sums
    if sums is not None:
        for side_runs, total in (
            (sums.runs.base, sums.base),
            (sums.runs.new, sums.new),
        ):
            assert (np.sum(side_runs, axis=0) == total).all()
        groups = [(int(b), int(n)) for _, b, n in sums.groups()]
        told = sums.group_runs
        assert groups == list(
            zip(np.sum(told.base, axis=0), np.sum(told.new, axis=0), strict=True)
        )


STEADY = {f"main;a.Steady{number}": 400 for number in range(30)}


def test_a_row_that_varies_by_itself_is_not_marked():
    """Both rows rise by half; of one, no two runs are alike."""
    wild = ([40, 460, 900, 180, 420], [200, 1480, 90, 1020, 210])
    steady = ([380, 410, 400, 420, 390], [590, 610, 600, 580, 620])
    sides = [
        side_of(
            label,
            [
                cpu({**STEADY, "main;a.Wild": one, "main;a.Calm": other})
                for one, other in zip(wild[at], steady[at], strict=True)
            ],
        )
        for at, label in enumerate(("base", "new"))
    ]
    diff = compare(*sides)
    table = diff.table()
    judged = table.judge("flat")
    noise = dict(zip(table.names, judged.noise.tolist(), strict=True))
    assert noise["a.Wild"]
    assert not noise["a.Calm"]
