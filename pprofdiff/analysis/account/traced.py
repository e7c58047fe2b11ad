"""The account of goroutine time from traces: where an operation spends its time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.account.intervals import intervals
from pprofdiff.analysis.account.model import Account, Amount, Part, in_part
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.ledger.by_run import each_together, merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import BACKGROUND_MARK
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.goruntime.rules import rules

__all__ = ["of_trace", "workers"]

_TRACE, _CPU = "trace", "CPU profile"
_COLUMNS = {
    "runnable": ("waiting for a processor", "sched_wait_ns"),
    "syscall": ("system calls with a processor", "syscall_ns"),
    "syscall_block": ("system calls without a processor", "syscall_block_ns"),
    "unknown": ("before the trace shows a state", "unknown_ns"),
}
# The goroutines with this share of active time do the work.
_MOST = 0.95
# Root functions of a benchmark's goroutines, and of the one that starts them.
_BENCHMARKS, _HARNESS = "testing.(*B).", "main.main"
_SLEEP, _MOSTLY = "sleep", 0.5
_ACTIVE = "exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns"
# CPU that the runtime spends outside user goroutines: background workers, scheduling.
_BESIDE_GROUPS = {"sched"}
_BESIDE = {*BACKGROUND_MARK, "gc.sweep.bg", "gc.scavenge.bg"}
# Standard deviations that sample counts may be off before CPU contradicts running time.
_DEVIATIONS = 3


def of_trace(comparison: Comparison, trace: TraceDiff) -> Account | None:
    """Return goroutine time per op, by state and reason.

    It covers the goroutines that do the work: see `workers`. Running time is split by
    the CPU profile's groups if the profile agrees with the trace.
    """
    names = workers(trace)
    rows = [_rows(side, names) for side in trace.sides]
    if not all(len(some) for some in rows):
        return None
    by = [Fraction(factor) for factor in trace.factors]

    def amount(column: str) -> Amount:
        return Amount(
            *(
                factor * int(getattr(side.groups, column)[some].sum())
                for side, some, factor in zip(trace.sides, rows, by, strict=True)
            )
        )

    def amounts(column: str, names: str) -> Iterator[tuple[str, Amount]]:
        sides = [
            _by_name(side, some, column, names)
            for side, some in zip(trace.sides, rows, strict=True)
        ]
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            base, new = (
                factor * side.get(name, 0)
                for side, factor in zip(sides, by, strict=True)
            )
            yield name, Amount(base, new)

    running = amount("exec_ns")
    parts, beside, gaps = _running(comparison.cpu, running)
    for id_, (label, column) in _COLUMNS.items():
        parts.append(Part(id_, label, amount(column), _TRACE))
    for reason, blocked in amounts("block_ns", "reasons"):
        label = f"blocked: {reason}" if reason else "blocked, for no reason given"
        parts.append(Part(f"blocked.{reason}", label, blocked, _TRACE))
    shown = tuple(part for part in parts if any(part.amount))
    # GC ranges overlap with states.
    within = [
        Part(f"within.{name}", f"during {name}", inside, _TRACE)
        for name, inside in amounts("range_ns", "range_names")
        if any(inside)
    ]
    return Account(
        "goroutines' time per operation",
        "ns",
        shown,
        tuple(within),
        tuple(beside),
        tuple(gaps),
    )


def workers(trace: TraceDiff) -> set[str]:
    """Return the root functions of the goroutines that do the work, on either side.

    They have 95% of the time running, runnable and in system calls. Goroutines that are
    mostly in `time.Sleep` are excluded: they wait for a timer, not for work.
    """
    names: set[str] = set()
    for side in trace.sides:
        groups = side.groups
        own = ~(groups.system | groups.tracing)
        if any(name.startswith(_BENCHMARKS) for name in groups.names):
            # It waits for the benchmark's goroutine and does nothing itself.
            own &= np.array([name != _HARNESS for name in groups.names], np.bool_)
        if _SLEEP in groups.reasons:
            asleep = groups.block_ns[:, list(groups.reasons).index(_SLEEP)]
            own &= asleep < _MOSTLY * groups.total_ns
        active = np.where(own, sum(getattr(groups, name) for name in _ACTIVE), 0)
        order = np.argsort(-active, kind="stable")
        passed = np.cumsum(active[order])
        if len(passed) and passed[-1]:
            needed = int(np.searchsorted(passed, _MOST * passed[-1])) + 1
            names.update(groups.names[i] for i in order[:needed].tolist())
    return names


def _rows(side: TraceSide, names: set[str]) -> NDArray[np.int64]:
    """Return the rows of a side's groups that have one of `names`."""
    rows = [i for i, name in enumerate(side.groups.names) if name in names]
    return np.array(rows, np.int64)


def _by_name(
    side: TraceSide, rows: NDArray[np.int64], column: str, names: str
) -> dict[str, int]:
    """Return the sums over `rows` of a matrix, by the names of its columns."""
    whole = getattr(side.groups, column)[rows].sum(axis=0).tolist()
    return dict(zip(getattr(side.groups, names), whole, strict=True))


def _running(
    diff: ProfileDiff | None, running: Amount
) -> tuple[list[Part], list[Part], list[str]]:
    """Return running time by CPU group, CPU of other goroutines, and gaps."""
    whole = [Part("running", "running", running, _TRACE)]
    if diff is None or diff.normalization.mode != "per_work":
        gap = "without CPU per op, running is not split into on and off a CPU"
        return whole, [], [gap]
    by = [Fraction(factor) for factor in diff.normalization.factors]
    split = [
        (
            group,
            outside,
            [
                rules().categories.index(c)
                for c in group.categories
                if (c in _BESIDE or group.id in _BESIDE_GROUPS) == outside
            ],
        )
        for group in rules().groups
        for outside in (False, True)
    ]
    every = diff.ledger.every("category").runs
    runs = each_together(every, [members for *_, members in split])
    base, new = (side.tolist() for side in merged(runs))
    inside: list[Part] = []
    beside: list[Part] = []
    for (group, outside, _), old, now, bounds in zip(
        split, base, new, intervals(diff, runs), strict=True
    ):
        amount = Amount(old * by[0], now * by[1])
        if any(amount):
            prefix = "beside.cpu" if outside else "cpu"
            part = Part(f"{prefix}.{group.id}", group.label, amount, _CPU, bounds)
            (beside if outside else inside).append(part)
    off = running.less(Amount.sum(part.amount for part in inside))
    reach = _reach(diff, running)
    if off.base < -reach[0] or off.new < -reach[1]:
        gap = (
            "the CPU profile has more than the trace shows running: they are of other "
            "times, and running is not split"
        )
        return whole, [], [gap]
    parts = list(in_part(inside, beside))
    gaps = []
    if parts != inside:
        gaps = ["CPU of the runtime's own workers, which the table of CPU has too"]
    # By chance there may be more samples than running time.
    label = "running, but not on a CPU" if min(off) >= 0 else "running less CPU"
    parts.append(Part("off-cpu", label, off, "trace less the CPU profile"))
    return parts, beside, gaps


def _reach(diff: ProfileDiff, running: Amount) -> tuple[float, float]:
    """Return how far the CPU per op of each side may be off by chance."""
    model = diff.model
    if model is None:
        return 0.0, 0.0
    steps = model.base_step, model.new_step
    base, new = (
        _DEVIATIONS * (float(abs(total)) * step) ** 0.5
        for total, step in zip(running, steps, strict=True)
    )
    return base, new
