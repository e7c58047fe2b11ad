"""What stands under the tables: how small a change can be seen, what to type next."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.stats.counts import LIMIT
from pprofdiff.report.model import ReportModel
from pprofdiff.report.text.layout import Block, Words

__all__ = ["next_steps", "noise_note"]


def noise_note(diff: ProfileDiff) -> Iterator[Block]:
    """Yield what ``~`` means here, and the length of profile that would tell."""
    model = diff.model
    groups = [group for group in judged_groups(diff) if group.noise]
    if model is None or not groups or 0 in diff.totals:
        return
    largest = max(groups, key=lambda group: abs(group.delta))
    sides = np.array([largest.base]), np.array([largest.new])
    sigma = float(model.sigma(*sides)[0])
    scale = scale_of(diff)
    text = (
        f"within noise: at this length {largest.label} must move by "
        f"{scale.number(LIMIT * sigma)} {scale.unit} to be told from chance"
    )
    spans = [s.profile.duration_ns for s in (diff.base, diff.new)]
    lengths = [span for span in spans if span]
    times = float(model.lengths_needed(np.array([largest.delta / sigma]))[0])
    if len(lengths) == 2 and 1 < times < 1000:
        text += (
            f"; its {scale.number(largest.delta, signed=True)} would need profiles "
            f"of about {_span(times * max(lengths) / 1e9)}"
        )
    yield Words(f"{text}.", "faint", "~ ")


def _span(seconds: float) -> str:
    """Return a length of time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"


def next_steps(report: ReportModel) -> list[str]:
    """Return commands that lead on from this report."""
    first = report.profiles[0] if report.profiles else None
    steps: list[tuple[str, str]] = []
    if first is not None and first.is_cpu:
        moved = [group for group in judged_groups(first) if group.noise is False]
        top = max(moved, key=lambda group: abs(group.delta), default=None)
        name = top.id if top is not None and top.id != "user" else "gc"
        steps.append((f"--explain {name}", "which stacks, which rule"))
        if first.normalization.mode == "per_second":
            steps.append(("--rps BASE:NEW", "the cost of one operation"))
    if report.comparison.trace is not None:
        steps.append(("--state runnable", "by stack; or blocked, syscall, running"))
    steps.append(("-o diff.json", "every row, for a script"))
    return [
        f"{'next' if i == 0 else '':<6}pprofdiff … {flag:<18}{what}"
        for i, (flag, what) in enumerate(steps)
    ]
