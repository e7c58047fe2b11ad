"""Calls that the compiler inlined on one side only: PGO, or other code around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.model import Direction, Fact, Finding
from pprofdiff.analysis.findings.wording import listed_functions
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.units import percent

__all__ = ["inlining"]

Column = NDArray[np.int64]

# A call tells with so many samples on a side: chance leaves none of ten with exp(-10).
_SAMPLES = 10
# Calls are inlined, or not, in so large a part of their samples: bodies of a function
# that is inlined elsewhere too may stay calls in a few places.
_MOSTLY = 0.9
# So many calls change where the compiler was told otherwise; one or two where the code
# around them was edited.
_SEVERAL = 3
# They matter from this part of the CPU on.
_SHARE = 0.05
_NAMED = 3


class _Calls(NamedTuple):
    """Calls of one side by key: values of samples that have them inlined, or called."""

    key: Column
    inlined: Column
    called: Column


def inlining(case: Case) -> Iterator[Finding]:
    """Several calls that are inlined on one side and not on the other."""
    cpu = case.cpu
    if cpu is None or cpu.other_release:
        return
    base, new = _calls(cpu, 0), _calls(cpu, 1)
    _, at, now = np.intersect1d(base.key, new.key, return_indices=True)
    least = [_SAMPLES * worth for worth in cpu.model.worth]
    whole = [
        (side.inlined + side.called)[rows] for side, rows in ((base, at), (new, now))
    ]
    parts = [
        side.inlined[rows] / np.maximum(total, 1)
        for side, rows, total in ((base, at, whole[0]), (new, now, whole[1]))
    ]
    enough = (whole[0] >= least[0]) & (whole[1] >= least[1])
    gained = enough & (parts[0] <= 1 - _MOSTLY) & (parts[1] >= _MOSTLY)
    lost = enough & (parts[1] <= 1 - _MOSTLY) & (parts[0] >= _MOSTLY)
    changed = gained if gained.sum() >= lost.sum() else lost
    if changed.sum() < _SEVERAL:
        return
    yield from _finding(cpu, base.key[at][changed], more=changed is gained)


def _calls(cpu: CPUComparison, side: int) -> _Calls:
    """Return the calls between functions outside the runtime, by caller and callee."""
    functions = cpu.diff.paired_functions
    union = functions.union[side][functions.sides[side].ids]
    profile = (cpu.diff.base, cpu.diff.new)[side].profile
    last = np.zeros(len(profile.locations.line_function), np.bool_)
    last[profile.locations.line_offsets[1:] - 1] = True
    own = np.array([not is_runtime_like(name) for name in cpu.names], np.bool_)
    size = len(cpu.names)
    keys, inlined, values = [], [], []
    for start, stop, frames in walk(profile):
        ids, offsets = union[frames.line], frames.offsets
        inner = np.ones(max(len(ids) - 1, 0), np.bool_)
        ends = offsets[1:-1] - 1
        inner[ends[(ends >= 0) & (ends < len(inner))]] = False
        some = np.flatnonzero(inner & own[ids[:-1]] & own[ids[1:]])
        keys.append(ids[some + 1] * size + ids[some])
        inlined.append(~last[frames.line[some]])
        row = np.repeat(np.arange(stop - start), np.diff(offsets))
        values.append(cpu.diff.values[side][start:stop][row[some]])
    if not keys:
        none = np.zeros(0, np.int64)
        return _Calls(none, none, none)
    key, at = np.unique(np.concatenate(keys), return_inverse=True)
    flag, value = np.concatenate(inlined), np.concatenate(values)
    sums = [np.zeros(len(key), np.int64) for _ in range(2)]
    np.add.at(sums[0], at[flag], value[flag])
    np.add.at(sums[1], at[~flag], value[~flag])
    return _Calls(key, sums[0], sums[1])


def _finding(cpu: CPUComparison, keys: Column, *, more: bool) -> Iterator[Finding]:
    size = len(cpu.names)
    callers, callees = np.unique(keys // size), keys % size
    chosen = np.zeros(size, np.bool_)
    chosen[callees] = True
    chosen[callers] = True
    claim = cpu.under(chosen).without(cpu.bookkeeping)
    base, new = cpu.sums(claim)
    totals = cpu.diff.totals
    shares = base / totals[0], new / totals[1]
    if max(shares) < _SHARE:
        return
    order = np.argsort(-cpu.cum[int(more)][callees], kind="stable")
    named = listed_functions(
        list(dict.fromkeys(cpu.names[i] for i in callees[order].tolist()))[:_NAMED]
    )
    change = cpu.change(claim)
    way: Direction = "neutral"
    if change.told and not cpu.in_shares:
        way = "worse" if change.delta > 0 else "better"
    yield Finding(
        "inlining",
        f"{len(keys)} calls are {'' if more else 'no longer '}inlined, of "
        f"{named}{' and others' if len(keys) > _NAMED else ''}: "
        f"{cpu.words(base, new)} in what calls them",
        f"That is {percent(*(base, totals[0]))} → {percent(*(new, totals[1]))} of the "
        "CPU. Profile-guided optimisation (-pgo), other compiler flags or edits around "
        "the calls do that.",
        (Fact("in functions that inline", "cpu profile", base, new, cpu.diff.unit),),
        severity="minor",
        direction=way,
        claim=claim,
        sure=True,
    )
