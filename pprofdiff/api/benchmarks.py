"""Benchmark output, load generator summaries, and the comparison of two outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff, compare_sides
from pprofdiff.analysis.benchmarks.loads import compare_sides as compare_loads
from pprofdiff.analysis.derived import pair_by_suffix
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.api.reported import KindDiff
from pprofdiff.api.shown import LoadedInput, side_of
from pprofdiff.kinds import KindId
from pprofdiff.model import benchmarks as columns
from pprofdiff.units import rounded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Benchmarks(LoadedInput[columns.Benchmarks]):
    """Output of ``go test -bench``: `data` has its results, also as ``to_frame()``.

    ``new - base`` is ``diff(base, new)``.
    """

    kind: ClassVar[KindId] = "benchmark"

    path: str = "benchmarks"

    def __repr__(self) -> str:
        names = {(result.name, result.procs) for result in self.data.results}
        count = sum(len(result.values) for result in self.data.results)
        return (
            f"<Benchmarks {self.path!r}: {len(names)} benchmarks, {count} measurements>"
        )

    def __sub__(self, base: Benchmarks) -> BenchmarksDiff:
        """Return what changed from base to this output."""
        return subtracted([base], [self])

    def pair(self, suffix: str) -> BenchmarksDiff:
        """Compare benchmarks under two names: ``XOld`` is base and ``X`` is new.

        The same as ``--pair suffix=Old``; unpaired benchmarks are left out. Raises
        UsageError if there is no pair.

        >>> from pprofdiff import load
        >>> pair = load("zstd/new/bench.txt").pair("Old").rows.set_index("unit")
        >>> float(pair.loc["allocs/op", "base"]), float(pair.loc["allocs/op", "new"])
        (63.0, 1.0)
        """
        base, new = pair_by_suffix(self.data, suffix)
        return subtracted(
            [Benchmarks(base, path=self.path)], [Benchmarks(new, path=self.path)]
        )


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarksDiff(KindDiff[BenchmarkDiff]):
    """What changed between two benchmark outputs, compared as benchstat does."""

    kind: ClassVar[KindId] = "benchmark"

    def __repr__(self) -> str:
        rows = [row for row in self.data.rows if row.tested]
        moved = sum(row.significant for row in rows)
        base, new = (side.label for side in self.sides)
        return (
            f"<BenchmarksDiff {base!r} → {new!r}: {len(rows)} figures on both sides, "
            f"{moved} differ>"
        )

    @property
    def rows(self) -> pd.DataFrame:
        """One row per benchmark and unit.

        ============== ============================================= ============
        name, unit     as printed; the name with its ``-P``          string
        base, new,     medians in `unit`, new − base; NaN if a side  float64
        delta          was not measured
        ratio          new / base                                    float64
        ratio_low,     99% CI of `ratio` for benchmarks measured in  float64
        ratio_high     turns, whose base and new are geometric
                       means; else NaN
        p              of the U-test; NaN in turns                   float64
        significant    p ≤ 0.05; in turns, as the outcome            bool
        ============== ============================================= ============
        """
        import pandas as pd

        rows = self.data.rows
        numbers = [
            (
                None if row.base is None else row.base.median,
                None if row.new is None else row.new.median,
                *(row.delta, row.ratio, *row.bounds, row.p),
            )
            for row in rows
        ]
        columns = ["base", "new", "delta", "ratio", "ratio_low", "ratio_high", "p"]
        frame = pd.DataFrame(numbers, columns=columns, dtype="float64")
        frame.insert(0, "name", [row.full_name for row in rows])
        frame.insert(1, "unit", [row.unit for row in rows])
        return frame.assign(significant=[row.significant for row in rows])


@dataclass(frozen=True, eq=False, repr=False)
class LoadSummary(LoadedInput[columns.LoadSummary]):
    """The final summary of a load generator; `data` has its figures."""

    kind: ClassVar[KindId] = "load"

    path: str = "summary"

    def __repr__(self) -> str:
        rate = self.data.per_second
        words = "" if rate is None else f", {rounded(rate)} requests per second"
        return f"<LoadSummary {self.path!r}: {self.data.tool}{words}>"


@dataclass(frozen=True, eq=False, repr=False)
class LoadsDiff(BenchmarksDiff):
    """What changed between two load generators' summaries; `rows` as of benchmarks."""

    kind: ClassVar[KindId] = "load"


def subtracted(
    base: Sequence[Benchmarks], new: Sequence[Benchmarks], settings: Settings = DEFAULTS
) -> BenchmarksDiff:
    """Return new minus base; several outputs of a side are pooled."""
    sides = side_of(base, "base"), side_of(new, "new")
    return BenchmarksDiff(compare_sides(*sides, settings), sides)


def loads_subtracted(
    base: Sequence[LoadSummary],
    new: Sequence[LoadSummary],
    settings: Settings = DEFAULTS,
) -> LoadsDiff:
    """Return new minus base; several summaries of a side are its runs."""
    sides = side_of(base, "base"), side_of(new, "new")
    return LoadsDiff(compare_loads(*sides, settings), sides)
