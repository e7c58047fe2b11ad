"""Functions that one side has in one piece, and the other side in several.

Where code is moved out of a function into one that it calls, the function's own work
falls, and the other one is new; where code is moved back, it is the other way round.
Their sum is what compares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.by_run import merged, together
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.profiles.graph import calls_between
from pprofdiff.analysis.profiles.rows import PairedRows
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.csr import distinct
from pprofdiff.model.profiles.profile import Profile

__all__ = ["Split", "splits_of"]

Column = NDArray[np.int64]

# The parts matter from this share of their side's total on, as in findings.
_SHARE = 0.02
# The parts have at least this much of what the function lost: it is in them, rather
# than anywhere else.
_MOST = 0.5


class Split(NamedTuple):
    """A function, the parts of it that `side` alone has (0: base, 1: new), and sums.

    `function` and `parts` are rows of the union; `whole` is the raw (base, new) flat
    of all of them together.
    """

    side: int
    function: int
    parts: tuple[int, ...]
    whole: tuple[int, int]


def splits_of(
    functions: PairedRows,
    profiles: tuple[Profile, Profile],
    totals: tuple[int, int],
    model: CountModel,
) -> tuple[Split, ...]:
    """Return the functions whose flat one side has in parts.

    A part is a function of the same package that one side alone has, and that nothing
    but the function, or another part, calls. The function's flat is less by more than
    chance where there are parts; theirs is beyond chance, and most of what it lost; and
    together they have as much as it had, as far as can be told. What they call does
    not count: where a library does what the program did itself, nothing was moved.

    Whether the same code was moved, samples do not tell. That the cost stayed where it
    was does not depend on it.
    """
    flat, runs = functions.raw("flat"), functions.runs("flat")
    found = []
    for side in (0, 1):
        least = _SHARE * totals[side]
        for function, parts in _parts(
            functions, profiles[side], side, flat[side], least
        ).items():
            split = _judged(side, function, parts, runs, model)
            if split and flat[side][parts].sum() >= least:
                found.append(split)
    return tuple(found)


def _parts(
    functions: PairedRows, profile: Profile, side: int, flat: Column, least: float
) -> dict[int, list[int]]:
    """Return the possible parts of each function that both sides have.

    None where in no package the flat of what one side alone has reaches `least`.
    """
    there = [np.zeros(len(functions.names), np.bool_) for _ in range(2)]
    for mask, rows in zip(there, functions.union, strict=True):
        mask[rows] = True
    union, names = functions.union[side], functions.sides[side].names
    alone = there[side] & ~there[1 - side]
    name_of = dict(zip(union.tolist(), names, strict=True))
    mine = np.flatnonzero(alone)
    alone[mine] = owned([name_of[row] for row in mine.tolist()])
    weights: dict[str, float] = defaultdict(float)
    for row in np.flatnonzero(alone).tolist():
        weights[package_of(name_of[row])] += max(float(flat[row]), 0)
    if max(weights.values(), default=0) < least or not weights:
        return {}
    caller: dict[int, int] = {}
    shared = set()
    for part, by in _calls(functions, profile, side, alone):
        if caller.setdefault(part, by) != by:
            shared.add(part)
    parts = defaultdict(list)
    for part in sorted(caller.keys() - shared):
        whole, seen = caller[part], {part}
        while whole in caller and whole not in shared and whole not in seen:
            seen.add(whole)
            whole = caller[whole]
        known = whole >= 0 and there[1 - side][whole]
        if known and package_of(name_of[whole]) == package_of(name_of[part]):
            parts[whole].append(part)
    return parts


def _calls(
    functions: PairedRows, profile: Profile, side: int, chosen: NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """Yield each chosen function with what calls it; -1 for nothing.

    A function that calls itself is not its own caller.
    """
    of_line = functions.union[side][functions.sides[side].ids]
    locations = profile.locations
    first, last = locations.line_offsets[:-1], locations.line_offsets[1:] - 1
    inlined = chosen[of_line]
    inlined[last] = False
    if inlined.any():
        sampled = np.bincount(profile.stack_locations, minlength=len(first)) > 0
        inlined &= np.repeat(sampled, np.diff(locations.line_offsets))
        line = np.flatnonzero(inlined)
        yield from _distinct(of_line[line], of_line[line + 1], len(chosen))
    every = np.ones(len(first), np.bool_)
    for callee, by, _ in calls_between(profile, chosen[of_line[last]], every):
        caller = np.where(by < 0, -1, of_line[first[by]])
        yield from _distinct(of_line[last[callee]], caller, len(chosen))


def _distinct(callee: Column, caller: Column, size: int) -> Iterator[tuple[int, int]]:
    """Yield the distinct pairs of two functions, which are below `size`."""
    keys = (callee * (size + 1) + caller + 1)[callee != caller]
    for key in distinct(keys).tolist():
        yield key // (size + 1), key % (size + 1) - 1


def _judged(
    side: int, function: int, parts: list[int], flat: Runs[Column], model: CountModel
) -> Split | None:
    """Return the split, if the numbers are those of one."""
    alone = flat.map(lambda run: run[[function]])
    # The other side has no value in the parts.
    moved, whole = together(flat, parts), together(flat, [function, *parts])
    fell, grew = model.one(alone), model.one(moved)
    base, new = merged(whole)
    split = (
        merged(alone)[side][0] > 0
        and fell.told
        and grew.told
        and (fell.delta > 0) == (grew.delta < 0)
        and abs(grew.delta) >= _MOST * abs(fell.delta)
        and not model.one(whole).told
    )
    if not split:
        return None
    return Split(side, function, tuple(parts), (int(base[0]), int(new[0])))
