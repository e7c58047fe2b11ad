"""Medians, intervals and the U test: against go-moremath, by counting, and by law."""

import random
import subprocess
from itertools import combinations
from statistics import median as middle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_INTERVAL, SAMPLES_FOR_TEST
from pprofdiff.analysis.judge.samples import (
    geomean,
    mann_whitney,
    median,
    median_orders,
    summarize,
)
from tests.analysis.benchmarks.benchstat import moremath_program

# Beyond these sizes go-moremath approximates, without and with ties.
EXACT, EXACT_TIED = 50, 25


@pytest.fixture(scope="module")
def moremath():
    """Return a function: pairs of samples in, the words that Go says of each out."""
    program = moremath_program()

    def ask(pairs):
        lines = "".join(
            "|".join(" ".join(map(repr, sample)) for sample in pair) + "\n"
            for pair in pairs
        )
        done = subprocess.run(
            [program], input=lines, capture_output=True, text=True, check=True
        )
        return [line.split() for line in done.stdout.splitlines()]

    return ask


def tied(first, second):
    return len({*first, *second}) < len(first) + len(second)


def lopsided(first, second):
    """Return whether go-moremath looks up the wrong tail: see `mann_whitney`."""
    exact = max(len(first), len(second)) <= EXACT_TIED
    return len(first) != len(second) and tied(first, second) and exact


@pytest.mark.go
def test_medians_and_their_intervals_are_gos_for_every_size(moremath):
    rng = random.Random(1)
    pairs = [([rng.expovariate(1e-6) for _ in range(n)], [1.0]) for n in range(1, 500)]
    for (values, _), said in zip(pairs, moremath(pairs), strict=True):
        assert median(values) == float(said[0])
        assert median_orders(len(values)) == (int(said[1]), int(said[2]))


@pytest.mark.go
def test_p_is_gos(moremath):
    rng = random.Random(2)
    sizes = (1, 2, 3, 4, 5, 6, 8, 10, 20, 24, 25, 26, 50, 51, 60)
    pairs = []
    for _ in range(3000):
        n = rng.choice(sizes)
        m = rng.choice((n, n, rng.choice(sizes)))
        kinds = rng.choice((2, 3, 5, 30, 10**9))
        shift = rng.choice((0, 0, kinds // 5, kinds // 2))
        pair = [[float(rng.randrange(kinds)) for _ in range(k)] for k in (n, m)]
        pair[1] = [value + shift for value in pair[1]]
        if not lopsided(*pair):
            pairs.append(pair)
    kinds_seen = set()
    for (first, second), said in zip(pairs, moremath(pairs), strict=True):
        p = mann_whitney(first, second)
        if said[6] == "equal":
            assert p is None
            kinds_seen.add("equal")
            continue
        limit = EXACT_TIED if tied(first, second) else EXACT
        exact = max(len(first), len(second)) <= limit
        kinds_seen.add((tied(first, second), exact))
        if exact and (not tied(first, second) or len(first) + len(second) <= 20):
            assert p == min(float(said[6]), 1.0)
        else:
            # Go takes large binomials from a logarithm, and small p from 1 - (1 - p).
            assert p == pytest.approx(float(said[6]), rel=1e-12, abs=1e-15)
    assert kinds_seen == {
        "equal",
        *((t, e) for t in (True, False) for e in (True, False)),
    }


def counted(first, second):
    """Return the two-sided p by trying every way to draw the first sample."""

    def twice_u(chosen, rest):
        return sum(2 * (x > y) + (x == y) for x in chosen for y in rest)

    values = [*first, *second]
    places = range(len(values))
    seen = [
        twice_u(
            [values[i] for i in chosen],
            [values[i] for i in places if i not in chosen],
        )
        for chosen in combinations(places, len(first))
    ]
    own = twice_u(first, second)
    tails = sum(u <= own for u in seen), sum(u >= own for u in seen)
    return min(1.0, 2 * (min(tails) / len(seen)))


small = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=6)


@given(small, small)
def test_small_p_is_what_counting_gives(first, second):
    p = mann_whitney(first, second)
    if len({*first, *second}) == 1:
        assert p is None
    else:
        assert p == pytest.approx(counted(first, second), rel=1e-12)


figures = st.floats(-1e9, 1e9) | st.integers(0, 9).map(float)
samples = st.lists(figures, min_size=1, max_size=70)


@given(samples, samples, st.randoms(use_true_random=False))
def test_p_is_a_probability_of_ranks_alone(first, second, rng):
    p = mann_whitney(first, second)
    assert p is None or 0 < p <= 1
    assert p == (None if p is None else pytest.approx(mann_whitney(second, first)))
    rank = {value: i for i, value in enumerate(sorted({*first, *second}))}
    shuffled = rng.sample(first, len(first))
    assert p == mann_whitney([rank[v] for v in shuffled], [rank[v] for v in second])


@given(samples)
def test_the_interval_holds_the_median(values):
    found = summarize(values)
    assert found.n == len(values)
    assert found.median == pytest.approx(middle(values), rel=1e-12, abs=1e-300)
    assert found.low is None or found.low <= found.median
    assert found.high is None or found.high >= found.median
    bounded = found.low is not None and found.high is not None
    assert bounded == (len(values) >= SAMPLES_FOR_INTERVAL)
    assert found == summarize(values[::-1])


@given(samples)
def test_the_spread_is_missing_where_signs_differ(values):
    found = summarize(values)
    if found.low is None or found.high is None:
        assert found.spread is None
    elif found.low > 0 or found.high < 0:
        assert found.spread >= 0
    elif found.low < 0 or found.high > 0:
        assert found.spread is None
    else:
        assert found.spread == 0


@pytest.mark.parametrize("n", range(1, 8))
def test_few_samples_can_never_differ(n):
    p = mann_whitney(
        [1.0 + i / 100 for i in range(n)], [2.0 + i / 100 for i in range(n)]
    )
    assert (p <= 0.05) == (n >= SAMPLES_FOR_TEST)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=50))
def test_the_geometric_mean_is_within_its_values(values):
    mean = geomean(values)
    assert min(values) * (1 - 1e-12) <= mean <= max(values) * (1 + 1e-12)
    assert geomean([1 / value for value in values]) == pytest.approx(1 / mean)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, 0.0, 2.0], [-1.0, -2.0]])
def test_there_is_no_geometric_mean_of_what_is_not_above_zero(values):
    assert geomean(values) is None
