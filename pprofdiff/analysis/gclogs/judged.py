"""How the figures of GC logs changed, run by run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.catalogue import FIGURES
from pprofdiff.analysis.gclogs.side import GCSide, LoggedRun
from pprofdiff.analysis.judge.judge import Judge
from pprofdiff.analysis.judge.judgement import Change, Runs

__all__ = ["JUDGED", "changes_of", "values_of"]

JUDGED = tuple(figure for figure in FIGURES if figure.spread is not None)
"""The judged figures, which are judged as one table."""


def values_of(run: LoggedRun) -> NDArray[np.float64]:
    """Return one run's judged figures: float64, NaN where it has none."""
    values = [figure.of_run(run) for figure in JUDGED]
    column = np.array([np.nan if v is None else v for v in values], np.float64)
    return np.maximum(column, [figure.least for figure in JUDGED])


def changes_of(
    base: GCSide, new: GCSide, *, in_turns: bool = False
) -> Mapping[str, Change]:
    """Return how each figure changed, by its path in `GCFigures`.

    Deltas and their 95% intervals are logarithms of new ÷ base, of geometric means over
    runs; each run is one observation, or each pair of runs taken `in_turns`.
    """
    old, now = (tuple(map(values_of, side.runs)) for side in (base, new))
    judge = Judge.of_ratios([f.spread for f in JUDGED if f.spread is not None])
    judgement = judge.rows(Runs(old, now, in_turns))
    return {figure.path: judgement.change(row) for row, figure in enumerate(JUDGED)}
