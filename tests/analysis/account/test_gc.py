"""GC CPU by quantity and price, of real captures: what logs and the runtime counted."""

import json
from functools import cache
from math import fsum

import pytest

from pprofdiff.analysis.account.gc import gc_account
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.rules.marking import cycle_cpu_us
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted, rated
from pprofdiff.api.comparison import compare_paths
from pprofdiff.loaders.benchmarks.reader import parse as parse_bench
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import MARK, groups_of
from tests.analysis.outcome.evidence import compared_sides, cpu
from tests.field.capture import PAIRS

STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
# Bytes per op of the allocs profile, as a ratio, differ so from the runtime's.
BYTES = 0.05
LOOP = ("example.com/a.BenchmarkF", "testing.(*B).runN", "testing.(*B).launch")
SWEEP = ("runtime.(*sweepLocked).sweep", "runtime.(*mheap).alloc", "runtime.mallocgc")


@pytest.fixture(scope="module")
def compared(load_story, load_capture):
    """Return a function: a story and kinds of files in, its comparison out."""

    @cache
    def compare(name, kinds=("cpu", "allocs", "gctrace"), *, work=True):
        story = load_story(name)
        sides = []
        for path in (story.base, story.new):
            captures = [
                Capture(kind, "profile", load_capture(path / f"{kind}.pb.gz"))
                for kind in kinds
                if kind != "gctrace"
            ]
            if "gctrace" in kinds:
                log = parse((path / "gctrace.log").read_bytes(), "gctrace.log")
                captures.append(Capture("gctrace.log", "gctrace", log))
            sides.append(Side(path.name, tuple(captures)))
        settings = Settings(work=counted(story.work) if work else None)
        return compare_sides(*sides, settings)

    return compare


def books(path):
    """Return what runtime/metrics counted while the profile was taken."""
    return json.loads((path / "metrics.json").read_text("utf-8"))["delta"]


def by_id(split):
    return {one.id: one for one in split.factors}


@pytest.mark.parametrize("name", STORIES)
def test_it_is_exact_and_agrees_with_findings(compared, name):
    comparison = compared(name)
    split, factors = gc_account(comparison).split, comparison.gc.factors
    diff, gc = comparison.cpu, ("gc", "gc_tax")
    sums = [row for row in groups_of(diff) if row[0] in gc]
    raw = [sum(row[side] for row in sums) for side in (1, 2)]
    assert split.cpu == pytest.approx(diff.normalization.scaled(*raw))
    assert split.allocated.part + split.price.part == pytest.approx(split.delta)
    parts = fsum(one.part for one in split.factors)
    assert parts == pytest.approx(split.price.part)
    parts = fsum(one.part for one in split.places)
    assert parts == pytest.approx(split.allocated.part)
    by = by_id(split)
    size = (by[k].new / by[k].base for k in ("live", "pace"))
    assert next(size) * next(size) == pytest.approx(factors.bytes_per_cycle)
    cost = cycle_cpu_us(Case(comparison), comparison.gc)
    assert (by["cycle"].base, by["cycle"].new) == (cost.base * 1e3, cost.new * 1e3)


@pytest.mark.parametrize("name", STORIES)
def test_marking_and_bytes_are_the_runtimes(compared, load_story, name):
    comparison, story = compared(name), load_story(name)
    split, diff = gc_account(comparison).split, comparison.cpu
    by = by_id(split)
    truths = [books(path) for path in (story.base, story.new)]
    done = [
        book["/gc/heap/allocs:bytes"] / n
        for book, n in zip(truths, story.work, strict=True)
    ]
    assert split.allocated.new / split.allocated.base == pytest.approx(
        done[1] / done[0], rel=BYTES
    )
    totals = diff.normalization.scaled(*diff.totals)
    for side, truth in enumerate(truths):
        apart = sum(by[k][1 + side] for k in ("sweeping", "idle") if k in by)
        marking = split.cpu[side] - apart * split.allocated[1 + side]
        share = marking / totals[side]
        total, gc, idle, unused = (
            truth[f"/cpu/classes/{what}:cpu-seconds"]
            for what in ("total", "gc/total", "gc/mark/idle", "idle")
        )
        samples = diff.totals[side] / 1e7
        off = max(0.015, 3 * (share * (1 - share) / samples) ** 0.5)
        assert abs(share - (gc - idle) / (total - unused)) <= off


def test_bytes_are_the_logs_without_a_profile_of_them(compared):
    account = gc_account(compared("syncpool", ("cpu", "gctrace")))
    assert account.source == ("CPU profile", "GC log")
    assert account.split.places == ()
    ratio = account.split.allocated.new / account.split.allocated.base
    factors = compared("syncpool").gc.factors
    assert ratio == pytest.approx(factors.allocation)


def test_without_a_cpu_profile_it_is_the_logs_alone(data_folder):
    logs = [
        (Capture(name, "gctrace", parse((data_folder / "sync-pool-gctrace" / name).read_bytes(), name)),)
        for name in ("none-pool.log", "sync-pool.log")
    ]  # fmt: skip
    comparison = compared_sides(*logs, work=rated((9e4, 7e4)))
    account, factors = gc_account(comparison), comparison.gc.factors
    assert account.source == ("GC log", "GC log")
    by = by_id(account.split)
    assert account.split.cpu[1] / account.split.cpu[0] == pytest.approx(factors.gc_cpu)
    assert by["cycle"].new / by["cycle"].base == pytest.approx(factors.cpu_per_cycle)
    assert by["measured"].part == pytest.approx(0, abs=1e-9)


def test_a_benchmark_has_bytes_and_no_cycles():
    sides = [
        (
            *cpu({(*MARK,): marks, (*SWEEP, *LOOP): 10, ("example.com/a.F", *LOOP): 500}),
            Capture("bench.txt", "benchmark", parse_bench(f"BenchmarkF-4 1000 5000 ns/op {size} B/op 1 allocs/op\n".encode(), "bench.txt")),
        )
        for marks, size in ((100, 64), (400, 128))
    ]  # fmt: skip
    account = gc_account(compared_sides(*sides))
    assert account.source == ("CPU profile", "B/op")
    assert (account.split.allocated.base, account.split.allocated.new) == (64, 128)
    assert set(by_id(account.split)) == {"marking", "sweeping"}


def test_it_is_unknown_without_work_or_bytes(compared):
    assert gc_account(compared("syncpool", work=False)) is None
    assert gc_account(compared("syncpool", ("cpu",))) is None
    # How long the process ran, which allocs counts, the log alone says.
    assert gc_account(compared("syncpool", ("cpu", "allocs"))) is None
    assert gc_account(compared("syncpool", ("allocs", "gctrace"), work=False)) is None


@pytest.mark.parametrize(
    ("pair", "factor"),
    [
        ("gogc-lowered-chi", "pace"),
        ("memlimit-chi", "pace"),
        ("diff-lines", "allocated"),
        ("blog-cache", "allocated"),
    ],
)
def test_the_largest_part_is_what_was_changed(pair, factor):
    compared = compare_paths(PAIRS / pair / "base", PAIRS / pair / "new")
    split = gc_account(compared.data).split
    parts = (split.allocated, *split.factors)
    assert max(parts, key=lambda one: abs(one.part)).id == factor


def test_only_what_moved_much_is_major(compared):
    assert gc_account(compared("syncpool")).major
    assert not gc_account(compared("health-check")).major
    assert gc_account(compared("node-pool")).forced
