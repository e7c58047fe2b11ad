"""The function that a change is below: the deepest one that covers most of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison, cum_of
from pprofdiff.analysis.causes.finding import Claim, Fact, Finding
from pprofdiff.analysis.causes.wording import listed, listed_functions, short, times
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.policy import CLEARLY, COVERS, MAJOR, MOST, NAMED
from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["below", "covering"]


def covering(diff: ProfileDiff, kept: Claim | None = None) -> int | None:
    """Return the function of the program that covers a change, None if none does.

    It is on both sides, and a row of `paired_functions.names`: of the functions whose
    cum changed by at least 80% of the change, the one with the least cum. `kept`
    selects samples.
    """
    base, new = (
        cum_of(diff, side, None if kept is None else kept.sides[side])
        for side in (0, 1)
    )
    by = diff.normalization
    delta = by.delta(base, new)
    totals = [
        int(values.sum() if kept is None else values[kept.sides[side]].sum())
        for side, values in enumerate(diff.values)
    ]
    whole = by.delta(*totals)
    names = diff.paired_functions.names
    covers = owned(names) & (delta * np.sign(whole) >= COVERS * abs(whole))
    covers &= (base > 0) & (new > 0)
    rows = np.flatnonzero(covers)
    if not whole or not len(rows):
        return None
    sizes = np.sum(by.scaled(base[rows], new[rows]), axis=0)
    return int(rows[int(np.argmin(sizes))])


def below(case: Case) -> Iterator[Finding]:
    """Yield a finding where code below one function costs more or less, spread out.

    GC, allocation, and what vanished or appeared do not count: they have findings.
    """
    cpu, alone = case.cpu, case.one_sided
    if cpu is None or alone is None or cpu.other_release or cpu.in_shares:
        return
    claimed = alone.claim.plus(cpu.bookkeeping).plus(cpu.lent)
    kept = Claim(~claimed.base, ~claimed.new)
    change = cpu.change_relative(kept)
    if not change.significant or abs(change.delta) < MAJOR * cpu.whole:
        return
    row = covering(cpu.diff, kept)
    if row is None:
        return
    chosen = np.zeros(len(cpu.names), np.bool_)
    chosen[row] = True
    claim = cpu.under(chosen).within(kept)
    base, new = cpu.sums(claim)
    scaled = cpu.relative.by.scaled(base, new)
    ratio = scaled[1] / scaled[0] if scaled[0] else 0.0
    if not ratio > 0 or max(ratio, 1 / ratio) < CLEARLY:
        return
    name = cpu.names[row]
    delta = _by_owner(cpu, claim)
    if delta.max() >= MOST * abs(cpu.delta(claim)):
        return
    movers = np.argsort(-delta, kind="stable")[:NAMED].tolist()
    named = listed_functions([cpu.names[i] for i in movers if delta[i]])
    most = delta[movers].sum() > MOST * delta.sum()
    where = f"; most of it in {named}" if most else ""
    yield Finding(
        "dearer-below" if ratio > 1 else "cheaper-below",
        f"{short(name)} and what it calls cost {times(ratio)} as much {cpu.noun}",
        f"{cpu.words(base, new)}, without {listed(cpu.apart)}{where}.",
        (Fact(f"below {name}", "cpu profile", base, new, cpu.diff.unit),),
        direction="worse" if ratio > 1 else "better",
        claim=claim,
        names=frozenset({name}),
    )


def _by_owner(cpu: CPUComparison, claim: Claim) -> NDArray[np.float64]:
    """Return how much each function's own samples changed, scaled and unsigned."""
    sums = []
    for side, values in enumerate(cpu.diff.values):
        owner = cpu.sides[side].owner
        kept = claim.sides[side] & (owner >= 0)
        rows = cpu.diff.paired_functions.union[side][owner[kept]]
        column = np.zeros(len(cpu.names), np.int64)
        np.add.at(column, rows, values[kept])
        sums.append(column)
    return np.abs(cpu.diff.normalization.delta(sums[0], sums[1]))
