"""Cost per op by sample label, and time by name of user task."""

from __future__ import annotations

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.calibration import FALSE_DISCOVERIES
from pprofdiff.analysis.judge.together import judged_together
from pprofdiff.analysis.ledger.by_run import merged
from pprofdiff.analysis.outcome.model import LabelUnits, Unit, verdict_between
from pprofdiff.analysis.outcome.tasks import Named, user_times
from pprofdiff.units import scale

__all__ = ["units_by_label", "units_by_task"]

_SEVERAL = 2


def units_by_label(comparison: Comparison) -> LabelUnits | None:
    """Return CPU per op by label value, for the values that both sides have.

    None if no label splits the work or the operation count is unknown: a share of one
    side is not a cost.
    """
    diff, labelled = comparison.cpu, comparison.by_label
    if diff is None or labelled is None or labelled.judged is None:
        return None
    second, unit = scale(1, diff.unit, "seconds")
    if unit != "s" or diff.normalization.mode != "per_work":
        return None
    sums = zip(*(side.tolist() for side in merged(labelled.runs)), strict=True)
    units = []
    for i, (value, (old, now)) in enumerate(zip(labelled.values, sums, strict=True)):
        if not (value and old > 0 and now > 0):
            continue
        base, new = (one * second for one in diff.normalization.scaled(old, now))
        low, high = (
            max(1 + float(bound[i]) * second / base, 0.0)
            for bound in (labelled.judged.low, labelled.judged.high)
        )
        verdict = verdict_between(
            new / base, (low, high), (low, high), comparison.same_within
        )
        if labelled.judged.noise[i] and verdict in ("slower", "faster"):
            verdict = "unknown"
        units.append(Unit(value, new / base, low, high, "cpu", base, new, verdict))
    return LabelUnits(labelled.key, tuple(units)) if units else None


def units_by_task(comparison: Comparison) -> LabelUnits | None:
    """Return the time of user tasks by name, or else of user regions, judged together.

    Never both, since regions lie inside tasks. None with fewer than two names.
    """
    return _units(comparison, "task") or _units(comparison, "region")


def _units(comparison: Comparison, kind: Named) -> LabelUnits | None:
    tasks = user_times(comparison, kind)
    if len(tasks) < _SEVERAL:
        return None
    bounds = judged_together([task.ratio for task in tasks], FALSE_DISCOVERIES)
    units = []
    for task, reach in zip(tasks, bounds, strict=True):
        ratio = task.ratio
        verdict = verdict_between(
            ratio.ratio, reach, ratio.narrow, comparison.same_within
        )
        units.append(
            Unit(task.name, ratio.ratio, *reach, "time", *task.seconds, verdict)
        )
    return LabelUnits(kind, tuple(units))
