"""Filters by name and by tag; `tests/parity` compares them with pprof itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.ledger.graph import flat_and_cum
from pprofdiff.analysis.profiles.filters import (
    Filters,
    filtered,
    number_units,
    pruned_frames,
)
from pprofdiff.analysis.profiles.nodes import frame_keys
from pprofdiff.errors import UsageError
from tests.building import MAIN, MS, Frame, Place, Sample, built, cpu, parsed, said
from tests.strategies import profiles

STACKS = {
    "main;work;json.Decode@json.go:3;runtime.malloc": 10,
    "main;work;copy": 20,
    "runtime.gc;runtime.mark": 40,
    "main;work>json.Number;copy": 80,
}


def left(profile):
    """Return the stacks, root first, of what a profile has left, in milliseconds."""
    found = {}
    for (stack, _), values in said(profile).items():
        names = ";".join(
            ">".join(line[0][0] if line[0] else "?" for line in reversed(place[3]))
            for place in reversed(stack)
        )
        found[names] = found.get(names, 0) + values[1] // MS
    return found


def by(profile, **options):
    return left(filtered(profile, Filters(**options)).profile)


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({"focus": "json"}, {"main;work;json.Decode;runtime.malloc": 10,
                             "main;work>json.Number;copy": 80}),
        ({"focus": r"json\.go"}, {"main;work;json.Decode;runtime.malloc": 10}),
        ({"ignore": "^runtime"}, {"main;work;copy": 20, "main;work>json.Number;copy": 80}),
        ({"focus": "main", "ignore": "json"}, {"main;work;copy": 20}),
        ({"hide": "^runtime"}, {"main;work;json.Decode": 10, "main;work;copy": 20,
                                "main;work>json.Number;copy": 80}),
        ({"hide": "json"}, {"main;work;runtime.malloc": 10, "main;work;copy": 100,
                            "runtime.gc;runtime.mark": 40}),
        ({"show": "main|json"}, {"main;json.Decode": 10, "main": 20, "main;json.Number": 80}),
        ({"show": "main|json", "hide": "json"}, {"main": 110}),
        ({"show_from": "work"}, {"work;json.Decode;runtime.malloc": 10, "work;copy": 20,
                                 "work>json.Number;copy": 80}),
        ({"show_from": "json"}, {"json.Decode;runtime.malloc": 10, "json.Number;copy": 80}),
    ],
)  # fmt: skip
def test_names(options, want):
    assert by(cpu(STACKS), **options) == want


def test_the_mapped_file_matches_every_frame_in_it():
    library = replace(MAIN, file="/lib/libc.so", build_id="ffff")
    places = (Place((Frame("read"),), 1, 1), *parsed("main"))
    profile = built([Sample(places, (1, 10 * MS))], mappings=[MAIN, library])
    assert by(profile, focus="libc") == {"main;read": 10}
    assert by(profile, hide="libc") == {"main": 10}
    assert by(profile, show="libc") == {"read": 10}
    assert by(profile, show_from="libc") == {"read": 10}
    assert by(profile, ignore="libc") == {}


def test_frames_without_a_line_cannot_be_shown():
    bare = Place((Frame(""),), 1)
    profile = built([Sample((bare, *parsed("main")), (1, 10 * MS))])
    assert by(profile, show="main|app") == {"main": 10}
    assert by(profile, hide="app") == {}
    assert by(profile, focus="app") == {"main;?": 10}


def test_samples_without_a_stack_are_left_out_by_any_name_filter():
    profile = built([Sample((), (1, 10 * MS)), Sample(parsed("f"), (1, 20 * MS))])
    assert by(profile) == {"": 10, "f": 20}
    assert by(profile, hide="nothing") == {"f": 20}


@pytest.mark.parametrize(
    ("option", "matched"),
    [(name, yes) for name in ("focus", "ignore", "hide", "show", "show_from")
     for yes in (True, False)]
    + [("tagfocus", False), ("tagignore", False)],
)  # fmt: skip
def test_a_filter_that_matches_nothing_is_reported(option, matched):
    found = filtered(cpu(STACKS), Filters(**{option: "work" if matched else "nowhere"}))
    want = () if matched else (f"{option}=nowhere matched no samples",)
    assert found.warnings == want


def test_show_is_reported_if_hide_took_all_it_would_show():
    found = filtered(cpu(STACKS), Filters(hide="json", show="json"))
    assert found.warnings == ("show=json matched no samples",)


def tagged(*labels):
    """Return samples of 10 ms, 20 ms, 40 ms… with these labels each."""
    return built(
        Sample(parsed(f"f{i}"), (1, (10 * MS) << i), tuple(row))
        for i, row in enumerate(labels)
    )


TAGGED = tagged(
    [("tenant", "acme"), ("bytes", (1 << 20, "bytes"))],
    [("tenant", "initech"), ("bytes", (32 << 10, "bytes"))],
    [("tenant", "acme"), ("shard", "7"), ("age", (7, ""))],
    [],
    [("alignment", (4096, "")), ("shard", "1"), ("shard", "2")],
)


@pytest.mark.parametrize(
    ("tag", "want"),
    [
        ("acme", {0, 2}),
        ("tenant:acme", {0, 2}),
        ("^acme", set()),
        ("tenant=^acme$", {0, 2}),
        ("acme,shard", {2}),
        ("tenant=acme,initech", {0, 1, 2}),
        ("shard=acme", set()),
        ("shard=^2", {4}),
        ("shard=^(2|7)$", {2, 4}),
        ("32kb:", {0, 1}),
        ("bytes=32kb:", {0, 1}),
        ("bytes=32kb", {1}),
        ("bytes=:32kb", {1}),
        ("bytes=32kb:512kb", {1}),
        ("bytes=1mb", {0}),
        ("bytes=1048576b", {0}),
        ("bytes=7", set()),
        # A number in a unit that nobody knows counts in whatever unit is asked for.
        ("4kb:", {0, 1, 2, 4}),
        ("alignment=4096b", {4}),
        ("age=7age", {2}),
        ("7", {2}),
        ("1mb:2ms", set()),
    ],
)
def test_tags(tag, want):
    kept = {f"f{i}" for i in want}
    assert set(by(TAGGED, tagfocus=tag)) == kept
    assert set(by(TAGGED, tagignore=tag)) == {f"f{i}" for i in range(5)} - kept


def test_a_range_is_no_pattern():
    assert filtered(TAGGED, Filters(tagfocus="32kb:")).warnings == (
        "tagfocus=32kb: is a range of numbers, not a pattern",
    )
    assert filtered(TAGGED, Filters(tagfocus="acme")).warnings == ()


def test_units_of_numbers_are_the_first_given_or_the_key_itself():
    profile = tagged(
        [("size", (1, ""))], [("size", (1, "kb"))], [("size", (1, "mb"))],
        [("age", (1, ""))], [("request", (1, ""))], [("text", "x")],
    )  # fmt: skip
    assert number_units(profile) == {"size": "kb", "age": "age", "request": "bytes"}


def test_numbers_beyond_64_bits_are_refused():
    with pytest.raises(UsageError, match="64-bit"):
        filtered(TAGGED, Filters(tagfocus="99999999999999999999"))


@pytest.mark.parametrize("option", ["focus", "hide", "show_from", "tagignore"])
def test_a_bad_pattern_is_refused(option):
    with pytest.raises(UsageError, match=f"^{option}: "):
        filtered(TAGGED, Filters(**{option: "a("}))


def test_active_filters_are_listed_in_the_order_of_pprof():
    options = Filters(tagignore="x", ignore="i", focus="f", show_from="s")
    assert options.active == (
        "focus=f",
        "ignore=i",
        "show_from=s",
        "tagignore=x",
    )


NAMES = st.sampled_from(
    ("main", "runtime", "json", "go", "Cache", r"func\d", "nowhere")
)


@given(profiles(), NAMES, NAMES)
def test_focus_and_ignore_commute(profile, focus, ignore):
    together = filtered(profile, Filters(focus=focus, ignore=ignore)).profile
    one = filtered(profile, Filters(focus=focus)).profile
    other = filtered(profile, Filters(ignore=ignore)).profile
    assert said(filtered(one, Filters(ignore=ignore)).profile) == said(together)
    assert said(filtered(other, Filters(focus=focus)).profile) == said(together)


# Not ranges of numbers: pprof takes their unit from all samples, so from those that a
# focus drops too.
@pytest.mark.slow
@given(profiles(), NAMES, st.sampled_from(("a", "tenant=b", "true")))
def test_tags_and_names_commute(profile, focus, tag):
    together = filtered(profile, Filters(focus=focus, tagfocus=tag)).profile
    first = filtered(profile, Filters(focus=focus)).profile
    assert said(filtered(first, Filters(tagfocus=tag)).profile) == said(together)


@given(profiles(), NAMES)
def test_focus_and_its_reverse_share_out_all_samples_with_a_stack(profile, name):
    kept, rest = (
        filtered(profile, Filters(**{which: name})).profile.values.sum(axis=0)
        for which in ("focus", "ignore")
    )
    some = np.diff(profile.stack_offsets) > 0
    assert (kept + rest).tolist() == profile.values[some].sum(axis=0).tolist()


@pytest.mark.slow
@given(profiles(), NAMES, st.sampled_from(("hide", "show", "show_from")))
def test_a_filter_applied_twice_does_no_more(profile, name, option):
    options = Filters(**{option: name})
    once = filtered(profile, options).profile
    assert said(filtered(once, options).profile) == said(once)


@pytest.mark.slow
@given(profiles(), NAMES)
def test_what_is_left_still_adds_up(profile, name):
    hidden = filtered(profile, Filters(hide=name)).profile
    keys, ids = frame_keys(hidden, "functions")
    flat, _ = flat_and_cum(hidden, ids, len(keys), hidden.values)
    assert flat.sum(axis=0).tolist() == hidden.values.sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("drop", "keep", "want"),
    [
        ("", "", "main;(*T).malloc;malloc;memset"),
        ("malloc", "", "main;(*T).malloc"),
        (".*malloc", "", "main;(*T).malloc"),
        ("malloc|memset", "malloc", "main;(*T).malloc;malloc"),
        ("main", "", "main;(*T).malloc;malloc;memset"),
        ("[", "", "main;(*T).malloc;malloc;memset"),
        ("mal", "", "main;(*T).malloc;malloc;memset"),
    ],
)
def test_dropped_frames_take_what_they_call_with_them(drop, keep, want):
    profile = cpu(
        {"main;(*T).malloc;malloc;memset": 10}, drop_frames=drop, keep_frames=keep
    )
    assert left(pruned_frames(profile)) == {want: 10}


def test_a_dropped_inlined_frame_leaves_its_caller():
    profile = cpu({"main;work>malloc>memset;clear": 10}, drop_frames="malloc")
    assert left(pruned_frames(profile)) == {"main;work": 10}
