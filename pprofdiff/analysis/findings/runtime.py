"""The rest of the runtime: scheduling, locks, and what leaves do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.model import Fact, Finding
from pprofdiff.analysis.findings.wording import arrow, listed, short, times
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_categories, judged_sums
from pprofdiff.analysis.stats.calibration import CONTENTION, CONTENTION_SURE
from pprofdiff.analysis.stats.judge import beyond_runs
from pprofdiff.goruntime.names import package_of
from pprofdiff.goruntime.rules import rules
from pprofdiff.model import csr

__all__ = ["contention", "leaf_work", "locks", "scheduler"]

# A group, or a kind of work, matters if it moved by this share of all CPU.
_SHARE = 0.01
_KINDS = {"copy": "Copying", "clear": "Clearing memory", "hash": "Hashing"}
# Waiting matters from this much of a second in each second.
_WAITED = 0.05
_OF_LOCKS = ("sync", "internal/sync", "runtime")


class _Subject(NamedTuple):
    """One group as a finding: its id, what it is called, what to look at next."""

    id: str
    group: str
    name: str
    advice: str


def scheduler(case: Case) -> Iterator[Finding]:
    """Goroutines are switched, woken and looked for more or less often."""
    yield from _group(
        case,
        _Subject(
            "scheduler",
            "sched",
            "Scheduling",
            "An execution trace shows which goroutines start, block and wake so often.",
        ),
    )


def locks(case: Case) -> Iterator[Finding]:
    """CPU in package sync, channels and select."""
    yield from _group(
        case,
        _Subject(
            "locks",
            "locks",
            "Locks and channels",
            "A mutex and a block profile show which lock or channel.",
        ),
    )


def _group(case: Case, subject: _Subject) -> Iterator[Finding]:
    cpu = case.cpu
    if cpu is None or not cpu.moved(subject.group):
        return
    group = cpu.groups[subject.group]
    if abs(group.delta) < _SHARE * cpu.whole or cpu.follows_load(group.delta):
        return
    parts = [c for c in judged_categories(cpu.diff, subject.group) if c.noise is False]
    said = [f"{c.label} {cpu.words(c.base, c.new)}" for c in parts]
    payers = _payers(cpu, subject.group)
    whole = cpu.words(group.base, group.new)
    sentences = ["; ".join([f"In all {whole}", *said])]
    if payers:
        sentences.append(f"Mostly in {listed(payers)}")
    unit = cpu.diff.unit
    yield Finding(
        subject.id,
        f"{subject.name} {cpu.moves(group.delta, several=subject.id == 'locks')}",
        "".join(f"{sentence}. " for sentence in sentences).strip(),
        (
            Fact(group.label, "cpu profile", group.base, group.new, unit),
            *(Fact(c.label, "cpu profile", c.base, c.new, unit) for c in parts),
        ),
        subject.advice if group.delta > 0 else "",
        direction="worse" if group.delta > 0 else "better",
        claim=cpu.of_groups(subject.group),
    )


def _payers(cpu: CPUComparison, group: str) -> list[str]:
    """Return the program's functions whose bill for a group moved most."""
    sums, names = cpu.diff.blame_sums, cpu.names
    if sums is None:
        return []
    members = next(g.categories for g in rules().groups if g.id == group)
    chosen = np.array([c in members for c in rules().categories], np.bool_)
    wanted = np.flatnonzero(chosen[sums.category])
    caller = sums.caller[wanted]
    own = np.where(caller >= 0, caller, sums.function[wanted])
    functions, at = csr.grouped(own)
    base, new = (
        csr.sums(at, column[wanted], len(functions)) for column in (sums.base, sums.new)
    )
    delta = cpu.diff.normalization.delta(base, new)
    order = np.argsort(-np.abs(delta), kind="stable")[:2].tolist()
    return [
        f"{short(names[int(functions[i])])} ({cpu.words(base[i], new[i])})"
        for i in order
        if delta[i]
    ]


def leaf_work(case: Case) -> Iterator[Finding]:
    """Name copying, clearing or hashing that moved, in whatever category."""
    cpu = case.cpu
    if cpu is None:
        return
    kinds = [kind.id for kind in rules().leaf_kinds]
    for row in judged_sums(cpu.diff, _by_kind(cpu, kinds)):
        small = row.noise is not False or abs(row.delta) < _SHARE * cpu.whole
        if small or cpu.follows_load(row.delta):
            continue
        yield Finding(
            f"leaf-{row.id}",
            f"{row.label} {cpu.moves(row.delta)}",
            f"{cpu.words(row.base, row.new)}, most of the change in "
            f"{_mostly(cpu, kinds.index(row.id))}.",
            (Fact(row.label, "cpu profile", row.base, row.new, cpu.diff.unit),),
            direction="worse" if row.delta > 0 else "better",
            claim=cpu.of_leaf_kind(kinds.index(row.id)),
        )


def _mostly(cpu: CPUComparison, kind: int) -> str:
    """Name the category in which a kind of leaf moved most."""
    moves = {
        category: abs(cpu.scaled_delta(base, new))
        for category, k, base, new in cpu.diff.leaf_kind_sums
        if k == kind
    }
    most = max(moves, key=lambda category: moves[category])
    return rules().category_labels[rules().categories[most]]


def _by_kind(cpu: CPUComparison, kinds: list[str]) -> list[tuple[str, str, int, int]]:
    """Return (id, label, base, new) of each kind of leaf that has a finding."""
    sums = {kind: [0, 0] for kind in _KINDS}
    for _, kind, base, new in cpu.diff.leaf_kind_sums:
        if kinds[kind] in sums:
            sums[kinds[kind]][0] += base
            sums[kinds[kind]][1] += new
    return [(kind, _KINDS[kind], base, new) for kind, (base, new) in sums.items()]


def contention(case: Case) -> Iterator[Finding]:
    """Goroutines wait longer or shorter for locks, as the mutex profile counts it."""
    diff = next((d for d in case.comparison.profiles if d.name == "mutex"), None)
    if diff is None or diff.sample_type.type != "delay":
        return
    seconds = _seconds(case, diff)
    if seconds is None or not all(diff.totals):
        return
    rates = [total / 1e9 / s for total, s in zip(diff.totals, seconds, strict=True)]
    ratio = rates[1] / rates[0] / _load_ratio(case)
    if max(rates) < _WAITED or not beyond_runs(CONTENTION, 1.0, ratio):
        return
    table = diff.table("functions")
    order = table.order("flat")
    caller = next(
        (
            table.names[i]
            for i in table.order("cum").tolist()
            if package_of(table.names[i]) not in _OF_LOCKS
        ),
        table.names[int(order[0])],
    )
    more = "longer" if ratio > 1 else "shorter"
    yield Finding(
        "contention",
        f"Goroutines wait {times(ratio)} as long for locks, most of the change under "
        f"{short(caller)}",
        f"Waited a second: {arrow(rates[0], rates[1], 's')}, over all goroutines"
        f"{'' if ratio == rates[1] / rates[0] else '; the factor is by work done'}.",
        (Fact("delay", "mutex profile", *diff.totals, diff.unit),),
        f"Hold it for less time, or split it, if {more} waiting matters."
        if ratio > 1
        else "",
        severity="minor" if beyond_runs(CONTENTION_SURE, 1.0, ratio) else "info",
        direction="worse" if ratio > 1 else "better",
    )


def _load_ratio(case: Case) -> float:
    """Return how many times as much work new does, as far as is known."""
    work = case.comparison.work
    if work is not None and work.rates is not None:
        return work.rates[1] / work.rates[0]
    load = None if case.cpu is None else case.cpu.common_ratio
    return load.ratio if load is not None and load.sure else 1.0


def _seconds(case: Case, diff: ProfileDiff) -> tuple[float, float] | None:
    """Return what time the mutex profiles are over: since the start, as logs tell."""
    spans = diff.base.profile.duration_ns, diff.new.profile.duration_ns
    if spans[0] and spans[1]:
        return spans[0] / 1e9, spans[1] / 1e9
    if case.gc is None:
        return None
    ends = case.gc.base.whole.end_s, case.gc.new.whole.end_s
    return ends if all(ends) else None
