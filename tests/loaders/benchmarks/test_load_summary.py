"""Reports of load generators: real ones, whole and damaged, anywhere in a log."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.loaders.benchmarks.load_summary import LoadScanner
from pprofdiff.model.benchmarks import LoadSummary

DATA = Path(__file__).parents[2] / "data" / "load"
REPORTS = {path.stem: path.read_bytes() for path in sorted(DATA.glob("*.txt"))}
OTHER = b"12:00:01 served in 3 ms\n    50% 12 of 24\n  [200]\tx\nSummary:\n  Total: 3\n"


def scanned(*blocks):
    """Return what a scanner finds in blocks."""
    scanner = LoadScanner()
    for block in blocks:
        scanner.feed(block)
    return scanner.close()


def lines(text):
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


def test_what_hey_counts():
    assert scanned(REPORTS["hey"]) == LoadSummary(
        tool="hey", seconds=0.1121, requests=2000, failed=0, per_second=17840.3801
    )


def test_what_wrk_counts():
    assert scanned(REPORTS["wrk"]) == LoadSummary(
        tool="wrk", seconds=2.1, requests=164714, failed=0, per_second=78451.34
    )


def test_refused_requests_are_counted():
    hey, wrk = scanned(REPORTS["hey-errors"]), scanned(REPORTS["wrk-errors"])
    assert (hey.requests, hey.failed) == (600, 121)
    assert (wrk.requests, wrk.failed) == (6488, 1308 + 54)


def test_a_run_without_an_answer():
    hey, wrk = scanned(REPORTS["hey-none"]), scanned(REPORTS["wrk-minute"])
    assert (hey.requests, hey.failed) == (3, 3)
    assert (wrk.requests, wrk.failed) == (82, 82)
    assert wrk.seconds == pytest.approx(61.8, rel=0.01)


@pytest.mark.parametrize("name", REPORTS)
def test_a_rate_is_requests_by_time(name):
    load = scanned(REPORTS[name])
    assert load.requests / load.seconds == pytest.approx(load.per_second, rel=0.005)


def test_heys_answers_beyond_a_million_are_not_known_by_status():
    # requester/report.go: at most 1 000 000 statuses are kept.
    text = (
        REPORTS["hey"]
        .replace(b"Total:\t0.1121", b"Total:\t100.0000")
        .replace(b"17840.3801", b"20000.0000")
        .replace(b"2000 responses", b"1000000 responses")
    )
    load = scanned(text)
    assert (load.requests, load.failed) == (None, None)
    assert load.per_second == 20000


def test_counts_that_disagree_with_the_rate_are_not_known():
    # One of 1 000 001 answers is not counted, but the rate's last digit may say so.
    text = (
        REPORTS["hey"]
        .replace(b"Total:\t0.1121", b"Total:\t25.0000")
        .replace(b"17840.3801", b"40000.0400")
        .replace(b"2000 responses", b"1000000 responses")
    )
    assert scanned(text).failed is None
    fewer = scanned(REPORTS["hey-errors"].replace(b"[503]\t121", b"[503]\t111"))
    assert (fewer.requests, fewer.failed) == (600, None)


def test_errors_are_requests_that_failed():
    text = REPORTS["hey"].replace(b"[200]\t2000", b"[200]\t1990").rstrip()
    text += b"\n\nError distribution:\n  [7]\tGet: EOF\n  [3]\tGet: timeout\n\n"
    load = scanned(text)
    assert (load.requests, load.failed) == (2000, 10)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_reports_are_found_anywhere_in_a_log(name, end):
    alone = scanned(REPORTS[name])
    text = (OTHER * 50 + REPORTS[name] + OTHER * 50).replace(b"\n", end)
    assert alone is not None
    assert scanned(text) == alone
    assert scanned(*lines(text)) == alone


def test_of_several_runs_the_longest_counts():
    short, long = REPORTS["hey"], REPORTS["wrk"]
    assert scanned(short + long) == scanned(long + short) == scanned(long)
    assert scanned(long + OTHER * 100_000 + short) == scanned(long)


@given(st.lists(st.sampled_from([*REPORTS.values(), OTHER]), max_size=5), st.data())
def test_blocks_may_end_at_any_line(texts, draw):
    text = b"".join(texts)
    cut = draw.draw(st.lists(st.integers(0, len(lines(text))), max_size=6).map(sorted))
    edges = [0, *cut, len(lines(text))]
    blocks = [b"".join(lines(text)[a:b]) for a, b in pairwise(edges)]
    assert scanned(*blocks) == scanned(text)


@pytest.mark.parametrize("name", REPORTS)
def test_every_truncation_gives_a_report_or_none(name):
    text = REPORTS[name]
    whole = scanned(text)
    for size in range(len(text)):
        load = scanned(text[:size])
        assert load is None or load.tool == whole.tool
    assert scanned(text[:100]) is None


@pytest.mark.parametrize("seed", range(10))
def test_damaged_reports(seed):
    noise = random.Random(seed)
    for name, text in REPORTS.items():
        for _ in range(30):
            data = bytearray(text)
            for _ in range(6):
                data[noise.randrange(len(data))] = noise.choice(b"0\n\t .%s[]\xff")
            load = scanned(bytes(data))
            assert load is None or load.tool == name.partition("-")[0]


def test_a_report_without_end_stays_in_bounds():
    scanner = LoadScanner()
    scanner.feed(REPORTS["wrk"])
    scanner.feed(OTHER * 200_000)
    assert len(scanner._summary) < 1000
    assert scanner.close() == scanned(REPORTS["wrk"])


# Every number that is read of each tool's summary, as a pattern with one group.
READ = {
    "hey": [
        rb"Total:\t([\d.]+) secs",
        rb"Requests/sec:\t([\d.]+)",
        rb"\[200\]\t(\d+) responses",
    ],
    "hey-errors": [rb"\[503\]\t(\d+) responses"],
    "hey-none": [rb"  \[(\d+)\]\tGet"],
    "wrk": [
        rb"(\d+) requests in",
        rb"requests in ([\d.]+)s",
        rb"Requests/sec: +([\d.]+)",
    ],
    "wrk-errors": [
        rb"Non-2xx or 3xx responses: (\d+)",
        *(b"Socket errors: .*%s (\\d+)" % kind for kind in (b"connect", b"timeout")),
    ],
    "wrk-minute": [rb"requests in ([\d.]+)m"],
}


@pytest.mark.parametrize("digits", [16, 400, 5000])
@pytest.mark.parametrize(
    ("name", "pattern"), [(name, p) for name, read in READ.items() for p in read]
)
def test_a_number_too_long_makes_it_no_summary(name, pattern, digits):
    text = REPORTS[name]
    assert scanned(text) is not None
    begin, end = re.search(pattern, text).span(1)
    for number in (b"9" * digits, b"1." + b"9" * digits, b"0." + b"0" * digits):
        if b"." in number and b"[\\d.]" not in pattern:
            continue
        long = text[:begin] + number + text[end:]
        assert scanned(long) is None
        # Another one in the same log still counts.
        assert scanned(long + REPORTS["wrk"]) == scanned(REPORTS["wrk"])


@pytest.mark.parametrize("name", ["hey", "wrk"])
def test_numbers_that_are_not_read_may_be_of_any_length(name):
    text = REPORTS[name]
    longer = re.sub(
        rb"(?m)^(  Average:\t|    Latency +)\d", rb"\g<1>" + b"9" * 5000, text
    )
    assert longer != text
    assert scanned(longer) == scanned(text)
