"""Sides with benchmarks, loads and CPU profiles, and their comparison."""

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.settings import Settings
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.benchmarks import LoadSummary
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import profile

MAIN = "main.main"
PACKAGES = tuple(f"example.com/p{i}.F" for i in range(8))
_PATH = "bench.txt"


def bench(*runs, unit="ns/op", procs="-4"):
    """Return benchmark output, a file a run, each {name: value or values}."""
    captures = []
    for run in runs:
        lines = [
            f"Benchmark{name}{procs} \t 1000 \t {value} {unit}\n"
            for name, values in run.items()
            for value in (values if isinstance(values, tuple) else (values,))
        ]
        content = parse("".join(lines).encode(), _PATH)
        captures.append(Capture(_PATH, "benchmark", content))
    return tuple(captures)


def load(per_second, tool="hey"):
    """Return the summary of a load generator, in an open loop unless it is hey."""
    loop = "closed" if tool == "hey" else "open"
    summary = LoadSummary(tool, 10.0, None, None, per_second, loop=loop)
    return (Capture("l.txt", "load", summary),)


def cpu(stacks, *, duration_ns=10**10):
    """Return a CPU profile: {stack, or the name of its leaf: samples}."""
    samples = [
        ((stack, MAIN) if isinstance(stack, str) else stack, count)
        for stack, count in stacks.items()
    ]
    return (Capture("cpu", "profile", profile(samples, duration_ns=duration_ns)),)


def compared_sides(base, new, **how):
    """Return the comparison of two sides, each some of what is made above."""
    return compare_sides(Side("base", base), Side("new", new), Settings(**how))


def decided(base, new, **how):
    """Return the outcome of two sides."""
    return outcome(compared_sides(base, new, **how))


def swapped(work):
    """Return work with its sides exchanged."""
    turned = {
        name: None if pair is None else pair[::-1]
        for name, pair in (("counts", work.counts), ("rates", work.rates))
    }
    return work._replace(**turned)
