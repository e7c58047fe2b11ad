"""Ops that run more, or less, in parallel: the same work in a different wall time."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.numbers import arrow, fixed, times
from pprofdiff.analysis.causes.wording import listed, short
from pprofdiff.analysis.policy import SIMILAR

__all__ = ["concurrency"]

# Goroutine time is not the cause if its change is below this part of time per op's.
_PART = 0.35
_NAMED = 2


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
        f"An op takes {arrow(*lasts, 'ns')}, and its goroutines take "
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
    """Return the functions in which goroutines wait most, without idle ones."""
    places = [p for p in case.waits if not p.idle and p.own]
    places.sort(key=lambda p: -max(p.base_ns, p.new_ns))
    named = [f"in {short(p.function)} ({p.reason})" for p in places if p.reason]
    return list(dict.fromkeys(named))[:_NAMED]
