"""The packed call tree: read back as a page's script does, and small enough for it."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from itertools import takewhile

import numpy as np
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.call_tree import (
    NO_CATEGORY,
    SEVERAL,
    call_tree,
    inclusive,
    noise_limit,
)
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.scaling import in_words, scale_of
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.report.html.flame import budgets, packed
from pprofdiff.report.html.packing import embedded, varints
from tests.analysis.building import compared, given, profile, profiles
from tests.building import cpu
from tests.conftest import STORIES
from tests.examples import daily
from tests.strategies import profiles as any_profiles

from .unpacking import (
    hidden_of,
    labelled_of,
    marks_of,
    name_ids,
    names_of,
    numbers,
    unpacked,
)

KINDS = ("cpu", "allocs", "heap", "mutex", "block", "goroutine")
SPACE = (ValueType("objects", "count"), ValueType("space", "bytes"))
HOSTILE = (
    "</script><script>alert(1)</script>", "<!--", "]]>", "\"quoted'`&amp;", "\\u003c", "",
    "main.\u202eevil\u2066x\u2069", "line\nbreak\ttab\r\n\0", "main." + "x" * 10_000,
    "main." + "x" * 9_990 + "y", "main.😀", "main.😁", "main.😀.func1", "\u2028\u2029",
    "é́شمس", "__proto__", "constructor", "<no stack>", "\ufffd", "\U0010ffff", "\x7f",
)  # fmt: skip
PAIRS = st.tuples(profiles(), profiles()) | st.tuples(any_profiles(), any_profiles())


def meant(diff, budget):
    """Return what `unpacked` has to give."""
    tree, names = call_tree(diff, budget)[0], diff.paired_functions.names
    ids = {NO_CATEGORY: None, SEVERAL: "several"} | dict(enumerate(rules().categories))
    fields = ("depth", "name", "folded", "base_self", "new_self", "category")
    columns = (getattr(tree, field).tolist() for field in fields)
    return [
        (depth, names[name] if name >= 0 else None, folded, base, new, ids[category])
        for depth, name, folded, base, new, category in zip(*columns, strict=True)
    ]


def read(diff, **how):
    """Return the packed tree as the page's script gets it."""
    return json.loads(embedded(packed(diff, **how)))


@pytest.mark.slow
@given(PAIRS, st.integers(0, 12) | st.just(10_000))
def test_what_is_packed_comes_out(pair, budget):
    diff = compared(*pair)
    assert unpacked(read(diff, budget=budget)) == meant(diff, budget)


@pytest.mark.slow
@pytest.mark.parametrize("name", daily(STORIES, ("rss-search", "zstd")))
def test_real_captures_come_out_of_few_bytes(name, load_story, load_capture):
    held = load_story(name)
    size = 0
    for kind in KINDS:
        diff = compared(
            *(load_capture(side / f"{kind}.pb.gz") for side in (held.base, held.new))
        )
        document = packed(diff, budget=10_000)
        assert unpacked(document) == meant(diff, 10_000)
        assert unpacked(packed(diff, budget=50)) == meant(diff, 50)
        size += len(embedded(document))
        assert len(b64decode(document["nodes"])) < 10 * document["count"]
    # A fifth of what a whole page may have.
    assert size < 100_000


def test_what_numbers_mean_is_said(load_story, load_capture):
    held = load_story("syncpool")
    diff = compared(*(load_capture(s / "cpu.pb.gz") for s in (held.base, held.new)))
    document = read(diff, budget=10_000)
    by = diff.normalization
    assert document["id"] == document["title"] == "cpu"
    assert document["mode"] == in_words(diff)
    assert document["scale"] == scale_of(diff)._asdict()
    assert document["factor"] == [by.base_factor, by.new_factor]
    assert document["totals"] == list(diff.totals)
    assert document["labels"] == ["base", "new"]
    groups = rules().groups
    assert document["groups"] == [[g.id, g.label] for g in groups]
    for category, label, group in document["categories"]:
        assert label == rules().category_labels[category]
        assert category in groups[group].categories


def by_formula(diff, rows):
    """Return (the least |delta| beyond noise, whether it is) of raw (base, new)."""
    limit, found = noise_limit(diff), []
    (old, fresh), model = diff.normalization.factors, diff.model
    for base, new in rows:
        needs = limit
        if limit is not None:
            row = Runs.single(*np.array([[base], [new]], np.int64))
            (needs,) = model.needs(row, limit).tolist()
        delta = abs(new * fresh - base * old)
        found.append((needs, limit is not None and delta >= needs))
    return found


def assert_marked(document, marks, wanted):
    """Assert that marks say what a formula says, but for rounding up by a step."""
    step = 10 ** (1 / 24)
    for mark, (needs, beyond) in zip(marks, wanted, strict=True):
        assert (mark == 0) == beyond
        # No change would be beyond noise where the formula has no limit.
        assert (mark == 1) == (not beyond and (needs is None or np.isinf(needs)))
        if mark > 1:
            got = document["reach"] * step ** (mark - 2)
            assert needs * (1 - 1e-9) <= got <= needs * step * (1 + 1e-9)


def sums_of_names(document):
    """Return (base, new) of the outermost nodes of each function."""
    held, path = [[0, 0] for _ in document["suffix"]], []
    ids, nodes = name_ids(document), unpacked(document)
    for i, (name, (depth, *_)) in enumerate(zip(ids, nodes, strict=True)):
        del path[depth:]
        if name is not None and name not in path:
            deeper = takewhile(lambda node, up=depth: node[0] > up, nodes[i + 1 :])
            below = list(deeper)
            for side in (0, 1):
                total = sum(node[3 + side] for node in (nodes[i], *below))
                held[name][side] += total
        path.append(name)
    return held


def marks_are_of(diff, document):
    """Assert that the packed marks are the judgements of what the page shows."""
    nodes, functions = marks_of(document)
    tree = call_tree(diff, 10_000)[0]
    below = [(base, new) for base, new in zip(*merged(inclusive(tree)), strict=True)]
    own = [(node[3], node[4]) for node in unpacked(document)]
    as_ints = [tuple(map(int, row)) for row in below]
    assert as_ints[0] == diff.totals
    whole, *marks = [mark for mark, _ in nodes]
    assert_marked(document, marks, by_formula(diff, as_ints[1:]))
    noise = total_noise(diff)
    assert noise is None or (whole == 0) == (not noise)
    beyond = [found for _, found in by_formula(diff, [(0, 0), *own])]
    assert [own for _, own in nodes] == beyond
    assert_marked(document, functions, by_formula(diff, sums_of_names(document)))


def selves_of_names(document):
    """Return (base, new) of the self values of each function's nodes."""
    known = [[0, 0] for _ in document["suffix"]]
    for name, node in zip(name_ids(document), unpacked(document), strict=True):
        if name is not None:
            known[name][0] += node[3]
            known[name][1] += node[4]
    return known


@pytest.mark.slow
@given(PAIRS, st.integers(0, 12) | st.just(10_000))
def test_functions_are_exact_whatever_is_folded(pair, budget):
    """What nodes have and what is hidden add up to a function's row of the table."""
    diff = compared(*pair)
    document = read(diff, budget=budget)
    folded = any(node[2] for node in unpacked(document))
    assert (document["hidden"] is not None) == folded
    # Two functions may have one name: closures that are not each other's.
    got = Counter[tuple[str, int]]()
    nodes = sums_of_names(document), selves_of_names(document)
    of_names = zip(names_of(document), hidden_of(document), *nodes, strict=True)
    for name, hidden, *drawn in of_names:
        for values in (hidden, drawn):
            for place, value in enumerate((*values[0], *values[1])):
                got[name, place] += value
    table = diff.table("functions")
    wanted = Counter[tuple[str, int]]()
    sides = (side.tolist() for side in (*table.raw("cum"), *table.raw("flat")))
    for name, *values in zip(table.names, *sides, strict=True):
        for place, value in enumerate(values):
            wanted[name, place] += value
    left = Counter(table.names) - Counter(names_of(document))
    part = {name for name, _ in got} - left.keys()
    assert {k: v for k, v in got.items() if k[0] in part} == {
        (name, place): wanted[name, place] for name in part for place in range(4)
    }
    # Of a tree without folded callees, all functions that have a value have a node.
    assert left.total() == document["left"]
    assert document["left"] == 0 or len(names_of(document)) >= 2 * budget


def values_of_labels(side):
    """Return {key: {value: its samples}} of a profile, a sample as often as it has it."""
    strings, labels, known = side.profile.strings, side.profile.labels, {}
    rows = (labels.sample, labels.key, labels.text, labels.number, labels.unit)
    for sample, key, text, number, unit in zip(*map(list, rows), strict=True):
        if text or number or unit:
            value = strings[text] or f"{number} {strings[unit]}".rstrip()
            samples = known.setdefault(strings[key], {}).setdefault(value, set())
            samples.add(int(sample))
    return known


def assert_labels_share_out(diff, document):
    """Assert that the sums of each label's values are its samples' sums."""
    sides = [values_of_labels(side) for side in (diff.base, diff.new)]
    wanted = {}
    for key in sorted({*sides[0], *sides[1]}):
        by_value = [side.get(key, {}) for side in sides]
        values = sorted({*by_value[0], *by_value[1]})
        apart = all(
            sum(map(len, side.values())) == len(set().union(*side.values()))
            for side in by_value
        )
        if apart and len(values) <= 12:
            wanted[key] = {
                value: tuple(
                    sum(int(column[i]) for i in side.get(value, ()))
                    for column, side in zip(diff.values, by_value, strict=True)
                )
                for value in values
            }
            named = [sum(v[i] for v in wanted[key].values()) for i in (0, 1)]
            without = zip(diff.totals, named, strict=True)
            wanted[key][""] = tuple(total - part for total, part in without)
    got = labelled_of(document)
    assert list(got) == list(wanted)[:3]
    for key, by_value in got.items():
        sums = {
            v: tuple(map(sum, zip(*pairs, strict=True)))
            for v, pairs in by_value.items()
        }
        assert {v: s or (0, 0) for v, s in sums.items()} == wanted[key]
        for i, node in enumerate(unpacked(document)):
            parts = [pairs[i] for pairs in by_value.values()]
            assert tuple(map(sum, zip(*parts, strict=True))) == node[3:5]


@pytest.mark.slow
@given(st.tuples(any_profiles(), any_profiles()), st.integers(0, 12) | st.just(10_000))
def test_labels_share_out_what_nodes_have(pair, budget):
    diff = compared(*pair)
    assert_labels_share_out(diff, read(diff, budget=budget))


def test_labels_of_a_real_capture_share_out_its_nodes(load_story, load_capture):
    story = load_story("syncpool")
    diff = compared(*(load_capture(s / "cpu.pb.gz") for s in (story.base, story.new)))
    document = read(diff, budget=10_000)
    assert_labels_share_out(diff, document)
    (label,) = document["filters"]
    assert (label["key"], label["values"]) == ("handler", ["", "query", "write"])
    assert len(b64decode(label["nodes"])) < 2 * document["count"]


@pytest.mark.slow
@given(st.tuples(profiles(), profiles()))
def test_every_frame_has_its_mark(pair):
    diff = compared(*pair)
    marks_are_of(diff, read(diff, budget=10_000))


@pytest.mark.parametrize("name", daily(STORIES, ("rss-search", "zstd")))
def test_frames_of_real_captures_are_marked(name, load_story, load_capture):
    held = load_story(name)
    diff = compared(*(load_capture(s / "cpu.pb.gz") for s in (held.base, held.new)))
    document = read(diff, budget=100_000)
    nodes, functions = marks_of(document)
    assert len(nodes) == document["count"] + 1
    # A name's outermost nodes add up to its row of the table.
    table = diff.table("functions")
    verdicts = dict(zip(table.names, table.judge("cum").noise.tolist(), strict=True))
    said = dict(zip(names_of(document), functions, strict=True))
    assert {name: mark > 0 for name, mark in said.items()} == {
        name: verdicts[name] for name in said
    }
    # A few marks take more than a byte.
    assert len(b64decode(document["marks"])) < 1.1 * len(nodes)


def test_what_has_no_categories_and_no_model_says_so(load_story, load_capture):
    held = load_story("syncpool")
    sides = [load_capture(side / "mutex.pb.gz") for side in (held.base, held.new)]
    document = read(compared(*sides), budget=100)
    assert (document["id"], document["title"]) == ("mutex/delay", "mutex (delay)")
    assert document["groups"] == document["categories"] == []
    assert document["marks"] is document["functions"] is document["reach"] is None
    assert {row[-1] for row in unpacked(document)} == {None}


def test_hostile_names_end_no_script_and_come_back_whole():
    stacks = [((name, "main.main"), i + 1) for i, name in enumerate(HOSTILE)]
    diff = compared(profile(stacks), profile(stacks[::2]))
    text = embedded(packed(diff, budget=1000))
    assert text.isascii()
    assert not set(text) & set("<>&\n")
    document = json.loads(text)
    assert unpacked(document) == meant(diff, 1000)
    # A function without a name is shown as one that is unknown.
    shown = {name or "<unknown>" for name in HOSTILE} | {"main.main"}
    assert set(names_of(document)) == shown
    assert names_of(document) == sorted(shown)


def test_names_that_were_others_in_base():
    old = [((f"main.{f}", "main.main"), 5) for f in ("F[go.shape.int]", "same", "gone")]
    new = [
        ((f"main.{f}", "main.main"), 5) for f in ("F[go.shape.string]", "same", "fresh")
    ]
    document = read(compared(profile(old), profile(new)), budget=100)
    names = names_of(document)
    assert {names[int(i)]: was for i, was in document["was"].items()} == {
        "main.F[go.shape.string]": "was [int]"
    }
    assert "main.gone" in names


@pytest.mark.whole
@pytest.mark.slow
def test_names_alone_stay_under_the_cap():
    stacks = [
        ((f"main.{i:04}{'y' * 9_000}{i}", f"main.{i % 7}"), i + 1) for i in range(1000)
    ]
    diff = compared(profile(stacks), profile(stacks))
    assert len(embedded(packed(diff, budget=1000))) > 8_000_000
    for cap in (2_000_000, 120_000, 5_000):
        document = packed(diff, budget=1000, cap=cap)
        assert len(embedded(document)) <= cap
        nodes = unpacked(document)
        assert tuple(sum(row[i] for row in nodes) for i in (3, 4)) == diff.totals
        kept = sum(row[1] is not None for row in nodes)
        assert kept * 10_000 > cap // 2 or cap == 5_000
    shared = [((f"main.{'y' * 9_000}{i}", "main.main"), i + 1) for i in range(1000)]
    diff = compared(profile(shared), profile(shared))
    assert packed(diff, budget=2000, cap=100_000)["count"] == 1001


def test_values_of_64_bits_are_exact():
    large = (1 << 61) + 1
    stacks = [((f"main.{i}",), (0, v)) for i, v in enumerate((large, large - 3, -1))]
    less = [(stack, (0, -2 * value)) for stack, (_, value) in stacks[:1]]
    diff = compared(profile(stacks, types=SPACE), profile(less, types=SPACE))
    document = read(diff, budget=10)
    assert document["quantum"] == [1, 2 * large]
    assert unpacked(document) == meant(diff, 10)
    assert document["totals"] == [2 * large - 4, -2 * large]


def test_nothing_is_packed_too():
    document = read(compared(profile([]), profile([])), budget=10)
    assert unpacked(document) == names_of(document) == []
    assert document["quantum"] == [1, 1]
    assert marks_of(document) == ([(1, False)], [])
    assert document["reach"] is None


def test_varints_are_leb128():
    assert varints(np.array([0, 1, 127, 128, 300])) == b"\0\1\x7f\x80\1\xac\2"
    largest = np.array([2**64 - 1], np.uint64)
    assert varints(largest) == b"\xff" * 9 + b"\1"
    assert varints(np.zeros(0, np.int64)) == b""


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300)))
def test_varints_come_back(values):
    assert numbers(varints(np.array(values, np.uint64))) == values


def wide(frames):
    """Return a comparison of stacks with so many frames in all, a side."""
    stacks = [((f"main.f{i}",), 1) for i in range(frames)]
    return compared(profile(stacks), profile(stacks))


@given(
    st.lists(st.integers(0, 40), max_size=5), st.integers(0, 200), st.integers(1, 60)
)
def test_budgets_share_what_there_is(sizes, total, most):
    diffs = [wide(size) for size in sizes]
    shares = budgets(diffs, total, most)
    needs = [min(most, 2 * size + 2) for size in sizes]
    assert all(0 <= share <= need for share, need in zip(shares, needs, strict=True))
    # All that can be used is given away, but for what equal shares leave over.
    assert min(sum(needs), total) - sum(shares) < max(len(sizes), 1)
    short = [s for s, need in zip(shares, needs, strict=True) if s < need]
    assert max(short, default=0) - min(short, default=0) <= 1
    assert all(max(short, default=0) + 1 >= s for s in shares if short)


def test_budgets_count_inlined_frames():
    diff = compared(cpu({"a>b>c;d": 10}), cpu({"a>b": 10}))
    assert budgets([diff]) == [4 + 1 + 2 + 1]
