"""Whether the machine was busy with other work, judging by CPU profiles.

A goroutine whose thread lost its CPU to another process is preempted by a signal when
it resumes, and sampled there more often than elsewhere: in ``runtime.asyncPreempt``.
What other processes take counts in time per op, but not in CPU time per op.
"""

from __future__ import annotations

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.alike import scaled_alike
from pprofdiff.analysis.judge.calibration import (
    BUSIER_FROM,
    BUSIER_SIGMA,
    BUSY_FROM,
    BUSY_SIGMA,
    TOTAL_SIGMA,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.tables import STOPPED

SCHEDULING = ("sched",)
"""Groups that a busy machine changes by itself: it stops threads, and wakes them."""


def busy(comparison: Comparison) -> float | None:
    """Return the share of CPU samples that shows a busy machine, on the busier side.

    None if it is below `calibration.BUSY_FROM`, or there is no CPU profile.
    """
    shares = [_stopped(d) for d in comparison.profiles if d.is_cpu and all(d.totals)]
    most = max(shares, default=0.0)
    return most if most >= BUSY_FROM else None


def clock_sigma(comparison: Comparison) -> float:
    """Return the run-to-run deviation of time, as a logarithm."""
    return sigma_if(busy(comparison))


def sigma_if(share: float | None) -> float:
    """Return `clock_sigma` for what `busy` returns."""
    if share is None:
        return TOTAL_SIGMA
    return BUSY_SIGMA if share < BUSIER_FROM else BUSIER_SIGMA


def scheduling_alone(comparison: Comparison) -> bool:
    """Return whether the machine was busy, and only scheduling may have changed.

    One build was seen to schedule twice as much per op, with two busy processes running
    during one side. Other groups then change by one factor.
    """
    if busy(comparison) is None:
        return False
    diffs = [d for d in comparison.profiles if d.is_cpu and all(d.totals)]
    scaled = [scaled_alike(diff, without=SCHEDULING) for diff in diffs]
    return all(one is not None and one.alike for one in scaled)


def _stopped(diff: ProfileDiff) -> float:
    """Return the larger of both sides' shares of samples of stopped goroutines."""
    table = diff.table("functions")
    if STOPPED not in table.names:
        return 0.0
    row = table.names.index(STOPPED)
    base, new = (int(side[row]) for side in table.raw("flat"))
    return max(base / diff.totals[0], new / diff.totals[1])
