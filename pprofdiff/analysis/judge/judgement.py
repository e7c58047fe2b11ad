"""What a judge takes and returns: values by run in, changes and marks out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.judge.student import false_discovery_rates, two_sided

Mark = Literal["more", "less", "noise", "unknown"]
"""``more``, ``less``: new differs significantly from base. ``noise``: the difference is
within noise. ``unknown``: how large the noise is here is unknown."""

V = TypeVar("V")
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Runs(Struct, Generic[V], frozen=True, eq=False, dict=True):
    """Both sides' values of one measure, run by run; each side has at least one run.

    `in_turns` says whether run *i* of base and run *i* of new are adjacent in time.
    """

    base: tuple[V, ...]
    new: tuple[V, ...]
    in_turns: bool = False

    def __post_init__(self) -> None:
        if not self.base or not self.new:
            raise ValueError("one side has no runs")

    @classmethod
    def single(cls, base: V, new: V) -> Runs[V]:
        """Return one run per side."""
        return cls((base,), (new,))

    def map(self, change: Callable[[V], V]) -> Runs[V]:
        """Return the runs with each value changed."""
        base, new = (tuple(map(change, side)) for side in (self.base, self.new))
        return Runs(base, new, self.in_turns)


class Observed(NamedTuple):
    """A figure of one run, the number of events behind it, and the run's length."""

    value: float
    events: float = float("inf")
    wall_ns: float = float("inf")


class Change(NamedTuple):
    """One figure's change: new - base, scaled, and whether it may be noise.

    `low` and `high` bound the delta; `p` is the chance of a difference as large if
    nothing changed; each is None if the measure's model does not have it. `noise` says
    whether the change is within noise, None if unknown.
    """

    delta: float
    low: float | None
    high: float | None
    p: float | None
    noise: bool | None

    @property
    def mark(self) -> Mark:
        """The verdict in one word."""
        if self.noise is None:
            return "unknown"
        if self.noise or not self.delta:
            return "noise"
        return "more" if self.delta > 0 else "less"

    @property
    def significant(self) -> bool:
        """Whether new differs significantly from base."""
        return self.mark in ("more", "less")


class Judgement(Struct, frozen=True, eq=False, dict=True):
    """Many rows judged together; every column has one entry per row.

    `delta`, `low` and `high` (float64) are scaled; bounds are NaN if the measure's
    model has no interval. `z` are standard deviations, NaN if the model does not have
    them; `tested` (bool) marks the rows among which there may be false discoveries.
    `noise` (bool) is False if the change is significant; `known` (bool) is False if the
    noise is unknown, and `noise` is True there.
    """

    delta: Floats
    low: Floats
    high: Floats
    z: Floats
    tested: Bools
    noise: Bools
    known: Bools

    def __len__(self) -> int:
        return len(self.delta)

    @cached_property
    def p(self) -> Floats:
        """The chance of each row's |z| or more if nothing changed, in [0, 1]."""
        return two_sided(self.z)

    @cached_property
    def q(self) -> Floats:
        """The false discovery rate among the tested rows; 1 for the others."""
        q = np.ones(len(self))
        q[self.tested] = false_discovery_rates(self.p[self.tested])
        return q

    @cached_property
    def mark(self) -> NDArray[np.str_]:
        """The `Mark` of each row."""
        cases = ~self.known, self.noise | (self.delta == 0), self.delta > 0
        marks: NDArray[np.str_] = np.select(cases, ("unknown", "noise", "more"), "less")
        return marks

    @property
    def chance(self) -> list[bool | None]:
        """Whether each row's change is within noise, None if unknown."""
        chance = self.noise.astype(object)
        chance[~self.known] = None
        return list(chance)

    @property
    def least(self) -> float | None:
        """The smallest |z| of a significant row, None if there is none."""
        changes = np.abs(self.z[~self.noise])
        return float(changes.min()) if len(changes) else None

    def change(self, row: int = 0) -> Change:
        """Return the change of one row."""
        values = (float(c[row]) for c in (self.low, self.high, self.p))
        low, high, p = (None if np.isnan(value) else value for value in values)
        noise = bool(self.noise[row]) if self.known[row] else None
        return Change(float(self.delta[row]), low, high, p, noise)
