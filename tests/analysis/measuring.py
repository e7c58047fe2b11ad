"""Sides as ``pprofdiff measure`` leaves them, made by hand: nothing is timed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import DEFAULTS
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.profiles.profile import Operations, ValueType, with_operations
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import PERIOD, profile
from tests.analysis.growing import HEAP

PACKAGE = "example.com/p"
RUNS, TURNS = 5, 8
_LOOP = ("testing.(*B).runN", "testing.(*B).launch")


class Unit(NamedTuple):
    """A benchmark of one side: what an operation costs.

    `cpu` are samples of each run by stack, `operations` those that a run's samples are
    of. `allocated` are (objects, bytes) of an operation by stack, of which a profile
    has `counted` operations, and lacks `tiny` objects per op. Time is `wall` times the CPU time, which differs from turn
    to turn by `noise` (deviation of its logarithm), next to what all units have. Runs
    have up to `uneven` more or fewer samples than `cpu`, relative to it. Turns take
    `kernel` times the CPU time that samples show.
    """

    cpu: dict
    allocated: dict = {}  # noqa: RUF012 - nothing changes it
    operations: int = 1000
    counted: int = 100
    name: str = "All"
    wall: float = 1.0
    noise: float = 0.0
    uneven: float = 0.0
    tiny: int = 0
    kernel: float = 1.0

    def sampled(self, run):
        """Return the samples of a run by stack."""
        factor = 1 + self.uneven * (run % 3 - 1)
        return {stack: round(count * factor) for stack, count in self.cpu.items()}

    @property
    def nanoseconds(self):
        """CPU time of an operation."""
        return sum(self.cpu.values()) * PERIOD / self.operations * self.kernel


def path(*functions, bench="All"):
    """Return a stack of a benchmark from functions, leaf first, of its package."""
    own = [f if "." in f else f"{PACKAGE}.{f}" for f in functions]
    return (*own, f"{PACKAGE}.Benchmark{bench}", *_LOOP)


def made(label, *units, runs=RUNS, turns=TURNS):
    """Return a side with runs of units; time is CPU time, a little more in some turns."""
    captures = []
    for run in range(runs):
        captures.append(_bench(label, units, run, turns))
        for unit in units:
            folder = f"{label}/{run + 1}/Benchmark{unit.name}"
            where = {"run": run, "run_known": True, "unit": f"Benchmark{unit.name}"}
            cpu = _covering(
                profile(list(unit.sampled(run).items())), unit, unit.operations
            )
            captures.append(Capture(f"{folder}/cpu.pb.gz", "profile", cpu, **where))
            if run == 0:
                allocs = _covering(_allocs(unit), unit, unit.counted)
                captures.append(
                    Capture(f"{folder}/allocs.pb.gz", "profile", allocs, **where)
                )
    return Side(label, tuple(captures))


def compared(base, new, settings=DEFAULTS, **how):
    """Return the comparison of two sides: units of each, one or several."""
    both = ((one,) if isinstance(one, Unit) else one for one in (base, new))
    sides = [
        made(label, *units, **how)
        for label, units in zip(("base", "new"), both, strict=True)
    ]
    return compare_sides(*sides, settings)


def _bench(label, units, run, turns):
    lines = ["measured: in turns", f"pkg: {PACKAGE}"]
    random = np.random.default_rng([run, label == "new"])
    for turn in range(turns):
        # The rest of a turn is alike for both sides, but for one part in 1000.
        noise = 1 + 0.01 * ((7 * run + 3 * turn) % 5)
        noise *= 1 + 0.001 * ((turn + run + (label == "new")) % 2)
        for unit in units:
            objects, size = (sum(v[i] for v in unit.allocated.values()) for i in (0, 1))
            cpu = unit.nanoseconds * noise * np.exp(unit.noise * random.normal())
            lines.append(
                f"Benchmark{unit.name}-2 \t {unit.operations} \t {cpu * unit.wall:.3f} "
                f"ns/op \t {size} B/op \t {objects + unit.tiny} allocs/op \t {cpu:.3f} cpu-ns/op"
            )
    path = f"{label}/{run + 1}/bench.txt"
    content = parse("\n".join([*lines, ""]).encode(), path)
    return Capture(path, "benchmark", content, run=run, run_known=True)


def _allocs(unit):
    samples = [
        (stack, (unit.counted * objects, unit.counted * size, 0, 0))
        for stack, (objects, size) in unit.allocated.items()
    ]
    built = profile(samples, types=HEAP, period=1, duration_ns=None)
    kind = ValueType("space", "bytes")
    return replace(built, period_type=kind, default_sample_type="alloc_space")


def _covering(built, unit, operations):
    done = Operations(operations, f"{PACKAGE} Benchmark{unit.name}")
    return with_operations(built, done)
