"""Lines, changed in every way: what a slow reader finds is what is read, and no more."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import daily

from .gctext import CAPTURES, DATA, GRAMMARS, printed, reference, rows, said, scanned

# Two lines each: the first of Go 1.5's is from Go issue 12228.
SHORT = {
    "go1.5": b"gc 377 @50.448s 33%: 1.0+1.0+0+7.0+2.0 ms clock, "
    b"8.0+1.0+0+2.0/14/12+16 ms cpu, 34->35->19 MB, 35 MB goal, 8 P\n"
    b"gc 378 @50.449s 33%: 0+99+1.25+7.025+2.0 ms clock, "
    b"8+1.01+0+2/14/12+16 ms cpu, 34->35->19 MB, 35 MB goal, 8 P\n",
    "go1.6": b"gc 1 @0.012s 2%: 0.18+1.3+0.045 ms clock, "
    b"0.36+0.2/1/0.28+0.09 ms cpu, 4->4->1 MB, 5 MB goal, 2 P\n"
    b"gc 2 @0.014s 2%: 0.18+1.3+0.045 ms clock, "
    b"0.36+0.2/1/0.28+0.09 ms cpu, 4->4->1 MB, 5 MB goal, 2 P (forced)\n",
    "go1.18": b"gc 99 @1234.012s 2%: 0.18+13+0.045 ms clock, 0.36+0/1.9/28+0.09 ms cpu, "
    b"4->4->1 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)\n"
    b"gc 100 @1235.012s 2%: 0.18+13+0.045 ms clock, 0.36+0/1.9/28+0.09 ms cpu, "
    b"4->4->1 MB, 5 MB goal, 7 MB stacks, 8 MB globals, 2 P\n",
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


def assert_read_as_reference(text, log=None, unlike=("timer",)):
    """Compare whole lines of all runs, but for what they do not show of themselves."""
    log = log or scanned(text)
    runs = log.runs if log else ()
    got = [r for run in runs for r in rows(run.cycles) if not r["repaired"]]
    sides = []
    for side in got, reference(text):
        output = [row | dict.fromkeys(unlike) for row in side]
        sides.append(sorted(output, key=lambda row: str(sorted(row.items()))))
    assert sides[0] == sides[1]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda p: str(p.relative_to(DATA)))
def test_every_line_of_a_capture_is_read_alone(path):
    for line in path.read_bytes().splitlines(keepends=True)[:300]:
        (want,) = reference(line)
        assert rows(scanned(line).longest.cycles) == [want]


@pytest.mark.slow
@pytest.mark.parametrize("grammar", GRAMMARS)
@settings(derandomize=True)
@given(data=st.data())
def test_changed_lines_read_as_the_slow_reader_reads_them(grammar, data):
    lines = data.draw(printed(grammar))
    text = "".join("".join(line) + "\n" for line in lines).encode()
    assert_read_as_reference(edited(text, data.draw(EDITS)))


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("grammar", daily(SHORT, ["go1.18"]))
def test_every_byte_changed(grammar):
    text = SHORT[grammar]
    assert len(reference(text)) == 2
    for at in range(len(text)):
        for byte in BYTES:
            for replaced in (0, 1):
                assert_read_as_reference(edited(text, [(at, replaced, byte)]))


@pytest.mark.slow
def test_numbers_as_long_as_they_may_be():
    chance = random.Random(5)
    numbers = (b"377", b"14", b"1.0", b"0.18", b"13", b"50.448", b"99", b"8")
    for text in SHORT.values():
        for _ in range(300):
            line = text[: text.index(b"\n") + 1]
            for number in numbers:
                digits = bytes(chance.choices(b"0123456789", k=chance.randrange(1, 14)))
                if chance.random() < 0.3:
                    line = line.replace(number, digits + number[1:], 1)
            assert_read_as_reference(line + text[text.index(b"\n") + 1 :])


@pytest.mark.slow
def test_fifteen_digits_are_read_to_the_last():
    chance = random.Random(15)
    for _ in range(1000):
        time = b"%d.%03d" % (chance.randrange(10**11, 10**12), chance.randrange(1000))
        text = SHORT["go1.6"].replace(b"1.3+", time + b"+", 1)
        assert_read_as_reference(text.replace(b"0.012", time, 1))


@pytest.mark.parametrize("digits", [13, 400, 5000])
@pytest.mark.parametrize("grammar", SHORT)
def test_longer_numbers_are_of_no_line(grammar, digits):
    text = SHORT[grammar]
    first, second = text.splitlines(keepends=True)
    (whole,) = reference(second)
    for number in set(re.findall(rb"\d+", first)):
        changed = first.replace(number, b"9" * digits)
        log = scanned(changed + second)
        assert [rows(run.cycles) for run in log.runs if run.lines_seen] == [[whole]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", daily(range(12), range(4)))
def test_any_blocks_of_a_large_log_read_as_one(seed):
    chance = random.Random(seed)
    text = b""
    for path in chance.sample(CAPTURES, len(CAPTURES)):
        if len(text) < 3 << 19:
            text += path.read_bytes()
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
    others = (b"GC forced\n", b"x\n (forced)\n", b"2026/11/20 09:35:01 GET / 200\n")
    for _ in range(seed * 2):
        lines.insert(chance.randrange(len(lines)), chance.choice(others))
    text = b"".join(lines)
    blocks, at = [], 0
    while at < len(text):
        size = chance.choice((1, 70, 5000, 200_000, 2_000_000))
        blocks.append(text[at : at + size])
        at += size
    log = scanned(text)
    assert said(scanned(*blocks)) == said(log)
    assert_read_as_reference(text, log)


@pytest.mark.slow
def test_mutations_read_as_whole_lines_or_not_at_all():
    chance = random.Random(20)
    pieces = (
        b"",
        b"\n",
        b"0",
        b".",
        b"+",
        b"gc ",
        b"gc 9 @1.000",
        b"\xff",
        b" P",
        b"->",
    )
    logs = ("sync-pool-gctrace/none-pool.log", "syncpool/new/gctrace.log")
    raw = b"".join((DATA / name).read_bytes() for name in logs)
    for _ in range(150):
        text = bytearray(raw)
        for _ in range(chance.choice((1, 20, 400))):
            at = chance.randrange(len(text))
            text[at : at + chance.randrange(3)] = chance.choice(pieces)
        assert_read_as_reference(bytes(text), unlike=("stacks_mb", "globals_mb"))
