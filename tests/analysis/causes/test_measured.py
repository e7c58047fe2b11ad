"""Causes of planted changes: which function, by how much, and that all adds up."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.causes import place_words
from pprofdiff.analysis.causes.by_text import Texts, by_text
from pprofdiff.analysis.causes.by_unit import _measured_as, _of_operations, _rest
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import OF_GC, STACK_KEPT
from pprofdiff.analysis.causes.finding import ALLOCS, Fact, Finding
from pprofdiff.analysis.causes.frames import needed_next_to, of_unit
from pprofdiff.analysis.causes.measured import _cost_of, _verb
from pprofdiff.analysis.causes.places import (
    Program,
    owned_by,
    places,
    whole_of,
    with_callees,
    with_moved,
)
from pprofdiff.analysis.causes.sites import (
    Allocated,
    Site,
    Sites,
    adding_up,
    amounts,
    is_large,
    needed,
    share_of_change,
    taken_back,
    within,
)
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.causes.wording import read
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.findings import why
from pprofdiff.report.text.lines import render
from pprofdiff.report.text.report import report_parts
from tests.analysis.building import PERIOD, given, stacks
from tests.analysis.measuring import PACKAGE, RUNS, Unit, compared, path

REST = {path("Rest"): 400}
SCAN = ("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
MALLOC = ("runtime.mallocgc", "runtime.newobject")
AMOUNT = re.compile(r": ([\d.]+) → ([\d.]+) ([mµn]?s)/op")
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def causes(base, new):
    """Return the comparison and its findings, whose sums were checked."""
    comparison = compared(base, new)
    findings = find(comparison, outcome(comparison).verdict)
    cpu = Case(comparison).cpu
    claims = [f for f in findings.found if f.claim is not None and f.severity != "info"]
    for side in (0, 1):
        counts = sum(f.claim.sides[side].astype(int) for f in claims) if claims else 0
        assert np.max(counts, initial=0) <= 1
    for one in claims:
        assert one.own == pytest.approx(cpu.delta(one.claim), abs=1e-6)
        below = [f.explains for f in findings.consequences(one.id)]
        assert one.explains == pytest.approx(sum(below, one.own), abs=1e-6)
    got = findings.explained
    total = cpu.diff.normalization.delta(*cpu.diff.totals)
    assert got.total == pytest.approx(total)
    claimed = sum(f.own for f in claims)
    assert got.explained == pytest.approx(claimed, abs=1e-6 * cpu.whole)
    return comparison, findings


def per_op(comparison, side, samples):
    """Return what so many samples of each run are in seconds an operation."""
    diff = next(d for d in comparison.profiles if d.sample_type.type == "cpu")
    whole = diff.totals[side] / PERIOD
    return comparison.work.allocated["cpu"][side] / 1e9 * samples * RUNS / whole


OWN = [
    # A function's own code is dearer, or cheaper.
    ({path("F"): 600}, {path("F"): 1200}, "p.F uses 2.00× the CPU", (600, 1200), ""),
    ({path("F"): 600}, {path("F"): 150}, "p.F uses 75% less CPU", (600, 150), ""),
    # What the runtime does for it is its own.
    (
        {path("F"): 300, path("runtime.memmove", "F"): 300},
        {path("F"): 300, path("runtime.memmove", "F"): 900},
        "p.F uses 2.00× the CPU", (600, 1200), "",
    ),
    # A callee is new, or gone.
    (
        {path("F"): 600}, {path("F"): 600, path("Check", "F"): 500},
        "p.Check now takes 33.3% of the CPU", (0, 500), "",
    ),
    (
        {path("F"): 600, path("Check", "F"): 500}, {path("F"): 600},
        "p.Check no longer takes CPU", (500, 0), "",
    ),
    # One function replaces another under a caller: the caller shows both.
    (
        {path("F"): 300, path("Old", "F"): 500}, {path("F"): 300, path("New", "F"): 220},
        "p.F uses 35% less CPU", (800, 520), "In it: p.Old [^,]* → 0.* .s/op, p.New 0.* → ",
    ),
    # The standard library's functions are what their caller does.
    (
        {path("F"): 300, path("fmt.Sprintf", "F"): 500},
        {path("F"): 300, path("strconv.Itoa", "F"): 100},
        "p.F uses 50% less CPU", (800, 400),
        "In it: fmt.Sprintf [^,]* → 0.* .s/op, strconv.Itoa 0.* → ",
    ),
    # What took the place of a callee is named, though it is little of the change.
    (
        {path("F"): 100, path("fmt.Sprintf", "F"): 800},
        {path("F"): 100, path("strconv.Itoa", "F"): 60},
        "p.F uses 82% less CPU", (900, 160),
        "In it: fmt.Sprintf [^,]* → 0.* .s/op, strconv.Itoa 0.* → ",
    ),
    # An iterator has the cost of its callback, which is code of its caller.
    (
        {path("F"): 200, path("Old", "F"): 100},
        {path("F"): 200, path("strconv.Itoa", f"{PACKAGE}.F.func1", "Each", "F"): 900},
        "p.F uses 3.67× the CPU", (300, 1100),
        "In it: strconv.Itoa 0.* → [^,]* .s/op, p.Old [^,]* → 0",
    ),
    # It costs more with all it calls, which it now does itself.
    (
        {path("F"): 300, path("Old", "F"): 50}, {path("F"): 800},
        "p.F uses 2.29× the CPU", (350, 800), "In it: p.Old [^,]* → 0",
    ),
    # What it does itself costs more, what it calls costs less: one function, one cause.
    (
        {path("F"): 300} | {path(callee, "F"): 60 for callee in "ABC"},
        {path("F"): 800} | {path(callee, "F"): 30 for callee in "ABC"},
        "p.F uses 85% more CPU", (480, 890), "",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("base", "new", "title", "samples", "text"), OWN)
def test_one_cause(base, new, title, samples, text):
    comparison, findings = causes(Unit(base | REST), Unit(new | REST))
    (cause,) = findings.causes
    assert cause.title.startswith(title)
    assert re.search(text, cause.text)
    assert cause.severity == "major"
    assert cause.direction == ("worse" if samples[1] > samples[0] else "better")
    found = AMOUNT.search(cause.title)
    for side, amount in enumerate(found.groups()[:2]):
        wanted = per_op(comparison, side, samples[side]) / SECONDS[found[3]]
        # As many decimals as are printed.
        assert abs(float(amount) - wanted) <= 0.51 * 10 ** -len(
            amount.partition(".")[2]
        )
    # The table of functions has the same numbers: cum of the function that is named.
    (fact,) = cause.evidence
    assert (fact.base, fact.new) == tuple(n * RUNS * PERIOD for n in samples)
    # The rest is unchanged: nothing is left to explain.
    assert findings.explained.explained == pytest.approx(findings.explained.total)
    assert findings.explained.left == ()


F_AND_G = {path("F"): 300, path("G"): 500}
EQUAL = {
    "unchanged": (F_AND_G, F_AND_G),
    "noise": (F_AND_G, {path("F"): 310, path("G"): 491}),
    "renamed callee": (
        {path("F"): 300, path("Old", "F"): 500},
        {path("F"): 300, path("New", "F"): 500},
    ),
    "inlined": ({path("F"): 300, path("G", "F"): 500}, {path("F"): 800}),
    "outlined": ({path("F"): 800}, {path("F"): 300, path("G", "F"): 500}),
    "under another": (
        {path("F"): 300, path("G", "F"): 500},
        {path("F"): 300, path("G", "Wrap", "F"): 500},
    ),
}


@pytest.mark.parametrize(("base", "new"), EQUAL.values(), ids=EQUAL)
def test_work_that_costs_the_same_is_no_cause(base, new):
    _, findings = causes(Unit(base | REST), Unit(new | REST))
    assert [f.title for f in findings.found if f.severity != "info"] == []


def test_what_is_large_and_within_noise_is_a_word_and_no_cause():
    """Ten samples more of 40 may be chance; that other functions do it is not."""
    base = {path("F"): 3, path("Old", "F"): 5, path("Rest"): 8}
    new = {path("F"): 3, path("New", "F"): 7, path("Rest"): 8}
    comparison, findings = causes(Unit(base), Unit(new))
    (place,) = findings.found
    assert (place.severity, place.names >= {f"{PACKAGE}.F"}) == ("info", True)
    assert findings.explained.explained == 0
    assert place.title.startswith("Most of the change in CPU is in p.F")
    (reason,) = why(report_of(comparison)).reasons
    assert (reason.number, reason.lead) == (0, "-")


def test_what_goes_against_the_outcome_is_not_alone():
    """That new allocates more does not say why it is faster."""
    base = {path("F"): 3, path("Old", "F"): 7, path("Rest"): 8}
    new = {path("F"): 3, path("New", "F"): 5, path("Rest"): 8}
    more = {path("Rest"): (1, 64)}
    _, findings = causes(Unit(base), Unit(new, more))
    titles = [one.title for one in findings.found]
    assert titles[0].startswith("p.Rest allocates now: ")
    assert titles[1].startswith("The largest change in CPU is in p.F")


def test_what_a_process_costs_is_no_change_of_operations_that_do_not_allocate():
    """New does ten times the operations in a run, and as many collections."""
    base, new = {path("F"): 600, SCAN: 60}, {path("F"): 600, SCAN: 60}
    sides = Unit(base, operations=1000), Unit(new, operations=10_000)
    _, findings = causes(*sides)
    assert [f.id for f in findings.found if f.id == "gc-work"] == []
    assert "gc" not in [group.id for group in findings.explained.left]
    allocating = {path("F"): (4, 640)}
    sides = (
        Unit(base, allocating, operations=1000),
        Unit(new, allocating, operations=10_000),
    )
    _, findings = causes(*sides)
    assert "gc-work" in [finding.id for finding in findings.found]


def test_of_benchmarks_that_moved_otherwise_each_has_causes_of_its_own():
    """Cost of the mix is none of theirs."""
    same = {path("F"): 600} | REST
    sides = [
        [Unit(same, name="Same"), Unit({path("G"): cost} | REST, name="Dearer")]
        for cost in (300, 900)
    ]
    comparison = compared(*sides)
    decided = outcome(comparison)
    assert [unit.name for unit in decided.moved] == ["Dearer"]
    found = find(comparison, decided.verdict, decided.moved).found
    assert found[0].title.startswith("Dearer: p.G uses 3.00× the CPU")
    assert {finding.title.partition(":")[0] for finding in found} == {"Dearer"}


def test_two_changes_are_two_causes_largest_first():
    base = {path("F"): 300, path("G"): 300}
    comparison, findings = causes(
        Unit(base | REST), Unit({path("F"): 900, path("G"): 100} | REST)
    )
    first, second = findings.causes
    assert (first.names, second.names) == ({f"{PACKAGE}.F"}, {f"{PACKAGE}.G"})
    assert (first.direction, second.direction) == ("worse", "better")
    assert findings.explained.explained == pytest.approx(findings.explained.total)
    assert (first.explains, second.explains) == pytest.approx(
        (6e9 * per_op(comparison, 1, 1) * 100, -2e9 * per_op(comparison, 1, 1) * 100),
        rel=0.01,
    )


ALLOCATION = [
    ({"F": (1, 64)}, {"F": (3, 4096)}, "p.F allocates more: ", "worse"),
    ({"F": (4, 4096)}, {"F": (4, 64)}, "p.F allocates less: ", "better"),
    (
        {"F": (4, 64), "G": (1, 8)},
        {"G": (1, 8)},
        "p.F no longer allocates: ",
        "better",
    ),
    ({"G": (1, 8)}, {"F": (4, 64), "G": (1, 8)}, "p.F allocates now: ", "worse"),
]


@pytest.mark.parametrize(("base", "new", "title", "direction"), ALLOCATION)
def test_allocation_alone_is_a_cause_without_cpu(base, new, title, direction):
    sides = [
        Unit(F_AND_G, {path("runtime.mallocgc", f): amount for f, amount in side.items()})
        for side in (base, new)
    ]  # fmt: skip
    _, findings = causes(*sides)
    (cause,) = findings.causes
    assert cause.title.startswith(title)
    assert (cause.direction, cause.explains) == (direction, None)
    values = {(fact.what, fact.unit): (fact.base, fact.new) for fact in cause.evidence}
    objects, size = (
        tuple(side.get("F", (0, 0))[i] for side in (base, new)) for i in (0, 1)
    )
    assert values == {
        (f"{PACKAGE}.F, bytes", "B"): pytest.approx(size),
        (f"{PACKAGE}.F, objects", "objects"): pytest.approx(objects),
    }
    changed = objects[0] != objects[1]
    counts = "B/op and allocs/op" if changed else "B/op"
    size = "larger" if direction == "worse" else "smaller"
    same = "" if changed else f" The number of objects is the same: they are {size}."
    assert cause.text == f"That is the whole change in {counts}.{same}"
    found = re.search(r"([\d.]+) → ([\d.]+) allocs/op", cause.title)
    assert (found and (float(found[1]), float(found[2]))) == (
        objects if changed else None
    )


MOVED = [
    # Its code moved into functions that allocate more than it did.
    (
        {("F",): (8, 800)},
        {("F",): (4, 400), ("G", "F"): (5, 500), ("H", "F"): (2, 100)},
        "p.F with 2 functions below it that allocate only in new allocates more: 800 → 1,000 B/op",
        "p.G: 0 → 500 B/op",
    ),
    (
        {("F",): (8, 800)},
        {("F",): (4, 400), ("G", "F"): (5, 100), ("H", "F"): (2, 500)},
        "p.F with 2 functions below it that allocate only in new allocates more: 800 → 1,000 B/op",
        "The largest of them is p.H: 0 → 500 B/op",
    ),
    # What a function did that is gone, it does itself, for less.
    (
        {("F",): (2, 200), ("G", "F"): (9, 900)},
        {("F",): (4, 400)},
        "p.F with p.G allocates less: 1.07 → 0.39 KiB/op",
        "Each alone: p.F 200 → 400 B/op, p.G 900 → 0 B/op.",
    ),
    # A function that allocates on its own account is a change of its own.
    (
        {("F",): (4, 400)},
        {("F",): (3, 300), ("G", "F"): (1, 20)},
        "p.F allocates less: 400 → 300 B/op",
        "",
    ),
]


@pytest.mark.parametrize(("base", "new", "title", "text"), MOVED)
def test_allocations_that_moved_into_helpers_are_counted_together(
    base, new, title, text
):
    sides = [
        Unit(F_AND_G, {path("runtime.mallocgc", *s): amount for s, amount in side.items()})
        for side in (base, new)
    ]  # fmt: skip
    _, findings = causes(*sides)
    first = findings.causes[0]
    assert first.title.startswith(title)
    assert text in first.text


def test_what_moved_below_a_place_counts_as_what_it_allocates():
    """G allocates for F now what F did itself: neither is a change."""
    sides = [
        Unit(
            REST | {path("F"): cpu},
            {path("runtime.mallocgc", *stack): made for stack, made in allocated},
        )
        for cpu, allocated in (
            (900, [(("F",), (8, 4000))]),
            (300, [(("F",), (4, 1900)), (("G", "F"), (5, 2500))]),
        )
    ]
    cause, *others = causes(*sides)[1].causes
    assert cause.title.startswith("p.F uses 67% less CPU")
    assert "It allocates" not in cause.text
    (site,) = others
    assert site.title.startswith("p.F with p.G allocates more: 3.91 → 4.30 KiB/op")


def test_sites_are_named_where_only_allocations_of_some_benchmarks_changed():
    """Time is the same in all of them, and the mix hides a change of 1%."""
    names = "All", "Large", "Other"

    def units(large):
        return [
            Unit(
                {path("F", bench=name): 600},
                {path("runtime.mallocgc", "F", bench=name): (count, 16 * count)},
                operations=1000 * often,
                name=name,
            )
            for name, count, often in zip(
                names, (100, large, large // 2), (50, 1, 1), strict=True
            )
        ]

    comparison = compared(units(20), units(10))
    findings = report_of(comparison).findings
    (first,) = findings.causes
    assert first.title == "Large: p.F allocates less: 320 → 160 B/op, 20 → 10 allocs/op"
    assert first.text.endswith("Also in Other.")


def test_most_of_a_small_change_that_is_counted_is_named():
    """The headline has +3.8 %: the reader asks where."""
    base = {path("runtime.mallocgc", "F"): (3, 208)}
    new = base | {path("runtime.mallocgc", "G"): (1, 8)}
    _, findings = causes(Unit(F_AND_G, base), Unit(F_AND_G, new))
    (cause,) = findings.causes
    assert cause.title == "p.G allocates now: 0 → 8 B/op, 0 → 1 allocs/op"


def test_what_grows_now_and_then_is_no_cause():
    """A map that doubles once in 200 or 500 ops depends on how many ops there are."""
    malloc = "runtime.mallocgc"
    sides = [
        {path(malloc, "F"): grown, path(malloc, "G"): (1, size)}
        for grown, size in (((0.005, 70), 100), ((0.002, 24), 300))
    ]
    _, findings = causes(*(Unit(F_AND_G, side, counted=1000) for side in sides))
    assert [cause.functions for cause in findings.causes] == [(f"{PACKAGE}.G",)]


@pytest.mark.parametrize(
    ("own", "explains"), [(240, False), (600, True), (260, False), (290, True)]
)
def test_the_cpu_of_allocations_matches_their_function(own, explains):
    """What its other code takes back is no part of the change, nor is noise."""
    base, new = (
        Unit(
            {path(*MALLOC, "F"): malloc, path("F"): cpu} | REST,
            {path("runtime.mallocgc", "F"): (objects, 64 * objects)},
            uneven=0.1,
        )
        for malloc, cpu, objects in ((20, 300, 1), (80, own, 4))
    )
    _, findings = causes(base, new)
    (cause,) = findings.causes
    assert cause.functions == (f"{PACKAGE}.F",)
    assert (cause.explains is not None) == explains


@pytest.mark.parametrize(
    ("sizes", "others", "title"),
    [
        ((64, 64), {}, "p.F allocates less: 3 → 1 allocs/op"),
        (
            (64, 96),
            {},
            "p.F allocates fewer, larger objects: 3 → 1 allocs/op, 64 → 96 B/op",
        ),
        ((64, 64), {path("runtime.mallocgc", "G"): (1, 64)}, None),
        ((6400, 6400), {path("runtime.mallocgc", "G"): (1, 16)}, None),
    ],
)
def test_who_allocates_all_bytes_allocates_all_objects(sizes, others, title):
    """Profiles count tiny objects that share a block as one."""
    base, new = (
        Unit(
            F_AND_G, {path("runtime.mallocgc", "F"): (count, size)} | others, tiny=tiny
        )
        for count, size, tiny in ((2, sizes[0], 1), (1, sizes[1], 0))
    )
    _, findings = causes(base, new)
    assert [cause.title for cause in findings.causes] == ([title] if title else [])


def test_a_function_that_allocates_in_place_of_another_is_one_cause():
    sides = [
        Unit(F_AND_G, {path("runtime.mallocgc", name): (count, 64 * count)})
        for name, count in (("F", 30), ("G", 20))
    ]
    _, findings = causes(*sides)
    (cause,) = findings.causes
    assert cause.title == (
        "p.G allocates now, p.F did before: 1.88 → 1.25 KiB/op, 30 → 20 allocs/op"
    )
    whole = "That is the whole change in B/op and allocs/op."
    assert (cause.direction, cause.text) == ("better", whole)


def test_functions_that_allocate_on_one_side_are_one_change_of_their_package():
    """Most of what Old made New makes now: neither is saved, nor spent."""
    sizes = (
        {"Old": 40, "Older": 20, "Kept": 9, "Moved": 12},
        {"New": 30, "Newer": 24, "Kept": 9, "Here": 12},
    )
    sides = [
        Unit(
            F_AND_G, {path("runtime.mallocgc", f): (n, 64 * n) for f, n in one.items()}
        )
        for one in sizes
    ]
    (cause,) = causes(*sides)[1].causes
    assert cause.title == (
        "p.New and p.Newer allocate now, p.Old and p.Older did before: "
        "3.75 → 3.38 KiB/op, 60 → 54 allocs/op"
    )
    # With hardly anything new, what is gone is the change.
    few = {
        path("runtime.mallocgc", f): (n, 64 * n) for f, n in (("New", 4), ("Kept", 9))
    }
    (cause, *_) = causes(sides[0], Unit(F_AND_G, few))[1].causes
    assert cause.title.startswith("p.Old no longer allocates: 2.50 → 0.00 KiB/op")


@pytest.mark.parametrize(("own", "together"), [((10, 30), True), ((1, 2), False)])
def test_a_function_counts_with_the_callee_whose_work_it_does_now(own, together):
    """F allocates more itself, and Old, which it called, no longer does."""
    sides = [
        Unit(
            F_AND_G,
            {
                path("runtime.mallocgc", "F"): (mine, 64 * mine),
                path("runtime.mallocgc", "Old", "F"): (old, 64 * old),
                path("runtime.mallocgc", "Else"): (other, 64 * other),
            },
        )
        for mine, old, other in ((own[0], 50, 30), (own[1], 0, 22))
    ]
    first, *_ = causes(*sides)[1].causes
    assert first.title.startswith("p.F with p.Old allocates less: ") == together
    assert first.title.startswith("p.Old no longer allocates: ") != together


def test_a_site_of_next_to_nothing_is_no_part_of_what_a_package_allocates_now():
    sides = [
        Unit(
            F_AND_G, {path("runtime.mallocgc", f): (n, 64 * n) for f, n in one.items()}
        )
        for one in ({"Old": 60}, {"New": 40, "Hardly": 1})
    ]
    (cause,) = causes(*sides)[1].causes
    assert cause.title.startswith("p.New allocates now, p.Old did before: 3.75 → ")


def test_benchmarks_of_which_one_changed_by_far_more_have_causes_of_their_own():
    """Their mix, weighted by operations, would describe neither."""
    sides = [
        [
            Unit({path("F", bench=name): cost * factor}, operations=n, name=name)
            for (name, cost, n), factor in zip(
                (("Small", 300, 100_000), ("Large", 300, 1000)), factors, strict=True
            )
        ]
        for factors in ((1, 1), (1.3, 20))
    ]
    first = report_of(compared(*sides)).findings.found[0]
    assert first.title.startswith("Large: p.F uses 20.0× the CPU: ")
    assert "In Small: " in first.text


def test_a_cause_of_one_benchmark_is_that_of_others_whose_change_it_covers():
    """In B, samples lead to the only callee of F."""
    sides = [
        [
            Unit({path("F", bench="A"): 100 * n} | REST, name="A"),
            Unit(
                {path("G", "F", bench="B"): 90 * n} | REST,
                {path("runtime.mallocgc", "G", "F", bench="B"): (n, 640 * n)},
                name="B",
            ),
        ]
        for n in (2, 6)
    ]
    (cause,) = report_of(compared(*sides)).findings.causes
    assert cause.title.startswith("A: p.F uses 3.00× the CPU: ")
    assert re.search("In B: .* → .* cum", cause.text)


def test_a_cause_with_its_allocations_has_those_of_other_benchmarks():
    """In B, where F has few samples, they leave more for the collector."""
    sides = [
        [
            Unit(
                {path("F", bench=name): own, SCAN: gc} | REST,
                {path("runtime.mallocgc", "F", bench=name): (2, size)},
                name=name,
            )
            for name, own, gc in (("A", f, 10), ("B", 10, scan))
        ]
        for f, scan, size in ((900, 400, 4096), (300, 100, 1024))
    ]
    found = report_of(compared(*sides)).findings
    cause = found.causes[0]
    assert cause.title.startswith("A: p.F uses 67% less CPU: ")
    assert "It allocates 4.00 → 1.00 KiB/op." in cause.text
    assert "In B: 4.00 → 1.00 KiB/op" in cause.text
    assert not [one for one in found.causes if one.site]


def test_other_instances_of_a_generic_function_are_no_other_function():
    """Both began and stopped as `Allocate` in a profile, with other arguments."""
    instances = (
        {"Get[int]": 40, "Get[bool]": 20, "Kept": 9},
        {"Get[string]": 30, "Fill": 24, "Kept": 9},
    )
    sides = [
        Unit(
            F_AND_G, {path("runtime.mallocgc", f): (n, 64 * n) for f, n in one.items()}
        )
        for one in instances
    ]
    (cause,) = causes(*sides)[1].causes
    assert cause.title.startswith("p.Get and p.Fill allocate less: ")


def site(space, missing):
    """Return a site whose objects are not known exactly."""
    return Site("p.F", 0, space, (1.0, 1.0), exact=False, missing=missing)


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        # Another site's 16 bytes came to be counted here, as its tiny block is gone.
        ((32.0, 48.0), False),
        # One block of the change may be another site's as well.
        ((48.0, 32.0), False),
        ((96.0, 32.0), True),
        ((32.0, 80.0), True),
        ((32.0, 32.0), False),
    ],
)
def test_bytes_that_a_tiny_block_may_have_are_no_change(space, expected):
    totals = Allocated(space=(64.0, 48.0), objects=(5.0, 3.0))
    assert is_large(totals, site(space, missing=1.5)) is expected


def test_objects_known_about_have_two_digits():
    about = Site("p.F", 0, (64.0, 0.0), (99.6, 0.0368), exact=False)
    assert (
        read(amounts(Allocated(None, None), about))[0]
        == "64 → 0 B/op, about 100 → 0.037 allocs/op"
    )


def test_the_fraction_that_benchmarks_cut_off_is_no_change():
    """Of 16.57 → 8.57 B/op by profiles, benchmarks count 24 → 8 in all."""
    totals = Allocated(space=(24.0, 8.0), objects=(1.0, 0.0))
    space = within(totals, site((16.57, 8.57), missing=0.0)).space
    assert space == pytest.approx((16.0, 8.0))


def test_of_more_bytes_than_benchmarks_count_a_site_has_its_part():
    """Of 2,642 bytes that profiles have, 2,565 are the site's; 2,480 are counted."""
    totals = Allocated(space=(2480.0, 2000.0), objects=(1.0, 2.0))
    own = site((2565.0, 2000.0), missing=0.0)
    space = within(totals, own._replace(held=(2642.0, 2100.0))).space
    assert space == pytest.approx((2480 * 2565 / 2642, 2000))
    # No more than all of the change, of which it may be all but what pools hold.
    counted = totals._replace(space=(2480.0, 2100.0))
    space = within(counted, own._replace(held=(2642.0, 2100.0))).space
    assert space == pytest.approx((2380, 2000))
    # What runs differ by is no pool.
    loose = counted._replace(apart=50.0)
    space = within(loose, own._replace(held=(2642.0, 2100.0))).space
    assert space == pytest.approx((2480 * 2565 / 2642, 2000))
    # A site that has all of them has all that is counted.
    alone = within(totals, own._replace(held=(2565.0, 2000.0))).space
    assert alone[0] == pytest.approx(2480)


def test_what_one_benchmark_alone_allocates_is_per_op_of_it():
    """Benchmarks that run different code have causes of their own, no mean of both."""
    units = [
        [
            Unit({path("F", bench=name): cpu}, allocated, 1000 * often, name=name)
            for name, allocated, often in (
                ("A", {path("runtime.mallocgc", "G", bench="A"): (2, size)}, 1),
                ("B", {path("runtime.mallocgc", "H", bench="B"): (1, 100)}, 3),
            )
        ]
        for cpu, size in ((600, 4096), (300, 1024))
    ]
    comparison = compared(*units)
    titles = [read(one.title)[0] for one in report_of(comparison).findings.causes]
    assert any(
        title.startswith("A: p.G allocates less: 4.00 → 1.00 KiB/op")
        for title in titles
    )
    assert all(title[:3] in ("A: ", "B: ") for title in titles)


def test_without_a_verdict_a_site_has_the_amounts_of_a_benchmark():
    """In A, Old's 64 B moved to New; in both F allocates 48 B more."""
    sides = [
        [
            Unit(
                {path("F", bench=name): 600},
                {
                    path("runtime.mallocgc", f, bench=name): (size // 16, size)
                    for f, size in made
                },
                name=name,
            )
            for name, made in (("A", [(moved, 64), ("F", size)]), ("B", [("F", size)]))
        ]
        for moved, size in (("Old", 16), ("New", 64))
    ]
    report = report_of(compared(*sides))
    assert not report.outcome.moved
    (cause,) = report.findings.causes
    assert re.match("[AB]: p.F allocates more: 16 → 64 B/op", cause.title)
    assert "Also in " in cause.text


@pytest.mark.parametrize(("size", "unit"), [(80, "A"), (8000, "B")])
def test_a_site_is_reported_for_the_benchmark_that_it_changed_far_more_in(size, unit):
    """No time changed: the order of benchmarks says nothing."""
    sides = [
        [
            Unit({path("F", bench=name): 600}, {path("F", bench=name): made}, name=name)
            for name, made in (("A", (2, 64 * twice)), ("B", (2, size * twice)))
        ]
        for twice in (1, 2)
    ]
    (cause,) = report_of(compared(*sides)).findings.causes
    assert cause.unit == unit
    assert len(cause.also) == 1


def test_objects_that_another_site_makes_now_are_no_change():
    """Which of two opens a block varies; all are as many as before."""
    totals = Allocated((107.0, 123.0), (2.0, 2.0), (False, True))
    shifted = Site("p.F", 0, (11.3, 10.0), (0.71, 0.62), exact=True)
    assert not is_large(totals, shifted)
    larger = Site("p.G", 0, (84.0, 101.0), (1.26, 1.3), exact=True)
    assert is_large(totals, larger)
    assert read(amounts(totals, larger))[0] == "84 → 101 B/op"


def test_collection_follows_from_the_function_that_allocates_less():
    base = {path("F"): 600, path(*MALLOC, "F"): 300, SCAN: 200}
    new = {path("F"): 600, path(*MALLOC, "F"): 30, SCAN: 20}
    _, findings = causes(
        Unit(base, {path("F"): (40, 64_000)}), Unit(new, {path("F"): (4, 6_400)})
    )
    cause, below = findings.found
    assert cause.title.startswith("p.F uses 30% less CPU")
    assert "It allocates 62.5 → 6.2 KiB/op, 40 → 4 allocs/op." in cause.text
    assert (below.id, below.parent) == ("gc-work", cause.id)
    assert findings.explained.explained == pytest.approx(findings.explained.total)


def test_collection_that_two_causes_share_is_no_amount_of_the_larger():
    sides = [
        Unit(
            REST | {path(*MALLOC, "F"): 12 * n, path(*MALLOC, "G"): 9 * n, SCAN: 8 * n},
            {path("F"): (n, 640 * n), path("G"): (n, 480 * n)},
        )
        for n in (40, 4)
    ]
    comparison, findings = causes(*sides)
    first, _ = findings.causes
    (below,) = findings.consequences(first.id)
    assert below.several
    assert below.title.endswith(", since this cause and another allocate less")
    written = " ".join(render(report_parts(report_of(comparison))).split())
    assert "with consequences" not in written
    assert "Together they explain all of the " in written


def test_collection_that_no_allocation_explains_is_a_cause():
    same = {path("F"): (4, 640)}
    base, new = {path("F"): 600, SCAN: 20}, {path("F"): 600, SCAN: 200}
    _, findings = causes(Unit(base, same), Unit(new, same))
    (cause,) = findings.found
    assert (cause.id, cause.parent) == ("gc-work", None)


NAMES = ("A", "B", "C", "fmt.Sprintf", "runtime.memmove", "runtime.mallocgc")
STACK = st.lists(st.sampled_from(NAMES), max_size=4).map(lambda names: path(*names))
SIDE = st.dictionaries(STACK | st.just(SCAN), st.integers(0, 900), min_size=1)


@pytest.mark.slow
@given(SIDE, SIDE)
def test_whatever_changed_claims_are_apart_and_add_up(base, new):
    sides = [Unit(side | REST) for side in (base, new)]
    comparison, findings = causes(*sides)
    ids = [finding.id for finding in findings.found]
    assert len(set(ids)) == len(ids)
    assert all(f.parent is None or f.parent in ids for f in findings.found)
    # Each that names a function is of one that is there, and not the runtime's.
    there = {
        n
        for c in comparison.base.of("profile")
        for s, _ in stacks(c.content)
        for n in s
    }
    there |= {
        n for c in comparison.new.of("profile") for s, _ in stacks(c.content) for n in s
    }
    for finding in findings.found:
        assert finding.names <= there
        assert not any(name.startswith("runtime.") for name in finding.names)
        if found := AMOUNT.search(finding.title):
            ways = float(found[2]) - float(found[1])
            assert ways * (finding.explains or 0.0) >= 0


def test_what_turns_decide_has_a_cause_though_profiled_runs_differ_by_more():
    base, new = (Unit({path("F"): cost}, uneven=0.3) for cost in (400, 500))
    comparison, findings = causes(base, new)
    assert outcome(comparison).verdict == "slower"
    cpu = Case(comparison).cpu
    assert cpu.diff.table().judge("cum").noise.all()
    (found,) = findings.found
    assert found.title.startswith("p.F uses 25% more CPU: ")
    # Half of the change elsewhere: nothing separates the two but such runs.
    base, new = (
        Unit({path("F"): cost, path("G"): cost}, uneven=0.3) for cost in (200, 250)
    )
    assert all(f.severity == "info" for f in causes(base, new)[1].found)


@pytest.mark.parametrize(("left", "sure"), [(0, True), (100, False)])
def test_runs_that_differ_do_not_remove_a_place(left, sure):
    """Half of a known change: what one side alone runs is its change for sure."""
    base = Unit({path("F"): 500, path("G"): 1000}, uneven=0.9)
    new = Unit({path("F"): left, path("G"): 500 + left}, uneven=0.9)
    comparison, findings = causes(base, new)
    assert outcome(comparison).verdict == "faster"
    assert Case(comparison).cpu.diff.table().judge("cum").noise.all()
    said = [f.title for f in findings.found if f.severity != "info"]
    assert any(one.startswith("p.F no longer takes CPU") for one in said) == sure


def test_the_function_with_all_samples_has_the_outcome_beyond_what_callees_explain():
    """Samples of it are too few to judge it, and turns need no samples."""
    small = path("Cmp", "F")
    base, new = (
        Unit({path("F"): cost, small: other}, uneven=0.3)
        for cost, other in ((400, 20), (330, 0))
    )
    comparison, findings = causes(base, new)
    assert outcome(comparison).verdict == "faster"
    assert findings.causes[0].functions == (f"{PACKAGE}.F",)


def test_what_explains_the_outcome_is_named_next_to_what_goes_against_it():
    small = path("Small")
    base, new = (
        Unit({path("F"): cost, small: other}, uneven=0.3)
        for cost, other in ((600, 1), (420, 12))
    )
    comparison, findings = causes(base, new)
    assert outcome(comparison).verdict == "faster"
    first = findings.found[0]
    assert f"{PACKAGE}.F" in first.names
    assert "p.F" in first.title


def test_without_a_verdict_rows_are_judged_as_sentences_are():
    """Time and CPU of turns differ so much that nothing is decided."""
    base, new = (
        [Unit({path("F"): cost, path("Rest"): 40}, noise=1.0)] for cost in (40, 56)
    )
    comparison = compared(base, new)
    report = report_of(comparison)
    assert report.outcome.verdict == "unknown"
    (diff,) = (one for one in report.profiles if one.is_cpu)
    assert (diff.model.spread.certain, diff.model.shares) == (False, False)
    for column in ("flat", "cum"):
        loud = [~one.table().judge(column).noise for one in (diff, comparison.cpu)]
        assert not (loud[0] & ~loud[1]).any()


def test_a_change_that_other_instances_of_a_generic_function_took_is_none():
    one, other = "Get[int]", "Get[string]"
    base = REST | {path(one, "F"): 600}
    _, findings = causes(Unit(base), Unit(REST | {path(other, "F"): 600}))
    assert findings.found == ()
    _, findings = causes(Unit(base), Unit(REST | {path(one, "F"): 100}))
    assert "Get[int] uses 83% less CPU" in findings.causes[0].title


def test_code_that_left_several_callers_counts_with_what_it_costs_now():
    base = REST | {path("A"): 400, path("B"): 380}
    moved = {path("Shared", "A"): 500, path("Shared", "B"): 480}
    new = REST | {path("A"): 320, path("B"): 310} | moved
    comparison, findings = causes(Unit(base), Unit(new))
    (cause,) = findings.causes
    assert cause.title.startswith("p.A and p.B with p.Shared use ")
    whole = [per_op(comparison, side, n) for side, n in enumerate((780, 1610))]
    assert cause.own == pytest.approx((whole[1] - whole[0]) * 1e9, rel=1e-6)
    assert "p.Shared has samples in new only" in cause.text


def test_what_a_function_saves_beyond_the_total_its_caller_spends():
    """The compiler inlined Check: a part of it is its caller's own code now."""
    base = REST | {path("F"): 300, path("Check", "F"): 300}
    _, findings = causes(Unit(base), Unit(REST | {path("F"): 320}))
    (cause,) = findings.causes
    assert cause.title.startswith("p.F with p.Check uses 47% less CPU")
    assert cause.own == pytest.approx(findings.explained.total)


def test_what_others_allocate_in_place_of_a_site_is_said():
    others = [path(f"G{i}") for i in range(8)]
    base = {path("F"): (1, 480)} | dict.fromkeys(others, (1, 20))
    new = dict.fromkeys(others, (1, 40))
    (cause,) = causes(Unit(REST, base), Unit(REST, new))[1].causes
    assert cause.title.startswith("p.F no longer allocates: 480 → 0 B/op")
    assert "All other functions together allocate 160 B/op more." in cause.text


def test_a_shift_within_tiny_blocks_is_no_change_of_a_site():
    """Whoever opens a block has all of it; profiles lack an object on each side."""
    base = {path("F"): (3, 54), path("G"): (2, 48)}
    (cause,) = causes(
        Unit(REST, base, tiny=1), Unit(REST, {path("F"): (3, 45)}, tiny=1)
    )[1].causes
    assert "p.G no longer allocates" in cause.title


def test_what_callees_take_back_is_said():
    """F calls G less but does more itself: not all that it does more is a change."""
    base = REST | {path("F"): 100, path("G", "F"): 500, path("G"): 300}
    new = REST | {path("F"): 900, path("G", "F"): 60, path("G"): 300}
    _, findings = causes(Unit(base), Unit(new))
    cause = findings.causes[0]
    assert cause.title.startswith("p.F uses 9.00× the CPU")
    assert "With its callees: 6.12 → 9.80 ms/op cum" in cause.text


def test_what_a_new_callee_does_instead_is_no_saving():
    """F called the library; now Read, which only new has, does a part of that."""
    base = REST | {path("F"): 20, path("bufio.ReadString", "F"): 130}
    new = REST | {path("F"): 20, path("Read", "F"): 100}
    (cause,) = causes(Unit(base), Unit(new))[1].causes
    assert cause.title.startswith("p.F uses 20% less CPU")
    assert "In it: bufio.ReadString" in cause.text
    gone = REST | {path("F"): 20}
    _, findings = causes(Unit(base), Unit(gone))
    assert findings.causes[0].title.startswith("p.F uses 87% less CPU")
    # Little of the change is a good part of what is left.
    some = REST | {path("F"): 10, path("Read", "F"): 10}
    _, findings = causes(Unit(base), Unit(some))
    assert findings.causes[0].title.startswith("p.F uses 87% less CPU")


@pytest.mark.parametrize("inner", [False, True])
def test_a_new_callee_is_set_against_what_its_caller_called_before(inner):
    """F called the library; Make, which only new has, does that now."""
    base = REST | {path("F"): 300, path("reflect.New", "F"): 130}
    came = {path("Make", "F"): 60, path("Next", "Make", "F"): 60}
    new = REST | {path("F"): 300} | (came if inner else {path("Make", "F"): 120})
    assert causes(Unit(base), Unit(new))[1].causes == ()
    (cause,) = causes(Unit(REST | {path("F"): 300}), Unit(new))[1].causes
    assert "p.Make" in cause.title + cause.text


def test_a_new_callee_that_makes_its_caller_s_call_is_no_cause():
    """F wrote to the buffer itself; now WriteTo does, mostly, and G costs more."""
    write = ("runtime.memmove", "bytes.(*Buffer).Write")
    base = {
        path("F"): 300,
        path("Mask", "F"): 1000,
        path(*write, "F"): 400,
        path("G"): 20,
    }
    new = {path("F"): 330, path("Mask", "F"): 950, path("G"): 500}
    new |= {path(*write, "WriteTo", "F"): 460, path(*write, "F"): 80}
    _, findings = causes(Unit(base, uneven=0.2), Unit(new, uneven=0.2))
    named = {name for one in findings.causes for name in one.names}
    assert f"{PACKAGE}.G" in named
    assert f"{PACKAGE}.WriteTo" not in named
    fresh = new | {path(*write, "F"): 400}
    _, findings = causes(Unit(base, uneven=0.2), Unit(fresh, uneven=0.2))
    named = {name for one in findings.causes for name in one.names}
    assert f"{PACKAGE}.WriteTo" in named


def test_the_cpu_of_a_site_is_that_of_what_it_calls_instead_too():
    """F compiled a regexp for each word; HasDigit, which only new has, does the rest."""
    base, new = (
        Unit(
            REST | cpu,
            {path("runtime.mallocgc", "F"): (objects, 64 * objects)},
            uneven=0.5,
            noise=2.0,
        )
        for cpu, objects in (
            ({path("F"): 600}, 9),
            ({path("F"): 40, path("HasDigit", "F"): 60}, 1),
        )
    )
    _, findings = causes(base, new)
    (cause,) = (one for one in findings.found if one.id.startswith("allocation"))
    assert "Its CPU and that of p.HasDigit: " in cause.text
    found = AMOUNT.search(cause.text)
    assert float(found[2]) / float(found[1]) == pytest.approx(100 / 600, rel=0.02)


def test_of_a_library_function_that_calls_back_no_part_is_named():
    """What compares is a function of its own: pprof shows sort.Slice with it."""
    back = {path("F.func1", "sort.Slice", "F"): 200}
    base = REST | {path("F"): 400, path("sort.Slice", "F"): 300}
    new = REST | {path("F"): 200, path("slices.Sort", "F"): 100}
    (cause,) = causes(Unit(base), Unit(new))[1].causes
    assert "In it: sort.Slice" in cause.text
    found = causes(Unit(base | back), Unit(new | back))[1].causes
    assert not any("In it: sort.Slice" in one.text for one in found)


def test_a_callee_that_costs_much_more_is_not_its_caller_s_change():
    """F itself costs 400 less, G 9,000 more."""
    base, new = (
        {path("F"): own, path("G", "F"): cost} | REST
        for own, cost in ((3000, 6000), (2600, 15000))
    )
    (cause, *_) = causes(Unit(base), Unit(new))[1].causes
    assert cause.title.startswith("p.G uses 2.50× the CPU")


def test_gc_work_that_moved_out_of_a_place_is_no_consequence():
    """The write barrier of the next write flushes the buffer now."""
    barrier = "runtime.gcWriteBarrier1"
    base = REST | {path("F"): 100, path(barrier, "F"): 80, path(barrier, "Rest"): 20}
    new = REST | {path("F"): 500, path(barrier, "Rest"): 105}
    found = causes(Unit(base), Unit(new))[1].causes
    assert [one.functions for one in found] == [(f"{PACKAGE}.F",)]


def test_a_closure_that_may_have_another_number_is_said_by_what_alone_calls_it():
    """A goroutine that sent what a closure yields now; the closures differ."""
    base = REST | {path("p.iterate.func1", "walk", "p.iterate.func2"): 400}
    new = REST | {path("p.All.iterate.func1", "All"): 60}
    found = causes(Unit(base), Unit(new))[1].causes
    assert found[0].title.startswith("p.walk no longer takes CPU")


@pytest.mark.parametrize(
    "closure", ["p.F.func1", "p.G.F.func1"], ids=["own", "inlined"]
)
def test_a_closure_of_one_side_counts_with_its_function(closure):
    base = REST | {path("sort.Slice", "F"): 80, path(closure, "sort.Slice", "F"): 140}
    new = REST | {path("slices.Sort", "F"): 85}
    for sides in ((base, new), (new, base)):
        found = causes(*map(Unit, sides))[1].causes
        assert found[0].title.startswith("p.F uses")


def test_callees_with_good_parts_of_a_change_are_named():
    """None has most of it, so their caller is the cause."""
    base = REST | {path("F"): 100} | {path(one, "F"): 400 for one in "AB"}
    new = REST | {path("F"): 100} | {path(one, "F"): 250 for one in "AB"}
    (cause,) = causes(Unit(base), Unit(new))[1].causes
    assert cause.title.startswith("p.F uses 33% less CPU")
    parts = r"In it: p.A [\d.]+ → [\d.]+ ms/op, p.B [\d.]+ → "
    assert re.search(parts, cause.text)
    (cause,) = causes(Unit(new), Unit(base))[1].causes
    assert re.search(parts, cause.text)


def test_no_sample_counts_in_two_of_the_callees_that_are_named():
    """Old is gone from A, and only from there."""
    base = REST | {path("F"): 100, path("A", "F"): 300, path("B", "F"): 400}
    base |= {path("Old", "A", "F"): 100}
    new = REST | {path("F"): 100, path("A", "F"): 200, path("B", "F"): 200}
    (cause,) = causes(Unit(base), Unit(new))[1].causes
    assert "p.B " in cause.text
    assert ("p.A " in cause.text) != ("p.Old " in cause.text)


def test_a_cause_of_one_benchmark_says_which_part_of_its_change_it_is():
    def side(f, g):
        costs = {path("F", bench="A"): f, path("G", bench="A"): g}
        return [
            Unit(costs | {path("Rest", bench="A"): 300}, name="A"),
            Unit({path("Rest", bench="B"): 300}, name="B"),
        ]

    first, second = report_of(compared(side(400, 400), side(900, 700))).findings.causes
    parts = [
        re.match(r"That is \+(\S+) of \+(\S+) ms/op", one.text)
        for one in (first, second)
    ]
    amounts = [[float(n) for n in part.groups()] for part in parts]
    assert amounts[0][1] == amounts[1][1]
    assert sum(own for own, _ in amounts) == pytest.approx(amounts[0][1], abs=0.02)
    (alone,) = report_of(compared(side(400, 400), side(900, 400))).findings.causes
    assert "That is" not in alone.text


@pytest.mark.parametrize(
    ("scans", "wakes", "said"),
    [
        ((600, 100), (50, 50), "Most of the rest is GC work elsewhere: "),
        ((400, 100), (400, 100), "Most of the rest is GC work and the scheduler"),
        ((100, 90), (50, 50), ""),
    ],
)
def test_runtime_work_with_most_of_what_causes_leave_is_said(scans, wakes, said):
    wake = ("runtime.findRunnable", "runtime.schedule")
    sides = [
        Unit(REST | {path("F"): own, SCAN: scan, wake: woken})
        for own, scan, woken in zip((900, 300), scans, wakes, strict=True)
    ]
    comparison, findings = causes(*sides)
    place = findings.causes[0]
    assert place.title.startswith("p.F uses")
    written = read(_rest(Case(comparison).cpu, [place]))[0]
    assert written.startswith(said)
    assert bool(written) == bool(said)


@pytest.mark.parametrize("inside", [False, True])
def test_gc_work_of_a_cause_is_not_elsewhere(inside):
    """F's assists may be no part of its cause, and bytes leave no rest in time."""
    assist = (*SCAN[:1], "runtime.gcAssistAlloc", *MALLOC)
    scan = (*assist, *path("F")) if inside else SCAN
    sides = [
        Unit(REST | {path("F"): own, scan: scans})
        for own, scans in ((900, 600), (300, 100))
    ]
    cpu = Case(compared(*sides)).cpu
    of_f = owned_by(cpu, cpu.rows_of([f"{PACKAGE}.F"]).tolist())
    claim = of_f.without(cpu.of_groups(*OF_GC))
    cause = Finding("place", "", "", (), claim=claim, functions=(f"{PACKAGE}.F",))
    assert ("elsewhere" in _rest(cpu, [cause])) is not inside
    counted = (Fact("F, bytes", ALLOCS, 900, 300, "B"),)
    assert not _rest(cpu, [cause._replace(id="allocation", evidence=counted)])


def test_another_benchmarks_amount_has_the_callees_that_the_cause_has():
    """Flat, F saves in B what its callee, which is unchanged, does not."""

    def side(callee, cost, own):
        return [
            Unit(
                REST | {path("F", bench="A"): 100, path(callee, "F", bench="A"): cost},
                name="A",
            ),
            Unit(
                REST | {path("F", bench="B"): own, path("C", "F", bench="B"): 300},
                name="B",
            ),
        ]

    base, new = side("Old", 1200, 400), side("New", 200, 100)
    (cause, *_) = report_of(compared(base, new)).findings.causes
    assert cause.title.startswith("A: p.F uses 77% less CPU")
    assert re.search(r"In B: \S+ → \S+ ms/op cum\.", cause.text)


def test_a_few_samples_of_what_does_a_function_s_work_now_count_with_it():
    """They are most of what it has in new, so that its own are none of a saving."""
    sides = (
        Unit(REST | {path("F"): 300}),
        Unit(REST | {path("F"): 1, path("Bytes", "F"): 4}),
    )
    comparison = compared(*sides, runs=1)
    (cause,) = find(comparison, outcome(comparison).verdict).causes
    assert cause.title == "p.F uses 98% less CPU: 3.054 → 0.051 ms/op cum"


@pytest.mark.parametrize("tiny", [0, 2])
def test_a_shift_within_tiny_blocks_is_no_change_of_what_is_called(tiny):
    """Objects of 8 bytes share blocks, credited to whoever begins one."""
    sides = [
        Unit(
            REST | {path("F"): 300},
            {
                path("math/big.nat.make", "F"): (1, words),
                path("strconv.FormatInt", "F"): (1, text),
            },
            tiny=tiny,
        )
        for words, text in ((4, 24), (32, 8))
    ]
    (cause,) = causes(*sides)[1].causes
    assert cause.title.startswith("p.F allocates more: 28 → 40 B/op")
    assert ("strconv.FormatInt 24 → 8 B/op" in cause.text) == (not tiny)


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        (("Less", "F"), "p.F calls it."),
        (("Less", "sort.insertionSort", "F"), "p.F calls it through package sort."),
        (("Less",), ""),
    ],
)
def test_who_calls_a_new_function_is_said(stack, said):
    base = REST | {path("F"): 300}
    (cause,) = causes(Unit(base), Unit(base | {path(*stack): 500}))[1].causes
    assert cause.title.startswith("p.Less now takes")
    assert cause.text.endswith(said)
    assert ("calls it" in cause.text) == bool(said)


def test_what_took_over_from_a_callee_that_is_gone_is_counted_with_it():
    """F does a part of what Old did: 500 saved, 200 of them spent."""
    base = REST | {path("F"): 100, path("Old", "F"): 500}
    new = REST | {path("F"): 300}
    (cause,) = causes(Unit(base), Unit(new))[1].causes
    assert cause.title.startswith("p.F uses 50% less CPU")
    number = r"[\d.]+"
    assert re.search(
        rf"In it: p.Old {number} → 0.00 \S+, the rest {number} → {number} ", cause.text
    )


def test_one_that_allocates_by_a_callee_now_allocates_on_both_sides():
    calls = (
        {path("encoding/json.Marshal", "F"): (1, 24)},
        {path("Encode", "F"): (1, 112)},
    )
    for base, new, way in ((0, 1, "more: 24 → 112"), (1, 0, "less: 112 → 24")):
        sides = (Unit(F_AND_G, calls[side]) for side in (base, new))
        (cause,) = causes(*sides)[1].causes
        assert cause.title == f"p.F with p.Encode allocates {way} B/op"


@pytest.mark.parametrize("costs", [(300, 300), (420, 180)], ids=["alike", "unlike"])
def test_two_callees_that_are_gone_are_both_named(costs):
    gone = {
        path(one, "F"): cost for one, cost in zip(("Old", "Older"), costs, strict=True)
    }
    base = REST | {path("F"): 300} | gone
    _, findings = causes(Unit(base), Unit(REST | {path("F"): 300}))
    (cause,) = findings.causes
    assert re.search(r"In it: p\.Old\S* [^,]* → 0\S* .s/op, p\.Old\S* ", cause.text)


@pytest.mark.parametrize("uneven", [0.1, 0.4], ids=["sure", "within noise"])
def test_a_function_that_changed_more_than_what_is_gone_from_it_is_the_cause(uneven):
    gone = {path("Old", "F"): 420, path("Older", "F"): 180}
    sides = REST | {path("F"): 400} | gone, REST | {path("F"): 200}
    (cause,) = causes(*(Unit(side, uneven=uneven) for side in sides))[1].causes
    assert cause.title.startswith("p.F uses 80% less CPU")


@pytest.mark.parametrize("wall", [1.0, 0.2])
def test_set_up_outside_the_timer_is_in_no_sum(wall):
    """The profile is per op that it counts, not scaled to the CPU/op of other runs."""
    sides = [Unit({path("F"): cpu} | REST, wall=wall) for cpu in (600, 1200)]
    comparison = compared(*sides)
    report = report_of(comparison)
    (cause,) = report.findings.causes
    assert cause.title.startswith("p.F uses 2.00× the CPU")
    assert comparison.work.with_set_up == (wall < 1)
    assert bool(why(report).rest) == (wall == 1)


def test_a_function_that_others_now_call_around_is_no_cheaper():
    """C called R through P, and calls it itself: what counts is C, not P."""
    leaves, others = range(10), {path("P", "C"): 20, path("X"): 200}
    base = Unit({path(f"L{i}", "R", "P", "C"): 60 for i in leaves} | others)
    new = Unit({path(f"L{i}", "R", "C"): 50 for i in leaves} | others)
    cpu = Case(compared(base, new)).cpu
    rows = {name.rpartition(".")[2]: row for row, name in enumerate(cpu.names)}
    place = whole_of(cpu, rows["P"])
    assert place.base > 10 * place.new
    assert with_moved(cpu, Program(cpu), place).row == rows["C"]
    # Where R is called as before, P is what costs less.
    cpu = Case(compared(base, Unit(others))).cpu
    rows = {name.rpartition(".")[2]: row for row, name in enumerate(cpu.names)}
    place = whole_of(cpu, rows["P"])
    assert with_moved(cpu, Program(cpu), place) == place


@pytest.mark.parametrize(
    ("new", "rest", "said"),
    [
        ((336.0, 288.0), [-58.0], "p.Other9 allocates 58 B/op less."),
        (
            (336.0, 288.0),
            [-38.0, -20.0],
            "All functions but p.F0 and this one together allocate 58 B/op less.",
        ),
        # Benchmarks count fewer bytes than profiles: nobody else has that.
        ((336.0, 288.0), [0.0], ""),
        ((336.0, 230.0), [0.0], ""),
        ((336.0, 100.0), [0.0], ""),
    ],
)
def test_what_others_take_back_of_sites_that_exceed_the_total_is_said(new, rest, said):
    totals = Allocated(space=(17_000.0, 17_566.0), objects=None)
    sites = [
        Site(f"p.F{row}", row, (0.0, size), (0.0, 1.0), exact=True)
        for row, size in enumerate(new)
    ]
    others = [
        Site(f"p.Other{row}", row, (900.0, 900.0 + delta), (1.0, 1.0), exact=True)
        for row, delta in enumerate(rest, 9)
    ]
    assert read(taken_back(totals, sites, [*sites, *others]))[0] == said


def test_what_others_take_back_is_no_part_of_what_a_site_replaced():
    totals = Allocated(space=(17_000.0, 16_000.0), objects=None)
    in_place = Site("p.New", 0, (3000.0, 2000.0), (9.0, 3.0), exact=True)
    in_place = in_place._replace(came=("p.New",), gone=("p.Old",))
    last = Site("p.F", 1, (224.0, 0.0), (3.0, 0.0), exact=True)
    every = [
        Site("p.Old", 2, (3000.0, 0.0), (9.0, 0.0), exact=True),
        Site("p.New", 0, (0.0, 2000.0), (0.0, 3.0), exact=True),
        last,
        *(Site(f"p.O{n}", n, (0.0, 112.0), (0.0, 1.0), exact=True) for n in (3, 4)),
    ]
    said = read(taken_back(totals, [in_place, last], every))[0]
    assert said == (
        "All functions but p.New, p.Old and this one together allocate 224 B/op more."
    )


def test_what_allocates_instead_of_another_packages_function_is_its_callers():
    """The one that is gone is unchanged: F calls it no longer."""
    own = {path("runtime.mallocgc", "F"): (1, 4000)}
    old, new = (f"example.com/{package}.Grow" for package in ("old", "new"))
    base = own | {path("runtime.mallocgc", old, "F"): (8, 7000)}
    now = own | {path("runtime.mallocgc", new, "F"): (1, 5000)}
    (cause,) = causes(Unit(F_AND_G, base), Unit(F_AND_G, now))[1].causes
    assert cause.title == ("p.F allocates less: 10.7 → 8.8 KiB/op, 9 → 2 allocs/op cum")
    assert "In it: old.Grow 6.84 → 0.00 KiB/op, new.Grow 0.00 → 4.88 KiB/op." in (
        cause.text
    )


def test_a_library_function_with_most_of_a_change_is_named_in_its_caller():
    """Its callees, of which one side lacks some, depend on what it is given."""
    base, new = (
        REST
        | {path("F"): 100}
        | {path("sort.Slice", "F"): slice_}
        | {path(f"sort.{inner}", "sort.Slice", "F"): 80 for inner in inside}
        for slice_, inside in ((340, ("partition", "siftDown")), (40, ()))
    )
    (cause,) = causes(Unit(base), Unit(new))[1].causes
    assert cause.title.startswith("p.F uses 77% less CPU")
    assert "In it: sort.Slice " in cause.text
    assert "sort.partition" not in cause.text


def in_test_file(costs):
    """Return stacks whose benchmark is in a test file, and so no place."""
    return {
        tuple((n, "/p/a_test.go", 4) if "Benchmark" in n else n for n in stack): cost
        for stack, cost in costs.items()
    }


def test_callers_that_share_a_new_function_count_together():
    """A and B did by other functions what New does for both."""
    old = {path(f"Old{i}", one): 125 for one in "AB" for i in range(4)}
    base = REST | {path(one): 300 for one in "AB"} | old
    shared = {path("New", one): 300 for one in "AB"}
    new = REST | {path(one): 700 for one in "AB"} | shared
    (cause,) = causes(*(Unit(in_test_file(side)) for side in (base, new)))[1].causes
    assert re.match(r"p\.[AB] and p\.[AB] with p\.New use 25% more CPU", cause.title)


def test_a_new_function_has_the_callees_that_it_alone_calls():
    base = REST | {path("F"): 100}
    inside = {path("fmt.Sprintf", "New", "F"): 800, path("In", "New", "F"): 300}
    new = base | {path("runtime.mapassign", "F"): 1500} | inside
    _, second = causes(Unit(base), Unit(new))[1].causes
    assert re.fullmatch(
        r"p\.New now takes 35.5% of the CPU: 0.00 → 11.22 ms/op cum", second.title
    )


@pytest.mark.parametrize(
    ("left", "verb"), [(1, "hardly takes CPU now"), (0, "no longer takes CPU")]
)
def test_what_still_allocates_still_runs(left, verb):
    """A few samples may miss a function that runs much less."""
    base = {path("runtime.mallocgc", "Hash"): (100, 6400)}
    new = {path("runtime.mallocgc", "Hash"): (left, 64 * left)} if left else {}
    before, now = REST | {path("Hash", "F"): 600}, REST
    first, *_ = causes(Unit(before, base), Unit(now, new))[1].causes
    assert first.title.startswith(f"p.Hash {verb}: ")


@pytest.mark.parametrize(
    ("file", "together"), [("p/xor_amd64.s", True), ("p/xor.go", False)]
)
def test_assembly_without_callers_counts_with_what_is_new(file, together):
    """Its stacks begin in it: who called it is not known. A goroutine has no caller."""
    base = REST | {(("example.com/p.xor", file, 3),): 400}
    new = REST | {path("block", "F"): 700}
    titles = [one.title for one in causes(Unit(base), Unit(new))[1].causes]
    joint = re.match(r"p\.(F|block) with p\.xor uses 75% more CPU", titles[0])
    assert bool(joint) == together
    assert len(titles) == (1 if together else 2)


@pytest.mark.parametrize(
    ("left", "verb"), [(4, "has samples in base only"), (90, "no longer takes CPU")]
)
def test_so_few_samples_may_miss_what_runs(left, verb):
    new = {path("Rest"): left}
    sides = Unit(new | {path("F"): 400}), Unit(new)
    first, *_ = causes(*sides)[1].causes
    assert first.title.startswith(f"p.F {verb}: ")


@pytest.mark.parametrize("kernel", [1.0, 0.85])
def test_what_only_the_scale_of_samples_changes_is_no_cause(kernel):
    base = {path("Clock"): 60, path("Get"): 700, path("Put"): 240}
    new = {path("Get"): 690, path("Put"): 238}
    _, findings = causes(Unit(base), Unit(new, kernel=kernel))
    shown = [f.title for f in findings.found if f.severity != "info"]
    assert [title.partition(" ")[0] for title in shown] == ["p.Clock"]


BY_TEXT = {
    # An unchanged function is called less often, together with its own callees.
    "above": (
        {path("Calc", "Find"): 600, path("Find"): 300, path("Rest"): 300},
        {path("Calc", "Find"): 60, path("Find"): 60, path("Rest"): 300},
        ("Find",), ["Find"],
    ),
    # What is cheaper is a changed callee, called through unchanged ones.
    "below": (
        {path("Peek", "Next", "Get"): 700, path("Next", "Get"): 200},
        {path("Peek", "Next", "Get"): 500, path("Next", "Get"): 190},
        ("Peek",), ["Peek"],
    ),
    # Two places that changed themselves stay two.
    "both": (
        {path("Calc", "Find"): 600, path("Find"): 300, path("Rest"): 300},
        {path("Calc", "Find"): 60, path("Find"): 60, path("Rest"): 300},
        ("Find", "Calc"), ["Calc", "Find"],
    ),
    # A callee that base alone runs is part of the changed caller that is a place.
    "gone": (
        {path("Check", "Find"): 300, path("Find"): 500, path("Rest"): 300},
        {path("Find"): 150, path("Rest"): 300},
        ("Find",), ["Find"],
    ),
    # The same where the changed caller's own cost is the same.
    "not called": (
        {path("Check", "Find"): 300, path("Find"): 50, path("Rest"): 300},
        {path("Find"): 50, path("Rest"): 300},
        ("Find",), ["Find"],
    ),
    # Most of the change is not below the changed function.
    "neither": (
        {path("Calc", "Find"): 600, path("Rest"): 600},
        {path("Calc", "Find"): 60, path("Rest"): 600},
        ("Rest",), ["Calc"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("base", "new", "changed", "named"), BY_TEXT.values(), ids=list(BY_TEXT)
)
def test_an_unchanged_function_gives_way_to_the_changed_one_behind_it(
    base, new, changed, named
):
    cpu = Case(compared(Unit(base), Unit(new))).cpu
    cpu = replace(cpu, model=cpu.diff.model)
    program = Program(cpu, tests_apart=True)
    of_changed = np.isin(cpu.names, [f"{PACKAGE}.{name}" for name in changed])
    found = places(cpu, program)
    texts = Texts(of_changed, ~of_changed)
    now = by_text(cpu, program, found, texts, lambda _: True)
    assert [cpu.names[one.row].rpartition(".")[2] for one in now] == named
    claims = sum(sum(one.claim.sides[0].astype(int) for one in now))
    assert claims == sum(
        map(int, np.logical_or.reduce([one.claim.sides[0] for one in now]))
    )


def test_a_function_that_only_called_what_its_caller_calls_now_is_no_part():
    """F called Find and Hash through Get, which did nothing else."""
    base = {path("Find", "Get", "F"): 500, path("Hash", "Get", "F"): 400}
    new = {path("Find", "F"): 400, path("Hash", "F"): 240}
    (cause,) = causes(Unit(base | REST), Unit(new | REST))[1].causes
    assert "p.Get" not in cause.text
    assert "p.Hash " in cause.title + cause.text


def test_without_the_callees_of_other_causes_nothing_is_said_of_their_allocations():
    """What Get allocates with Hash is not what it allocates outside of it."""
    base, new = (
        {path(f, "Get"): n for f in "ABC"} | {path("Get"): n, path("Rest"): 300}
        for n in (200, 400)
    )
    new[path("Hash", "Get")] = 1500
    allocated = (
        {path("runtime.mallocgc", f, "Get"): (n, 64 * n) for f in ("A", "B", "Hash")}
        for n in (10, 30)
    )
    sides = [Unit(cpu, one) for cpu, one in zip((base, new), allocated, strict=True)]
    _, findings = causes(*sides)
    (outside,) = (
        one for one in findings.causes if "outside the other causes" in one.title
    )
    assert "allocates" not in outside.text


def test_a_site_that_ran_on_both_sides_has_its_cpu_with_samples_on_one():
    """It allocated little in base, too fast for a sample."""
    base, new = Unit(REST), Unit(REST | {path("F"): 900})
    cpu = Case(compared(base, new)).cpu
    view = SimpleNamespace(moved=True)
    for before, said in ((352.0, "Its CPU: 0"), (0.0, "")):
        one = Site(f"{PACKAGE}.F", 0, (before, 4e7), (1.0, 2.0), exact=True)
        _, text = _cost_of(view, cpu, one, cpu.of(()), (), fewer=False)
        assert read(text)[0].startswith(said)
        assert bool(text) == bool(said)


def test_no_part_of_a_counted_total_reads_as_more_than_it():
    """Benchmarks cut off what is less than one object."""
    totals = Allocated(space=(3390.0, 2171.0), objects=(185.0, 134.0))
    part = Site("p.F", 0, (3050.0, 2080.0), (185.7, 120.7), exact=True)
    assert within(totals, part).objects == pytest.approx((185, 120))
    assert "185 → 120 allocs/op" in read(amounts(totals, part))[0]


@pytest.mark.parametrize(
    ("objects", "verb"),
    [((100.0, 80.0), "allocates less:"), ((80.0, 100.0), "allocates fewer bytes:")],
)
def test_fewer_bytes_in_more_objects_are_not_less(objects, verb):
    one = Site("p.F", 0, (4096.0, 2048.0), objects, exact=False, missing=30.0)
    assert _verb(one, fewer=True) == verb


def test_a_part_that_reads_otherwise_is_not_the_whole():
    totals = Allocated(space=(138e3, 43.43e6), objects=None)
    for grown, said in ((43.29e6, "the whole"), (43.05e6, "nearly the whole")):
        one = Site("p.F", 0, (0.0, grown), (0.0, 1.0), exact=True)
        text = share_of_change(totals, one, alone=True)
        assert text == f"That is {said} change in B/op."


def test_as_many_objects_as_before_are_no_change_of_a_total():
    totals = Allocated((98_496.0, 106_480.0), (1024.0, 1023.0))
    same = site((98_408.0, 106_408.0), missing=0.0)._replace(objects=(1021.0, 1021.0))
    assert within(totals, same).objects == (1021.0, 1021.0)


def test_a_callee_with_all_of_a_place_is_named_by_what_is_inside():
    new = {path("Find", "By", "Do"): 400, path("By", "Do"): 100}
    cpu = Case(compared(Unit(REST), Unit(REST | new))).cpu
    (row,) = cpu.rows_of([f"{PACKAGE}.Do"]).tolist()
    program = Program(cpu, tests_apart=True)
    place = with_callees(cpu, program, whole_of(cpu, row))
    assert [cpu.names[one] for one in place.added] == [f"{PACKAGE}.Find"]


@pytest.mark.parametrize(("samples", "said"), [(30, True), (2, False)])
def test_where_a_function_is_gone_its_caller_runs_another(samples, said):
    base = REST | {path("Slow", "Each"): 400, path("Each"): 300}
    new = REST | {path("Quick", "Each"): samples, path("Each"): 300}
    cpu = Case(compared(Unit(base), Unit(new), runs=1)).cpu
    (row,) = cpu.rows_of([f"{PACKAGE}.Slow"]).tolist()
    words = read(" ".join(place_words.sentences(cpu, whole_of(cpu, row))))[0]
    assert ("In p.Each, p.Quick has samples in new only: 0.0" in words) == said


def test_what_a_function_makes_itself_now_is_none_of_its_callee_s_change():
    """Strings that a Builder made are concatenated in F; maps are what it saves."""
    grow, of_map = (path(name, "F") for name in ("strings.(*Builder).grow", "maps.New"))
    base = Unit({path("F"): 600}, {grow: (30, 3_000), of_map: (10, 9_000)})
    new = Unit({path("F"): 600}, {path("F"): (30, 3_100), of_map: (1, 6_300)})
    (cause,) = report_of(compared(base, new)).findings.causes
    assert cause.title.startswith("p.F allocates less")
    assert "strings.(*Builder)" not in cause.text


def test_the_function_that_calls_a_library_s_in_a_place_is_named():
    """Not of what the place itself calls."""

    def side(printing, reading, searching):
        return {
            path("fmt.Sprint", "Write", "Do"): printing,
            path("Write", "Do"): 200,
            path("Read", "Do"): reading,
            path("strings.Index", "Do"): searching,
        }

    old = {stack: cost for stack, cost in side(0, 150, 150).items() if cost}
    (cause, *_) = causes(Unit(REST | side(200, 300, 300)), Unit(REST | old))[1].causes
    assert cause.title.startswith("p.Do uses")
    assert re.search(r"fmt\.Sprint \S+ → 0\.00 ms/op in p\.Write", cause.text)


def test_the_only_resource_that_is_left_has_its_name():
    base = {path("F"): 300, path("runtime.mapaccess1", "F"): 100}
    new = {path("F"): 200, path("runtime.mapaccess1", "F"): 117}
    (cause,) = causes(Unit(base | REST), Unit(new | REST))[1].causes
    assert "other" not in cause.text
    assert "ms/op; maps +" in read(cause.text)[0]


def test_a_further_place_of_little_of_the_outcome_is_no_cause():
    """The garbage of the first one may have slowed the other."""
    base = {path("F"): 3000, path("G"): 130, path("H"): 400}
    new = {path("F"): 30, path("G"): 30, path("H"): 400}
    _, findings = causes(Unit(base), Unit(new))
    assert [one.functions[0] for one in findings.causes] == [f"{PACKAGE}.F"]
    _, findings = causes(Unit(base | {path("F"): 400}), Unit(new))
    assert len(findings.causes) == 2


def test_what_a_cheaper_function_allocates_more_itself_is_said():
    """A map instead of a nested loop: the reader learns its price."""
    base, new = {path("F"): 900} | REST, {path("F"): 90} | REST
    allocated = {path("F"): (2, 64)}
    _, findings = causes(Unit(base, allocated), Unit(new, {path("F"): (40, 4_000)}))
    (cause,) = findings.causes
    assert cause.title.startswith("p.F uses 90% less CPU")
    assert "It allocates 0.062 → 3.91 KiB/op, 2 → 40 allocs/op." in cause.text


@pytest.mark.parametrize(
    ("library", "text"), [(176, "In it: strings.genSplit 0 → 176 B/op."), (60, "")]
)
def test_a_library_function_that_allocates_most_of_a_change_is_named(library, text):
    base = {path("F"): (4, 784)}
    split = path("strings.genSplit", "F")
    new = {path("F"): (8, 960 - library), split: (8, library)}
    _, findings = causes(Unit(F_AND_G, base), Unit(F_AND_G, new))
    (cause,) = findings.causes
    assert cause.title.startswith("p.F allocates more: 784 → 960 B/op")
    assert (
        cause.text == f"That is the whole change in B/op and allocs/op. {text}".strip()
    )


def test_of_library_functions_that_replace_another_both_are_named():
    """What one allocates less, less what the other one does, is the change."""
    gone = path("internal/bytealg.MakeNoZero", "strings.gone", "F")
    came = path("strings.came", "F")
    base = {path("F"): (4, 100), gone: (8, 1_400)}
    new = {path("F"): (4, 100), came: (8, 960)}
    _, findings = causes(Unit(F_AND_G, base), Unit(F_AND_G, new))
    (cause,) = findings.causes
    said = "In it: strings.gone 1.37 → 0.00 KiB/op, strings.came 0 → 960 B/op."
    assert cause.text.endswith(said)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (1, "In it: slice growth 0.000 → 1.224 ms/op"),
        (-1, "In it: slice growth 1.224 → 0.000 ms/op"),
    ],
)
def test_growth_that_one_side_has_is_named(way, said):
    grown = path("runtime.growslice", "F")
    few = Unit(F_AND_G, {path("F"): (1, 960)})
    many = Unit(F_AND_G | {grown: 120}, {path("F"): (8, 1_600)})
    _, findings = causes(*(few, many)[::way])
    (cause,) = findings.causes
    assert said in cause.text


def test_growth_that_does_what_a_copy_did_is_not_named():
    """Net, F costs little more: appending took over from makeslicecopy."""
    copied, grown = (path(f"runtime.{f}", "F") for f in ("makeslicecopy", "growslice"))
    one = Unit(F_AND_G | {copied: 100}, {path("F"): (8, 960)})
    other = Unit(F_AND_G | {grown: 130}, {path("F"): (8, 1_600)})
    _, findings = causes(one, other)
    assert findings.causes
    assert not any("growth" in cause.text for cause in findings.causes)


def test_growth_that_both_sides_have_is_not_named():
    grown = path("runtime.growslice", "F")
    one = Unit(F_AND_G | {grown: 60}, {path("F"): (1, 960)})
    other = Unit(F_AND_G | {grown: 320}, {path("F"): (8, 1_600)})
    _, findings = causes(one, other)
    assert findings.causes
    assert not any("growth" in cause.text for cause in findings.causes)


def test_what_allocates_as_a_benchmark_does_is_a_cause_next_to_what_costs():
    """The slower benchmark makes fewer objects, in a function that is none of it."""

    def units(costs, made):
        stacks = {path(name, bench="A"): cost for name, cost in costs.items()}
        other = path("Rest", bench="B")
        return [
            Unit(stacks, {path("Push", bench="A"): made}, name="A"),
            Unit({other: 300}, name="B"),
        ]

    base = units({"Visit": 300, "Pop": 200, "Push": 200}, (50, 1600))
    new = units({"Visit": 700, "Pop": 500, "Push": 190}, (10, 320))
    found = report_of(compared(base, new)).findings
    titles = [one.title for one in found.causes]
    assert titles[0].startswith("A: p.Visit uses 2.33× the CPU")
    assert titles[-1].startswith(
        "A: p.Push allocates less: 1.56 → 0.31 KiB/op, 50 → 10"
    )


def test_a_change_of_all_bytes_is_one_however_much_else_a_function_allocates():
    """Next to what one of two functions takes from the other, neither is a change."""
    totals = Allocated((70_000.0, 65_000.0), (260.0, 260.0))
    assert is_large(totals, site((70_000.0, 65_000.0), missing=0.0))
    assert not is_large(totals, site((70_000.0, 68_000.0), missing=0.0))
    small = Allocated((27_000.0, 26_650.0), (550.0, 510.0))
    assert not is_large(small, site((10_750.0, 9_730.0), missing=0.0))


@pytest.mark.parametrize(("set_up", "moved"), [(0, True), (1, True), (9, False)])
def test_what_a_callee_allocates_now_that_its_caller_made_is_one_change(set_up, moved):
    """Something that is made once does not make it another function's work."""
    inner = path("inner", "Outer")
    once = {path("inner", "Set"): (set_up, 40 * set_up)} if set_up else {}
    base = Unit({path("Outer"): 600}, {path("Outer"): (60, 2400)} | once)
    new = Unit({path("Outer"): 600}, {inner: (120, 4800)} | once)
    (first, *rest) = report_of(compared(base, new)).findings.causes
    assert (" with p.inner allocates more: 2.3" in first.title) == moved
    assert not (moved and rest)


def test_a_function_that_does_what_it_called_is_paired_with_that_alone():
    """K's objects are in place of none, though the package is the same."""
    costs = {path("F"): 600}
    base = Unit(costs, {path("H", "F"): (90, 9_000)})
    new = Unit(costs, {path("F"): (40, 4_000), path("K"): (30, 9_000)})
    titles = [one.title for one in report_of(compared(base, new)).findings.causes]
    assert any(one.startswith("p.K allocates now") for one in titles)
    assert any(one.startswith("p.F with p.H allocates less") for one in titles)


@pytest.mark.parametrize(
    ("own", "title"),
    [(1000, "p.F with p.G allocates now: 0.00 → 3.91"), (40, "p.G allocates now")],
)
def test_what_a_call_allocates_with_its_callees_is_one_site(own, title):
    rest = {path("Rest"): (3, 900)}
    made = {path("F"): (1, own), path("G", "F"): (99, 3_000)}
    sides = [Unit({path("F"): 600}, allocated) for allocated in (rest, rest | made)]
    first, *others = report_of(compared(*sides)).findings.causes
    assert read(first.title)[0].startswith(title)
    assert not others


def test_what_places_explain_is_left_to_no_site():
    """New makes in G, elsewhere, what base made in F; Old's objects are a place's."""
    totals = Allocated((8_400.0, 3_200.0), (200.0, 100.0))
    gone, came, known = (
        site(space, missing=0.0)._replace(objects=objects)
        for space, objects in (
            ((2_400.0, 0.0), (100.0, 0.0)),
            ((0.0, 3_200.0), (0.0, 100.0)),
            ((6_000.0, 0.0), (100.0, 0.0)),
        )
    )
    assert needed(totals, [gone, came]) == [gone]
    assert not needed(totals, [gone, came], [known])


def test_a_site_with_the_whole_change_leaves_nothing_for_a_larger_one():
    """How often Add's map grows is chance: benchmarks count no more than Sort's."""
    totals = Allocated((1_400_000.0, 1_367_000.0), (18_300.0, 17_300.0))
    sort, add = (
        site(space, missing=0.0)._replace(objects=objects, exact=True)
        for space, objects in (
            ((33_000.0, 0.0), (1_000.0, 0.0)),
            ((453_000.0, 506_000.0), (5_719.0, 5_724.0)),
        )
    )
    assert needed(totals, [add, sort]) == [sort]


@pytest.mark.parametrize(("more", "less", "said"), [(10, 7, False), (10, 1, True)])
def test_no_part_of_a_change_is_said_where_others_go_both_ways(more, less, said):
    """F makes 15 of 18 KiB more; what G makes more, H makes less, or G most of it."""
    base = {path("F"): (5, 5_000), path("G"): (9, 4_000), path("H"): (9, 9_000)}
    new = {
        path("F"): (20, 20_000),
        path("G"): (9, 4_000 + 1_000 * more),
        path("H"): (9, 9_000 - 1_000 * less),
    }
    report = report_of(
        compared(Unit({path("F"): 600}, base), Unit({path("F"): 600}, new))
    )
    texts = [one.text for one in report.findings.causes if "p.F" in one.title]
    assert any("of" in one and "KiB" in one for one in texts) is said


def test_where_stacks_lack_their_roots_own_cost_is_what_counts():
    """F, called under deep recursion, gets cheaper; Deep only seems to."""
    deep = ("Deep",) * STACK_KEPT
    base, new = (
        Unit({path("F", *deep): cost, path("Deep", *deep): 300, path("Rest"): 60})
        for cost in (900, 100)
    )
    (cause,) = report_of(compared(base, new)).findings.causes
    title, _ = read(cause.title)
    assert title.startswith("p.F uses 89% less CPU")


@pytest.mark.parametrize(("size", "said"), [(20, False), (2, True)])
def test_only_allocations_that_change_as_time_does_are_left_to_explain_it(size, said):
    """The benchmark is faster by what has no cause of its own."""
    sides = [
        [
            Unit(
                {path(f"F{i}", bench="A"): 1 for i in range(4)},
                {path("G", bench="A"): made},
                name="A",
                kernel=by,
            ),
            Unit({path("F", bench="B"): 60}, name="B"),
        ]
        for made, by in (((10, 10_000), 2.0), ((size, 1_000 * size), 1.0))
    ]
    rest = why(report_of(compared(*sides))).rest
    assert any("left open" in one.text for one in rest) is said


def test_sites_that_add_up_to_the_change_are_named_together():
    """Sum's 4 KiB are gone, 2 KiB of them are made elsewhere, and Check's copy is."""
    totals = Allocated((20_480.0, 16_896.0), (704.0, 576.0))
    sites = [
        site(space, missing=96.0)._replace(name=name, objects=objects)
        for name, space, objects in (
            ("x.Sum", (4_096.0, 0.0), (128.0, 0.0)),
            ("y.sum", (0.0, 2_048.0), (0.0, 64.0)),
            ("z.Rest", (14_848.0, 14_700.0), (416.0, 416.0)),
            ("y.Check", (1_536.0, 0.0), (64.0, 0.0)),
        )
    ]
    assert [one.name for one in adding_up(totals, sites)] == [
        "x.Sum",
        "y.sum",
        "y.Check",
    ]
    assert not adding_up(totals, sites[:3])


def test_a_function_that_allocates_by_another_package_now_allocates_on_both_sides():
    grow = "example.com/deque.Grow"
    base = {path("runtime.mallocgc", "Push"): (14, 19_000)}
    new = {path("runtime.mallocgc", grow, "Push"): (2, 7_168)}
    (cause,) = causes(Unit(F_AND_G, base), Unit(F_AND_G, new))[1].causes
    assert cause.title.startswith(
        "p.Push with deque.Grow allocates less: 18.6 → 7.0 KiB/op, 14 → 2 allocs/op"
    )


@pytest.mark.parametrize(
    ("other", "title"),
    [
        (
            (),
            "p.Put with 2 functions below it that allocate only in new allocates fewer",
        ),
        (("Else",), "p.add and p.grow allocate now, p.Put and p.Else did before: 18 →"),
    ],
)
def test_several_callees_do_the_work_of_one_if_they_are_all(other, title):
    """Another one that stopped may have done some of it."""
    base = {path("runtime.mallocgc", f): (9, 4_096) for f in ("Put", *other)}
    new = {path("runtime.mallocgc", f, "Put"): (4, 8_192) for f in ("add", "grow")}
    (cause,) = causes(Unit(F_AND_G, base), Unit(F_AND_G, new))[1].causes
    assert read(cause.title)[0].startswith(title)


def test_a_function_that_one_unit_no_longer_calls_is_another_change():
    """In B it is still called, at a quarter of the cost."""

    def side(a, b):
        costs = {"A": a, "B": b}
        rest = {name: {path("Rest", bench=name): 300} for name in costs}
        own = {
            name: {path("F", bench=name): n} if n else {} for name, n in costs.items()
        }
        return [Unit(own[name] | rest[name], name=name) for name in costs]

    found = report_of(compared(side(600, 600), side(0, 150))).findings.causes
    assert sorted(one.unit for one in found) == ["A", "B"]
    found = report_of(compared(side(600, 600), side(0, 5))).findings.causes
    assert len(found) == 1
    assert "In B: " in found[0].text


def test_own_cost_that_rises_is_no_part_of_callees_that_cost_less():
    """B's F costs less with Parse, which got cheaper, and more itself."""

    def side(in_a, own, parse):
        a = {path("F", bench="A"): in_a, path("G", "F", bench="A"): 200}
        b = {path("F", bench="B"): own, path("Parse", "F", bench="B"): parse}
        return [
            Unit(a | {path("Rest", bench="A"): 100}, name="A"),
            Unit(b | {path("Rest", bench="B"): 100}, name="B"),
        ]

    found = report_of(compared(side(800, 20, 900), side(50, 120, 200))).findings
    assert "In B" not in "".join(one.text for one in found.causes if one.unit == "A")


def test_a_process_s_set_up_is_no_cost_of_its_operations():
    """Three times as many iterations follow the same set-up."""
    comparison = compared(
        Unit({path("Load"): 200, path("F"): 300, path("Rest"): 60}, operations=1000),
        Unit({path("Load"): 200, path("F"): 300, path("Rest"): 180}, operations=3000),
    )
    cpu = Case(comparison).cpu
    load, rest, most = (
        Finding(name, "", "", (), claim=cpu.under_names(names))
        for name, names in (
            ("load", [f"{PACKAGE}.Load"]),
            ("rest", [f"{PACKAGE}.Rest"]),
            ("most", [f"{PACKAGE}.Load", f"{PACKAGE}.F"]),
        )
    )
    kept = _of_operations(cpu, (load, rest, most))
    assert [one.id for one in kept] == ["rest", "most"]


GC = ("runtime.gcBgMarkWorker",)


@pytest.mark.parametrize(
    ("others", "title"), [(0, "p.F with p.G allocates more"), (3, "p.G allocates now")]
)
def test_a_callee_that_does_the_work_of_several_is_not_joined_with_one(others, title):
    """F parsed, and calls G now to do so. So do the others, which F calls."""
    rest = {path("Rest"): (3, 900)}
    base, new = {path("F"): (20, 18_000)}, {path("G", "F"): (30, 30_000)}
    for i in range(others):
        base[path(f"P{i}", "F")] = (10, 7_000)
        new[path("G", f"P{i}", "F")] = (100, 90_000)
        new[path(f"P{i}", "F")] = (1, 600)
    sides = [Unit({path("F"): 600}, rest | made) for made in (base, new)]
    (first, *_) = report_of(compared(*sides)).findings.causes
    assert read(first.title)[0].startswith(title)
    assert "All other functions" not in first.text


@pytest.mark.parametrize(
    ("counted", "agrees"), [((9.0, 9_270.0), True), ((4_000.0, 9_270.0), False)]
)
def test_of_a_large_change_a_part_may_be_set_up(counted, agrees):
    """Profiles have 8 and 8,200 bytes of an operation."""
    made = ((1, 8), (10, 8_200))
    comparison = compared(*(Unit({path("F"): 600}, {path("F"): one}) for one in made))
    allocated = comparison.work.allocated | {"alloc_space": counted}
    work = comparison.work._replace(allocated=allocated)
    (site,) = Sites.of(replace(comparison, work=work)).all
    assert site.agrees is agrees


@pytest.mark.parametrize(
    ("objects", "amount"),
    [((16_393.0, 32_777.0), (122_944.0, 188_481.0)), ((9.0, 5.0), None)],
)
def test_who_alone_allocates_has_what_is_counted(objects, amount):
    """Blocks of tiny objects have more bytes than these: profiles have 281 kB."""
    made = ((4_102, 122_960), (13_978, 280_976))
    comparison = compared(*(Unit({path("F"): 600}, {path("F"): one}) for one in made))
    counts = {"alloc_space": (122_944.0, 188_481.0), "alloc_objects": objects}
    work = comparison.work._replace(allocated=comparison.work.allocated | counts)
    (site,) = Sites.of(replace(comparison, work=work)).all
    # What grows now and then has more bytes in fewer objects: that is none of code.
    assert site.space == (amount or (122_960.0, 280_976.0))
    assert site.agrees == (amount is not None)


@pytest.mark.parametrize("counted", [(0.0, 3_790.0), (0.0, 2_340.0)])
def test_amounts_that_are_not_those_that_are_counted_are_not_said(counted):
    """A pool makes a large buffer now and then: profiled runs have another number."""
    sides = Unit({path("F"): 600}), Unit({path("F"): 1800}, {path("F"): (1, 2_340)})
    comparison = compared(*(one._replace(cpu=one.cpu | REST) for one in sides))
    allocated = comparison.work.allocated | {"alloc_space": counted}
    work = comparison.work._replace(allocated=allocated)
    first = find(replace(comparison, work=work), "slower").causes[0]
    assert ("It allocates" in first.text) == (counted[1] == 2_340.0)


def test_a_site_has_no_more_objects_than_its_own():
    """Others make 7 of 1,007 objects in new."""
    totals = Allocated((153_000.0, 100_000.0), (1_023.0, 1_007.0))
    own = site((152_900.0, 47_000.0), missing=1.9)._replace(objects=(1_021.0, 1_000.0))
    assert within(totals, own).objects == (1_021.0, 1_000.0)


def test_where_no_place_is_sure_the_whole_operation_is_the_cause():
    """Few samples: Do, which the benchmark calls alone, has next to all of them."""
    base, new = (
        Unit({path("F", "Do"): f, path("G", "Do"): 1, GC: 1}, operations=100)
        for f in (1, 2)
    )
    (cause,) = causes(base, new)[1].causes
    assert read(cause.title)[0].startswith("p.Do uses 50% more CPU: ")


def test_what_another_benchmark_allocates_in_a_function_with_other_cpu_is_said():
    """The first cause is of CPU, in the benchmark that moved."""

    def units(cost, size):
        return [
            Unit({path("F", bench="A"): cost} | REST, name="A"),
            Unit(
                {path("F", bench="B"): 40} | REST,
                {path("F", bench="B"): (1, size)},
                name="B",
            ),
        ]

    found = report_of(compared(units(300, 64), units(900, 48))).findings
    first, second = found.causes
    assert first.title.startswith("A: p.F uses 3.00× the CPU")
    assert second.title.startswith("B: p.F allocates less: 64 → 48 B/op")


def _benchmarks(**of_each):
    """Return a side of benchmarks, each with (samples of F, (objects, bytes))."""
    return [
        Unit(
            {path("F", bench=name): cost, path("Rest", bench=name): 300},
            {path("F", bench=name): made},
            name=name,
        )
        for name, (cost, made) in of_each.items()
    ]


def test_of_benchmarks_that_moved_both_ways_each_has_its_place():
    """Samples show what costs more: counted bytes alone would say less of it."""
    base = _benchmarks(A=(300, (4, 176)), B=(900, (20, 4_000)))
    new = _benchmarks(A=(900, (8, 672)), B=(300, (36, 9_000)))
    found = report_of(compared(base, new)).findings
    first, second = found.causes
    assert first.title.startswith("A: p.F uses 3.00× the CPU")
    assert "It allocates 176 → 672 B/op, 4 → 8 allocs/op." in first.text
    assert second.title.startswith("B: p.F uses 67% less CPU")


def test_where_sites_alone_explain_a_mean_each_benchmark_has_its_own():
    """No benchmark allocates what both do on average."""
    base = _benchmarks(A=(300, (4, 400)), B=(300, (0, 0)))
    new = _benchmarks(A=(300, (2, 200)), B=(300, (0, 0)))
    moved = [
        [unit._replace(kernel=factor) for unit in side]
        for side, factor in ((base, 1.0), (new, 0.8))
    ]
    found = report_of(compared(*moved)).findings
    assert [one.unit for one in found.causes if one.site] == ["A"]


@pytest.mark.parametrize(("objects", "causes"), [(1, 0), (2, 1)])
def test_the_size_of_what_a_benchmark_makes_itself_is_no_cause(objects, causes):
    """Another number of objects is one: its variables may escape now."""
    stack = (f"{PACKAGE}.BenchmarkAll", "testing.(*B).runN")
    sides = [
        Unit({path("F"): 600}, {stack: (count, 18 * count - less)})
        for count, less in ((1, 0), (objects, 2))
    ]
    assert len(report_of(compared(*sides)).findings.causes) == causes


def test_what_follows_from_a_mean_does_not_follow_from_one_benchmarks_site():
    """Its amount is that of an op that no benchmark has."""

    def side(made, collecting):
        stacks = {path("F", bench="A"): 300, SCAN: collecting}
        rest = path("Rest", bench="B")
        return [
            Unit(stacks, {path("F", bench="A"): made}, name="A"),
            Unit({rest: 300}, {rest: (2, 64)}, name="B"),
        ]

    comparison = compared(side((4, 1600), 160), side((1, 160), 20))
    units = outcome(comparison).units
    (cause,) = find(comparison, "unknown", allocating=units).found
    assert cause.title.startswith("A: p.F allocates less: 1.56 → 0.16 KiB/op")


def test_a_function_saves_no_more_than_its_benchmark():
    """Without a deferred call, samples of F are its callee's."""
    base = {path("F"): 600, path("G", "F"): 600, path("Rest"): 100}
    new = {path("F"): 100, path("G", "F"): 850, path("Rest"): 100}
    _, findings = causes(Unit(base), Unit(new))
    cause, *_ = findings.causes
    assert cause.title.startswith("p.F uses 21% less CPU: ")
    assert cause.title.endswith(" cum")


@pytest.mark.parametrize(
    ("new", "direction"),
    [((1, 48), "neutral"), ((1, 16), "better"), ((3, 48), "worse")],
)
def test_fewer_objects_of_more_bytes_are_neither_better_nor_worse(new, direction):
    base = Unit(F_AND_G, {path("F"): (2, 24)})
    _, findings = causes(base, Unit(F_AND_G, {path("F"): new}))
    (cause,) = findings.causes
    assert cause.direction == direction


@pytest.mark.parametrize(("payer", "own"), [("F", True), ("G", False)])
def test_objects_that_another_function_pays_for_are_not_a_sites(payer, own):
    """Profiles miss a tiny object; CPU samples of allocation show whose it may be."""
    stacks = F_AND_G | {(*MALLOC, *path(payer)): 60}
    base = Unit(stacks, {path("F"): (3, 80)}, tiny=1)
    new = Unit(stacks, {path("F"): (2, 88)})
    _, findings = causes(base, new)
    said = " ".join(one.title for one in findings.causes)
    assert ("p.F allocates fewer, larger objects: 4 → 2 allocs/op" in said) is own


def test_a_site_that_differs_as_runs_of_one_build_do_is_no_cause():
    """Of a map's keys in another order, the process that is profiled has one."""
    totals = Allocated((6964.0, 7081.0), None, apart=37.0)
    assert is_large(totals, site((336.0, 384.0), missing=0.0))
    assert not is_large(totals, site((152.0, 184.0), missing=0.0))


def test_objects_that_callees_pay_for_are_of_the_functions_that_call_them():
    """F and G allocate for H: both are under it."""
    stacks = {path("H"): 400} | {(*MALLOC, *path(x, "H")): 60 for x in "FG"}
    made = {path(x, "H"): (3, 80) for x in "FG"}
    fewer = {path(x, "H"): (1, 40) for x in "FG"}
    comparison = compared(Unit(stacks, made, tiny=1), Unit(stacks, fewer))
    sites = Sites.of(comparison)
    assert sites.under(f"{PACKAGE}.H")[0].objects == (7, 2)
    assert sites.under(f"{PACKAGE}.F")[0].objects == (3, 1)


def test_cpu_of_one_benchmark_is_no_part_of_what_another_one_allocates():
    """F allocates less in A, and takes less CPU in B: each is a cause."""
    base = _benchmarks(A=(300, (4, 640)), B=(900, (4, 640)))
    new = _benchmarks(A=(300, (1, 64)), B=(200, (4, 640)))
    found = report_of(compared(base, new)).findings
    titles = [one.title for one in found.causes]
    assert any(title.startswith("B: p.F uses 78% less CPU") for title in titles)
    assert any(title.startswith("A: p.F allocates less") for title in titles)


@pytest.mark.parametrize(
    ("unit", "way", "marked"), [("", 1, {"F"}), ("All", 1, set()), ("", -1, set())]
)
def test_frames_with_most_of_a_cause_s_change_have_its_mark(unit, way, marked):
    """Runs differ by more than the change: no row is significant by itself."""
    base = Unit({path("F"): 600} | REST, uneven=0.9)
    diff = compared(base, base._replace(cpu={path("F"): 900} | REST)).cpu
    rows = np.arange(len(diff.paired_functions.names))
    runs = diff.paired_functions.runs("cum")
    delta = diff.normalization.delta(*merged(runs))
    name = f"{PACKAGE}.F"
    own = way * float(delta[diff.paired_functions.names.index(name)])
    cause = Finding("place", "", "", (), own=own, functions=(name,), unit=unit)
    needs = needed_next_to(diff, [cause], rows, runs)
    found = {diff.paired_functions.names[row] for row in rows[np.abs(delta) >= needs]}
    assert found == {f"{PACKAGE}.{one}" for one in marked}


def test_in_a_benchmark_s_own_graph_frames_have_the_mark_of_its_cause():
    base = _benchmarks(A=(300, (4, 640)), B=(300, (4, 640)))
    new = _benchmarks(A=(900, (4, 640)), B=(300, (4, 640)))
    report = report_of(compared(base, new))
    (cause,) = report.findings.causes
    diff = next(one for one in report.profiles_of(cause) if one.is_cpu)
    (own,) = of_unit(diff, {1: cause}, "A").values()
    rows = diff.paired_functions.names.index(f"{PACKAGE}.F")
    raw = (int(side[rows]) for side in diff.paired_functions.raw("cum"))
    assert own.own == diff.normalization.delta(*raw)
    assert not of_unit(diff, {1: cause}, "B")


def test_a_cause_has_what_it_allocates_in_other_benchmarks_too():
    base = _benchmarks(A=(300, (4, 640)), B=(300, (2, 320)))
    new = _benchmarks(A=(900, (8, 1280)), B=(700, (4, 640)))
    (cause,) = report_of(compared(base, new)).findings.causes
    assert re.search(r"In B: \S+ → \S+ ms/op, 320 → 640 B/op, 2 → 4 allocs", cause.text)


def test_what_the_caller_of_a_new_function_no_longer_allocates_is_said():
    """Its code has moved into New, which seems to cost more than it does."""
    base = Unit(REST | {path("F"): 300}, {path("F"): (6, 600)})
    new = Unit(
        REST | {path("New", "F"): 900, path("F"): 290},
        {path("New", "F"): (27, 2700)},
    )
    (cause, *_) = causes(base, new)[1].causes
    assert cause.title.startswith("p.New now takes")
    assert "p.F itself allocates 600 → 0 B/op, 6 → 0 allocs/op." in cause.text


def test_what_one_side_hardly_does_was_taken_over():
    """Runs differ by more, but samples of F's own work leave no doubt."""
    base = Unit(REST | {path("F"): 300}, uneven=0.9)
    new = Unit(REST | {path("New", "F"): 900, path("F"): 5}, uneven=0.9)
    (cause, *_) = causes(base, new)[1].causes
    assert cause.title.startswith("p.F uses 3.02× the CPU")


@pytest.mark.parametrize("several", [False, True])
def test_objects_of_all_functions_are_said_of_one_of_several_benchmarks(several):
    """Profiles miss F's tiny objects; a single benchmark has them in its headline."""

    def side(size, tiny):
        own = Unit(
            {path("F", bench="A"): 300, path("Rest", bench="A"): 300},
            {path("F", bench="A"): (4, size), path("Rest", bench="A"): (4, 400)},
            name="A",
            tiny=tiny,
        )
        return [own, Unit({path("Rest", bench="B"): 300}, name="B")][: 1 + several]

    found = report_of(compared(side(640, 60), side(320, 20))).findings
    (cause,) = found.causes
    assert ("In all: 68 → 28 allocs/op." in cause.text) is several


def test_what_another_benchmark_allocates_is_of_the_amount_that_is_said():
    """Flat, F allocates nothing in B; with its callees, which have a cause, it does."""
    known = Finding("place", "A: p.F", "", (), functions=("p.F",), direction="worse")
    known = known._replace(amount="1.0 → 2.0 ms/op cum", counted="8 → 16 B/op cum")
    base = Unit(REST | {path("F"): 100, path("G", "F"): 100})
    new = Unit(REST | {path("F"): 300, path("G", "F"): 300})
    cpu = Case(compared(base, new)).cpu
    own = known._replace(
        functions=(f"{PACKAGE}.F",),
        amount="1.0 → 3.0 ms/op flat incl. stdlib",
        counted="8 → 0 B/op",
    )
    assert not _measured_as(cpu, own, known).counted
    assert _measured_as(cpu, own._replace(amount="x cum"), known).counted
