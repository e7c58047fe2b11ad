"""Whole sides: profiles paired by kind, runs of one kind added up."""

import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.profiles.side import halves
from pprofdiff.analysis.settings import Settings
from pprofdiff.errors import UsageError
from pprofdiff.model.profiles.merge import subtract
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture, Side

from .building import compared, given, profile, profiles


def kind(*types, stack=("main.f",), **how):
    """Return a profile of these sample types, in bytes or whatever."""
    return profile(
        [(stack, (7,) * len(types))],
        types=tuple(ValueType(t, "count") for t in types),
        period=None,
        **how,
    )


CPU = profile([(["main.f"], 5)])
HEAP = kind("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
BLOCK = kind("contentions", "delay", stack=("runtime.selectgo", "main.f"))
MUTEX = kind("contentions", "delay", stack=("sync.(*Mutex).Unlock", "main.f"))
GOROUTINE = kind("goroutine")


def evidence(label, *profiles_):
    """Return a side of these profiles."""
    return Side(
        label,
        tuple(
            Capture(f"{label}{i}.pb.gz", "profile", p) for i, p in enumerate(profiles_)
        ),
    )


def test_kinds_are_paired_whatever_their_order():
    comparison = compare_sides(
        evidence("a", GOROUTINE, MUTEX, CPU, HEAP, BLOCK),
        evidence("b", BLOCK, HEAP, CPU, MUTEX, GOROUTINE),
    )
    shown = [(d.name, d.sample_type.type) for d in comparison.profiles]
    assert shown == [
        ("cpu", "cpu"), ("heap", "inuse_space"), ("heap", "inuse_objects"),
        ("block", "delay"), ("mutex", "delay"), ("goroutine", "goroutine"),
    ]  # fmt: skip
    assert comparison.unpaired == ()


def test_a_kind_of_one_side_only_is_said_and_not_fatal():
    comparison = compare_sides(evidence("a", CPU, MUTEX), evidence("b", CPU, HEAP))
    assert [d.name for d in comparison.profiles] == ["cpu"]
    assert set(comparison.unpaired) == {("mutex", "a"), ("heap", "b")}


def test_nothing_in_common():
    with pytest.raises(
        UsageError, match=r"a has mutex.*b has heap|b has heap.*a has mutex"
    ):
        compare_sides(evidence("a", MUTEX, MUTEX), evidence("b", HEAP))


def test_runs_of_one_kind_add_up_and_say_so():
    comparison = compare_sides(evidence("a", CPU, CPU), evidence("b", CPU))
    (diff,) = comparison.profiles
    assert diff.totals == (100_000_000, 50_000_000)
    assert diff.normalization.base_factor == pytest.approx(
        diff.normalization.new_factor / 2
    )
    assert any(
        c.id == "merged-input" and c.text.startswith("a is 2 profiles")
        for c in diff.warnings
    )


@pytest.mark.parametrize(
    ("base", "new", "chosen", "unpaired"),
    [
        ((HEAP,), (HEAP,), ("heap", "alloc_space"), ()),
        ((CPU, HEAP), (CPU, HEAP), ("heap", "alloc_space"), ()),
        ((CPU, MUTEX, HEAP), (CPU, HEAP), ("cpu", "samples"), (("mutex", "a"),)),
    ],
    ids=["alone", "of one kind", "a kind of one side"],
)
def test_a_chosen_sample_type_leaves_all_others_out(base, new, chosen, unpaired):
    settings = Settings(sample_type=chosen[1])
    comparison = compare_sides(evidence("a", *base), evidence("b", *new), settings)
    assert [(d.name, d.sample_type.type) for d in comparison.profiles] == [chosen]
    assert comparison.unpaired == unpaired


def test_a_sample_type_that_no_kind_has():
    sides = evidence("a", CPU, HEAP), evidence("b", CPU, HEAP)
    with pytest.raises(UsageError, match=r"speed.*samples, cpu"):
        compare_sides(*sides, Settings(sample_type="speed"))


@pytest.mark.slow
@given(profiles(), profiles())
def test_the_halves_of_a_written_diff_are_its_sides(base, new):
    written = subtract(new, base, label=True)
    back = compared(*halves(written))
    there = compared(base, new)
    assert back.totals == there.totals
    back, there = (one.ledger.every("category") for one in (back, there))
    assert back.base.tolist() == there.base.tolist()
    assert back.new.tolist() == there.new.tolist()
