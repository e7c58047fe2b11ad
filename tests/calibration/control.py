"""How often the internal control is right: bias, spread and coverage on planted changes.

``python -m tests.calibration.control [SPLITS]`` prints a row for each workload, number of
runs a side and change. Runs of one build are split in two sides at random. A change of a
known part of the total is planted in a function by adding a binomial part of its
samples again, with all that is above and below it; new's machine gives `times` as much.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path

import numpy as np

from pprofdiff.analysis.control.alike import scaled_alike
from pprofdiff.analysis.control.estimate import Control, control
from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.work import counted
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


def split(runs, rng, size, function=None, part=0.0, times=1.0, *, work=False):
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
        ),
        work=counted((1000, round(1000 * times))) if work else None,
    )


@dataclass(frozen=True)
class Rates:
    """What many splits with one true cost gave, where the control holds."""

    splits: int
    controls: list[Control]
    true: float

    @cached_property
    def holding(self):
        """The controls that hold."""
        return [c for c in self.controls if c.holds]

    @property
    def holds(self):
        """The part of all splits in which it holds."""
        return len(self.holding) / self.splits

    @property
    def errors(self):
        """Log of estimated over true cost."""
        return np.array([log(c.cost.ratio / self.true) for c in self.holding])

    @property
    def coverage(self):
        """The part of intervals that contain the true cost."""
        return float(
            np.mean([c.cost.low <= self.true <= c.cost.high for c in self.holding])
        )

    @property
    def significant(self):
        """The part of intervals that exclude 1."""
        return float(np.mean([c.cost.low > 1 or c.cost.high < 1 for c in self.holding]))

    @property
    def wrong(self):
        """The part of intervals that lie wholly on the wrong side of 1."""
        if self.true == 1:
            return self.significant
        return float(np.mean([c.cost.high < 1 for c in self.holding]))

    @property
    def width(self):
        """The median of the intervals' half widths."""
        return float(
            np.median([log(c.cost.high / c.cost.low) / 2 for c in self.holding])
        )


def rates(
    runs, size, splits, function=None, part=0.0, times=1.0, *, work=False, seed=1
):
    """Return the rates over random splits."""
    rng = np.random.default_rng(seed)
    made = [
        control(split(runs, rng, size, function, part, times, work=work))
        for _ in range(splits)
    ]
    return Rates(splits, [c for c in made if c is not None], 1 + part)


SETS = {
    "unchanged": ("lineproto.Parse", "tsdb.(*Shard).Write", "lineproto.(*Point).Key"),
    "control/records": ("main.distance", "encoding/json.Unmarshal", "main.slug"),
    "control/requests": ("main.matches", "main.(*server).page", "main.(*server).order"),
}


def full_name(runs, end):
    """Return the function of the runs whose name ends so."""
    return next(f for f in runs.merged.function_names() if f.endswith(end))


def main() -> None:
    """Print the table."""
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{splits} splits a row; figures in %, of splits where it holds")
    print(f"{'runs of':17s} {'a side':>6s}  {'planted in':24s} {'true':>5s} {'x':>3s} "
          f"{'holds':>5s} {'bias':>5s} {'sd':>4s} {'width':>5s} {'cover':>5s} {'significant':>5s} {'wrong':>5s}")  # fmt: skip
    for folder, functions in SETS.items():
        runs = Runs(folder)
        whole = len(runs.files) // 2
        for size in (1, 2, whole):
            cases = [(None, 0.0, 1.0), (None, 0.0, 2.0)]
            cases += [
                (f, p, t)
                for f in functions
                for p, t in ((0.02, 1), (0.05, 1), (0.1, 1), (0.1, 1.5))
            ]
            for end, part, times in cases:
                function = None if end is None else full_name(runs, end)
                got = rates(runs, size, splits, function, part, times)
                line = f"{folder.removeprefix('control/'):17s} {size:6d}  {end or 'nothing':24s} {100 * part:+5.0f} {times:3.1f} {100 * got.holds:5.0f} "
                if len(got.holding) >= 5:
                    line += (f"{100 * got.errors.mean():+5.1f} {100 * got.errors.std():4.1f} {100 * got.width:5.1f} "
                             f"{100 * got.coverage:5.0f} {100 * got.significant:5.0f} {100 * got.wrong:5.0f}")  # fmt: skip
                print(line, flush=True)
        rng = np.random.default_rng(2)
        for times in (1.0, 2.0):
            alike = [
                scaled_alike(split(runs, rng, whole, times=times)).alike
                for _ in range(splits)
            ]
            print(
                f"{folder.removeprefix('control/'):17s} {whole:6d}  all groups scaled alike  x {times}: {100 * np.mean(alike):.0f} %"
            )


if __name__ == "__main__":
    main()
