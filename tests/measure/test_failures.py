"""What a collector writes: why a program failed among it, and what ``go test`` asked for."""

from __future__ import annotations

import re

import pytest

from pprofdiff.measure.gobuild import without_gctrace
from pprofdiff.measure.gotest import without_forced

LINE = (
    b"gc 3 @0.024s 2%: 0.044+0.31+0.024 ms clock, 0.089+0.12/0.21/0+0.049 ms cpu, "
    b"3->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)\n"
)
SAID = b"listen tcp 127.0.0.1:none: unknown port\n"
# The runtime writes words and numbers one by one.
PIECES = [
    found.end()
    for found in re.finditer(rb" \(forced\)|[A-Za-z]+|[\d.]+|[^A-Za-z\d.]+?", LINE)
]


@pytest.mark.parametrize("at", [at for at in PIECES if at > len(b"gc 3 @")])
def test_what_a_program_says_within_a_line_of_the_collector_is_first(at):
    torn = LINE[:at] + SAID + LINE[at:]
    first = without_gctrace(LINE + torn + LINE).split(b"\n")
    assert next(filter(None, first)) == SAID.strip()


def test_a_whole_line_says_nothing():
    assert without_gctrace(2 * LINE).split() == []
    assert without_gctrace(SAID) == SAID


LOGGED = "gc {} @0.0{}s 1%: 0.01+0.2+0.01 ms clock, 0.02+0.1/0.2/0.3+0.02 ms cpu, 4->4->1 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P{}\n"  # fmt: skip


def log(*forced):
    """Return a GC log; True stands for a collection that was asked for."""
    return "".join(
        LOGGED.format(n, n, " (forced)" if one else "") for n, one in enumerate(forced)
    )


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (log(True, True, True), None),
        ("", None),
        ("own words\n", None),
        (log(True, False, True, False), [1, 3]),
        # More than the harness asks for: the program does, and all are its own.
        (log(*[True] * 4), [0, 1, 2, 3]),
        (log(*[True] * 5, False), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_is_left(tmp_path, given, left):
    path = tmp_path / "gctrace.log"
    path.write_text(given)
    without_forced(str(path))
    assert path.exists() == (left is not None)
    if left is not None:
        got = path.read_text().splitlines()
        assert [int(line.split()[1]) for line in got] == left
        assert all(line + "\n" in given for line in got)
