"""Benchmark output and its comparison: `Benchmarks`, `BenchmarksDiff`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pprofdiff.analysis.benchmarks.compare import (
    BenchmarkDiff,
    compare_benchmarks,
)
from pprofdiff.analysis.benchmarks.pairing import pair_by_suffix
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.side import BenchmarkRun, Side
from pprofdiff.api.reported import Reported
from pprofdiff.model import benchmarks as columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Benchmarks", "BenchmarksDiff", "compare_outputs"]


@dataclass(frozen=True, eq=False, repr=False)
class Benchmarks:
    """Output of ``go test -bench``: its results, and where it is from.

    ``new - base`` is ``diff(base, new)``.
    """

    data: columns.Benchmarks
    label: str | None = None
    path: str = "benchmarks"

    @property
    def results(self) -> tuple[columns.Result, ...]:
        """One benchmark in one unit each; see `model.benchmarks.Result`."""
        return self.data.results

    @property
    def torn(self) -> int:
        """How many lines name a benchmark whose values were not found."""
        return self.data.torn

    def __repr__(self) -> str:
        """Return one line: where from, benchmarks and measurements."""
        names = {(result.name, result.procs) for result in self.results}
        count = sum(len(result.values) for result in self.results)
        return (
            f"<Benchmarks {self.path!r}: {len(names)} benchmarks, {count} measurements>"
        )

    def __sub__(self, base: Benchmarks) -> BenchmarksDiff:
        """Return what changed from base to this."""
        return compare_outputs([base], [self])

    def pair(self, suffix: str) -> BenchmarksDiff:
        """Compare benchmarks under two names: ``XOld`` is base and ``X`` is new.

        The same as ``--pair suffix=Old``; what has no partner is left out. Raises
        UsageError where nothing has one.

        >>> from pprofdiff import load
        >>> pair = load("zstd/new/bench.txt").pair("Old").rows.set_index("unit")
        >>> float(pair.loc["allocs/op", "base"]), float(pair.loc["allocs/op", "new"])
        (63.0, 1.0)
        """
        base, new = pair_by_suffix(self.data, suffix)
        return compare_outputs(
            [Benchmarks(base, path=self.path)], [Benchmarks(new, path=self.path)]
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a measurement: name, procs, unit, run, value, iterations."""
        return self.data.to_frame()

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
    ) -> dict[str, str]:
        """Return what Jupyter shows: a table, and its twin in text."""
        from pprofdiff.notebook import shown
        from pprofdiff.notebook.inputs import benchmarks_card

        label = self.label or self.path
        return shown(
            lambda: benchmarks_card(self.data, label), repr(self), include, exclude
        )


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarksDiff(Reported):
    """What changed between two outputs of benchmarks, as benchstat compares them."""

    data: BenchmarkDiff
    outputs: tuple[tuple[Benchmarks, ...], tuple[Benchmarks, ...]]

    def __repr__(self) -> str:
        """Return one line: benchmarks, and how many differ."""
        rows = [row for row in self.data.rows if row.p is not None]
        moved = sum(row.significant for row in rows)
        base, new = self._labels
        return (
            f"<BenchmarksDiff {base!r} → {new!r}: {len(rows)} figures on both sides, "
            f"{moved} differ>"
        )

    @property
    def rows(self) -> pd.DataFrame:
        """One row a benchmark and unit.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        name, unit     as printed; the name with its ``-P``          string
        base, new,     medians in `unit`, new − base; NaN where a    float64
        delta          side was not measured
        ratio          new / base                                    float64
        p              of the U test                                 float64
        significant    p is at most 0.05                             bool
        ============== ============================================= ============
        """
        import pandas as pd

        nan = float("nan")
        held = self.data.rows
        numbers = [
            (
                nan if row.base is None else row.base.median,
                nan if row.new is None else row.new.median,
                nan if row.delta is None else row.delta,
                nan if row.ratio is None else row.ratio,
                nan if row.p is None else row.p,
            )
            for row in held
        ]
        columns = ["base", "new", "delta", "ratio", "p"]
        frame = pd.DataFrame(numbers, columns=columns, dtype="float64")
        frame.insert(0, "name", [row.full_name for row in held])
        frame.insert(1, "unit", [row.unit for row in held])
        return frame.assign(significant=[row.significant for row in held])

    @property
    def _labels(self) -> tuple[str, str]:
        base, new = (
            outputs[0].label or word
            for outputs, word in zip(self.outputs, ("base", "new"), strict=True)
        )
        return base, new

    @property
    def comparison(self) -> Comparison:
        """The comparison by itself, as `pprofdiff.analysis.comparison` holds it."""
        base, new = (
            Side(
                label,
                benchmarks=tuple(BenchmarkRun(one.path, one.data) for one in outputs),
            )
            for label, outputs in zip(self._labels, self.outputs, strict=True)
        )
        return Comparison(base, new, benchmarks=self.data)


def compare_outputs(
    base: Sequence[Benchmarks], new: Sequence[Benchmarks]
) -> BenchmarksDiff:
    """Return new minus base; several outputs of a side are pooled."""
    found = compare_benchmarks([b.data for b in base], [n.data for n in new])
    return BenchmarksDiff(found, (tuple(base), tuple(new)))
