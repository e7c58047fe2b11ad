"""Which commits are meant, and the files of each side, with the repository as it was."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from pprofdiff.errors import UsageError
from pprofdiff.inputs.sources.git import Repository
from pprofdiff.measure.sides import checked_out, checkouts
from tests.measure.shop import FILES, shop, state
from tests.repository import SETTINGS, git, repository


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """Stand in a repository with a module."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    made = shop(tmp_path / "repo")
    monkeypatch.chdir(made.folder)
    return made


def sides(base="", new=""):
    return checkouts(Repository("", "measure"), base, new)


def written(side, folder):
    """Write a side out; return its files' texts by path, and the warnings."""
    warnings = []
    ours = checked_out(Repository("", "measure"), side, str(folder), warnings.append)
    texts = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return ours, texts, warnings


def test_two_refs_are_two_commits(repo):
    (base, new), warnings = sides("HEAD~1", "main")
    assert base.commit == repo.run("rev-parse", "HEAD~1").strip()
    assert new.commit == repo.run("rev-parse", "HEAD").strip()
    assert (base.label, new.label, warnings) == (
        f"base (HEAD~1, {base.commit[:9]})",
        f"new (main, {new.commit[:9]})",
        (),
    )


def test_base_is_where_the_branch_left(repo):
    parted = repo.run("rev-parse", "HEAD").strip()
    repo.run("checkout", "-q", "-b", "topic")
    repo.commit("topic: more", {"a.txt": "1"})
    repo.run("checkout", "-q", "main")
    repo.commit("main: goes on", {"b.txt": "1"})
    repo.run("checkout", "-q", "topic")
    (base, new), _ = sides()
    assert (base.commit, base.ref) == (parted, "main")
    assert (new.commit, new.label) == ("", "new (the working tree)")


def test_origins_default_branch_comes_before_main(repo, tmp_path, monkeypatch):
    git(tmp_path, "init", "-q", "--bare", "-b", "trunk", "origin.git")
    first = repo.run("rev-parse", "HEAD~1").strip()
    repo.run("push", "-q", str(tmp_path / "origin.git"), f"{first}:refs/heads/trunk")
    git(tmp_path, "clone", "-q", "origin.git", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    (tmp_path / "clone" / "new.txt").write_text("x")
    (base, new), _ = sides()
    assert (base.commit, base.ref) == (first, "origin/trunk")
    assert new.changed == 1


@pytest.mark.parametrize("prepare", ["nothing new", "no branch", "empty", "unrelated"])
def test_what_is_not_known_is_said(repo, prepare, tmp_path, monkeypatch):
    if prepare == "nothing new":
        got = "nothing new since main"
    elif prepare == "no branch":
        repo.run("branch", "-m", "topic")
        got = "no branch main or master"
    elif prepare == "empty":
        repository(tmp_path / "empty")
        monkeypatch.chdir(tmp_path / "empty")
        got = "no commit yet"
    else:
        repo.run("checkout", "-q", "--orphan", "other")
        repo.commit("begin anew", {"a.txt": "1"})
        got = "no common commit"
    with pytest.raises(UsageError, match=got):
        sides()


def test_a_bare_repository_has_no_work_tree(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    monkeypatch.chdir(tmp_path / "bare.git")
    with pytest.raises(UsageError, match=r"^measure: .*work tree"):
        sides("HEAD", "HEAD")


def test_a_commit_is_written_as_a_checkout_has_it(repo, tmp_path):
    """What ``git archive`` would leave out or change is there as it is."""
    files = {
        ".gitattributes": "testdata export-ignore\nversion.go export-subst\n",
        "testdata/big.txt": "data\n",
        "version.go": "package shop // $Format:%H$\n",
        "a b/ü.txt": "x",
    }
    repo.commit("more", files)
    os.symlink("go.mod", repo.folder / "link")
    repo.commit("link", {"script.sh": "#!/bin/sh\n"})
    (repo.folder / "script.sh").chmod(0o755)
    repo.commit("mode", {})
    before = state(repo.folder)
    (base, _), _ = sides("HEAD", "HEAD")
    ours, texts, warnings = written(base, tmp_path / "out")
    assert state(repo.folder) == before
    assert (ours, warnings) == (str(tmp_path / "out"), [])
    got = {
        str(p.relative_to(repo.folder)): p.read_bytes()
        for p in repo.folder.rglob("*")
        if p.is_file() and ".git" not in p.relative_to(repo.folder).parts
    }
    assert texts == got
    assert (tmp_path / "out" / "link").is_symlink()
    assert os.access(tmp_path / "out" / "script.sh", os.X_OK)


def test_hooks_and_settings_of_the_user_do_nothing(repo, tmp_path):
    hook = repo.folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    repo.run("config", "core.splitIndex", "true")
    repo.run("config", "core.untrackedCache", "true")
    before = state(repo.folder)
    (base, new), _ = sides("HEAD~1")
    written(base, tmp_path / "a")
    written(new, tmp_path / "b")
    assert state(repo.folder) == before
    assert not (tmp_path / "ran").exists()


def test_the_work_tree_is_copied_as_it_is(repo, tmp_path):
    """Staged, changed, new and deleted files; what is ignored is not there."""
    repo.commit("more", {".gitignore": "*.out\n", "gone.go": "package shop\n"})
    (repo.folder / "gone.go").unlink()
    (repo.folder / "store" / "price.go").write_text("package store // staged\n")
    repo.run("add", "store/price.go")
    (repo.folder / "store" / "price.go").write_text("package store // now\n")
    repo.write({"store/new.go": "package store\n", "x.out": "no"})
    before = state(repo.folder)
    (_, new), _ = sides("HEAD")
    _, texts, _ = written(new, tmp_path / "out")
    assert state(repo.folder) == before
    assert set(texts) == {*FILES, ".gitignore", "store/new.go"}
    assert texts["store/price.go"] == b"package store // now\n"
    assert new.changed == 3


def test_uncommitted_changes_next_to_two_refs_are_a_warning(repo):
    (repo.folder / "new.txt").write_text("x")
    _, warnings = sides("HEAD~1", "HEAD")
    assert len(warnings) == 1
    assert warnings[0].startswith("1 file of the working tree")


@pytest.mark.slow
def test_ours_is_the_folder_of_the_same_path(repo, tmp_path, monkeypatch):
    monkeypatch.chdir(repo.folder / "store")
    (base, new), _ = sides("HEAD~1")
    assert written(base, tmp_path / "a")[0] == str(tmp_path / "a" / "store")
    assert written(new, tmp_path / "b")[0] == str(tmp_path / "b" / "store")
    repo.commit("cmd", {"cmd/main.go": "package main\n"})
    monkeypatch.chdir(repo.folder / "cmd")
    (base, _), _ = sides("HEAD~1")
    with pytest.raises(UsageError, match="has no folder cmd"):
        written(base, tmp_path / "c")


@pytest.fixture
def with_submodule(repo, tmp_path):
    """Return the repository with another one in it, with a newer commit at HEAD."""
    other = repository(tmp_path / "other")
    other.commit("one", {"text.txt": "one\n"})
    subprocess.run(
        ["git", "-C", str(repo.folder), "-c", "protocol.file.allow=always",
         "submodule", "--quiet", "add", str(other.folder), "sub"],
        check=True, capture_output=True, env={**os.environ, **SETTINGS},
    )  # fmt: skip
    repo.commit("sub", {})
    inner = repo.folder / "sub"
    (inner / "text.txt").write_text("two\n")
    git(inner, "commit", "-qam", "two")
    repo.commit("sub: newer", {})
    return repo


@pytest.mark.slow
def test_submodules_have_each_sides_commit(with_submodule, tmp_path):
    (with_submodule.folder / "sub" / "text.txt").write_text("three\n")
    before = state(with_submodule.folder)
    (base, new), _ = sides("HEAD~1")
    _, first, _ = written(base, tmp_path / "a")
    _, last, warnings = written(new, tmp_path / "b")
    assert (first["sub/text.txt"], last["sub/text.txt"]) == (b"one\n", b"three\n")
    assert warnings == []
    (base, new), _ = sides("HEAD~1", "HEAD")
    _, last, _ = written(new, tmp_path / "c")
    assert last["sub/text.txt"] == b"two\n"
    assert state(with_submodule.folder) == before


@pytest.mark.slow
def test_a_submodule_that_is_not_here_is_a_warning(
    with_submodule, tmp_path, monkeypatch
):
    git(tmp_path, "clone", "-q", str(with_submodule.folder), "clone")
    monkeypatch.chdir(tmp_path / "clone")
    (base, new), _ = sides("HEAD~1")
    for side, place in ((base, "a"), (new, "b")):
        _, texts, (warning,) = written(side, tmp_path / place)
        assert "sub/text.txt" not in texts
        assert "submodule sub is left empty" in warning
        assert "git submodule update --init" in warning


def test_a_folder_that_became_a_link_is_not_copied_from(repo, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "price.go").write_text("package secret\n")
    repo.commit("more", {"a/b/deep.go": "package b\n"})
    for name in ("store", "a"):
        shutil.rmtree(repo.folder / name)
        (repo.folder / name).symlink_to(outside)
    (_, new), _ = sides("HEAD~1")
    _, texts, _ = written(new, tmp_path / "out")
    assert b"package secret\n" not in [
        text for path, text in texts.items() if not path.startswith(("store", "a/"))
    ]
    # A link stays one, and nothing is written to where it leads.
    for name in ("store", "a"):
        assert (tmp_path / "out" / name).is_symlink()
    assert [path.name for path in outside.iterdir()] == ["price.go"]
    assert (outside / "price.go").read_text() == "package secret\n"
