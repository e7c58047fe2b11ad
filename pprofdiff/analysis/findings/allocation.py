"""Allocation moved: which call sites allocate more or less, and what GC owes to it."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import words
from pprofdiff.analysis.findings.model import Claim, Fact, Finding
from pprofdiff.analysis.findings.wording import arrow, listed, points, short, times
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.leaf_owners import LeafSums
from pprofdiff.analysis.stats.common_ratio import common_ratio
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.model.csr import grouped, sums
from pprofdiff.units import percent

__all__ = ["allocation"]

# A call site matters from this share of all bytes on.
_SHARE = 0.05
_MOST = 0.5
# A share under this part of the other side's counts as none.
_LITTLE = 0.05
_NAMED = 3


class _Site(NamedTuple):
    """Functions that allocate for one function of the program.

    `delta` is new − base in scaled bytes, base multiplied by the common ratio.
    """

    owner: str
    functions: tuple[str, ...]
    base: int
    new: int
    delta: float


def allocation(case: Case) -> Iterator[Finding]:
    """Call sites allocate more or less than the ratio of the others accounts for."""
    diff = case.of_type("alloc_space")
    if diff is None or diff.model is None or not diff.model.sound:
        return
    if min(diff.totals) <= 0:
        return
    sites = _sites(diff, diff.model)
    if not sites:
        return
    less = sum(s.delta for s in sites if s.delta < 0)
    more = sum(s.delta for s in sites if s.delta > 0)
    falls = -less > more
    chosen = [s for s in sites if (s.delta < 0) == falls]
    yield Finding(
        "allocation",
        _title(diff, chosen),
        _text(case, diff, chosen),
        _evidence(case, diff, chosen),
        severity="minor",
        direction="better" if falls else "worse",
        claim=_claim(case, chosen, falls=falls),
        weight=float("inf"),
    )


def _sites(diff: ProfileDiff, model: CountModel) -> list[_Site]:
    """Return the sites that moved beyond noise and the load, the largest first."""
    load = None if diff.normalization.mode == "per_work" else common_ratio(diff)
    model = model if load is None else model.with_base_times(load.ratio)
    leaves, names = diff.leaf_sums, diff.paired_functions.names
    owners, at = grouped(leaves.owner)
    base, new = (sums(at, column, len(owners)) for column in (leaves.base, leaves.new))
    judged = model.judge(base, new)
    delta = judged.delta
    whole = max(model.by.scaled(float(base.sum()), float(new.sum())))
    loud = ~judged.noise & (np.abs(delta) >= _SHARE * whole)
    return [
        _Site(
            names[int(owners[i])],
            tuple(names[leaf] for leaf in _largest(leaves, at == i)),
            int(base[i]),
            int(new[i]),
            float(delta[i]),
        )
        for i in np.argsort(-np.abs(delta), kind="stable").tolist()
        if loud[i]
    ]


def _largest(leaves: LeafSums, chosen: NDArray[np.bool_]) -> list[int]:
    """Return the leaves of the chosen rows, what is largest in the base first."""
    order = np.argsort(-leaves.base[chosen], kind="stable")
    rows: list[int] = leaves.leaf[chosen][order].tolist()
    return rows


def _title(diff: ProfileDiff, sites: list[_Site]) -> str:
    """Return who allocates how much less or more, as shares of all bytes."""
    names = listed([short(s.owner) for s in sites[:_NAMED]])
    base, new = (sum(getattr(s, side) for s in sites) for side in ("base", "new"))
    totals = diff.totals
    verb = "allocate" if len(sites) > 1 else "allocates"
    if new / totals[1] < _LITTLE * base / totals[0]:
        return f"{names} no longer {verb} what was {percent(base, totals[0])} of bytes"
    if base / totals[0] < _LITTLE * new / totals[1]:
        return f"{names} now {verb} {percent(new, totals[1])} of all bytes"
    shares = points((base, totals[0]), (new, totals[1]))
    return f"{names} {verb} {shares} of all bytes"


def _text(case: Case, diff: ProfileDiff, sites: list[_Site]) -> str:
    """Return each site's bytes and the function in which they are allocated."""
    parts = []
    for site in sites[:_NAMED]:
        inner = [f for f in site.functions[:2] if f != site.owner]
        through = f" (through {listed([short(f) for f in inner])})" if inner else ""
        amount = words(diff, site.base, site.new)
        parts.append(f"{short(site.owner)}{through} {amount}")
    line = _line(diff, sites[0].owner)
    text = f"{'; '.join(parts)}{f'; most of the first at {line}' if line else ''}."
    gc = case.gc
    if gc is None or gc.factors is None:
        return text
    base, new = gc.base.steady, gc.new.steady
    if base.allocated_mb_per_second and new.allocated_mb_per_second:
        rates = gc.rates or (1.0, 1.0)
        per = "an operation" if gc.per_work else "a second"
        amount = arrow(
            base.allocated_mb_per_second * (1 << 20) / rates[0],
            new.allocated_mb_per_second * (1 << 20) / rates[1],
            "bytes",
        )
        text += f" In all {amount} are allocated {per}"
        text += f"; GC CPU {per} is {times(gc.factors.gc_cpu)} of what it was."
    return text


def _line(diff: ProfileDiff, owner: str) -> str:
    """Return the line of a function that moved most, as ``file.go:12``."""
    table = diff.table("lines")
    for row in table.order("cum").tolist():
        name, file = table.names[row], table.files[row]
        if name.startswith(place := f"{owner} {file}:"):
            return f"{basename(file)}:{name.removeprefix(place)}"
    return ""


def _evidence(case: Case, diff: ProfileDiff, sites: list[_Site]) -> tuple[Fact, ...]:
    source = f"{diff.name} profile alloc_space"
    facts = [
        Fact(f"bytes for {s.owner}", source, s.base, s.new, diff.unit) for s in sites
    ]
    facts.append(Fact("bytes in all", source, *diff.totals, diff.unit))
    objects = case.of_type("alloc_objects")
    if objects is not None:
        source = f"{objects.name} profile alloc_objects"
        facts.append(Fact("objects in all", source, *objects.totals, "objects"))
    return tuple(facts)


def _claim(case: Case, sites: list[_Site], *, falls: bool) -> Claim | None:
    """Claim what these sites cost: allocation, and GC where allocation decides it."""
    cpu = case.cpu
    if cpu is None:
        return None
    rows = np.zeros(len(cpu.names), np.bool_)
    rows[[cpu.row[s.owner] for s in sites if s.owner in cpu.row]] = True
    if _decides_gc(case, falls=falls):
        return cpu.bookkeeping
    return cpu.under(rows).within(cpu.bookkeeping)


def _decides_gc(case: Case, *, falls: bool) -> bool:
    """Return whether bytes allocated are most of why GC CPU moved, and as the sites."""
    if case.gc is None or case.gc.factors is None:
        return False
    moved, bytes_ = log(case.gc.factors.gc_cpu), log(case.gc.factors.allocation)
    return moved != 0 and (bytes_ < 0) == falls and bytes_ / moved >= _MOST
