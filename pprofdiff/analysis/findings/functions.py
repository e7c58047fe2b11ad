"""Work that vanished, appeared, or moved from one function to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.model import Claim, Direction, Fact, Finding
from pprofdiff.analysis.findings.wording import (
    listed_functions,
    lists_apart,
    short,
    times,
)
from pprofdiff.goruntime.names import is_runtime_like, is_standard_library, package_of
from pprofdiff.model.csr import distinct, grouped, last_in_row
from pprofdiff.units import percent

__all__ = ["functions", "one_sided"]

Mask = NDArray[np.bool_]

# A function matters from this share of a side's CPU on.
_SHARE = 0.02
# It is gone where less than this share of its share is left (other callers keep some).
_LEFT = 0.005
_NAMED = 3


class _Root(NamedTuple):
    """A function that is on one side only, and nothing above it in its stacks is.

    `parent` is the function that called it most, -1 for none; `value` is the raw CPU
    time under it.
    """

    row: int
    parent: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """Roots of one side (0: gone, 1: new), and which samples are under each."""

    side: int
    roots: tuple[_Root, ...]
    root_of_sample: NDArray[np.int64]


def functions(case: Case) -> Iterator[Finding]:
    """Functions above a share that are gone, new, or replace one another."""
    cpu = case.cpu
    if cpu is None:
        return
    gone, added = one_sided(cpu)
    if not gone.any() and not added.any():
        return
    changes = _change(cpu, 0, gone), _change(cpu, 1, added)
    for before, after in _families(cpu, changes[0].roots, changes[1].roots):
        if before and after:
            yield _replaced(cpu, changes, (before, after))
        else:
            side = 0 if before else 1
            yield _gone_or_new(case, cpu, changes[side], before or after)


def _families(
    cpu: CPUComparison, gone: tuple[_Root, ...], added: tuple[_Root, ...]
) -> list[tuple[list[_Root], list[_Root]]]:
    """Return roots that belong together: of one package, or called by one function.

    Code that is gone and code that is new in its place share the caller or, where its
    innermost callers changed too, the package that they are of. What is on one side
    alone is a family by package.
    """
    family: dict[object, int] = {}
    members: dict[int, tuple[list[_Root], list[_Root]]] = {}
    for side, roots in enumerate((gone, added)):
        for root in roots:
            keys: list[tuple[str, str | int]] = [
                ("package", package_of(cpu.names[root.row]))
            ]
            if root.parent >= 0:
                keys.append(("caller", root.parent))
            known = sorted({family[key] for key in keys if key in family})
            place = known[0] if known else len(members)
            members.setdefault(place, ([], []))[side].append(root)
            for other in known[1:]:
                for i, more in enumerate(members.pop(other)):
                    members[place][i].extend(more)
                family = {k: place if v == other else v for k, v in family.items()}
            family.update(dict.fromkeys(keys, place))
    return sorted(
        members.values(), key=lambda pair: -sum(r.value for rs in pair for r in rs)
    )


def one_sided(cpu: CPUComparison) -> tuple[Mask, Mask]:
    """Return, over the union, which functions are as good as gone, and which new."""
    table, (base_total, new_total) = cpu.table, cpu.diff.totals
    told = ~cpu.beside_others.judge(table.base_cum, table.new_cum).noise
    told &= np.array([_tells(cpu, name) for name in table.names], bool)
    base, new = table.base_cum / base_total, table.new_cum / new_total
    at = np.array([cpu.row[name] for name in table.names], np.int64)
    gone, added = (np.zeros(len(cpu.names), np.bool_) for _ in range(2))
    gone[at[told & (base >= _SHARE) & (new <= _LEFT * base)]] = True
    added[at[told & (new >= _SHARE) & (base <= _LEFT * new)]] = True
    return gone, added


def _tells(cpu: CPUComparison, name: str) -> bool:
    """Return whether it is news that a function is gone or new.

    Between Go releases, functions of the standard library come and go.
    """
    if is_runtime_like(name):
        return False
    return not (cpu.other_release and is_standard_library(package_of(name)))


def _change(cpu: CPUComparison, side: int, chosen: Mask) -> _Change:
    """Find the outermost of the chosen functions in each of a side's stacks."""
    values = cpu.diff.values[side]
    root = np.full(len(values), -1, np.int64)
    parent = np.full(len(values), -1, np.int64)
    if chosen.any():
        for start, stop, ids, offsets in cpu.stacks(side):
            last = last_in_row(chosen[ids], offsets)
            some = last >= 0
            padded = np.append(ids, -1)
            root[start:stop] = np.where(some, padded[last], -1)
            above = np.where(some & (last + 1 < offsets[1:]), padded[last + 1], -1)
            parent[start:stop] = above
    roots = []
    for row in distinct(root[root >= 0]).tolist():
        under = root == row
        value = int(values[under].sum())
        callers, at = grouped(parent[under])
        most = int(np.argmax(np.bincount(at, np.abs(values[under]))))
        roots.append(_Root(row, int(callers[most]), value))
    least = _SHARE / 2 * cpu.diff.totals[side]
    roots = [r for r in roots if r.value >= least and _expected(cpu, side, r)]
    roots.sort(key=lambda r: -r.value)
    return _Change(side, tuple(roots), root)


def _expected(cpu: CPUComparison, side: int, root: _Root) -> bool:
    """Return whether the other side's samples of the caller would show the function.

    Where its caller hardly runs on the other side, nothing can be said of it there.
    """
    if root.parent < 0:
        return True
    here, there = (cpu.cum[side], cpu.cum[1 - side])
    part = here[root.row] / here[root.parent]
    return cpu.model.absence_tells(1 - side, float(part * there[root.parent]))


def _under_any(change: _Change, roots: list[_Root]) -> Mask:
    """Return which samples of the change's side are under one of these roots."""
    under = np.zeros(len(change.root_of_sample), np.bool_)
    for root in roots:
        under |= change.root_of_sample == root.row
    return under


def _claim(cpu: CPUComparison, change: _Change, roots: list[_Root]) -> Claim:
    """Claim what is under these roots."""
    sides = [np.zeros(len(values), np.bool_) for values in cpu.diff.values]
    sides[change.side] = _under_any(change, roots)
    return Claim(sides[0], sides[1])


def _gone_or_new(
    case: Case, cpu: CPUComparison, change: _Change, roots: list[_Root]
) -> Finding:
    gone = change.side == 0
    here, there = case.labels if gone else case.labels[::-1]
    share = percent(_under(cpu, change, roots), cpu.diff.totals[change.side])
    named = listed_functions([cpu.names[r.row] for r in roots[:_NAMED]])
    several = len(roots) > 1
    if gone:
        left = any(cpu.cum[1][r.row] for r in roots)
        end = "all but gone" if left else "gone"
        verb = "are" if several else "is"
        title = f"{named}, {share} of {here}'s {cpu.noun}, {verb} {end}"
        advice = f"Check that {there} does not need it: else work is skipped."
    else:
        verb = "take" if several else "takes"
        some = any(cpu.cum[0][r.row] for r in roots)
        end = "next to none" if some else "none"
        title = f"{named} {verb} {share} of {here}'s {cpu.noun}, {end} of {there}'s"
        advice = f"Check that {here} is meant to do this work."
    claim = _claim(cpu, change, roots)
    dearest = _dearest(cpu, change, claim)
    called = "; ".join(_called(cpu.names, r) for r in roots[:_NAMED])
    rest = len(roots) - _NAMED
    text = f"{called}{f'; and {rest} more' if rest > 0 else ''}."
    if dearest is not None:
        text += f" Most of it is in {short(cpu.names[dearest])}."
    return Finding(
        "work-vanished" if gone else "work-appeared",
        title,
        text,
        _facts(cpu, roots),
        advice,
        direction=_direction(cpu, gone=gone),
        rises=not gone,
        names=frozenset(cpu.names[r.row] for r in roots),
        claim=claim,
    )


def _direction(cpu: CPUComparison, *, gone: bool) -> Direction:
    """Return which way it is when work is gone, or new; none where shares compare."""
    if cpu.in_shares:
        return "neutral"
    return "better" if gone else "worse"


def _called(names: list[str], root: _Root) -> str:
    by = f", called by {short(names[root.parent])}" if root.parent >= 0 else ""
    return f"{short(names[root.row])}{by}"


def _under(cpu: CPUComparison, change: _Change, roots: list[_Root]) -> int:
    """Return the raw CPU time under roots, GC and allocation included."""
    under = _under_any(change, roots)
    return int(cpu.diff.values[change.side][under].sum())


def _dearest(cpu: CPUComparison, change: _Change, claim: Claim) -> int | None:
    """Return the function of the program that is the leaf of most claimed samples."""
    side = change.side
    payer = cpu.sides[side].payer[claim.sides[side]]
    values = cpu.diff.values[side][claim.sides[side]]
    paid = payer >= 0
    if not paid.any():
        return None
    row = int(np.argmax(np.bincount(payer[paid], values[paid])))
    dearest = int(cpu.diff.paired_functions.union[side][row])
    return None if dearest in {r.row for r in change.roots} else dearest


def _facts(cpu: CPUComparison, roots: list[_Root]) -> tuple[Fact, ...]:
    table = cpu.table
    place = {name: i for i, name in enumerate(table.names)}
    rows = [place[cpu.names[r.row]] for r in roots]
    return tuple(
        Fact(
            f"{table.names[i]} (cum)",
            "cpu profile",
            int(table.base_cum[i]),
            int(table.new_cum[i]),
            cpu.diff.unit,
        )
        for i in rows
    )


def _replaced(
    cpu: CPUComparison,
    changes: tuple[_Change, _Change],
    roots: tuple[list[_Root], list[_Root]],
) -> Finding:
    """Say what took the place of what, and what each cost."""
    for some in roots:
        some.sort(key=lambda root: -root.value)
    before, after = lists_apart(
        *([cpu.names[r.row] for r in some[:_NAMED]] for some in roots)
    )
    claim = _claim(cpu, changes[0], roots[0]).plus(_claim(cpu, changes[1], roots[1]))
    base, new = cpu.sums(claim)
    change = cpu.beside_others.one(base, new)
    scaled = cpu.beside_others.by.scaled(base, new)
    verb = "replace" if len(roots[1]) > 1 else "replaces"
    cost = cpu.words(base, new)
    if not cpu.in_shares:
        cost += f" ({times(scaled[1] / scaled[0])})"
    direction: Direction = "neutral"
    if change.told and not cpu.in_shares:
        direction = "worse" if change.delta > 0 else "better"
    callers = list(
        dict.fromkeys(cpu.names[r.parent] for rs in roots for r in rs if r.parent >= 0)
    )
    under = f"Called by {listed_functions(callers[:_NAMED])}. " if callers else ""
    return Finding(
        "work-moved",
        f"{after} {verb} {before}: {cost}",
        f"{under}What is called below them counts too.",
        _facts(cpu, [*roots[0], *roots[1]]),
        direction=direction,
        claim=claim,
        names=frozenset(cpu.names[r.row] for some in roots for r in some),
    )
