"""Whether anything changed, for ``--only-if-changed``."""

from __future__ import annotations

from pprofdiff.analysis.causes.finding import Findings
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups

__all__ = ["changed"]


def changed(comparison: Comparison, findings: Findings) -> bool:
    """Return whether anything changed significantly, for better or worse.

    That is a runtime group, a function by flat or cum, a benchmark, or a finding above
    info: findings judge GC logs and traces. Figures without a noise model, such as
    goroutine counts, do not count.
    """
    if any(finding.severity != "info" for finding in findings.found):
        return True
    benchmarks = comparison.benchmarks
    if benchmarks is not None and any(
        row.significant and row.delta for row in benchmarks.rows
    ):
        return True
    return any(map(_moved, comparison.profiles))


def _moved(diff: ProfileDiff) -> bool:
    if any(group.noise is False for group in judged_groups(diff)):
        return True
    table = diff.table()
    judged = (table.judge(column) for column in ("flat", "cum"))
    return any(not one.noise.all() for one in judged if one is not None)
