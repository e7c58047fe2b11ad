"""Which collections are of one process: a log may hold several, or several at a time.

A process numbers its collections 1, 2, 3, … and starts them ever later. Where both rise
all the way there is one run. Where they fall, either another process began, or lines of
several alternate; then each line goes on where a number is followed by the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gcrows import (
    FLAGS,
    NUMBER,
    PROCS,
    REPAIRED,
    STACKS,
    START,
    TORN,
    Rows,
    cycles,
    joined,
)
from pprofdiff.loaders.gcstreams import told_apart
from pprofdiff.model.gclogs import GCRun

__all__ = ["split"]


def split(chunks: list[Rows]) -> tuple[tuple[GCRun, ...], bool]:
    """Return the runs in the order they begin, and if some could not be told apart.

    Empties `chunks`: all rows in the order of the text, at least one. Lines that were
    put together and do not fit between their neighbours are torn lines after this.
    """
    if _in_order(chunks):
        # Without a narrow copy of all: what is kept is wide.
        return (_run(joined(chunks, wide=True)),), False
    rows = joined(chunks)
    if (rows[FLAGS] & REPAIRED).any():
        doubtful = np.flatnonzero(rows[FLAGS] & REPAIRED)
        doubtful = doubtful[~_fitting(rows, doubtful)]
        rows[FLAGS, doubtful] = TORN
        rows[PROCS, doubtful] = rows[STACKS, doubtful] = -1
    owner, mixed = _owners(rows)
    if not owner.any():
        return (_run(rows),), mixed
    order = np.argsort(owner, kind="stable")
    ends = np.flatnonzero(np.diff(owner[order])) + 1
    return tuple(_run(rows[:, mine]) for mine in np.split(order, ends)), mixed


def _in_order(chunks: list[Rows]) -> bool:
    """Tell if all lines are whole, and nothing says that they are of several runs."""
    number, start, stacks, flags = (
        np.concatenate([chunk[column] for chunk in chunks])
        for column in (NUMBER, START, STACKS, FLAGS)
    )
    scanned = stacks >= 0
    return not (
        (flags & (TORN | REPAIRED)).any()
        or _falls(number, start).any()
        or (scanned[1:] != scanned[:-1]).any()
    )


def _run(rows: Rows) -> GCRun:
    """Return one process's rows as a run."""
    torn = rows[FLAGS] & TORN != 0
    count = int(torn.sum())
    return GCRun(cycles(rows[:, ~torn] if count else rows), count)


def _fitting(rows: Rows, doubtful: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell which lines that were put together fit between the lines around them.

    Number and start lie between those of the nearest whole lines, processors and
    grammar are the same; one side is enough where the log begins or ends. The same
    holds between two such lines: where they contradict each other, neither is taken.
    """
    fits = np.ones(len(doubtful), np.bool_)
    whole = np.flatnonzero(rows[FLAGS] & (REPAIRED | TORN) == 0)
    after = np.searchsorted(whole, doubtful)
    for place, here in ((after - 1, after > 0), (after, after < len(whole))):
        pair = np.sort([doubtful[here], whole[place[here]]], axis=0)
        fits[here] &= _follows(rows[:, pair[0]], rows[:, pair[1]])
    kept = np.sort(np.concatenate((whole, doubtful[fits])))
    agree = np.ones(len(kept) + 1, np.bool_)
    agree[1:-1] = _follows(rows[:, kept[:-1]], rows[:, kept[1:]])
    alone = len(kept) == 1
    fits[fits] = (agree[:-1] & agree[1:])[np.searchsorted(kept, doubtful[fits])]
    return fits & (not alone)


def _follows(earlier: Rows, later: Rows) -> NDArray[np.bool_]:
    """Tell which lines can be later ones of the process that wrote the others."""
    follows: NDArray[np.bool_] = (
        (later[NUMBER] > earlier[NUMBER])
        & (later[START] >= earlier[START])
        & (later[PROCS] == earlier[PROCS])
        & ((later[STACKS] < 0) == (earlier[STACKS] < 0))
    )
    return follows


def _falls(number: Rows, start: Rows) -> NDArray[np.bool_]:
    """Tell which lines but the first cannot be later ones of the process before."""
    fall: NDArray[np.bool_] = (number[1:] <= number[:-1]) | (start[1:] < start[:-1])
    return fall


def _owners(rows: Rows) -> tuple[NDArray[np.int64], bool]:
    """Return which run each row is of, and whether that is partly unknown."""
    number = rows[NUMBER]
    falls = np.zeros(len(number), np.bool_)
    falls[1:] = _falls(number, rows[START])
    # A process is of one Go version, which prints one grammar.
    known = np.flatnonzero(rows[FLAGS] & TORN == 0)
    scanned = rows[STACKS, known] >= 0
    falls[known[1:][scanned[1:] != scanned[:-1]]] = True
    in_turn = np.cumsum(falls, dtype=np.int64)
    if not falls.any() or not _may_alternate(number, falls):
        return in_turn, False
    told = told_apart(rows)
    if told.alternate:
        return told.owner, told.mixed
    return in_turn, told.mixed


def _may_alternate(number: Rows, falls: NDArray[np.bool_]) -> bool:
    """Tell if some line may directly continue one that is not right before it."""
    breaks = falls.copy()
    breaks[1:] |= number[1:] != number[:-1] + 1
    begin = np.flatnonzero(breaks)
    ends = np.append(begin - 1, len(number) - 1)
    begin = begin[number[begin] != 1]
    return bool(np.isin(number[begin], number[ends[ends >= 0]] + 1).any())
