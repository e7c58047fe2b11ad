"""A Go module in a git repository with a history, and profiles of two of its commits."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

# Profiles of `planted`.
KEPT = Path(__file__).parent / "data" / "planted"
SETTINGS = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}

MAIN = """package main

import (
	"os"
	"runtime/pprof"

	"example.com/shop/store"
)

func main() {
	out, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		panic(err)
	}
	if len(os.Args) > 2 {
		store.Rounds = 1
	}
	run()
	pprof.StopCPUProfile()
	out.Close()
}

var sum uint64

func run() {
	for op := range 40_000 {
		sum += store.Price(op)
		sum += rest(op)
	}
}

//go:noinline
func rest(op int) uint64 {
	h := uint64(op)
	for i := range 10_000 {
		h = h*31 + uint64(i)
	}
	return h
}
"""

STORE = """// Package store has prices.
package store

// Rounds is how much there is to do.
var Rounds = 4

// Price returns what an item costs.
//
//go:noinline
func Price(item int) uint64 {
	price := uint64(item)
	for i := range 1_250 * Rounds {
		price = price*17 + uint64(i)
	}
	return price
}
"""
SLOWER = STORE.replace(
    "	return price\n",
    "	for i := range 5_000 * Rounds {\n		price = price*13 + uint64(i)\n	}\n	return price\n",
)


class Repo(NamedTuple):
    """A repository; `run` runs git in it."""

    folder: Path

    def run(self, *words):
        """Return what a git command prints."""
        return git(self.folder, *words)

    def write(self, files):
        """Write files by their paths."""
        for path, text in files.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")

    def commit(self, message, files):
        """Commit files, and return the commit's id."""
        self.write(files)
        self.run("add", "-A")
        self.run("commit", "-q", "-m", message)
        return self.run("rev-parse", "HEAD").strip()


def git(folder, *words):
    """Return what a git command prints, with settings of nobody's."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True, text=True, check=True, env={**os.environ, **SETTINGS},
    )  # fmt: skip
    return done.stdout


def repository(folder):
    """Return a new, empty repository."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return Repo(folder)


def built(folder, program, package=".", *flags):
    """Build a package of a folder."""
    subprocess.run(
        ["go", "build", *flags, "-o", str(program), package],
        cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, "GOFLAGS": "-buildvcs=false", "GOWORK": "off"},
    )  # fmt: skip


def measured(program, *words):
    """Run a program."""
    subprocess.run([str(program), *map(str, words)], check=True, capture_output=True)


class Planted(NamedTuple):
    """A repository in which one commit of many made a function slower.

    `base` and `new` are profiles, `refs` the commits of both builds, and `culprit` is
    the one that did it. `faster` is a profile of new with a quarter of the input.
    """

    repo: Repo
    base: Path
    new: Path
    faster: Path
    refs: tuple[str, str]
    culprit: str

    @classmethod
    def of(cls, texts):
        """Return it from what its JSON reads as."""
        (repo,), base, new, faster, refs, culprit = texts
        profiles = map(Path, (base, new, faster))
        return cls(Repo(Path(repo)), *profiles, tuple(refs), culprit)

    @property
    def words(self):
        """What the command line takes of it."""
        span = "..".join(self.refs)
        return [str(self.base), str(self.new), f"--git={span}", "--work=40000:40000"]


def planted(folder):
    """Return a history of 24 commits whose 14th makes store.Price slower.

    Its profiles are kept: `captured` makes them.
    """
    history = History(folder / "repo")
    names = "base.pb", "new.pb", "faster.pb"
    refs = history.first, history.last
    profiles = (KEPT / name for name in names)
    return Planted(history.repo, *profiles, refs, history.culprit)


def captured():
    """Make the profiles again that `planted` has."""
    with tempfile.TemporaryDirectory() as folder:
        History(Path(folder) / "repo").measure(Path(folder), KEPT)


class History:
    """24 commits whose 14th changes store.Price."""

    def __init__(self, folder):
        """Make the repository."""
        self.repo = repo = repository(folder)
        files = {"go.mod": "module example.com/shop\n\ngo 1.24\n", "main.go": MAIN}
        self.first = repo.commit("shop: begin", {**files, "store/price.go": STORE})
        text = STORE
        for number in range(2, 25):
            if number == 14:
                text = SLOWER
                self.culprit = repo.commit(
                    "store: price twice, to be sure", {"store/price.go": text}
                )
            elif number in (5, 19):
                text = text.replace(
                    "package store\n", f"package store\n\n// Note {number}.\n"
                )
                repo.commit(f"store: note {number}", {"store/price.go": text})
            else:
                repo.commit(f"docs: page {number}", {f"docs/{number}.md": "words\n"})
        self.last = repo.run("rev-parse", "HEAD").strip()

    def measure(self, folder, out):
        """Run the first and the last commit, the last with less input as well, into `out`.

        No profile names a folder of this machine.
        """
        paths = [out / f"{name}.pb" for name in ("base", "new", "faster")]
        for commit, program in ((self.first, "base"), (self.last, "new")):
            self.repo.run("checkout", "-q", commit)
            built(self.repo.folder, folder / program, ".", "-trimpath")
        self.repo.run("checkout", "-q", "main")
        measured(folder / "base", paths[0])
        measured(folder / "new", paths[1])
        measured(folder / "new", paths[2], "less")


def go(*words):
    """Run the go command; return what it prints."""
    command = ["go", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def go_env(name):
    """Return one of Go's settings."""
    return go("env", name).strip()
