"""Profiles of allocation next to benchmarks that count it: by operation, the same total."""

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import DEFAULTS
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import profile

SPACE = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))
LOOP = ("example.com/a.BenchmarkEncode", "testing.(*B).runN", "testing.(*B).launch")
ENCODE = ("example.com/a.Encode", *LOOP)
SETUP = ("example.com/a.init", "runtime.main")
# Ten seconds of operations that take a millisecond each: with those of smaller b.N,
# 1,000 of them are printed.
OPERATIONS = 10_000


def side(size, objects, *, held, setup=0):
    """Return a side of benchmarks: B/op, allocs/op, bytes that operations' profile has."""
    text = f"BenchmarkEncode-2 1000 1000000 ns/op {size} B/op {objects} allocs/op\n" * 4
    stacks = [(ENCODE, (held // 64, held))]
    if setup:
        stacks.append((SETUP, (setup // 64, setup)))
    allocs = profile(stacks, types=SPACE, period=512 * 1024, duration_ns=0)
    allocs = replace(allocs, period_type=ValueType("space", "bytes"))
    captures = (
        Capture("cpu", "profile", profile([(ENCODE, 1000)])),
        Capture("allocs", "profile", allocs),
        Capture("bench.txt", "benchmark", parse(text.encode(), "bench.txt")),
    )
    return Side("side", captures)


def compared(base, new):
    """Return the comparisons of bytes and of objects, and the findings by id."""
    comparison = compare_sides(base, new, DEFAULTS)
    kinds = {diff.sample_type.type: diff for diff in comparison.profiles}
    found = {finding.id: finding for finding in find(comparison).found}
    return kinds["alloc_space"], kinds["alloc_objects"], found


@pytest.mark.parametrize("sampled", [0.8, 1.0, 1.25])
def test_totals_by_operation_are_the_benchmarks(sampled):
    """Set-up and chance make a profile hold more or less than that."""
    base = side(1000, 20, held=1000 * OPERATIONS)
    new = side(3000, 10, held=int(3000 * sampled) * OPERATIONS)
    space, objects, found = compared(base, new)
    assert space.normalization.mode == objects.normalization.mode == "per_work"
    assert space.normalization.scaled(*space.totals) == pytest.approx((1000, 3000))
    assert objects.normalization.scaled(*objects.totals) == pytest.approx((20, 10))
    title = found["allocation"].title
    assert title.startswith(
        "Each op allocates 3.00× the bytes, 50% fewer objects: more in a.Encode"
    )
    assert space.warnings == ()


def test_what_benchmarks_count_as_equal_is_no_change():
    base = side(1000, 20, held=1000 * OPERATIONS)
    new = side(1000, 20, held=1090 * OPERATIONS)
    assert "allocation" not in compared(base, new)[2]


@pytest.mark.parametrize("size", [0, 8])
def test_what_is_mostly_set_up_is_no_operations(size):
    sides = [side(size, 0, held=64, setup=held) for held in (3_000_000, 2_000_000)]
    space, objects, found = compared(*sides)
    assert space.normalization.mode == objects.normalization.mode == "composition"
    assert "allocation" not in found


def mix(*each):
    """Return a side that ran Encode and Decode so often: (times, B/op) each."""
    lines = [
        f"Benchmark{name}-2 {times} {10**9 // times} ns/op {size} B/op 1 allocs/op\n"
        for name, (times, size) in zip(("Encode", "Decode"), each, strict=True)
    ]
    # Ten seconds of runs of a second, half of them of each.
    held = sum(times * size for times, size in each) * 5
    one = side(1, 1, held=held)
    text = parse("".join(lines * 4).encode(), "bench.txt")
    return replace(
        one, captures=(*one.captures[:2], Capture("bench.txt", "benchmark", text))
    )


def test_another_mix_of_benchmarks_is_no_other_allocation():
    """One of two ran more often on one side: each allocates as before."""
    base = mix((4000, 186_000), (54_000, 50_000))
    space, _, found = compared(base, mix((6000, 186_000), (48_000, 50_000)))
    assert "allocation" not in found
    alike = compared(base, mix((4050, 186_000), (53_000, 50_000)))[0]
    for diff in (space, alike):
        assert diff.normalization.mode == "per_work"
        sums = diff.normalization.scaled(*diff.totals)
        assert sums[0] == pytest.approx(sums[1])


def test_of_another_mix_the_benchmarks_show_what_each_allocates():
    base = mix((4000, 186_000), (54_000, 50_000))
    found = compared(base, mix((6000, 93_000), (48_000, 50_000)))[2]
    assert found["allocation"].title.startswith(
        "1 of 2 benchmarks allocates less per op: Encode 50% fewer bytes"
    )
