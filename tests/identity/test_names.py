"""Pairing names of two builds: one to one, nothing lost, nothing merged."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.profiles.rows import (
    Granularity,
    pair_side_rows,
    side_rows,
)
from pprofdiff.identity.deciding import identify
from pprofdiff.identity.rows import pair_names
from tests.analysis.building import given, profile, profiles

NAMES = st.lists(st.text("abc", max_size=3), unique=True, max_size=12)


def looser(base, new, *keys):
    """Return how names are paired if looser keys are, too; an empty key is none."""

    def of(names, key):
        return lambda row: key(names[row]) or None

    return pair_names(base, new, [(of(base, key), of(new, key)) for key in keys])


def first(name):
    """Return a name's first letter."""
    return name[:1]


def pairs(alignment, base, new):
    """Return (base name, new name) of each row, None where a side has none."""
    return [
        (base[b] if b >= 0 else None, new[n] if n >= 0 else None)
        for b, n in zip(
            alignment.base_row.tolist(), alignment.new_row.tolist(), strict=True
        )
    ]


def check(alignment, base, new):
    """Check what holds for every alignment; return its pairs."""
    rows = pairs(alignment, base, new)
    assert sorted(b for b, _ in rows if b is not None) == sorted(base)
    assert sorted(n for _, n in rows if n is not None) == sorted(new)
    assert all(row != (None, None) for row in rows)
    assert {(name, name) for name in set(base) & set(new)} <= set(rows)
    back = alignment.union_of_base(), alignment.union_of_new()
    assert [rows[i][0] for i in back[0].tolist()] == base
    assert [rows[i][1] for i in back[1].tolist()] == new
    return rows


@given(NAMES, NAMES)
def test_every_name_once_and_equal_names_together(base, new):
    rows = check(pair_names(base, new), base, new)
    assert {r for r in rows if None not in r} == {(n, n) for n in set(base) & set(new)}


@given(NAMES, NAMES)
def test_looser_keys_pair_only_what_is_single(base, new):
    rows = looser(base, new, first, lambda name: str(len(name)))
    for b, n in check(rows, base, new):
        if b is not None and n is not None and b != n:
            assert b not in new
            assert n not in base
            assert first(b) == first(n) != "" or len(b) == len(n)


@given(NAMES, NAMES)
def test_the_other_way_round_pairs_the_same(base, new):
    there, back = looser(base, new, first), looser(new, base, first)
    assert set(pairs(there, base, new)) == {(b, a) for a, b in pairs(back, new, base)}


@pytest.mark.parametrize(
    ("base", "new", "paired"),
    [
        (["a1"], ["a2"], {("a1", "a2")}),
        (["a1", "a2"], ["a3"], set()),
        (["a1"], ["a2", "a3"], set()),
        (["a1", "a2"], ["a3", "a4"], {("a1", "a3"), ("a2", "a4")}),
    ],
)
def test_a_choice_is_left_alone(base, new, paired):
    rows = pairs(looser(base, new, first), base, new)
    assert {row for row in rows if None not in row} == paired


@given(NAMES, NAMES, st.data())
def test_columns_land_on_their_rows(base, new, data):
    column = st.integers(-(1 << 63), (1 << 63) - 1)
    values = [
        np.array([data.draw(column) for _ in names], np.int64) for names in (base, new)
    ]
    alignment = pair_names(base, new)
    rows = pairs(alignment, base, new)
    for place, names in enumerate((base, new)):
        held = dict(zip(names, values[place].tolist(), strict=True))
        spread = alignment.spread(*values)[place].tolist()
        assert spread == [held.get(row[place], 0) for row in rows]


def shown(base, new, granularity="functions"):
    """Return (base name, new name) of what two profiles' rows pair under two names."""
    sides = [profile([((frame,), 1) for frame in side]) for side in (base, new)]
    keys = identify(sides[:1], sides[1:]).sides
    levels = [
        side_rows(side, granularity, own) for side, own in zip(sides, keys, strict=True)
    ]
    rows = pairs(pair_side_rows(*levels), levels[0].names, levels[1].names)
    return {row for row in rows if row[0] != row[1]}


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("main.Map[go.shape.int]", "main.Map[go.shape.string]"),
        ("main.(*Cache[go.shape.int]).Get", "main.(*Cache[go.shape.string]).Get"),
        ("main.Map[...]", "main.Map[go.shape.int]"),
        ("runtime.findrunnable", "runtime.findRunnable"),
        ("runtime.scanobject", "runtime.scanObject"),
        ("runtime/internal/atomic.Xadd", "internal/runtime/atomic.Xadd"),
        ("example.com/m@v1.2.3/a.F", "example.com/m@v1.3.0/a.F"),
    ],
)  # fmt: skip
def test_functions_that_are_one_under_two_names(base, new):
    shared = "main.main"
    assert shown([base, shared], [new, shared]) == {(base, new)}
    assert shown([new, shared], [base, shared]) == {(new, base)}


@pytest.mark.parametrize(
    ("base", "new"),
    [
        (["main.a"], ["main.b"]),
        (["main.run.func1"], ["main.walk.func1"]),
        # Closures are numbered in the order of the source, whatever is inserted there.
        (["main.run.func1"], ["main.run.func2"]),
        (["main.run.func1.2"], ["main.run.func3.1"]),
        (["main.run.gowrap1"], ["main.run.gowrap2"]),
        (["main.run-range1"], ["main.run-range2"]),
        (["main.Map[go.shape.int].func1"], ["main.Map[go.shape.string].func2"]),
        (["main.(*T).Do"], ["main.(*U).Do"]),
        (["main.(*T).Do"], ["main.T.Do"]),
        (["a/main.F"], ["b/main.F"]),
        (["runtime.mallocgc"], ["runtime.growslice"]),
        # The same key more often on one side than on the other: no telling which.
        (["main.run.func1", "main.run.func2"], ["main.run.func3"]),
        (["main.Map[go.shape.int]"], ["main.Map[go.shape.string]", "main.Map[go.shape.uint8]"]),
        ([""], ["main.F"]),
    ],
)  # fmt: skip
def test_functions_that_are_not(base, new):
    unknown = {"": "<unknown>"}
    assert shown(base, new) == {(unknown.get(b, b), None) for b in base} | {
        (None, n) for n in new
    }


RELEASES = {  # a name that shows the release; "" shows none
    "1.23 or older": "sync.(*Mutex).unlockSlow",
    "1.24-1.25": "runtime.hashGrow internal/sync.(*HashTrieMap).Load",
    "1.26+": "runtime.acquirepNoTrace",
    "1.27+": "runtime.postMallocgc",
    "unknown": "main.g",
}


@pytest.mark.parametrize(
    ("base", "new", "by", "paired"),
    [
        # One release has both: on one toolchain they are two functions.
        ("runtime.mallocgcSmallNoscan", "runtime.mallocgcTiny", ("1.26+", "1.26+"), False),
        ("runtime.mallocgcSmallNoscan", "runtime.mallocgcTiny", ("unknown", "unknown"), False),
        # Releases differ, but no renaming lies between them.
        ("runtime.mallocgcSmallNoscan", "runtime.mallocgcTiny", ("1.24-1.25", "1.26+"), False),
        ("runtime.scanSpan", "runtime.scanObjectSmall", ("1.26+", "1.27+"), False),
        ("runtime.mallocgc", "runtime.mallocgcSmallNoscan", ("1.23 or older", "1.26+"), True),
        ("runtime.mallocgc", "runtime.mallocgcSmallNoscan", ("unknown", "1.26+"), False),
        ("runtime.mapiterinit", "runtime.mapIterStart", ("1.23 or older", "1.26+"), True),
        ("runtime.mapiterinit", "runtime.mapIterStart", ("1.26+", "1.26+"), False),
        # What an alias does not name has other closures in another release.
        ("runtime.gcBgMarkWorker.func1", "runtime.gcBgMarkWorker.func2", ("1.24-1.25", "1.26+"), True),
        ("runtime.gcBgMarkWorker.func1", "runtime.gcBgMarkWorker.func2", ("1.26+", "1.26+"), False),
        ("runtime.gcBgMarkWorker.func1", "runtime.gcBgMarkWorker.func2", ("unknown", "unknown"), False),
    ],
)  # fmt: skip
def test_functions_of_the_runtime_are_renamed_between_releases_only(
    base, new, by, paired
):
    sides = [base, *RELEASES[by[0]].split()], [new, *RELEASES[by[1]].split()]
    assert ((base, new) in shown(*sides)) == paired
    assert ((new, base) in shown(*reversed(sides))) == paired


def test_a_name_that_both_have_is_paired_where_nothing_speaks_against_it():
    both = "main.run.func1"
    assert shown([both, "main.run.func2"], [both, "main.run.func3"]) == {
        ("main.run.func2", None),
        (None, "main.run.func3"),
    }
    assert shown([both], [both, "main.run.func2"]) == {(None, "main.run.func2")}


def test_a_file_is_the_same_in_another_build_folder():
    base = [("main.F", "/home/a/src/main.go", 3), ("lib.G", "/home/a/lib/main.go", 3)]
    new = [("main.F", "/ci/77/src/main.go", 3), ("lib.G", "/ci/77/lib/main.go", 3)]
    assert shown(base, new, "files") == {
        (b[1], n[1]) for b, n in zip(base, new, strict=True)
    }
    assert {
        (b.partition(" ")[0], n.partition(" ")[0]) for b, n in shown(base, new, "lines")
    } == {("main.F", "main.F"), ("lib.G", "lib.G")}
    assert shown(base, new, "packages") == set()


def test_a_line_that_moved_is_another_line():
    base, new = [("main.F", "main.go", 3)], [("main.F", "main.go", 4)]
    assert shown(base, new, "lines") == {
        ("main.F main.go:3", None),
        (None, "main.F main.go:4"),
    }
    assert shown(base, new, "functions") == shown(base, new, "files") == set()


@pytest.mark.parametrize("granularity", get_args(Granularity))
@given(base=profiles(), new=profiles())
def test_real_rows_are_paired_one_to_one(granularity, base, new):
    levels = side_rows(base, granularity), side_rows(new, granularity)
    rows = pair_side_rows(*levels)
    for column, own in ((rows.base_row, levels[0]), (rows.new_row, levels[1])):
        assert len(set(own.names)) == len(own.names)
        assert sorted(column[column >= 0].tolist()) == list(range(len(own.names)))
    twice = pair_side_rows(levels[1], levels[0])
    assert {
        (b, n)
        for b, n in zip(rows.base_row.tolist(), rows.new_row.tolist(), strict=True)
    } == {
        (b, n)
        for n, b in zip(twice.base_row.tolist(), twice.new_row.tolist(), strict=True)
    }
