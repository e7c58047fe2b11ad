"""A module with benchmarks in a repository, and all bytes that a repository has."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.repository import STORE, repository

MODULE = "module example.com/shop\n\ngo 1.24\n"
BENCHMARKS = """package store

import "testing"

var sum uint64

func BenchmarkPrice(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sum += Price(i)
	}
}

func BenchmarkList(b *testing.B) {
	for _, size := range []string{"one", "two"} {
		b.Run(size, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				sum += Price(len(make([]byte, 100+i%7)))
			}
		})
	}
}
"""
FILES = {
    "go.mod": MODULE,
    "store/price.go": STORE,
    "store/price_test.go": BENCHMARKS,
}
SLOWER = STORE.replace("1_250", "5_000")


def shop(folder, **more):
    """Return a repository whose second commit makes store.Price cost four times as much."""
    repo = repository(folder)
    repo.commit("begin", FILES | more)
    repo.commit("store: price thoroughly", {"store/price.go": SLOWER})
    return repo


def state(folder):
    """Return a digest of every file of a repository, `.git` too, by its path.

    In .git are refs, index, stash, worktrees, and each object.
    """
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(Path(folder).rglob("*"))
    }
