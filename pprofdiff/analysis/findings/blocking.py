"""Goroutines that wait for each other, or in system calls: which reason, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.lifetime import life_lost
from pprofdiff.analysis.findings.model import Fact, Finding
from pprofdiff.analysis.findings.runtime import contention
from pprofdiff.analysis.findings.traces import (
    beyond,
    direction,
    pair_of,
    scaled,
    time_fact,
)
from pprofdiff.analysis.findings.wording import short, times
from pprofdiff.analysis.stats.calibration import BLOCKED, BLOCKED_SURE
from pprofdiff.analysis.traces.movers import Mover, movers

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import StateTime, TraceDiff

__all__ = ["blocked", "system_calls"]

# What goroutines wait for that others have or do (traceBlockReasonStrings in
# runtime/traceruntime.go), and how ids and sentences call it. Sleeping, the network
# and waiting until GC ends are what a program asked for.
_REASONS = {
    "sync": ("sync", "in package sync (locks, wait groups)"),
    "sync.(*Cond).Wait": ("cond", "in sync.(*Cond).Wait"),
    "chan send": ("send", "on channel sends"),
    "chan receive": ("receive", "on channel receives"),
    "select": ("select", "in select"),
    "GC mark assist wait for work": ("assist", "in mark assists that wait for work"),
    "GC weak to strong wait": ("weak", "making weak pointers strong during GC"),
}
_ASSIST, _SYNC = "GC mark assist wait for work", "sync"
_MOST = 2
# Goroutine time that moved, by capacity (GOMAXPROCS × time): worth a sentence, or much.
_MOVED, _MUCH = 0.05, 0.2


def blocked(case: Case) -> Iterator[Finding]:
    """Goroutines wait for each other for longer or shorter, and where."""
    diff = case.trace
    if diff is None:
        return
    told = _told_already(case)
    rows = [
        row
        for row in diff.states
        if row.state == "blocked"
        and row.reason in _REASONS
        and row.reason not in told
        and _moves(diff, row)
    ]
    if not rows:
        return
    moving = movers(diff, "blocked")
    for row in sorted(rows, key=lambda row: -_moved(diff, row))[:_MOST]:
        places = [place for place in moving if place.reason == row.reason]
        yield _blocked(diff, row, places)


def _told_already(case: Case) -> set[str]:
    """Return the reasons of which other rules tell: mutex profiles, shares of life."""
    rules = {_SYNC: contention, _ASSIST: life_lost}
    return {reason for reason, rule in rules.items() if next(rule(case), None)}


def _moved(diff: TraceDiff, row: StateTime) -> float:
    """Return how much goroutine time moved, by capacity where that is by second."""
    base, new = pair_of(diff, row.base_ns, row.new_ns)
    return abs(new - base) / max(_capacity(diff), 1e-9)


def _capacity(diff: TraceDiff) -> float:
    """Return the larger capacity of both sides, scaled as times are."""
    base, new = (side.processors.capacity_ns for side in diff.sides)
    return max(pair_of(diff, base, new))


def _moves(diff: TraceDiff, row: StateTime) -> bool:
    pair = pair_of(diff, row.base_ns, row.new_ns)
    return beyond(diff, BLOCKED, pair) and _moved(diff, row) >= _MOVED


def _blocked(diff: TraceDiff, row: StateTime, places: list[Mover]) -> Finding:
    """Return what is to say of one reason."""
    id_, words = _REASONS[row.reason]
    number = max(sum(p.base_number for p in places), sum(p.new_number for p in places))
    pair = pair_of(diff, row.base_ns, row.new_ns)
    sure = beyond(diff, BLOCKED_SURE, pair, (number, number))
    sure = sure and _moved(diff, row) >= _MUCH
    where, part, facts = "", "", [_fact(f"blocked: {row.reason}", row)]
    if places:
        place = places[0]
        name, spent = place.function, (place.base_ns, place.new_ns)
        where = f", the largest change in {short(name)}"
        part = f"; {scaled(diff, *spent)} of it in {short(name)}"
        facts.append(time_fact(f"blocked: {row.reason}, in {name}", *spent))
    return Finding(
        f"blocked-{id_}",
        f"Goroutines are blocked {words} for {_amount(diff, row)}{where}",
        f"That is added up over goroutines{_ratio(pair)}{part}.",
        tuple(facts),
        severity="minor" if sure else "info",
        direction=direction(*pair),
        weight=min(_moved(diff, row), 1.0),
    )


def _amount(diff: TraceDiff, row: StateTime) -> str:
    return scaled(diff, row.base_ns, row.new_ns)


def _ratio(pair: tuple[float, float]) -> str:
    """Return by how much longer something lasts, behind its amounts."""
    return f", {times(pair[1] / pair[0])} as long" if min(pair) > 0 else ""


def _fact(what: str, row: StateTime) -> Fact:
    return time_fact(what, row.base_ns, row.new_ns)


def system_calls(case: Case) -> Iterator[Finding]:
    """Tell how long system calls go on without a processor, where that moved."""
    diff = case.trace
    if diff is None:
        return
    row = next(row for row in diff.states if row.state == "syscall_block")
    if not _moves(diff, row):
        return
    pair = pair_of(diff, row.base_ns, row.new_ns)
    base, new = (int(side.processors.steals.sum()) for side in diff.sides)
    text = f"{base:,} → {new:,} calls lost it in the traces; calls of C count too."
    facts = [_fact("in system calls, without a processor", row)]
    for place in movers(diff, "syscall")[:1]:
        name, spent = place.function, (place.base_ns, place.new_ns)
        text += (
            " Of all time in system calls, with and without a processor, that in "
            f"{short(name)} changed most: {scaled(diff, *spent)}."
        )
        facts.append(time_fact(f"in system calls, in {name}", *spent))
    yield Finding(
        "syscall-blocked",
        f"System calls go on for {_amount(diff, row)} after losing their processor",
        text,
        tuple(facts),
        direction=direction(*pair),
        weight=min(_moved(diff, row), 1.0),
    )
