"""What sets the pace of the collector: GOGC, or a memory limit that binds.

The goal of a cycle is live heap × (1 + GOGC / 100), stacks and globals counted as live,
unless a memory limit is lower (runtime/mgcpacer.go, commit and heapGoalInternal). The
first goal of a process is 4 MiB × GOGC / 100: no limit is near then, so it tells GOGC.
A pace that falls below that is a limit's, or one that the program set later: by GOGC
the goal moves with the live heap, and more than it, while a limit holds it where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.side import GCSide

__all__ = ["Pace", "pace_of"]

_FIRST_MB, _DEFAULT = 4.0, 100.0
# Sizes are rounded down to whole MiB: on average they are half of one low.
_CUT = 0.5
# Below this live heap that rounding decides.
_LEAST_MB = 4.0
# A goal may be so far from what GOGC alone makes it, and follow from it.
_NEAR = 1.25
# The live heap varies if its deviation is twice that of sizes rounded down (0.29 MiB).
_VARIES_MB = 0.6
# By GOGC goals vary at least as much as the live heap does, under a limit by rounding.
_HELD, _FOLLOWS = 0.5, 1.0
# Too few cycles tell no deviation.
_FEWEST = 5


class Pace(NamedTuple):
    """How far the goal is above the live heap, and what GOGC says of that, in percent.

    `effective` is that of the window. GOGC, as the process began, was from `low` on and
    below `high`; both are None where the log does not have its first cycle. `spread` is
    how much the goals that are lower than that vary, of what the live heap does under
    them; None where it hardly varies.
    """

    effective: float
    low: float | None
    high: float | None
    goal_mb: float
    live_mb: float
    spread: float | None = None

    @property
    def limited(self) -> bool:
        """Whether the goal is lower than GOGC alone would make it.

        It is not where goals go with the live heap: the program set GOGC itself.
        """
        lower = self.low is not None and self.effective * _NEAR < self.low
        return lower and (self.spread is None or self.spread < _FOLLOWS)

    @property
    def held(self) -> bool:
        """Whether goals are seen to stay where they are while the live heap varies."""
        return self.limited and self.spread is not None and self.spread <= _HELD

    @property
    def alone_mb(self) -> float | None:
        """The goal in MiB by GOGC alone; None where the first goal does not tell GOGC.

        With GOGC=off the first goal is the limit's, as later ones are.
        """
        if self.low is None or self.low / 100 * _FIRST_MB * 2 > self.goal_mb:
            return None
        return self.live_mb * (1 + self.low_gogc / 100)

    @property
    def follows_gogc(self) -> bool:
        """Whether GOGC, as the process began, explains the goal."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.effective * _NEAR and self.effective < self.high * _NEAR

    @property
    def low_gogc(self) -> float:
        """The least that GOGC may have been, the default where that is near."""
        if self.low is None or self.low <= _DEFAULT <= (self.high or 0.0):
            return _DEFAULT
        return self.low

    @property
    def gogc(self) -> float:
        """GOGC where it explains the goal: the default, if that is near."""
        near_default = _DEFAULT / _NEAR < self.effective < _DEFAULT * _NEAR
        return _DEFAULT if near_default else self.effective


def pace_of(side: GCSide) -> Pace | None:
    """Return the pace in a side's window; None where heaps are too small to tell."""
    cycles = side.cycles
    live, goal = cycles.heap_live_mb[:-1], cycles.goal_mb[1:]
    follows = np.diff(cycles.number) == 1
    live, goal = live[follows].astype(np.float64), goal[follows].astype(np.float64)
    if not len(live) or float(live.mean()) < _LEAST_MB:
        return None
    scanned = live + _CUT
    for more in (cycles.stacks_mb, cycles.globals_mb):
        if more is not None:
            scanned = scanned + more[:-1][follows]
    effective = 100 * float((goal - live).sum()) / float(scanned.sum())
    low, high = _at_the_start(side)
    means = float(goal.mean()) + _CUT, float(live.mean()) + _CUT
    lower = 100 * (goal - live) / scanned * _NEAR < (low or 0.0)
    return Pace(effective, low, high, *means, _spread(live[lower], goal[lower]))


def _spread(live: NDArray[np.float64], goal: NDArray[np.float64]) -> float | None:
    """Return how much goals vary, of what the live heap does; None if it does not."""
    if len(live) < _FEWEST or float(live.std()) < _VARIES_MB:
        return None
    return float(goal.std() / live.std())


def _at_the_start(side: GCSide) -> tuple[float | None, float | None]:
    """Return between which values GOGC was when the process began, if the log tells."""
    cycles = side.run.cycles
    if not len(cycles.number) or int(cycles.number[0]) != 1:
        return None, None
    first = float(cycles.goal_mb[0])
    return 100 * first / _FIRST_MB, 100 * (first + 1) / _FIRST_MB
