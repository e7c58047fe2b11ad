"""Calls that are inlined on one side only, against the loop one would write first."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.inlined import inlined_now
from pprofdiff.analysis.causes.places import Program, places, with_callers
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.model.side import Capture, Side
from tests.analysis.growing import findings
from tests.building import cpu

NAMES = [f"main.f{i}" for i in range(8)]


def finding_of(base, new):
    """Return the finding on two profiles of equal work, None where there is none."""
    settings = Settings(work=counted((1, 1)), pairing=False)
    return findings(cpu(base), cpu(new), settings=settings).get("inlining")


def called(times):
    """Return the milliseconds of each (caller, callee), inlined and called."""
    inlined, called = Counter(), Counter()
    for stack, ms in times.items():
        for outer, inner in pairwise(stack.split(";")):
            called[outer.split(">")[-1], inner.split(">")[0]] += ms
        for place in stack.split(";"):
            for caller, callee in pairwise(place.split(">")):
                inlined[caller, callee] += ms
    return inlined, called


def changed(base, new):
    """Return how many calls only new, and only base, has inlined, by samples of 10 ms."""
    sides = [called(base), called(new)]
    counts = [0, 0]
    for key in {key for side in sides for part in side for key in part}:
        whole = [inlined[key] + other[key] for inlined, other in sides]
        if min(whole) >= 100:
            parts = [s[0][key] / all_ for s, all_ in zip(sides, whole, strict=True)]
            counts[0] += parts[0] <= 1 - 0.9 and parts[1] >= 0.9
            counts[1] += parts[1] <= 1 - 0.9 and parts[0] >= 0.9
    return counts


def stacks(chance, often, at_once):
    """Return the same stacks, each call inlined with its own probability."""
    times = Counter()
    for names in at_once:
        text = names[0]
        for caller, callee in pairwise(names):
            text += (">" if chance.random() < often[caller, callee] else ";") + callee
        times[text] += 10 * chance.randint(1, 40)
    return times


@pytest.mark.parametrize("seed", range(12))
def test_calls_that_only_one_side_has_inlined_match_the_loop(seed):
    chance = random.Random(seed)
    at_once = [["main.main", *chance.choices(NAMES, k=4)] for _ in range(60)]
    pairs = {pair for names in at_once for pair in pairwise(names)}
    likely = {pair: chance.choice((0.0, 0.95, 1.0)) for pair in sorted(pairs)}
    turned = {
        pair: (1 - p if chance.random() < 0.5 else p) for pair, p in likely.items()
    }
    base, new = stacks(chance, likely, at_once), stacks(chance, turned, at_once)
    gained, lost = changed(base, new)
    assert max(gained, lost) >= 3
    words = "now" if gained >= lost else "no longer"
    assert f" are {words} inlined: " in finding_of(base, new).title


def test_calls_that_are_inlined_alike_are_not_reported():
    times = {"main.main;main.a>main.b": 300, "main.main;main.b>main.c": 300,
             "main.main;main.c>main.d": 300, "main.main;main.b": 100}  # fmt: skip
    assert finding_of(times, times) is None


ALONE = [
    ("main.f0>main.f1", "main.f0;main.f1", False),
    ("main.f0;main.f1", "main.f0>main.f1", True),
    ("main.f0;main.f1", "main.f0;main.f1", None),
    ("main.f0>main.f1", "main.f0>main.f1", None),
]


def compared(base, new):
    """Return CPU profiles of equal work, from milliseconds by stack."""
    sides = [
        Side(label, (Capture(f"{label}.pb.gz", "profile", cpu(times)),))
        for label, times in (("base", base), ("new", new))
    ]
    settings = Settings(work=counted((1, 1)), pairing=False)
    return Case(compare_sides(*sides, settings)).cpu


@pytest.mark.parametrize(("base", "new", "now"), ALONE)
def test_one_function_is_inlined_on_one_side(base, new, now):
    both = compared({base: 400}, {new: 400})
    assert inlined_now(both, both.names.index("main.f1")) is now


@pytest.mark.parametrize(
    ("call", "added"),
    [
        (";math/bits.Len", ["math/bits.Len"]),
        (">math/bits.Len", []),
        (">main.g", ["main.g"]),
    ],
)
def test_library_code_that_is_inlined_everywhere_is_that_of_its_caller(call, added):
    """Which instructions belong to it may change without a change of the code."""
    base = {"main.main;main.f": 4000}
    new = {"main.main;main.f": 2000, f"main.main;main.f{call}": 6000}
    both = compared(base, new)
    (place,) = places(both, Program(both))
    assert both.names[place.row] == "main.f"
    assert [both.names[row] for row in place.added] == added


@pytest.mark.parametrize(("call", "together"), [(">", True), (";", False)])
def test_what_is_inlined_into_a_function_and_changes_as_it_does_counts_with_it(
    call, together
):
    """The compiler decides whose an instruction is."""
    base = {"main.main;main.f0": 1000, f"main.main;main.f0{call}main.f1": 800,
            "main.main;main.f7": 4000}  # fmt: skip
    new = base | {
        "main.main;main.f0": 2200,
        f"main.main;main.f0{call}main.f1": 1900,
    }
    both = compared(base, new)
    program = Program(both)
    found = with_callers(both, program, places(both, program))
    rows = [both.names[one.row] for one in found]
    assert rows == (["main.f0"] if together else ["main.f0", "main.f1"])
    assert found[0].whole == together
