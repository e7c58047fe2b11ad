"""The account of goroutine time from traces: where an operation spends its time."""

from __future__ import annotations

from fractions import Fraction

from pprofdiff.analysis.account.intervals import intervals
from pprofdiff.analysis.account.model import Account, Amount, Part, in_part
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.ledger.by_run import each_together, merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import BACKGROUND_MARK
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.time import BLOCKED
from pprofdiff.analysis.traces.workers import worker_rows
from pprofdiff.goruntime.rules import rules

__all__ = ["of_trace"]

_TRACE, _CPU = "trace", "CPU profile"
_LABELS = {
    "runnable": "waiting for a processor",
    "syscall": "system calls with a processor",
    "syscall_block": "system calls without a processor",
    "unknown": "before the trace shows a state",
}
# CPU that the runtime spends outside user goroutines: background workers, scheduling.
_OUTSIDE_GROUPS = {"sched"}
_OUTSIDE = {*BACKGROUND_MARK, "gc.sweep.bg", "gc.scavenge.bg"}
# Standard deviations that sample counts may be off before CPU contradicts running time.
_DEVIATIONS = 3


def of_trace(comparison: Comparison, trace: TraceDiff) -> Account | None:
    """Return goroutine time per op, by state and reason.

    It covers the goroutines that do the work: see `traces.workers`. Running time is
    split by the CPU profile's groups if the profile agrees with the trace.
    """
    roots = worker_rows(trace)
    if roots is None:
        return None
    times, by = trace.time.by_state(roots), [Fraction(f) for f in trace.factors]

    def scaled(base: int, new: int) -> Amount:
        return Amount(by[0] * base, by[1] * new)

    def amount(state: str) -> Amount:
        view = times.get(state)
        return (
            scaled(0, 0)
            if view is None
            else scaled(int(view.base[0]), int(view.new[0]))
        )

    running = amount("running")
    parts, outside, gaps = _running(comparison.cpu, running)
    for state, label in _LABELS.items():
        parts.append(Part(state, label, amount(state), _TRACE))
    for state in times:
        if state.startswith(BLOCKED):
            reason = state.removeprefix(BLOCKED)
            label = f"blocked: {reason}" if reason else "blocked, reason not recorded"
            parts.append(Part(state, label, amount(state), _TRACE))
    shown = tuple(part for part in parts if any(part.amount))
    # GC ranges overlap with states.
    within = [
        Part(f"within.{name}", f"during {name}", scaled(base, new), _TRACE)
        for name, (base, new) in trace.within(roots).items()
        if base or new
    ]
    return Account(
        "goroutines' time per op",
        "ns",
        shown,
        tuple(within),
        tuple(outside),
        tuple(gaps),
    )


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
                if (c in _OUTSIDE or group.id in _OUTSIDE_GROUPS) == outside
            ],
        )
        for group in rules().groups
        for outside in (False, True)
    ]
    every = diff.ledger.every("category").runs
    runs = each_together(every, [members for *_, members in split])
    base, new = (side.tolist() for side in merged(runs))
    inside: list[Part] = []
    others: list[Part] = []
    for (group, outside, _), old, now, bounds in zip(
        split, base, new, intervals(diff, runs), strict=True
    ):
        amount = Amount(old * by[0], now * by[1])
        if any(amount):
            prefix = "beside.cpu" if outside else "cpu"
            part = Part(f"{prefix}.{group.id}", group.label, amount, _CPU, bounds)
            (others if outside else inside).append(part)
    off = running.less(Amount.sum(part.amount for part in inside))
    reach = _reach(diff, running)
    if off.base < -reach[0] or off.new < -reach[1]:
        gap = (
            "the CPU profile has more than the trace shows running: they are of other "
            "times, and running is not split"
        )
        return whole, [], [gap]
    parts = list(in_part(inside, others))
    gaps = []
    if parts != inside:
        gaps = ["CPU of the runtime's own workers (the CPU table includes it)"]
    # By chance there may be more samples than running time.
    label = "running, but not on a CPU" if min(off) >= 0 else "running less CPU"
    parts.append(Part("off-cpu", label, off, "trace less the CPU profile"))
    return parts, others, gaps


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
