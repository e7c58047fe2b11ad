"""Benchmark output: written with a fixed seed, or printed by Go's own packages."""

import random
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"


def printed(measured, *, config=("goos: linux", "goarch: amd64", "pkg: example.com/p")):
    """Return the output with these lines: {name: [{unit: value}, one a run]}."""
    lines = list(config)
    for name, runs in measured.items():
        for run in runs:
            values = "\t".join(f"{value} {unit}" for unit, value in run.items())
            lines.append(f"Benchmark{name}\t     100\t{values}")
    return "\n".join(lines) + "\nPASS\n"


def shapes(rng, n):
    """Return {unit: function of a factor: a value} for one benchmark of `n` runs.

    Times differ by chance; bytes and allocations are often equal, or zero.
    """
    size = 10 ** rng.uniform(-1, 9)
    width = rng.choice((0.001, 0.02, 0.3))
    number = rng.choice((0, 1, 57, 4096, 5_291_281))
    step = rng.choice((0, 0, 1, 16))
    fine = n > 25 or rng.random() < 0.7

    def time(factor):
        value = size * factor * rng.uniform(1, 1 + width)
        return f"{value:.4g}" if fine and n != 24 else f"{value!r}"

    return {
        "ns/op": time,
        "MB/s": lambda factor: f"{rng.uniform(1, 1 + width) * 3e3 / factor!r}",
        "B/op": lambda factor: number + step * rng.randrange(3) * (factor > 1),
        "allocs/op": lambda factor: rng.choice((0, 0, 7)) if number == 0 else 3,
        "p99-ns": lambda factor: f"{rng.expovariate(1e-3) * factor!r}",
        "req/s": lambda factor: rng.randrange(50),
    }


def drawn(seed):
    """Return two outputs with benchmarks of 1 to 60 runs, as many on both sides.

    Some benchmarks are on one side only, and the packages are two.
    """
    rng = random.Random(seed)
    sides = ["", ""]
    for package in ("example.com/p", "example.com/q"):
        measured = ({}, {})
        for i, n in enumerate((1, 3, 4, 6, 7, 10, 10, 24, 30, 31, 60)):
            name = f"F{i}/n={n}" + rng.choice(("", "-8"))
            make = shapes(rng, n)
            for side, factor in enumerate((1.0, rng.choice((1.0, 1.01, 1.3, 0.1)))):
                runs = [{unit: f(factor) for unit, f in make.items()} for _ in range(n)]
                if rng.random() < 0.9:
                    measured[side][name] = runs
        for side in (0, 1):
            sides[side] += printed(
                measured[side], config=("goos: linux", f"pkg: {package}", "cpu: A CPU")
            )
    return tuple(sides)


def saved(folder, outputs):
    """Write both outputs to files; return their paths."""
    paths = tuple(folder / f"{side}.txt" for side in ("base", "new"))
    for path, text in zip(paths, outputs, strict=True):
        path.write_text(text, "utf-8")
    return paths
