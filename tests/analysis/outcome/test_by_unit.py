"""Several benchmarks: each is judged, and the headline names the worst."""

import numpy as np
import pytest

from tests.analysis.outcome.evidence import bench, decided


def runs(rng, number, spread=0.02, **means):
    """Return runs whose benchmarks differ by so much from run to run."""
    return bench(
        *(
            {name: mean * float(np.exp(rng.normal(0, spread))) for name, mean in means.items()}
            for _ in range(number)
        )
    )  # fmt: skip


def test_one_that_got_slower_is_found_next_to_others():
    rng = np.random.default_rng(1)
    base = runs(rng, 5, Encode=7900, Sum=19700, Sorted=8440)
    new = runs(rng, 5, Encode=25800, Sum=19700, Sorted=8440)
    said = decided(base, new)
    assert said.verdict == "slower"
    assert [unit.name for unit in said.moved] == ["Encode"]
    (encode,) = said.moved
    assert encode.cost.low < 25800 / 7900 < encode.cost.high
    assert encode.cost.mark == "more"
    assert {u.name for u in said.units} == {"Encode", "Sum", "Sorted"}
    # The mean of all three would not have shown it.
    assert said.headline.judged.ratio == pytest.approx(
        (25800 / 7900) ** (1 / 3), rel=0.1
    )


def test_one_run_a_side_is_judged_by_how_far_runs_of_one_build_differ():
    base = bench({"A": 100, "B": 100, "C": 100, "D": 100})
    one = bench({"A": 327, "B": 102, "C": 99, "D": 98})
    assert [u.name for u in decided(base, one).moved] == ["A"]
    # What the verdict says of all of them holds for each.
    all_ = decided(base, bench({"A": 270, "B": 280, "C": 275, "D": 268}))
    assert all_.verdict == "slower"
    assert {u.name for u in all_.moved} == {"A", "B", "C", "D"}
    assert all_.together is not None


@pytest.mark.slow
def test_of_one_build_at_most_five_in_a_hundred_alarm():
    rng = np.random.default_rng(3)
    means = {f"B{i}": 1000.0 for i in range(10)}
    alarms = sum(
        bool(decided(runs(rng, 4, **means), runs(rng, 4, **means)).moved)
        for _ in range(120)
    )
    assert alarms <= 12


def test_one_benchmark_is_no_unit_of_several():
    assert decided(bench({"A": 100}), bench({"A": 300})).units == ()
