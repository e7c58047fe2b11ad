"""What a judge is given and what it says: values by run in, changes and marks out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Change", "Judgement", "Mark", "Observed", "Runs"]

Mark = Literal["more", "less", "noise", "unknown"]
"""``more``, ``less``: new differs from base beyond chance. ``noise``: chance may have
made the difference. ``unknown``: nothing tells how far chance goes here."""

V = TypeVar("V")
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Runs(Generic[V]):
    """Both sides' values of one measure, run by run; each side has at least one run.

    What one run's value is depends on the measure: a column of raw counts by row, the
    durations of all pauses, the samples of a benchmark. `in_turns` says whether the
    runs of both sides stand beside each other in time, first with first; see `turns`.
    """

    base: tuple[V, ...]
    new: tuple[V, ...]
    in_turns: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for a side without a run."""
        if not self.base or not self.new:
            raise ValueError("a side has no run")

    @classmethod
    def single(cls, base: V, new: V) -> Runs[V]:
        """Return one run a side."""
        return cls((base,), (new,))

    def map(self, change: Callable[[V], V]) -> Runs[V]:
        """Return the runs with each value changed."""
        base, new = (tuple(map(change, side)) for side in (self.base, self.new))
        return Runs(base, new, self.in_turns)


class Observed(NamedTuple):
    """A figure of one run, the events that it is made of, and how long the run was."""

    value: float
    events: float = float("inf")
    wall_ns: float = float("inf")


class Change(NamedTuple):
    """One figure's change: new - base, scaled, and what of it chance may have made.

    `low` and `high` bound the delta; `p` is the chance of a difference as large where
    nothing changed; all are None where the model of the measure does not tell. `noise`
    says whether chance may have made the change, None where nothing tells.
    """

    delta: float
    low: float | None
    high: float | None
    p: float | None
    noise: bool | None

    @property
    def mark(self) -> Mark:
        """The verdict in a word."""
        if self.noise is None:
            return "unknown"
        if self.noise or not self.delta:
            return "noise"
        return "more" if self.delta > 0 else "less"

    @property
    def told(self) -> bool:
        """Whether new is more or less than base beyond chance."""
        return self.mark in ("more", "less")


@dataclass(frozen=True, eq=False)
class Judgement:
    """Many rows judged together; every column has one entry a row.

    `delta`, `low` and `high` (float64) are scaled, and NaN where the model of the
    measure has no interval; `z` are standard deviations, `p` and `q` (its false
    discovery rate among these rows) lie in [0, 1], all NaN where the model does not
    have them. `noise` (bool) is False where the change is beyond chance; `known` (bool)
    is False where nothing tells, and `noise` is True there.
    """

    delta: Floats
    low: Floats
    high: Floats
    z: Floats
    p: Floats
    q: Floats
    noise: Bools
    known: Bools

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.delta)

    @classmethod
    def of_one(
        cls,
        delta: float,
        *,
        interval: tuple[float, float] | None = None,
        p: float | None = None,
        noise: bool | None,
    ) -> Judgement:
        """Return the judgement of one figure; `noise` is None where nothing tells."""
        low, high = (np.nan, np.nan) if interval is None else interval
        chance = np.nan if p is None else p
        return cls(
            delta=np.array([delta], np.float64),
            low=np.array([low], np.float64),
            high=np.array([high], np.float64),
            z=np.array([np.nan]),
            p=np.array([chance], np.float64),
            q=np.array([chance], np.float64),
            noise=np.array([noise is not False]),
            known=np.array([noise is not None]),
        )

    @cached_property
    def mark(self) -> NDArray[np.str_]:
        """The `Mark` of each row."""
        cases = ~self.known, self.noise | (self.delta == 0), self.delta > 0
        marks: NDArray[np.str_] = np.select(cases, ("unknown", "noise", "more"), "less")
        return marks

    @property
    def chance(self) -> list[bool | None]:
        """Whether chance may have made each row's change, None where nothing tells."""
        noise, known = self.noise.tolist(), self.known.tolist()
        return [
            by_chance if told else None
            for by_chance, told in zip(noise, known, strict=True)
        ]

    @property
    def least(self) -> float | None:
        """The least |z| of a row beyond chance, None where there is no such row."""
        changes = np.abs(self.z[~self.noise])
        return float(changes.min()) if len(changes) else None

    def change(self, row: int = 0) -> Change:
        """Return one row."""
        values = (float(c[row]) for c in (self.low, self.high, self.p))
        low, high, p = (None if np.isnan(value) else value for value in values)
        noise = bool(self.noise[row]) if self.known[row] else None
        return Change(float(self.delta[row]), low, high, p, noise)
