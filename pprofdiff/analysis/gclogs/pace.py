"""What sets the GC pace: GOGC, or a memory limit that binds.

A cycle's heap goal is live heap × (1 + GOGC / 100), with stacks and globals counted as
live, unless a memory limit is lower (runtime/mgcpacer.go, commit and heapGoalInternal).
The first goal of a process is 4 MiB × GOGC / 100: no limit is near then, so it shows
GOGC. A pace that falls below it comes from a limit, or from a GOGC set later by the
program: under GOGC the goal varies with the live heap, and by more, while a limit keeps
it constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.side import GCSide

__all__ = ["Pace", "pace_of"]

_FIRST_MB, _DEFAULT = 4.0, 100.0
# Sizes are rounded down to whole MiB: on average they are half a MiB low.
_CUT = 0.5
# Below this live heap, rounding dominates.
_LEAST_MB = 4.0
# A goal within this factor of GOGC's own follows from GOGC.
_NEAR = 1.25
# The live heap varies if its deviation is twice that of rounding down (0.29 MiB).
_VARIES_MB = 0.6
# Under GOGC goals vary at least as much as the live heap, under a limit by rounding.
_HELD, _FOLLOWS = 0.5, 1.0
# Fewest cycles that show a deviation.
_FEWEST = 5


class Pace(NamedTuple):
    """How far the goal is above the live heap, and the GOGC that implies, in percent.

    `effective` is that of the window. At process start, GOGC was at least `low` and
    below `high`; both are None if the log lacks the first cycle. `spread` is how much
    the goals lower than that vary, relative to their live heap; None if that hardly
    varies.
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

        False if goals vary with the live heap: the program set GOGC itself.
        """
        lower = self.low is not None and self.effective * _NEAR < self.low
        return lower and (self.spread is None or self.spread < _FOLLOWS)

    @property
    def held(self) -> bool:
        """Whether goals stay constant while the live heap varies."""
        return self.limited and self.spread is not None and self.spread <= _HELD

    @property
    def alone_mb(self) -> float | None:
        """The goal in MiB from GOGC alone; None if the first goal does not show GOGC.

        With GOGC=off the first goal is the limit's, as later ones are.
        """
        if self.low is None or self.low / 100 * _FIRST_MB * 2 > self.goal_mb:
            return None
        return self.live_mb * (1 + self.low_gogc / 100)

    @property
    def follows_gogc(self) -> bool:
        """Whether the GOGC at process start explains the goal."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.effective * _NEAR and self.effective < self.high * _NEAR

    @property
    def low_gogc(self) -> float:
        """The lowest GOGC that is possible, or the default if that is in range."""
        if self.low is None or self.low <= _DEFAULT <= (self.high or 0.0):
            return _DEFAULT
        return self.low

    @property
    def gogc(self) -> float:
        """The GOGC that explains the goal: the default, if that is near."""
        near_default = _DEFAULT / _NEAR < self.effective < _DEFAULT * _NEAR
        return _DEFAULT if near_default else self.effective


def pace_of(side: GCSide) -> Pace | None:
    """Return the pace in a side's window; None if heaps are too small to show it."""
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
    """Return how much goals vary relative to the live heap; None if it hardly does."""
    if len(live) < _FEWEST or float(live.std()) < _VARIES_MB:
        return None
    return float(goal.std() / live.std())


def _at_the_start(side: GCSide) -> tuple[float | None, float | None]:
    """Return the bounds of GOGC at process start, None without the first cycle."""
    cycles = side.run.cycles
    if not len(cycles.number) or int(cycles.number[0]) != 1:
        return None, None
    first = float(cycles.goal_mb[0])
    return 100 * first / _FIRST_MB, 100 * (first + 1) / _FIRST_MB
