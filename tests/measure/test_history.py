"""Histories of real repositories: what each commit contains, and what cannot be compared."""

from __future__ import annotations

from pprofdiff.inputs.sources.git import Repository
from pprofdiff.measure.bisecting import aside, contained, history
from tests.repository import repository


def test_branches_that_began_before_the_good_end_are_aside(tmp_path):
    repo = repository(tmp_path / "repo")
    repo.commit("begin", {"a": "1"})
    repo.run("branch", "early")
    good = repo.commit("good", {"a": "2"})
    repo.run("checkout", "-q", "early")
    early = repo.commit("early", {"b": "1"})
    repo.run("checkout", "-q", "main")
    own = repo.commit("own", {"a": "3"})
    repo.run("merge", "-q", "--no-ff", "-m", "merge", "early")
    merge = repo.run("rev-parse", "HEAD").strip()
    folder, warned = Repository(str(repo.folder)), []
    commits = history(folder, (good, "main"), warned.append, first_parent=False)
    number = {commit.id: i for i, commit in enumerate(commits)}
    assert set(number) == {good, early, own, merge}
    assert (number[good], number[merge]) == (0, 3)
    assert aside(commits) == {number[early]}
    contains = contained(commits)
    assert contains[number[merge], 1:].all()
    assert not contains[number[own], number[early]]
    assert not contains[0].any()
    assert not contains[:, 0].any()
    one = commits[number[early]]
    assert (one.author, one.subject) == ("A", "early")
    followed = history(folder, (good, "main"), warned.append, first_parent=True)
    assert [commit.id for commit in followed] == [good, own, merge]
    assert warned == []
    begun = history(folder, (early, own), warned.append, first_parent=False)
    assert [commit.subject for commit in begun] == ["begin", "good", "own"]
    assert "the search begins where they diverged" in warned[0]
