"""Which functions of a call tree belong to a cause, and which changed by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.call_tree import CallTree, Ends, needed
from pprofdiff.analysis.causes.finding import Claim, Finding
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.policy import MOST
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct

# Relative error of sums of floats.
_ROUNDING = 1e-9
# Functions of a cause that names none, heaviest first.
_MOST = 3


def numbered(causes: Sequence[Finding]) -> dict[int, Finding]:
    """Return causes by the number that a report gives them, from 1."""
    return dict(enumerate(causes, 1))


def of_unit(
    diff: ProfileDiff, causes: Mapping[int, Finding], unit: str
) -> dict[int, Finding]:
    """Return the causes of one unit of work, as those of all of its own profiles."""
    found = {}
    for number, cause in causes.items():
        if cause.unit == unit:
            claim = cause.of_unit
            own = cause._replace(unit="", claim=claim)
            if claim is not None and _fits(claim, diff):
                sums = (
                    int(values[side].sum())
                    for values, side in zip(diff.values, claim.sides, strict=True)
                )
                own = own._replace(own=diff.normalization.delta(*sums))
            found[number] = own
    return found


def functions_of(
    diff: ProfileDiff,
    tree: CallTree,
    ends: tuple[Ends, Ends],
    causes: Mapping[int, Finding],
) -> Iterator[tuple[int, list[int]]]:
    """Yield the number of each cause and its functions in the tree.

    A cause that names none, such as GC, has the functions below which it claims all
    samples.
    """
    drawn = distinct(tree.name[tree.name >= 0])
    names = diff.paired_functions.names
    for number, cause in causes.items():
        about = {*cause.names, *cause.functions}
        rows = [row for row in drawn.tolist() if names[row] in about]
        if not about and cause.claim is not None and _fits(cause.claim, diff):
            rows = _claimed(diff, tree, ends, cause.claim)
        if rows:
            yield number, rows


def needed_next_to(
    diff: ProfileDiff, causes: Iterable[Finding], rows: Column, runs: Runs[Column]
) -> NDArray[np.float64] | None:
    """Return what `call_tree.needed` does for sums of functions or their frames.

    Nothing is needed of what has most of a cause's change: that may rest on more than
    the samples of a few runs, which test each row alone. `rows` of the union are -1 for
    no function; if the first is, it is the whole profile.
    """
    needs = needed(diff, runs, whole=bool(len(rows)) and bool(rows[0] < 0))
    own = {
        name: cause.own
        for cause in reversed(list(causes))
        for name in cause.functions
        if cause.own and not cause.unit and diff.name == "cpu"
    }
    if needs is None or not own:
        return needs
    names = diff.paired_functions.names
    least = np.array([*(own.get(name, np.inf) for name in names), np.inf])[rows]
    delta = diff.normalization.delta(*merged(runs))
    needs[delta * np.sign(least) >= MOST * np.abs(least)] = 0.0
    return needs


def _fits(claim: Claim, diff: ProfileDiff) -> bool:
    """Return whether a claim is on the samples of this comparison, of CPU profiles."""
    sizes = [len(side) for side in claim.sides]
    return diff.name == "cpu" and sizes == [len(values) for values in diff.values]


def _claimed(
    diff: ProfileDiff, tree: CallTree, ends: tuple[Ends, Ends], claim: Claim
) -> list[int]:
    """Return the heaviest functions below which a claim has all samples."""
    claimed, whole = np.zeros(len(tree)), np.zeros(len(tree))
    factors = diff.normalization.factors
    for end, side, factor in zip(ends, claim.sides, factors, strict=True):
        weight = np.abs(end.value * factor)
        whole += np.bincount(end.node, weight, len(tree))
        claimed += np.bincount(end.node, weight * side[end.sample], len(tree))
    start = np.arange(len(tree))
    stop = start + tree.size
    until = np.pad(np.cumsum([claimed, whole], axis=1), ((0, 0), (1, 0)))
    own, of_all = until[:, stop] - until[:, start]
    only = (own > 0) & (of_all - own <= _ROUNDING * of_all) & (tree.name >= 0)
    # How many of a node's callers are claimed as a whole.
    edges = np.bincount(start[only] + 1, minlength=len(tree) + 1)
    edges -= np.bincount(stop[only], minlength=len(tree) + 1)
    top = only & (np.cumsum(edges)[:-1] == 0)
    rows, each = np.unique(tree.name[top], return_inverse=True)
    heaviest = np.argsort(-np.bincount(each, own[top], len(rows)), kind="stable")
    found: list[int] = rows[heaviest[:_MOST]].tolist()
    return found
