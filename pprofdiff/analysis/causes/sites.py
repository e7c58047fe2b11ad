"""Where an operation allocates: exact bytes and objects, by function."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.places import is_benchmark
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.profiles.attribution import owned
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.analysis.profiles.runs import operations_of_both
from pprofdiff.model.csr import first_in_row, sums

__all__ = ["Allocated", "Site", "allocated", "sites"]


class Allocated(NamedTuple):
    """What an operation allocates, as benchmarks count it: (base, new) or None."""

    space: tuple[float, float] | None
    objects: tuple[float, float] | None

    @property
    def changed(self) -> bool:
        """Whether an operation allocates other amounts; these counts are exact.

        What a benchmark allocates now and then, such as a map that grows, is spread
        over its iterations: a change below 1 % may be that.
        """
        return any(
            pair is not None and abs(pair[1] - pair[0]) > _ROUNDING * max(pair)
            for pair in (self.space, self.objects)
        )


_ROUNDING = 0.01


class Site(NamedTuple):
    """A function of the program, and what it allocates per operation, (base, new).

    What the standard library allocates for it is its own. `row` is its row among the
    functions of the comparison of bytes. `objects` are not `exact` where profiles count
    fewer than benchmarks do: several tiny ones share a block (runtime/malloc.go), and
    whose they are is not known.
    """

    name: str
    row: int
    space: tuple[float, float]
    objects: tuple[float, float]
    exact: bool


def allocated(comparison: Comparison) -> Allocated | None:
    """Return what an operation allocates, None where benchmarks do not count it."""
    work = comparison.work
    if work is None or not work.turns:
        return None
    return Allocated(
        work.allocated.get("alloc_space"), work.allocated.get("alloc_objects")
    )


def sites(comparison: Comparison) -> list[Site]:
    """Return the functions that allocate, largest change of bytes or objects first.

    Changes are ranked by their part of all bytes, or of all objects.
    """
    diffs = {d.sample_type.type: d for d in comparison.profiles}
    space, objects = diffs.get("alloc_space"), diffs.get("alloc_objects")
    if space is None or objects is None:
        return []
    if {space.normalization.mode, objects.normalization.mode} != {"per_work"}:
        return []
    names = space.paired_functions.names
    columns = [_by_owner(space, diff) for diff in (space, objects)]
    wholes = [max(float(base.sum()), float(new.sum()), 1e-9) for base, new in columns]
    found = []
    exact = _counted(comparison, objects)
    untimed = _untimed(comparison, space)
    for row, name in enumerate(names):
        pairs = [(float(base[row]), float(new[row])) for base, new in columns]
        if any(map(any, pairs)) and not (untimed and is_benchmark(name)):
            part = max(
                abs(new - base) / whole
                for (base, new), whole in zip(pairs, wholes, strict=True)
            )
            found.append((part, Site(name, row, pairs[0], pairs[1], exact)))
    return [site for part, site in sorted(found, key=lambda one: -one[0]) if part]


def _counted(comparison: Comparison, objects: ProfileDiff) -> bool:
    """Return whether profiles have as many objects as benchmarks count."""
    done = operations_of_both(objects.base, objects.new)
    work = comparison.work
    counted = None if work is None else work.allocated.get("alloc_objects")
    if done is None or counted is None:
        return False
    held = [total / count for total, count in zip(objects.totals, done, strict=True)]
    return all(
        abs(own - said) <= _ROUNDING * max(said, 1.0)
        for own, said in zip(held, counted, strict=True)
    )


def _untimed(comparison: Comparison, space: ProfileDiff) -> bool:
    """Return whether operations allocate while their benchmark's timer is stopped.

    Profiles have more bytes than benchmarks count then.
    """
    work = comparison.work
    counted = None if work is None else work.allocated.get("alloc_space")
    held = space.normalization.scaled(*space.totals)
    return counted is not None and any(
        own > (1 + _ROUNDING) * said + 1
        for own, said in zip(held, counted, strict=True)
    )


def _by_owner(
    space: ProfileDiff, diff: ProfileDiff
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values per operation by owner, as rows of the functions of bytes."""
    functions = space.paired_functions
    size = len(functions.names)
    sides: list[NDArray[np.float64]] = []
    for side, values in enumerate(diff.values):
        rows = functions.union[side]
        names = [functions.names[row] for row in rows.tolist()]
        mine = owned(names)
        owners = [
            np.append(rows[ids], -1)[_owner(mine[ids], frames.offsets)]
            for _, _, frames in walk((diff.base, diff.new)[side].profile)
            for ids in (functions.sides[side].ids[frames.line],)
        ]
        owner = np.concatenate([np.zeros(0, np.int64), *owners])
        known = owner >= 0
        total = sums(owner[known], values[known], size)
        sides.append(total.astype(np.float64) * diff.normalization.factors[side])
    return sides[0], sides[1]


def _owner(mine: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each stack's first frame of the program, -1 for none."""
    return first_in_row(mine, offsets)
