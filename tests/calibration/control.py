"""How often the internal control is right: coverage on planted changes.

Runs of one build are split in two sides at random. A change of a
known part of the total is planted in a function by adding a binomial part of its
samples again, with all that is above and below it; new's machine gives `times` as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pprofdiff.analysis.control.estimate import Control, control
from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.side import side
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.side import Capture
from tests.conftest import capture

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Runs:
    """Runs of one build: `counts` are samples by stack (rows) and run (columns)."""

    folder: str

    @cached_property
    def files(self):
        """The captures' paths."""
        return sorted((DATA / self.folder).glob("run*/cpu.pb.gz"))

    @cached_property
    def merged(self):
        """All runs in one profile, one sample a stack."""
        return merge([capture(path) for path in self.files])

    @cached_property
    def counts(self):
        """The number of samples of each stack in each run."""
        stacks = _stacks(self.merged)
        # Samples that differ in their labels alone count as the last of them.
        place = {stack: i for i, stack in enumerate(stacks)}
        counts = np.zeros((len(stacks), len(self.files)), np.int64)
        for run, path in enumerate(self.files):
            one = capture(path)
            for stack, count in zip(
                _stacks(one), one.values[:, 0].tolist(), strict=True
            ):
                counts[place[stack], run] += count
        return counts

    def beneath(self, function):
        """Return which stacks have the function."""
        return np.array(
            [any(function == f[0] for f in s) for s in _stacks(self.merged)]
        )

    def profile(self, counts):
        """Return the profile with these samples."""
        merged = self.merged.take(np.arange(len(counts)))
        return merged.with_values(counts[:, None] * np.array([[1, merged.period]]))


def _stacks(profile):
    """Return each sample's frames, (function, line), leaf first."""
    frames, names = profile.frames(), profile.strings
    functions = profile.functions.name[
        profile.locations.line_function[frames.line]
    ].tolist()
    lines = profile.locations.line_number[frames.line].tolist()
    places = profile.locations.address[profile.stack_locations].tolist()
    cuts, ends = frames.offsets.tolist(), profile.stack_offsets.tolist()
    return [
        (
            *((names[functions[i]], lines[i]) for i in range(cuts[k], cuts[k + 1])),
            ("", tuple(places[ends[k] : ends[k + 1]])),
        )
        for k in range(len(cuts) - 1)
    ]


def split(runs, rng, size, function=None, part=0.0, times=1.0):
    """Return the comparison of two random sides of `size` runs, with a change planted."""
    order = rng.permutation(runs.counts.shape[1])
    base = runs.counts[:, order[:size]].sum(axis=1)
    new = runs.counts[:, order[size : 2 * size]].sum(axis=1)
    if function is not None:
        changed = runs.beneath(function)
        share = runs.counts[changed].sum() / runs.counts.sum()
        whole, rest = divmod(part / share, 1)
        new = new + np.where(changed, int(whole) * new + rng.binomial(new, rest), 0)
    # New's machine gives more where base's gives less: samples that it did not take.
    base = rng.binomial(base, 1 / times)
    return compare(
        *(
            side(label, [Capture(f"{label}.pb.gz", "profile", runs.profile(counts))])
            for label, counts in (("base", base), ("new", new))
        )
    )


@dataclass(frozen=True)
class Rates:
    """The controls of splits with one true cost, where they hold."""

    holding: list[Control]
    true: float

    @property
    def coverage(self):
        """The part of intervals that contain the true cost."""
        costs = [c.cost for c in self.holding]
        return float(np.mean([c.low <= self.true <= c.high for c in costs]))

    @property
    def wrong(self):
        """The part of intervals that lie wholly on the wrong side of 1."""
        costs = [c.cost for c in self.holding]
        wrong = [c.high < 1 or (self.true == 1 and c.low > 1) for c in costs]
        return float(np.mean(wrong))


def rates(runs, size, splits, function=None, part=0.0, times=1.0):
    """Return the rates over random splits."""
    rng = np.random.default_rng(1)
    made = [
        control(split(runs, rng, size, function, part, times)) for _ in range(splits)
    ]
    return Rates([c for c in made if c is not None and c.holds], 1 + part)


def full_name(runs, end):
    """Return the function of the runs whose name ends so."""
    return next(f for f in runs.merged.function_names() if f.endswith(end))
