"""The rest of the runtime: scheduling, CPU in locks, and what leaves do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.busy import scheduling_alone
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import STACK_KEPT, CPUComparison
from pprofdiff.analysis.causes.finding import Claim, Finding
from pprofdiff.analysis.causes.wording import joined, listed, points
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_ROW
from pprofdiff.analysis.policy import MINOR, MOST, MUCH, NOTICED
from pprofdiff.analysis.profiles.groups import JudgedSum, judged_categories, judged_sums
from pprofdiff.goruntime.readable import short
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import sums

_LOCKS = frozenset(("mutex", "block"))
_KINDS = {"copy": "Copying", "clear": "Clearing memory", "hash": "Hashing"}


class _Subject(NamedTuple):
    """A group as a finding: its id, its name, and what to look at next, if anything."""

    id: str
    name: str
    advice: str = ""


_SUBJECTS = {
    "sched": _Subject(
        "scheduler",
        "Scheduling",
        "An execution trace shows which goroutines start, block and wake so often.",
    ),
    "locks": _Subject(
        "locks",
        "Locks and channels",
        "A mutex and a block profile show which lock or channel.",
    ),
    "alloc": _Subject(
        "allocation-cpu",
        "Allocation",
        "An allocs profile of each side shows how much is allocated.",
    ),
    "gc_tax": _Subject("gc-tax", "Sweeping and write barriers"),
}


def scheduler(case: Case) -> Iterator[Finding]:
    """Yield a finding where scheduling takes more or less CPU.

    Not where nothing else changed and the machine was busy with other work.
    """
    if not scheduling_alone(case.comparison):
        for finding in _group(case, "sched", known=case.trace is not None):
            yield _as_yields(case, finding)


def _as_yields(case: Case, finding: Finding) -> Finding:
    """Return the finding; if most of it is yields, it says so, and nothing blocks."""
    cpu = case.cpu
    if cpu is None or finding.claim is None:
        return finding
    yields = cpu.under_names(["runtime.gosched_m"]).within(finding.claim)
    delta = cpu.delta(finding.claim)
    if cpu.delta(yields) * delta < MOST * delta**2:
        return finding
    text = "Most of it is goroutines that yield (runtime.gosched_m), as sweeping does."
    return finding._replace(text=f"{finding.text} {text}".lstrip(), advice="")


def locks(case: Case) -> Iterator[Finding]:
    """Yield a finding on CPU in package sync, channels and select."""
    names = {diff.name for diff in case.comparison.profiles}
    yield from _group(case, "locks", known=case.trace is not None or names >= _LOCKS)


def allocating(case: Case) -> Iterator[Finding]:
    """Yield findings on CPU in allocation and sweeping that nothing else counts."""
    comparison, cpu = case.comparison, case.cpu
    counted = comparison.of_type("alloc_space") or comparison.benchmarks
    # Allocation's share rises and falls with all other code.
    if cpu is None or cpu.in_shares or counted is not None:
        return
    yield from _group(case, "alloc")
    if not cpu.moved("gc"):
        yield from _group(case, "gc_tax")


def stack_growth(case: Case) -> Iterator[Finding]:
    """Yield a finding where stacks are grown and copied more or less often.

    It is not the work of the function that needs more stack.
    """
    cpu = case.cpu
    if cpu is None:
        return
    claim = cpu.of(("stack",))
    change, (base, new) = cpu.change_relative(claim), cpu.sums(claim)
    delta = cpu.scaled_delta(base, new)
    if (
        not (change.significant and cpu.change(claim).significant)
        or change.delta * delta <= 0
    ):
        return
    if abs(delta) < NOTICED * cpu.whole or cpu.follows_load(delta):
        return
    if cpu.in_shares:
        totals = cpu.diff.totals
        says = f"takes {points((base, totals[0]), (new, totals[1]))} of the {cpu.noun}"
    else:
        says = f"costs {cpu.words(base, new)}"
    grown = cpu.delta(claim.within(cpu.under_names(["runtime.newstack"])))
    if grown * delta < MOST * delta**2:
        # Stacks of new goroutines.
        return
    what = "goroutines' stacks grow and are copied (runtime.newstack)"
    if delta < 0:
        what = "goroutines' stacks are grown and copied less (runtime.newstack)"
    yield Finding(
        "stack-growth",
        f"Stack growth {says}: {what}",
        _begins(cpu, claim),
        (cpu.fact("stack growth", base, new),),
        "Use a worker pool in place of a goroutine for each task, or call less deeply."
        if delta > 0
        else "",
        direction=cpu.way(delta),
        rises=delta > 0,
        claim=claim,
    )


def _begins(cpu: CPUComparison, claim: Claim) -> str:
    """Say where the goroutines with most of a claim's change start, "" if unknown."""
    none = len(cpu.names)
    by_root = []
    for side, (kept, values) in enumerate(
        zip(claim.sides, cpu.diff.values, strict=True)
    ):
        roots, cut = cpu.roots(side, ~cpu.of_runtime, kept)
        rows = np.where(cut, none + 1, np.where(roots < 0, none, roots))
        by_root.append(sums(rows[kept], values[kept], none + 2))
    delta = np.abs(cpu.diff.normalization.delta(*by_root))
    most_cut = delta[none + 1] > MOST * delta.sum()
    seen = float(delta[: none + 1].sum())
    row = int(np.argmax(delta[:none]))
    enough = max(s[row] / w for s, w in zip(by_root, cpu.model.worth, strict=True))
    if delta[row] <= MOST * seen or enough < SAMPLES_FOR_ROW:
        return ""
    deep = f"Most of these stacks have {STACK_KEPT} frames or more. Of the others, m"
    return (
        f"{deep if most_cut else 'M'}ost are of goroutines that begin in "
        f"{short(cpu.names[row])}."
    )


def _group(case: Case, id_: str, *, known: bool = False) -> Iterator[Finding]:
    """Yield a finding where a group changed; no advice if what it asks for is known."""
    cpu, subject = case.cpu, _SUBJECTS[id_]
    if cpu is None or not cpu.moved(id_):
        return
    group = cpu.groups[id_]
    if abs(group.delta) < MINOR * cpu.whole or cpu.follows_load(group.delta):
        return
    judged = judged_categories(cpu.diff, id_, cpu.model)
    parts = [c for c in judged if c.noise is False]
    said = [f"{c.label} {cpu.words(c.base, c.new)}" for c in parts]
    payers = _payers(cpu, id_)
    whole = cpu.words(group.base, group.new)
    # One category may be the whole group.
    alone = len(parts) == 1 and parts[0][2:] == group[2:]
    sentences = ["; ".join([f"Total {whole}", *([] if alone else said)])]
    if payers:
        sentences.append(f"Mostly in {listed(payers)}")
    yield Finding(
        subject.id,
        f"{subject.name} {cpu.moves(group.delta, several=' and ' in subject.name)}",
        joined(sentences),
        (
            cpu.fact(group.label, group.base, group.new),
            *(cpu.fact(c.label, c.base, c.new) for c in parts),
        ),
        subject.advice if group.delta > 0 and not known else "",
        direction=cpu.way(group.delta),
        rises=group.delta > 0,
        claim=cpu.of_groups(id_),
    )


def _payers(cpu: CPUComparison, group: str) -> list[str]:
    """Return one or two functions with most of a group's change, or none."""
    names, base, new = cpu.payers(rules().members(group))
    parts = cpu.diff.normalization.delta(base, new) / cpu.groups[group].delta
    order = np.argsort(-parts, kind="stable")[:2]
    most = order[parts[order] >= MUCH].tolist()
    if parts[most].sum() < MOST:
        return []
    return [f"{short(names[i])} ({cpu.words(base[i], new[i])})" for i in most]


def leaf_work(case: Case) -> Iterator[Finding]:
    """Yield a finding where copying, clearing or hashing changed, in any category."""
    cpu = case.cpu
    if cpu is None:
        return
    kinds = [kind.id for kind in rules().leaf_kinds]
    for row in _by_kind(cpu, kinds):
        small = row.noise is not False or abs(row.delta) < MINOR * cpu.whole
        if small or cpu.follows_load(row.delta):
            continue
        category = _mostly(cpu, kinds.index(row.id))
        if row.id == "clear" and category == "alloc":
            # That is what objects cost that are allocated.
            continue
        where = rules().category_labels.get(category)
        yield Finding(
            f"leaf-{row.id}",
            f"{row.label} {cpu.moves(row.delta)}",
            f"{cpu.words(row.base, row.new)}"
            f"{f', most of the change in {where}' if where else ''}.",
            (cpu.fact(row.label, row.base, row.new),),
            direction=cpu.way(row.delta),
            rises=row.delta > 0,
            claim=cpu.of_leaf_kind(kinds.index(row.id)),
        )


def _mostly(cpu: CPUComparison, kind: int) -> str:
    """Return the category with most of a leaf kind's change, "" without one."""
    sums = cpu.diff.ledger.by("category", "leaf_kind")
    sums = sums.where(sums["leaf_kind"] == kind)
    delta = cpu.diff.normalization.delta(sums.base, sums.new)
    most = int(np.argmax(np.abs(delta)))
    if delta[most] / (delta.sum() or np.inf) <= MOST:
        return ""
    return str(rules().categories[int(sums["category"][most])])


def _by_kind(cpu: CPUComparison, kinds: list[str]) -> list[JudgedSum]:
    """Judge the kinds of leaves that have a finding."""
    base, new = (side.leaf_kind for side in cpu.sides)
    chosen = [kinds.index(kind) for kind in _KINDS]
    runs = cpu.diff.runs_of((base, new), len(kinds)).map(lambda run: run[chosen])
    return judged_sums(cpu.diff, list(_KINDS.items()), runs, cpu.model)
