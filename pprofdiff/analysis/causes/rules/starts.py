"""Goroutines that start more often, relative to the work, and how many run at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.traces import (
    beyond,
    direction,
    own_groups,
    pair_of,
)
from pprofdiff.analysis.causes.wording import (
    arrow,
    counts,
    fixed,
    listed,
    numeral,
    times,
)
from pprofdiff.analysis.judge.calibration import BLOCKED, WAITS
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.policy import SIMILAR
from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.goruntime.names import package_of
from pprofdiff.goruntime.readable import short

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide
    from pprofdiff.model.traces.trace import Trace

_NAMED = 2
# Ranks above scheduling latency, which more goroutines entail.
_WEIGHT = 1.0


class _Kind(NamedTuple):
    """Goroutines of one root function: how many start in the traces, base and new."""

    name: str
    numbers: tuple[int, int]


def goroutine_starts(case: Case) -> Iterator[Finding]:
    """Yield a finding where more, or fewer, goroutines start per op.

    Where the work is unknown, the goroutines whose rate changed least show it: a server
    starts some for each request. If all start more often, that may be more work.
    """
    diff = case.trace
    if diff is None:
        return
    kinds = _kinds(diff)
    by = None
    if diff.rates is None:
        both = [kind for kind in kinds if min(kind.numbers) >= WAITS]
        by = min(both, key=lambda kind: _factor(diff, kind), default=None)
        if by is None:
            return
    moved = [kind for kind in kinds if kind is not by and _moved(diff, kind, by)]
    if not moved:
        return
    own = owned([kind.name for kind in moved]).tolist()
    order = sorted(
        zip(own, moved, strict=True),
        key=lambda one: (max(one[1].numbers), one[0]),
        reverse=True,
    )
    kind = order[0][1]
    each = _each(diff, kind, by)
    often = numeral(" → ".join(f"{n:.3g}" for n in each), "pair", each[1], each[0])
    where = _under(diff, kind)
    others = [
        f"{short(other.name)} {counts(*other.numbers)}"
        for _, other in order[1 : 1 + _NAMED]
    ]
    begin = f"{counts(*kind.numbers)} start"
    facts = [_fact(kind)]
    if by is not None:
        begin += f", and {counts(*by.numbers)} of those"
        facts.append(_fact(by))
    also = f" Others: {listed(others)}." if others else ""
    yield Finding(
        "goroutine-starts",
        f"Goroutines of {short(kind.name)} start {often} times "
        + ("per op" if by is None else f"for each of {short(by.name)}")
        + (f", most of them under {short(where)}" if where else ""),
        f"In the traces {begin}.{also}",
        tuple(facts),
        direction=direction(*each),
        weight=_WEIGHT,
    )


def _fact(kind: _Kind) -> Fact:
    base, new = kind.numbers
    return Fact(f"started: {kind.name}", "trace", base, new, "goroutines")


def _kinds(diff: TraceDiff) -> list[_Kind]:
    """Return the program's goroutines that start in the traces in large numbers."""
    born = [_born(side) for side in diff.sides]
    kinds = []
    for pair in own_groups(diff):
        base, new = (
            int(counts[row]) if row >= 0 else 0
            for counts, row in zip(born, (pair.base, pair.new), strict=True)
        )
        if max(base, new) >= WAITS:
            kinds.append(_Kind(pair.name, (base, new)))
    return kinds


def _born(side: TraceSide) -> Sequence[int]:
    """Return how many goroutines of each group are created in the traces."""
    born = np.concatenate([part.trace.goroutines.born for part in side.parts])
    counts = np.bincount(side.groups.group_of[born], minlength=len(side.groups))
    numbers: list[int] = counts.tolist()
    return numbers


def _factor(diff: TraceDiff, kind: _Kind) -> float:
    base, new = pair_of(diff, *kind.numbers)
    return abs(log(new / base))


def _each(diff: TraceDiff, kind: _Kind, by: _Kind | None) -> tuple[float, float]:
    """Return how many start per op, or for each goroutine of `by`."""
    if by is not None:
        return kind.numbers[0] / by.numbers[0], kind.numbers[1] / by.numbers[1]
    return pair_of(diff, *kind.numbers)


def _moved(diff: TraceDiff, kind: _Kind, by: _Kind | None) -> bool:
    """Return whether starts changed significantly, relative to work and over time."""
    rates = [_each(diff, kind, by), pair_of(diff, *kind.numbers)]
    ways = {direction(*rate) for rate in rates}
    return len(ways) == 1 and all(
        beyond(diff, BLOCKED, rate, (inf, inf)) for rate in rates
    )


def _under(diff: TraceDiff, kind: _Kind) -> str:
    """Return the function of main, else the program's, that starts most of them.

    On the side that starts more; "" where no function starts more than half.
    """
    side = diff.sides[kind.numbers[1] > kind.numbers[0]]
    callers: Counter[str] = Counter()
    for part in side.parts:
        goroutines = part.trace.goroutines
        names = _named(part.trace, kind.name)
        stacks = Counter(goroutines.creation_stack[goroutines.born & names].tolist())
        for stack, number in stacks.items():
            callers[_caller(part.trace, stack)] += number
    for name, number in callers.most_common(1):
        return name if 2 * number > sum(callers.values()) else ""
    return ""


def _named(trace: Trace, name: str) -> NDArray[np.bool_]:
    """Return which goroutines have the root function `name` (bool)."""
    ids = np.flatnonzero([root_name(text) == name for text in trace.strings])
    return np.isin(trace.goroutines.name, ids)


def _caller(trace: Trace, stack: int) -> str:
    names = trace.functions_of(stack)
    mains = [name for name in names if package_of(name) == "main"]
    owns = [name for name, own in zip(names, owned(names), strict=True) if own]
    return next(iter((*mains, *owns)), "")


# Goroutine time is not the cause if its change is below this part of time per op's.
_PART = 0.35


def concurrency(case: Case) -> Iterator[Finding]:
    """Yield a finding where ops last longer for the same goroutine time."""
    diff = case.trace
    if diff is None or diff.rates is None:
        return
    from pprofdiff.analysis.traces.workers import time_of_workers

    spent, work = time_of_workers(diff), case.comparison.work
    if spent is None or work is None or not work.closed:
        return
    lasts = 1e9 / diff.rates[0], 1e9 / diff.rates[1]
    if min(*spent, *lasts) <= 0:
        return
    longer, more = log(lasts[1] / lasts[0]), log(spent[1] / spent[0])
    if abs(longer) < log(SIMILAR) or abs(more) > _PART * abs(longer):
        return
    at_once = spent[0] / lasts[0], spent[1] / lasts[1]
    waits = _waits(case)
    where = f"; they wait most {listed(waits)}" if waits else ""
    how = "one after the other" if longer > 0 else "side by side"
    yield Finding(
        "concurrency",
        f"Time per op is {times(lasts[1] / lasts[0])} for the same goroutine time: "
        f"more of an op runs {how}{where}",
        f"An op completes every {arrow(*lasts, 'ns')}, and its goroutines take "
        f"{arrow(*spent, 'ns')} in total: {fixed(*at_once, 1)} of them at a time.",
        (
            Fact("time per op", "work", *lasts, "ns"),
            Fact("goroutines' time per op", "trace", *spent, "ns"),
        ),
        severity="major",
        direction="worse" if longer > 0 else "better",
        weight=1.0,
    )


def _waits(case: Case) -> list[str]:
    """Return the functions in which goroutines wait most, without idle ones.

    Goroutines that sleep may be of no op.
    """
    places = [p for p in case.waits if not p.idle and p.own and p.reason != "sleep"]
    places.sort(key=lambda p: -max(p.base_ns, p.new_ns))
    named = [f"in {short(p.function)} ({p.reason})" for p in places if p.reason]
    return list(dict.fromkeys(named))[:_NAMED]
