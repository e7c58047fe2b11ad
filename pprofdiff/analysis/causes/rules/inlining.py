"""Calls that the compiler inlined on one side only: by PGO, or changed code nearby."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Direction, Finding
from pprofdiff.analysis.causes.inlined import Inlined, inlined_calls, lines_of, on_both
from pprofdiff.analysis.causes.wording import listed, points
from pprofdiff.analysis.ledger.graph import calls_between
from pprofdiff.analysis.policy import FEW_SAMPLES, MAJOR, NAMED, NEARLY_ALL, SEVERAL
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct, sums


def inlining(case: Case) -> Iterator[Finding]:
    """Yield a finding where several calls are inlined on one side only."""
    cpu = case.cpu
    if cpu is None or cpu.other_release:
        return
    sides = inlined_calls(cpu)
    keys = distinct(np.concatenate([side.key for side in sides]))
    keys = keys[_possible(cpu, sides, keys)]
    if len(keys) < SEVERAL:
        return
    inlined = [side.of(keys) for side in sides]
    called = on_both(cpu.diff, lambda side: _called(cpu, side, keys))
    whole = [inlined[side] + called[side] for side in (0, 1)]
    least = [FEW_SAMPLES * worth for worth in cpu.model.worth]
    enough = (whole[0] >= least[0]) & (whole[1] >= least[1])
    parts = [part / np.maximum(of, 1) for part, of in zip(inlined, whole, strict=True)]
    gained = enough & (parts[0] <= 1 - NEARLY_ALL) & (parts[1] >= NEARLY_ALL)
    lost = enough & (parts[1] <= 1 - NEARLY_ALL) & (parts[0] >= NEARLY_ALL)
    changed = gained if gained.sum() >= lost.sum() else lost
    if changed.sum() < SEVERAL:
        return
    yield from _finding(cpu, keys[changed], more=changed is gained)


def _possible(
    cpu: CPUComparison, sides: Sequence[Inlined], keys: Column
) -> NDArray[np.bool_]:
    """Return which calls may be inlined on one side and mostly not on the other."""
    inlined = [side.of(keys) for side in sides]
    mostly, hardly = [], []
    for side, value, worth in zip(sides, inlined, cpu.model.worth, strict=True):
        mostly.append(value >= NEARLY_ALL * FEW_SAMPLES * worth)
        whole = value + side.most[keys % len(cpu.names)]
        hardly.append(value / np.maximum(whole, 1) <= 1 - NEARLY_ALL)
    possible: NDArray[np.bool_] = (hardly[0] & mostly[1]) | (hardly[1] & mostly[0])
    return possible


def _called(cpu: CPUComparison, side: int, keys: Column) -> Column:
    """Return the sum of the samples in which each of `keys` is a call."""
    profile, union = lines_of(cpu.diff, side)
    size = len(cpu.names)
    ends = profile.locations.line_offsets
    # A location is called at its last line, which is not inlined, and calls from its
    # first.
    called, calling = union[ends[1:] - 1], union[ends[:-1]]
    callees, callers = (np.zeros(size, np.bool_) for _ in range(2))
    callees[keys % size] = True
    callers[keys // size] = True
    total = np.zeros(len(keys), np.int64)
    for callee, by, item in calls_between(profile, callees[called], callers[calling]):
        key = calling[by] * size + called[callee]
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        there = (keys[at] == key) & (by >= 0)
        sample = np.searchsorted(profile.stack_offsets, item[there], "right") - 1
        total += sums(at[there], cpu.diff.values[side][sample], len(keys))
    return total


def _finding(cpu: CPUComparison, keys: Column, *, more: bool) -> Iterator[Finding]:
    size = len(cpu.names)
    callers, callees = keys // size, keys % size
    chosen = np.zeros(size, np.bool_)
    chosen[callees] = True
    chosen[callers] = True
    claim = cpu.under(chosen).without(cpu.bookkeeping)
    base, new = cpu.sums(claim)
    totals = cpu.diff.totals
    shares = base / totals[0], new / totals[1]
    if max(shares) < MAJOR:
        return
    order = np.argsort(-cpu.cum[int(more)][callees], kind="stable")
    called = list(dict.fromkeys(cpu.names[i] for i in callees[order].tolist()))
    others = ["others"] if len(called) > NAMED else []
    named = listed([*distinct_names(called[:NAMED]), *others])
    change = cpu.change(claim)
    way: Direction = "neutral"
    if change.significant and not cpu.in_shares:
        way = "worse" if change.delta > 0 else "better"
    yield Finding(
        "inlining",
        f"Calls of {named} are {'now' if more else 'no longer'} inlined: "
        f"{cpu.words(base, new)} in what calls them",
        f"That is {points((base, totals[0]), (new, totals[1]))} of the "
        "CPU. Profile-guided optimisation (-pgo), other compiler flags or edits around "
        "the calls do that.",
        (cpu.fact("in functions that inline", base, new),),
        severity="minor",
        direction=way,
        claim=claim,
        sure=True,
    )
