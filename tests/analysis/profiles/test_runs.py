"""Samples by leaf function: those that whole stacks name."""

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from pprofdiff.analysis.profiles.side import counts_by_run, side
from pprofdiff.analysis.profiles.tables import STOPPED
from pprofdiff.model.side import Capture
from tests.analysis.building import given, profile, stacks
from tests.conftest import capture

DATA = Path(__file__).parents[2] / "data"
NAMES = st.sampled_from((STOPPED, "main.a", "main.b"))


def counts(of):
    """Return samples by the name of their leaf function, "" for none."""
    made = side("base", [Capture("cpu", "profile", of)])
    got = counts_by_run(made, 0, 1.0, None)
    names = [*dict.fromkeys(made.profile.function_names()), ""]
    ((length,), column) = got.exposure, got.counts[:, 0].tolist()
    assert length == of.duration_ns
    return {n: v for n, v in zip(names, column, strict=True) if v}


def by_whole_stacks(of):
    """Return the same, from all frames of each stack."""
    samples = of.values[:, 0].tolist()
    got = Counter()
    for (names, _), value in zip(stacks(of), samples, strict=True):
        stopped = names[:1] == [STOPPED] and len(names) > 1
        got[names[stopped] if names else ""] += value
    return {name: value for name, value in got.items() if value}


@given(samples=st.lists(st.tuples(st.lists(NAMES, max_size=4), st.integers(0, 9))))
def test_leaves_match_whole_stacks(samples):
    made = profile(samples)
    assert counts(made) == by_whole_stacks(made)


def test_leaves_of_a_real_profile_are_inlined_functions_and_what_was_stopped():
    got = capture(DATA / "health-check" / "base" / "cpu.pb.gz")
    frames = got.frames()
    top = np.array(got.function_names())[got.locations.line_function[frames.line]]
    inlined = np.diff(got.locations.line_offsets)[got.stack_locations] > 1
    assert inlined[got.stack_offsets[:-1]].any()
    assert (top[frames.offsets[:-1]] == STOPPED).any()
    assert counts(got) == by_whole_stacks(got)
