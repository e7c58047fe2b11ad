"""Two builds' benchmarks compared, as benchstat compares them.

Where benchstat makes a table for each configuration and so compares nothing of two
machines, benchmarks are paired here by package, name and GOMAXPROCS, and what else
differs is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from pprofdiff.analysis.benchmarks.table import (
    LARGEST,
    BenchmarkDiff,
    BenchmarkRow,
    BenchmarkTable,
    ConfigDifference,
    Geomean,
)
from pprofdiff.analysis.benchmarks.units import better, tidy
from pprofdiff.analysis.stats.calibration import (
    ALPHA,
    CONFIDENCE,
    SAMPLES_FOR_INTERVAL,
    SAMPLES_FOR_TEST,
)
from pprofdiff.analysis.stats.judge import Judge
from pprofdiff.analysis.stats.judgement import Change
from pprofdiff.analysis.stats.samples import Summary, geomean, summarize
from pprofdiff.errors import UsageError
from pprofdiff.model.benchmarks import Benchmarks, Result

__all__ = [
    "BenchmarkDiff",
    "BenchmarkRow",
    "BenchmarkTable",
    "ConfigDifference",
    "Geomean",
    "compare_benchmarks",
    "pair_by_suffix",
]

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

_Config = tuple[tuple[str, str], ...]
_Key = tuple[_Config, str, tuple[str, int | None]]
_Results = list[Result]


def compare_benchmarks(
    base: Sequence[Benchmarks], new: Sequence[Benchmarks]
) -> BenchmarkDiff:
    """Compare both sides' benchmarks; several outputs of a side are pooled.

    Tables come in the order in which configurations, units and names first appear,
    base first, as benchstat's do.
    """
    apart, differences = _configurations(base, new)
    pooled: dict[_Key, tuple[_Results, _Results]] = {}
    for side, outputs in enumerate((base, new)):
        for result in chain.from_iterable(output.results for output in outputs):
            config = dict(result.config)
            where = tuple((key, config.get(key, "")) for key in apart)
            key = (where, tidy(result.unit).unit, (result.name, result.procs))
            pooled.setdefault(key, ([], []))[side].append(result)
    rows: dict[tuple[_Config, str], list[BenchmarkRow]] = {}
    for key in _by_appearance(pooled):
        row = _row(*pooled[key])
        if row is not None:
            rows.setdefault(key[:2], []).append(row)
    tables = [
        BenchmarkTable(config, unit, tuple(found), _geomean(found))
        for (config, unit), found in rows.items()
    ]
    torn = [sum(output.torn for output in outputs) for outputs in (base, new)]
    return BenchmarkDiff(tuple(tables), differences, (torn[0], torn[1]))


def _by_appearance(keys: dict[_Key, tuple[_Results, _Results]]) -> list[_Key]:
    """Return the keys with each of their parts in the order of its first appearance."""
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
    """Return the keys that tell benchmarks apart, and those that differ otherwise.

    A key tells them apart if one side has several values of it, provided that they
    can be paired by it: it is ``pkg``, or the sides share a value.
    """
    apart, differences = [], []
    sides = [list(chain.from_iterable(o.results for o in side)) for side in (base, new)]
    keys = dict.fromkeys(
        key for result in chain.from_iterable(sides) for key, _ in result.config
    )
    configs = [[dict(result.config) for result in side] for side in sides]
    for key in keys:
        old, fresh = (
            tuple(dict.fromkeys(config.get(key, "") for config in side))
            for side in configs
        )
        several = len(old) > 1 or len(fresh) > 1
        if several and (key == "pkg" or set(old) & set(fresh)):
            apart.append(key)
        elif set(old) != set(fresh) and old and fresh:
            differences.append(ConfigDifference(key, old, fresh))
    return tuple(apart), tuple(differences)


class _Sample(NamedTuple):
    """One side's values, as printed and tidied, and how many were no numbers."""

    raw: list[float]
    tidied: list[float]
    lost: int


def _sample(results: _Results) -> _Sample:
    values = [(v, v * tidy(r.unit).factor) for r in results for v in r.values]
    kept = [pair for pair in values if abs(pair[1]) < LARGEST]
    return _Sample([v for v, _ in kept], [v for _, v in kept], len(values) - len(kept))


def _row(base: _Results, new: _Results) -> BenchmarkRow | None:
    """Return the row of one benchmark, None if it has no value that is a number."""
    samples = _sample(base), _sample(new)
    first, second = (sample.tidied for sample in samples)
    if not first and not second:
        return None
    units = list(dict.fromkeys(result.unit for result in (*base, *new)))
    tidied = [summarize(s.tidied) if s.tidied else None for s in samples]
    # Values that were printed in several units are told in their tidy one.
    raw = tidied
    if len(units) == 1 and tidy(units[0]).factor != 1:
        raw = [summarize(s.raw) if s.raw else None for s in samples]
    change = Judge.of_benchmark().pair(first, second) if first and second else None
    shown = tidy(units[0]).unit
    return BenchmarkRow(
        name=(base or new)[0].name,
        procs=(base or new)[0].procs,
        unit=units[0] if len(units) == 1 else shown,
        better=better(shown),
        base=raw[0],
        new=raw[1],
        tidy_base=tidied[0],
        tidy_new=tidied[1],
        change=change,
        notes=tuple(_notes(samples, tidied, change)),
    )


def _notes(
    samples: Sequence[_Sample],
    summaries: Sequence[Summary | None],
    change: Change | None,
) -> Iterator[str]:
    """Yield benchstat's warnings on a row, and ours."""
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
        yield f"{lost} measurements are no numbers and are left out"


def _geomean(rows: Sequence[BenchmarkRow]) -> Geomean:
    """Return a table's geometric means; the ratio's is that of the rows' ratios."""
    base = [row.tidy_base.median for row in rows if row.tidy_base is not None]
    new = [row.tidy_new.median for row in rows if row.tidy_new is not None]
    ratios = [row.ratio for row in rows if row.p is not None]
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


def pair_by_suffix(
    benchmarks: Benchmarks, suffix: str
) -> tuple[Benchmarks, Benchmarks]:
    """Split one output in two: ``XOld`` as base, under the name X, and ``X`` as new.

    The suffix is that of the function's name, before any sub-benchmark's:
    ``CompressOld/size=1k`` pairs with ``Compress/size=1k``. What has no such partner
    function is left out. Raises UsageError where no function has one.
    """
    functions = {result.name.partition("/")[0] for result in benchmarks.results}
    pairs = {
        name: name.removesuffix(suffix)
        for name in functions
        if suffix and name.endswith(suffix) and name.removesuffix(suffix) in functions
    }
    if not pairs:
        raise UsageError(_no_pairs(functions, suffix))
    base, new = [], []
    for result in benchmarks.results:
        function, slash, rest = result.name.partition("/")
        if function in pairs:
            base.append(result._replace(name=f"{pairs[function]}{slash}{rest}"))
        # XOldOld is the base of XOld, which is that of X.
        if function in pairs.values():
            new.append(result)
    return Benchmarks(tuple(base), benchmarks.torn), Benchmarks(tuple(new), 0)


def _no_pairs(functions: set[str], suffix: str) -> str:
    if not suffix:
        return "--pair suffix= needs a suffix: --pair suffix=Old compares XOld with X"
    some = ", ".join(f"Benchmark{name}" for name in sorted(functions)[:3]) or "none"
    more = f" and {len(functions) - 3} more" if len(functions) > 3 else ""
    return (
        f"--pair suffix={suffix}: no benchmark has a partner named BenchmarkX{suffix} "
        f"for BenchmarkX; there are {some}{more}"
    )
