"""Allocations per op as benchmarks count them, where no profile shows more.

``go test -benchmem`` prints bytes and objects per op: the runtime counts them without
sampling (`BenchmarkResult.MemString` of package testing).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Claim, Fact, Finding
from pprofdiff.analysis.causes.rules.allocation import allocation
from pprofdiff.analysis.causes.wording import arrow, count, factor, listed, numeral
from pprofdiff.analysis.policy import MAJOR, MINOR, NAMED

if TYPE_CHECKING:
    from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff, BenchmarkRow

_UNITS = {"B/op": "bytes", "allocs/op": "objects"}
_ADVICE = "An allocs profile (-memprofile) names who allocates."


class _Moved(NamedTuple):
    """A benchmark that allocates more or less per op, with its rows by unit.

    The first row decides which: bytes, or objects if bytes did not change.
    """

    name: str
    rows: tuple[BenchmarkRow, ...]

    @property
    def more(self) -> bool:
        return (self.rows[0].delta or 0) > 0

    @property
    def size(self) -> float:
        """The size of the change: |log ratio|, infinite from or to zero."""
        ratio = self.rows[0].ratio
        return abs(log(ratio)) if ratio else float("inf")


def allocated_by_benchmarks(case: Case) -> Iterator[Finding]:
    """Yield a finding where benchmarks allocate significantly more or less per op.

    Not for a single benchmark whose allocation profile shows who allocates: its values
    are per op, or sites appeared or vanished.
    """
    diff = case.comparison.benchmarks
    if diff is None:
        return
    moved = sorted(_moved(diff), key=lambda one: -one.size)
    if not moved or (case.comparison.split is None and _profiled(case)):
        return
    measured = len({_key(row) for row in _rows(diff)})
    for more in (True, False):
        some = [one for one in moved if one.more == more]
        if some:
            yield _finding(case, some, measured, more=more)


def _profiled(case: Case) -> bool:
    """Return whether allocation profiles show more."""
    profile = case.comparison.of_type("alloc_space")
    if profile is not None and profile.normalization.mode == "per_work":
        return True
    return any(finding.severity != "info" for finding in allocation(case))


def _rows(diff: BenchmarkDiff) -> Iterator[BenchmarkRow]:
    """Yield the rows that both sides measured, bytes first."""
    for unit in _UNITS:
        for table in diff.tables:
            if table.unit == unit:
                yield from (row for row in table.rows if row.change is not None)


def _key(row: BenchmarkRow) -> tuple[str, int | None]:
    return row.name, row.procs


def _moved(diff: BenchmarkDiff) -> list[_Moved]:
    rows: dict[tuple[str, int | None], list[BenchmarkRow]] = {}
    for row in _rows(diff):
        if row.significant and _far(row):
            rows.setdefault(_key(row), []).append(row)
    # Bytes without an object are start-up, spread over the iterations.
    none = {
        _key(row)
        for row in _rows(diff)
        if row.unit == "allocs/op" and not any(_medians(row))
    }
    return [
        _Moved(some[0].name, tuple(some))
        for key, some in rows.items()
        if key not in none
    ]


def _far(row: BenchmarkRow) -> bool:
    return not row.ratio or abs(log(row.ratio)) >= log(1 + MAJOR)


def _finding(case: Case, moved: list[_Moved], measured: int, *, more: bool) -> Finding:
    first = moved[0]
    verb = "allocates" if len(moved) == 1 else "allocate"
    word = "more" if more else "less"
    if measured == 1:
        title = f"Each op of {first.name} allocates {_amounts(first)}"
    else:
        title = (
            f"{count(len(moved))} of {count(measured)} benchmarks {verb} {word} "
            f"per op: {first.name} {_amounts(first)}"
        )
    clauses = [
        f"{_values(one)}{'' if measured == 1 else f' in {one.name}'}"
        for one in moved[:NAMED]
    ]
    if len(moved) > len(clauses):
        clauses.append(f"and {len(moved) - len(clauses)} more")
    return Finding(
        "allocation",
        title,
        f"Per op {'; '.join(clauses)}.",
        tuple(_fact(one, row) for one in moved for row in one.rows),
        "" if case.comparison.of_type("alloc_space") else _ADVICE,
        severity="minor",
        direction="worse" if more else "better",
        claim=_claim(case, more=more),
        rises=more,
    )


def _amounts(moved: _Moved) -> str:
    """Return how much more or less it is, in each unit that changed."""
    return ", ".join(_factor(row) for row in moved.rows)


def _factor(row: BenchmarkRow) -> str:
    """Return a change as ``4.04× the bytes`` or ``0 → 3 objects``."""
    noun = _UNITS[row.unit]
    if not row.ratio:
        return f"{arrow(*_medians(row), noun)}"
    if row.ratio < MINOR:
        return numeral(f"under 1% of the {noun}", "ratio", row.ratio)
    return factor(row.ratio, noun)


def _medians(row: BenchmarkRow) -> tuple[float, float]:
    base, new = row.base, row.new
    return (base.median if base else 0.0), (new.median if new else 0.0)


def _values(moved: _Moved) -> str:
    return listed([arrow(*_medians(row), _UNITS[row.unit]) for row in moved.rows])


def _fact(moved: _Moved, row: BenchmarkRow) -> Fact:
    noun = _UNITS[row.unit]
    what = f"{noun} per op of {moved.name}"
    return Fact(what, "benchmark", *_medians(row), noun)


def _claim(case: Case, *, more: bool) -> Claim | None:
    """Claim the allocation samples, if they changed in the same direction."""
    if case.cpu is None:
        return None
    claim = case.cpu.of_groups("alloc")
    delta = case.cpu.delta(claim)
    return claim if delta and (delta > 0) == more else None
