"""Cost by value of one pprof label, such as each endpoint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judge import Judge
from pprofdiff.analysis.judge.judgement import Judgement, Runs
from pprofdiff.analysis.ledger.by_run import sums_by_run
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.labels import Labelled, few_valued
from pprofdiff.errors import UsageError
from pprofdiff.units import printable

__all__ = ["ByLabel", "by_label"]

# Label keys that servers and workers commonly use for the kind of work.
_USUAL = (
    *("endpoint", "route", "handler", "http_route", "http.route", "rpc", "grpc_method"),
    *("method", "path", "operation", "task", "job", "query", "tenant"),
)
# Keys for where a sample was taken, or an object's size: not kinds of work.
_PLACES = frozenset(
    {
        *("alignment", "bytes", "comm", "container", "goroutine", "host", "hostname"),
        *("instance", "node", "pid", "pod", "process", "request", "run", "thread"),
        *("thread id", "thread name", "thread_id", "thread_name", "tid", "version"),
    }
)
# Most values, each a row of the table, of a usual key and of any other key.
_MOST_USUAL, _MOST = 200, 20
_MOST_ASKED = 10_000
# A key identifies the work if more than this share of the total carries it.
_COVERS = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class ByLabel:
    """The values of one label, judged together.

    `values` includes "" for samples without the key, if any. `runs` holds each value's
    raw sums per run. `judged` is None without a noise model.
    """

    key: str
    values: tuple[str, ...]
    runs: Runs[NDArray[np.int64]]
    judged: Judgement | None


def by_label(diff: ProfileDiff, asked: str = "") -> ByLabel | None:
    """Return the cost per value of a label; None if no label identifies the work.

    `asked` is the key; "" selects one that most samples of both sides carry: a usual
    key, or else the only one with few values. Raises UsageError if no sample has the
    requested key, or if a sample has two values of it.
    """
    if asked:
        keys = {one.key: one for one in few_valued(diff, _MOST_ASKED)}
        if asked not in keys:
            known = ", ".join(map(printable, keys))
            have = f"labels are {known}" if known else "samples have no labels"
            raise UsageError(f"--by {printable(asked)}: no label has this name: {have}")
        return _judged(diff, keys[asked])
    keys = {
        one.key: one
        for one in few_valued(diff, _MOST_USUAL)
        if one.key not in _PLACES and len(one.values) > 2 and _covers(diff, one)
    }
    for key in _USUAL:
        if key in keys:
            return _judged(diff, keys[key])
    few = [one for one in keys.values() if len(one.values) <= _MOST + 1]
    return _judged(diff, few[0]) if len(few) == 1 else None


def _covers(diff: ProfileDiff, label: Labelled) -> bool:
    """Return whether samples with the label make up most of both sides' totals."""
    shares = []
    for of_sample, values, total in zip(
        label.sides, diff.values, diff.totals, strict=True
    ):
        shares.append(int(values[of_sample > 0].sum()) > _COVERS * total)
    return all(shares)


def _judged(diff: ProfileDiff, label: Labelled) -> ByLabel:
    size = len(label.values)
    runs = sums_by_run(diff.run_values, label.sides, size)
    some = np.zeros(size, np.bool_)
    for run in (*runs.base, *runs.new):
        some |= run != 0
    kept = np.flatnonzero(some)
    runs = runs.map(lambda run: run[kept])
    judged = None if diff.model is None else Judge(diff.model).rows(runs)
    values = tuple(label.values[i] for i in kept.tolist())
    return ByLabel(label.key, values, runs, judged)
