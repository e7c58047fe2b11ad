"""Merging and subtracting as ``go tool pprof`` does; functions without names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.model.profiles.merge import (
    base_samples,
    is_diff,
    merge,
    normalized,
    subtract,
    with_names,
)
from pprofdiff.model.profiles.profile import Mapping, ValueType
from tests.building import CPU, MAIN, MS, Frame, Place, Sample, built, cpu, parsed, said
from tests.strategies import HEAP, profiles

SMALL = st.integers(-3, 3)
HEADER = ("time_ns", "duration_ns", "period", "comments", "sample_types")


def _header(profile):
    return [getattr(profile, name) for name in HEADER]


@pytest.mark.slow
@given(st.lists(profiles(values=SMALL), min_size=3, max_size=3))
@settings(deadline=None)
def test_merge_is_associative(three):
    a, b, c = three
    together = merge([a, b, c])
    for other in (merge([merge([a, b]), c]), merge([a, merge([b, c])])):
        assert said(other) == said(together)
        assert _header(other) == _header(together)


@pytest.mark.slow
@given(profiles(values=SMALL), profiles(values=SMALL))
@settings(deadline=None)
def test_merge_adds_samples_of_equal_stacks_and_labels(a, b):
    want = dict(said(a))
    for key, values in said(b).items():
        older = want.get(key, (0, 0))
        want[key] = tuple(x + y for x, y in zip(older, values, strict=True))
    merged = merge([a, b])
    assert said(merged) == {k: v for k, v in want.items() if any(v)}
    assert len(merged) == len(said(merged))


@pytest.mark.slow
@given(profiles(), profiles())
@settings(deadline=None)
def test_subtract_without_label_negates_when_sides_swap(a, b):
    forth, back = (said(subtract(*pair, label=False)) for pair in ((a, b), (b, a)))
    assert forth == {key: tuple(-v for v in values) for key, values in back.items()}


@pytest.mark.slow
@given(profiles(), profiles())
@settings(deadline=None)
def test_subtract_with_label_keeps_the_sides_apart(new, base):
    diff = subtract(new, base, label=True)
    marked = base_samples(diff)
    assert said(diff.take(np.flatnonzero(~marked))) == said(new)
    assert (
        diff.values[marked].sum(axis=0).tolist() == (-base.values.sum(axis=0)).tolist()
    )
    assert is_diff(diff) == bool(said(base))


@given(profiles())
def test_one_profile_alone_is_returned_as_it_is(profile):
    assert merge([profile]) is profile


@given(profiles())
@settings(deadline=None)
def test_a_profile_less_itself_is_nothing(profile):
    nothing = subtract(profile, profile, label=False)
    assert len(nothing) == len(nothing.locations) == len(nothing.functions) == 0


def test_nothing_to_merge():
    with pytest.raises(UsageError, match="no profile"):
        merge([])


def test_unused_rows_of_the_tables_are_left_out():
    merged = subtract(cpu({"a;b": 10, "c": 20}), cpu({"c": 20, "d": 30}), label=False)
    assert sorted(merged.function_names()) == ["a", "b", "d"]
    assert len(merged.locations) == 3


def test_base_label_replaces_what_a_base_sample_had_before():
    base = built([Sample(parsed("f"), (1, 10), (("pprof::base", "no"), ("k", "v")))])
    diff = subtract(cpu({}), base, label=True)
    ((_, labels),) = said(diff)
    assert labels == ((False, "k", "v"), (False, "pprof::base", "true"))


def test_what_a_profile_says_of_having_been_subtracted():
    new, base = cpu({"a": 10}), cpu({"b": 10})
    for diff, got in ((merge([new, base]), (False, False)),
                       (subtract(new, base, label=True), (True, True)),
                       (subtract(new, base, label=False), (False, True))):  # fmt: skip
        assert (is_diff(diff), bool((diff.values < 0).any())) == got


def test_label_keys_may_come_in_any_order_but_values_of_a_key_may_not():
    labels = [
        (("a", "1"), ("b", (7, "bytes"))),
        (("b", (7, "bytes")), ("a", "1")),
        (("a", "1"), ("a", "2")),
        (("a", "2"), ("a", "1")),
        (("a", (7, "")),),
        (("a", "7"),),
    ]
    parts = [built([Sample(parsed("f"), (1, 1), row)]) for row in labels]
    assert merge(parts).values[:, 0].tolist() == [2, 1, 1, 1, 1]


def test_labels_without_a_value_are_not_seen():
    plain = built([Sample(parsed("f"), (1, 1))])
    empty = built([Sample(parsed("f"), (1, 1), (("k", (0, "")),))])
    assert merge([plain, empty]).values.tolist() == [[2, 2]]


@pytest.mark.parametrize(
    ("other", "one"),
    [
        (replace(MAIN, limit=MAIN.limit - 1), True),
        (replace(MAIN, limit=MAIN.limit - 0x1000), False),
        (replace(MAIN, limit=MAIN.limit + 1), False),
        (replace(MAIN, start=0x7F0000400000, limit=0x7F0000600000), True),
        (replace(MAIN, file="/elsewhere/app"), True),
        (replace(MAIN, build_id=""), False),
        (replace(MAIN, offset=1), False),
    ],
)
def test_mappings_are_one_by_size_in_pages_offset_and_build(other, one):
    at = 0x1234

    def sampled(mapping):
        place = Place((Frame("f"),), mapping.start + at)
        return built([Sample((place,), (1, 1))], mappings=[mapping])

    merged = merge([sampled(MAIN), sampled(other)])
    assert len(merged) == len(merged.mappings) == (1 if one else 2)
    assert int(merged.locations.address[0]) == MAIN.start + at


def test_the_first_mapping_stays_though_no_sample_uses_it():
    library = Mapping(0x10, 0x2000, 0, "/lib/x.so", "ffff")
    place = Place((Frame("f"),), 0x20, 1)
    new = built([Sample((place,), (1, 1))], mappings=[MAIN, library])
    merged = merge([new, new])
    assert merged.mappings == (MAIN, library)
    assert merged.locations.mapping.tolist() == [1]


def test_sample_types_are_cut_to_the_common_ones_in_the_first_order():
    row = Sample(parsed("f"), (1, 2, 3, 4))
    heap = built([row], HEAP, default_sample_type="inuse_space")
    other = built([Sample(parsed("f"), (100, 10))], (HEAP[1], HEAP[0]))
    merged = merge([heap, other])
    assert [t.type for t in merged.sample_types] == ["alloc_objects", "alloc_space"]
    assert merged.values.tolist() == [[11, 102]]
    assert merged.default_sample_type == "alloc_objects"


def test_units_are_scaled_to_the_finest():
    coarse = (CPU[0], ValueType("cpu", "ms"))
    period = ValueType("cpu", "milliseconds")
    one = built([Sample(parsed("f"), (1, 100))], coarse, period_type=period, period=10)
    merged = merge([one, cpu({"f": 50})])
    assert merged.sample_types == CPU
    assert merged.values.tolist() == [[6, 150 * MS]]
    assert (merged.period_type, merged.period) == (CPU[1], 10 * MS)


@pytest.mark.parametrize(
    "other",
    [
        built([], (ValueType("delay", "nanoseconds"),)),
        built([], (CPU[0], ValueType("cpu", "bytes"))),
        built([], CPU, period_type=ValueType("space", "bytes")),
        built([], CPU, period_type=None),
    ],
)
def test_what_cannot_be_compared_is_refused(other):
    with pytest.raises(IncompatibleProfilesError):
        merge([cpu({"f": 10}), other])


def test_header_is_the_earliest_the_longest_and_the_sum():
    one = cpu({}, time_ns=7, duration_ns=5, period=1, comments=("a", "b"))
    two = cpu({}, time_ns=3, duration_ns=4, period=2, comments=("b", "c"),
              default_sample_type="cpu", doc_url="x", drop_frames="no")  # fmt: skip
    both = merge([one, two])
    assert (both.time_ns, both.duration_ns, both.period) == (3, 9, 2)
    assert both.comments == ("a", "b", "c")
    assert (both.default_sample_type, both.doc_url, both.drop_frames) == (
        "cpu",
        "x",
        "",
    )


@pytest.mark.parametrize("value", [0.49999999999999994, 0.5, 2.5, 4503599627370497.5])
def test_rounding_matches_go_also_next_to_a_half(value):
    from pprofdiff.model.profiles.merge import rounded

    want = int(value) + (value - int(value) >= 0.5)
    assert rounded(np.array([1, -1]), value).tolist() == [want, -want]


def test_normalized_gives_each_type_the_base_total():
    new, base = cpu({"a": 100, "b": 300}), cpu({"a": 200})
    assert normalized(new, base).values.sum(axis=0).tolist() == [20, 200 * MS]


def test_normalized_needs_equal_types_and_units():
    other = built([], (CPU[0], ValueType("cpu", "ms")))
    with pytest.raises(IncompatibleProfilesError, match="normalize"):
        normalized(cpu({"f": 10}), other)


@pytest.mark.slow
def test_sums_beyond_float64_stay_exact():
    large = (1 << 60) + 1
    one = built([Sample(parsed("f"), (1, large))])
    assert merge([one, one]).values.tolist() == [[2, 2 * large]]
    assert subtract(cpu({}), one, label=False).values.tolist() == [[-1, -large]]


def profile(*names, file="/b/hash.go", line=17):
    frames = [Frame(name, file, line + 3, line) for name in names]
    return built([Sample((Place((f,), 100),), (1, 10)) for f in frames], CPU)


def names(profile):
    return profile.function_names()


def test_a_function_without_a_name_has_that_of_another_run():
    first, other = profile("m.hash"), profile("")
    assert [names(one) for one in with_names([first, other])] == [["m.hash"]] * 2
    assert names(with_names([other])[0]) == names(other)


def test_other_functions_keep_both_names():
    frames = [
        Frame(name, "/b/hash.go", line + 3, line)
        for name, line in (("", 17), ("f", 30))
    ]
    two = built([Sample((Place((f,), 100),), (1, 10)) for f in frames], CPU)
    functions = two.functions
    strings = (*two.strings, "_Zf")
    system = np.where(functions.start_line == 30, len(two.strings), 0)
    functions = replace(functions, system_name=system.astype(np.int32))
    mangled = replace(two, strings=strings, functions=functions)
    named = with_names([mangled, profile("m.hash")])[0]
    assert names(named) == ["m.hash", "f"]
    assert [named.strings[i] for i in named.functions.system_name] == ["m.hash", "_Zf"]


def test_only_one_name_at_the_same_line_is_taken():
    two = profile("m.hash[int]", "m.hash[string]")
    for others in (
        [two],
        [profile("m.hash", line=18)],
        [profile("m.hash", file="a.go")],
    ):
        assert names(with_names([profile(""), *others])[0]) != ["m.hash"]
        assert with_names([profile(""), *others])[0].strings == profile("").strings
