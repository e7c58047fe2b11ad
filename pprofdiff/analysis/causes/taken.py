"""Functions of the program that take many times the share of the CPU, or a fraction.

Shares alone do not show which of two functions changed. But for the share of an
unchanged one to multiply, the cost of all other code must fall by the same factor.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Claim, Finding
from pprofdiff.analysis.causes.one_sided import mostly
from pprofdiff.analysis.causes.wording import short
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.policy import COVERS, MAJOR
from pprofdiff.model.csr import first_in_row

__all__ = ["taken"]

# A share matters if it changed by this factor: that all other code fell to less than a
# third is unlikely.
_TIMES = 3.0
# GC is work that others make a function do.
_OF_OTHERS = ("gc", "gc_tax")
_NAMED = 2


def taken(cpu: CPUComparison, explained: Claim) -> Iterator[tuple[int, Finding]]:
    """Yield functions whose share, with all they call, changed many times over.

    The changes are significant by the tables' model, in samples that `explained` does
    not claim. Each item is a row of `CPUComparison.names` and its finding.
    """
    free = cpu.all
    for _ in range(_NAMED):
        row = _next(cpu, free.without(explained))
        if row is None:
            return
        chosen = np.zeros(len(cpu.names), np.bool_)
        chosen[row] = True
        claim = cpu.under(chosen)
        yield row, _finding(cpu, row, claim)
        free = free.without(claim)


def _next(cpu: CPUComparison, free: Claim) -> int | None:
    """Return the innermost function with most of the largest change, None if none."""
    table, names = cpu.table, cpu.names
    at = cpu.diff.paired_functions.tabled
    judged = cpu.diff.judge_runs(table.runs("cum"))
    if judged is None:
        return None
    loud = np.zeros(len(names), np.bool_)
    # Beyond what runs differ by, and beyond the load.
    beyond = np.isin(judged.mark, ("more", "less"))
    loud[at[beyond & ~cpu.relative.rows(table.runs("cum")).noise]] = True
    loud &= owned(names)
    # Of what is left: where one function takes much more, all others take less.
    rest = [float(total) for total in cpu.sums(free)]
    if min(rest) <= 0:
        return None
    whole = cpu.diff.normalization.delta(*cpu.cum)
    base, new = (column / total for column, total in zip(cpu.cum, rest, strict=True))
    few, many = np.minimum(base, new), np.maximum(base, new)
    loud &= (many >= _TIMES * few) & ((new - base) * whole > 0)
    loud &= np.abs(whole) >= MAJOR * cpu.whole
    if not loud.any():
        return None
    # One number stands for all of it: hardly any may be others', or already claimed.
    own = free.without(cpu.of_groups(*_OF_OTHERS)).without(cpu.lent)
    delta = cpu.diff.normalization.delta(*(cpu.cum_of(s, own) for s in (0, 1)))
    loud &= (delta * whole > 0) & (np.abs(delta) >= COVERS * np.abs(whole))
    if not loud.any():
        return None
    first = int(np.argmax(np.where(loud, np.abs(whole), 0)))
    within = _below(cpu, first, own)
    loud &= within * np.sign(whole[first]) >= COVERS * abs(delta[first])
    rows = np.flatnonzero(loud)
    return int(rows[np.argmin(many[rows])]) if len(rows) else first


def _below(cpu: CPUComparison, row: int, kept: Claim) -> NDArray[np.float64]:
    """Return how much each function's cum changed in the stacks that contain `row`."""
    claim = cpu.under(cpu.only(row)).within(kept)
    return cpu.diff.normalization.delta(*(cpu.cum_of(s, claim) for s in (0, 1)))


def _finding(cpu: CPUComparison, row: int, claim: Claim) -> Finding:
    base, new = (int(side[row]) for side in cpu.cum)
    delta = cpu.scaled_delta(base, new)
    side = 0 if delta < 0 else 1
    sentences = []
    most = mostly(cpu, side, np.where(claim.sides[side], row, -1))
    if most is not None:
        sums = cpu.words(cpu.cum[0][most], cpu.cum[1][most])
        sentences.append(f"Most of it is in {short(cpu.names[most])} (in all {sums})")
    parent = _caller(cpu, side, row, claim)
    if parent is not None:
        sums = cpu.words(cpu.cum[0][parent], cpu.cum[1][parent])
        sentences.append(f"Called by {short(cpu.names[parent])} ({sums})")
    sentences.append("A share does not show what it costs per op")
    return Finding(
        "takes-more" if delta > 0 else "takes-less",
        f"{short(cpu.names[row])} and what it calls take {cpu.words(base, new)} of the "
        f"{cpu.noun}",
        "".join(f"{sentence}. " for sentence in sentences).strip(),
        cpu.facts([row], "cum"),
        "Give the work: --work BASE:NEW, operations done while profiled.",
        rises=delta > 0,
        names=frozenset({cpu.names[row]}),
        claim=claim,
    )


def _caller(cpu: CPUComparison, side: int, row: int, claim: Claim) -> int | None:
    """Return the main caller of a function on a side, None if unknown."""
    sums = np.zeros(len(cpu.names) + 1, np.int64)
    values = cpu.diff.values[side]
    for samples, ids, offsets in cpu.stacks_with(
        side, cpu.only(row), claim.sides[side]
    ):
        # Look above its innermost frame and skip recursion: it is not its own caller.
        own = ids == row
        after = ~own
        after &= np.cumsum(own) > np.repeat(
            np.append(0, np.cumsum(own))[offsets[:-1]], np.diff(offsets)
        )
        first = first_in_row(after, offsets)
        np.add.at(
            sums,
            np.where(first >= 0, np.append(ids, len(cpu.names))[first], -1),
            values[samples],
        )
    return int(np.argmax(sums[:-1])) if sums[:-1].any() else None
