"""Searches of drawn histories: how often they are right, and how much they build."""

from math import ceil, log2

import numpy as np
import pytest

from pprofdiff.analysis.bisection.search import Search, most_builds
from pprofdiff.analysis.judge.totals import ratio_of_sums
from tests.analysis.bisection.world import BUSY, QUIET, line, merges, searched

SEEDS, SEEDS_WHOLE = 50, 100


@pytest.fixture
def seeds(request):
    """Return the seeds of histories."""
    return range(SEEDS_WHOLE if request.config.getoption("whole") else SEEDS)


def counted(found):
    """Return the shares of searches that were right, and wrong, and the most builds."""
    right = sum(one.right for one in found) / len(found)
    wrong = sum(one.wrong for one in found) / len(found)
    return right, wrong, max(one.built for one in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effects", "machine"),
    [((0.3,), BUSY), ((0.1,), BUSY), ((0.1,), QUIET), ((0.2, 0.15), BUSY)],
)
def test_slow_commits_are_found_among_64(effects, machine, seeds):
    """Both of two steps are named less often: the second may end as can't tell."""
    right, wrong, built = counted([searched(s, effects, machine) for s in seeds])
    assert right >= (0.95 if len(effects) == 1 else 0.9)
    assert wrong <= 0.02
    assert built <= 2 * ceil(log2(64)) + 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effects", "machine"), [((), BUSY), ((), QUIET), ((0.05,), QUIET)]
)
def test_what_noise_hides_is_not_guessed(effects, machine, seeds):
    _, wrong, built = counted([searched(s, effects, machine) for s in seeds])
    assert wrong <= 0.02
    assert built <= most_builds(64)


@pytest.mark.slow
def test_many_small_steps_are_no_single_commit(seeds):
    effects = (0.004,) * 64
    found = [searched(seed, effects, QUIET) for seed in seeds]
    assert sum(one.ending == "drift" for one in found) >= 0.9 * len(found)


@pytest.mark.slow
def test_commits_of_merged_branches_are_found(seeds):
    history = merges(12, 3)
    right, wrong, built = counted(
        [searched(seed, (0.2,), BUSY, history) for seed in seeds]
    )
    assert right >= 0.95
    assert wrong <= 0.02
    assert built <= most_builds(len(history) - 1)


def test_commits_that_cannot_be_measured_are_a_range_with_the_next():
    broken = {one for one in range(1, 64) if one % 3}
    for seed in range(10):
        found = searched(seed, (0.3,), QUIET, skipped=broken)
        (named,) = found.named
        assert found.ending == "found"
        (slow,) = found.slow
        # From the commit after one that was measured to the next that can be.
        first = max(one for one in range(0, slow, 3)) + 1
        assert set(named) == set(range(first, min(first + 3, 65)))


@pytest.mark.parametrize(("commits", "slow"), [(64, 23), (4, 1), (2, 2), (1, 1)])
def test_exact_figures_need_one_round_each(commits, slow):
    contains = line(commits)
    search = Search(contains, 0.0, 20)
    levels = np.where(contains[:, slow], 18.0, 17.0)
    commit, measured = commits, 0
    while True:
        ratio = ratio_of_sums(17.0, levels[commit], prior_sigma=0.0)
        search.add(commit, ratio, 1)
        measured += 1
        known = search.posterior()
        over = search.conclusion(known)
        if over:
            break
        gains = search.gains(known)
        commit = max(gains, key=gains.get)
    assert [step.commits for step in over.steps] == [(slow,)]
    assert measured <= log2(commits) + 2
