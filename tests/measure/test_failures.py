"""Why a program failed, found among what its collector writes."""

from __future__ import annotations

import re

import pytest

from pprofdiff.measure.failures import without_gctrace

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
