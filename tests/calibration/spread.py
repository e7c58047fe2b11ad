"""How much runs of one build differ: what a model of them has to explain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.calibration.loading import RunSet

CLASSES = ((0.01, 0.05), (0.05, 0.15), (0.15, 0.40))
"""Classes of functions by their share of the samples, for which φ is printed."""


class Spread(NamedTuple):
    """Figures of the runs of one build.

    `samples` is the mean of a run. `cpu`, `time` and `rate` are coefficients of
    variation of CPU an operation, time an operation and CPU a second; `poisson` is what
    counting samples alone gives. `lag` is the correlation of CPU an operation with that
    of the run before. `flat` and `cum` are medians of φ, Pearson's chi square of a
    row's samples by its degrees of freedom, of the classes of shares.
    """

    runs: int
    load: tuple[float, float]
    samples: float
    cpu: float
    poisson: float
    time: float
    rate: float
    lag: float
    preempted: float
    flat: tuple[float | None, ...]
    cum: tuple[float | None, ...]


class Grown(NamedTuple):
    """By what part CPU an operation grew, over all runs, and its standard error."""

    part: float
    error: float


def grown(runs: RunSet, build: str, planted: str) -> Grown:
    """Return how much dearer a planted build's operations are than another build's.

    Runs alternate, so that a drift of the machine is in both. It checks what shares
    show the planted size, on machines whose CPU an operation is steady.
    """
    logs = [
        np.log([runs.runs[i].cpu_an_operation for i in runs.of_build(name)])
        for name in (build, planted)
    ]
    error = np.sqrt(sum(log.var(ddof=1) / len(log) for log in logs))
    ratio = float(np.exp(logs[1].mean() - logs[0].mean()))
    return Grown(ratio - 1, ratio * float(error))


def spread(runs: RunSet, build: str) -> Spread:
    """Return how much the runs of a build differ."""
    at = runs.of_build(build)
    chosen = [runs.runs[i] for i in at]
    totals = runs.counts.totals[at]
    cpu = np.array([run.cpu_an_operation for run in chosen])
    time = np.array([run.operation_ns for run in chosen])
    loads = [run.load for run in chosen]
    logs = np.log(cpu) - np.log(cpu).mean()
    preempt = [
        i for i, n in enumerate(runs.counts.names) if n == "runtime.asyncPreempt"
    ]
    preempted = runs.counts.flat[preempt][:, at].sum() / totals.sum()
    return Spread(
        len(at),
        (min(loads), max(loads)),
        float(totals.mean()),
        _cv(cpu),
        float(1 / np.sqrt(totals.mean())),
        _cv(time),
        _cv(cpu / time),
        float((logs[1:] * logs[:-1]).sum() / (logs**2).sum()),
        float(preempted),
        *(
            _dispersions(runs.counts.column(column)[:, at], totals)
            for column in ("flat", "cum")
        ),
    )


def _cv(values) -> float:
    return float(values.std(ddof=1) / values.mean())


def _dispersions(counts, totals) -> tuple[float | None, ...]:
    """Return the median φ of each class; None where a class has no row."""
    shares = counts.sum(axis=1) / totals.sum()
    expected = shares[:, None] * totals
    with np.errstate(divide="ignore", invalid="ignore"):
        # The runs' totals are given, so that a row's variance is binomial.
        parts = (counts - expected) ** 2 / (expected * (1 - shares[:, None]))
    chi = parts.sum(axis=1) / (len(totals) - 1)
    chosen = [chi[(low <= shares) & (shares < high)] for low, high in CLASSES]
    return tuple(float(np.median(c)) if len(c) else None for c in chosen)
