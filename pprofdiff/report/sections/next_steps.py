"""What to type next: flags that show more than a report does."""

from __future__ import annotations

from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Step, Steps


def next_steps(report: ReportModel, *, short: bool = False) -> Steps:
    """Return flags that show more of what this report is about."""
    first = report.profiles[0] if report.profiles else None
    steps: list[Step] = []
    if short:
        steps.append(Step("--full", "all tables"))
    if first is not None and first.is_cpu:
        groups = judged_groups(first) if first.grouped else []
        moved = [one for one in groups if one.noise is False and one.id != "user"]
        if moved:
            top = max(moved, key=lambda group: abs(group.delta))
            steps.append(Step(f"--explain {top.id}", "its stacks"))
        if first.normalization.mode == "per_second":
            steps.append(Step("--rps BASE:NEW", "cost per op"))
    if report.comparison.trace is not None:
        steps.append(Step("--state runnable", "or blocked, syscall, running"))
    steps.append(Step("-o diff.json", "every row"))
    return Steps(tuple(steps))
