"""Austin's stacks: its header, its frames, and what is not read of it."""

import gzip

import numpy as np
import pytest

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.profiles.encodings import decode, looks_folded
from tests.conftest import DATA

HEADER = b"# austin: 3.4.1\n# interval: 5000\n# mode: %s\n\n"


def test_time_is_wall_time_of_the_duration():
    data = gzip.decompress((DATA / "austin/new.txt.gz").read_bytes())
    assert looks_folded(data[:4096], whole=False)
    profile = decode(data)
    lines = [line for line in data.splitlines() if line and not line.startswith(b"#")]
    counts = [int(line.rpartition(b" ")[2]) for line in lines]
    assert [f"{t.type}/{t.unit}" for t in profile.sample_types] == [
        "samples/count",
        "wall/nanoseconds",
    ]
    assert profile.values[:, 1].sum() == 1000 * sum(counts)
    assert profile.duration_ns == 3_046_680_000
    assert profile.period == 5_000_000


def test_a_frame_has_a_file_and_a_line():
    stack = b"P1;T0x2;a/b.py:A.f:12;<frozen x>:g:3;c.py:<module>:4 %d\nP1;T2 0\n"
    profile = decode(HEADER % b"cpu" + stack % 12000 + b"# duration: 1\n")
    assert profile.function_names() == ["", "A.f", "g", "<module>"][1:]
    assert profile.locations.line_number.tolist() == [12, 0, 4]
    assert profile.values.tolist() == [[2, 12_000_000], [0, 0]]
    assert np.diff(profile.stack_offsets).tolist() == [3, 0]


@pytest.mark.parametrize("mode", ["memory", "full"])
def test_other_modes_are_refused_in_one_line(mode):
    with pytest.raises(DamagedError, match=f"^x: austin's mode {mode} is not read; "):
        decode(HEADER % mode.encode() + b"P1;T2;a.py:f:1 1,0,3\n", "x")
