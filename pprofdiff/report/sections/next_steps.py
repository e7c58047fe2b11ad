"""What to type next: flags that show more than a report does."""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Step, Steps

__all__ = ["next_steps"]


def next_steps(report: ReportModel, sections: Sequence[str] = ()) -> Steps:
    """Return flags that show more of what this report is about.

    `sections` are what the full report has tables of, if this one is short.
    """
    first = report.profiles[0] if report.profiles else None
    steps: list[Step] = []
    if sections:
        steps.append(Step("--full", f"all tables: {', '.join(sections)}"))
    if first is not None and first.is_cpu:
        if first.grouped:
            moved = [group for group in judged_groups(first) if group.noise is False]
            top = max(moved, key=lambda group: abs(group.delta), default=None)
            name = top.id if top is not None and top.id != "user" else "gc"
            steps.append(Step(f"--explain {name}", "which stacks, which rule"))
        if first.normalization.mode == "per_second":
            steps.append(Step("--rps BASE:NEW", "the cost of one operation"))
    if report.comparison.trace is not None:
        what = "by stack; or blocked, syscall, running"
        steps.append(Step("--state runnable", what))
    steps.append(Step("-o diff.json", "every row, for a script"))
    return Steps(tuple(steps))
