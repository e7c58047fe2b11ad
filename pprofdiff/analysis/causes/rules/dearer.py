"""Functions of the program, on both sides, that cost more or less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Claim, Finding
from pprofdiff.analysis.causes.one_sided import mostly
from pprofdiff.analysis.causes.wording import joined, listed, times, times_the
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_ROW
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.policy import CLEARLY, COVERS, LITTLE, MAJOR, MOST, NAMED
from pprofdiff.goruntime.names import package_of
from pprofdiff.goruntime.readable import distinct_names, short
from pprofdiff.model.csr import first_in_row

# A share matters if it changed by this factor: that all other code fell to less than a
# third is unlikely.
_TIMES = 3.0
# GC is work that others make a function do.
_OF_OTHERS = ("gc", "gc_tax")
_NAMED = 2


def _taken(cpu: CPUComparison, explained: Claim) -> Iterator[tuple[int, Finding]]:
    """Yield functions whose share, with all they call, changed many times over.

    The changes are significant by the tables' model, in samples that `explained` does
    not claim. Each item is a row of `CPUComparison.names` and its finding.
    """
    free = cpu.all
    for _ in range(_NAMED):
        row = _next(cpu, free.without(explained))
        if row is None:
            return
        claim = cpu.under(cpu.only(row))
        yield row, _finding_of_share(cpu, row, claim)
        free = free.without(claim)


def _next(cpu: CPUComparison, free: Claim) -> int | None:
    """Return the innermost function with most of the largest change, None if none."""
    table, names = cpu.table, cpu.names
    # Of what is left: where one function takes much more, all others take less.
    rest = [float(total) for total in cpu.sums(free)]
    if min(rest) <= 0:
        return None
    whole = cpu.diff.normalization.delta(*cpu.cum)
    base, new = (column / total for column, total in zip(cpu.cum, rest, strict=True))
    few, many = np.minimum(base, new), np.maximum(base, new)
    loud = (many >= _TIMES * few) & ((new - base) * whole > 0)
    loud &= cpu.diff.paired_functions.own & (np.abs(whole) >= MAJOR * cpu.whole)
    if not loud.any():
        return None
    # Beyond what runs differ by, and beyond the load.
    judged = cpu.diff.judge_runs(table.runs("cum"))
    if judged is None:
        return None
    beyond = np.isin(judged.mark, ("more", "less"))
    beyond &= ~cpu.relative.rows(table.runs("cum")).noise
    changed = np.zeros(len(names), np.bool_)
    changed[cpu.diff.paired_functions.tabled[beyond]] = True
    loud &= changed
    if not loud.any():
        return None
    # One number stands for all of it: hardly any may be others', or already claimed.
    own = free.without(cpu.of_groups(*_OF_OTHERS)).without(cpu.lent)
    delta = cpu.diff.normalization.delta(*(cpu.cum_of(s, own) for s in (0, 1)))
    loud &= (delta * whole > 0) & (np.abs(delta) >= MOST * np.abs(whole))
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


def _finding_of_share(cpu: CPUComparison, row: int, claim: Claim) -> Finding:
    base, new = (int(side[row]) for side in cpu.cum)
    delta = cpu.scaled_delta(base, new)
    side = 0 if delta < 0 else 1
    sentences = []
    most = mostly(cpu, side, np.where(claim.sides[side], row, -1))
    if most is not None:
        sums = cpu.words(cpu.cum[0][most], cpu.cum[1][most])
        sentences.append(f"Most of it is in {short(cpu.names[most])} (in all {sums})")
    parent = _caller(cpu, side, row, claim)
    if parent is not None and cpu.cum[0][parent] and cpu.cum[1][parent]:
        sums = cpu.words(cpu.cum[0][parent], cpu.cum[1][parent])
        sentences.append(f"Called by {short(cpu.names[parent])} ({sums})")
    sentences.append("A share does not show what it costs per op")
    return Finding(
        "takes-more" if delta > 0 else "takes-less",
        f"{short(cpu.names[row])} and what it calls take {cpu.words(base, new)} of the "
        f"{cpu.noun}",
        joined(sentences),
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


# A function matters if it changed by this share of all CPU.
_SHARE = 0.03

_Pair = tuple[NDArray[np.int64], NDArray[np.int64]]


class _Mover(NamedTuple):
    """A function's row, with its raw CPU time and its scaled new ÷ base.

    `counted` says that both sides have enough samples to quote the ratio.
    """

    row: int
    base: int
    new: int
    ratio: float
    counted: bool


def own_cost(case: Case) -> Iterator[Finding]:
    """Yield functions whose own work, with the libraries they use, changed in cost.

    What is below a function that vanished or appeared has a finding of its own, and
    does not count. Where the load differs, functions compare relative to the others.
    """
    cpu, alone = case.cpu, case.one_sided
    if cpu is None or alone is None or cpu.other_release:
        return
    claimed = alone.claim.plus(cpu.bookkeeping).plus(cpu.lent)
    whole = np.arange(len(cpu.names))
    for root, host in alone.hosts.items():
        whole[root] = host
    owners = _owner(cpu, whole, claimed, 0), _owner(cpu, whole, claimed, 1)
    movers = _movers(cpu, owners)
    if cpu.in_shares:
        # Code without names takes shares as well, whichever it is.
        named, caused = [], alone.claim.plus(cpu.nameless)
        for row, finding in _taken(cpu, caused):
            if _may_be_displaced(cpu, row, movers):
                continue
            named.append(row)
            caused = caused.plus(cpu.under(cpu.only(row)))
            yield finding
        movers = [mover for mover in movers if mover.row not in named]
        movers = _not_displaced(cpu, _whole_shares(cpu, movers), cpu.delta(caused))
        if movers:
            yield _shares(cpu, movers)
        return
    families: dict[tuple[bool, str], list[_Mover]] = {}
    for mover in _beyond_runs(cpu, owners, movers):
        key = mover.ratio > 1, package_of(cpu.names[mover.row])
        families.setdefault(key, []).append(mover)
    for (dearer, _), some in families.items():
        yield _finding(cpu, owners, some, dearer=dearer)


def _beyond_runs(
    cpu: CPUComparison, owners: _Pair, movers: list[_Mover]
) -> list[_Mover]:
    """Return those beyond what runs of one build differ by; all, if none is."""
    rows = [mover.row for mover in movers]
    runs = cpu.diff.runs_of(owners, len(cpu.names)).map(lambda run: run[rows])
    judged = cpu.diff.judge_runs(runs) if movers else None
    if judged is None:
        return movers
    sure = np.isin(judged.mark, ("more", "less")).tolist()
    return [m for m, beyond in zip(movers, sure, strict=True) if beyond] or movers


def _whole_shares(cpu: CPUComparison, movers: list[_Mover]) -> list[_Mover]:
    """Return the functions whose whole shares changed too, with their table values.

    These include GC, allocation and what is below a function that vanished or appeared.
    """
    owners = [
        np.append(cpu.diff.paired_functions.union[side], -1)[cpu.sides[side].owner]
        for side in (0, 1)
    ]
    runs = cpu.diff.runs_of((owners[0], owners[1]), len(cpu.names))
    rows = [m.row for m in movers]
    base, new = (side[rows] for side in merged(runs))
    judged = cpu.model.rows(runs.map(lambda run: run[rows]))
    return [
        mover._replace(base=int(b), new=int(n))
        for mover, b, n, delta, noise in zip(
            movers, base, new, judged.delta, judged.noise, strict=True
        )
        if not noise and delta * (mover.ratio - 1) > 0
    ]


def _may_be_displaced(cpu: CPUComparison, row: int, movers: list[_Mover]) -> bool:
    """Return whether a function's share may have fallen because another one rose.

    A function with as large a rise of its own makes room for it; none falls to nothing.
    """
    base, new = (int(side[row]) for side in cpu.cum)
    fall = -cpu.scaled_delta(base, new)
    if fall <= 0 or new / cpu.diff.totals[1] < LITTLE * base / cpu.diff.totals[0]:
        return False
    rises = (cpu.scaled_delta(m.base, m.new) for m in movers if m.row != row)
    return max(rises, default=0.0) >= COVERS * fall


def _not_displaced(
    cpu: CPUComparison, movers: list[_Mover], caused: float
) -> list[_Mover]:
    """Return functions without those whose shares made room for a change in others.

    `caused` is the scaled delta of code that is new, gone, or takes many times as much.
    """
    against = [m for m in movers if (m.ratio - 1) * caused < 0]
    room = sum(cpu.scaled_delta(m.base, m.new) for m in against)
    if COVERS * abs(room) > abs(caused):
        return movers
    return [m for m in movers if m not in against]


def _shares(cpu: CPUComparison, movers: list[_Mover]) -> Finding:
    """Return the finding on functions whose share changed, where cost is unknown.

    One function that costs more lowers the shares of all others, so shares do not show
    which of them changed. Those that rise are listed first.
    """
    movers = sorted(movers, key=lambda mover: mover.ratio < 1)
    named = listed(
        [
            f"{short(cpu.names[m.row])} {cpu.words(m.base, m.new)}"
            for m in movers[:NAMED]
        ]
    )
    return Finding(
        "shares-moved",
        f"Shares of the {cpu.noun} changed: {named}",
        f"With the library code {'they call' if len(movers) > 1 else 'it calls'}. "
        "A share also falls when other code costs more.",
        tuple(cpu.fact(f"for {cpu.names[m.row]}", m.base, m.new) for m in movers),
        "Pass --work BASE:NEW, the operations done while profiled.",
        severity="minor",
        weight=max(abs(cpu.scaled_delta(m.base, m.new)) for m in movers) / cpu.whole,
        functions=tuple(cpu.names[m.row] for m in movers),
    )


def _owner(
    cpu: CPUComparison, whole: NDArray[np.int64], claimed: Claim, side: int
) -> NDArray[np.int64]:
    """Return each sample's innermost function of the program, by row, -1 for none.

    A function that is part of another on one side alone counts as that one: `whole`
    maps the rows. Samples in `claimed` have none, nor has library code where it is not
    sure who called it.
    """
    ends = cpu.sides[side]
    owner = ends.owner
    if cpu.loses_callers:
        owner = np.where(ends.leaf == owner, owner, -1)
    rows = whole[cpu.diff.paired_functions.union[side]]
    return np.where(claimed.sides[side], -1, np.append(rows, -1)[owner])


def _movers(cpu: CPUComparison, owners: _Pair) -> list[_Mover]:
    """Return functions that changed significantly beyond the load, largest first."""
    runs = cpu.diff.runs_of(owners, len(cpu.names))
    base, new = merged(runs)
    rows = np.flatnonzero((base > 0) & (new > 0))
    base, new, runs = base[rows], new[rows], runs.map(lambda run: run[rows])
    judged = cpu.relative.rows(runs)
    delta, plain = judged.delta, cpu.diff.normalization.delta(base, new)
    scaled = cpu.relative.by.scaled(base, new)
    ratio = scaled[1] / scaled[0]
    if cpu.in_shares:
        # By odds, as a large share cannot rise by much.
        rest = [t - c for t, c in zip(cpu.diff.totals, (base, new), strict=True)]
        sides = [np.maximum(one, 1) for one in rest]
        odds = (new / sides[1]) / (base / sides[0])
    else:
        odds = ratio
    # Plain values are shown: the control is an estimate, not a reason on its own.
    loud = ~judged.noise & ~cpu.model.rows(runs).noise
    loud &= np.abs(delta) >= _SHARE * cpu.whole
    loud &= (np.abs(np.log(odds)) > np.log(CLEARLY)) & (plain * delta > 0)
    order = np.argsort(-np.abs(delta), kind="stable").tolist()
    samples = np.minimum(base / cpu.model.worth[0], new / cpu.model.worth[1])
    return [
        _Mover(
            int(rows[i]),
            int(base[i]),
            int(new[i]),
            float(ratio[i]),
            bool(samples[i] >= SAMPLES_FOR_ROW),
        )
        for i in order
        if loud[i]
    ]


def _one_sided(cpu: CPUComparison, owners: _Pair, movers: list[_Mover]) -> bool:
    """Return whether these functions call code that only one side runs."""
    rows = [m.row for m in movers]
    every = cpu.diff.ledger.sides("owner")
    for side, owner in enumerate(owners):
        own = np.isin(every[side], rows) & (owner < 0)
        if (own & ~cpu.bookkeeping.sides[side]).any():
            return True
    return False


def _finding(
    cpu: CPUComparison, owners: _Pair, movers: list[_Mover], *, dearer: bool
) -> Finding:
    first = movers[0]
    names = distinct_names(cpu.names[m.row] for m in movers[:NAMED])
    without = cpu.excluded
    if _one_sided(cpu, owners, movers):
        without = [*without, "what is gone or new"]
    # Stacks may not show who calls library code.
    library = "" if cpu.loses_callers else " + stdlib"
    left_out = f"without {listed(without)}" if without else ""
    which = f"flat{library}"
    if len(names) == 1 and first.counted:
        title = (
            f"{names[0]} uses {times_the(first.ratio, cpu.noun)}: "
            f"{cpu.words(first.base, first.new)} {which}"
        )
        text = f"{left_out[0].upper()}{left_out[1:]}." if left_out else ""
    else:
        verb = "uses" if len(names) == 1 else "use"
        title = f"{listed(names)} {verb} {'more' if dearer else 'less'} {cpu.noun}"
        amounts = [
            f"{name} {cpu.words(m.base, m.new)}"
            f"{f' ({times(m.ratio)})' if m.counted else ''}"
            for name, m in zip(names, movers, strict=False)
        ]
        if len(movers) > NAMED:
            amounts.append(f"and {len(movers) - NAMED} more")
        text = f"{'; '.join(amounts)}: {', '.join(filter(None, (which, left_out)))}."
    chosen = np.zeros(len(cpu.names) + 1, np.bool_)
    chosen[[m.row for m in movers]] = True
    claim = Claim(chosen[owners[0]], chosen[owners[1]])
    return Finding(
        "dearer" if dearer else "cheaper",
        title,
        text,
        tuple(cpu.fact(f"for {cpu.names[m.row]}", m.base, m.new) for m in movers),
        direction="worse" if dearer else "better",
        claim=claim,
        functions=tuple(cpu.names[m.row] for m in movers),
    )
