"""What benchmarks count of allocation, where there is no profile of it."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.side import Capture
from tests.analysis.growing import comparison

TIMES = (100, 101, 99, 102, 98, 100)


def output(*others, **results):
    """Return what ``go test -bench -benchmem -count=6`` prints: name=(bytes, objects).

    The last runs are of `others`, a dict each.
    """
    runs = [results] * (len(TIMES) - len(others)) + list(others)
    lines = [
        f"Benchmark{name}-2 1000 {time} ns/op {size} B/op {objects} allocs/op"
        for time, run in zip(TIMES, runs, strict=True)
        for name, (size, objects) in run.items()
    ]
    return parse("\n".join(["pkg: example.com/m", *lines, ""]).encode(), "bench.txt")


def findings_of(base, new, *more):
    sides = ((Capture("b", "benchmark", content), *more) for content in (base, new))
    return find(comparison(*sides)).found


def test_one_benchmark_allocates_more():
    (found,) = findings_of(output(Parse=(64, 2)), output(Parse=(256, 5)))
    assert found.title == (
        "Each op of Parse allocates 4.00× the bytes, 2.50× the objects"
    )
    assert found.text == "Per op 64 → 256 B and 2 → 5 objects."
    assert (found.id, found.direction, found.severity) == (
        "allocation", "worse", "minor",
    )  # fmt: skip
    assert [(f.what, f.base, f.new, f.unit) for f in found.evidence] == [
        ("bytes per op of Parse", 64, 256, "bytes"),
        ("objects per op of Parse", 2, 5, "objects"),
    ]


def test_the_one_that_moved_most_is_named_of_several():
    base = output(A=(100, 1), B=(100, 2), C=(100, 1), D=(500, 9))
    new = output(A=(150, 1), B=(900, 8), C=(100, 1), D=(250, 9))
    worse, better = findings_of(base, new)
    assert worse.title == (
        "2 of 4 benchmarks allocate more per op: B 9.00× the bytes, 4.00× the objects"
    )
    assert worse.text == (
        "Per op 100 → 900 B and 2 → 8 objects in B; 100 → 150 B in A."
    )
    assert better.title == (
        "1 of 4 benchmarks allocates less per op: D 50% fewer bytes"
    )
    assert better.direction == "better"


def test_from_nothing_and_to_nothing():
    (found,) = findings_of(output(A=(0, 0)), output(A=(48, 1)))
    assert found.title == "Each op of A allocates 0 → 48 B, 0 → 1 objects"
    (found,) = findings_of(output(A=(5_000_000, 9)), output(A=(57, 9)))
    assert found.title == "Each op of A allocates under 1% of the bytes"
    (found,) = findings_of(output(A=(48, 1)), output(A=(0, 0)))
    assert found.direction == "better"


@pytest.mark.parametrize("new", [(100, 10), (104, 10), (96, 10)])
def test_little_is_no_cause(new):
    assert findings_of(output(A=(100, 10)), output(A=new)) == ()


def test_chance_is_no_cause():
    grown = {"A": (180, 1)}
    assert (
        findings_of(output(grown, grown, A=(100, 1)), output(*[grown] * 4, A=(100, 1)))
        == ()
    )
