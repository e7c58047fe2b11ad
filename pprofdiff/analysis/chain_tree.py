"""Who waits for whom as one tree of both sides: the chains of `traces.waited`.

The top nodes are root functions of waiting goroutines. Below are the places where they
wait, then where their wakers wait, and so on; last is what a chain ends at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from pprofdiff.analysis.call_tree import CallTree, laid_out, with_values
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.profiles.paths import Stacks, heaviest_paths
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.wait_chains import EndKind
from pprofdiff.analysis.traces.waited import (
    Chain,
    Spelling,
    chained,
    end_in_words,
    is_wait_itself,
    wait_in_words,
)
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import offsets_of, sums

KINDS: tuple[EndKind, ...] = get_args(EndKind)
"""The categories of the tree's nodes: what chains end at."""

_DEEPER = "further waits"
# The package of a function, and what follows: ``store.`` in ``store.(*DB).Sync``.
_QUALIFIER = re.compile(r"(?<![\w.)])[\w-]+\.(?=[\w(])")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChainTree:
    """The chains of a comparison: the nodes, and their names.

    `names` are sorted and distinct: a root function, or a wait or an end in words.
    `texts` are the same for people. ``tree.name`` is a row of both, ``tree.category`` a
    row of `KINDS`.
    """

    tree: CallTree
    names: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def totals(self) -> tuple[int, int]:
        """The raw ns of all waits, base and new."""
        return int(self.tree.base_self.sum()), int(self.tree.new_self.sum())


def chain_tree(diff: TraceDiff, budget: int) -> ChainTree:
    """Return the `budget` heaviest nodes, and leaves for all others, exact in ns."""
    rows = chained(diff)
    spell = _spelling(row.chain for row in rows)
    steps = [_steps(row.chain, spell) for row in rows]
    names = sorted({name for chain in steps for name in chain})
    place = {name: i for i, name in enumerate(names)}
    # From the leaf to the root, as in profiles.
    frames = [place[name] for chain in steps for name in reversed(chain)]
    offsets = offsets_of(np.array([len(chain) for chain in steps], np.int64))
    base, new = (
        _stacks(offsets, frames, np.array([row[side] for row in rows], np.int64))
        for side in (1, 2)
    )
    kinds = np.array([KINDS.index(row.chain.end.kind) for row in rows], np.int64)
    paths = heaviest_paths((base, new), diff.factors, max(len(names), 1), budget)
    nodes, ends = laid_out(paths, np.arange(len(names)))
    own = [
        sums(end, side.values, len(nodes))
        for side, end in zip((base, new), ends, strict=True)
    ]
    categories = [kinds[side.sample] for side in (base, new)]
    tree = with_values(nodes, Runs.single(own[0], own[1]), ends, categories)
    roots = {row.chain.root for row in rows}
    texts = (spell(name) if name in roots else name for name in names)
    return ChainTree(tree, tuple(names), tuple(texts))


def without_packages(text: str) -> str:
    """Return words with the names in them cut: ``Fsync in (*DB).Sync``."""
    return _QUALIFIER.sub("", text)


def _spelling(chains: Iterable[Chain]) -> Spelling:
    """Return a function that shortens the names in chains, and keeps them distinct."""
    whole: dict[str, None] = {}
    for root, waits, end in chains:
        calls = (name for wait in waits for name in (wait.function, wait.call))
        whole.update(dict.fromkeys((root, *calls, end.function, end.call)))
    return dict(zip(whole, distinct_names(whole), strict=True)).__getitem__


def _steps(chain: Chain, spell: Spelling) -> list[str]:
    """Return the names of a chain's nodes, from the goroutine that waits to the end."""
    root, waits, end = chain
    if len(waits) == 1 and is_wait_itself(waits[0], end):
        return [root, end_in_words(end, spell)]
    deeper = [
        wait_in_words(wait, spell) if wait.function else _DEEPER for wait in waits[1:]
    ]
    return [root, wait_in_words(waits[0], spell), *deeper, end_in_words(end, spell)]


def _stacks(offsets: Column, frames: Sequence[int], values: Column) -> Stacks:
    """Return one side's chains that have a value, as stacks of one line a location."""
    sample = np.flatnonzero(values)
    line = np.arange(len(frames) + 1, dtype=np.int32)
    return Stacks(
        sample,
        values[sample],
        offsets[:-1][sample],
        offsets[1:][sample] - 1,
        line[:-1],
        line[:-1],
        np.append(np.array(frames, np.int32), np.int32(0)),
        np.ones(len(line), np.bool_),
    )
