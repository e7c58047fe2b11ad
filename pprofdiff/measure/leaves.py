"""Find leaf benchmarks and their speed, and select each one by pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from pprofdiff.analysis.figures.costs import TIME
from pprofdiff.errors import FormatError
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.measure.failures import run_tests
from pprofdiff.measure.gobuild import Binary, Tree
from pprofdiff.measure.goflags import GoTest

# A pilot only has to find the order of magnitude.
_PILOT_S, _SHORTEST_S = 0.1, 0.01
# As in go test, for a benchmark that never ends; the user's -timeout comes later.
_TIMEOUT = "10m"
_UNSAFE = re.compile(r"[^\w.=+-]+", re.ASCII)


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
