"""Runs that are drawn rather than captured, so that all that is true of them is known.

The shares of stacks are from a real profile. A run's machine slows all code by one
factor, its samples are Poisson counts, and its time is the CPU that was really spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np
from msgspec.structs import replace

from pprofdiff.api import load
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture
from tests.calibration.loading import Run, RunSet
from tests.conftest import DATA, capture

OPERATIONS = 1000
"""How many a run does."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A build that runs are drawn of: `profile` has one sample a stack.

    `samples` is the mean of a run on a machine of the usual speed, `spread` the
    deviation of the logarithm of its speed.
    """

    profile: Profile
    samples: float = 300.0
    spread: float = 0.13

    @cached_property
    def shares(self):
        """Each stack's part of the CPU."""
        values = self.profile.values[:, 0]
        return values / values.sum()

    def run(self, rng: np.random.Generator) -> Run:
        """Return one more run."""
        expected = self.samples * float(np.exp(rng.normal(0, self.spread)))
        counts = rng.poisson(expected * self.shares)
        seconds = expected / 100
        some = np.flatnonzero(counts)
        values = counts[some, None] * np.array([1, self.profile.period])
        profile = replace(
            self.profile.take(some).with_values(values),
            duration_ns=round(seconds * 1e9),
        )
        line = f"BenchmarkDrawn-1 {OPERATIONS} {seconds * 1e9 / OPERATIONS:.3f} ns/op"
        bench = load(BytesIO(f"pkg: drawn\n{line}\n".encode())).data
        return Run(
            (
                Capture("cpu.pb.gz", "profile", profile),
                Capture("bench.txt", "benchmark", bench),
            )
        )

    def dearer(self, function: str, part: float) -> Drawn:
        """Return the build whose function costs a part of all CPU more, flat."""
        leaves = _leaves(self.profile)
        own = self.shares * [leaf == function for leaf in leaves]
        grown = self.shares + part * own / own.sum()
        values = np.rint(1e9 * grown).astype(np.int64)[:, None] * np.ones(2, np.int64)
        more = self.samples * (1 + part)
        return Drawn(self.profile.with_values(values), more, self.spread)


def runs_of(builds: Sequence[Drawn], rng: np.random.Generator) -> RunSet:
    """Return one run of each build, in this order."""
    return RunSet(tuple(build.run(rng) for build in builds), ("",) * len(builds))


def _leaves(profile: Profile) -> list[str]:
    """Return the function that each stack ends in."""
    frames, strings = profile.frames(), profile.strings
    names = profile.functions.name[profile.locations.line_function[frames.line]]
    return [strings[i] for i in names[frames.offsets[:-1]].tolist()]


def of_records() -> Drawn:
    """Return a build with the shares of captures of one real program."""
    paths = sorted((DATA / "control" / "records").glob("run*/cpu.pb.gz"))
    return Drawn(merge([capture(path) for path in paths]))
