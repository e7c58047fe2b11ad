"""Hosts of one build are not distinguished; a function that costs more is, by its name."""

from __future__ import annotations

import random

import numpy as np
import pytest
from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.judge.run_spread import RunCounts, spread_of
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.model.profiles.profile import Labels
from pprofdiff.model.side import Capture, Fleet, HostSums, Side
from tests.examples import daily
from tests.fleets import making


def hosts(numbers, **how):
    """Return one profile of each host."""
    return [
        replace(next(making.profiles_of((3, n), **how)), labels=Labels.none())
        for n in numbers
    ]


def side(label, profiles):
    names = [f"h{n}" for n in range(len(profiles))]
    fleet = Fleet("made", {(name, "cpu"): HostSums(1, 1, 1) for name in names}, {})
    captures = (
        Capture(name, "profile", profile, run, run_known=True)
        for run, (name, profile) in enumerate(zip(names, profiles, strict=True))
    )
    return Side(label, tuple(captures), fleet)


def marks(base, new):
    """Return (flat, cum, groups) of what is beyond noise, and the verdict."""
    comparison = compare_sides(side("base", base), side("new", new))
    (diff,) = comparison.profiles
    rows = diff.table("functions")
    got = tuple(
        {rows.names[i] for i in np.flatnonzero(~rows.judge(column).noise)}
        for column in ("flat", "cum")
    )
    groups = {group.label for group in judged_groups(diff) if not group.noise}
    return *got, groups, outcome(comparison).verdict


# 20 splits with each nature: a share of false discoveries of 5 % is one alarm in 20
# comparisons where nothing changed, so more than that many rows are a defect.
@pytest.mark.whole
@pytest.mark.parametrize(
    "nature",
    [
        pytest.param(making.Nature(), marks=[pytest.mark.slow, pytest.mark.whole]),
        pytest.param(making.Nature(1.0, 0.3, 0.3), marks=pytest.mark.slow),
    ],
    ids=["unlike", "very-unlike"],
)
def test_unlike_hosts_of_one_build_are_not_distinguished(nature):
    pool = hosts(range(40), nature=nature)
    alarms = []
    for split in range(20):
        order = random.Random(split).sample(range(40), 40)
        base, new = ([pool[i] for i in part] for part in (order[:20], order[20:]))
        flat, cum, groups, verdict = marks(base, new)
        assert verdict == "unknown"
        if flat or cum or groups:
            alarms.append((split, flat, cum, groups))
    assert len(alarms) <= 1, alarms


def strangers(label, profiles, first):
    """Return a side whose hosts are of no other side: their numbers are from `first`."""
    own = side(label, profiles)
    hosts = {(f"x{first}-{n}", k): s for (n, k), s in own.fleet.hosts.items()}
    captures = (replace(one, run=first + one.run) for one in own.captures)
    return Side(label, tuple(captures), replace(own.fleet, hosts=hosts))


# A canary: what a row varies by is not reported by the few samples of it. Few hosts: half
# of their rows' variances are far below what the rows vary by.
@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize(
    ("many", "few"),
    # As few hosts on the other side, and more of them, run with --whole.
    daily(
        [(12, 1), (2, 2), (3, 3), (40, 3), (3, 40), (5, 5)], [(12, 1), (2, 2), (3, 3)]
    ),
)
def test_few_hosts_do_not_alarm_more_often(many, few):
    pool = hosts(range(60))
    alarms = []
    for split in range(20):
        order = random.Random(split).sample(range(60), many + few)
        base, new = ([pool[i] for i in part] for part in (order[:many], order[many:]))
        sides = strangers("base", base, 100), strangers("new", new, 200)
        comparison = compare_sides(*sides)
        assert not comparison.same_hosts
        rows = comparison.profiles[0].table("functions")
        alarms += [
            (split, rows.names[i])
            for column in ("flat", "cum")
            for i in np.flatnonzero(~rows.judge(column).noise)
        ]
    assert len({split for split, _ in alarms}) <= 1, alarms


@pytest.mark.slow
def test_half_a_percent_in_one_function_is_reported_at_100_hosts_a_side():
    base = hosts(range(100))
    new = hosts(range(100, 200), planted=0.005)
    flat, _, _, verdict = marks(base, new)
    assert flat == {making.PLANTED}
    # Shares show which function costs more, not what an operation costs.
    assert verdict == "unknown"


def in_its_hour(profile, rng):
    """Return a profile of the same host, 5 % more or less in each function."""
    frames = profile.frames()
    leaf = profile.locations.line_function[frames.line][frames.offsets[:-1]]
    factors = np.exp(0.05 * rng.standard_normal(leaf.max() + 1))[leaf]
    counts = rng.poisson(profile.values[:, 0] * factors)
    return profile.with_values(np.stack((counts, counts * making.PERIOD), axis=1))


def two_hours(split, planted=0.0):
    """Return base's and new's profiles of the same 16 hosts."""
    rng = np.random.default_rng((7, split))
    return [
        [
            replace(in_its_hour(list(profiles)[hour], rng), labels=Labels.none())
            for profiles in (
                making.profiles_of((split, n), count=2, samples=8000, planted=more)
                for n in range(16)
            )
        ]
        for hour, more in enumerate((0.0, planted))
    ]


@pytest.mark.whole
@pytest.mark.slow
def test_the_same_hosts_alarm_no_more_often():
    alarms = []
    for split in range(20):
        flat, cum, groups, verdict = marks(*two_hours(split))
        assert verdict == "unknown"
        if flat or cum or groups:
            alarms.append((split, flat, cum, groups))
    assert len(alarms) <= 1, alarms


@pytest.mark.slow
def test_the_same_hosts_show_what_others_do_not():
    base, new = two_hours(3, planted=0.005)
    here, there = side("base", base), (side("new", new), strangers("new", new, 100))
    reach = []
    for other, same in zip(there, (16, 0), strict=True):
        comparison = compare_sides(here, other)
        assert comparison.same_hosts == same
        rows = comparison.profiles[0].table("functions")
        row = rows.names.index(making.PLANTED)
        judged = rows.judge("flat")
        assert judged.noise[row] == (not same)
        reach.append(judged.high[row] - judged.low[row])
    # Of 160 samples a host whose variance is 1.9 times Poisson's, hosts that differ by
    # 0.15 and hours by 0.05: √((1.9/160 + 0.05²) / (1.9/160 + 0.05² + 0.15²)) = 0.62.
    assert 0.45 < reach[0] / reach[1] < 0.8


def test_hosts_are_paired_where_half_of_each_side_are_of_both():
    pool = hosts(range(12))
    base = side("base", pool[:6])
    few = Side("new", tuple(replace(c, run=c.run + 4) for c in base.captures), Fleet(
        "made", {(f"h{n + 4}", "cpu"): HostSums(1, 1, 1) for n in range(6)}, {}
    ))  # fmt: skip
    assert compare_sides(base, few).same_hosts == 0
    assert compare_sides(base, base).same_hosts == 6


def test_a_long_run_counts_for_what_it_moves_the_sum():
    # Shares vary by 20 % from run to run; lengths of runs, 1 to 40 times.
    rng = np.random.default_rng(5)
    total = np.repeat([1e4, 4e5], [30, 10])
    true, shown = [], []
    for _ in range(300):
        shares = 0.1 * np.exp(0.2 * rng.standard_normal((30, len(total))))
        counts = np.vstack([shares * total, (1 - shares.sum(axis=0)) * total])
        side = RunCounts(counts, np.ones(len(total)))
        spread = spread_of([side, side], totals=False)
        sums = counts.sum(axis=1)[:30]
        # As `CountModel` has it: the variance of a row's sum beyond counting.
        shown.append(np.sqrt(spread.shared * sums**2 / len(total)).mean())
        true.append(sums / total.sum())
    deviation = np.std(true, axis=0).mean() * total.sum()
    # The median over 30 rows of a squared deviation is lower than its mean.
    assert 0.75 < np.mean(shown) / deviation < 1.1
