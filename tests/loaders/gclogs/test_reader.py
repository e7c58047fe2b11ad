"""gctrace lines in any text: a slow reader of whole lines agrees, column by column."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.errors import FormatError
from pprofdiff.loaders.gclogs import parse
from tests.examples import daily

from .gctext import CAPTURES, DATA, GRAMMARS, printed, reference, rows, said, scanned

JUNK = st.sampled_from((
    "\n", "x\n", "gc \n", "the gc 12 ran\n", "2026/11/20 09:35:01 GET / 200\n", "\r\n",
    "BenchmarkX-2   \t", "\x1b[31m", '{"log":"', "\x00\xff\n", "PASS\nok  p 1.2s\n",
))  # fmt: skip
AFTER = st.sampled_from(["\n", "\r\n", "\x1b[0m\n", '\\n"}\n', "` and so on\n", "\n\n"])


@pytest.mark.slow
@pytest.mark.parametrize("grammar", GRAMMARS)
@settings(derandomize=True)
@given(data=st.data())
def test_whole_lines_read_as_the_slow_reader_reads_them(grammar, data):
    text = ""
    for line in data.draw(printed(grammar)):
        text += data.draw(JUNK) + "".join(line) + data.draw(AFTER)
    if data.draw(st.booleans()):
        text = text.replace("->", data.draw(st.sampled_from(["-\\u003e", "-&gt;"])))
    raw = text.encode("latin-1")
    log = parse(raw, "log")
    want = reference(raw)
    assert [rows(run.cycles) for run in log.runs] == [want]
    assert want
    assert (log.runs[0].torn, log.mixed) == (0, False)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda p: str(p.relative_to(DATA)))
def test_captures_read_whole(path):
    raw = path.read_bytes()
    run = parse(raw, path.name).longest
    assert rows(run.cycles) == reference(raw)
    assert run.lines_seen == run.lines_expected == raw.count(b"\n")


def test_a_line_of_go_1_5():
    """One that Go issue 12228 shows: its five and seven times, with pacer lines around."""
    raw = (
        b"pacer: assist ratio=+2.477301e+001 (scan 24 MB in 34->35 MB) workers=2+0\n"
        b"gc 377 @50.448s 33%: 1.0+1.0+0+7.0+2.0 ms clock, 8.0+1.0+0+2.0/14/12+16 ms cpu, "
        b"34->35->19 MB, 35 MB goal, 8 P\n"
    )
    log = parse(raw, "log")
    (line,) = rows(log.longest.cycles)
    walls = [v for name, v in line.items() if name.endswith("_wall_us")]
    cpus = [v for name, v in line.items() if name.endswith("_cpu_us")]
    assert walls == [1000, 8000, 2000]
    assert cpus == [8000, 2000, 15000, 12000, 16000]
    assert (line["stacks_mb"], line["procs"]) == (None, 8)


def test_a_clock_of_go_1_5_before_stacks_of_go_1_18_is_no_line():
    mixed = (
        b"gc 1 @0.016s 3%: 0.1+0.2+0+0.3+0.4 ms clock, 0.5+0.6+0+0.7/0.8/0.9+1.0 ms cpu, "
        b"4->4->0 MB, 4 MB goal, 1 MB stacks, 0 MB globals, 4 P\n"
    )
    whole = mixed.replace(b" 1 MB stacks, 0 MB globals,", b"").replace(b"gc 1", b"gc 2")
    (run,) = parse(mixed + whole, "log").runs
    assert (run.cycles.number.tolist(), run.torn) == ([2], 1)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    daily(CAPTURES[::6], CAPTURES[::18]),
    ids=lambda p: str(p.relative_to(DATA)),
)
def test_a_log_cut_anywhere_holds_the_lines_before_the_cut(path):
    raw = b"".join(path.read_bytes().splitlines(keepends=True)[:12])
    for cut in range(len(raw)):
        log = scanned(raw[:cut])
        got = [] if log is None else rows(log.longest.cycles)
        assert got == reference(raw[:cut])


def large(torn):
    """Return a text beyond what is read at once, every third line cut to pieces."""
    body = (DATA / "zstd/base/gctrace.log").read_bytes().splitlines(keepends=True)
    app = b"2026/11/20 09:35:01 worker 1 GET /%d 200\n"
    out = []
    for i, line in enumerate(body):
        at = line.index(b" ms clock") if torn and i % 3 == 0 else len(line)
        out += [line[:at], *(app % n for n in range(40)), line[at:]]
    return b"".join(out)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1 << 8, 5003, 1 << 16, 1 << 20])
def test_small_blocks_of_a_large_log_make_no_difference(size):
    text = large(torn=True)
    assert len(text) > 1 << 20
    lines, blocks = text.splitlines(keepends=True), [b""]
    for line in lines:
        if len(blocks[-1]) > size:
            blocks.append(b"")
        blocks[-1] += line
    whole = scanned(text)
    assert said(scanned(*blocks)) == said(whole)
    assert whole.longest.lines_seen == 919
    assert whole.longest.cycles.repaired.sum() == 307


def test_a_line_longer_than_a_block_counts_every_collection():
    raw = (DATA / "zstd/new/gctrace.log").read_bytes().replace(b"\n", b"; ")
    for size in (1000, 4096, 10007):
        padded = b"x" * (1 << 20) + raw
        blocks = [padded[i : i + size] for i in range(0, len(padded), size)]
        assert rows(scanned(*blocks).longest.cycles) == reference(raw)


def test_what_the_timer_and_others_print():
    line = b"gc %d @%d.000s 0%%: 0.1+1+0.1 ms clock, 0.2+0/1/0+0.2 ms cpu, 4->4->1 MB, 5 MB goal, 2 P\n"
    text = (
        b"scvg0: inuse: 1, idle: 2\nGC forced\n" + line % (1, 120)
        + b"SCHED 1ms: gomaxprocs=2\ninit os @0.1 ms, 0.01 ms clock, 8 bytes, 1 allocs\n"
        + line % (2, 130) + b"scav 5 KiB work, 9 KiB total, 50% util\n"
        + b"GC forced by nobody\n" + line % (3, 140)
        + b"pacer: assist ratio=+1.2e+000\ngc7(4): 1+2+3+4 us, 1 -> 1 MB\nGC forced\n"
        + line % (4, 260)
    )  # fmt: skip
    log = parse(text, "log")
    assert log.longest.cycles.timer.tolist() == [True, False, False, True]
    assert [(run.lines_seen, run.torn) for run in log.runs] == [(4, 0)]


def test_forced_that_came_late_is_still_forced():
    head = (
        b"gc 1 @0.000s 0%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->1 MB, 5 MB goal, 2 P"
    )
    assert parse(head + b"\n (forced)\n", "log").longest.cycles.forced.tolist() == [
        False
    ]
    torn = head + b"2026/11/20 x\n (forced)\n"
    assert parse(torn, "log").longest.cycles.forced.tolist() == [True]
    blocks = head + b"2026/11/20 x\n", b" (forced)\n"
    assert scanned(*blocks).longest.cycles.forced.all()


def test_a_torn_head_alone_is_a_run_of_none():
    log = parse(b"gc 12 @3.456s 5%: 0.1", "log")
    assert [(run.lines_seen, run.torn) for run in log.runs] == [(0, 1)]
    assert log.longest.lines_expected == 0


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"gc\ngc 1\ngc 1 @\n", bytes(range(256)) * 99]
)
def test_no_line_is_said_in_one_line(raw):
    with pytest.raises(FormatError, match=r"^x\.log: no gctrace line"):
        parse(raw, "x.log")
