"""What is held at two instants of one build, by simulation of the runtime's sampling."""

import numpy as np
import pytest

from pprofdiff.analysis.judge.counts import held_moved, held_variance

RATE = 512 * 1024
PAIRS = 2000


def snapshots(random, flying, size):
    """Return (objects, space) of so many snapshots, as the runtime writes them."""
    chance = -np.expm1(-size / RATE)
    seen = random.binomial(random.poisson(flying, PAIRS), chance)
    objects = (seen / chance).astype(np.int64)
    return objects, (seen * size / chance).astype(np.int64)


def rate_of_changes(base, new):
    """Return how often two snapshots differ by more than chance."""
    sides = [held_variance(*side, RATE) for side in (base, new)]
    deltas = new[1] - base[1]
    both = zip(deltas.tolist(), (sides[0] + sides[1]).tolist(), strict=True)
    return sum(delta != 0 and held_moved(delta, variance) for delta, variance in both)


@pytest.mark.parametrize("size", [64, 4096, RATE, 12 << 20])
@pytest.mark.parametrize("flying", [0.5, 3, 40, 5000])
def test_instants_of_one_build_hardly_differ(size, flying):
    random = np.random.default_rng(1)
    base, new = snapshots(random, flying, size), snapshots(random, flying, size)
    # Three standard deviations, of a variance a quarter above Poisson's: 1 in 1000.
    assert rate_of_changes(base, new) <= PAIRS * 0.005


@pytest.mark.parametrize(("size", "flying"), [(64, 2e6), (4096, 40_000), (RATE, 100)])
def test_three_times_as_many_objects_are_reported(size, flying):
    random = np.random.default_rng(2)
    base, new = snapshots(random, flying, size), snapshots(random, 3 * flying, size)
    assert rate_of_changes(base, new) >= PAIRS * 0.95


def test_whatever_a_profile_holds_gives_a_number():
    odd = np.array([0, 1, -1, 5, 2**62, -(2**62)], np.int64)
    variance = held_variance(odd, odd[::-1], RATE)
    assert np.isfinite(variance).all()
    assert (variance >= 0).all()
