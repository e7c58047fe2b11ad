"""Scaled numbers: their unit, what it means, and the totals in it."""

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.normalization import choose
from pprofdiff.analysis.profiles.scaling import (
    MODES,
    in_words,
    scale_of,
    unit_words,
)
from pprofdiff.analysis.work import counted
from tests.plots.captured import profile_diff


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("cpu", "s (new scaled to about equal work)"),
        ("mutex", "ms (absolute)"),
        ("allocs", "GiB (new scaled to about equal work)"),
        ("heap", "MiB (absolute)"),
    ],
)
def test_a_unit_says_what_it_means(kind, words):
    diff = profile_diff("syncpool", kind)
    assert unit_words(diff) == words
    reason = diff.normalization.reason
    assert in_words(diff) == f"in {words.removesuffix(')')}; {reason})"
    assert diff.normalization.mode in MODES


def test_a_wait_by_time_and_a_cost_by_operation_say_so():
    def text_of(kind, mode):
        by = Normalization(mode, 0.1, 0.1, "a reason")
        return unit_words(replace(profile_diff("syncpool", kind), normalization=by))

    assert text_of("mutex", "per_second").endswith("s/s (seconds waited per second)")
    assert text_of("mutex", "per_work").endswith("s/op (per op)")
    assert text_of("cpu", "per_second") == "cores (CPU seconds per second)"
    assert text_of("allocs", "per_work").endswith("B/op (per op)")
    assert text_of("cpu", "share") == "s (new scaled to base)"


@pytest.mark.parametrize(
    ("work", "texts"),
    [
        (None, ["23.39 s", "25.09 s"]),
        (counted((2339, 2294)), ["10.00 ms/op", "10.00 ms/op"]),
    ],
    ids=["unknown", "known"],
)
def test_totals_are_scaled_as_rows_are(work, texts):
    diff = profile_diff("syncpool", "cpu")
    if work is not None:
        by = choose(
            totals=diff.totals, durations_ns=(None, None), work=work, share=False,
            counts="cost",
        )  # fmt: skip
        diff = replace(diff, normalization=by)
    base, new = diff.normalization.scaled(*diff.totals)
    assert (base, new) == (
        diff.totals[0] * diff.normalization.base_factor,
        diff.totals[1] * diff.normalization.new_factor,
    )
    assert [scale_of(diff).text(side) for side in (base, new)] == texts
