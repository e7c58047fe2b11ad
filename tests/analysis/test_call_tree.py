"""The folded call tree, next to one built of dictionaries, and on what is hostile."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.call_tree import (
    NO_CATEGORY,
    SEVERAL,
    call_tree,
    inclusive,
    noise_limit,
)
from pprofdiff.analysis.judge.calibration import LIMIT
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.paths import DEEPEST
from pprofdiff.analysis.profiles.rows import NO_STACK
from pprofdiff.model.csr import offsets_of
from tests.analysis.building import compared, given, profile, profiles
from tests.conftest import STORIES
from tests.strategies import profiles as any_profiles

ALL = 1 << 30
SIDES = (0, 1)
# Pairs of profiles as Go writes them, and of ones with inlined and nameless frames.
PAIRS = st.tuples(profiles(), profiles()) | st.tuples(any_profiles(), any_profiles())


class Node:
    """A node of the reference: sums by side, categories, callees by function."""

    def __init__(self):
        self.own, self.sizes = [0, 0], [0, 0]
        self.categories, self.callees = set(), {}

    def all_own(self, side):
        """Return the exact inclusive value of a side."""
        return self.own[side] + sum(c.all_own(side) for c in self.callees.values())

    def all_categories(self):
        """Return the categories of all samples of the subtree."""
        below = (c.all_categories() for c in self.callees.values())
        return self.categories.union(*below)


class Row(NamedTuple):
    """One node of a tree, as the columns of `CallTree` say it."""

    depth: int
    size: int
    name: int
    folded: int
    base_self: int
    new_self: int
    category: int


def rows(tree):
    """Return a tree's nodes."""
    columns = (getattr(tree, name).tolist() for name in Row._fields)
    return [Row(*row) for row in zip(*columns, strict=True)]


def grown(diff):
    """Return the whole tree, one stack after the other, under a root without a name."""
    root, functions = Node(), diff.paired_functions
    for side, (given_side, values) in enumerate(
        zip((diff.base, diff.new), diff.values, strict=True)
    ):
        union = functions.union[side]
        frames = given_side.profile.frames()
        rows_of_frames = union[functions.sides[side].ids[frames.line]]
        cuts = frames.offsets.tolist()
        for i, value in enumerate(values.tolist()):
            if value == 0:
                continue
            stack = rows_of_frames[cuts[i] : cuts[i + 1]].tolist()[::-1]
            node = root
            for function in stack or [int(union[-1])]:
                node = node.callees.setdefault(function, Node())
                node.sizes[side] += abs(value)
            node.own[side] += value
            if diff.attributions is not None:
                node.categories.add(int(diff.attributions[side].category[i]))
    return root


def folded(diff, budget):
    """Return the nodes that `call_tree` has to return."""
    by, names = diff.normalization, diff.paired_functions.names
    factors = abs(by.base_factor), abs(by.new_factor)
    root, met = grown(diff), []

    def weight(node):
        return node.sizes[0] * factors[0] + node.sizes[1] * factors[1]

    def visit(node, path):
        for function, callee in node.callees.items():
            here = (*path, (names[function], function))
            met.append((-weight(callee), len(here), here, callee))
            visit(callee, here)

    visit(root, ())
    met.sort(key=lambda node: node[:3])
    kept = {id(node) for *_, node in met[:budget]}

    def written(node, depth):
        """Return the rows of all that a kept node calls."""
        out, rest = [], Node()
        order = sorted(
            node.callees, key=lambda f: (-weight(node.callees[f]), names[f], f)
        )
        for function in order:
            callee = node.callees[function]
            if id(callee) in kept:
                below = written(callee, depth + 1)
                kind = shared(callee.categories)
                size = len(below) + 1
                out += [Row(depth, size, function, 0, *callee.own, kind), *below]
            else:
                rest.callees[function] = callee
        if rest.callees:
            own = [rest.all_own(side) for side in SIDES]
            kind = shared(rest.all_categories())
            out.append(Row(depth, 1, -1, len(rest.callees), *own, kind))
        return out

    return written(root, 0)


def shared(categories):
    """Return what a node's category is."""
    if len(categories) > 1:
        return SEVERAL
    return next(iter(categories), NO_CATEGORY)


@pytest.mark.slow
@given(PAIRS, st.integers(0, 12) | st.just(ALL), st.booleans())
def test_it_is_the_tree_of_dictionaries(pair, budget, normalize):
    diff = compared(*pair, normalize=normalize)
    assert rows(call_tree(diff, budget)[0]) == folded(diff, budget)


@pytest.mark.slow
@given(PAIRS, st.integers(0, 12))
def test_it_adds_up_whatever_the_budget(pair, budget):
    diff = compared(*pair)
    whole, tree = call_tree(diff, ALL)[0], call_tree(diff, budget)[0]
    for sums in (whole, tree):
        assert (sum(sums.base_self.tolist()), sum(sums.new_self.tolist())) == (
            diff.totals
        )
    names = (tree.name >= 0).sum()
    assert names == min(budget, len(whole))
    assert len(tree) - names <= names + 1
    assert not whole.folded.any()
    assert ((tree.folded > 0) == (tree.name < 0)).all()
    assert (tree.size[tree.folded > 0] == 1).all()


def by_name(rows_of_names):
    """Return base's and new's sums by name of (name, base, new), without zeros."""
    held = [Counter(), Counter()]
    for name, *values in rows_of_names:
        for side, value in zip(held, values, strict=True):
            side[name] += value
    return [{name: v for name, v in side.items() if v} for side in held]


def of_table(table, column):
    """Return a table's sums by name."""
    columns = (side.tolist() for side in table.raw(column))
    return by_name(zip(table.names, *columns, strict=True))


@pytest.mark.slow
@given(PAIRS)
def test_unfolded_it_is_the_table_of_stacks(pair):
    diff = compared(*pair)
    names, held, path = diff.paired_functions.names, [], []
    for row in rows(call_tree(diff, ALL)[0]):
        path[row.depth :] = [names[row.name]]
        held.append((";".join(path), row.base_self, row.new_self))
    assert by_name(held) == of_table(diff.table("stacks"), "flat")


@pytest.mark.slow
@given(PAIRS)
def test_outermost_frames_add_up_to_cum(pair):
    diff = compared(*pair)
    tree, names = call_tree(diff, ALL)[0], diff.paired_functions.names
    held, path = [], []
    sums = zip(
        *(column[1:].tolist() for column in merged(inclusive(tree))), strict=True
    )
    for row, both in zip(rows(tree), sums, strict=True):
        if row.name not in path[: row.depth]:
            held.append((names[row.name], *both))
        path[row.depth :] = [row.name]
    assert by_name(held) == of_table(diff.table("functions"), "cum")


def judged_alike(diff):
    """Assert that the limit divides the functions as the judgement of their cum does.

    Return how many are beyond noise.
    """
    limit, model = noise_limit(diff), diff.model
    if model is None:
        assert limit is None
        return 0
    base, new = diff.table("functions").raw("cum")
    judged = model.rows(Runs.single(base, new))
    changes = (~judged.noise).tolist()
    assert (limit is not None) == any(changes)
    assert limit is None or limit > LIMIT * (1 - 1e-8)
    if limit is not None:
        needs = model.needs(Runs.single(base, new), limit)
        beyond = np.abs(model.by.delta(base, new)) >= needs
        # Rows with too few samples are not judged.
        assert (beyond & (judged.q < 1)).tolist() == changes
    return sum(changes)


@pytest.mark.slow
@given(PAIRS, st.booleans())
def test_the_limit_says_what_the_judgement_says(pair, normalize):
    judged_alike(compared(*pair, normalize=normalize))


@pytest.mark.slow
def test_real_captures(load_capture, load_story):
    beyond = 0
    for name in STORIES:
        held = load_story(name)
        for kind in ("cpu", "allocs", "heap", "mutex", "block", "goroutine"):
            diff = compared(
                *(
                    load_capture(side / f"{kind}.pb.gz")
                    for side in (held.base, held.new)
                )
            )
            beyond += judged_alike(diff)
            for budget in (7, 400, ALL):
                assert rows(call_tree(diff, budget)[0]) == folded(diff, budget)
    assert beyond > 100


def chain(depth, value=1, name="main.f"):
    """Return a profile of one stack that calls itself again and again."""
    one = profile([((name,), value)])
    return replace(
        one,
        stack_offsets=offsets_of(np.array([depth])),
        stack_locations=np.zeros(depth, np.int32),
    )


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("depth", [DEEPEST - 1, DEEPEST, DEEPEST + 1, 1_000_000])
def test_what_is_deeper_than_the_deepest_is_folded(depth):
    diff = compared(chain(depth, 3), chain(2, 5))
    tree = call_tree(diff, ALL)[0]
    shown = min(depth, DEEPEST)
    assert tree.depth.tolist() == [*range(shown), *[DEEPEST] * (depth > DEEPEST)]
    assert tree.folded.sum() == (depth > DEEPEST)
    assert tree.base_self[-1] == tree.base_self.sum() == diff.totals[0]
    assert tree.new_self[1] == tree.new_self.sum() == diff.totals[1]
    assert tree.size.tolist() == list(range(len(tree), 0, -1))


def test_equally_heavy_nodes_stay_nearest_the_root_then_by_name():
    many = [((f"main.f{i:03}", f"main.g{i:03}"), 1) for i in range(100)]
    for given_order in (many, many[::-1]):
        tree = call_tree(compared(profile(given_order), profile([])), 40)[0]
        assert (tree.depth[tree.name >= 0] == 0).all()
        diff = compared(profile(given_order), profile([]))
        names = diff.paired_functions.names
        tops = [names[i] for i in tree.name.tolist() if i >= 0]
        assert tops == [f"main.g{i:03}" for i in range(40)]
        assert tree.folded.tolist() == [*[0, 1] * 40, 60]
        assert tree.base_self.tolist()[-1] == 60 * 10_000_000


def test_nothing_and_what_has_no_frames():
    assert len(call_tree(compared(profile([]), profile([])), 10)[0]) == 0
    zero = compared(profile([(("main.f",), 0)]), profile([]))
    assert len(call_tree(zero, 10)[0]) == 0
    assert merged(inclusive(call_tree(zero, 10)[0]))[0].tolist() == [0]
    diff = compared(profile([((), 5)]), profile([((), 7), ((NO_STACK,), 1)]))
    tree, names = call_tree(diff, ALL)[0], diff.paired_functions.names
    assert [names[i] for i in tree.name.tolist()] == [NO_STACK] * 2
    assert sorted(
        zip(tree.base_self.tolist(), tree.new_self.tolist(), strict=True)
    ) == [
        (0, 10_000_000),
        (50_000_000, 70_000_000),
    ]


def test_values_near_the_end_of_64_bits_are_exact():
    large = (1 << 61) + 1
    stacks = [
        (("main.a", "main.f"), (0, large)),
        (("main.b", "main.f"), (0, large - 2)),
    ]
    less = [(stack, (0, -value)) for stack, (_, value) in stacks]
    diff = compared(profile(stacks), profile(less))
    for budget in (0, 1, 2, ALL):
        tree = call_tree(diff, budget)[0]
        base, new = (side[1:] for side in merged(inclusive(tree)))
        assert (int(base[0]), int(new[0])) == diff.totals == (1 << 62, -(1 << 62))
        assert rows(tree) == folded(diff, budget)


@pytest.mark.slow
def test_a_base_below_zero_weighs_as_much_as_one_above():
    base = profile([(("main.a", "main.f"), -30), (("main.b",), 10)])
    diff = compared(base, profile([(("main.c", "main.f"), 9)]), normalize=True)
    assert diff.normalization.new_factor < 0
    for budget in range(6):
        assert rows(call_tree(diff, budget)[0]) == folded(diff, budget)
