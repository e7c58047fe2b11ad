"""Folding of many benchmarks: what changed most is shown, the rest is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, log
from typing import Any, TypeVar

from pprofdiff.analysis.benchmarks.compare import BenchmarkRow, BenchmarkTable
from pprofdiff.report.rows import Sentence
from pprofdiff.units import many

T = TypeVar("T")


def first(items: Sequence[T], most: int | None, key: Callable[[T], Any]) -> list[T]:
    """Return the `most` items with the largest keys, in their order; all if None."""
    if most is None or len(items) <= most:
        return list(items)
    ranked = sorted(range(len(items)), key=lambda i: key(items[i]), reverse=True)
    return [items[i] for i in sorted(ranked[:most])]


def movement(row: BenchmarkRow) -> tuple[bool, bool, float]:
    """Return how much a row matters: whether it changed significantly, and how far."""
    if row.change is None:
        return False, False, 0.0
    far = inf if not row.ratio or row.ratio < 0 else abs(log(row.ratio))
    return row.significant, True, far


def counted(rows: Sequence[BenchmarkRow]) -> str:
    """Return how many benchmarks changed significantly, and in which direction."""
    moved = [row.worse for row in rows if row.significant]
    words = f"{moved.count(True):,} worse, {moved.count(False):,} better"
    neither = moved.count(None)
    return f"{words}, {neither:,} changed" if neither else words


def folded(
    tables: Sequence[BenchmarkTable], shown: Sequence[BenchmarkTable], limit: int | None
) -> Iterator[Sentence]:
    """Yield how many tables and rows above `limit` are hidden, and how to see them."""
    ids = {id(table) for table in shown}
    left = [table for table in tables if id(table) not in ids]
    if left:
        rows = [row for table in left for row in table.rows]
        yield Sentence(
            f"({many(len(left), 'more table')}, of {many(len(rows), 'row')}: "
            f"{counted(rows)})"
        )
    cut = limit is not None and any(len(table.rows) > limit for table in shown)
    if left or cut:
        text = "Shown is what changed most; --full or -o x.json has all benchmarks."
        yield Sentence(text, "legend")
