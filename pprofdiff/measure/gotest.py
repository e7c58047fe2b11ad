"""Benchmarks of ``go test``: how often each runs, and one run of a side."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pprofdiff.errors import FormatError, MeasureError, UsageError
from pprofdiff.inputs.gunzip import decompress
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.measure.children import Program, first_lines, run
from pprofdiff.measure.gobuild import Binary, Tree, here
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.rewritten import rewritten
from pprofdiff.measure.sides import SideName
from pprofdiff.model.profiles.merge import merge
from pprofdiff.units import printable

__all__ = ["GoBenchmarks", "Unit", "planned"]

_PROFILES = {"cpu.pb.gz": "cpuprofile", "allocs.pb.gz": "memprofile"}
_NO_TESTS = "-test.run=^$"
# A pilot need not be exact: it says how often a benchmark goes into a run's time.
_PILOT_S, _SHORTEST_S = 0.1, 0.01
# Functions of one process run equally often: none gets less than a tenth of the time
# that another gets.
_SPREAD = 10.0
_MOST = 1 << 26
# The line of a benchmark that did no operation.
_NOTHING_DONE = re.compile(rb"^Benchmark\S*\s+0\s", re.MULTILINE)
# Of many benchmarks a warning names so many.
_NAMED = 3


class Unit(NamedTuple):
    """What one process runs: the benchmarks of a package that a pattern chooses."""

    package: str
    pattern: str
    iterations: int
    functions: tuple[str, ...]


class Pilot(NamedTuple):
    """What a short run told of one function: seconds an operation, all its parts."""

    seconds: float
    """0 where it printed no time."""
    iterations: int


Key = tuple[str, str]
"""A function: its package, its name without ``Benchmark``."""
Pilots = dict[Key, Pilot]


class GoBenchmarks:
    """Both sides' test binaries, which run the same benchmarks equally often."""

    def __init__(
        self,
        asked: GoTest,
        trees: Mapping[SideName, Tree],
        binaries: Mapping[SideName, Mapping[str, Binary]],
        units: Sequence[Unit],
    ) -> None:
        self._asked = asked
        self._trees = trees
        self._binaries = binaries
        self.units = tuple(units)

    def run(self, side: SideName, folder: str) -> None:
        """Write cpu.pb.gz, allocs.pb.gz, bench.txt and gctrace.log of one run.

        Of several processes the profiles are added up.
        """
        with tempfile.TemporaryDirectory(dir=folder) as parts:
            names = [
                {name: os.path.join(parts, f"{number}-{name}") for name in _PROFILES}
                for number in range(len(self.units))
            ]
            if len(names) == 1:
                names = [{name: os.path.join(folder, name) for name in _PROFILES}]
            for unit, files in zip(self.units, names, strict=True):
                flags = [f"-test.{_PROFILES[n]}={path}" for n, path in files.items()]
                self._run(side, unit, flags, folder)
            if len(names) > 1:
                for name in _PROFILES:
                    _add_up([n[name] for n in names], os.path.join(folder, name))
        self._whole(folder)

    def _whole(self, folder: str) -> None:
        """Refuse a run that left too little: Go does not tell of a full disk."""
        for name in _PROFILES:
            path = os.path.join(folder, name)
            try:
                decompress(_bytes(path), path)
            except FormatError:
                raise _cut(path) from None
        path = os.path.join(folder, "bench.txt")
        printed = {f"Benchmark{name}" for name in _functions(_bytes(path))}
        if not printed.issuperset(name for u in self.units for name in u.functions):
            raise _cut(path)

    def trace(self, side: SideName, folder: str) -> None:
        """Write trace.out and bench.txt of one run; of several processes the first."""
        flags = [f"-test.trace={os.path.join(folder, 'trace.out')}"]
        self._run(side, self.units[0], flags, folder, gctrace=False)

    def notes(self) -> dict[str, Any]:
        """Return which benchmarks run, and how often."""
        return {
            "benchmarks": [unit._asdict() for unit in self.units],
            "build_flags": list(self._asked.build),
            "test_flags": list(self._asked.test),
            "arguments": list(self._asked.arguments),
        }

    def _run(
        self,
        side: SideName,
        unit: Unit,
        flags: Sequence[str],
        folder: str,
        *,
        gctrace: bool = True,
    ) -> None:
        """Run one unit, and add what it prints to the folder's logs."""
        tree, binary = self._trees[side], self._binaries[side][unit.package]
        words = [
            *(binary.path, _NO_TESTS, f"-test.bench={unit.pattern}", "-test.count=1"),
            *(f"-test.benchtime={unit.iterations}x", *flags, *self._asked.test),
            *self._asked.arguments,
        ]
        variables = dict(tree.environment)
        if gctrace:
            given = variables.get("GODEBUG")
            variables["GODEBUG"] = f"{given},gctrace=1" if given else "gctrace=1"
        with (
            open(os.path.join(folder, "bench.txt"), "ab") as out,
            open(os.path.join(folder, "gctrace.log"), "ab") as errors,
        ):
            start = out.tell(), errors.tell()
            status = run(Program(words, binary.folder, variables), out, errors)
        if not gctrace:
            os.unlink(errors.name)
        if status or _undone(out.name, start[0]):
            raise _failed(tree, unit.package, status, (out.name, errors.name), start)


def _undone(name: str, start: int = 0) -> bool:
    """Return whether a benchmark did no operation, in a file from `start` on.

    So ends one that panics, where the program exits before the panic ends it, or that
    calls runtime.Goexit (testing.(*B).launch); the status may be 0.
    """
    with open(name, "rb") as file:
        file.seek(start)
        return _NOTHING_DONE.search(file.read(_MOST)) is not None


def _failed(
    tree: Tree,
    package: str,
    status: int,
    names: tuple[str, str],
    start: tuple[int, int] = (0, 0),
) -> MeasureError:
    """Return the error of a test binary that failed, with what it said."""
    said = []
    for name, offset in zip(names, start, strict=True):
        if os.path.exists(name):
            with open(name, "rb") as file:
                file.seek(offset)
                said.append(file.read(_MOST))
    # Lines of the collector and of benchmarks that ran say nothing of the failure.
    text = b"\n".join(
        line
        for part in said
        for line in part.splitlines()
        if not line.startswith((b"gc ", b"goos:", b"goarch:", b"pkg:", b"cpu:"))
    )
    lines = here(tree, first_lines(text))
    marks = ("--- FAIL", "panic:", "fatal error:")
    reason = next((line for line in lines if line.startswith(marks)), "")
    if not status and not reason:
        reason = "a benchmark ended before it did an operation"
    if not reason:
        reason = lines[0] if lines and status > 0 else _ended(status)
    return MeasureError(
        f"{tree.checkout.told}: the benchmarks of {printable(package)} fail: "
        f"{reason.strip()}",
        lines,
    )


def _ended(status: int) -> str:
    return f"ended by signal {-status}" if status < 0 else f"exit status {status}"


def _add_up(parts: Sequence[str], path: str) -> None:
    """Write the sum of profiles."""
    try:
        profiles = [decode(decompress(_bytes(p), path), path) for p in parts]
    except FormatError:
        raise _cut(path) from None
    with open(path, "wb") as file:
        file.write(compress(encode(merge(profiles))))


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _cut(path: str) -> MeasureError:
    return MeasureError(
        f"{printable(path)}: the benchmarks ended well, but this is not whole: is the "
        "disk full?"
    )


def planned(
    asked: GoTest,
    trees: Mapping[SideName, Tree],
    binaries: Mapping[SideName, Mapping[str, Binary]],
    seconds: float,
    warn: Callable[[str], None],
) -> GoBenchmarks:
    """Return the benchmarks that both sides have, each with its fixed iterations.

    A short run of each side tells what an operation takes; the slower side's is what
    the iterations come from, so that a run takes `seconds` at most, all benchmarks
    together. Raises UsageError where no benchmark matches, MeasureError where one
    fails.
    """
    short = asked.seconds or seconds
    pilots = {
        side: _pilots(asked, trees[side], binaries[side].values(), short)
        for side in trees
    }
    base, new = pilots["base"], pilots["new"]
    common = [key for key in base if key in new]
    if not common:
        raise UsageError(_none(asked, trees, binaries, pilots))
    for side, own, other in (("base", base, new), ("new", new, base)):
        alone = [f"Benchmark{key[1]}" for key in own if key not in other]
        if alone:
            warn(f"only {side} has {_few(alone)}: not measured")
    other_text = [
        name
        for package in dict.fromkeys(package for package, _ in common)
        for name in rewritten(
            binaries["base"][package].folder,
            binaries["new"][package].folder,
            [f"Benchmark{name}" for of, name in common if of == package],
        )
    ]
    if other_text:
        verb = "is" if len(other_text) == 1 else "are"
        warn(
            f"{_few(other_text)} {verb} written differently in base and new, and may "
            "do other work"
        )
    share = asked.seconds or seconds / len(common)
    units = []
    for group in _groups(common, _slower(pilots), apart=_divisible(asked.pattern)):
        times = _iterations(asked, group, pilots, share * len(group))
        names = tuple(sorted(f"Benchmark{name}" for _, name in group))
        pattern = _pattern(asked.pattern, group)
        units.append(Unit(group[0][0], pattern, times, names))
    return GoBenchmarks(asked, trees, binaries, units)


def _few(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(printable(name) for name in names[:_NAMED]) + more


def _divisible(pattern: str) -> bool:
    """Return whether a pattern's first part can be replaced by one function's name.

    What stands before the first slash chooses functions, unless alternatives or
    brackets have slashes of their own (testing/match.go, splitRegexp).
    """
    first, slash, _ = pattern.partition("/")
    return not slash or not set("|[(") & set(pattern if "|" in pattern else first)


def _pattern(pattern: str, group: Sequence[Key]) -> str:
    """Return the pattern of the functions of a group alone."""
    if not _divisible(pattern):
        return pattern
    _, slash, rest = pattern.partition("/")
    names = "|".join(name for _, name in group)
    chosen = f"({names})" if len(group) > 1 else names
    return f"^Benchmark{chosen}${slash}{rest}"


def _slower(pilots: Mapping[SideName, Pilots]) -> dict[Key, float]:
    """Return the seconds an operation of each function takes on the slower side."""
    first, *others = pilots.values()
    return {
        key: max(pilot.seconds, *(told[key].seconds for told in others))
        for key, pilot in first.items()
        if all(key in told for told in others)
    }


def _groups(
    keys: Sequence[Key], seconds: Mapping[Key, float], *, apart: bool
) -> list[list[Key]]:
    """Return which functions one process runs, each equally often.

    They are of one package; `apart`, and none takes `_SPREAD` times as long as another.
    """
    groups: list[list[Key]] = []
    packages = list(dict.fromkeys(package for package, _ in keys))
    for key in sorted(keys, key=lambda key: (packages.index(key[0]), seconds[key])):
        last = groups[-1][0] if groups else ("", "")
        longer = apart and seconds[key] >= _SPREAD * seconds.get(last, 0.0)
        if last[0] != key[0] or longer:
            groups.append([key])
        else:
            groups[-1].append(key)
    return groups


def _iterations(
    asked: GoTest,
    keys: Sequence[Key],
    pilots: Mapping[SideName, Pilots],
    share: float,
) -> int:
    """Return how often benchmarks run: two digits, so that they can be repeated."""
    if asked.iterations is not None:
        return asked.iterations
    slower = max(sum(told[key].seconds for key in keys) for told in pilots.values())
    if not slower:
        return max(
            max(told[key].iterations for key in keys) for told in pilots.values()
        )
    count = max(1, int(share / slower))
    unit: int = 10 ** max(0, len(str(count)) - 2)
    return count // unit * unit


def _pilots(
    asked: GoTest, tree: Tree, binaries: Iterable[Binary], seconds: float
) -> Pilots:
    """Return what a short run tells of each function, by package and name."""
    short = max(_SHORTEST_S, min(_PILOT_S, seconds / 4))
    time = "1x" if asked.iterations is not None else f"{short:g}s"
    pilots: Pilots = {}
    for binary in binaries:
        words = [
            *(binary.path, _NO_TESTS, f"-test.bench={asked.pattern}"),
            *(f"-test.benchtime={time}", *asked.test, *asked.arguments),
        ]
        with tempfile.TemporaryDirectory(dir=os.path.dirname(binary.path)) as own:
            names = os.path.join(own, "out"), os.path.join(own, "errors")
            with open(names[0], "wb") as out, open(names[1], "wb") as errors:
                program = Program(words, binary.folder, tree.environment)
                status = run(program, out, errors)
            if status or _undone(names[0]):
                raise _failed(tree, binary.package, status, names)
            with open(names[0], "rb") as file:
                told = file.read(_MOST)
        for name, pilot in _functions(told).items():
            pilots[binary.package, name] = pilot
    return pilots


def _functions(told: bytes) -> dict[str, Pilot]:
    """Return each function's sum over its sub-benchmarks and numbers of processors."""
    try:
        results = parse(told, "pilot").results
    except FormatError:
        return {}
    functions: dict[str, Pilot] = {}
    for result in results:
        name = result.name.partition("/")[0]
        before = functions.get(name, Pilot(0.0, 1))
        seconds = result.values[-1] * 1e-9 if result.unit == "ns/op" else 0.0
        functions[name] = Pilot(
            before.seconds + seconds, max(before.iterations, result.iterations[-1])
        )
    return functions


def _none(
    asked: GoTest,
    trees: Mapping[SideName, Tree],
    binaries: Mapping[SideName, Mapping[str, Binary]],
    pilots: Mapping[SideName, Pilots],
) -> str:
    """Return why there is nothing that both sides can run."""
    packages = " ".join(map(printable, asked.packages))
    for side, tree in trees.items():
        if not binaries[side]:
            return (
                f"measure: {tree.checkout.told}: no package of {packages} has tests; "
                "name some after --, such as -- ./..."
            )
        if not pilots[side]:
            return (
                f"measure: {tree.checkout.told}: no benchmark of {packages} matches "
                f"-bench={printable(asked.pattern)}"
            )
    return (
        f"measure: base and new have no benchmark of {packages} in common that matches "
        f"-bench={printable(asked.pattern)}"
    )
