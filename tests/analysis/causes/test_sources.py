"""The changed lines behind a finding, in a history with one culprit."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.carriers import Code
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
    return with_source(comparison, find(comparison), Code(sources), whole=True)


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


def clone(planted, folder):
    """Return a clone, and its text of store/price.go."""
    git(folder, "clone", "-q", planted.repo.folder.as_uri(), "clone")
    repo = Repo(folder / "clone")
    return repo, (repo.folder / "store" / "price.go").read_text("utf-8")


def rebuilt(planted, repo, folder, files):
    """Return a profile of new with a change made to files of a clone, and its commit."""
    commit = repo.commit("store: change", files)
    built(repo.folder, folder / "program")
    measured(folder / "program", folder / "x.pb")
    return planted._replace(repo=repo), folder / "x.pb", commit


@pytest.mark.whole
def test_a_function_that_changed_next_to_its_cost(planted_repo, tmp_path):
    """A factor in a line that costs nothing: the loops cost more, and did not change."""
    repo, text = clone(planted_repo, tmp_path)
    changed = text.replace("var Rounds = 4", "var Rounds = 4 // of all").replace(
        "	price := uint64(item)\n",
        "	if Rounds == 4 {\n		Rounds = 16\n	}\n	price := uint64(item)\n",
    )
    files = {"store/price.go": changed}
    there, new, commit = rebuilt(planted_repo, repo, tmp_path, files)
    span = f"{planted_repo.refs[1]}..{commit}"
    finding = first(there, span, planted_repo.new, new)
    assert (finding.id, finding.direction) == ("place", "worse")
    assert finding.source.lines == ()
    (near,) = finding.source.near
    assert near.place == "store/price.go:13-15"
    assert [one.id for one in near.commits] == [commit]
    assert finding.source.unchanged == ()


def test_comments_and_empty_lines_are_no_change(planted_repo, tmp_path):
    repo, text = clone(planted_repo, tmp_path)
    changed = text.replace(
        "	price := uint64(item)\n",
        "	// From the item.\n\n	price := uint64(item)\n\n",
    )
    files = {"store/price.go": changed}
    there, new, commit = rebuilt(planted_repo, repo, tmp_path, files)
    span = f"{planted_repo.refs[1]}..{commit}"
    finding = first(there, span, planted_repo.faster, new)
    assert finding.source.lines == finding.source.near == ()
    assert finding.source.unchanged == ("example.com/shop/store.Price",)


def test_a_function_that_moved_to_another_file_did_not_change(planted_repo, tmp_path):
    repo, whole = clone(planted_repo, tmp_path)
    begin = whole.index("// Price returns")
    files = {
        "store/price.go": whole[:begin],
        "store/of.go": f"package store\n\n\n{whole[begin:]}",
    }
    there, new, commit = rebuilt(planted_repo, repo, tmp_path, files)
    span = f"{planted_repo.refs[1]}..{commit}"
    finding = first(there, span, planted_repo.faster, new)
    assert finding.source.lines == finding.source.near == ()
    assert finding.source.unchanged == ("example.com/shop/store.Price",)
    # Of the planted change too, only its own lines differ; the file shows nothing.
    span = f"{planted_repo.refs[0]}..{commit}"
    finding = first(there, span, planted_repo.base, new)
    (lines,) = finding.source.lines
    assert (lines.path, lines.end - lines.start) == ("store/of.go", 2)


def test_a_renamed_file_leaves_the_source_the_same(planted_repo, tmp_path):
    repo, text = clone(planted_repo, tmp_path)
    git(repo.folder, "mv", "store/price.go", "store/of.go")
    there, new, commit = rebuilt(planted_repo, repo, tmp_path, {"store/of.go": text})
    span = f"{planted_repo.refs[1]}..{commit}"
    assert behind(there, span, planted_repo.new, new).same == ()
    assert behind(planted_repo, "..".join(planted_repo.refs)).same is None
