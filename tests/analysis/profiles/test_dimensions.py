"""Who of the program is behind a library's call site, against a plain reading."""

import re
from collections import Counter
from pathlib import Path

import pytest

from pprofdiff import api
from pprofdiff.analysis.profiles.dimensions import by_leaf
from pprofdiff.goruntime.names import is_standard_library, package_of

DATA = Path(__file__).parents[2] / "data"
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")


def owned(name):
    package = package_of(name)
    return bool(package) and not is_standard_library(package)


# What stacks of the runtime alone end in, by these names too: their leaf called it.
ALLOCATOR = re.compile(
    r"runtime\.(?:mallocgc|newobject|newarray|makeslice|growslice)"
    r"|internal/bytealg\.MakeNoZero|internal/runtime/maps\.new(?:object|array)"
    r"|(?:reflect|internal/reflectlite)\.(?:unsafe_New|growslice)"
)


def costs_by_leaf_and_owner(profile, column):
    """Return {(leaf, nearest frame of the program or the leaf): cost} of a profile."""
    of_heap = any(one.type.startswith("alloc_") for one in profile.sample_types)
    frames = profile.frames()
    names = profile.function_names()
    functions = profile.locations.line_function[frames.line].tolist()
    bounds = frames.offsets.tolist()
    found = Counter()
    for i, value in enumerate(profile.values[:, column].tolist()):
        stack = [names[f] for f in functions[bounds[i] : bounds[i + 1]]]
        if of_heap:
            stack = [name for name in stack if not ALLOCATOR.match(name)] or stack
        if stack:
            found[stack[0], next(filter(owned, stack), stack[0])] += value
    return found


@pytest.mark.parametrize("kind", ["allocs", "heap", "cpu"])
@pytest.mark.parametrize("story", STORIES)
def test_each_owner_has_its_own_bytes(story, kind):
    """A leaf that several functions call is not given to one of them."""
    diff = api.diff(
        DATA / story / "base" / f"{kind}.pb.gz", DATA / story / "new" / f"{kind}.pb.gz"
    ).data
    base, new = (
        costs_by_leaf_and_owner(side.profile, column)
        for side, column in (
            (diff.base, diff.base_column),
            (diff.new, diff.new_column),
        )
    )
    names, sums = diff.paired_functions.names, by_leaf(diff.ledger)
    found = {
        (names[leaf], names[owner]): (old, fresh)
        for leaf, owner, old, fresh in zip(
            *(
                column.tolist()
                for column in (sums["leaf"], sums["place"], sums.base, sums.new)
            ),
            strict=True,
        )
    }
    was = {n: b for n, b in zip(names, _base_names(diff), strict=True) if b}
    assert found == {
        pair: (base[tuple(was.get(n, n) for n in pair)], new[pair]) for pair in {*found}
    }
    totals = tuple(map(sum, zip(*found.values(), strict=True)))
    assert totals == (sum(base.values()), sum(new.values()))


def _base_names(diff):
    """Return each function's name in the base, where that is another one."""
    table = diff.table("functions")
    known = dict(zip(table.names, table.base_names, strict=True))
    return [known.get(name) for name in diff.paired_functions.names]


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
