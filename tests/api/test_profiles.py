"""One profile by itself, and both sides' labels: sums that add up, plain frames."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

import pprofdiff
from pprofdiff.model.profiles.profile import Labels
from tests.conftest import DATA

PATHS = [
    "syncpool/base/cpu.pb.gz",
    "rss-search/base/cpu.pb.gz",
    "zstd/new/allocs.pb.gz",
    "node-pool/base/mutex.pb.gz",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_profile_by_itself_is_a_diff_s_side(path):
    profile = pprofdiff.load(DATA / path)
    both = pprofdiff.diff(profile, profile)
    top = profile.top(None)
    held = both.functions
    assert top["flat"].to_dict() == held["base_flat"].to_dict()
    assert top["cum"].to_dict() == held["base_cum"].to_dict()
    assert (np.diff(top["flat"]) <= 0).all()
    assert (np.diff(profile.top(9, "cum")["cum"]) <= 0).all()
    assert len(profile.top(3)) == 3
    if both.data.is_cpu:
        wanted = both.categories["base"].to_dict()
        assert profile.categories["value"].to_dict() == wanted
    else:
        assert profile.categories.empty
    kind = both.data.sample_type.type
    assert profile.stacks[kind].sum() == both.data.totals[0]
    wanted = both.stacks["base_flat"]
    own = profile.stacks[kind]
    assert (
        own[own != 0].sort_index().to_dict()
        == wanted[wanted != 0].sort_index().to_dict()
    )


def test_categories_have_the_same_columns_where_there_are_none():
    cpu, allocs = (
        pprofdiff.diff(
            *(DATA / "zstd" / side / f"{kind}.pb.gz" for side in ("base", "new"))
        )
        for kind in ("cpu", "allocs")
    )
    assert allocs.categories.empty
    assert list(allocs.categories.columns) == list(cpu.categories.columns)
    assert allocs.categories["base"].dtype == cpu.categories["base"].dtype


@pytest.fixture(scope="module")
def labelled():
    """Return the diff whose samples have labels."""
    return pprofdiff.diff(
        *(DATA / "syncpool" / s / "cpu.pb.gz" for s in ("base", "new"))
    )


def test_labels_add_up(labelled):
    frame = labelled.labels
    assert frame.groupby("key")[["base", "new"]].sum().loc["handler"].tolist() == list(
        labelled.data.totals
    )
    assert set(frame["value"]) == {"", "query", "write"}
    assert frame["base"].dtype == "int64"
    assert (frame["delta"] == frame["new"] - frame["base"]).all()
    by = labelled.data.normalization
    assert frame["new_scaled"].tolist() == (frame["new"] * by.new_factor).tolist()
    assert frame["status"].tolist() == ["both"] * 3


def test_a_label_s_sum_matches_its_samples(labelled):
    frame = labelled.labels.set_index("value")
    for side, held in (("base", labelled.data.base), ("new", labelled.data.new)):
        rows = held.profile.to_frame()
        by_value = rows.groupby(rows["label:handler"].fillna(""))["cpu"].sum()
        assert frame[side].to_dict() == by_value.to_dict()


@pytest.mark.go
def test_labels_match_go_tool_pprof(labelled):
    done = subprocess.run(
        [shutil.which("go"), "tool", "pprof", "-tags", "-unit=ms", labelled.data.new.runs[0].path],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    frame = labelled.labels.set_index("value")
    for value in ("write", "query"):
        line = next(row for row in done.splitlines() if row.endswith(f": {value}"))
        assert float(line.split("ms")[0]) * 1e6 == frame.loc[value, "new"]


def test_a_side_without_the_key():
    base, new = (
        pprofdiff.load(DATA / "syncpool" / s / "cpu.pb.gz") for s in ("base", "new")
    )
    d = pprofdiff.diff(
        replace(base, data=structs.replace(base.data, labels=Labels.none())), new
    )
    frame = d.labels.set_index("value")
    assert frame.loc["", "base"] == d.data.totals[0]
    assert frame["base"].sum() == d.data.totals[0]
    assert frame["new"].sum() == d.data.totals[1]
    assert frame.loc["write", "status"] == "new"
    none = pprofdiff.diff(DATA / "zstd/base/cpu.pb.gz", DATA / "zstd/new/cpu.pb.gz")
    assert none.labels.empty
    assert {"key", "value", "base", "status"} <= set(none.labels.columns)
