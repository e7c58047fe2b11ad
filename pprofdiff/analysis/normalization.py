"""Which scaling makes two sides comparable: per op, shares, per second, or none."""

from __future__ import annotations

from collections.abc import Sequence
from operator import truediv
from typing import Literal

from pprofdiff.analysis.judge.calibration import SINCE_START
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.policy import MUCH
from pprofdiff.analysis.work import Work
from pprofdiff.errors import UsageError

Counts = Literal["cost", "moment", "other"]
"""What values count: ``cost`` (CPU time, allocations) grows with the work done;
``moment`` is a snapshot (live memory, goroutines); ``other`` is the rest."""

_UNKNOWN = "the work is not known: --work BASE:NEW gives the operations of each side"
_SINCE_START = "counts since the process began, whose operations are not known"
_SET_UP = "counts since the process began: what it allocated to start may differ alone"

_NOT_OF_THEM = "per op, the profiles have far more than benchmarks count, or far less"
# Benchmarks count what operations allocate, profiles what the process does. If set-up,
# or what does not allocate, is less than half of the operations' part, no function's
# value per op is off by more than a third.
_OF_OPERATIONS = 1.5
# What a process allocates, set-up with it, may be divided by the operations done if it
# is this part of what an op of the other side allocates: the change is off by no more.
_LITTLE = 0.02
# Of sampled CPU, less than half is then of the operations. Without set-up, samples and
# the kernel's clock differed by up to 1.6 times in 650 profiles on a busy machine.
_MOSTLY_OTHER = 2.0


def choose(
    *,
    totals: tuple[int, int],
    durations_ns: tuple[int | None, int | None],
    work: Work | None,
    share: bool,
    counts: Counts,
    of_fleets: bool = False,
) -> Normalization:
    """Choose how two sides are compared.

    Per op if the operations of the values' own window are known; new scaled to the
    total of base if `share` is set. Otherwise costs are compared as composition: how
    much CPU a program used, or allocated, depends on the machine and the load, not just
    on the cost per op. Otherwise per second if both sides have a duration, else
    absolute.

    If benchmarks count allocations per op, the operations of an allocation profile are
    those that allocate what it holds, so its total per op is the benchmarks' own.
    `of_fleets` means that values are sums over hosts: more hosts have more of anything.
    Raises UsageError if both `work` and `share` are given.
    """
    if work is not None and share:
        raise UsageError("-normalize and --work contradict each other: give one")
    if share:
        base, new = totals
        factor = base / new if new else 0.0
        return Normalization("share", 1.0, factor, "-normalize: new scaled to base")
    if counts == "moment" and not of_fleets:
        return Normalization(
            "absolute", 1.0, 1.0, "each profile is a snapshot of its own moment"
        )
    done, unlike = _operations(totals, durations_ns, work, counts)
    if work is not None and done is not None and not unlike:
        return Normalization("per_work", 1 / done[0], 1 / done[1], work.reason)
    if (counts == "cost" or of_fleets) and min(totals) > 0:
        reason = unlike or (_UNKNOWN if work is None else _SINCE_START)
        if counts != "cost":
            reason = "more hosts have more of it"
        return Normalization("composition", 100 / totals[0], 100 / totals[1], reason)
    base_ns, new_ns = durations_ns
    if base_ns and new_ns:
        reason = "both profiles have a duration"
        return Normalization("per_second", 1e9 / base_ns, 1e9 / new_ns, reason)
    reason = "no duration on both sides; --work BASE:NEW compares per op"
    return Normalization("absolute", 1.0, 1.0, reason)


def counted(
    totals: tuple[int, int],
    operations: tuple[int, int],
    work: Work | None,
    *,
    exact: bool,
    few: tuple[bool, bool] = (False, False),
) -> Normalization:
    """Return the scaling to the operations that profiles say they cover.

    If `work` knows the cost per op, totals per op are that cost. `exact` values are not
    scaled: their sum is larger if a benchmark's timer was stopped, and has fewer
    objects if tiny ones share a block (runtime/malloc.go). Totals mostly outside the
    operations, such as set-up with the timer stopped, are compared as composition, but
    `few` samples do not show that they are: one more would be as much as many ops cost.
    """
    done = float(operations[0]), float(operations[1])
    counts, other = done, [False, False]
    if work is not None and work.holds is not None and not exact:
        implied = _holding(totals, work.holds)
        if implied is not None:
            times = map(truediv, implied, done)
            other = [
                one > _MOSTLY_OTHER and not rare
                for one, rare in zip(times, few, strict=True)
            ]
        if not _is_little(totals, done, work.holds, other):
            return Normalization(
                "composition", 100 / totals[0], 100 / totals[1], _NOT_OF_THEM
            )
        # What is empty on a side is empty per op, whatever the divisor.
        base, new = (
            total / cost if total > 0 and cost > 0 else count
            for total, cost, count in zip(totals, work.holds, done, strict=True)
        )
        done = base, new
    reason = "operations that the profiles count" if work is None else work.reason
    by = Normalization("per_work", 1 / done[0], 1 / done[1], reason)
    # What a side has outside its operations says nothing of how samples count them.
    off = [
        1.0 if apart else one / count
        for one, count, apart in zip(done, counts, other, strict=True)
    ]
    return by._replace(apart=off[1] / off[0])


def _operations(
    totals: tuple[int, int],
    durations_ns: tuple[int | None, int | None],
    work: Work | None,
    counts: Counts,
) -> tuple[tuple[float, float] | None, str]:
    """Return the operations behind values, or None, and why they do not fit, or ""."""
    if work is None or counts == "moment":
        return None, ""
    done = work.done(durations_ns, allocations=counts == "cost")
    if work.holds is not None and not any(durations_ns):
        counted = None if done is None else _counted(totals, done, work.holds)
        return counted, "" if counted else _NOT_OF_THEM
    if counts == "cost" and _of_set_up(totals, durations_ns, work, done):
        return done, _SET_UP
    return done, ""


def _is_little(
    totals: tuple[int, int],
    done: tuple[float, float],
    costs: tuple[float, float],
    other: Sequence[bool],
) -> bool:
    """Return whether what is outside of operations is little next to their cost.

    That is on sides with much of it (`other`): their ops may be so cheap that most of a
    process is its start.
    """
    sides = zip(totals, done, costs, other, strict=True)
    return all(
        total / count - cost <= MUCH * max(costs)
        for total, count, cost, much in sides
        if much
    )


def _holding(
    totals: tuple[int, int], allocated: tuple[float, float]
) -> tuple[float, float] | None:
    """Return how many operations of (base, new) allocate the totals; None for none."""
    if min(totals) <= 0 or min(allocated) <= 0:
        return None
    return totals[0] / allocated[0], totals[1] / allocated[1]


def _counted(
    totals: tuple[int, int], done: tuple[float, float], allocated: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the operations of (base, new) that allocate the totals, None if unlike.

    A side that allocates next to nothing per op may be mostly set-up. Where an op
    allocates nothing, it has the operations done.
    """
    found = []
    for side, (total, count, cost) in enumerate(
        zip(totals, done, allocated, strict=True)
    ):
        implied = total / cost if total > 0 and cost > 0 else 0.0
        if 1 / _OF_OPERATIONS <= implied / count <= _OF_OPERATIONS:
            found.append(implied)
        elif 0 < total / count <= _LITTLE * allocated[1 - side]:
            found.append(implied or count)
    return (found[0], found[1]) if len(found) == len(done) else None


def _of_set_up(
    totals: tuple[int, int],
    durations_ns: tuple[int | None, int | None],
    work: Work | None,
    done: tuple[float, float] | None,
) -> bool:
    """Return whether set-up alone may make ops look more, or less, expensive.

    A process counted from its start allocates a fixed amount plus some per op. The
    fixed amount differs if GC logs show that operations did not take that much more
    later. Without logs, the same two amounts on both sides explain both totals if ops
    seem to take more, there are fewer of them, and the total is no larger. Differences
    between two captures of one build count as none.
    """
    if work is None or done is None or any(durations_ns):
        return False
    if work.is_whole or min(totals) <= 0:
        return False
    more = totals[1] / totals[0]
    by_operation = more * done[0] / done[1]
    rates = work.per_second(work.seconds)
    if work.allocation is not None and rates is not None:
        more = work.allocation[1] / work.allocation[0] * rates[0] / rates[1]
    elif work.throughout:
        return False
    alike = SINCE_START.ratio
    if by_operation > alike:
        return more <= alike
    return by_operation < 1 / alike and more >= 1 / alike
