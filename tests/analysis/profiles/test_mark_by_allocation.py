"""Background marking by who allocates: whole numbers that add up to it exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.profiles.dimensions import BACKGROUND_MARK
from pprofdiff.analysis.profiles.mark_by_allocation import apportion_mark
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.profiles.profile import ValueType
from tests.analysis.building import compared, given, profile

SPACE = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))
MARK = [
    "runtime.gcDrain",
    "runtime.gcDrainMarkWorkerDedicated",
    "runtime.gcBgMarkWorker",
]
ALLOCATORS = ("main.f", "main.g", "main.h")


def allocated(weights):
    """Return an allocs profile of bytes by function."""
    return profile(
        [((name,), (1, size)) for name, size in weights.items()],
        types=SPACE,
        period=None,
    )


def shared_out(marks, weights):
    """Return (background mark, its parts by function) of base and new."""
    cpu = compared(*(profile([(MARK, n), (["main.f"], 3)]) for n in marks))
    allocs = compared(*(allocated(w) for w in weights))
    blamed = apportion_mark(cpu, allocs)
    ids = [rules().categories.index(c) for c in BACKGROUND_MARK]
    sums = cpu.ledger.every("category")
    whole = [sum(side[ids].tolist()) for side in (sums.base, sums.new)]
    return whole, [
        dict(zip(blamed.functions, side.tolist(), strict=True))
        for side in (blamed.base, blamed.new)
    ]


AMOUNTS = st.dictionaries(
    st.sampled_from(ALLOCATORS), st.integers(0, 1 << 55), max_size=3
)


@given(st.tuples(*[st.integers(0, 10**6)] * 2), st.tuples(AMOUNTS, AMOUNTS))
def test_it_adds_up_exactly(marks, weights):
    for whole, parts, weight in zip(*shared_out(marks, weights), weights, strict=True):
        assert sum(parts.values()) == (whole if sum(weight.values()) else 0)
        for name, part in parts.items():
            exact = whole * weight.get(name, 0) / max(sum(weight.values()), 1)
            assert part == pytest.approx(exact, abs=1.0, rel=1e-12)
            assert part >= 0


def test_by_hand():
    whole, parts = shared_out((1, 2), ({"main.f": 1, "main.g": 2}, {"main.f": 5}))
    assert whole == [10_000_000, 20_000_000]
    assert parts == [
        {"main.f": 3_333_333, "main.g": 6_666_667},
        {"main.f": 20_000_000, "main.g": 0},
    ]


def test_negative_weights_count_as_none():
    _, parts = shared_out((1, 1), ({"main.f": -5, "main.g": 5}, {"main.f": -5}))
    assert parts == [{"main.g": 10_000_000}, {"main.g": 0}]


def test_without_both_kinds_there_is_no_model():
    cpu = compared(profile([(MARK, 1)]), profile([(MARK, 1)]))
    allocs = compared(allocated({"main.f": 1}), allocated({"main.f": 1}))
    assert apportion_mark(cpu, None) is None
    assert apportion_mark(None, allocs) is None
    assert apportion_mark(None, None) is None


def test_background_mark_is_the_marking_that_nobody_called():
    marks = {c for c in rules().categories if c.startswith("gc.mark.")}
    assert marks - set(BACKGROUND_MARK) == {"gc.mark.assist"}


def test_on_a_real_pair(load_capture, load_story):
    story = load_story("syncpool")
    cpu, allocs = (
        compared(*(load_capture(p / f"{k}.pb.gz") for p in (story.base, story.new)))
        for k in ("cpu", "allocs")
    )
    blamed = apportion_mark(cpu, allocs)
    ids = [rules().categories.index(c) for c in BACKGROUND_MARK]
    sums = cpu.ledger.every("category")
    for side, whole in (
        (blamed.base, sums.base),
        (blamed.new, sums.new),
    ):
        assert int(side.sum()) == int(whole[ids].sum()) > 0
        assert np.all(side >= 0)
