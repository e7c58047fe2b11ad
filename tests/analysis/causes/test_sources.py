"""The changed lines behind a finding, in a history with one culprit."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.sources import with_source
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.inputs.model import ReadOptions
from pprofdiff.inputs.sides import load_sides
from pprofdiff.inputs.sources.lookup import sources_of
from tests.repository import Repo, built, git, measured

pytestmark = pytest.mark.go


def behind(planted, span, base=None, new=None):
    """Return what the source shows about the two profiles."""
    loaded = load_sides(
        (str(base or planted.base),), (str(new or planted.new),), ReadOptions()
    )
    work = Settings(work=counted((40_000, 40_000)))
    comparison = compare_sides(loaded.base, loaded.new, work)
    sources = sources_of(span, str(planted.repo.folder), "")
    return with_source(comparison, find(comparison), sources, whole=True)


def first(planted, span, base=None, new=None):
    """Return the first finding with its source."""
    return behind(planted, span, base, new).findings.found[0]


def test_the_lines_and_the_commit_of_a_planted_regression(planted_repo):
    finding = first(planted_repo, "..".join(planted_repo.refs))
    assert (finding.id, finding.direction) == ("place", "worse")
    lines, *others = finding.source.lines
    assert others == []
    assert lines.place == "store/price.go:17-19"
    assert lines.function == "example.com/shop/store.Price"
    assert [commit.id for commit in lines.commits] == [planted_repo.culprit]
    assert lines.commits[0].subject == "store: price twice, to be sure"
    assert lines.base == 0 < lines.new
    assert finding.source.unchanged == ()
    # Its hunk is the one that git prints of the file.
    got = planted_repo.repo.run("diff", "-U0", *planted_repo.refs, "--", "store")
    assert "@@ -14,0 +17,3 @@" in got


def test_the_other_way_round_the_lines_are_gone(planted_repo):
    span = "..".join(reversed(planted_repo.refs))
    finding = first(planted_repo, span, planted_repo.new, planted_repo.base)
    assert (finding.id, finding.direction) == ("place", "better")
    (lines,) = finding.source.lines
    assert lines.gone
    assert lines.place == "store/price.go:17-19"
    assert lines.new == 0 < lines.base


def test_a_function_without_a_changed_line(planted_repo):
    """With one ref for both builds nothing changed: it is said, and nothing else."""
    ref = planted_repo.refs[1]
    # The base's lines are another text's: nothing may be said of it.
    assert first(planted_repo, f"{ref}..{ref}").source is None
    finding = first(planted_repo, f"{ref}..{ref}", planted_repo.faster)
    assert finding.source.lines == ()
    assert finding.source.unchanged == ("example.com/shop/store.Price",)


def rebuilt(planted, folder, change):
    """Return a profile of new with a change made to store/price.go, and its commit.

    The change is on a branch of its own, in a clone.
    """
    git(folder, "clone", "-q", planted.repo.folder.as_uri(), "clone")
    repo = Repo(folder / "clone")
    text = (repo.folder / "store" / "price.go").read_text("utf-8")
    changed = change(text)
    assert changed != text
    commit = repo.commit("store: change", {"store/price.go": changed})
    built(repo.folder, folder / "program")
    measured(folder / "program", folder / "x.pb")
    there = planted._replace(repo=repo)
    return there, folder / "x.pb", commit


@pytest.mark.whole
def test_a_function_that_changed_next_to_its_cost(planted_repo, tmp_path):
    """A factor in a line that costs nothing: the loops cost more, and did not change."""
    there, new, commit = rebuilt(
        planted_repo,
        tmp_path,
        lambda text: text.replace("var Rounds = 4", "var Rounds = 4 // of all").replace(
            "	price := uint64(item)\n",
            "	if Rounds == 4 {\n		Rounds = 16\n	}\n	price := uint64(item)\n",
        ),
    )
    span = f"{planted_repo.refs[1]}..{commit}"
    finding = first(there, span, planted_repo.new, new)
    assert (finding.id, finding.direction) == ("place", "worse")
    assert finding.source.lines == ()
    (near,) = finding.source.near
    assert near.place == "store/price.go:13-15"
    assert [one.id for one in near.commits] == [commit]
    assert finding.source.unchanged == ()


def test_comments_and_empty_lines_are_no_change(planted_repo, tmp_path):
    there, new, commit = rebuilt(
        planted_repo,
        tmp_path,
        lambda text: text.replace(
            "	price := uint64(item)\n",
            "	// From the item.\n\n	price := uint64(item)\n\n",
        ),
    )
    span = f"{planted_repo.refs[1]}..{commit}"
    finding = first(there, span, planted_repo.faster, new)
    assert finding.source.lines == finding.source.near == ()
    assert finding.source.unchanged == ("example.com/shop/store.Price",)


def test_a_function_that_moved_to_another_file_did_not_change(planted_repo, tmp_path):
    git(tmp_path, "clone", "-q", planted_repo.repo.folder.as_uri(), "clone")
    repo = Repo(tmp_path / "clone")
    whole = (repo.folder / "store" / "price.go").read_text("utf-8")
    begin = whole.index("// Price returns")
    commit = repo.commit(
        "store: split",
        {
            "store/price.go": whole[:begin],
            "store/of.go": f"package store\n\n\n{whole[begin:]}",
        },
    )
    built(repo.folder, tmp_path / "program")
    measured(tmp_path / "program", tmp_path / "x.pb")
    there = planted_repo._replace(repo=repo)
    span = f"{planted_repo.refs[1]}..{commit}"
    finding = first(there, span, planted_repo.faster, tmp_path / "x.pb")
    assert finding.source.lines == finding.source.near == ()
    assert finding.source.unchanged == ("example.com/shop/store.Price",)
    # Of the planted change too, only its own lines differ; the file shows nothing.
    span = f"{planted_repo.refs[0]}..{commit}"
    finding = first(there, span, planted_repo.base, tmp_path / "x.pb")
    (lines,) = finding.source.lines
    assert (lines.path, lines.end - lines.start) == ("store/of.go", 2)


def test_a_renamed_file_leaves_the_source_the_same(planted_repo, tmp_path):
    git(tmp_path, "clone", "-q", planted_repo.repo.folder.as_uri(), "clone")
    repo = Repo(tmp_path / "clone")
    git(repo.folder, "mv", "store/price.go", "store/of.go")
    text = (repo.folder / "store" / "of.go").read_text("utf-8")
    commit = repo.commit("store: rename", {"store/of.go": text})
    built(repo.folder, tmp_path / "program")
    measured(tmp_path / "program", tmp_path / "x.pb")
    there = planted_repo._replace(repo=repo)
    renamed = there, f"{planted_repo.refs[1]}..{commit}", planted_repo.new
    assert behind(*renamed, tmp_path / "x.pb").same == ()
    assert behind(planted_repo, "..".join(planted_repo.refs)).same is None
