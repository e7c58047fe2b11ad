"""Real captures of one program on two builds, for the oracle of identities."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pprofdiff.inputs.decompression import decompress
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.profile import Profile

TESTS = Path(__file__).parents[1]


class Pair(NamedTuple):
    """Two folders of captures of one program; `same_build` if one binary made both."""

    name: str
    program: str
    base: Path
    new: Path
    same_build: bool = False


# Pairs of tests/field with 40 or more functions outside the runtime on both sides, by
# program. Those that the field test keeps aside are not among them. Of a program with
# several pairs that differ in flags alone (`web`), two are taken.
_FIELD = {
    "fresh-cel-cache-small": "admission",
    "fresh-minify-same": "assets",
    "fresh-flac-dearer": "audio",
    "zap-buffered": "audit",
    "network-wait-added-chi": "backend",
    "network-wait-gone-chi": "backend",
    "blog-cache": "blog",
    "sync-gone-bbolt": "bolt",
    "gogc-raised-buntdb": "bunt",
    "diff-lines": "diffs",
    "frames-buffered": "frames",
    "lock-held-longer-gin": "ginlock",
    "goroutine-leak-gin": "ginpark",
    "json-standard": "ingest",
    "fresh-memdb-write-txn": "inventory",
    "go120-rsa": "jwt",
    "fresh-lua-dearer": "luarules",
    "goldmark-pgo": "markdown",
    "closures-middleware": "middleware",
    "paced-unknown": "paced",
    "fresh-prometheus-labels": "pages",
    "protobuf-apiv2": "protobuf",
    "fresh-dns-in-sequence": "resolver",
    "fresh-goja-same": "script",
    "go121-sha256": "sha256",
    "fresh-cbor-maps": "telemetry",
    "connections-not-reused-chi": "web",
    "gogc-lowered-chi": "web",
    "heap-leak-chi": "webleak",
    "zstd-asm": "zstd",
}
_STORIES = ("health-check", "node-pool", "rss-search", "syncpool", "zstd")
_RELEASES = tuple(range(19, 28))
_APART = ((19, 23), (20, 27), (22, 26))

# One binary a pair, by tests/field/pairs/*/pair.toml and tests/data/README.md.
_ONE_BUILD = {
    "same-busy-machine": "web",
    "same-gc-heavy": "bunt",
    "same-trace": "ginpark",
    "same-unlike-durations": "locks",
}

# Programs whose pairs stay unseen while pairing is worked on: the six with the lowest
# SHA-256 of their names. `syncpool` is not drawn, as all Go releases are measured with
# it, nor is a program that a table of truths names (tests/identity/truths.toml).
ASIDE = ("backend", "telemetry", "health-check", "script", "diffs", "protobuf")
NOT_DRAWN = ("syncpool", "zstd", "middleware", "markdown")


def hash_of(program: str) -> str:
    """Return what decides whether a program is kept aside."""
    return hashlib.sha256(program.encode()).hexdigest()


def _pairs() -> tuple[Pair, ...]:
    data, field = TESTS / "data", TESTS / "field" / "pairs"

    def release(minor: int) -> Path:
        return data / "versions" / f"go1.{minor}"

    alike = {"gogc-raised-buntdb", "gogc-lowered-chi"}
    pairs = [
        Pair(name, program, field / name / "base", field / name / "new", name in alike)
        for name, program in _FIELD.items()
    ]
    pairs += [
        Pair(f"story-{n}", n, data / n / "base", data / n / "new") for n in _STORIES
    ]
    pairs += [
        Pair(f"go1.{a}-go1.{b}", "syncpool", release(a), release(b))
        for a, b in (*pairwise(_RELEASES), *_APART)
    ]
    return tuple(pairs)


PAIRS = _pairs()
"""Pairs whose functions are hidden, those kept aside included."""

SAME_BUILD = (
    *(
        Pair(name, program, folder / "base", folder / "new", same_build=True)
        for name, program in _ONE_BUILD.items()
        for folder in (TESTS / "field" / "pairs" / name,)
    ),
    *(
        Pair(
            f"unchanged-{a}-{b}",
            "syncpool",
            TESTS / "data" / "unchanged" / f"run{a}",
            TESTS / "data" / "unchanged" / f"run{b}",
            same_build=True,
        )
        for a, b in ((1, 2), (3, 4), (5, 6), (7, 8))
    ),
    *(pair for pair in PAIRS if pair.same_build),
)
"""Pairs of captures of one binary: every function is the one of its name."""


def load(folder: Path) -> tuple[Profile, ...]:
    """Return a side's CPU profile, and its profile of allocations if it has one."""
    paths = (folder / "cpu.pb.gz", folder / "allocs.pb.gz")
    return tuple(
        decode(decompress(path.read_bytes(), str(path)), str(path))
        for path in paths
        if path.exists()
    )


def cpu_samples(profiles: tuple[Profile, ...]) -> dict[str, int]:
    """Return in how many CPU samples each function stands, however often in one."""
    profile = profiles[0]
    names = profile.function_names()
    known: dict[str, int] = {}
    number = np.array([known.setdefault(n, len(known)) for n in names], np.int64)
    frames = profile.frames()
    function = profile.locations.line_function[frames.line]
    sample = np.repeat(np.arange(len(profile)), np.diff(frames.offsets))
    has = function >= 0
    once = np.unique(sample[has] * len(known) + number[function[has]])
    weight = profile.values[once // len(known), 0]
    counts = np.zeros(len(known), np.int64)
    np.add.at(counts, once % len(known), weight)
    return dict(zip(known, counts.tolist(), strict=True))
