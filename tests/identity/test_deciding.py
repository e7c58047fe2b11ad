"""Functions that are one under other names, by what their samples show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.identity.deciding import identify
from tests.analysis.building import given, profile, profiles

MODULE = "/go/pkg/mod/example.com/lib@{}/lib.go"


def sampled(*stacks, file="/src/main.go", starts=None):
    """Return a profile of (samples, frame, …), leaf first: NAME or NAME:LINE.

    A line counts from where the function begins, which `starts` shows.
    """
    starts = starts or {}

    def frame(text):
        name, _, line = text.partition(":")
        return name, file, starts.get(name, 0) + int(line or 1)

    made = profile([(tuple(map(frame, stack)), count) for count, *stack in stacks])
    names = made.function_names()
    start = np.array([starts.get(name, 0) for name in names], np.int64)
    return replace(made, functions=replace(made.functions, start_line=start))


def pairs(base, new, **how):
    """Return the names of both sides that are one function, and why."""
    identity = identify([base], [new], **how)
    return {(pair.base, name): pair.by for name, pair in identity.pairs.items()}


CALLS = (40, "b.Hash:2", "main.run.func1:3", "main.run"), (
    40, "c.Parse:7", "main.run.func2:4", "main.run")  # fmt: skip
MORE = (
    (25, "d.New:3", "main.run.func1:1", "main.run"),
    (42, "b.Hash:2", "main.run.func2:3", "main.run"),
    (38, "c.Parse:7", "main.run.func3:4", "main.run"),
)


def test_closures_that_an_inserted_one_renumbered_are_the_same():
    before = {"main.run": 10, "main.run.func1": 12, "main.run.func2": 20}
    after = {"main.run": 10, "main.run.func1": 12, "main.run.func2": 17,
             "main.run.func3": 25}  # fmt: skip
    base, new = sampled(*CALLS, starts=before), sampled(*MORE, starts=after)
    wanted = {
        ("main.run.func1", "main.run.func2"),
        ("main.run.func2", "main.run.func3"),
    }
    assert pairs(base, new) == dict.fromkeys(wanted, "closure")
    assert pairs(new, base) == {(n, b): "closure" for b, n in wanted}
    identity = identify([base], [new])
    assert identity.base_of("main.run.func1") is None
    assert identity.base_of("main.run") == "main.run"


def test_closures_that_moved_with_their_function_are_asked_nothing():
    before = {"main.run": 10, "main.run.func1": 12, "main.run.func2": 20}
    after = {name: line + 31 for name, line in before.items()}
    # What they call was exchanged, and their places say who they are.
    other = [(n, leaf, name.replace("1", "X").replace("2", "1").replace("X", "2"), root)
             for n, leaf, name, root in CALLS]  # fmt: skip
    assert pairs(sampled(*CALLS, starts=before), sampled(*other, starts=after)) == {}


def test_closures_of_a_moved_package_keep_their_numbers():
    """One was not sampled, and no lines are reported: nothing says that others moved up."""
    shared = ("encode.func1", "encode", "scan", "Grow")
    base, new = (
        sampled(*((30, f"example.com/{path}.{name}", "main.main") for name in names))
        for path, names in (
            ("a/codec", ("encode.func2", *shared)),
            ("b/codec", shared),
        )
    )
    assert pairs(base, new) == {
        (f"example.com/a/codec.{name}", f"example.com/b/codec.{name}"): "package"
        for name in shared
    }


def of_library(name, start, version="v1.2.3"):
    """Return 60 samples in which `name` calls and is called."""
    return sampled(
        (40, "b.Hash:2", f"{name}:3", "example.com/lib.Sum:4", "main.main"),
        (20, f"{name}:6", "example.com/lib.Sum:4", "main.main"),
        file=MODULE.format(version),
        starts={name: start, "example.com/lib.Sum": 5, "b.Hash": 1, "main.main": 1},
    )


def test_a_renamed_function_is_found_by_its_calls_and_lines():
    base, new = of_library("example.com/lib.mix", 20), of_library(
        "example.com/lib.fold", 20, "v1.3.0")  # fmt: skip
    assert pairs(base, new) == {
        ("example.com/lib.mix", "example.com/lib.fold"): "evidence"
    }
    (pair,) = identify([base], [new]).pairs.values()
    assert 0.9 < pair.probability < 1


def test_nothing_is_renamed_in_a_module_of_one_version():
    base, new = (
        of_library("example.com/lib.mix", 20),
        of_library("example.com/lib.fold", 20),
    )
    assert pairs(base, new) == {}


def test_what_replaces_a_function_is_not_it():
    """It is called from the same place, and does something else."""
    base = sampled(
        (50, "example.com/lib.mix:3", "main.run:4", "main.main"),
        starts={"example.com/lib.mix": 20, "main.run": 5},
    )
    new = sampled(
        (50, "c.Parse:9", "example.com/lib.fold:31", "main.run:4", "main.main"),
        starts={"example.com/lib.fold": 220, "main.run": 5},
    )
    assert pairs(base, new) == {}


def test_two_that_are_alike_are_left_alone_and_named():
    base = of_library("example.com/lib.mix", 20)
    both = [
        (40, "b.Hash:2", f"example.com/lib.{name}:3", "example.com/lib.Sum:4", "main.main")
        for name in ("fold", "weld")
    ]  # fmt: skip
    starts = {"example.com/lib.fold": 30, "example.com/lib.weld": 30}
    new = sampled(*both, file=MODULE.format("v2"), starts=starts | {"b.Hash": 1})
    identity = identify([base], [new])
    assert not identity.pairs
    assert set(identity.choices.get("example.com/lib.mix", ())) <= {
        "example.com/lib.fold", "example.com/lib.weld"}  # fmt: skip


def test_who_knows_better_says_so():
    base, new = sampled((9, "main.a", "main.main")), sampled((9, "main.b", "main.main"))
    assert pairs(base, new) == {}
    assert pairs(base, new, given=[("main.a", "main.b")]) == {
        ("main.a", "main.b"): "given"
    }
    same = sampled((9, "main.a", "main.b"))
    identity = identify([same], [same], [("main.a", "main.b")])
    assert identity.base_of("main.b") == "main.a"
    assert identity.base_of("main.a") is None


@given(profiles(), profiles())
def test_the_other_way_round_pairs_the_same(base, new):
    there, back = pairs(base, new), pairs(new, base)
    assert {(n, b): by for (b, n), by in there.items()} == back


@given(st.lists(profiles(), min_size=1, max_size=3))
def test_a_build_is_itself(same):
    identity = identify(same, same)
    assert not identity.pairs
    assert not identity.renumbered


@pytest.mark.parametrize("side", [0, 1])
@given(base=profiles(), new=profiles())
def test_no_two_functions_of_a_side_are_one(side, base, new):
    keys = identify([base], [new]).sides[side]
    names = set((base, new)[side].function_names())
    assert len({keys.function(name) for name in names}) == len(names)


def test_a_name_in_other_letters_is_the_same_function_unless_both_are_there():
    calls = (40, "b.Hash:2", "main.Tsv:3", "main.run:4")
    base, new = sampled(calls), sampled((40, "b.Hash:2", "main.TSV:3", "main.run:4"))
    assert pairs(base, new) == {("main.Tsv", "main.TSV"): "letter_case"}
    both = sampled(calls, (40, "c.Parse:9", "main.TSV:8", "main.run:6"))
    assert pairs(both, new) == {}


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("lookup__shop_12", "lookup__shop_5"),
        ("Stdlib.List.nth_aux_107", "Stdlib.List.nth_aux_93"),
        ("unlink_chunk.constprop.0", "unlink_chunk.constprop.1"),
    ],
)
def test_symbols_that_compilers_number_are_one_function(base, new):
    old, now = sampled((40, f"{base}:3", "main")), sampled((40, f"{new}:3", "main"))
    assert pairs(old, now) == {(base, new): "number"}
    # Numbers do not distinguish two of one name.
    twice = sampled((40, f"{new}:3", "main"), (40, f"{new[:-1]}7:3", "main"))
    assert "number" not in pairs(old, twice).values()
