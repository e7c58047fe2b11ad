"""Places named for the function whose text changed, where the source is known.

Samples show where a cost changed, not why. An unchanged function costs less because a
changed caller calls it less often, or because changed code below it is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.places import (
    Place,
    Program,
    below,
    callers_of,
    changes_too,
    disjoint,
    holds,
    holds_all,
    whole_of,
    with_callees,
)
from pprofdiff.analysis.policy import COVERS, MOST

# Callers of callers to look for.
_UP = 8


@dataclass(frozen=True, eq=False)
class Texts:
    """Whose text changed, and whose did not: bool masks of the union of functions.

    Functions of neither have too few samples, or no text that is surely theirs.
    """

    changed: NDArray[np.bool_]
    unchanged: NDArray[np.bool_]


def by_text(
    cpu: CPUComparison,
    program: Program,
    found: Sequence[Place],
    texts: Texts,
    is_said: Callable[[Place], bool],
) -> list[Place]:
    """Return places; an unchanged function gives way to the changed one behind it.

    That is the deepest changed function below it with most of its change, or else the
    nearest one above it. A function that is no cause itself stays.
    """
    left = list(found)
    for place in found:
        if place not in left or place.others:
            continue
        if not texts.unchanged[place.row] or not is_said(place):
            continue
        behind = _below(cpu, program, place, texts)
        if behind is None:
            behind = _above(cpu, program, place, left, texts)
        if behind is None:
            continue
        inside = [one for one in left if _is_in(cpu, one, behind, texts)]
        left = [behind, *(one for one in left if one not in (place, *inside))]
    if left == list(found):
        return left
    return [with_callees(cpu, program, one) for one in disjoint(cpu, left)]


def _is_in(cpu: CPUComparison, place: Place, outer: Place, texts: Texts) -> bool:
    """Return whether a place is part of another one, and not a cause of its own."""
    own = place.row != outer.row and texts.changed[place.row]
    return not own and holds(cpu, outer.claim, place)


def _below(
    cpu: CPUComparison, program: Program, place: Place, texts: Texts
) -> Place | None:
    """Return the deepest changed function with most of the change of a place.

    Of a place with all samples, whose change is the outcome, it has nearly all.
    """
    if not (place.whole and place.base and place.new):
        return None
    all_of_it = bool(holds_all(cpu)[place.row])
    claim = whole_of(cpu, place.row).claim if all_of_it else place.claim
    own, change = cpu.only(place.row), cpu.delta(claim)
    base, new = (below(cpu, own, claim, side) for side in (0, 1))
    if not change:
        return None
    part = cpu.diff.normalization.delta(base, new) / change
    may = texts.changed & program.inner & (base > 0) & (new > 0)
    known = all_of_it & (part >= COVERS) & (part <= 1 / COVERS)
    rows = np.flatnonzero(may & (known | (part >= MOST))).tolist()
    for row in sorted(rows, key=lambda row: int(base[row] + new[row])):
        inner = whole_of(cpu, row)
        if known[row] or changes_too(cpu, inner.claim, place):
            return inner._replace(only_changed=bool(known[row]))
    return None


def _above(
    cpu: CPUComparison,
    program: Program,
    place: Place,
    found: Sequence[Place],
    texts: Texts,
) -> Place | None:
    """Return the nearest changed function that a place is called by.

    The place has most of its change, or the places in it have together.
    """
    rows: tuple[int, ...] = (place.row,)
    seen = set[int]()
    for _ in range(_UP):
        seen.update(rows)
        rows = callers_of(cpu, program, place, rows)
        if not rows or not seen.isdisjoint(rows):
            return None
        if texts.changed[list(rows)].any():
            break
    if len(rows) != 1 or not texts.changed[rows[0]] or not program.inner[rows[0]]:
        return None
    outer = whole_of(cpu, rows[0])
    change = outer.delta(cpu)
    parts = [one for one in found if _is_in(cpu, one, outer, texts)]
    part = place.delta(cpu) * change >= MOST * change**2
    part |= sum(one.delta(cpu) for one in parts) * change >= COVERS * change**2
    return outer if part and changes_too(cpu, outer.claim, place) else None
