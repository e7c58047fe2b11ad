"""Logs read as streams: cut anywhere, of any size, all that is in them at once."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders import logs
from pprofdiff.loaders.logs import LogReader
from tests.memory import below

from .feeding import fed

DATA = Path(__file__).parents[1] / "data"
BENCH = (DATA / "zstd/base/bench.txt").read_bytes()
GC = (DATA / "zstd/base/gctrace.log").read_bytes()[:20_000].rpartition(b"\n")[0] + b"\n"
LOAD = (DATA / "load/wrk.txt").read_bytes()
OTHER = b"12:00:01 request handled in 3 ms, 42 bytes\n"
MIB = 1 << 20


read = partial(fed, LogReader)


def shown(log):
    """Return a log as values that can be compared."""
    runs = "gctrace" in log and [
        (run.torn, run.cycles.to_frame().to_csv()) for run in log["gctrace"].runs
    ]
    return runs, repr(log.get("benchmark")), log.get("load")


@pytest.fixture
def small_blocks(monkeypatch):
    """Let blocks hold 1 to 2 KiB, so that short texts have many."""
    monkeypatch.setattr(logs, "_BLOCK", 1024)
    monkeypatch.setattr(logs, "_LONGEST_LINE", 2048)


class Recorder:
    """A scanner that keeps its blocks."""

    def __init__(self):
        self.blocks = []

    def feed(self, block):
        """Keep a block."""
        self.blocks.append(block)

    def close(self):
        """Return that nothing was found."""


def blocks_of(*pieces):
    """Return the blocks that the pieces are handed on in."""
    reader, recorder = LogReader(), Recorder()
    reader._scanners = {"gctrace": recorder}
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return recorder.blocks


def cut(data, draw):
    """Return `data` in pieces."""
    places = st.lists(st.integers(0, len(data)), max_size=12).map(sorted)
    edges = [0, *draw.draw(places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def test_a_log_may_hold_everything():
    log = read(OTHER * 100 + GC + OTHER + BENCH + OTHER + LOAD + OTHER)
    assert log["gctrace"].longest.lines_seen > 50
    assert len(log["benchmark"].results) == 8
    assert log["load"].tool == "wrk"


@pytest.mark.parametrize("text", [b"", b"\n", OTHER, OTHER[:-1], b"\0" * 99, b"\xff"])
def test_a_log_may_hold_nothing(text):
    assert read(text) == {}
    assert read() == {}


@pytest.mark.slow
@settings(max_examples=30)
@given(st.data())
def test_pieces_may_be_cut_anywhere(draw):
    data = OTHER * 9 + GC[:6000] + BENCH + LOAD + OTHER * 9 + BENCH
    assert shown(read(*cut(data, draw))) == shown(read(data))


def test_small_pieces(small_blocks):
    data = OTHER * 9 + GC[:6000] + BENCH + LOAD + OTHER * 9 + BENCH
    by_seven = [data[i : i + 7] for i in range(0, len(data), 7)]
    assert shown(read(*by_seven)) == shown(read(data))
    assert shown(read(data)) == shown(read_whole(data))


def read_whole(data):
    """Return what the scanners find in one block."""
    reader = LogReader()
    for scanner in reader._scanners.values():
        scanner.feed(data)
    return reader.close()


LINES = st.lists(
    st.sampled_from([b"x" * n + b"\n" for n in (0, 1, 40, 700, 1500, 2047, 2048, 9000)])
)


def test_blocks_are_whole_lines_however_the_pieces_are_cut(small_blocks):
    @given(LINES, st.data())
    def check(lines, draw):
        data = b"".join(lines) + draw.draw(st.sampled_from([b"", b"end", b"y" * 3000]))
        blocks = blocks_of(*cut(data, draw))
        assert b"".join(blocks) == data
        assert all(0 < len(block) <= 2048 for block in blocks)
        # What does not end with a line's end is a longer line's beginning, or the end.
        for block in blocks[:-1]:
            assert block.endswith(b"\n") or len(block) == 2048
            assert block.endswith(b"\n") or b"\n" not in block

    check()


@pytest.mark.slow
def test_memory_stays_in_proportion_to_the_result():
    chunk = OTHER * (MIB // len(OTHER))
    reader = LogReader()
    reader.feed(BENCH + GC)
    with below(40 * MIB):
        for _ in range(60):
            reader.feed(chunk)
        log = reader.close()
    assert log["benchmark"] is not None
