"""A fleet's profiles in steps: time windows, or builds in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pprofdiff.model.arrays import Column
from pprofdiff.model.profiles.profile import ValueType


@dataclass(frozen=True, slots=True)
class Step:
    """One time window, or one build.

    `start_ns` is the start of a window (nanoseconds since 1970, UTC), None for a build;
    `hosts` and `profiles` count all kinds together, 0 for an empty window.
    """

    name: str
    hosts: int
    profiles: int
    start_ns: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One kind of profile by step and host, in its default sample type.

    `units` are the hosts, or fixed groups of hosts if there are many. `totals` are the
    sums of all samples: int64 of shape (units, steps). `functions` are names; the last
    is for samples without a stack. Their entries are ``offsets[i]:offsets[i+1]`` of
    `places` (``unit * steps + step``, increasing) and of `flat` and `cum` (int64); a
    missing entry is 0. `categories` are the sums by ``rules().categories``: int64 of
    shape (categories, units, steps), None if stacks have no runtime categories.
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
        """Return flat of these functions: int64 of shape (functions, units, steps)."""
        cells = self.totals.size
        block = np.zeros((len(functions), cells), np.int64)
        for row, function in enumerate(functions.tolist()):
            own = slice(*self.offsets[function : function + 2].tolist())
            block[row, self.places[own]] = self.flat[own]
        return block.reshape(len(functions), *self.totals.shape)

    def by_step(self, column: Column) -> Column:
        """Return `flat` or `cum` summed over units: int64, (functions, steps)."""
        steps = self.totals.shape[1]
        rows = np.repeat(np.arange(len(self.functions)), np.diff(self.offsets))
        added = np.zeros((len(self.functions), steps), np.int64)
        np.add.at(added, (rows, self.places % steps), column)
        return added


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The sums of many hosts' profiles by step.

    `place` says where the profiles are; `over` is ``time``, or the key that identifies
    builds. `width_s` is the width of a time window, 0 for builds. `kinds` are the kinds
    of profile, most informative first. `skipped` counts objects by why they were left
    out.
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
        """The number of profiles."""
        return sum(step.profiles for step in self.steps)
