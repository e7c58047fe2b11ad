"""Functions that one side has in one piece, and the other side in several.

Extracting code into a callee lowers the function's own cost and adds a new function;
moving it back does the reverse. Only the sum of both is comparable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import calls_between
from pprofdiff.analysis.ledger.views import merged, together
from pprofdiff.analysis.profiles.rows import PairedRows
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.csr import distinct
from pprofdiff.model.profiles.profile import Profile

Column = NDArray[np.int64]

# Least share of their side's total that parts must have, as in findings.
_SHARE = 0.02
# Least share of the function's loss that must be found in its parts.
_MOST = 0.5


class Split(NamedTuple):
    """A function, and the parts of it that only `side` has (0: base, 1: new).

    `function` and `parts` are rows of the union; `whole` is the raw (base, new) flat of
    all of them together.
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

    A part is a function in the same package that only one side has, and that is only
    called by the function or by another part. On that side the function's flat is
    significantly lower, the parts' flat is significant and makes up most of the loss,
    and their sum does not differ significantly between the sides. Callees do not count:
    if a library does what the program did itself, nothing was split.

    Samples cannot show whether the same code moved, but the cost stayed in place either
    way.
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
    """Return the candidate parts of each function that both sides have.

    Empty if no package has functions on one side only with a flat of at least `least`.
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
    """Yield each chosen function and its caller, -1 for none; skip self-calls."""
    of_line = functions.of_lines(side)
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
    """Yield the distinct pairs of functions (numbers below `size`), no self-calls."""
    keys = (callee * (size + 1) + caller + 1)[callee != caller]
    for key in distinct(keys).tolist():
        yield key // (size + 1), key % (size + 1) - 1


def _judged(
    side: int, function: int, parts: list[int], flat: Runs[Column], model: CountModel
) -> Split | None:
    """Return the split, or None if the numbers do not support it."""
    alone = flat.map(lambda run: run[[function]])
    # The other side has no value in the parts.
    extracted, whole = together(flat, parts), together(flat, [function, *parts])
    fell, grew = model.one(alone), model.one(extracted)
    base, new = merged(whole)
    split = (
        merged(alone)[side][0] > 0
        and fell.significant
        and grew.significant
        and (fell.delta > 0) == (grew.delta < 0)
        and abs(grew.delta) >= _MOST * abs(fell.delta)
        and not model.one(whole).significant
    )
    if not split:
        return None
    return Split(side, function, tuple(parts), (int(base[0]), int(new[0])))
