"""Lines changed and torn in every way: as a slow reader reads them, whole again."""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.gclogs import parse
from pprofdiff.loaders.gclogs.lines import Repair
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
WORKLOADS = Path(__file__).parents[2] / "workloads"
DATED = re.compile(rb"\d{4}/\d\d/\d\d ")
# How programs' lines begin; the last ones make numbers that nothing separates.
LOGGERS = {
    "log": lambda i: f"2026/11/20 09:35:{i % 60:02d} worker {i % 9} took {i} us",
    "slog": lambda i: (
        f'{{"time":"2026-11-20T09:35:{i % 60:02d}Z","level":"INFO","n":{i}}}'
    ),
    "klog": lambda i: (
        f"I1120 09:35:{i % 60:02d}.{i % 999999:06d} {i % 10} main.go:{i}] x"
    ),
    "epoch": lambda i: f"{1795167301 + i} request {i}",
    "clock": lambda i: f"09:35:{i % 60:02d}.{i % 999:03d} 2 P",
    "text": lambda i: f"served request {i} of 12->13 MB",
    "counter": lambda i: f"{i} requests served so far",
    "numbers": lambda i: f"{i}.{i % 100:02d}+{i % 7} ms clock, {i}",
}


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


def tokens(line):
    """Return a real line as the arguments that printed it."""
    return re.findall(r"\d+\.\d+|\d+|->|[+/]|%|: |[ @%A-Za-z,()]+", line)


def torn(lines, logger, chance, rate):
    """Return a text of lines with whole lines of a program between their arguments."""
    number, out = 0, []
    for line in lines:
        for argument in [*line, "\n"]:
            while chance.random() < rate:
                number += chance.randrange(1, 400)
                out.append(LOGGERS[logger](number) + "\n")
            out.append(argument)
        for _ in range(chance.randrange(4)):
            number += chance.randrange(1, 400)
            out.append(LOGGERS[logger](number) + "\n")
    return "".join(out).encode()


def exact(log, truth, begun=None):
    """Assert that all that was read is true; return how much was put together.

    Lines were begun as many times as there are true ones, or `begun`.
    """
    by_number = {row["number"]: row for row in truth}
    mended = 0
    for run in log.runs:
        for row in rows(run.cycles):
            mended += row["repaired"]
            assert row == {**by_number[row["number"]], "repaired": row["repaired"]}
        assert run.lines_seen + run.torn <= (begun or len(truth))
    return mended


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("logger", LOGGERS)
@settings(derandomize=True)
@given(data=st.data())
def test_no_line_is_put_together_wrongly(logger, data):
    lines = data.draw(printed(data.draw(st.sampled_from(GRAMMARS))))
    chance = random.Random(data.draw(st.integers(0, 1 << 32)))
    text = torn(lines, logger, chance, data.draw(st.sampled_from([0.02, 0.1, 0.4])))
    truth = reference("\n".join(map("".join, lines)).encode())
    log = scanned(text)
    if log is not None:
        exact(log, truth)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("logger", LOGGERS)
@pytest.mark.parametrize("rate", daily((0.01, 0.1, 0.4), [0.1]))
def test_captures_torn_by_loggers(logger, rate):
    chance = random.Random(f"{logger} {rate}")
    for path in CAPTURES:
        raw = path.read_text("latin-1").splitlines()[:150]
        assert all("".join(tokens(line)) == line for line in raw)
        truth = reference("\n".join(raw).encode())
        log = parse(torn([tokens(line) for line in raw], logger, chance, rate), "log")
        mended = exact(log, truth)
        if logger in ("log", "slog", "klog") and len(raw) > 50 and rate == 0.1:
            assert mended > len(raw) // 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "intruder", ["7", "0", ".5", "12", "7\n", "\n", "1+2", "5 apples\n"]
)
def test_what_no_line_begins_with_is_never_taken_for_one(intruder):
    """A program that writes less than lines, or few lines."""
    chance = random.Random(intruder)
    raw = (DATA / "zstd/base/gctrace.log").read_text().splitlines()[:300]
    truth = reference("\n".join(raw).encode())
    for _ in range(10):
        text = []
        for i, line in enumerate(raw):
            arguments = tokens(line)
            if i % 5 == 2:
                at = chance.randrange(4, len(arguments))
                arguments[at:at] = [intruder, LOGGERS["log"](i) + "\n"]
            text += [*arguments, "\n", LOGGERS["log"](i), "\n"]
            text += [intruder, LOGGERS["log"](i), "\n"] if i % 7 == 3 else []
        log = parse("".join(text).encode(), "log")
        exact(log, truth)


def test_every_whole_line_of_a_capture_has_pauses_in_proportion():
    nothing_known = Repair(b"")
    for path in CAPTURES:
        for line in path.read_bytes().splitlines(keepends=True):
            assert nothing_known.mended(line) is not None, line


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory):
    built = tmp_path_factory.mktemp("torn") / "torn-log"
    subprocess.run(
        ["go", "build", "-o", built, "./torn-log"],
        cwd=WORKLOADS,
        check=True,
        timeout=300,
    )
    return built


def written(program, *flags):
    """Run the program; return what each of its write calls gave, in order.

    Standard error is a datagram socket, which keeps writes apart.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.settimeout(0.5)
    environment = {**os.environ, "GODEBUG": "gctrace=1"}
    calls = []
    with ours:
        with theirs:
            process = subprocess.Popen(
                [program, *flags], stderr=theirs, env=environment
            )
        while True:
            try:
                calls.append(ours.recv(1 << 16))
            except TimeoutError:
                if process.poll() is not None:
                    break
    assert process.returncode == 0
    return calls


@pytest.mark.whole
@pytest.mark.go
@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs Unix sockets")
@pytest.mark.parametrize("flags", [("-workers=4",), ("-workers=2", "-rest=100us")])
def test_a_program_that_logs_flat_out(program, flags):
    calls = written(program, *flags)
    untorn = b"".join(call for call in calls if not DATED.match(call))
    truth = reference(untorn)
    text = b"".join(calls)
    whole = len(reference(text))
    log = parse(text, "log")
    # The program may end while it prints the last one.
    begun = len(re.findall(rb"^gc \d", untorn, re.MULTILINE))
    assert len(truth) <= begun <= len(truth) + 1
    mended = exact(log, truth, begun)
    assert len(truth) >= 200
    assert (len(log.runs), log.mixed) == (1, False)
    assert log.longest.lines_seen == whole + mended
    assert log.longest.lines_expected <= begun
    if whole < len(truth):
        assert mended
    print(f"{flags}: {len(truth)} lines, {whole} whole, {mended} put together")


@pytest.mark.slow
def test_hostile_pieces_take_no_time():
    """Beginnings of the program's lines by thousands, in a line that does not end."""
    begin = b"2026/11/20 09:35:01 x"
    known = (begin + b"\n") * 3000
    for text in (
        (b"gc 1 @1.000" + (b"1" + begin) * 3000) * 40,
        (b"gc 1 @1.000" + (b"5" + begin + b"\n") * 3000) * 40,
        b"gc 123" * 100_000,
        (b"gc 12" + begin) * 100_000,
        b"gc 1 @1.000" + b"9" * (1 << 21),
        b"gc 1 @1.000" + b"\0" * (1 << 21),
    ):
        began = time.process_time()
        scanned(known + text)
        assert time.process_time() - began < 10
