"""Decompression is exact, bounded, and damaged streams are named as such."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.errors import FormatError
from pprofdiff.inputs import decompress
from pprofdiff.inputs.decompression import Gunzip
from tests.memory import below

MIB = 1 << 20


@given(st.binary().filter(lambda data: not data.startswith(b"\x1f\x8b")))
def test_plain_bytes_pass_through(data):
    assert decompress(data, "x") is data


@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=8), st.integers(0, 600))
def test_members_are_joined_and_zero_padding_ignored(parts, padding):
    data = b"".join(map(gzip.compress, parts)) + bytes(padding)
    assert decompress(data, "x") == b"".join(parts)


@given(st.binary(min_size=1, max_size=3000), st.data())
def test_every_cut_is_reported(content, draw):
    whole = gzip.compress(content)
    size = draw.draw(st.integers(2, len(whole) - 1))
    with pytest.raises(FormatError) as caught:
        decompress(whole[:size], "x.pb.gz")
    assert str(caught.value) == (
        f"x.pb.gz: gzip stream is cut off after {size} bytes; fetch it again"
    )


# The time in a stream would differ between the processes that collect tests.
PACKED = gzip.compress(b"content", mtime=0)
CUT = PACKED + gzip.compress(b"two" * 1000, mtime=0)[:-1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (CUT, rf"cut off after {len(CUT)} bytes"),
        (
            PACKED[:-5] + b"\xff" + PACKED[-4:],
            r"^x: gzip stream is damaged \(incorrect ",
        ),
        (PACKED + b"\0\0more", r"^x: 4 bytes that are not gzip follow"),
    ],
)
def test_damage_is_named(data, message):
    with pytest.raises(FormatError, match=message):
        decompress(data, "x")


@pytest.mark.slow
def test_a_bomb_stops_at_the_limit():
    bomb = gzip.compress(bytes(64 * MIB))
    with below(4 * MIB), pytest.raises(FormatError) as caught:
        decompress(bomb, "bomb.gz", MIB)
    assert str(caught.value) == (
        "bomb.gz: holds more than 1 MiB; raise --max-size to read it"
    )


def in_two(data):
    """Return two members that hold a half each."""
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, in_two])
def test_the_limit_itself_is_allowed(pack):
    content = b"x" * 1000
    assert decompress(pack(content), "x", 1000) == content
    with pytest.raises(FormatError, match=r"holds more than 999 bytes"):
        decompress(pack(content), "x", 999)


@pytest.mark.slow
def test_a_flood_of_empty_members_is_refused():
    with pytest.raises(FormatError, match=r"^x: holds more than \d+ gzip members"):
        decompress(gzip.compress(b"") * ((1 << 17) + 1), "x")


def streamed(data, sizes):
    """Return what is given out, or the message, when fed in pieces of these sizes."""
    stream = Gunzip("x", 5000, piece=100)
    position, parts = 0, []
    try:
        for size in [*sizes, len(data)]:
            parts += stream.feed(data[position : position + size])
            position += size
        stream.close()
    except FormatError as error:
        return str(error)
    assert all(0 < len(part) <= 100 for part in parts)
    return b"".join(parts)


def at_once(data):
    """Return the content, or the message."""
    try:
        return decompress(data, "x", 5000)
    except FormatError as error:
        return str(error)


ENDS = st.sampled_from(
    [b"", b"\0\0", b"\x1f", b"\0\x1f", b"more", b"\x1f\x8c", b"\0x\x1f\x8b"]
)


@given(
    st.lists(st.binary(max_size=3000), min_size=1, max_size=5),
    st.integers(0, 40),
    ENDS,
    st.lists(st.integers(2, 400), max_size=20),
    st.integers(0, 30),
)
def test_a_stream_is_what_it_is_at_once(parts, padding, end, sizes, missing):
    data = bytes(padding).join(map(gzip.compress, parts)) + end
    data = data[: max(len(data) - missing, 20)]
    assert streamed(data, sizes) == at_once(data)


@pytest.mark.slow
def test_a_stream_of_much_from_little_comes_in_pieces():
    bomb = gzip.compress(bytes(64 * MIB))
    with below(4 * MIB):
        stream = Gunzip("x", 1 << 30, piece=MIB)
        total = sum(map(len, stream.feed(bomb)))
    stream.close()
    assert total == 64 * MIB
