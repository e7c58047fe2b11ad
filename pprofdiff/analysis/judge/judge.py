"""The judge: the single entry point for everything about significance.

Callers pass both sides' values run by run (`Runs`) and get deltas, intervals and marks
(`Judgement`, `Change`). The model behind it depends on the measure:

=====================  ==========================  =====================================
measure                one run's value             model
=====================  ==========================  =====================================
sampled values         int64 column, raw           `counts.CountModel`
a quantile             `durations.Durations`       `durations.ExceedanceModel`
a quantile's ceiling   `durations.Durations`       `durations.CeilingModel`
quantiles' intervals   `durations.Durations`       `durations.BootstrapModel`
mean over GC cycles    float64 draws               `means.MeanModel`
figures run by run     float64 column, above 0     `ratios.RatioModel`
a figure's ceiling     float64 column of one       `ratios.LevelModel`
a benchmark            its values                  `samples.MedianModel`
a figure of a trace    `judgement.Observed`        `priors.PriorModel`
a number of events     int                         `priors.EventModel`
=====================  ==========================  =====================================

All thresholds are in `calibration`. With one run per side, models describe variation
within a run; values of several runs are pooled. Those of `ratios` treat each run's
figure as one observation. A model is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import Prior, Spread
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Change, Judgement, Observed, Runs
from pprofdiff.analysis.judge.scaling import Normalization

if TYPE_CHECKING:
    from pprofdiff.analysis.judge.durations import Durations

__all__ = ["Judge", "Model", "beyond_runs"]

V = TypeVar("V")


class Model(Protocol[V]):
    """How a measure's change is judged."""

    def rows(self, runs: Runs[V]) -> Judgement:
        """Judge the rows of both sides' runs."""


@dataclass(frozen=True, eq=False)
class Judge(Generic[V]):
    """Judges one measure of one pair of sides; `V` is the type of one run's value.

    Created by the method named after the measure, such as `Judge.of_counts`.
    """

    model: Model[V]

    def rows(self, runs: Runs[V]) -> Judgement:
        """Return the judgement of all rows, judged together."""
        return self.model.rows(runs)

    def one(self, runs: Runs[V]) -> Change:
        """Return the change of the first row, judged together with all others."""
        return self.rows(runs).change()

    def pair(self, base: V, new: V) -> Change:
        """Return the change between one run of base and one of new."""
        return self.one(Runs.single(base, new))

    @staticmethod
    def of_counts(
        worth: tuple[float, float], by: Normalization
    ) -> Judge[NDArray[np.int64]]:
        """Judge sampled values; a sample is worth (base, new) raw, scaled with `by`."""
        return Judge(CountModel.of(worth, by))

    @staticmethod
    def of_quantile(rank: int) -> Judge[Durations]:
        """Judge a quantile, in thousandths, of independent durations."""
        from pprofdiff.analysis.judge.durations import ExceedanceModel

        return Judge(ExceedanceModel(rank))

    @staticmethod
    def of_ceiling(rank: int, limit_ns: float) -> Judge[Durations]:
        """Judge whether new's quantile, in thousandths, exceeds a limit."""
        from pprofdiff.analysis.judge.durations import CeilingModel

        return Judge(CeilingModel(rank, limit_ns))

    @staticmethod
    def of_quantiles(ranks: Sequence[int]) -> Judge[Durations]:
        """Judge quantiles of durations correlated within blocks, one row each."""
        from pprofdiff.analysis.judge.durations import BootstrapModel

        return Judge(BootstrapModel(tuple(ranks)))

    @staticmethod
    def of_mean() -> Judge[NDArray[np.float64]]:
        """Judge a mean of independent draws."""
        from pprofdiff.analysis.judge.means import MeanModel

        return Judge(MeanModel())

    @staticmethod
    def of_ratios(spreads: Sequence[Spread]) -> Judge[NDArray[np.float64]]:
        """Judge ratios of figures known run by run, with one spread per figure."""
        from pprofdiff.analysis.judge.ratios import RatioModel

        return Judge(RatioModel(tuple(spreads)))

    @staticmethod
    def of_level(spread: Spread, limit: float) -> Judge[NDArray[np.float64]]:
        """Judge whether a figure of new, known run by run, exceeds a limit."""
        from pprofdiff.analysis.judge.ratios import LevelModel

        return Judge(LevelModel(spread, limit))

    @staticmethod
    def of_benchmark() -> Judge[Sequence[float]]:
        """Judge the median of a benchmark's values."""
        from pprofdiff.analysis.judge.samples import MedianModel

        return Judge(MedianModel())

    @staticmethod
    def of_figure(prior: Prior) -> Judge[Observed]:
        """Judge a figure whose run-to-run variation is known from a prior."""
        from pprofdiff.analysis.judge.priors import PriorModel

        return Judge(PriorModel(prior))

    @staticmethod
    def of_events() -> Judge[int]:
        """Judge the change in the number of events, such as GC cycles."""
        from pprofdiff.analysis.judge.priors import EventModel

        return Judge(EventModel())


def beyond_runs(prior: Prior, base: float, new: float) -> bool:
    """Return whether a figure changed by more than runs of one build do."""
    return Judge.of_figure(prior).pair(Observed(base), Observed(new)).significant
