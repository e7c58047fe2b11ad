"""Find leaf benchmarks and their speed, select each by pattern, count iterations.

Both sides run long enough and do equal work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import exp, log
from typing import NamedTuple

from pprofdiff.analysis.figures.costs import TIME
from pprofdiff.errors import FormatError
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.measure.gobuild import Binary, Tree, run_tests
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.sides import SIDES, SideName

# A pilot only has to find the order of magnitude.
_PILOT_S, _SHORTEST_S = 0.1, 0.01
# As in go test, for a benchmark that never ends; the user's -timeout comes later.
_TIMEOUT = "10m"
_UNSAFE = re.compile(r"[^\w.=+-]+", re.ASCII)
# If the sides' speeds differ by less, both run the same number of iterations, since the
# cost per op may depend on b.N, as when a slice or map grows with it, or when set-up is
# timed. A pilot on a busy machine was off by a factor of two in 4 of 12 benchmarks, of
# three and of four in 2 of 57 commits. The faster side's turn of 0.1 s is 20 ms then.
_EQUAL_BELOW = 5.0
# Beyond this the faster side's iterations would overflow an int32.
_LARGEST_FACTOR = 100_000
FAST_S = 1e-10
"""The shortest time per op, in seconds, that iterations are chosen for."""


class Leaf(NamedTuple):
    """A benchmark without sub-benchmarks: its package, and its name as printed.

    The name has no ``Benchmark`` prefix and no ``-P`` suffix for GOMAXPROCS. The latter
    is `cpu`, 0 without ``-cpu``; each of its values is a leaf with its own process.
    """

    package: str
    name: str
    cpu: int = 0

    @property
    def shown(self) -> str:
        """The name as Go prints it for a value of ``-cpu``, with no suffix for 1."""
        return f"Benchmark{self.name}" + (f"-{self.cpu}" if self.cpu > 1 else "")

    @property
    def flags(self) -> tuple[str, ...]:
        """The flag of the test binary that sets GOMAXPROCS."""
        return (f"-test.cpu={self.cpu}",) if self.cpu else ()


class Pilot(NamedTuple):
    """What a pilot run measured: seconds and allocations per op, 0 if not printed."""

    seconds: float
    objects: float


def pilots(
    asked: GoTest, tree: Tree, binaries: Iterable[Binary], seconds: float
) -> dict[Leaf, Pilot]:
    """Run all benchmarks of a side once, briefly; raises MeasureError if one fails."""
    short = max(_SHORTEST_S, min(_PILOT_S, seconds / 4))
    time = "1x" if asked.iterations is not None else f"{short:g}s"
    found: dict[Leaf, Pilot] = {}
    for binary, cpu in product(binaries, asked.cpus or (0,)):
        flags = [
            *(f"-test.bench={asked.pattern}", "-test.benchmem"),
            *(f"-test.benchtime={time}", f"-test.timeout={_TIMEOUT}"),
            *Leaf(binary.package, "", cpu).flags,
            *(*asked.test, *asked.arguments),
        ]
        printed, _ = run_tests(tree, binary, flags)
        for name, unit, value in results_of(printed):
            leaf = Leaf(binary.package, name, cpu)
            before = found.get(leaf, Pilot(0.0, 0.0))
            if unit == TIME.printed:
                before = before._replace(seconds=max(before.seconds, value * 1e-9))
            elif unit == "allocs/op":
                before = before._replace(objects=max(before.objects, value))
            found[leaf] = before
    return found


def shorter(
    one: Mapping[Leaf, Pilot], other: Mapping[Leaf, Pilot]
) -> dict[Leaf, Pilot]:
    """Return the pilots in `one`, each with the shorter time of the two runs."""
    return {
        leaf: pilot._replace(seconds=min(pilot.seconds, other.get(leaf, pilot).seconds))
        for leaf, pilot in one.items()
    }


def results_of(printed: bytes) -> Iterator[tuple[str, str, float]]:
    """Yield (name, unit, last value) from benchmark output; nothing from other text.

    The name has no ``Benchmark`` prefix and no ``-P`` suffix.
    """
    try:
        results = parse(printed, "a benchmark's output").results
    except FormatError:
        return
    for result in results:
        yield result.name, result.unit, result.values[-1]


def pattern_of(leaf: Leaf) -> str:
    """Return the ``-test.bench`` pattern that matches only this leaf.

    ``go test`` splits patterns and names at slashes and matches part by part
    (testing/match.go); each part is quoted for RE2.
    """
    first, *parts = leaf.name.split("/")
    names = [f"Benchmark{first}", *parts]
    return "/".join(f"^{re.sub(r'([^a-zA-Z0-9_])', _quoted, name)}$" for name in names)


def _quoted(found: re.Match[str]) -> str:
    """Escape an ASCII character; RE2 has no escapes for letters."""
    char = found[1]
    return f"\\{char}" if char.isascii() else char


def folders_of(leaves: Sequence[Leaf]) -> Mapping[Leaf, str]:
    """Return a folder name for each leaf, numbered where two would collide."""
    packages = {leaf.package for leaf in leaves}
    named: dict[str, Leaf] = {}
    for leaf in leaves:
        name = leaf.shown
        if len(packages) > 1:
            name = f"{leaf.package.rpartition('/')[2]}.{name}"
        # Most file systems limit names to 255 bytes.
        short = _UNSAFE.sub("_", name)[:100]
        unique, number = short, 1
        while unique in named:
            number += 1
            unique = f"{short}_{number}"
        named[unique] = leaf
    return {leaf: name for name, leaf in named.items()}


class Counts(NamedTuple):
    """Iterations of one benchmark on each side."""

    base: int
    new: int

    def of(self, side: SideName) -> int:
        """Return the iterations of a side."""
        return self.base if side == "base" else self.new


def any_unlike(pilots: Mapping[SideName, Mapping[Leaf, Pilot]]) -> bool:
    """Return whether pilots differ so much that one side would run more iterations."""
    base, new = (pilots[side] for side in SIDES)
    return any(
        unlike(own.seconds, new[leaf].seconds)
        for leaf, own in base.items()
        if leaf in new
    )


def unlike(one: float, other: float) -> bool:
    """Return whether two times per op differ by more than pilots of one build may."""
    return abs(log(max(one, FAST_S) / max(other, FAST_S))) >= log(_EQUAL_BELOW)


def counts_for(pilots: Mapping[SideName, Pilot], seconds: float) -> Counts:
    """Return iterations of a benchmark so that each side takes about `seconds`.

    The slower side takes that long. The faster one runs a whole multiple of its
    iterations: the ratio of the speeds; 1 if they are within a factor of five.
    """
    base, new = (max(pilots[side].seconds, FAST_S) for side in SIDES)
    factor = _factor(log(base / new))
    times = abs(factor)
    slow, fast = (base, new) if factor > 0 else (new, base)
    few = _two_digits(seconds / max(slow, times * fast))
    return Counts(few, few * times) if factor > 0 else Counts(few * times, few)


def raised(counts: Counts, took: Mapping[SideName, float], seconds: float) -> Counts:
    """Return more iterations if a side ran for less than half of `seconds`.

    `took` is each side's measured seconds per op. A pilot on a busy machine may have
    been many times too high.
    """
    ran = min(counts.of(side) * took[side] for side in SIDES)
    if ran >= seconds / 2:
        return counts
    pilots = {side: Pilot(took[side], 0.0) for side in SIDES}
    more = counts_for(pilots, seconds)
    longer = min(more.of(side) * took[side] for side in SIDES) > ran
    return more if longer else counts


def operations_in(iterations: int) -> int:
    """Return how many operations ``-benchtime=Nx`` runs: one, then N."""
    return iterations + 1 if iterations > 1 else 1


def _factor(faster: float) -> int:
    times = round(min(exp(abs(faster)), _LARGEST_FACTOR))
    if exp(abs(faster)) < _EQUAL_BELOW:
        return 1
    return times if faster > 0 else -times


def _two_digits(count: float) -> int:
    """Return a count rounded down to two digits, at least 1, easy to retype."""
    whole = max(1, int(min(count, 1e9)))
    unit: int = 10 ** max(0, len(str(whole)) - 2)
    return whole // unit * unit
