"""Five investigations: the first finding names the cause; unchanged builds have none."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations, permutations, product
from typing import NamedTuple

import pytest

from tests.examples import daily

STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
MODES = ("a second", "by operation")
TOLD = list(product(STORIES, MODES))
PAIRS = list(combinations(range(1, 9), 2))
# One program and one Go, captured on two occasions.
SAME = ("versions/go1.26", "syncpool/base")


class Cause(NamedTuple):
    """What the first finding must be, from base to new and from new to base."""

    id: str
    title: str
    back_id: str
    back_title: str


CAUSES = {
    "syncpool": Cause(
        "gc-frequency",
        r"GC runs (1\.7|2\.0)\d× as often( per op)?: the mean live heap is 0\.4\d× as large",
        "gc-frequency",
        r"GC runs 0\.\d+× as often( per op)?: the mean live heap is 2\.\d+× as large",
    ),
    "rss-search": Cause("place", r"feed\.matches uses (89|90)% less CPU", "place", r"feed\.matches uses (9\.\d+|10\.0)× the CPU"),
    "zstd": Cause("allocation", r".*zstd\.encoderOptions\.encoder", "allocation", r".*zstd\.encoderOptions\.encoder"),
    "health-check": Cause("place", r"debuglog\.\(\*Logger\)\.Debug no longer takes CPU", "place", r"debuglog\.\(\*Logger\)\.Debug now takes"),
    "node-pool": Cause(
        "gc-cycle-cost",
        r"CPU per GC cycle is 0\.02\d× .* live heap of 2\d\d → 2\d\d MiB: it holds 3,\d+,\d+ → \d\d,\d+",
        "gc-cycle-cost",
        r"CPU per GC cycle is \d\d\.\d× .*: it holds \d\d,\d+ → 3,\d+,\d+ objects",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Return a function: two folders and further words in, the JSON report out."""
    from pprofdiff.cli.main import main

    path = tmp_path_factory.mktemp("json") / "x.json"

    @cache
    def run(base, new, *words):
        sides = [f"base={base}", f"new={new}"]
        assert main([*sides, "-q", f"-o={path}", *words]) == 0
        return json.loads(path.read_text("utf-8"))

    return run


@pytest.fixture(scope="module")
def story(report, load_story):
    """Return a function: a story, mode and direction in, its JSON report out."""

    def run(name, mode, *, back=False):
        held = load_story(name)
        seconds = [
            json.loads((p / "work.json").read_text("utf-8"))["seconds"]
            for p in (held.base, held.new)
        ]
        rates = [f"{w / s:.6g}" for w, s in zip(held.work, seconds, strict=True)]
        places = [held.base, held.new]
        if back:
            rates.reverse()
            places.reverse()
        words = [f"--rps={':'.join(rates)}"] if mode == "by operation" else []
        return report(*places, *words)

    return run


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STORIES)
def test_the_first_finding_names_the_cause(story, name, mode):
    first = story(name, mode)["findings"][0]
    assert first["id"] == CAUSES[name].id
    assert re.match(CAUSES[name].title, first["title"]), first["title"]
    assert first["severity"] == "major"
    assert first["direction"] == ("worse" if name == "syncpool" else "better")


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), daily(TOLD, TOLD[::3]))
def test_and_backwards_the_opposite(story, name, mode):
    first = story(name, mode, back=True)["findings"][0]
    assert first["id"] == CAUSES[name].back_id
    assert re.match(CAUSES[name].back_title, first["title"]), first["title"]
    assert first["direction"] == ("better" if name == "syncpool" else "worse")


def matter(found):
    """Return what is said to matter."""
    return [(f["severity"], f["title"]) for f in found if f["severity"] != "info"]


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), daily(PAIRS, PAIRS[::3]))
def test_unchanged_builds_have_none(report, data_folder, one, other):
    sides = [data_folder / "unchanged" / f"run{run}" for run in (one, other)]
    assert matter(report(*sides)["findings"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--rps=829537:829537",)])
@pytest.mark.parametrize("order", list(permutations(SAME)))
def test_one_build_captured_twice_has_none(report, data_folder, order, words):
    folders = [data_folder / path for path in order]
    assert matter(report(*folders, *words)["findings"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_a_capture_and_itself_have_none(report, load_story, name):
    held = load_story(name)
    found = report(held.base, held.base)["findings"]
    assert matter(found) == []
    assert all(f["explains_scaled"] in (None, 0) for f in found)


@pytest.mark.slow
def test_each_that_adds_nothing_stands_behind_what_it_is_part_of(story):
    for name in STORIES:
        found = story(name, "by operation")["findings"]
        claimed = [f for f in found if f["explains_scaled"] is not None]
        causes = [f for f in claimed if not f["detail"]]
        assert claimed.index(causes[0]) == 0
        sizes = [abs(f["explains_scaled"]) for f in claimed if f["detail"]]
        assert all(size <= abs(claimed[0]["explains_scaled"]) for size in sizes)
