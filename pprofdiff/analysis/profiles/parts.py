"""Functions that one side has as a part of another one.

Code that moves into a callee, or back, costs the same in another row. Samples cannot
show whether the code is the same, but its cost stayed in place either way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import calls_between
from pprofdiff.analysis.profiles.rows import PairedRows
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.csr import distinct
from pprofdiff.model.profiles.profile import Profile

Column = NDArray[np.int64]


def wholes_of(functions: PairedRows, profiles: tuple[Profile, Profile]) -> Column:
    """Return for each function of the union the one that it counts as: int64 rows.

    That is itself, unless only one side has it, and it is called by one function of
    its package that both sides have, or by other parts of that one alone.
    """
    wholes = np.arange(len(functions.names))
    there = [np.zeros(len(wholes), np.bool_) for _ in range(2)]
    for mask, rows in zip(there, functions.union, strict=True):
        mask[rows] = True
    for side, profile in enumerate(profiles):
        alone = there[side] & ~there[1 - side]
        rows = np.flatnonzero(alone)
        alone[rows] = owned([functions.names[row] for row in rows.tolist()])
        callers: dict[int, set[int]] = {}
        for part, caller in _calls(functions, profile, side, alone):
            callers.setdefault(part, set()).add(caller)
        only = {part: next(iter(by)) for part, by in callers.items() if len(by) == 1}
        for part in only:
            whole, seen = part, set[int]()
            while whole in only and whole not in seen:
                seen.add(whole)
                whole = only[whole]
            if whole >= 0 and there[1 - side][whole]:
                names = functions.names[part], functions.names[whole]
                if package_of(names[0]) == package_of(names[1]):
                    wholes[part] = whole
    return wholes


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
