"""Several builds side by side: their rows add up, and are each profile's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pprofdiff
from pprofdiff.goruntime.rules import rules
from tests.conftest import DATA

VERSIONS = [f"go1.{minor}" for minor in range(19, 28)]


def many(kind="cpu"):
    """Return the nine builds of one program."""
    return pprofdiff.load_many(
        [DATA / "versions" / v / f"{kind}.pb.gz" for v in VERSIONS]
    )


@pytest.fixture(scope="module")
def builds():
    """Return their CPU profiles."""
    return many()


@pytest.mark.slow
def test_builds_are_named_by_where_their_paths_differ(builds):
    assert list(builds.names) == VERSIONS
    named = pprofdiff.load_many(
        {v: DATA / "versions" / v / "cpu.pb.gz" for v in VERSIONS}
    )
    assert named.categories.equals(builds.categories)
    assert repr(builds) == "<Builds cpu/nanoseconds: 9 builds, 'go1.19' … 'go1.27'>"


def test_categories_and_groups_add_up_to_totals(builds):
    totals = builds.totals["total"]
    assert builds.categories.sum(axis=1).equals(totals)
    assert builds.groups.sum(axis=1).equals(totals)
    assert builds.functions.sum().tolist() == totals.tolist()
    for profile, total in zip(builds.profiles, totals, strict=True):
        assert profile.data.values[:, 1].sum() == total
    assert (builds.categories.dtypes == "int64").all()
    assert (builds.groups_scaled.dtypes == "float64").all()
    group = {c: g.id for g in rules().groups for c in g.categories}
    by_group = builds.categories.T.groupby(group).sum().T
    assert by_group[list(builds.groups.columns)].equals(
        builds.groups.rename_axis(columns=by_group.columns.name)
    )


@pytest.mark.slow
def test_two_of_them_compared_are_a_diff_of_the_report(builds):
    d = builds.diff("go1.21", "go1.26")
    (entry,) = json.loads(d.to_json())["comparisons"]
    for row in entry["categories"]:
        for side, name in (("base", "go1.21"), ("new", "go1.26")):
            held = builds.categories.loc[name]
            assert row[side] == held.get(row["id"], 0)
            scaled = held.get(row["id"], 0) * builds.factors[builds.names.index(name)]
            assert row[f"{side}_scaled"] == pytest.approx(scaled, rel=1e-12)
    assert d.report().labels == ("go1.21", "go1.26")


def test_functions_are_flat_by_name(builds):
    d = builds.diff("go1.19", "go1.19")
    flat = d.functions["base_flat"]
    own = builds.functions["go1.19"]
    assert (
        own[own != 0].sort_index().to_dict() == flat[flat != 0].sort_index().to_dict()
    )
    spread = builds.functions.to_numpy() * np.array(builds.factors)
    spread = spread.max(axis=1) - spread.min(axis=1)
    assert (np.diff(spread) <= 0).all()


def test_modes(builds):
    assert builds.mode == "composition"
    assert builds.totals["scaled"].tolist() == pytest.approx([100] * len(VERSIONS))
    done = [
        json.loads((DATA / "versions" / v / "work.json").read_text())["operations"]
        for v in VERSIONS
    ]
    worked = builds.by(work=done)
    assert worked.mode == "per_work"
    wanted = builds.totals["total"] / done
    assert worked.totals["scaled"].tolist() == pytest.approx(wanted.tolist())
    assert many("allocs").mode == "composition"
    assert builds.by("samples").totals["total"].sum() == sum(
        profile.data.values[:, 0].sum() for profile in builds.profiles
    )


def test_profiles_without_categories_have_no_columns():
    assert many("allocs").categories.shape == (9, 0)
    assert many("allocs").functions.shape[1] == 9


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda b: pprofdiff.load_many([]), "no build"),
        (lambda b: pprofdiff.load_many([b["go1.19"], b["go1.19"]]), None),
        (
            lambda b: pprofdiff.load_many({"x": DATA / "load/hey.txt"}),
            "x: load_many takes profiles, not a load",
        ),
        (lambda b: b.by(work=[1, 2]), "work= needs the operations of each build"),
        (lambda b: b.by("speed"), "samples, cpu"),
        (
            lambda b: pprofdiff.load_many(
                {
                    "a": DATA / "zstd/base/allocs.pb.gz",
                    "b": DATA / "zstd/base/cpu.pb.gz",
                }
            ),
            "a has no cpu/nanoseconds",
        ),
    ],
)
def test_errors(builds, call, said):
    if said is None:
        assert list(call(builds).names) == ["1", "2"]
        return
    with pytest.raises(pprofdiff.PprofDiffError, match=said):
        call(builds)
