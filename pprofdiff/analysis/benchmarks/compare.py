"""Two builds' benchmarks compared, as benchstat compares them.

Benchmarks are paired by package, name and GOMAXPROCS; other differences of
configuration are listed next to the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import inf
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.units import Better, better, tidy
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.judge.calibration import (
    ALPHA,
    CONFIDENCE,
    SAMPLES_FOR_INTERVAL,
    SAMPLES_FOR_TEST,
)
from pprofdiff.analysis.judge.judgement import Change
from pprofdiff.analysis.judge.samples import (
    Summary,
    change_of_medians,
    geomean,
    summarize,
)
from pprofdiff.analysis.settings import Settings
from pprofdiff.model.benchmarks import Benchmarks, Result
from pprofdiff.model.side import Side

_NO_INTERVAL = (
    f"need >= {SAMPLES_FOR_INTERVAL} samples for confidence interval "
    f"at level {CONFIDENCE}"
)
_NO_TEST = (
    f"need >= {SAMPLES_FOR_TEST} samples to detect a difference at alpha level {ALPHA}"
)
_ALL_EQUAL = "all samples are equal"
_OTHER_SET = "benchmark set differs from baseline; geomeans may not be comparable"
_NO_SUMMARY = "summaries must be >0 to compute geomean"
_NO_RATIO = "ratios must be >0 to compute geomean"

SideName = Literal["base", "new"]
SIDE_NAMES: tuple[SideName, ...] = ("base", "new")

LARGEST = 1e100
"""Measurements are smaller; ratios and products of larger ones could overflow."""

_Config = tuple[tuple[str, str], ...]
_Key = tuple[_Config, str, tuple[str, int | None]]
_Results = list[tuple[int, Result]]
_ByRun = tuple[tuple[float, ...], ...]


class BenchmarkRow(Struct, frozen=True):
    """One benchmark in one unit; a side is None if it was not measured.

    `name` is as printed, without ``Benchmark`` and the ``-P`` of GOMAXPROCS; `procs` is
    that P. `base` and `new` are in `unit`, as the benchmark prints it; `tidy_base` and
    `tidy_new` are in the table's unit. `better` says which values are better, None if
    unknown. `change` compares the tidy medians, None if one side was not measured.
    `notes` say why a figure is missing. `runs` are (base, new) values in the tidy unit,
    one sequence per output that has the benchmark. With `of_turns`, figures are means
    of turns instead of medians, and `change` has no p; its ratio and 99% interval are
    None for exact counts.
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
    # No figure of the table depends on which output a value comes from.
    runs: tuple[_ByRun, _ByRun] = ((), ())
    of_turns: Estimate[float | None] | None = None

    @property
    def full_name(self) -> str:
        """The name with its ``-P``, if one is printed."""
        return self.name if self.procs is None else f"{self.name}-{self.procs}"

    @property
    def p(self) -> float | None:
        """The p of the U test, 1 if all values are equal, None on one side only."""
        return None if self.change is None else self.change.p

    @property
    def significant(self) -> bool:
        """Whether the samples differ significantly: p is at most 0.05."""
        return self.change is not None and self.change.noise is False

    @property
    def tested(self) -> bool:
        """Whether the row was tested for significance."""
        return self.p is not None or (
            self.change is not None and self.of_turns is not None
        )

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The 99% interval of a ratio judged in turns, None for others."""
        one = self.of_turns
        return (None, None) if one is None else (one.low, one.high)

    @property
    def delta(self) -> float | None:
        """New median − base median, in `unit`."""
        if self.base is None or self.new is None:
            return None
        return self.new.median - self.base.median

    @property
    def ratio(self) -> float | None:
        """New median ÷ base median, 1 if both are 0.

        None on one side only, and if only base is 0 or the ratio exceeds 1e100.
        """
        if self.of_turns is not None and self.of_turns.ratio is not None:
            return self.of_turns.ratio
        if self.tidy_base is None or self.tidy_new is None:
            return None
        return _ratio(self.tidy_base.median, self.tidy_new.median)

    @property
    def worse(self) -> bool | None:
        """Whether new is worse; None if nothing changed or the direction is unknown."""
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
    """All benchmarks of one `config`, such as a package, in one tidy unit."""

    config: tuple[tuple[str, str], ...]
    unit: str
    rows: tuple[BenchmarkRow, ...]
    geomean: Geomean

    @property
    def compares(self) -> bool:
        """Whether any of its benchmarks was measured on both sides."""
        return any(row.change is not None for row in self.rows)

    @property
    def side(self) -> SideName | Literal[""]:
        """The only side that has this unit; empty if both do."""
        if all(row.base is None for row in self.rows):
            return "new"
        return "base" if all(row.new is None for row in self.rows) else ""


class ConfigDifference(NamedTuple):
    """A ``key: value`` line whose values differ; a missing line is an empty value."""

    key: str
    base: tuple[str, ...]
    new: tuple[str, ...]


class BenchmarkDiff(Struct, frozen=True):
    """The benchmarks of two builds, one table per unit.

    `differences` are configuration lines that may make a comparison misleading. `torn`
    is how many lines of (base, new) name a benchmark but have no values.
    """

    tables: tuple[BenchmarkTable, ...]
    differences: tuple[ConfigDifference, ...]
    torn: tuple[int, int]

    @property
    def rows(self) -> tuple[BenchmarkRow, ...]:
        """The rows of all tables."""
        return tuple(chain.from_iterable(table.rows for table in self.tables))

    def judged(
        self, judge: Callable[[BenchmarkTable, BenchmarkRow], BenchmarkRow]
    ) -> BenchmarkDiff:
        """Return the tables with each row judged again by `judge`."""
        tables = []
        for table in self.tables:
            rows = tuple(judge(table, row) for row in table.rows)
            tables.append(table._replace(rows=rows, geomean=_geomean(rows)))
        return replace(self, tables=tuple(tables))

    def only(self, side: SideName) -> tuple[str, ...]:
        """Return the full names of the benchmarks that only this side has."""
        base = dict.fromkeys(row.full_name for row in self.rows if row.base is not None)
        new = dict.fromkeys(row.full_name for row in self.rows if row.new is not None)
        own, other = (base, new) if side == "base" else (new, base)
        return tuple(name for name in own if name not in other)


def compare_sides(base: Side, new: Side, _settings: Settings) -> BenchmarkDiff:
    """Compare the benchmarks of two sides; see `compare_benchmarks`."""
    return compare_benchmarks(
        [capture.content for capture in base.of("benchmark")],
        [capture.content for capture in new.of("benchmark")],
    )


def compare_benchmarks(
    base: Sequence[Benchmarks], new: Sequence[Benchmarks]
) -> BenchmarkDiff:
    """Compare both sides' benchmarks; the values of a side's outputs are pooled.

    Tables and rows are in the order in which configurations, units and names first
    appear, base first, as in benchstat.
    """
    separating, differences = _configurations(base, new)
    pooled: dict[_Key, tuple[_Results, _Results]] = {}
    for side, outputs in enumerate((base, new)):
        each = enumerate(output.results for output in outputs)
        for run, result in ((run, one) for run, results in each for one in results):
            config = dict(result.config)
            where = tuple((key, config.get(key, "")) for key in separating)
            key = (where, tidy(result.unit).unit, (result.name, result.procs))
            pooled.setdefault(key, ([], []))[side].append((run, result))
    rows: dict[tuple[_Config, str], list[BenchmarkRow]] = {}
    for key in _by_appearance(pooled):
        row = _row(*pooled[key])
        if row is not None:
            rows.setdefault(key[:2], []).append(row)
    tables = [
        BenchmarkTable(config, unit, tuple(of_unit), _geomean(of_unit))
        for (config, unit), of_unit in rows.items()
    ]
    torn = [sum(output.torn for output in outputs) for outputs in (base, new)]
    return BenchmarkDiff(tuple(tables), differences, (torn[0], torn[1]))


def _by_appearance(keys: dict[_Key, tuple[_Results, _Results]]) -> list[_Key]:
    """Return the keys ordered by the first appearance of each of their parts."""
    ranks = [
        {part: rank for rank, part in enumerate(dict.fromkeys(parts))}
        for parts in zip(*keys, strict=True)
    ]
    return sorted(
        keys, key=lambda key: [r[part] for r, part in zip(ranks, key, strict=True)]
    )


def _configurations(
    base: Sequence[Benchmarks], new: Sequence[Benchmarks]
) -> tuple[tuple[str, ...], tuple[ConfigDifference, ...]]:
    """Return the keys that separate benchmarks, and other keys that differ.

    A key separates benchmarks if one side has several values of it and they can be
    paired by it: it is ``pkg``, or the sides share a value.
    """
    separating, differences = [], []
    sides = [list(chain.from_iterable(o.results for o in side)) for side in (base, new)]
    keys = dict.fromkeys(
        key for result in chain.from_iterable(sides) for key, _ in result.config
    )
    configs = [[dict(result.config) for result in side] for side in sides]
    for key in keys:
        base_values, new_values = (
            tuple(dict.fromkeys(config.get(key, "") for config in side))
            for side in configs
        )
        several = len(base_values) > 1 or len(new_values) > 1
        if several and (key == "pkg" or set(base_values) & set(new_values)):
            separating.append(key)
        elif set(base_values) != set(new_values) and base_values and new_values:
            differences.append(ConfigDifference(key, base_values, new_values))
    return tuple(separating), tuple(differences)


class _Sample(NamedTuple):
    """One side's values, as printed and tidied, and how many were not numbers."""

    raw: list[float]
    tidied: list[float]
    lost: int
    runs: _ByRun


def _sample(results: _Results) -> _Sample:
    raw: list[float] = []
    runs: dict[int, list[float]] = {}
    lost = 0
    for run, result in results:
        factor = tidy(result.unit).factor
        kept = [value for value in result.values if abs(value * factor) < LARGEST]
        lost += len(result.values) - len(kept)
        raw += kept
        runs.setdefault(run, []).extend(value * factor for value in kept)
    tidied = list(chain.from_iterable(runs.values()))
    return _Sample(raw, tidied, lost, tuple(tuple(run) for run in runs.values() if run))


def _row(base: _Results, new: _Results) -> BenchmarkRow | None:
    """Return the row of one benchmark, None if it has no value that is a number."""
    samples = _sample(base), _sample(new)
    first, second = (sample.tidied for sample in samples)
    if not first and not second:
        return None
    units = list(dict.fromkeys(result.unit for _, result in (*base, *new)))
    tidied = [summarize(s.tidied) if s.tidied else None for s in samples]
    # Values printed in several units are shown in their tidy one.
    raw = tidied
    if len(units) == 1 and tidy(units[0]).factor != 1:
        raw = [summarize(s.raw) if s.raw else None for s in samples]
    change = change_of_medians(first, second) if first and second else None
    shown = tidy(units[0]).unit
    _, first_of_all = (base or new)[0]
    return BenchmarkRow(
        name=first_of_all.name,
        procs=first_of_all.procs,
        unit=units[0] if len(units) == 1 else shown,
        better=better(shown),
        base=raw[0],
        new=raw[1],
        tidy_base=tidied[0],
        tidy_new=tidied[1],
        change=change,
        notes=tuple(_notes(samples, tidied, change)),
        runs=(samples[0].runs, samples[1].runs),
    )


def _notes(
    samples: Sequence[_Sample],
    summaries: Sequence[Summary | None],
    change: Change | None,
) -> Iterator[str]:
    known = [summary for summary in summaries if summary is not None]
    if any(summary.low is None or summary.high is None for summary in known):
        yield _NO_INTERVAL
    if change is not None:
        if len({value for sample in samples for value in sample.tidied}) == 1:
            yield _ALL_EQUAL
        elif change.noise is None:
            yield _NO_TEST
    lost = sum(sample.lost for sample in samples)
    if lost:
        yield f"{lost} measurements are not numbers and are left out"


def _geomean(rows: Sequence[BenchmarkRow]) -> Geomean:
    """Return a table's geometric means; the ratio is the mean of the rows' ratios."""
    base = [row.tidy_base.median for row in rows if row.tidy_base is not None]
    new = [row.tidy_new.median for row in rows if row.tidy_new is not None]
    ratios = [row.ratio for row in rows if row.change is not None]
    known = [ratio for ratio in ratios if ratio is not None]
    means = geomean(base), geomean(new)
    ratio = geomean(known) if len(known) == len(ratios) else None
    notes = []
    if len(base) != len(ratios):
        notes.append(_OTHER_SET)
    if None in means:
        notes.append(_NO_SUMMARY)
    if ratio is None and len(known) == len(ratios):
        notes.append(_NO_RATIO)
    return Geomean(*means, ratio, tuple(notes))
