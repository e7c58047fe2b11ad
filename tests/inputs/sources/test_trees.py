"""Which file of a tree a function of a profile is in, and which is not."""

from __future__ import annotations

import os

import pytest

from pprofdiff.inputs.sources.git import Repository
from pprofdiff.inputs.sources.trees import FolderTree, GitTree, place_in
from tests.repository import repository

FILES = {
    "go.mod": "module example.com/shop/v2\n",
    "server.go": "package shop\n",
    "main.go": "package main\n",
    "http/server.go": "package http\n",
    "cmd/shop/main.go": "package main\n",
    "vendor/example.org/lib/a.go": "package lib\n",
    "tools/go.mod": "module example.com/tools\n",
    "tools/lint/lint.go": "package lint\n",
}
CASES = [
    # Built anywhere, the tail of the path and the package decide.
    ("example.com/shop/v2.Serve", "/home/u/shop/server.go", "server.go"),
    ("example.com/shop/v2/http.Serve", "/home/u/x/http/server.go", "http/server.go"),
    ("example.com/shop/v2_test.TestServe", "/b/shop/server.go", "server.go"),
    # With -trimpath the path is the package's.
    ("example.com/shop/v2/http.(*S).Do", "example.com/shop/v2/http/server.go", "http/server.go"),
    ("main.main", "example.com/shop/v2/cmd/shop/main.go", "cmd/shop/main.go"),
    ("main.run", "/home/u/shop/cmd/shop/main.go", "cmd/shop/main.go"),
    # Vendored packages, and modules below the root.
    ("example.org/lib.F", "/b/shop/vendor/example.org/lib/a.go", "vendor/example.org/lib/a.go"),
    ("example.org/lib.F", "example.org/lib@v1.2.3/a.go", "vendor/example.org/lib/a.go"),
    ("example.com/tools/lint.F", "/b/shop/tools/lint/lint.go", "tools/lint/lint.go"),
    # A closure of a function inlined into another package of its module.
    ("example.com/shop/v2.(*S).Do.run.func1", "/b/shop/cmd/shop/main.go", "cmd/shop/main.go"),
    ("example.com/other.(*S).Do.run.func1", "/b/shop/cmd/shop/main.go", None),
    ("net/http.(*Server).Serve.func1", "/usr/local/go/src/net/http/server.go", None),
    # Files of the same name that are not of this tree.
    ("net/http.(*Server).Serve", "/usr/local/go/src/net/http/server.go", None),
    ("net/http.(*Server).Serve", "net/http/server.go", None),
    ("example.org/http.Serve", "/home/u/go/pkg/mod/example.org/http@v1.0.0/server.go", None),
    ("example.com/shop/http.Serve", "/home/u/x/http/server.go", None),
    ("main.main", "example.com/other/cmd/other/main.go", None),
    ("example.com/shop/v2.Serve", "/b/../shop/server.go", None),
    ("example.com/shop/v2.Serve", "", None),
    ("example.com/shop/v2.Serve", "/b/nowhere.go", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Return the files as a folder, and as a commit of a repository."""
    repo = repository(tmp_path_factory.mktemp("trees") / "repo")
    commit = repo.commit("begin", FILES)
    return {
        "folder": FolderTree(str(repo.folder)),
        "git": GitTree(Repository(str(repo.folder)), commit),
    }


@pytest.mark.parametrize("kind", ["git", "folder"])
@pytest.mark.parametrize(("function", "file", "place"), CASES)
def test_the_place_of_a_file(trees, kind, function, file, place):
    assert place_in(trees[kind], function, file) == place


def test_without_modules_a_package_is_a_folder_below_gopath(tmp_path):
    repo = repository(tmp_path / "src")
    repo.write({"shop/http/server.go": "package http\n"})
    tree = FolderTree(str(repo.folder))
    file = "/home/u/go/src/example.com/shop/http/server.go"
    assert place_in(tree, "example.com/shop/http.Serve", file) == "shop/http/server.go"
    assert place_in(tree, "example.com/other/http.Serve", file) is None


@pytest.mark.slow
def test_what_is_no_regular_file_is_not_there(tmp_path):
    repo = repository(tmp_path / "repo")
    repo.write({"go.mod": "module m\n", "real.go": "package m\n"})
    (repo.folder / "link.go").symlink_to("real.go")
    commit = repo.commit("links", {"folder.go/x": "x"})
    tree = GitTree(Repository(str(repo.folder)), commit)
    assert place_in(tree, "m.F", "/b/real.go") == "real.go"
    assert place_in(tree, "m.F", "/b/link.go") is None
    assert place_in(tree, "m.F", "/b/folder.go") is None


@pytest.fixture
def escaping(tmp_path):
    """Return a folder with links out of it, and what is outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.go").write_text("package secret\n")
    folder = tmp_path / "tree"
    (folder / "own").mkdir(parents=True)
    (folder / "own" / "a.go").write_text("package own\n")
    (folder / "link.go").symlink_to(outside / "secret.go")
    (folder / "linked").symlink_to(outside)
    (folder / "again").symlink_to(folder / "own")
    return FolderTree(str(folder))


@pytest.mark.parametrize(
    "path", ["../outside/secret.go", "own/../../outside/secret.go", "link.go",
             "linked/secret.go", "/etc/hostname", "\0", "own"],
)  # fmt: skip
def test_what_is_outside_of_a_folder_is_not_there(escaping, path):
    assert not escaping.has(path)
    assert escaping.read([path], 1000) == [None]


def test_what_a_link_leads_to_inside_is_there(escaping):
    assert escaping.read(["again/a.go"], 1000) == [b"package own\n"]
    assert escaping.siblings("linked/secret.go") == ()
    assert escaping.siblings("own/../../outside/secret.go") == ()
    assert escaping.siblings("again/a.go") == ("again/a.go",)


@pytest.mark.parametrize(
    ("function", "file"),
    [
        ("x/../../outside.F", "/b/x/secret.go"),
        ("../outside.F", "secret.go"),
        ("main.F", "/b/link.go"),
        ("linked.F", "/b/linked/secret.go"),
    ],
)
def test_no_name_leads_out_of_a_folder(escaping, function, file):
    assert place_in(escaping, function, file) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_a_file_of_the_system_is_not_read():
    # Reading /proc/kmsg, which looks alike, waits for ever.
    tree = FolderTree("/proc/self")
    assert not tree.has("status")
    assert tree.read(["status"], 100_000) == [None]
