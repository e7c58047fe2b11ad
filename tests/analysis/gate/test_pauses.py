"""Whether longer pauses are chance: counted out, and on halves of real logs."""

from __future__ import annotations

from itertools import combinations
from math import comb
from types import SimpleNamespace

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.gate.pauses import PAUSE, PERCENTILES
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.gclogs.compare import compare_logs
from pprofdiff.analysis.judge.durations import (
    CeilingModel,
    Durations,
    ExceedanceModel,
    quantile,
)
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Capture
from tests.analysis.gclogs.cycles import run_of

CHANCE = 0.025
SIZES = st.integers(1, 8)


def may_be_equal(base, new, rank):
    """Return whether chance may have made the difference, None where nothing tells."""
    return ExceedanceModel(rank).pair(Durations(base), Durations(new)).noise


def may_be_below(new, rank, limit_ns):
    """Return whether chance may have made so many pauses longer than the limit."""
    return CeilingModel(rank, limit_ns).pair(Durations(new), Durations(new)).noise


def exceeding(base, new, rank):
    """Return the share of all orders of as many values in which new passes as often."""
    held = sorted(base)[max(-(-len(base) * rank // 1000) - 1, 0)]
    above, over = sum(b > held for b in base), sum(n > held for n in new)
    places = range(len(base) + len(new))
    orders = list(combinations(places, len(base)))
    hits = 0
    for order in orders:
        threshold = order[len(base) - 1 - above]
        hits += sum(p > threshold for p in set(places) - set(order)) >= over
    return hits / len(orders)


@hypothesis.settings(derandomize=True)
@hypothesis.given(
    base=st.lists(st.integers(0, 20), min_size=1, max_size=7),
    new=st.lists(st.integers(0, 40), min_size=1, max_size=7),
    rank=st.sampled_from(list(PERCENTILES.values())),
)
def test_the_chance_is_that_of_all_orders(base, new, rank):
    said = may_be_equal(np.array(base), np.array(new), rank)
    assert said == may_be_equal(np.array(new), np.array(base), rank) or (
        quantile(np.array(base), rank) == quantile(np.array(new), rank)
    )
    if quantile(np.array(base), rank) > quantile(np.array(new), rank):
        base, new = new, base
    most = exceeding(base, [max(base) + 1] * len(new), rank)
    if most > CHANCE:
        assert said is None
    else:
        assert said == (exceeding(base, new, rank) > CHANCE)


@hypothesis.settings(derandomize=True)
@hypothesis.given(
    new=st.lists(st.integers(0, 20), min_size=1, max_size=60),
    rank=st.sampled_from(list(PERCENTILES.values())),
    limit=st.integers(0, 20),
)
def test_a_ceiling_is_passed_by_more_than_its_share(new, rank, limit):
    over, count, share = sum(n > limit for n in new), len(new), 1 - rank / 1000
    chance = sum(
        comb(count, k) * share**k * (1 - share) ** (count - k)
        for k in range(over, count + 1)
    )
    # The longest pause is a fact: nothing may be longer.
    expected = rank < 1000 and chance > CHANCE
    assert may_be_below(np.array(new), rank, limit) == expected


@pytest.mark.slow
def test_large_logs_stay_within_the_floating_point():
    rng = np.random.default_rng(1)
    base, new = (rng.integers(1, 10**6, 400_000) for _ in range(2))
    for rank in PERCENTILES.values():
        assert may_be_equal(base, new, rank)
        assert rank == 1000 or not may_be_equal(base, new * 2, rank)


LOGS = ("syncpool/base", "health-check/new", "rss-search/base", "versions/go1.21")


@pytest.mark.parametrize("folder", LOGS)
def test_halves_of_one_log_hardly_differ(data_folder, folder):
    """A test at 2.5 % may say so of 2.5 % of random halves; of 200, 14 with p = 0.001."""
    path = data_folder / folder / "gctrace.log"
    run = max(parse(path.read_bytes(), folder).runs, key=lambda run: run.lines_seen)
    stops = np.stack(
        [
            run.cycles.sweep_termination_wall_us,
            run.cycles.mark_termination_wall_us,
        ]
    )
    rng = np.random.default_rng(1)
    false = dict.fromkeys(PERCENTILES, 0)
    for _ in range(200):
        order = rng.permutation(stops.shape[1])
        base, new = (stops[:, half].ravel() for half in np.array_split(order, 2))
        for name, rank in PERCENTILES.items():
            false[name] += may_be_equal(base, new, rank) is False
    print(folder, false)
    assert max(false.values()) < 14


def log_of(number, pause_us, count=200):
    """Return a log whose pauses all are as long."""
    row = {
        "sweep_termination_wall_us": pause_us,
        "mark_termination_wall_us": pause_us,
    }
    content = GCLog((run_of([row | {"start_ms": 10 * i} for i in range(count)]),))
    return Capture(f"{number}.log", "gctrace", content)


def measured(rule, base, new, count=200):
    """Return the figure of a rule on runs, each with pauses of so many us."""
    (asked,) = Gate.of([rule]).rules
    sides = [
        (label, [log_of(i, us, count) for i, us in enumerate(side)])
        for label, side in (("a", base), ("b", new))
    ]
    comparison = SimpleNamespace(gc=compare_logs(tuple(sides)), trace=None, pairs=0)
    (figure,) = PAUSE.measure(asked, SimpleNamespace(comparison=comparison))
    return figure


APART = [100, 200, 400]


@pytest.mark.parametrize(
    ("rule", "base", "new", "noise"),
    [
        # Runs of a side that differ fourfold hide that new is twice as long.
        ("pause:p99:+10%", APART, [200, 400, 800], None),
        ("pause:p99:+10%", APART, [2000, 4000, 8000], False),
        ("pause:p99:+900%", APART, [2000, 4000, 8000], None),
        ("pause:p99:+100us", APART, [2000, 4000, 8000], False),
        ("pause:p99:+10%", [2000, 4000, 8000], APART, False),
        ("pause:p99:+10%", [190, 200, 210], [300, 310, 320], False),
        # A ceiling is judged by new's runs; twice as long as allowed may be chance.
        ("pause:p99:1ms", APART, [1000, 2000, 4000], None),
        ("pause:p99:20us", APART, APART, False),
        ("pause:max:150us", APART, APART, None),
        # One run a side.
        ("pause:p99:+10%", [100], [3000], None),
        ("pause:p99:+10%", [100], [9000], False),
        ("pause:p99:1ms", [100], [9000], None),
    ],
)
def test_what_runs_differ_by_is_not_told_of_a_build(rule, base, new, noise):
    figure = measured(rule, base, new)
    assert figure.noise is noise
    assert bool(figure.unsure) == (noise is None)


def test_of_several_runs_it_is_the_geometric_mean():
    figure = measured("pause:p99:+10%", [100, 400], [100, 400])
    assert figure.base == figure.new == pytest.approx(200_000, rel=1e-12)
    assert figure.what == "p99 of 800 (in 2 runs) and 800 (in 2 runs) pauses"


def test_few_pauses_of_one_run_tell_nothing():
    figure = measured("pause:p99:+10%", [1], [10**6], count=1)
    assert figure.noise is None
    assert "too few pauses" in figure.unsure
