"""How many operations a profile covers: written, read again, and not guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.profile import (
    Operations,
    operations_of,
    with_operations,
)
from tests.analysis.building import profile

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20)
DONE = st.builds(
    Operations,
    st.integers(1, 10**18 - 1),
    st.one_of(NAMES, st.builds("{} Benchmark{}/two words".format, NAMES, NAMES)),
)


@pytest.mark.slow
@given(
    DONE, DONE, st.lists(st.sampled_from(("seed 7", "operations: many")), max_size=2)
)
def test_what_is_written_is_read_again(before, done, others):
    made = replace(profile([(("main.main",), 3)]), comments=tuple(others))
    said = with_operations(with_operations(made, before), done)
    again = decode(encode(said), "again")
    assert operations_of(again) == operations_of(said) == done
    assert set(others) <= set(again.comments)
    assert len(again.comments) == len(others) + 1


def test_it_stands_in_the_profile_as_people_read_it():
    made = with_operations(profile([]), Operations(7, "example.com/p BenchmarkX"))
    assert made.comments == ("operations: 7 of example.com/p BenchmarkX",)


@pytest.mark.parametrize(
    "comments",
    [
        (),
        ("operations: 0",),
        ("operations: -1",),
        ("operations: 07",),
        ("operations: 1e6",),
        ("Operations: 7",),
        ("operations: 7 of ",),
        ("there were operations: 7",),
        ("operations: 7", "operations: 8"),
        ("operations: 7", "operations: 7 of p BenchmarkX"),
        ("operations: 1000000000000000000000",),
    ],
)
def test_what_does_not_say_it_is_unknown(comments):
    assert operations_of(replace(profile([]), comments=comments)) is None


def test_to_say_it_twice_alike_is_to_say_it():
    said = replace(profile([]), comments=("operations: 7", "operations: 7"))
    assert operations_of(said) == Operations(7)
