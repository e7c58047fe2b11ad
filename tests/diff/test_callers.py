"""Who of the program is behind a library's call site, against a plain reading."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from pprofdiff import api
from pprofdiff.diff.callers import callers_of_leaves
from pprofdiff.goruntime.names import is_standard_library, package_of

DATA = Path(__file__).parents[1] / "data"
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")


def owned(name):
    package = package_of(name)
    return bool(package) and not is_standard_library(package)


def costs_by_leaf_and_owner(profile, column):
    """Return {leaf: {nearest frame of the program, or None: cost}} of one profile."""
    frames = profile.frames()
    names = profile.function_names()
    functions = profile.locations.line_function[frames.line].tolist()
    bounds = frames.offsets.tolist()
    found = defaultdict(lambda: defaultdict(int))
    for i, value in enumerate(profile.values[:, column].tolist()):
        stack = [names[f] for f in functions[bounds[i] : bounds[i + 1]]]
        if stack and value:
            found[stack[0]][next(filter(owned, stack), None)] += value
    return found


@pytest.mark.parametrize("story", STORIES)
def test_callers_of_allocating_leaves(story):
    diff = api.diff(
        DATA / story / "base" / "allocs.pb.gz", DATA / story / "new" / "allocs.pb.gz"
    )
    base, new = (
        costs_by_leaf_and_owner(side.profile, column)
        for side, column in (
            (diff.base, diff.base_column),
            (diff.new, diff.new_column),
        )
    )
    found = callers_of_leaves(diff)
    assert found
    for leaf in sorted({*base, *new}):
        costs = {
            owner: max(base[leaf][owner], new[leaf][owner])
            for owner in {*base[leaf], *new[leaf]}
        }
        most = max(costs.values())
        likely = {owner for owner, cost in costs.items() if cost == most}
        if leaf in found:
            assert found[leaf] in likely
        else:
            assert likely & {leaf, None}


@pytest.mark.parametrize("story", STORIES)
def test_callers_in_blame_are_of_the_program(story):
    diff = api.diff(
        DATA / story / "base" / "cpu.pb.gz", DATA / story / "new" / "cpu.pb.gz"
    )
    rows = diff.blame
    own = rows["function"].map(owned)
    assert own.any()
    assert not own.all()
    assert (rows["caller"][own] == rows["function"][own]).all()
    assert rows["caller"][~own].dropna().map(owned).all()
