"""Reports of load generators: real ones, whole and damaged, anywhere in a log."""

from __future__ import annotations

import random
import re
from functools import partial
from io import BytesIO
from itertools import pairwise
from math import isfinite
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.loaders.benchmarks.load_summary import LoadScanner
from tests.loaders.feeding import fed

DATA = Path(__file__).parents[2] / "data" / "load"
REPORTS = {path.name: path.read_bytes() for path in sorted(DATA.glob("*.*"))}
OTHER = b"12:00:01 served in 3 ms\n    50% 12 of 24\n  [200]\tx\nSummary:\n  Total: 3\n"


scanned = partial(fed, LoadScanner)


def lines(text):
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


# By report: what `LoadSummary` has in this order, latencies apart.
COUNTED = {
    "hey.txt": ("hey", 0.1121, 2000, 0, 17840.3801, 0.0002, None),
    "hey-errors.txt": ("hey", 0.2203, 600, 121, 2724.0578, 0.0015, None),
    "hey-none.txt": ("hey", 3.0015, 3, 3, 0.9995, None, None),
    "wrk.txt": ("wrk", 2.1, 164714, 0, 78451.34, 196.95e-6, 4),
    "wrk-errors.txt": ("wrk", 2.0, 6488, 1308 + 54, 3238.49, 1.22e-3, 4),
    # It prints 1.03 minutes and the rate.
    "wrk-minute.txt": ("wrk", 82 / 1.32, 82, 82, 1.32, None, 2),
    # Whole milliseconds of a server that waits for five.
    "autocannon.json": ("autocannon", 5.04, 6827, 0, 6827 / 5.04, 6.86e-3, 10),
    "locust.csv": ("locust", 663 / 664.165134, 663, 137, 664.165134, 5.076476e-3, None),
    # Connections that were closed, and answers of 503, are failures.
    "httperf.txt": ("httperf", 3.195, 582, 121, 182.1, 0.0054, 1),
    "loadtest.txt": ("loadtest", 0.451, 600, 125, 1330, 0.0025, 4),
    "h2load.txt": ("h2load", 0.11006, 2000, 0, 18171.74, 212e-6, 4),
    # Where the server closes a connection, h2load sends no more on it.
    "h2load-errors.txt": ("h2load", 0.47064, 334, 67, 709.68, 3.39e-3, 4),
    # 475 of 600 answered with 200, 120 with 503, and 5 connections closed.
    "oha.txt": ("oha", 2.3825054, 600, 125, 251.8357, 15.7582e-3, None),
    "oha.json": ("oha", 0.518080657, 600, 125, 1158.12083, 2.9808054e-3, None),
}
LATENCIES = {
    "hey.txt": {
        10: 0.0001, 25: 0.0001, 50: 0.0001, 75: 0.0002,
        90: 0.0003, 95: 0.0004, 99: 0.0026, 100: 0.0064,
    },
    "hey-none.txt": {},
    "wrk.txt": {50: 37e-6, 75: 43e-6, 90: 327e-6, 99: 3.29e-3, 100: 8.19e-3},
    "autocannon.json": {50: 0.005, 97.5: 0.017, 99: 0.022, 99.9: 0.140, 100: 0.174},
    "locust.csv": {50: 0.004, 95: 0.008, 99: 0.022, 100: 0.180},
    "httperf.txt": {},
    "loadtest.txt": {50: 0.002, 90: 0.004, 95: 0.004, 99: 0.006, 100: 0.011},
    "h2load.txt": {100: 3.73e-3},
    "oha.txt": {50: 4.4796e-3},
}  # fmt: skip
MORE = ("autocannon.json", "locust.csv", "oha.txt")  # print other percentiles too


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_counted(name):
    load = scanned(REPORTS[name])
    got = (*load[:5], load.mean, load.connections)
    assert got == pytest.approx(COUNTED[name])
    if name in LATENCIES:
        found, wanted = dict(load.latencies), LATENCIES[name]
        assert {rank: found[rank] for rank in wanted} == pytest.approx(wanted)
        assert name in MORE or found.keys() == wanted.keys()


@pytest.mark.parametrize("tool", ["vegeta", "k6", "fortio", "fortio-paced"])
def test_a_runs_text_and_json_say_the_same(tool):
    text, tree = (scanned(REPORTS[f"{tool}.{ending}"]) for ending in ("txt", "json"))
    assert text[:1] + text[2:4] == tree[:1] + tree[2:4]
    assert text[7:9] == tree[7:9]
    assert text.seconds == pytest.approx(tree.seconds, abs=0.0005)
    assert text.per_second == pytest.approx(tree.per_second, rel=5e-5)
    assert text.mean == pytest.approx(tree.mean, rel=5e-3)
    # k6 prints three digits.
    assert dict(text.latencies) == pytest.approx(dict(tree.latencies), rel=5e-3)


def test_three_formats_of_k6_have_the_same_figures():
    loads = [scanned(REPORTS[f"k6{kind}.json"]) for kind in ("", "-listed", "-handled")]
    for load in loads:
        assert load.requests == pytest.approx(load.per_second * load.seconds, rel=1e-3)
        assert load.failed == pytest.approx(0.2 * load.requests, rel=0.02)
        assert [rank for rank, _ in load.latencies] == [50, 90, 95, 100]
        assert (load.connections, load.loop) == (4, "closed")


def test_rows_of_hey_are_what_it_prints_of_them():
    rows = np.genfromtxt(BytesIO(REPORTS["hey.csv"]), delimiter=",", names=True)
    latency = np.sort(rows["responsetime"])
    load = scanned(REPORTS["hey.csv"])
    refused = int((rows["statuscode"] >= 400).sum())
    assert (load.requests, load.failed) == (len(rows), refused)
    assert load.mean == pytest.approx(latency.mean())
    # requester/report.go, latencies: the first whose rank is at least the percentile.
    for rank, seconds in load.latencies[:-1]:
        below = [i * 100 // len(latency) < rank for i in range(len(latency))]
        assert seconds == latency[below.index(False)]


# What /mixed refuses: one request in five, and one in 97 has its connection closed.
PLAIN = re.compile(r"(?:fortio|wrk2?|wrk2-plain|hey|ab|bombardier|ghz|oha|h2load)\.txt")
MIXED = [
    name
    for name in REPORTS
    if not PLAIN.fullmatch(name)
    and not re.search(
        "none|minute|paced.json|loadtest-paced|fortio.json|ghz.json|autocannon", name
    )
]


@pytest.mark.parametrize("name", MIXED)
def test_failures_are_what_the_server_refused(name):
    load = scanned(REPORTS[name])
    share = 1.0 if name.startswith("ghz") else 0.2
    assert load.failed == pytest.approx(share * load.requests, rel=0.07)


@pytest.mark.parametrize(
    ("names", "loop"),
    [
        ("hey.txt hey.csv wrk.txt ab.txt k6.txt fortio.json h2load.txt", "closed"),
        ("httperf.txt loadtest.txt autocannon.json", "closed"),
        ("ghz.json bombardier.txt bombardier.json k6-handled.json", "closed"),
        ("vegeta.txt vegeta.json wrk2.txt httperf-paced.txt", "open"),
        # Slowed to a rate, or without a word on connections.
        (
            "bombardier-paced.json fortio-paced.txt wrk2-plain.txt loadtest-paced.txt",
            "",
        ),
        ("ghz.txt siege.txt bombardier-count.txt oha.txt oha.json locust.csv", ""),
    ],
)
def test_a_loop_is_closed_where_connections_wait_all_the_time(names, loop):
    loops = {name: scanned(REPORTS[name]).loop for name in names.split()}
    assert loops == dict.fromkeys(loops, loop)


@pytest.mark.parametrize("name", REPORTS)
def test_figures_of_one_run_agree(name):
    load = scanned(REPORTS[name])
    assert load.tool == re.split("[-.]", name)[0].replace("wrk2-plain", "wrk") or (
        name == "wrk2-plain.txt"  # it prints nothing that wrk does not
    )
    values = [seconds for _, seconds in load.latencies]
    assert values == sorted(values)
    if load.seconds is not None:
        # siege counts only answers that are no failures.
        done = load.requests - (load.failed if load.tool == "siege" else 0)
        assert done / load.seconds == pytest.approx(load.per_second, rel=0.01)


def of_a_million(seconds, per_second):
    """Return hey's report with the most statuses that it keeps (requester/report.go)."""
    return (
        REPORTS["hey.txt"]
        .replace(b"Total:\t0.1121", b"Total:\t" + seconds)
        .replace(b"17840.3801", per_second)
        .replace(b"2000 responses", b"1000000 responses")
    )


def test_heys_answers_beyond_a_million_are_not_known_by_status():
    load = scanned(of_a_million(b"100.0000", b"20000.0000"))
    assert (load.requests, load.failed) == (None, None)
    assert load.per_second == 20000


def test_counts_that_disagree_with_the_rate_are_not_known():
    # One of 1 000 001 answers is not counted, but the rate's last digit may say so.
    assert scanned(of_a_million(b"25.0000", b"40000.0400")).failed is None
    fewer = scanned(REPORTS["hey-errors.txt"].replace(b"[503]\t121", b"[503]\t111"))
    assert (fewer.requests, fewer.failed) == (600, None)


def test_errors_are_requests_that_failed():
    text = REPORTS["hey.txt"].replace(b"[200]\t2000", b"[200]\t1990").rstrip()
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
    short, long = REPORTS["hey.txt"], REPORTS["wrk.txt"]
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
    for size in range(0, len(text), 1 + len(text) // 500):
        load = scanned(text[:size])
        assert load is None or load.tool in (whole.tool, "wrk")
    assert scanned(text[:20]) is None


@pytest.mark.parametrize("seed", range(10))
def test_damaged_reports(seed):
    noise = random.Random(seed)
    for name, text in REPORTS.items():
        for _ in range(8):
            data = bytearray(text)
            for _ in range(6):
                data[noise.randrange(len(data))] = noise.choice(b"0\n\t .%s[]\xff")
            load = scanned(bytes(data))
            assert load is None or load.tool in name or load.tool == "wrk"
            assert load is None or all(
                value is None or isfinite(value)
                for value in (load.seconds, load.per_second, load.mean)
            )


def test_a_report_without_end_stays_in_bounds():
    scanner = LoadScanner()
    scanner.feed(REPORTS["wrk.txt"])
    scanner.feed(OTHER * 200_000)
    assert len(scanner._held) < 2000
    assert scanner.close() == scanned(REPORTS["wrk.txt"])


# Every number that is read of each tool's summary, as a pattern with one group.
READ = {
    "hey.txt": [
        *(rb"Total:\t([\d.]+) secs", rb"Requests/sec:\t([\d.]+)"),
        rb"\[200\]\t(\d+) responses",
    ],
    "hey-errors.txt": [rb"\[503\]\t(\d+) responses"],
    "hey-none.txt": [rb"  \[(\d+)\]\tGet"],
    "wrk.txt": [
        *(rb"(\d+) requests in", rb"requests in ([\d.]+)s"),
        rb"Requests/sec: +([\d.]+)",
    ],
    "wrk-errors.txt": [
        rb"Non-2xx or 3xx responses: (\d+)",
        *(b"Socket errors: .*%s (\\d+)" % kind for kind in (b"connect", b"timeout")),
    ],
    "wrk-minute.txt": [rb"requests in ([\d.]+)m"],
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
        assert scanned(long + REPORTS["wrk.txt"]) == scanned(REPORTS["wrk.txt"])


@pytest.mark.parametrize("name", ["vegeta.json", "k6.json", "fortio.json", "ghz.json"])
@pytest.mark.parametrize("number", [b"1e999", b"9" * 400, b"-1", b"NaN", b'"1"'])
def test_any_number_of_json_may_be_damaged(name, number):
    text = REPORTS[name]
    numbers = [m.span() for m in re.finditer(rb"(?<=: |\":)\d[\d.]*", text)][:40]
    for begin, end in numbers:
        load = scanned(text[:begin] + number + text[end:])
        assert load is None or all(
            value is None or isfinite(value) for value in (load.seconds, load.mean)
        )


def test_what_ghz_lists_of_each_call_may_be_cut_off():
    text = REPORTS["ghz.json"]
    cut = text.index(b'"details"') + 500
    assert scanned(text[:cut]) == scanned(text)
