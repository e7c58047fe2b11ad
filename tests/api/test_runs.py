"""`runs`: a tidy frame of what each run measured, in Python and in JSON."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest
from matplotlib.figure import Figure

import pprofdiff
from tests.conftest import DATA

UNCHANGED = DATA / "unchanged"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return two folders of runs: base 2, 4 and 10, new 1 and 2."""
    folder = tmp_path_factory.mktemp("runs")
    named = {"base": {2: 1, 4: 2, 10: 3}, "new": {1: 4, 2: 5}}
    for side, runs in named.items():
        for name, run in runs.items():
            shutil.copytree(UNCHANGED / f"run{run}", folder / side / str(name))
    return folder / "base", folder / "new"


@pytest.fixture(scope="module")
def both(folders):
    """Return the comparison of the folders."""
    return pprofdiff.compare(*folders)


def test_it_is_tidy(both):
    frame = both.runs
    assert frame.columns.tolist() == ["side", "run", "start", "figure", "unit", "value"]
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert kinds | {"figure": "", "unit": ""} == {
        "side": "category", "run": "int64", "start": "datetime64[ns, UTC]",
        "figure": "", "unit": "", "value": "float64",
    }  # fmt: skip
    assert not frame.duplicated(["side", "run", "figure"]).any()
    assert frame["value"].notna().all()
    assert {tuple(pair) for pair in frame[["side", "run"]].to_numpy()} == {
        ("base", 2), ("base", 4), ("base", 10), ("new", 1), ("new", 2),
    }  # fmt: skip


def test_runs_add_up_to_the_totals(both):
    frame = both.runs
    sums = frame[frame["figure"] == "cpu"].groupby("side", observed=True)["value"].sum()
    assert tuple(sums[["base", "new"]]) == both["cpu"].data.totals
    groups = frame[frame["figure"].str.startswith("cpu.group.")]
    assert groups["value"].sum() == sum(both["cpu"].data.totals)
    assert set(groups["unit"]) == {"nanoseconds"}


def test_they_began_when_the_profile_says(both, folders):
    start = both.runs.query("side == 'base' and run == 10")["start"].unique()
    profile = pprofdiff.load(folders[0] / "10/cpu.pb.gz")
    assert start.tolist() == [pd.Timestamp(profile.data.time_ns, tz="UTC")]


def test_json_has_them_where_there_are_several(both):
    rows = json.loads(both.to_json())["runs"]
    frame = pd.DataFrame(rows)
    assert frame["value"].tolist() == both.runs["value"].tolist()
    assert frame["figure"].tolist() == both.runs["figure"].tolist()
    assert frame["start_ns"].tolist() == both.runs["start"].astype("int64").tolist()
    one = pprofdiff.diff(UNCHANGED / "run1/cpu.pb.gz", UNCHANGED / "run2/cpu.pb.gz")
    assert "runs" not in json.loads(one.to_json())
    assert set(one.runs["run"]) == {1}


def test_what_is_unknown_is_no_row_and_no_start():
    """The allocs profile of one run: nothing of its CPU, its benchmarks, its begin."""
    path = UNCHANGED / "run1/allocs.pb.gz"
    frame = pprofdiff.diff(path, path).runs
    assert set(frame["figure"].str.split(".").str[0]) == {"allocs"}
    assert frame["start"].isna().all()


def test_several_inputs_of_one_kind_are_several_runs():
    files = [UNCHANGED / f"run{i}/cpu.pb.gz" for i in range(1, 9)]
    diff = pprofdiff.diff(files[:3], files[3:])
    frame = diff.runs
    assert frame.groupby("side", observed=True)["run"].nunique().to_dict() == {
        "base": 3, "new": 5,
    }  # fmt: skip
    assert frame[frame["figure"] == "cpu"]["value"].sum() == sum(diff.data.totals)


def test_several_outputs_of_benchmarks_are_several_runs(tmp_path):
    files = []
    for number, value in enumerate((100, 110, 200, 220)):
        files.append(tmp_path / f"{'ab'[number // 2]}{number}.txt")
        files[-1].write_text(f"BenchmarkA-4 \t 1000 \t {value} ns/op\n")
    diff = pprofdiff.diff(files[:2], files[2:])
    assert diff.runs.query("side == 'new'")["run"].tolist() == [2, 3]
    assert json.loads(diff.to_json())["outcome"]["runs"] == {"base": 2, "new": 2}
    assert len(diff.plot_runs(Figure().subplots()).lines) > 2
