"""Zstd is read exactly, bounded, and damaged streams are named as such."""

from __future__ import annotations

import gzip
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.errors import FormatError
from pprofdiff.inputs import decompress
from pprofdiff.inputs.decompression import Unzstd
from pprofdiff.inputs.intake import take_bytes
from pprofdiff.inputs.recognition import Foreign
from tests.conftest import DATA
from tests.memory import below

zstd = pytest.importorskip(
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
)
MIB = 1 << 20


@given(
    st.lists(st.binary(max_size=3000), min_size=1, max_size=5),
    st.lists(st.integers(1, 400), max_size=20),
    st.integers(0, 30),
)
def test_frames_are_joined_and_every_cut_is_reported(parts, sizes, missing):
    frames = [zstd.compress(part) for part in parts]
    whole = b"".join(frames)
    data = whole[: max(len(whole) - missing, 1)]
    ends = {sum(map(len, frames[:n])): n for n in range(1, len(frames) + 1)}
    stream, out, position = Unzstd("x", 1 << 20, piece=100), [], 0
    for size in [*sizes, len(data)]:
        out += stream.feed(data[position : position + size])
        position += size
    assert all(0 < len(piece) <= 100 for piece in out)
    if len(data) in ends:
        stream.close()
        assert b"".join(out) == b"".join(parts[: ends[len(data)]])
    else:
        with pytest.raises(FormatError) as caught:
            stream.close()
        assert str(caught.value) == (
            f"x: zstd stream is cut off after {len(data)} bytes; fetch it again"
        )


def test_damage_and_other_bytes_are_reported():
    whole = zstd.compress(b"content" * 99, options=CHECKED)
    flipped = bytearray(whole)
    flipped[-1] ^= 1
    for data in (bytes(flipped), whole + b"more bytes"):
        with pytest.raises(FormatError, match=r"^x: zstd stream is damaged \(.+\); fe"):
            decompress(data, "x")


CHECKED = {zstd.CompressionParameter.checksum_flag: 1}


def test_the_limit_counts_all_frames():
    data = zstd.compress(b"x" * 600) + zstd.compress(b"x" * 400)
    assert decompress(data, "x", 1000) == b"x" * 1000
    with pytest.raises(FormatError, match=r"holds more than 999 bytes; raise --max"):
        decompress(data, "x", 999)


@pytest.mark.slow
def test_a_bomb_stops_at_the_limit():
    bomb = zstd.compress(bytes(64 * MIB))
    with below(4 * MIB), pytest.raises(FormatError, match="holds more than 1 MiB"):
        decompress(bomb, "bomb.zst", MIB)


@pytest.mark.slow
def test_a_flood_of_empty_frames_is_refused():
    with pytest.raises(FormatError, match=r"^x: holds more than \d+ zstd frames"):
        decompress(zstd.compress(b"") * ((1 << 17) + 1), "x")


def test_logs_are_read_too():
    line = b"BenchmarkSum-2 \t 100\t 20.5 ns/op\n"
    assert take_bytes(zstd.compress(line), "x", MIB).kinds == ("benchmark",)
    inner = take_bytes(zstd.compress(gzip.compress(line)), "x", MIB)
    assert inner.kinds == (Foreign.COMPRESSED,)


def test_without_a_library_one_line_says_what_to_install(monkeypatch):
    for module in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FormatError) as caught:
        decompress(zstd.compress(b"x"), "cpu.pprof.zst")
    assert str(caught.value) == (
        "cpu.pprof.zst: compressed with zstd; "
        "pip install backports.zstd, or decompress it first"
    )


def test_uploads_of_dd_trace_go_are_read_as_they_are(cli):
    """In new, `main.label` joins words in a loop; its uploads are zstd."""
    folder = DATA / "datadog-go"
    found = cli(folder / "base", folder / "new", "--work", "964801:570307").out
    assert "main.label uses 14.6× the CPU" in found
    assert "not used" not in found
