"""Flat, cum and edges against the loops that one would write first."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.ledger import graph as module
from pprofdiff.analysis.ledger.graph import (
    Edges,
    by_location,
    calls_between,
    edges,
    flat_and_cum,
    walk_some,
)
from pprofdiff.analysis.profiles.nodes import (
    GRANULARITIES,
    frame_keys,
    identify,
    outermost,
)
from pprofdiff.errors import UsageError
from tests.building import MS, Frame, Place, Sample, built, cpu, parsed
from tests.strategies import profiles

granularities = st.sampled_from(sorted(GRANULARITIES))


def stacks(profile, ids):
    """Return each sample's (node, inlined) pairs, leaf first."""
    offsets = profile.locations.line_offsets.tolist()
    bounds = profile.stack_offsets.tolist()
    for i in range(len(profile)):
        places = profile.stack_locations[bounds[i] : bounds[i + 1]].tolist()
        yield [
            (int(ids[line]), line != offsets[place + 1] - 1)
            for place in places
            for line in range(offsets[place], offsets[place + 1])
        ]


@given(profiles(), st.data())
def test_chosen_samples_have_their_own_frames(profile, data):
    size = st.lists(st.booleans(), min_size=len(profile), max_size=len(profile))
    chosen = np.flatnonzero(data.draw(size))
    lines = np.arange(len(profile.locations.line_function))
    wanted = list(stacks(profile, lines))
    found = {
        int(sample): frames.line[low:high].tolist()
        for samples, frames in walk_some(profile, chosen)
        for sample, (low, high) in zip(samples, pairwise(frames.offsets), strict=True)
    }
    assert found == {i: [line for line, _ in wanted[i]] for i in chosen.tolist()}


@given(profiles(), granularities)
def test_flat_and_cum_match_the_loop(profile, granularity):
    keys, ids = frame_keys(profile, granularity)
    flat, cum = np.zeros((2, len(keys), 2), np.int64)
    for values, stack in zip(profile.values, stacks(profile, ids), strict=True):
        for node in {node for node, _ in stack}:
            cum[node] += values
        if stack:
            flat[stack[0][0]] += values
    got = flat_and_cum(profile, ids, len(keys), profile.values)
    assert got[0].tolist() == flat.tolist()
    assert got[1].tolist() == cum.tolist()


@pytest.mark.slow
@given(profiles(), granularities)
def test_flat_adds_up_to_the_samples_that_have_a_stack(profile, granularity):
    keys, ids = frame_keys(profile, granularity)
    flat, _ = flat_and_cum(profile, ids, len(keys), profile.values)
    some = np.diff(profile.stack_offsets) > 0
    assert flat.sum(axis=0).tolist() == profile.values[some].sum(axis=0).tolist()


def test_sums_of_large_values_are_exact(monkeypatch):
    huge = (1 << 61) + 1
    rows = [Sample(parsed("a;b"), (i, huge - i)) for i in range(3)]
    profile = built([*rows, Sample(parsed("a"), (1, -huge))])
    keys, ids = frame_keys(profile, "functions")
    flat, cum = flat_and_cum(profile, ids, len(keys), profile.values)
    by_name = {key[0]: i for i, key in enumerate(keys)}
    assert flat[by_name["b"]].tolist() == [3, 3 * huge - 3]
    assert cum[by_name["a"]].tolist() == [4, 2 * huge - 3]


def test_sums_do_not_depend_on_how_samples_are_cut_up(monkeypatch):
    profile = cpu({f"main;f{i % 7};f{i % 3}>g": 10 * i + 10 for i in range(50)})
    keys, ids = frame_keys(profile, "functions")
    want = flat_and_cum(profile, ids, len(keys), profile.values)
    monkeypatch.setattr(module, "_FRAMES_AT_ONCE", 3)
    got = flat_and_cum(profile, ids, len(keys), profile.values)
    assert [g.tolist() for g in got] == [w.tolist() for w in want]


def test_no_samples():
    profile = cpu({})
    keys, ids = frame_keys(profile, "functions")
    flat, cum = flat_and_cum(profile, ids, 0, profile.values)
    assert (keys, len(ids), flat.shape, cum.shape) == ([], 0, (0, 2), (0, 2))


def test_recursion_counts_once():
    profile = cpu({"main;rec;rec>rec;leaf": 10})
    keys, ids = frame_keys(profile, "functions")
    _, cum = flat_and_cum(profile, ids, len(keys), profile.values)
    assert dict(
        zip((k[0] for k in keys), cum[:, 1].tolist(), strict=True)
    ) == dict.fromkeys(("main", "rec", "leaf"), 10 * MS)


@pytest.mark.parametrize(
    ("granularity", "want"),
    [
        ("functions", {("f", "", 0), ("[app]", "", 0)}),
        ("filefunctions", {("f", "/a/x.go", 0), ("f", "/b/x.go", 0), ("[app]", "", 0)}),
        ("files", {("", "/a/x.go", 0), ("", "/b/x.go", 0), ("[app]", "", 0)}),
        ("lines", {("f", "/a/x.go", 1), ("f", "/a/x.go", 2), ("f", "/b/x.go", 1),
                   ("[app]", "", 0)}),
    ],
)  # fmt: skip
def test_keys_by_granularity(granularity, want):
    stacks = ("f@/a/x.go:1", "f@/a/x.go:2", "f@/b/./x.go:1", "")
    places = [parsed(s)[0] if s else Place((Frame(""),), 1) for s in stacks]
    profile = built([Sample((p,), (1, 1)) for p in places])
    keys, ids = frame_keys(profile, granularity)
    assert set(keys) == want
    assert len(keys) == len(want)
    assert sorted(set(ids.tolist())) == list(range(len(keys)))


@pytest.mark.parametrize(
    ("frame", "granularity", "name"),
    [
        (Frame("f", "/x/../y.go", 3, column=4), "lines", "f /y.go:3"),
        (
            Frame("f", "/x/../y.go", 3, column=4),
            "addresses",
            "0000000000000010 f /y.go:3:4",
        ),
        (Frame("f", "", 3), "lines", "f :3"),
        (Frame("", "y.go"), "filefunctions", "y.go"),
        (Frame("", "y.go"), "functions", "[app]"),
        (Frame(""), "lines", "[app]"),
        (Frame("f", "/proc/self/cwd/./y.go"), "files", "y.go"),
    ],
)
def test_printable_names(frame, granularity, name):
    profile = built([Sample((Place((frame,), 0x10),), (1, 1))])
    nodes, ids = identify(profile, granularity)
    assert nodes.printable(int(ids[0])) == name


def test_a_frame_without_anything_is_unknown():
    profile = built([Sample((Place((Frame(""),), 0, -1),), (1, 1))])
    assert frame_keys(profile, "functions")[0] == [("<unknown>", "", 0)]


def test_an_unknown_granularity_is_refused():
    with pytest.raises(UsageError, match="packages"):
        frame_keys(cpu({}), "packages")


def test_outermost_leaves_the_caller_of_what_is_inlined():
    profile = outermost(cpu({"main;rec>h>g": 10}))
    keys, _ = frame_keys(profile, "functions")
    assert {key[0] for key in keys} == {"main", "rec"}


@pytest.mark.slow
@given(profiles(), granularities, st.data())
def test_edges_match_the_loop(profile, granularity, data):
    nodes, ids = identify(profile, granularity)
    size = len(nodes)
    gone = data.draw(st.sets(st.integers(0, max(size - 1, 0)), max_size=2))
    ids = np.array([-1 if i in gone else i for i in ids.tolist()], np.int64)
    weights = profile.values[:, 1]
    want: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, True])
    for weight, stack in zip(weights.tolist(), stacks(profile, ids), strict=True):
        caller, seen = -1, set()
        for node, inlined in reversed(stack if weight else []):
            if node < 0:
                continue
            pair = (caller, node)
            if caller >= 0 and caller != node and pair not in seen:
                seen.add(pair)
                want[pair][0] += weight
                want[pair][1] = want[pair][1] and inlined
            caller = node
    everywhere = np.ones(size, np.bool_)
    counted = weights != 0
    found = edges(
        profile,
        ids,
        weights,
        counted=counted,
        callers=everywhere,
        callees=everywhere,
    )
    rows = zip(
        zip(found.caller.tolist(), found.callee.tolist(), strict=True),
        map(list, zip(found.weight.tolist(), found.inline.tolist(), strict=True)),
        strict=True,
    )
    assert dict(rows) == want
    callee = np.zeros(size, np.bool_)
    callee[:2] = True
    to_callees = edges(
        profile, ids, weights, counted=counted, callers=~everywhere, callees=callee
    )
    assert len(to_callees) == sum(pair[1] < 2 for pair in want)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 1 << 18])
@given(profile=profiles(), data=st.data())
def test_calls_between_locations_match_the_loop(at_once, profile, data):
    size = len(profile.locations.line_offsets) - 1
    flags = st.lists(st.booleans(), min_size=size, max_size=size)
    callees, callers = (np.array(data.draw(flags), np.bool_) for _ in range(2))
    want = []
    for start, stop in pairwise(profile.stack_offsets.tolist()):
        stack = [*profile.stack_locations[start:stop].tolist(), -1]
        for item, (callee, caller) in enumerate(pairwise(stack), start):
            if callees[callee] and (caller < 0 or callers[caller]):
                want.append((callee, caller, item))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FRAMES_AT_ONCE", at_once)
        got = [
            row
            for calls in calls_between(profile, callees, callers)
            for row in zip(*(column.tolist() for column in calls), strict=True)
        ]
    assert got == want


@pytest.mark.slow
@given(profiles())
def test_values_by_location_match_the_loop(profile):
    want = [0] * (len(profile.locations.line_offsets) - 1)
    bounds, values = profile.stack_offsets.tolist(), profile.values[:, 0]
    for sample, value in enumerate(values.tolist()):
        for place in profile.stack_locations[bounds[sample] : bounds[sample + 1]]:
            want[place] += value
    assert by_location(profile, values).tolist() == want


def test_edges_are_changed_by_replacing_a_column():
    pairs = np.arange(3), np.arange(3) + 1
    calls = Edges(*pairs, np.array([5, -7, 2]), np.zeros(3, np.bool_))
    doubled = replace(calls, weight=calls.weight * 2)
    assert (len(doubled), doubled.weight.tolist()) == (3, [10, -14, 4])
    assert doubled.take(np.array([2, 0])).caller.tolist() == [2, 0]
    assert calls.weight.tolist() == [5, -7, 2]
    with pytest.raises(AttributeError, match="immutable"):
        calls.weight = doubled.weight
