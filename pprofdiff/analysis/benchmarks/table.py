"""What a comparison of benchmarks holds: rows, tables by unit, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import NamedTuple

from pprofdiff.analysis.benchmarks.units import Better
from pprofdiff.analysis.stats.judgement import Change
from pprofdiff.analysis.stats.samples import Summary

__all__ = [
    "LARGEST",
    "BenchmarkDiff",
    "BenchmarkRow",
    "BenchmarkTable",
    "ConfigDifference",
    "Geomean",
]

LARGEST = 1e100
"""Beyond this, ratios and products leave the floating point; no measurement is."""


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One benchmark in one unit; a side is None where it was not measured.

    `base` and `new` are in `unit`, as printed by the benchmark; `tidy_base` and
    `tidy_new` in the table's unit. `change` is that of the tidy medians, None on one
    side only; `notes` says why a figure is missing.
    """

    name: str
    procs: int | None
    unit: str
    better: Better | None
    base: Summary | None
    new: Summary | None
    tidy_base: Summary | None
    tidy_new: Summary | None
    change: Change | None
    notes: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """The name with its ``-P``, where one is printed."""
        return self.name if self.procs is None else f"{self.name}-{self.procs}"

    @property
    def p(self) -> float | None:
        """The U test's p, 1 where all values are equal, None on one side only."""
        return None if self.change is None else self.change.p

    @property
    def significant(self) -> bool:
        """Whether the samples differ: p is at most 0.05."""
        return self.change is not None and self.change.noise is False

    @property
    def delta(self) -> float | None:
        """New median − base median, in `unit`."""
        if self.base is None or self.new is None:
            return None
        return self.new.median - self.base.median

    @property
    def ratio(self) -> float | None:
        """New median ÷ base median; None where base is 0 and new is not."""
        if self.tidy_base is None or self.tidy_new is None:
            return None
        return _ratio(self.tidy_base.median, self.tidy_new.median)

    @property
    def worse(self) -> bool | None:
        """Whether new is worse; None if nothing changed or no direction is known."""
        delta = self.delta
        if not delta or not self.significant or self.better is None:
            return None
        return (delta > 0) == (self.better == "lower")


def _ratio(base: float, new: float) -> float | None:
    if base == new:
        return 1.0
    ratio = new / base if base else inf
    return ratio if abs(ratio) < LARGEST else None


class Geomean(NamedTuple):
    """Geometric means of a table's medians, in its unit, and of its rows' ratios."""

    base: float | None
    new: float | None
    ratio: float | None
    notes: tuple[str, ...]


class BenchmarkTable(NamedTuple):
    """All benchmarks of one configuration, such as a package, in one tidy unit.

    `config` holds what tells the tables of one unit apart, often nothing.
    """

    config: tuple[tuple[str, str], ...]
    unit: str
    rows: tuple[BenchmarkRow, ...]
    geomean: Geomean

    @property
    def compares(self) -> bool:
        """Whether a benchmark in it was measured on both sides."""
        return any(row.p is not None for row in self.rows)

    @property
    def side(self) -> str:
        """The only side that has this unit: ``base`` or ``new``; empty for both."""
        if all(row.base is None for row in self.rows):
            return "new"
        return "base" if all(row.new is None for row in self.rows) else ""


class ConfigDifference(NamedTuple):
    """A ``key: value`` line whose values differ; none at all is an empty value."""

    key: str
    base: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchmarkDiff:
    """All tables, and what may make them misleading; `torn` is (base, new) lines."""

    tables: tuple[BenchmarkTable, ...]
    differences: tuple[ConfigDifference, ...]
    torn: tuple[int, int]

    @property
    def rows(self) -> tuple[BenchmarkRow, ...]:
        """The rows of all tables."""
        return tuple(chain.from_iterable(table.rows for table in self.tables))

    def only(self, side: str) -> tuple[str, ...]:
        """Return the full names that only this side (``base`` or ``new``) has."""
        found: tuple[dict[str, None], dict[str, None]] = ({}, {})
        for row in self.rows:
            for names, summary in zip(found, (row.base, row.new), strict=True):
                if summary is not None:
                    names[row.full_name] = None
        base, new = found
        own, other = (base, new) if side == "base" else (new, base)
        return tuple(name for name in own if name not in other)
