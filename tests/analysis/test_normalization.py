"""In what two sides are compared, why, and what cannot be."""

import math
from typing import get_args

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis import normalization
from pprofdiff.analysis.normalization import Counts, choose
from pprofdiff.analysis.work import Work, counted, rated
from pprofdiff.errors import UsageError
from pprofdiff.model.profiles.profile import ValueType

from .building import compared, given, profile

BOTH = (10 * 10**9, 20 * 10**9)
SHARES = (1.0, 100 / 300)
KINDS = get_args(Counts)


def chosen(**how):
    """Choose with the usual totals, lengths and wishes, but for these."""
    usual = {
        "totals": (100, 300),
        "durations_ns": BOTH,
        "work": None,
        "share": False,
        "counts": "cost",
    }
    if isinstance(how.get("work"), tuple) and not isinstance(how["work"], Work):
        how = how | {"work": counted(how["work"])}
    return choose(**usual | how)


def paced(rates=(4.0, 8.0), *, ages=(None, None)):
    """Return work that is known as operations a second."""
    return rated(rates)._replace(ages=ages, counted=ages)


UNTIMED = (None, None)


@pytest.mark.parametrize(
    ("how", "mode", "factors", "reason"),
    [
        # Costs whose work nobody knows are shares, however long they were counted.
        ({}, "composition", SHARES, "the work is not known: --work BASE:NEW"),
        ({"durations_ns": UNTIMED}, "composition", SHARES, "the work is not known"),
        # What is no cost is a rate, where both sides say how long.
        ({"counts": "other"}, "per_second", (0.1, 0.05), "both profiles have a duration"),
        ({"counts": "other", "durations_ns": (None, 5)}, "absolute", (1, 1), "--work BASE:NEW"),
        ({"counts": "other", "durations_ns": (5, None)}, "absolute", (1, 1), "--work BASE:NEW"),
        ({"counts": "other", "durations_ns": (0, 5)}, "absolute", (1, 1), "--work BASE:NEW"),
        # A share of nothing is none.
        ({"totals": (0, 300)}, "per_second", (0.1, 0.05), "both profiles have a duration"),
        ({"totals": (100, 0)}, "per_second", (0.1, 0.05), "both profiles have a duration"),
        ({"totals": (-1, 300)}, "per_second", (0.1, 0.05), "both profiles have a duration"),
        ({"work": (4, 8)}, "per_work", (0.25, 0.125), "4 and 8 operations"),
        ({"work": (4, 8), "durations_ns": UNTIMED}, "per_work", (0.25, 0.125), "4 and 8"),
        ({"work": (4, 8), "counts": "other"}, "per_work", (0.25, 0.125), "4 and 8"),
        ({"work": (12345678, 0.5)}, "per_work", (1 / 12345678, 2), "12,345,678 and 0.5"),
        # Operations a second times the seconds of the profile's own window.
        ({"work": paced()}, "per_work", (1 / 40, 1 / 160), "4 and 8 operations per second"),
        ({"work": paced(), "durations_ns": UNTIMED}, "composition", SHARES, "since the process began"),
        ({"work": paced(ages=(5, None)), "durations_ns": UNTIMED}, "composition", SHARES, "since the process began"),
        ({"work": paced(ages=(5, 2)), "durations_ns": UNTIMED}, "per_work", (1 / 20, 1 / 16), "4 and 8"),
        # What allocated to start waited for no lock.
        (
            {
                "work": paced((20, 2), ages=(5, 5))._replace(throughout=False),
                "durations_ns": UNTIMED, "totals": (300, 300), "counts": "other",
            },
            "per_work", (1 / 100, 1 / 10), "20 and 2",
        ),
        ({"work": paced(), "durations_ns": UNTIMED, "counts": "other"}, "absolute", (1, 1), "--work BASE:NEW"),
        ({"share": True}, "share", (1, 1 / 3), "-normalize"),
        ({"share": True, "counts": "moment"}, "share", (1, 1 / 3), "-normalize"),
        ({"share": True, "totals": (100, 0)}, "share", (1, 0), "-normalize"),
        ({"counts": "moment"}, "absolute", (1, 1), "snapshot"),
        ({"counts": "moment", "work": (4, 8)}, "absolute", (1, 1), "snapshot"),
    ],
)  # fmt: skip
def test_the_mode_and_why(how, mode, factors, reason):
    by = chosen(**how)
    assert (by.mode, by.base_factor, by.new_factor) == (mode, *factors)
    assert reason in by.reason


@pytest.mark.parametrize("counts", KINDS)
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
def test_work_that_nobody_did(work, counts):
    with pytest.raises(UsageError, match="--work"):
        chosen(work=work, counts=counts)


@pytest.mark.parametrize("work", [(1e-9, 1e18), (1e18, 1e-9)])
def test_the_least_and_the_most_work(work):
    by = chosen(work=work)
    assert (by.base_factor, by.new_factor) == (1 / work[0], 1 / work[1])
    assert chosen(work=work, counts="moment").mode == "absolute"


@pytest.mark.parametrize("counts", KINDS)
def test_one_wish_at_a_time(counts):
    with pytest.raises(UsageError, match="give one"):
        chosen(work=(1, 2), share=True, counts=counts)


@given(
    st.tuples(*[st.integers(1, 1 << 62)] * 2),
    st.tuples(*[st.one_of(st.none(), st.integers(0, 1 << 62))] * 2),
    st.sampled_from(KINDS),
)
def test_factors_are_finite_and_bring_like_to_like(totals, lengths, counts):
    for how in ({}, {"share": True}, {"work": (3.0, 4.0)}):
        by = chosen(totals=totals, durations_ns=lengths, counts=counts, **how)
        assert all(math.isfinite(f) and f >= 0 for f in (by.base_factor, by.new_factor))
    share = chosen(totals=totals, share=True)
    assert totals[1] * share.new_factor == pytest.approx(
        totals[0] * share.base_factor, rel=1e-12
    )
    composed = chosen(totals=totals)
    assert composed.scaled(*totals) == pytest.approx((100, 100), rel=1e-12)
    rate = chosen(durations_ns=(7 * 10**9, 7 * 10**9), counts="other")
    assert rate.base_factor == rate.new_factor


def test_what_waited_a_second_is_the_same_however_long_it_was_watched():
    types = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))
    base, new = (
        profile([(["main.f"], (1, value))], types=types, duration_ns=length)
        for value, length in ((6 * 10**9, 10**10), (12 * 10**9, 2 * 10**10))
    )
    table = compared(base, new).table()
    assert table.scaled("cum")[0].tolist() == pytest.approx([0.6e9])
    assert table.scaled_delta("cum").tolist() == pytest.approx([0.0])


def test_all_of_a_program_doing_more_changes_no_share():
    """What the machine gave, and what was asked for, is not what anything costs."""
    rows = [("main.f", 300), ("main.g", 100)]
    base, new = (
        profile([([name], count * times) for name, count in rows]) for times in (1, 7)
    )
    diff = compared(base, new)
    assert diff.normalization.mode == "composition"
    table = diff.table()
    flat = dict(zip(table.names, table.scaled("flat")[1].tolist(), strict=True))
    assert flat == pytest.approx({"main.f": 75.0, "main.g": 25.0})
    assert table.scaled_delta("flat").tolist() == [0, 0]


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


@pytest.mark.parametrize(
    ("totals", "mode"),
    [
        # 10 and 20 operations of 6 ns: the clocks differ, the set-up is small.
        ((110, 140), "per_work"),
        # Base spends more than half of its samples outside the operations.
        ((130, 140), "composition"),
        ((60, 250), "composition"),
    ],
)
def test_profiles_of_set_up_are_compared_as_shares(totals, mode):
    work = counted((10, 20))._replace(holds=(6.0, 6.0))
    found = normalization.counted(totals, (10, 20), work, exact=False)
    assert found.mode == mode
    # Without what benchmarks count, and for exact values, the profiles' operations hold.
    assert normalization.counted(totals, (10, 20), None, exact=False).mode == "per_work"
    assert normalization.counted(totals, (10, 20), work, exact=True).mode == "per_work"


def test_ops_so_cheap_that_most_of_a_process_is_its_start_are_per_op():
    """That is little next to an op of the other side: parts add up to what an op costs."""
    work = counted((10, 10))._replace(holds=(100.0, 4.0))
    found = normalization.counted((1000, 130), (10, 10), work, exact=False)
    assert found.mode == "per_work"
    assert found.scaled(1000, 130) == pytest.approx((100, 4))
    # Few samples are more than ops cost by chance.
    few = normalization.counted(
        (1000, 130), (10, 10), work, exact=False, few=(False, True)
    )
    assert few.scaled(1000, 130) == pytest.approx((100, 4))
    more = normalization.counted((1000, 190), (10, 10), work, exact=False)
    assert more.mode == "composition"


def test_what_allocates_next_to_nothing_has_the_operations_done():
    """Set-up is most of the 300 bytes of new, but little next to an op of base."""
    work = counted((10, 20))._replace(holds=(1000.0, 0.0))
    chosen = choose(
        totals=(10_100, 300), durations_ns=(None, None), work=work, share=False,
        counts="cost",
    )  # fmt: skip
    assert chosen.mode == "per_work"
    assert chosen.scaled(10_100, 300) == pytest.approx((1000, 15))
    assert choose(
        totals=(10_100, 30_000), durations_ns=(None, None), work=work, share=False,
        counts="cost",
    ).mode == "composition"  # fmt: skip
