"""The judge: the one entry to all that says how sure a change is.

Whoever compares hands over both sides' values run by run (`Runs`) and gets deltas,
intervals and marks (`Judgement`, `Change`). What is behind it depends on the measure:

=====================  ==========================  =====================================
measure                one run's value             model
=====================  ==========================  =====================================
sampled values         int64 column, raw           `counts.CountModel`
a quantile             `durations.Durations`       `durations.ExceedanceModel`
a quantile's ceiling   `durations.Durations`       `durations.CeilingModel`
quantiles' intervals   `durations.Durations`       `durations.BootstrapModel`
a mean of GC cycles    float64 draws               `means.MeanModel`
figures run by run     float64 column, above 0     `ratios.RatioModel`
a figure's ceiling     float64 column of one       `ratios.LevelModel`
a benchmark            its values                  `samples.MedianModel`
a figure of a trace    `judgement.Observed`        `priors.PriorModel`
a number of events     int                         `priors.EventModel`
=====================  ==========================  =====================================

Every threshold stands in `calibration`. With one run a side the models say what happens
within a run; values of several runs are pooled. Those of `ratios` take each run's
figure for one observation. A model is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.stats.calibration import Prior, Spread
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.analysis.stats.judgement import Change, Judgement, Observed, Runs

if TYPE_CHECKING:
    from pprofdiff.analysis.stats.durations import Durations

__all__ = ["Judge", "Model", "beyond_runs"]

V = TypeVar("V")


class Model(Protocol[V]):
    """What a measure's change is judged by."""

    def rows(self, runs: Runs[V]) -> Judgement:
        """Judge the rows of both sides' runs."""


@dataclass(frozen=True, eq=False)
class Judge(Generic[V]):
    """Judges one measure of one pair of sides; `V` is the type of one run's value.

    Made by the function that is named after the measure, such as `Judge.of_counts`.
    """

    model: Model[V]

    def rows(self, runs: Runs[V]) -> Judgement:
        """Return the judgement of all rows, judged together."""
        return self.model.rows(runs)

    def one(self, runs: Runs[V]) -> Change:
        """Return the change of the first row, which is judged with all others."""
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
        from pprofdiff.analysis.stats.durations import ExceedanceModel

        return Judge(ExceedanceModel(rank))

    @staticmethod
    def of_ceiling(rank: int, limit_ns: float) -> Judge[Durations]:
        """Judge whether new's quantile, in thousandths, is above a limit."""
        from pprofdiff.analysis.stats.durations import CeilingModel

        return Judge(CeilingModel(rank, limit_ns))

    @staticmethod
    def of_quantiles(ranks: Sequence[int]) -> Judge[Durations]:
        """Judge quantiles of durations that hang together in blocks, one row each."""
        from pprofdiff.analysis.stats.durations import BootstrapModel

        return Judge(BootstrapModel(tuple(ranks)))

    @staticmethod
    def of_mean() -> Judge[NDArray[np.float64]]:
        """Judge a mean of independent draws."""
        from pprofdiff.analysis.stats.means import MeanModel

        return Judge(MeanModel())

    @staticmethod
    def of_ratios(spreads: Sequence[Spread]) -> Judge[NDArray[np.float64]]:
        """Judge ratios of figures that are known run by run, one spread a figure."""
        from pprofdiff.analysis.stats.ratios import RatioModel

        return Judge(RatioModel(tuple(spreads)))

    @staticmethod
    def of_level(spread: Spread, limit: float) -> Judge[NDArray[np.float64]]:
        """Judge whether a figure of new, known run by run, is above a limit."""
        from pprofdiff.analysis.stats.ratios import LevelModel

        return Judge(LevelModel(spread, limit))

    @staticmethod
    def of_benchmark() -> Judge[Sequence[float]]:
        """Judge the median of a benchmark's values."""
        from pprofdiff.analysis.stats.samples import MedianModel

        return Judge(MedianModel())

    @staticmethod
    def of_figure(prior: Prior) -> Judge[Observed]:
        """Judge a figure of which runs are known to differ as much as a prior says."""
        from pprofdiff.analysis.stats.priors import PriorModel

        return Judge(PriorModel(prior))

    @staticmethod
    def of_events() -> Judge[int]:
        """Judge how many events, such as GC cycles, there were."""
        from pprofdiff.analysis.stats.priors import EventModel

        return Judge(EventModel())


def beyond_runs(prior: Prior, base: float, new: float) -> bool:
    """Return whether a figure moved by more than runs of one build are known to."""
    return Judge.of_figure(prior).pair(Observed(base), Observed(new)).told
