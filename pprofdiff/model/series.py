"""A fleet's profiles step by step: windows of time, or builds in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.profiles.profile import ValueType

__all__ = ["Measured", "Series", "Step"]

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Step:
    """One window of time, or one build.

    `start_ns` is when a window begins (nanoseconds since 1970, UTC), None for a build;
    `hosts` and `profiles` are how many there are of all kinds, 0 where a window is
    empty.
    """

    name: str
    hosts: int
    profiles: int
    start_ns: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One kind of profile, step by step and host by host, in its default sample type.

    Attributes
    ----------
    kind, sample_type
        What was measured.
    units
        The hosts, or fixed groups of hosts where there are many.
    totals
        Sums of all samples: int64 of shape (units, steps), 0 where a unit has none.
    functions
        Names, in the order of rows; the last stands for samples without a stack.
    offsets
        Where each function's entries begin and end in the next three columns.
    places
        The unit and step of an entry, as ``unit * steps + step``, rising in a row.
    flat, cum
        The sums of an entry (int64); a place without an entry has 0.
    categories
        Sums by category of ``rules().categories``: int64 of shape (categories, units,
        steps); None where stacks have no runtime categories.

    """

    kind: str
    sample_type: ValueType
    units: tuple[str, ...]
    totals: Column
    functions: tuple[str, ...]
    offsets: Column
    places: Column
    flat: Column
    cum: Column
    categories: Column | None

    def flat_of(self, functions: Column) -> Column:
        """Return flat of some functions: int64 of shape (them, units, steps)."""
        cells = self.totals.size
        block = np.zeros((len(functions), cells), np.int64)
        for row, function in enumerate(functions.tolist()):
            own = slice(*self.offsets[function : function + 2].tolist())
            block[row, self.places[own]] = self.flat[own]
        return block.reshape(len(functions), *self.totals.shape)

    def by_step(self, column: Column) -> Column:
        """Return `flat` or `cum` added up over units: int64, (functions, steps)."""
        steps = self.totals.shape[1]
        rows = np.repeat(np.arange(len(self.functions)), np.diff(self.offsets))
        added = np.zeros((len(self.functions), steps), np.int64)
        np.add.at(added, (rows, self.places % steps), column)
        return added


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """What many hosts' profiles add up to, step by step.

    Attributes
    ----------
    place
        Where the profiles are, as people know it.
    over
        What steps are: ``time``, or what builds were told by.
    steps
        In order.
    width_s
        Seconds of a window of time, 0 for builds.
    kinds
        What was measured, most telling first.
    hosts
        How many hosts there are.
    skipped
        How many objects were left out, by reason.

    """

    place: str
    over: str
    steps: tuple[Step, ...]
    width_s: int
    kinds: tuple[Measured, ...]
    hosts: int
    skipped: Mapping[str, int]

    @property
    def profiles(self) -> int:
        """How many profiles there are."""
        return sum(step.profiles for step in self.steps)
