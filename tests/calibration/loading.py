"""Runs that were captured, each loaded once, and sides made of any of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.single import profile_sums
from pprofdiff.inputs.reading import read
from pprofdiff.inputs.sides import decoded
from pprofdiff.model.side import Capture, Side

Column = Literal["flat", "cum"]
# The root of what a benchmark does, as opposed to what runs next to it.
_ON_THE_PATH = "testing.(*B).runN"


@dataclass(frozen=True, eq=False)
class Run:
    """One run: what it left, when it began (seconds), the load average then.

    `rounds` is how often the planted function spins.
    """

    captures: tuple[Capture[Any], ...]
    start: float = 0.0
    load: float = 0.0
    rounds: int = 0

    def one(self, kind: str, measured: str = "") -> Any:
        """Return the content of the capture of a kind, None where there is none."""
        for capture in self.captures:
            if capture.kind == kind and measured in capture.path:
                return capture.content
        return None

    @cached_property
    def sums(self):
        """The CPU profile's sums, in samples."""
        return profile_sums(self.one("profile", "cpu"), "samples")

    @property
    def operation_ns(self) -> float:
        """Wall time of an operation."""
        results = self.one("benchmark").results
        return float(next(r.values[0] for r in results if r.unit == "ns/op"))

    @property
    def operations(self) -> int:
        """How many operations were done."""
        results = self.one("benchmark").results
        return int(next(r.iterations[0] for r in results if r.unit == "ns/op"))

    @property
    def cpu_an_operation(self) -> float:
        """Samples an operation."""
        return self.sums.total / self.operations


def load_run(folder: Path) -> Run:
    """Return the run that a folder holds."""
    got = json.loads((folder / "run.json").read_text("utf-8"))
    captures = decoded(read([str(folder)]), "run").side.captures
    named = tuple(replace(c, path=Path(c.path).name) for c in captures)
    return Run(named, got["start"], got["load_before"][0], got["rounds"])


def side_of(label: str, runs: Sequence[Run]) -> Side:
    """Return the side that these runs make, in this order."""
    return Side(
        label,
        tuple(
            replace(capture, path=f"{label}/{number + 1}/{capture.path}", run=number)
            for number, run in enumerate(runs)
            for capture in run.captures
        ),
    )


@dataclass(frozen=True, eq=False)
class Counts:
    """Samples by function (rows) and run (columns), int64, and each run's total."""

    names: list[str]
    flat: NDArray[np.int64]
    cum: NDArray[np.int64]
    totals: NDArray[np.int64]

    def column(self, which: Column) -> NDArray[np.int64]:
        """Return ``flat`` or ``cum``."""
        return self.flat if which == "flat" else self.cum


@dataclass(frozen=True, eq=False)
class RunSet:
    """Runs of builds that alternated: `runs` in the order of time, and their builds."""

    runs: tuple[Run, ...]
    builds: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path) -> RunSet:
        """Return the runs of ``folder/BUILD/NUMBER``."""
        made = [
            (load_run(path.parent), path.parents[1].name)
            for path in sorted(folder.glob("*/*/run.json"))
        ]
        made.sort(key=lambda one: one[0].start)
        return cls(tuple(run for run, _ in made), tuple(build for _, build in made))

    def of_build(self, build: str) -> NDArray[np.int64]:
        """Return the positions of a build's runs, in the order of time."""
        return np.flatnonzero(np.array(self.builds) == build)

    @cached_property
    def counts(self) -> Counts:
        """The samples of all runs by function."""
        sums = [run.sums for run in self.runs]
        names = sorted({name for one in sums for name in one.names})
        place = {name: row for row, name in enumerate(names)}
        flat = np.zeros((len(names), len(sums)), np.int64)
        cum = np.zeros_like(flat)
        for run, one in enumerate(sums):
            rows = [place[name] for name in one.names]
            np.add.at(flat[:, run], rows, one.flat)
            np.add.at(cum[:, run], rows, one.cum)
        return Counts(names, flat, cum, np.array([one.total for one in sums]))

    def path_share(self, build: str) -> float | None:
        """Return the part of a benchmark's CPU that its time is made of.

        The rest, such as background marking, runs next to it. None for no benchmark.
        """
        counts, at = self.counts, self.of_build(build)
        if _ON_THE_PATH not in counts.names:
            return None
        row = counts.cum[counts.names.index(_ON_THE_PATH), at]
        return float(row.sum() / counts.totals[at].sum())
