"""The ratio that most functions share: exact where it is, robust, and true on real captures."""

from __future__ import annotations

import json
from math import log

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.stats.common_ratio import CommonRatio, common_ratio
from pprofdiff.analysis.stats.counts import LIMIT
from pprofdiff.model.profiles.profile import ValueType
from tests.analysis.building import compared, given, profile

DELAY = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))
COUNTS = st.lists(st.integers(3, 5000), min_size=3, max_size=12)


def functions(counts, *more):
    """Return a CPU profile of one function a count, each with as many samples."""
    samples = [((f"example.com/a.F{i}",), n) for i, n in enumerate(counts)]
    return profile([*samples, *more])


def shared(base, new, **how):
    return common_ratio(compared(base, new, **how))


@given(COUNTS, st.integers(1, 50))
def test_all_functions_scaled_alike_are_that_ratio(counts, times):
    found = shared(functions(counts), functions(n * times for n in counts))
    assert found.ratio == pytest.approx(times, rel=1e-9)
    back = shared(functions(n * times for n in counts), functions(counts))
    assert back.ratio == pytest.approx(1 / times, rel=1e-9)
    assert back.sigma == pytest.approx(found.sigma, rel=1e-9)


@given(COUNTS, st.integers(1, 9), st.integers(1, 9))
def test_the_ratio_is_of_scaled_values(counts, old, fresh):
    sides = functions(n * old for n in counts), functions(n * fresh for n in counts)
    assert shared(*sides, work=(old, fresh)).ratio == pytest.approx(1.0, rel=1e-9)


@given(
    st.lists(st.integers(200, 5000), min_size=6, max_size=12),
    st.integers(2, 5),
    st.sampled_from((0.0, 0.01, 30.0, 1000.0)),
    st.data(),
)
def test_a_function_that_changed_does_not_move_it(counts, times, change, data):
    # One of several, with no more than its part of the weight on either side.
    row = data.draw(st.integers(0, len(counts) - 1))
    new = [n * times for n in counts]
    new[row] = round(counts[row] * change)
    rest = sum(counts) - counts[row]
    if (counts[row] * new[row]) ** 0.5 >= 0.5 * rest * times**0.5:
        return
    found = shared(functions(counts), functions(new))
    assert found.ratio == pytest.approx(times, rel=1e-9)


@given(COUNTS, st.integers(2, 9), st.integers(0, 10**6))
def test_the_runtime_does_not_move_it(counts, times, garbage):
    mark = ("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
    base = functions(counts, (mark, 500))
    new = functions([n * times for n in counts], (mark, garbage))
    assert shared(base, new).ratio == pytest.approx(times, rel=1e-9)


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ([], []),
        ([100, 100], [200, 200]),  # too few functions
        ([2] * 50, [200] * 50),  # too few samples of each, on one side
        ([200] * 50, [2] * 50),
        ([1000, 1000, 1000, 1000], [4000, 30_000, 90, 9]),  # no two alike
    ],
)
def test_no_ratio_where_too_little_moves_alike(base, new):
    assert shared(functions(base), functions(new)) is None


def test_values_that_are_no_samples_have_no_ratio():
    waits = [((f"a.F{i}",), (100, 10**9)) for i in range(5)]
    one = profile(waits, types=DELAY, period=None)
    assert shared(one, one) is None


def test_a_sure_ratio_differs_by_more_than_chance_and_a_bit():
    assert not CommonRatio(1.0, 0.0).sure
    assert not CommonRatio(1.14, 0.001).sure
    assert not CommonRatio(2.0, 0.3).sure
    assert CommonRatio(2.0, 0.1).sure
    assert CommonRatio(0.5, 0.1).sure
    low, high = CommonRatio(2.0, 0.1).span
    assert low < 2.0 < high
    assert low * high == pytest.approx(4.0)


def test_at_its_ratio_base_is_worth_as_much_as_new():
    base, new = functions([300] * 5), functions([600] * 5)
    diff = compared(base, new)
    table = diff.table("functions")
    assert not diff.model.judge(table.base_flat, table.new_flat).noise.any()
    model = diff.model.with_base_times(2.0)
    assert model.judge(table.base_flat, table.new_flat).z.tolist() == [0.0] * 5


def allocated(load_capture, folders):
    """Return the common ratio of two captures' allocations."""
    sides = [load_capture(folder / "allocs.pb.gz") for folder in folders]
    return shared(*sides, sample_type="alloc_space")


def since_start(folder):
    held = json.loads((folder / "work.json").read_text("utf-8"))
    return held["since_start"]["operations"]


@pytest.mark.parametrize(
    "name", ["syncpool", "rss-search", "health-check", "node-pool"]
)
def test_allocations_tell_the_operations_since_the_start(
    load_story, load_capture, name
):
    story = load_story(name)
    found = allocated(load_capture, (story.base, story.new))
    ratio = since_start(story.new) / since_start(story.base)
    assert abs(log(found.ratio / ratio)) <= LIMIT * found.sigma


def test_where_nearly_all_was_one_call_site_there_is_none(load_story, load_capture):
    story = load_story("zstd")
    assert allocated(load_capture, (story.base, story.new)) is None


@pytest.mark.parametrize("other", range(21, 28))
def test_allocations_do_so_between_go_releases(data_folder, load_capture, other):
    folders = [data_folder / "versions" / f"go1.{minor}" for minor in (20, other)]
    found = allocated(load_capture, folders)
    ratio = since_start(folders[1]) / since_start(folders[0])
    assert abs(log(found.ratio / ratio)) <= LIMIT * found.sigma
