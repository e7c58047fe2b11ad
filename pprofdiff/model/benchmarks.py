"""Benchmark results and load summaries: measurements of whole operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Result(NamedTuple):
    """One benchmark's measurements in one unit, one value per run.

    `name` is as printed, without ``Benchmark`` and the GOMAXPROCS suffix ``-P``, such
    as ``Compress/size=1k``; `procs` is P, None if not printed; `config` holds the
    ``key: value`` lines in effect (goos, goarch, pkg, cpu). Values are as printed.
    """

    name: str
    procs: int | None
    config: tuple[tuple[str, str], ...]
    unit: str
    values: tuple[float, ...]
    iterations: tuple[int, ...]


class Benchmarks(NamedTuple):
    """All results of one ``go test -bench`` output, in the order they first appear.

    `torn` counts lines that name a benchmark whose values were not found.
    """

    results: tuple[Result, ...]
    torn: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measurement: name, procs, unit, run, value, iterations."""
        import pandas as pd

        rows = [
            (r.name, r.procs, r.unit, run, value, r.iterations[run])
            for r in self.results
            for run, value in enumerate(r.values)
        ]
        names = ["name", "procs", "unit", "run", "value", "iterations"]
        return pd.DataFrame(rows, columns=names)


class LoadSummary(NamedTuple):
    """A load generator's counts over one run.

    `requests` are all responses, `failed` those that are errors or have no status below
    400; `per_second` is as printed.
    """

    tool: str
    seconds: float
    requests: int | None
    failed: int | None
    per_second: float
