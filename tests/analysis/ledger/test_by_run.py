"""Values run by run: they add up to what is merged, exactly, and rows vary by themselves."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.account.building import account
from pprofdiff.analysis.call_tree import call_tree, inclusive, noise_limit
from pprofdiff.analysis.causes.sources import own_movement
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.dimensions import by_leaf, paid_by_site
from pprofdiff.analysis.profiles.labels import labels_frame
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.work import counted
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.side import Capture
from pprofdiff.report.json.document import account_row
from pprofdiff.report.sections.profiles.call_sites import call_sites
from pprofdiff.report.sections.profiles.owners import payer_table
from tests.analysis.building import given, profiles
from tests.analysis.outcome.evidence import compared_sides
from tests.building import CPU, MS, Sample, built, cpu, parsed

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


@pytest.mark.slow
@given(base=SIDES, new=SIDES)
def test_rows_and_categories_run_by_run_add_up(base, new):
    diff = compare(side_of("base", base), side_of("new", new))
    for granularity in ("functions", "lines", "files", "packages"):
        table = diff.table(granularity)
        for column in ("flat", "cum"):
            runs = table.runs(column)
            sides = runs.base, runs.new
            for of_side, sums in zip(sides, table.raw(column), strict=True):
                assert (np.sum(of_side, axis=0) == sums).all()
    for dimension in ("category", "group") if diff.classified else ():
        sums = diff.ledger.every(dimension)
        for side_runs, total in (
            (sums.runs.base, sums.base),
            (sums.runs.new, sums.new),
        ):
            assert (np.sum(side_runs, axis=0) == total).all()


def called(diff, run):
    """Return what each call site has in one run of base, by names."""
    names, sums = diff.paired_functions.names, by_leaf(diff.ledger)
    sites = Counter()
    for leaf, owner, value in zip(
        sums["leaf"].tolist(), sums["place"].tolist(), run.tolist(), strict=True
    ):
        sites[names[leaf], names[owner]] += value
    return sites


@pytest.mark.slow
@given(base=SIDES, new=SIDES)
def test_sums_of_any_grouping_match_each_run(base, new):
    new_side = side_of("new", new)
    diff = compare(side_of("base", base), new_side)
    sums, stacks = by_leaf(diff.ledger), diff.table("stacks")
    sides = sums.runs.base, sums.runs.new
    assert [np.sum(side, axis=0).tolist() for side in sides] == [
        sums.base.tolist(),
        sums.new.tolist(),
    ]
    assert np.array_equal(sum(stacks.runs("flat").base), stacks.raw("flat")[0])
    assert np.array_equal(sum(stacks.runs("flat").new), stacks.raw("flat")[1])
    for number, run in enumerate(base):
        alone = compare(side_of("base", [run]), new_side, identity=diff.identity)
        known = called(diff, sums.runs.base[number])
        wanted = called(alone, by_leaf(alone.ledger).base)
        assert all(wanted[site] == value for site, value in known.items())
    if diff.classified:
        paid = paid_by_site(diff.ledger)
        assert np.array_equal(sum(paid.runs.base), paid.base)
        assert np.array_equal(sum(paid.runs.new), paid.new)
        rows = [side.leaf_kind for side in diff.attributions]
        by_kind = diff.runs_of((rows[0], rows[1]), len(rules().leaf_kinds))
        whole = diff.ledger.every("leaf_kind")
        assert np.array_equal(sum(by_kind.base), whole.base)
        assert np.array_equal(sum(by_kind.new), whole.new)
    tree = call_tree(diff, 5)[0]
    assert [int(side[0]) for side in merged(inclusive(tree))] == list(diff.totals)


SIDE_NAMES = ("base", "new")
STEADY = {f"main;a.Steady{number}": 400 for number in range(30)}
WILD = ([40, 460, 900, 180, 420], [200, 1480, 90, 1020, 210])
CALM = ([380, 410, 400, 420, 390], [590, 610, 600, 580, 620])


def swinging(wild, calm, **how):
    """Compare five runs a side with a stack that swings and one that moves alike."""
    sides = [
        side_of(
            label,
            [
                cpu({**STEADY, wild: one, calm: other})
                for one, other in zip(WILD[at], CALM[at], strict=True)
            ],
        )
        for at, label in enumerate(SIDE_NAMES)
    ]
    return compare(*sides, **how)


def marks(table, place=2):
    """Return the mark of each row's delta."""
    return {row.key: row.cells[place].mark for row in table.rows}


def test_call_sites_are_judged_by_their_own_runs():
    diff = swinging("main;a.Wild;bytes.growSlice", "main;a.Calm;bytes.growSlice")
    (table,) = call_sites(diff, (), ("base", "new"), 40)
    shown = marks(table)
    (wild,), (calm,) = (
        {mark for key, mark in shown.items() if name in key}
        for name in ("a.Wild", "a.Calm")
    )
    assert (wild, calm) == ("noise", "more")


def test_who_pays_is_judged_by_its_own_runs():
    diff = swinging("main;a.Wild;runtime.mallocgc", "main;a.Calm;runtime.mallocgc")
    (table,) = payer_table(diff, ("base", "new"))
    assert marks(table) == {"a.Wild": "noise", "a.Calm": "more"}


def test_functions_stacks_and_own_cost_are_judged_by_their_own_runs():
    """Both rows rise by half; of one, no two runs are alike."""
    diff = swinging("main;a.Wild", "main;a.Calm")
    for granularity, above in (("functions", ""), ("stacks", "main;")):
        table = diff.table(granularity)
        noise = dict(zip(table.names, table.judge("flat").noise.tolist(), strict=True))
        assert (noise[f"{above}a.Wild"], noise[f"{above}a.Calm"]) == (True, False)
    moved = dict(zip(diff.paired_functions.names, own_movement(diff), strict=True))
    assert moved["a.Wild"] == 0
    assert moved["a.Calm"] > 0


def captures(label, at, stacks, times=1):
    """Return five runs of a side: of each of `stacks` its milliseconds by run."""
    return tuple(
        Capture(
            f"{label}{run}.pb.gz",
            "profile",
            cpu(
                {**STEADY, **{stack: times * ms[at][run] for stack, ms in stacks}},
                duration_ns=10**10,
            ),
            run,
        )
        for run in range(5)
    )


def built_twice(wild, calm, times=1):
    """Return the comparison of five runs a side that did the same work."""
    stacks = ((wild, WILD), (calm, CALM))
    sides = (captures(label, at, stacks, times) for at, label in enumerate(SIDE_NAMES))
    return compared_sides(*sides, work=counted((1000, 1000)))


def test_findings_name_what_moved_in_every_run():
    comparison = built_twice("main;a.Wild", "main;a.Calm", 4)
    causes = [one for one in find(comparison).found if one.severity != "info"]
    assert [one.functions for one in causes] == [("a.Calm",)]


GC = "runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject"


def test_parts_of_the_account_have_their_interval_over_runs():
    comparison = built_twice("main;a.Calls;runtime.mallocgc", GC)
    parts = {part.id: part for part in account(comparison).parts}
    low, high = parts["cpu.alloc"].bounds
    assert low < 0 < parts["cpu.alloc"].amount.delta < high
    low, high = parts["cpu.gc"].bounds
    assert 0 < low < parts["cpu.gc"].amount.delta < high
    document = {row["id"]: row for row in account_row(account(comparison))["parts"]}
    assert (document["cpu.gc"]["low"], document["cpu.gc"]["high"]) == (low, high)


def test_one_run_a_side_has_no_interval_over_runs():
    sides = (
        captures(label, at, ((GC, CALM),))[:1] for at, label in enumerate(SIDE_NAMES)
    )
    whole = account(compared_sides(*sides, work=counted((1000, 1000))))
    assert {part.bounds for part in whole.parts} == {None}
    assert all("low" not in row for row in account_row(whole)["parts"])


def labelled(of_label):
    """Return a CPU profile with samples by label, in milliseconds."""
    rows = [
        Sample(parsed("main;a.Work"), (ms // 10, ms * MS), (("route", label),))
        for label, ms in of_label.items()
    ]
    return built([*rows, Sample(parsed("main;a.Rest"), (40, 400 * MS))], CPU)


def test_labels_are_judged_by_their_own_runs():
    steady = {f"/{number}": 400 for number in range(30)}
    base, new = (
        side_of(
            label,
            [
                labelled({**steady, "/wild": WILD[at][run], "/calm": CALM[at][run]})
                for run in range(5)
            ],
        )
        for at, label in enumerate(SIDE_NAMES)
    )
    rows = labels_frame(compare(base, new)).set_index("value")
    assert rows.base["/wild"] == sum(WILD[0]) * MS
    assert (rows.base[""], rows.base.sum()) == (
        5 * 400 * MS,
        base.profile.values[:, 1].sum(),
    )
    assert rows.noise["/wild"]
    assert not rows.noise["/calm"]


def test_frames_of_flame_graphs_are_judged_as_their_functions_are():
    diff = swinging("main;a.Wild", "main;a.Calm")
    table, limit = diff.table(), noise_limit(diff)
    needed = diff.model.needs(table.runs("cum"), limit)
    noise = np.abs(table.scaled_delta("cum")) < needed
    assert noise.tolist() == table.judge("cum").noise.tolist()
    tree, names = call_tree(diff, 100)[0], diff.paired_functions.names
    below = inclusive(tree).map(lambda run: run[1:])
    beyond = np.abs(diff.normalization.delta(*merged(below)))
    got = beyond >= diff.model.needs(below, limit)
    frames = {names[i]: bool(one) for i, one in zip(tree.name, got, strict=True)}
    assert (frames["a.Wild"], frames["a.Calm"]) == (False, True)
