"""Chains of waits as a tree: each node has what all chains through it add up to."""

from collections import Counter

import pytest

from pprofdiff.analysis.call_tree import inclusive
from pprofdiff.analysis.chain_tree import KINDS, chain_tree, without_packages
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.traces.waited import (
    chained,
    end_in_words,
    is_wait_itself,
    wait_in_words,
    waited,
)
from tests.traces.captured import PAIRS, trace_pair


def path_of(chain):
    """Return the words of a chain, from the root function to the end."""
    root, (first, *others), end = chain
    if not others and is_wait_itself(first, end):
        return root, end_in_words(end)
    words = [wait_in_words(one) if one.function else "further waits" for one in others]
    return root, wait_in_words(first), *words, end_in_words(end)


def nodes_of(chains):
    """Yield (path, base, new, kind) of each node; a leaf of others has no path."""
    tree, path = chains.tree, []
    sums = [side[1:].tolist() for side in merged(inclusive(tree))]
    rows = (tree.depth.tolist(), tree.name.tolist(), tree.category.tolist())
    for depth, name, kind, base, new in zip(*rows, *sums, strict=True):
        path[depth:] = [None if name < 0 else chains.names[name]]
        yield None if name < 0 else tuple(path), base, new, kind


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("budget", [1, 12, 10_000])
def test_a_node_is_all_chains_through_it(name, budget):
    diff = trace_pair(name)
    whole = {}
    for chain, *times in chained(diff):
        path = path_of(chain)
        for long in range(1, len(path) + 1):
            whole.setdefault(path[:long], Counter()).update(dict(enumerate(times)))
    chains = chain_tree(diff, budget)
    found = {path: (base, new) for path, base, new, _ in nodes_of(chains) if path}
    assert found.items() <= {path: (n[0], n[1]) for path, n in whole.items()}.items()
    assert len(found) == min(budget, len(whole))
    rows = waited(diff)
    totals = sum(row.base_ns for row in rows), sum(row.new_ns for row in rows)
    assert chains.totals == totals
    assert list(chains.names) == sorted(set(chains.names))


@pytest.mark.parametrize("name", PAIRS)
def test_an_end_has_its_kind(name):
    diff = trace_pair(name)
    kinds = {path_of(row.chain): row.chain.end.kind for row in chained(diff)}
    chains = chain_tree(diff, 10_000)
    ends = {path: KINDS[kind] for path, _, _, kind in nodes_of(chains) if kind >= 0}
    assert ends == kinds


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        ("syscall.Fsync in store.(*DB).Sync", "Fsync in (*DB).Sync"),
        ("main.f.func1 waits in sync.(*Mutex).Lock", "f.func1 waits in (*Mutex).Lock"),
        ("http.(*conn).serve waits for select", "(*conn).serve waits for select"),
        ("GC", "GC"),
    ],
)
def test_names_lose_their_packages(words, cut):
    assert without_packages(words) == cut
