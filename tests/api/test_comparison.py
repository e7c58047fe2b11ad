"""Two folders compared from Python are what the command line compares."""

from __future__ import annotations

import json

import pytest

import pprofdiff
from tests.conftest import DATA, STORIES
from tests.examples import daily


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_it_is_the_command_s_report(story, cli, tmp_path):
    base, new = DATA / story / "base", DATA / story / "new"
    both = pprofdiff.compare(base, new)
    path = tmp_path / "x.json"
    assert cli(base, new, "-q", "-o", path).status == 0
    assert json.loads(both.to_json()) == json.loads(path.read_text("utf-8"))
    assert both.to_text() == cli(base, new).out
    assert "\n" not in repr(both)
    assert repr(both).startswith("<Comparison 'base' → 'new': cpu, ")


def test_each_kind_is_an_object_of_its_own():
    both = pprofdiff.compare(DATA / "zstd/base", DATA / "zstd/new")
    held = both.comparison
    assert [d.data.totals for d in both.profiles.values()] == [
        d.totals for d in held.profiles
    ]
    assert isinstance(both["cpu"], pprofdiff.Diff)
    assert both.gc.figures.loc["cycles", "base"] == held.gc.base.whole.cycles
    assert both.trace.states["base_ns"].tolist() == [
        s.base_ns for s in held.trace.states
    ]
    assert len(both.benchmarks.rows) == len(held.benchmarks.rows)
    assert both["allocs/alloc_objects"].data.sample_type.type == "alloc_objects"
    for one in (both["cpu"], both.gc, both.trace, both.benchmarks):
        assert one.report().labels == ("base", "new")


def test_options_are_as_for_diff():
    paths = DATA / "syncpool/base", DATA / "syncpool/new"
    both = pprofdiff.compare(*paths, rps=(800, 700), window=(5, 10))
    assert both["cpu"].data.normalization.mode == "per_work"
    assert both.gc.data.base.shown.asked
    assert both.gc.data.rates == (800, 700)
    logs = pprofdiff.compare([paths[0] / "gctrace.log"], [paths[1] / "gctrace.log"])
    assert logs.profiles == {}
    with pytest.raises(pprofdiff.UsageError, match="no 'cpu' profiles on both sides"):
        logs["cpu"]


def test_nothing_pairs():
    with pytest.raises(pprofdiff.UsageError, match="nothing to compare"):
        pprofdiff.compare(
            DATA / "syncpool/base/gctrace.log", DATA / "health-check/new/trace.out"
        )


@pytest.mark.go
@pytest.mark.slow
def test_changed_lines_match_the_command(planted_repo, cli, tmp_path):
    base, new, *flags = map(str, planted_repo.words)
    repo = str(planted_repo.repo.folder)
    git, work = "..".join(planted_repo.refs), (40_000, 40_000)
    both = pprofdiff.compare(base, new, git=git, repo=repo, work=work)
    path = tmp_path / "x.json"
    assert cli(base, new, *flags, "--repo", repo, "-q", "-o", path).status == 0
    report = json.loads(path.read_text("utf-8"))
    wanted = [
        (lines["file"], lines["start"], lines["commits"][0]["id"])
        for finding in report["findings"]
        for which in ("lines", "near", "only")
        for lines in finding.get("source", {}).get(which, ())
    ]
    assert planted_repo.culprit in {commit for _, _, commit in wanted}
    found = both.changed[["file", "start", "commit"]]
    assert list(found.itertuples(index=False, name=None)) == wanted
    assert pprofdiff.compare(base, new).changed.empty
