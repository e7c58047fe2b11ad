"""Damaged and hostile bytes: what can be read, or one line of complaint."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces import decode
from tests.loaders.profiles.spelling import varint

NAME = "new=traces/trace.out"
DATA = Path(__file__).parents[2] / "data"
HEADER = b"go 1.26 trace\0\0\0"
OLDER = b"go 1.23 trace\0\0\0"


def batch(data, generation=1, thread=7, time=100, experiment=None):
    """Return a batch with minimal numbers."""
    head = b"\x01" if experiment is None else bytes((49, experiment))
    numbers = (generation, thread, time, len(data))
    return head + b"".join(map(varint, numbers)) + data


CLOCK = bytes((50, 8)) + varint(15_625_000) + bytes((51, 1, 1, 1, 1))
CLOCKS = batch(CLOCK, thread=2**64 - 1)
STARTS = bytes((13, 1, 0, 1, 25, 1, 5, 7, 2))


@pytest.fixture(scope="module")
def small():
    """Return the smallest real trace."""
    return min((p.read_bytes() for p in DATA.rglob("trace.out")), key=len)


def outcome(data):
    """Return the trace, or the one line that decode has to say instead."""
    try:
        return decode(data, NAME)
    except FormatError as error:
        text = str(error)
        assert text.startswith(f"{NAME}: ")
        assert text.isprintable()
        assert len(text) < 200
        return text


def test_a_trace_cut_off_anywhere_is_read_to_its_last_whole_generation(small):
    whole = decode(small)
    marks = [int(len(small) * i / 97) for i in range(97)]
    near = [*range(120), *range(len(small) - 40, len(small))]
    for size in sorted({*marks, *near}):
        found = outcome(small[:size])
        if isinstance(found, str):
            continue
        assert found.missing is not None
        assert found.missing.total == size
        assert found.missing.read <= size
        assert found.syncs == whole.syncs[: len(found.syncs)]


@pytest.mark.slow
@pytest.mark.parametrize(("header", "end"), [(HEADER, b"\x34"), (OLDER, b"")])
def test_whole_generations_survive_a_cut(header, end):
    clock = CLOCK if end else CLOCK[1:6]
    first = batch(clock, thread=2**64 - 1) + batch(STARTS) + end
    again = bytes((13, 1, 0, 1, 25, 1, 5, 7, 2, 20, 1, 0, 0))
    second = batch(clock, 2, 2**64 - 1, 900) + batch(again, 2, 7, 900) + end
    whole = decode(header + first + second)
    assert (len(whole.syncs), whole.missing) == (2, None)
    for size in range(1, len(second)):
        cut = decode(header + first + second[:size])
        if cut.missing is None:
            # Without a mark at its end, a generation that has its clock is one.
            assert header == OLDER
            continue
        assert cut.intervals.state.tolist() == [2]
        read = 16 + len(first)
        if len(cut.syncs) == 2:
            assert header == OLDER
            read += len(batch(clock, 2, 2**64 - 1, 900))
        assert cut.missing.read == read


def test_a_generation_without_events():
    found = decode(HEADER + CLOCKS + b"\x34")
    assert (found.events, len(found.goroutines), len(found.ranges)) == (0, 0, 0)
    assert found.end_ns == found.start_ns + 1


def test_a_trace_by_another_writer_with_minimal_numbers():
    events = STARTS + bytes((20, 5, 0, 0, 11, 1))
    found = decode(HEADER + CLOCKS + batch(events) + b"\x34")
    assert found.missing is None
    assert found.intervals.state.tolist() == [2, 4]
    assert found.processor_intervals.state.tolist() == [1, 0]
    assert found.intervals.start_ns.tolist() == [6400, 6400 + 7 * 64]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "not a Go execution trace"),
        (b"go 1.26 trace", "not a Go execution trace"),
        (b"go 1.26 profi\0\0\0", "not a Go execution trace"),
        (b"go 1.5 trace\0\0\0\0", "format 1.5"),
        (b"go 1.30 trace\0\0\0", "format 1.30"),
        (HEADER, "it ends after its header"),
        (HEADER + b"\x34", "a generation without batches"),
        (HEADER + b"\x01", "the file ends within a number"),
        (HEADER + b"\x01" + b"\xff" * 11, "more than 64 bits"),
        (HEADER + b"\x01\x01\x01\x01" + varint(70000), "65536 are the most"),
        (HEADER + CLOCKS, "the end of its last generation is missing"),
        (HEADER + batch(STARTS) + b"\x34", "without a clock"),
        (HEADER + CLOCKS + batch(b"", 3) + b"\x34", "out of order"),
        (HEADER + CLOCKS + batch(b"\x10\x01") + b"\x34", "within an event"),
        (HEADER + CLOCKS + batch(b"\x01\x01") + b"\x34", "unknown type"),
        (HEADER + CLOCKS + batch(b"\xff\x01") + b"\x34", "unknown type"),
        (HEADER + CLOCKS + batch(b"\x10\x01\x01\x81") + b"\x34", "within a number"),
        (HEADER + CLOCKS + batch(b"\x10\x01\x09\x01") + b"\x34", "never mentioned"),
        (HEADER + CLOCKS + batch(b"\x14\x01\x00\x00") + b"\x34", "runs none"),
        (HEADER + CLOCKS + batch(b"\x14\x01\x09\x00") + b"\x34", "not in the file"),
        (HEADER + CLOCKS + batch(b"\x04\x05\x01\x05ab") + b"\x34", "does not end"),
        (HEADER + CLOCKS + batch(b"\x02\x03\x01\x7f") + b"\x34", "does not end"),
        (HEADER + CLOCKS + batch(b"\x06\x07\x01") + b"\x34", "does not end"),
        (HEADER + CLOCKS + batch(STARTS, time=2**63) + b"\x34", "an impossible time"),
        (HEADER + CLOCKS + batch(STARTS + b"\x10\x01\x05\x01") + b"\x34", "state"),
        (
            HEADER + CLOCKS + batch(STARTS + b"\x13\x01\0\0\x10\x01\x05\x02") + b"\x34",
            "sequence",
        ),
    ],
)
def test_what_is_wrong_is_said(data, part):
    assert part in outcome(data)


def test_a_small_file_takes_little_memory():
    huge = varint(2**62)
    status = b"\x19\x01" + huge + b"\x07\x04"
    data = HEADER + CLOCKS + batch(STARTS + status) + b"\x34"
    code = (
        "import resource, sys\n"
        "from pprofdiff.loaders.traces import decode\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "decode(sys.stdin.buffer.read())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 20 << 20
