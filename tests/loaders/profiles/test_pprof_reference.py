"""`decode` against a slow reader made of protobuf's own classes, on every spelling."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.loaders.profiles.schema import message_class
from tests.examples import examples

from .plain import plain, read, same
from .spelling import CANONICAL, Spelling
from .strategies import messages, spellings

SEED = Random(0)
SMALL = [
    (1, [(1, 1), (2, 2)]),
    (2, [(1, (1, 2)), (2, (7,)), (3, [(1, 1), (2, 2)])]),
    (3, [(1, 1), (5, 2)]),
    (4, [(1, 1), (2, 1), (4, [(1, 1), (2, 10)])]),
    (4, [(1, 2), (2, 1), (4, [(1, 1), (2, 11)]), (4, [(1, 2), (2, 12)])]),
    (5, [(1, 1), (2, 3)]),
    (5, [(1, 2), (2, 4)]),
    *((6, s) for s in (b"", b"cpu", b"ns", b"main.f", b"main.g")),
]


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(messages(), spellings, st.randoms(use_true_random=False))
def test_any_spelling_of_any_profile_is_read_as_protobuf_reads_it(
    fields, spelling, random
):
    same(spelling.write(fields, random))


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(messages(sound=True), spellings, st.randoms(use_true_random=False))
def test_how_a_sound_profile_is_spelled_changes_nothing(fields, spelling, random):
    data = CANONICAL.write(fields, random)
    assert same(data)
    other = spelling.write(fields, random)
    assert plain(decode(other)) == plain(decode(data))


def test_the_slow_reader_reads_what_was_written():
    found = read(CANONICAL.write(SMALL, SEED))
    assert found["sample_types"] == [("cpu", "ns")]
    assert found["samples"] == [([0, 1], [7], [(1, 2, 0, 0)])]
    assert [len(lines) for *_, lines in found["locations"]] == [1, 2]
    assert found["functions"] == [(3, 0, 0, 0), (4, 0, 0, 0)]


@pytest.mark.parametrize("table", ["mapping", "function", "location"])
@pytest.mark.parametrize("spelled", [True, False], ids=["0", "absent"])
def test_the_id_0_defines_nothing(table, spelled):
    number = {"mapping": 3, "function": 5, "location": 4}[table]
    row = (number, [(1, 0)] if spelled else [(2, 1)])
    assert not same(CANONICAL.write([*SMALL, row], SEED))


@pytest.mark.parametrize("spelled", [True, False], ids=["0", "absent"])
def test_a_reference_to_mapping_0_means_none(spelled):
    fields = [*SMALL, (4, [(1, 3), *([(2, 0)] if spelled else [])])]
    data = CANONICAL.write(fields, SEED)
    assert same(data)
    locations = decode(data).locations
    assert locations.mapping[2] == -1
    assert locations.line_function[-1] == -1


@pytest.mark.parametrize(
    "top", [3, 5000, 1 << 31, 1 << 32, (1 << 63) + 5, (1 << 64) - 1]
)
def test_ids_may_be_any_64_bits(top):
    fields = [
        *SMALL[:3],
        (4, [(1, 1), (4, [(1, top)])]),
        (4, [(1, top), (2, 1), (4, [(1, 1)])]),
        (2, [(1, (top, 1, top)), (2, (1,))]),
        (4, [(1, 2)]),
        (5, [(1, top), (2, 3)]),
        (5, [(1, 1), (2, 4)]),
        *SMALL[7:],
    ]
    data = CANONICAL.write(fields, SEED)
    assert same(data)
    profile = decode(data)
    assert profile.stack_locations.tolist() == [0, 2, 1, 0, 1]
    assert profile.locations.line_function.tolist() == [0, 1, -1]


def test_an_empty_file_is_an_empty_profile():
    assert same(b"")
    assert len(decode(b"")) == 0


def test_strings_that_are_not_utf8_are_readable():
    data = CANONICAL.write([*SMALL, (6, b"bad \xff\xfe name")], SEED)
    assert same(data)
    assert decode(data).strings[-1] == "bad \ufffd\ufffd name"


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("part", [1, 3])
@pytest.mark.parametrize("odd", [False, True], ids=["plain", "unknown fields"])
def test_samples_of_several_chunks_keep_their_order_and_labels(part, odd):
    random = Random(5)
    message = message_class("Profile")()
    message.sample_type.add(type=1, unit=2)
    message.string_table.extend([b"", b"cpu", b"ns"])
    for i in range(1, 301):
        message.location.add(id=i * part, address=i)
    for i in range(40_000):
        depth = random.randint(0, 4)
        sample = message.sample.add(
            location_id=[random.randint(1, 300) * part for _ in range(depth)],
            value=[i - 20_000],
        )
        if i % 9_999 == 5:
            sample.label.add(key=1, num=i)
    data = message.SerializeToString()
    if odd:
        data += CANONICAL.write([(2, [(1, (part,)), (2, (5,)), (16, 3)])], random)
    assert same(data)


@pytest.mark.slow
@pytest.mark.parametrize("field", [1, 2, 3, 6])
def test_a_long_list_may_stand_unpacked(field):
    number = {1: 1, 2: 2, 3: 3, 6: 1}[field]
    unpacked = Spelling(unpack=1.0)
    types = [(1, [(1, 1)])] * (300 if field == 2 else 1)
    values = tuple(range(-100, 200)) if field == 2 else (3,)
    stack = tuple([1, 2] * (1500 if field == 1 else 3 if field == 3 else 5000))
    sample = [(1, stack), (2, values)]
    if field == 3:
        sample += [(number, [(1, 1), (3, n)]) for n in range(2000)]
    fields = [*types, (2, sample), *SMALL[2:]]
    assert same(unpacked.write(fields, SEED))
