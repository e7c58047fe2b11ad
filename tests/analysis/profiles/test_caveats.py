"""What makes two sides less comparable than they look is said, and only then."""

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.work import counted
from pprofdiff.model.profiles.merge import subtract
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture
from tests.analysis.building import compared, profile

OLD = "runtime.(*mspan).sweep"  # until Go 1.16
PLAIN = "runtime.findrunnable"  # until Go 1.18
NEWEST = "runtime.acquirepNoTrace"  # from Go 1.26
MAPS = "internal/runtime/maps.(*Map).Get"  # from Go 1.24


def cpu(samples=1000, name="main.f", **how):
    """Return a CPU profile."""
    return profile([([name], samples)], **how)


def said(base, new, **how):
    """Return the ids of the caveats."""
    return [c.id for c in compared(base, new, **how).warnings]


@pytest.mark.parametrize(
    ("base", "new", "how", "caveats"),
    [
        (cpu(499), cpu(500), {}, ["few-samples"]),
        (cpu(10), cpu(10), {}, ["few-samples", "few-samples"]),
        (cpu(), cpu(duration_ns=12 * 10**9), {}, ["duration"]),
        (cpu(), cpu(duration_ns=10_900_000_000), {}, []),
        (cpu(duration_ns=4 * 10**9), cpu(duration_ns=4 * 10**9), {}, ["short"]),
        (cpu(), cpu(2000), {}, []),  # shares are alike: the outcome says that none is
        (cpu(2000), cpu(), {}, []),
        # From Go 1.26 durations are right.
        (cpu(duration_ns=10**9, name=NEWEST), cpu(duration_ns=10**9, name=NEWEST), {}, []),
        (cpu(), cpu(2000), {"work": (1, 2)}, []),
        (cpu(), cpu(2000), {"normalize": True}, []),
        (cpu(), cpu(2000, period=5_000_000), {}, ["period"]),
        (cpu(name=OLD), cpu(name=MAPS), {}, ["go-version"]),
        (cpu(name=MAPS), cpu(name=OLD), {}, ["go-version"]),
        (cpu(name=PLAIN), cpu(name=MAPS), {}, ["go-version"]),
        (cpu(name=OLD), cpu(), {}, []),
        (subtract(cpu(2000), cpu(), label=True), cpu(), {}, ["diffed-input", "duration"]),
        (cpu(duration_ns=None), cpu(duration_ns=None), {"work": (1, 1)}, ["since-start"]),
    ],
)  # fmt: skip
def test_caveats(base, new, how, caveats):
    assert sorted(said(base, new, **how)) == sorted(caveats)


@pytest.mark.parametrize(
    ("timed", "text"),
    [
        ({}, ": values per op are right only if --work does too"),
        (
            {"seconds": (2.0, 2.0), "counted": (9.0, 9.0)},
            "; its operations = rate × process age",
        ),
    ],
)
def test_what_counts_since_the_start_says_of_what_operations(timed, text):
    types = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))
    one = profile([(["main.f"], (1, 2))], types=types, duration_ns=None)
    sides = [side(w, [Capture("x", "profile", one)]) for w in ("base", "new")]
    diff = compare(*sides, work=counted((1, 1))._replace(**timed))
    assert diff.normalization.mode == "per_work"
    (caveat,) = diff.warnings
    assert caveat == ("since-start", f"heap covers the whole process lifetime{text}")


def test_benchmarks_by_operation_may_take_as_long_as_they_like():
    runs = cpu(name="testing.(*B).runN")
    longer = cpu(name="testing.(*B).runN", duration_ns=12 * 10**9)
    assert said(runs, longer, work=(1000, 1500)) == []
    assert said(runs, longer) == ["duration"]
    # Of a program under load the operations of the window are a guess of the rate.
    other = cpu(duration_ns=12 * 10**9)
    assert said(cpu(), other, work=(1000, 1500)) == ["duration"]


def test_caveats_of_cpu_time_are_not_made_of_other_kinds():
    types = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))
    one = profile([(["main.f"], (1, 2))], types=types, duration_ns=10**9)
    assert said(one, replace(one, values=one.values * 50)) == []


def test_each_caveat_is_one_sentence_and_names_the_side():
    for caveat in compared(cpu(10), cpu(10, duration_ns=10**9, period=1)).warnings:
        assert caveat.text.isprintable()
        assert not caveat.text.endswith(".")
    texts = [c.text for c in compared(cpu(10), cpu()).warnings if c.id == "few-samples"]
    assert len(texts) == 1
    assert texts[0].startswith("base has 10 samples")
