"""Functions whose goroutines take longer, running and waiting, by fgprof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding, severity_of
from pprofdiff.analysis.causes.parked import WAITS, waits_of
from pprofdiff.analysis.causes.wording import times_the, words
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.policy import CLEARLY, COVERS, MAJOR, MOST
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.readable import short
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import first_in_row, last_in_row, sums

# Reasons for which a goroutine waits to be given work, where its root function waits.
_GIVEN = {"chan receive", "select", "IO wait", "sync.Cond.Wait", "sleep"}
# Reasons to wait for what other goroutines of the program do.
_FOR_OTHERS = {"chan receive", "chan send", "select", "sync.Cond.Wait"}
_MOST = 2


def goroutine_time(case: Case) -> Iterator[Finding]:
    """Yield the functions whose goroutines' time per op changed most.

    Goroutines of a library alone, and those that wait for work, do not count: their
    time per op follows from how many ops there are. Those that wait for other
    goroutines do not count either if one of these takes as much longer. Where the
    number of ops is not known, only functions of one side count.
    """
    for diff in case.comparison.profiles:
        if diff.of_goroutines:
            yield from _changed(diff)


def _changed(diff: ProfileDiff) -> Iterator[Finding]:
    names = diff.paired_functions.names
    owners, waits = zip(*(_owners(diff, side) for side in (0, 1)), strict=True)
    runs = diff.runs_of((owners[0], owners[1]), len(names))
    judged = diff.judge_runs(runs)
    if judged is None:
        return
    base, new = merged(runs)
    by = diff.normalization
    old, now = by.scaled(base, new)
    share = np.abs(now - old) / by.larger(*diff.totals)
    few, many = np.minimum(old, now), np.maximum(old, now)
    loud = ~judged.noise & (share >= MAJOR) & (many >= CLEARLY * few)
    if by.mode != "per_work":
        loud &= few == 0
    delta = by.delta(base, new)
    for row in np.flatnonzero(loud).tolist():
        if WAITS[_wait_of(diff, row, owners, waits)[0]] in _FOR_OTHERS:
            others = loud & (delta * delta[row] > 0)
            others[row] = False
            loud[row] = not (np.abs(delta[others]) >= COVERS * abs(delta[row])).any()
    order = np.argsort(-np.where(loud, share, 0), kind="stable")
    for row in order[: min(_MOST, int(loud.sum()))].tolist():
        sums_of = int(base[row]), int(new[row])
        name, figures = short(names[row]), words(diff, *sums_of)
        if base[row] and new[row]:
            name = f"{name} takes {times_the(float(now[row] / old[row]), 'time')}"
        else:
            name = f"{name} takes time in {'new' if new[row] else 'base'} only"
        yield Finding(
            "goroutine-time",
            f"{name}: {figures}",
            _most(diff, row, owners, waits),
            (Fact(f"in {names[row]}", f"{diff.name} profile", *sums_of, diff.unit),),
            severity=severity_of(float(share[row])),
            direction="worse" if now[row] > old[row] else "better",
            weight=float(share[row]),
            names=frozenset({names[row]}),
        )


def _owners(diff: ProfileDiff, side: int) -> tuple[Column, Column]:
    """Return each sample's function of the program, by row, and what it waits for.

    The function is -1 for goroutines of a library, and for those that wait for work.
    The wait is a position in `WAITS`, 0 for none.
    """
    names = diff.paired_functions.names
    own, codes = owned(names), waits_of(names)
    given = np.array([wait in _GIVEN for wait in WAITS], np.bool_)
    owners, waits = np.full((2, len(diff.values[side])), -1, np.int64)
    for samples, ids, offsets in diff.walked(side):
        owner = first_in_row(own[ids], offsets)
        first = first_in_row(codes[ids] > 0, offsets)
        wait = np.where(first < 0, 0, codes[np.append(ids, 0)[first]])
        idle = given[wait] & (owner == last_in_row(own[ids], offsets))
        row = np.append(ids, -1)[owner]
        owners[samples] = np.where(idle | (owner < 0), -1, row)
        waits[samples] = wait
    return owners, waits


def _wait_of(
    diff: ProfileDiff, row: int, owners: Sequence[Column], waits: Sequence[Column]
) -> tuple[int, str]:
    """Return what most of a function's change is, in `WAITS`, and its figures.

    0 for running. The figures are "" if no wait is most of it.
    """
    base, new = (
        sums(wait[owner == row], values[owner == row], len(WAITS))
        for owner, wait, values in zip(owners, waits, diff.values, strict=True)
    )
    delta = diff.normalization.delta(base, new)
    at = int(np.argmax(np.abs(delta)))
    if abs(delta[at]) <= MOST * abs(delta.sum()):
        return 0, ""
    return at, words(diff, int(base[at]), int(new[at]))


def _most(
    diff: ProfileDiff, row: int, owners: Sequence[Column], waits: Sequence[Column]
) -> str:
    """Return what most of a function's change is: a wait, or running."""
    at, figures = _wait_of(diff, row, owners, waits)
    what = f"waiting ({WAITS[at]})" if at else "running"
    return f"Most of it is {what}: {figures}." if figures else ""
