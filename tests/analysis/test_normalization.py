"""In what two sides are compared, why, and what cannot be."""

from __future__ import annotations

import math

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.normalization import choose
from pprofdiff.analysis.work import counted
from pprofdiff.errors import UsageError
from pprofdiff.model.profiles.profile import ValueType

from .building import compared, given, profile

BOTH = (10 * 10**9, 20 * 10**9)


def chosen(**how):
    """Choose with the usual totals, lengths and wishes, but for these."""
    usual = {
        "totals": (100, 300),
        "durations_ns": BOTH,
        "work": None,
        "share": False,
        "snapshot": False,
    }
    if how.get("work"):
        how = how | {"work": counted(how["work"])}
    return choose(**usual | how)


@pytest.mark.parametrize(
    ("how", "mode", "factors", "reason"),
    [
        ({}, "per_second", (0.1, 0.05), "both profiles have a duration"),
        ({"durations_ns": (None, 5)}, "absolute", (1, 1), "--work BASE:NEW"),
        ({"durations_ns": (5, None)}, "absolute", (1, 1), "--work BASE:NEW"),
        ({"durations_ns": (0, 5)}, "absolute", (1, 1), "--work BASE:NEW"),
        ({"work": (4, 8)}, "per_work", (0.25, 0.125), "4 and 8 operations"),
        ({"work": (4, 8), "durations_ns": (None, None)}, "per_work", (0.25, 0.125), "4 and 8"),
        ({"work": (12345678, 0.5)}, "per_work", (1 / 12345678, 2), "12,345,678 and 0.5"),
        ({"share": True}, "share", (1, 1 / 3), "-normalize"),
        ({"share": True, "snapshot": True}, "share", (1, 1 / 3), "-normalize"),
        ({"share": True, "totals": (100, 0)}, "share", (1, 0), "-normalize"),
        ({"snapshot": True}, "absolute", (1, 1), "snapshot"),
        ({"snapshot": True, "work": (4, 8)}, "absolute", (1, 1), "snapshot"),
    ],
)  # fmt: skip
def test_the_mode_and_why(how, mode, factors, reason):
    by = chosen(**how)
    assert (by.mode, by.base_factor, by.new_factor) == (mode, *factors)
    assert reason in by.reason


@pytest.mark.parametrize("snapshot", [True, False])
@pytest.mark.parametrize(
    "work",
    [
        (0, 1),
        (1, 0),
        (-1, 1),
        (1, -3.5),
        (math.nan, 1),
        (1, math.nan),
        (math.inf, 1),
        (1, math.inf),
        (0.99e-9, 1),
        (1, 0.99e-9),
        (1.01e18, 1),
        (1, 1.01e18),
    ],
)
def test_work_that_nobody_did(work, snapshot):
    with pytest.raises(UsageError, match="--work"):
        chosen(work=work, snapshot=snapshot)


@pytest.mark.parametrize("work", [(1e-9, 1e18), (1e18, 1e-9)])
def test_the_least_and_the_most_work(work):
    by = chosen(work=work)
    assert (by.base_factor, by.new_factor) == (1 / work[0], 1 / work[1])
    assert chosen(work=work, snapshot=True).mode == "absolute"


@pytest.mark.parametrize("snapshot", [True, False])
def test_one_wish_at_a_time(snapshot):
    with pytest.raises(UsageError, match="give one"):
        chosen(work=(1, 2), share=True, snapshot=snapshot)


@given(
    st.tuples(*[st.integers(1, 1 << 62)] * 2),
    st.tuples(*[st.one_of(st.none(), st.integers(0, 1 << 62))] * 2),
)
def test_factors_are_finite_and_bring_like_to_like(totals, lengths):
    for how in ({}, {"share": True}, {"work": (3.0, 4.0)}):
        by = chosen(totals=totals, durations_ns=lengths, **how)
        assert all(math.isfinite(f) and f >= 0 for f in (by.base_factor, by.new_factor))
    share = chosen(totals=totals, share=True)
    assert totals[1] * share.new_factor == pytest.approx(
        totals[0] * share.base_factor, rel=1e-12
    )
    rate = chosen(durations_ns=(7 * 10**9, 7 * 10**9))
    assert rate.base_factor == rate.new_factor


def test_per_second_is_cores():
    """A profile of 600 samples of 10 ms in 10 s is 0.6 cores, whatever its length."""
    base, new = (
        profile([(["main.f"], 600)], duration_ns=10**10),
        profile([(["main.f"], 1200)], duration_ns=2 * 10**10),
    )
    table = compared(base, new).table()
    assert table.scaled("cum")[0].tolist() == pytest.approx([0.6e9])
    assert table.scaled_delta("cum").tolist() == pytest.approx([0.0])


def test_a_share_hides_what_both_sides_gained():
    base = profile([(["main.f"], 300), (["main.g"], 100)])
    new = profile([(["main.f"], 600), (["main.g"], 200)])
    assert compared(base, new, normalize=True).table().scaled_delta(
        "flat"
    ).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("inuse_space", "absolute"),
        ("goroutine", "absolute"),
        ("alloc_space", "per_work"),
        ("delay", "per_work"),
    ],
)
def test_live_memory_is_no_rate(kind, mode):
    one = profile(
        [(["main.f"], (5,))], types=(ValueType(kind, "bytes"),), duration_ns=10**9
    )
    assert compared(one, one, work=(2, 4)).normalization.mode == mode
