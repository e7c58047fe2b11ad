"""Words after ``--``: build flags, test flags, packages, and what is refused."""

from __future__ import annotations

import re

import pytest

from pprofdiff.errors import UsageError
from pprofdiff.measure.goflags import _BUILD, _OURS, _TEST, go_test, seconds_of
from tests.repository import go


def test_flags_and_packages_are_distinguished():
    words = "-tags purego,x ./store -benchmem -bench=Price -cpu 1,2 -race ./codec/..."
    asked = go_test(words.split())
    assert asked.build == ("-tags=purego,x", "-race")
    assert (asked.test, asked.cpus) == (("-test.benchmem",), (1, 2))
    assert asked.packages == ("./store", "./codec/...")
    assert asked.pattern == "Price"
    assert (asked.iterations, asked.seconds) == (None, None)


def test_without_words_it_is_all_benchmarks_of_this_folder():
    asked = go_test([])
    assert (asked.packages, asked.pattern, asked.build, asked.test) == (
        (".",),
        ".",
        (),
        (),
    )


@pytest.mark.parametrize(
    ("value", "cpus"), [("4", (4,)), ("2,1,2", (2, 1)), (" 1, 8 ,", (1, 8)), ("", ())]
)
def test_each_value_of_cpu_counts_once(value, cpus):
    assert go_test([f"-cpu={value}"]).cpus == cpus


@pytest.mark.parametrize("value", ["0", "two", "1;2", "-1", "1.5", "9999999"])
def test_other_values_of_cpu_are_refused(value):
    with pytest.raises(UsageError, match="GOMAXPROCS, such as 1,2,4"):
        go_test([f"-cpu={value}"])


def test_what_follows_args_is_the_programs():
    asked = go_test(["./x", "-args", "-bench", "-o", "y"])
    assert asked.arguments == ("-bench", "-o", "y")
    assert asked.packages == ("./x",)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("500x", (500, None)), ("2s", (None, 2.0)), ("1m30s", (None, 90.0))],
)
def test_benchtime_is_iterations_or_a_time(value, expected):
    asked = go_test(["-test.benchtime", value])
    assert (asked.iterations, asked.seconds) == expected


@pytest.mark.parametrize("value", ["", "0x", "x", "-3s", "soon", "0s"])
def test_other_benchtimes_are_refused(value):
    with pytest.raises(UsageError, match="benchtime"):
        go_test([f"-benchtime={value}"])


@pytest.mark.parametrize("name", sorted(_OURS))
def test_what_measuring_sets_is_refused_with_a_reason(name):
    with pytest.raises(UsageError, match=re.escape(_OURS[name])):
        go_test([f"-{name}=1"])


def test_what_go_test_does_not_know_is_refused():
    with pytest.raises(UsageError, match="--rond"):
        go_test(["--rond=1"])


def test_a_flag_at_the_end_needs_its_value():
    with pytest.raises(UsageError, match="-tags needs a value"):
        go_test(["-tags"])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5s", 1.5),
        ("200ms", 0.2),
        ("5m", 300),
        ("1h30m", 5400),
        ("1m0.5s", 60.5),
    ],
)
def test_times(text, seconds):
    assert seconds_of(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize("text", ["", "s", "0", "-1s", "1d", "5 m", "nan", "1s5m"])
def test_no_times(text):
    with pytest.raises(ValueError, match="must be a time"):
        seconds_of(text)


@pytest.mark.go
def test_go_knows_these_flags():
    """A flag that Go drops would fail every build that is asked for with it."""
    got = "".join(go("help", topic) for topic in ("build", "testflag", "test"))
    known = set(re.findall(r"^\t-(\w+)", got, re.MULTILINE))
    # These are in `go test -h` of the test binary alone.
    known |= {"memprofilerate", "blockprofilerate", "mutexprofilefraction"}
    # Go's coverage flags and -x are in the same list; pkgdir is of build.
    assert known >= _BUILD | _TEST
