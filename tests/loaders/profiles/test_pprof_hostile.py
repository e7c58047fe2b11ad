"""Damaged and hostile bytes: a profile or one line of complaint, and nothing else."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import pprofdiff
from pprofdiff.errors import FormatError
from pprofdiff.loaders.profiles.pprof import decode

from .plain import frozen, same
from .spelling import CANONICAL, varint

DATA = Path(__file__).parents[2] / "data"
NAME = "main=capture/cpu.pb.gz"
SEED = Random(0)
STRINGS = [(6, s) for s in (b"", b"cpu", b"ns", b"main.f")]
CPU = (1, [(1, 1), (2, 2)])
PLACE = (4, [(1, 1), (4, [(1, 1)])])
FUNCTION = (5, [(1, 1), (2, 3)])


@pytest.fixture(scope="module")
def small():
    """Return the bytes of the smallest real capture."""
    captures = DATA.rglob("*.pb.gz")
    return min((gzip.decompress(p.read_bytes()) for p in captures), key=len)


def complaint(data):
    """Return what decode has to say about the bytes, or None if it reads them."""
    try:
        frozen(decode(data, NAME))
    except FormatError as error:
        text = str(error)
        assert text.startswith(f"{NAME}: ")
        assert text.isprintable()
        assert len(text) < 200
        return text
    return None


def test_a_capture_cut_off_at_any_byte(small):
    said = {complaint(small[:i]) for i in range(len(small))}
    assert any(said)


@pytest.mark.slow
def test_a_capture_with_flipped_bits_is_read_as_protobuf_reads_it(small):
    random = Random(12)
    kinds = set()
    for _ in range(1500):
        damaged = bytearray(small)
        for _ in range(random.choice((1, 1, 1, 2, 8))):
            damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        data = bytes(damaged)
        kinds.add(same(data))
    assert kinds == {True, False}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("lead", [(2,), (4,), (5,), (2, 1), (2, 2), (2, 3), (4, 4)])
def test_random_bytes_inside_a_message(lead):
    random = Random(sum(lead))
    for _ in range(400):
        body: object = random.randbytes(random.randrange(12))
        for number in reversed(lead):
            body = [(number, body)]
        data = CANONICAL.write([CPU, PLACE, FUNCTION, *body, *STRINGS], SEED)
        assert same(data) or complaint(data)


@pytest.mark.parametrize("values", [0, 2, 3])
def test_a_sample_with_too_few_or_too_many_values(values):
    sample = (2, [(1, (1,)), (2, (5,) * values)])
    assert "value" in complaint(
        CANONICAL.write([CPU, sample, PLACE, FUNCTION, *STRINGS], SEED)
    )


@pytest.mark.parametrize("table", [(3, "mapping"), (4, "location"), (5, "function")])
@pytest.mark.parametrize("number", [1, 5, (1 << 64) - 1])
def test_an_id_defined_twice(table, number):
    twice = [(table[0], [(1, number)])] * 2
    said = complaint(CANONICAL.write([CPU, *twice, *STRINGS], SEED))
    assert table[1] in said
    assert "twice" in said


def test_a_string_table_that_does_not_begin_empty():
    assert "empty string" in complaint(CANONICAL.write([(6, b"cpu")], SEED))


@pytest.mark.parametrize(
    "claimed", [2, 5, 127, 1 << 20, (1 << 31) - 1, 1 << 40, (1 << 64) - 1]
)
@pytest.mark.parametrize("field", [1, 2, 3])
def test_a_length_that_is_a_lie(field, claimed):
    lie = varint(field << 3 | 2) + varint(claimed) + b"\x01"
    data = CANONICAL.write([CPU, (2, lie), PLACE, FUNCTION, *STRINGS], SEED)
    assert complaint(data)
    assert complaint(lie)


@pytest.mark.parametrize("size", [10, 11, 12, 400])
def test_varints_that_go_on_and_on(size):
    long = b"\x08" + b"\x80" * (size - 1) + b"\x01"
    for number in (2, 4, 5):
        data = CANONICAL.write([CPU, (number, long), *STRINGS], SEED)
        assert same(data) or complaint(data)


@pytest.mark.parametrize("depth", [10, 1000, 100_000])
@pytest.mark.parametrize("lead", [b"", b"\x12"])
def test_groups_within_groups(depth, lead):
    deep = b"\x9b\x06" * depth + b"\x9c\x06" * depth
    complaint(deep if not lead else lead + varint(len(deep)) + deep)
    complaint(b"\x9b\x06" * depth)


@pytest.mark.slow
def test_a_message_of_very_many_parts():
    labels = b"\x1a\x02\x08\x01" * 100_000
    data = CANONICAL.write(
        [CPU, (2, b"\x12\x01\x05" + labels), PLACE, FUNCTION, *STRINGS], SEED
    )
    assert complaint(data) is None or "parts" in complaint(data)


MEMORY = """
import resource, sys
sys.path.insert(0, {root!r})
from pprofdiff.errors import FormatError
from pprofdiff.loaders.profiles.pprof import decode

def attempt(data):
    try:
        decode(data)
    except FormatError:
        pass


attempt(b"\\x0a\\x02\\x08\\x01\\x32\\x00\\x32\\x03cpu")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {room}, used + {room}))
for data in (
    b"\\x22\\x0b\\x08" + b"\\xff" * 9 + b"\\x01",
    b"\\x2a\\x06\\x08\\xff\\xff\\xff\\xff\\x07" * 2,
    b"".join(b"\\x2a\\x06\\x08" + bytes([0x80 | i & 127, 0x80 | i >> 7, 0x80, 0x80, 1]) for i in range(4000)),
    b"\\x12\\x0c\\x0a\\x0a" + b"\\xff" * 9 + b"\\x01",
    b"\\x12\\x06\\x0a\\xff\\xff\\xff\\xff\\x07",
    b"\\x32\\xff\\xff\\xff\\xff\\x07",
    b"\\x12\\x00" * 100_000,
    b"\\x0a\\x00" * 100_000,
    b"\\x22\\x02\\x22\\x00" * 100_000,
    b"\\x12\\x04\\x0a\\x02\\x01\\x01" * 100_000,
):
    attempt(data)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_within_bounds():
    root = str(Path(pprofdiff.__file__).parents[2])
    code = MEMORY.format(root=root, room=160 << 20)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
