"""Lines read by their shape: what the pattern finds in the same text, and no more."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.gcfound import find
from pprofdiff.loaders.gcpure import pure
from pprofdiff.loaders.gctrace import GCScanner

from .gctext import CAPTURES, DATA, GRAMMARS, printed, reference, said

# Two lines each: Go 1.5's are from Go issue 12228.
SHORT = {
    20: b"gc 377 @50.448s 33%: 1.0+1.0+0+7.0+2.0 ms clock, "
    b"8.0+1.0+0+2.0/14/12+16 ms cpu, 34->35->19 MB, 35 MB goal, 8 P\n" * 2,
    16: b"gc 1 @0.012s 2%: 0.18+1.3+0.045 ms clock, "
    b"0.36+0.2/1/0.28+0.09 ms cpu, 4->4->1 MB, 5 MB goal, 2 P\n" * 2,
    18: b"gc 99 @1234.012s 2%: 0.18+13+0.045 ms clock, 0.36+0/1.9/28+0.09 ms cpu, "
    b"4->4->1 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)\n" * 2,
}
BYTES = b"0.9/ \n+g-\xb9("
EDITS = st.lists(
    st.tuples(st.integers(0, 1 << 20), st.integers(0, 1), st.sampled_from(BYTES)),
    max_size=2,
)


def edited(text, edits):
    """Return a text with bytes changed, or put in between."""
    out = bytearray(text)
    for at, replaced, byte in edits:
        place = at % len(out)
        out[place : place + replaced] = bytes([byte])
    return bytes(out)


def assert_same_found(text):
    """Compare with the text behind an empty line, which none of it is pure with."""
    got, want = find(text), find(b"\n" + text)
    assert len(want.others) == 1
    assert (got.first + 1).tolist() == want.first.tolist()
    assert (got.last + 1).tolist() == want.last.tolist()
    assert got.whole.tolist() == want.whole.tolist()
    assert np.array_equal(got.rows, want.rows)
    assert got.rows.dtype == want.rows.dtype


@pytest.mark.parametrize("path", CAPTURES, ids=lambda p: str(p.relative_to(DATA)))
def test_captures_are_pure(path):
    text = b"".join(path.read_bytes().splitlines(keepends=True)[:700])
    found = find(text)
    assert not found.others
    assert found.rows.shape[1] == len(reference(text))
    assert_same_found(text)


@pytest.mark.parametrize("grammar", GRAMMARS)
@settings(derandomize=True)
@given(data=st.data())
def test_changed_lines_read_as_the_pattern_reads_them(grammar, data):
    lines = data.draw(printed(grammar))
    text = "".join("".join(line) + "\n" for line in lines).encode()
    assert_same_found(edited(text, data.draw(EDITS)))


@pytest.mark.parametrize("grammar", SHORT)
def test_every_byte_changed(grammar):
    text = SHORT[grammar]
    assert not find(text).others
    for at in range(len(text)):
        for byte in BYTES:
            for replaced in (0, 1):
                changed = edited(text, [(at, replaced, byte)])
                if pure(changed) is not None:
                    assert_same_found(changed)


def test_numbers_as_long_as_they_may_be():
    chance = random.Random(5)
    for text in SHORT.values():
        for _ in range(300):
            line = text[: len(text) // 2].removesuffix(b"\n")
            for token in (
                b"377",
                b"14",
                b"1.0",
                b"0.18",
                b"13",
                b"50.448",
                b"99",
                b"8",
            ):
                digits = bytes(chance.choices(b"0123456789", k=chance.randrange(1, 14)))
                if chance.random() < 0.3:
                    line = line.replace(token, digits + token[1:], 1)
            assert_same_found(text + line + b"\n" + text)


def whole(line):
    """Tell if a line is a gctrace line and nothing else."""
    return (
        line.startswith(b"gc ")
        and line.endswith((b" P\n", b"d)\n"))
        and bool(reference(line))
    )


def without_pure_parts(lines):
    """Return a text with an empty line now and then, between two whole lines."""
    out, empty = [], 0
    for i, line in enumerate(lines):
        if i - empty >= 100 and whole(lines[i - 1]) and whole(line):
            out.append(b"\n")
            empty = i
        out.append(line)
    return b"".join(out)


@pytest.mark.parametrize("seed", range(12))
def test_any_blocks_of_a_large_log_read_as_the_pattern_reads_them(seed):
    chance = random.Random(seed)
    text = b""
    while len(text) < 3 << 19:
        text += chance.choice(CAPTURES).read_bytes()
    if seed % 3 == 0:
        text = text.replace(b" P\n", b" P (forced)\n", 2000)
    text = edited(
        text,
        [
            (chance.randrange(len(text)), chance.randrange(2), chance.choice(BYTES))
            for _ in range(seed)
        ],
    )
    lines = text.splitlines(keepends=True)
    others = (b"GC forced\n", b" (forced)\n", b"2026/11/20 09:35:01 GET / 200\n")
    for _ in range(seed * 2):
        lines.insert(chance.randrange(len(lines)), chance.choice(others))
    scanner, at = GCScanner(), 0
    while at < len(lines):
        count = chance.choice((1, 50, 2000, 9000))
        scanner.feed(b"".join(lines[at : at + count]))
        at += count
    slow = GCScanner()
    interrupted = without_pure_parts(lines)
    assert all(len(o.between) > 1 for o in find(interrupted).others)
    slow.feed(interrupted)
    assert said(scanner.close()) == said(slow.close())
