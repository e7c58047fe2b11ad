"""Allocation: the total by operation first, then sites; what moved did not change."""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.judge.counts import objects_moved
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.model.side import Capture, Side
from tests.analysis.growing import MB, findings, heap

MAIN = "main.main"
PARSE = ("a.com/s.Parse", "a.com/s.Serve", MAIN)
WRITE = ("a.com/s.Write", "a.com/s.Serve", MAIN)
READ = ("a.com/s.Read", "a.com/s.Serve", MAIN)
OTHER = ("a.com/s.Decode", "a.com/s.Serve", MAIN)
START = ("a.com/s.Load", MAIN)

BASE = {PARSE: 200, WRITE: 300, READ: 250}


def allocated(sites, *, size=1024):
    return heap(
        {s: (made, 0) for s, made in sites.items()}, default="alloc_space", size=size
    )


def findings_of(base, new, *, work=(1000, 1000), sizes=(1024, 1024)):
    settings = Settings(work=None if work is None else counted(work))
    sides = (allocated(s, size=z) for s, z in zip((base, new), sizes, strict=True))
    return findings(*sides, settings=settings).get("allocation")


def test_the_total_by_operation_comes_first():
    found = findings_of(BASE, BASE | {PARSE: 2450})
    assert found.title == (
        "Each op allocates 4.00× the bytes, 4.00× the objects: more in s.Parse"
    )
    assert found.text.startswith(
        "Total 0.750 → 3.000 MiB/op; s.Parse 0.200 → 2.450 MiB/op"
    )
    assert found.direction == "worse"
    facts = {fact.what: (fact.base, fact.new, fact.unit) for fact in found.evidence}
    assert facts["bytes per op"] == (750 * MB / 1000, 3000 * MB / 1000, "bytes")
    back = findings_of(BASE | {PARSE: 2450}, BASE)
    assert back.title == (
        "Each op allocates 75% fewer bytes, 75% fewer objects: less in s.Parse"
    )
    assert back.direction == "better"


def test_the_total_decides_not_the_larger_sum_of_sites():
    """Ten sites allocate little more each, and one much less: in all it is more."""
    small = {(f"a.com/s.F{i}", MAIN): 100 for i in range(10)}
    more = dict.fromkeys(small, 130)
    found = findings_of(small | {PARSE: 100}, more | {PARSE: 5})
    assert found.title.startswith("Each op allocates 19% more bytes")
    assert found.direction == "worse"
    assert "s.Parse" not in found.title


def test_more_work_is_no_more_allocation():
    twice = {stack: 2 * made for stack, made in BASE.items()}
    assert findings_of(BASE, twice, work=(1000, 2000)) is None
    found = findings_of(BASE, BASE, work=(1000, 2000))
    assert found.title == (
        "Each op allocates 50% fewer bytes, 50% fewer objects: less in "
        "s.Write, s.Read and s.Parse"
    )


def test_more_objects_in_as_many_bytes():
    found = findings_of(BASE, BASE, sizes=(1024, 256))
    assert found.title == ("Each op allocates 4.00× the objects, in as many bytes")
    assert found.direction == "worse"
    back = findings_of(BASE, BASE, sizes=(256, 1024))
    assert back.title == ("Each op allocates 75% fewer objects, in as many bytes")
    assert back.direction == "better"


def test_as_much_as_before_in_other_places_is_neither_better_nor_worse():
    found = findings_of(BASE, {PARSE: 320, WRITE: 180, READ: 250})
    assert found.title == (
        "Each op allocates as much as before: less in s.Write; more in s.Parse"
    )
    assert found.direction == "neutral"


def test_what_another_function_allocates_instead_did_not_change():
    base, new = BASE | {OTHER: 0}, {WRITE: 300, READ: 250, OTHER: 201}
    assert findings_of(base, new, work=None) is None
    found = findings_of(base, new)
    assert found.title == (
        "Each op allocates as much as before: less in s.Parse; more in s.Decode"
    )
    assert found.direction == "neutral"


def test_what_is_gone_and_not_replaced_is_gone():
    many = {(f"a.com/s.F{i}", MAIN): 100 for i in range(6)}
    found = findings_of(many | {PARSE: 300}, many, work=None)
    assert found.title == "s.Parse stopped allocating: 33.3% of base's bytes"
    # The sites that did not change show that shares alone are no reason.
    assert found.direction == "better"
    assert findings_of(many | {PARSE: 300}, many).direction == "better"
    half = findings_of(many | {PARSE: 300}, many | {OTHER: 150}, work=None)
    assert half.title.startswith("s.Parse stopped allocating")


def test_what_starts_a_process_is_not_the_work():
    """Most sites did three times the work, one as much as ever."""
    work = {(f"a.com/s.F{i}", MAIN): 100 for i in range(6)}
    more = dict.fromkeys(work, 300)
    assert findings_of(work | {START: 150}, more | {START: 150}, work=None) is None
    found = findings_of(work | {START: 150}, more | {START: 1500}, work=None)
    assert "s.Load allocates 20.0% → 45.5% of all bytes" in found.title


def test_chance_in_objects_matches_sampling():
    """Drawn as the runtime samples: the spread of z is 1 but for the dispersion."""
    rng, rate, number, size = np.random.default_rng(7), 512 * 1024, 40_000, 256
    by = Normalization("absolute", 1.0, 1.0, "")
    chance = -np.expm1(-size / rate)
    draws = rng.binomial(number * 10, chance, (400, 2))
    objects = np.round(draws / chance).astype(np.int64)
    alarms = sum(
        objects_moved(
            (row[:1], row[1:]), (row[:1] * size, row[1:] * size), (rate, rate), by
        )
        for row in objects
    )
    # 3 × sqrt(1.25) standard deviations leave 0.08 % of pairs.
    assert alarms <= 3
    apart = np.array([number * 10, number * 14], np.int64)
    one, other = apart[:1], apart[1:]
    assert objects_moved((one, other), (one * size, other * size), (rate, rate), by)
    assert not objects_moved((one, other), (one * size, other * size), (None, rate), by)


def test_few_samples_of_one_side_do_not_show_that_it_allocates_less():
    """A fortieth of the operations: three samples expected, and often none seen."""
    rng, rate, size = np.random.default_rng(8), 512 * 1024, 256
    by = Normalization("per_work", 1 / 40, 1.0, "")
    chance = -np.expm1(-size / rate)
    number = round(3 / chance)
    sampled = rng.binomial([number * 40, number], chance, (400, 2))
    objects = np.round(sampled / chance).astype(np.int64)
    alarms = sum(
        objects_moved(
            (row[:1], row[1:]), (row[:1] * size, row[1:] * size), (rate, rate), by
        )
        for row in objects
    )
    assert alarms <= 4


def test_runs_that_differ_do_not_show_as_many_bytes():
    """A third of the bytes is gone, but runs differ: only fewer objects are reported."""
    sides = []
    for label, runs, size in (
        ("base", (900, 2100, 1500), 256),
        ("new", (600, 1400, 1000), 512),
    ):
        captures = tuple(
            Capture(
                f"{label}/{i}",
                "profile",
                allocated({PARSE: made // 2, WRITE: made // 2}, size=size),
                run=i,
            )
            for i, made in enumerate(runs)
        )
        sides.append(Side(label, captures))
    found = find(compare_sides(*sides, Settings(work=counted((1000, 1000))))).found
    finding = next(f for f in found if f.id == "allocation")
    assert finding.title == "Each op allocates 67% fewer objects"
