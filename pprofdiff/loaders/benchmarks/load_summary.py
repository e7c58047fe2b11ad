"""Find the summaries of load generators in any log, and read them as `LoadSummary`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.benchmarks import load_json, load_texts
from pprofdiff.model.benchmarks import LoadSummary

HEADER = re.compile(
    rb"response-time,DNS\+dialup,DNS,Request-write,Response-delay,Response-read,"
    rb"status-code,offset\r?\n"
)
_ROWS = re.compile(rb"(?:(?:\d{1,9}\.\d{4},){6}\d{1,3},\d{1,9}\.\d{4}\r?(?:\n|\Z))*+")
_LATENCY, _STATUS, _OFFSET = 0, 6, 7
# requester/report.go lists no more.
_MOST = 1_000_000
# The percentiles that hey prints, and p99.9, which a thousand requests have.
_PERCENTILES = (10, 25, 50, 75, 90, 95, 99, 99.9)
_LONGEST_SUMMARY = 1 << 22  # hey prints a line per distinct error, ghz one per call
_LONGEST_BEGINNING = 1 << 10

Reader = Callable[[bytes], LoadSummary]


class Rows:
    """The rows after a header, fed in blocks of whole lines."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float64]] = []

    def feed(self, block: bytes, start: int) -> int:
        """Read rows from `start` on; return where they end."""
        match = _ROWS.match(block, start)
        end = start if match is None else match.end()
        if end > start:
            columns = _LATENCY, _STATUS, _OFFSET
            rows = BytesIO(block[start:end])
            read = np.loadtxt(rows, delimiter=",", usecols=columns, ndmin=2)
            self._parts.append(read)
        return end

    def summary(self) -> LoadSummary | None:
        """Return the summary, None without rows.

        Requests without an answer are not listed, and none after the first million.
        """
        if not self._parts:
            return None
        latency, status, offset = np.concatenate(self._parts).T
        count, seconds = len(latency), float((offset + latency).max())
        ordered, whole = np.sort(latency), count < _MOST
        at = {rank: int(np.ceil(rank * count / 100)) for rank in _PERCENTILES}
        known = [(float(r), float(ordered[i])) for r, i in at.items() if i < count]
        return LoadSummary(
            "hey",
            seconds if whole else None,
            count if whole else None,
            int((status >= 400).sum()) if whole else None,
            count / seconds if seconds else None,
            (*known, (100.0, float(ordered[-1]))),
            float(latency.mean()),
            None,
            "closed",
        )


class _Format(NamedTuple):
    """One tool's output: a `mark` in its beginning, the beginning, and its reader.

    Marks are searched in every log; no other log output has such a beginning.
    """

    mark: bytes
    begins: re.Pattern[bytes]
    read: Reader


def _text(mark: bytes, begins: bytes, read: Reader) -> _Format:
    return _Format(mark, re.compile(begins), read)


def _json(
    mark: bytes, begins: bytes, read: Callable[[load_json.Object], LoadSummary]
) -> _Format:
    """Return the format of a JSON object whose first keys, on a line, are `begins`."""

    def reader(text: bytes) -> LoadSummary:
        return read(load_json.decoded(text))

    return _text(mark, rb"(?m)^\{\s*" + begins, reader)


_FORMATS = (
    _text(b"Summary:", rb"Summary:\r?\n  Total:\t(?=[\d.]+ secs)", load_texts.hey),
    _text(b"Success rate:", rb"Summary:\r?\n  Success rate:", load_texts.oha),
    _text(b"  Count:\t", rb"Summary:\r?\n  Count:\t", load_texts.ghz),
    _text(
        b"Thread Stats",
        rb"(?:  \d+ threads and \d+ connections\r?\n"
        rb"(?:  Thread calibration:[^\n]*\n)*)?  Thread Stats   Avg      Stdev ",
        load_texts.wrk,
    ),
    _text(b"[total, rate", rb"Requests +\[total, rate", load_texts.vegeta),
    _text(b"ApacheBench", rb"This is ApacheBench, ", load_texts.ab),
    _text(b"httperf --", rb"(?m)^httperf --\S", load_texts.httperf),
    _text(b"Target URL:", rb"(?m)^Target URL: +\S", load_texts.loadtest),
    _text(b"starting benchmark", rb"starting benchmark\.\.\.", load_texts.h2load),
    _text(b"Type,Name,Req", rb"Type,Name,Request Count,Fail", load_texts.locust),
    _text(b"Bombarding", rb"Bombarding \S+ (?:for|with) ", load_texts.bombardier),
    _text(b"http_req_duration", rb"http_req_duration\.*: avg=", load_texts.k6),
    _text(b" qps with ", rb"Starting at \S+ qps with \d+ thread", load_texts.fortio),
    _json(b'{"latencies":', rb'"latencies":\{"total":', load_json.vegeta),
    *(
        _json(b'"%s":' % key, rb'"%s":\s*\{' % key, load_json.k6)
        for key in (b"root_group", b"options", b"state", b"metrics", b"config")
    ),
    _json(b'"numberOfConnections"', rb'"spec":\{"number', load_json.bombardier),
    _json(b'"sampleInt"', rb'[^{}]{0,500}"sampleInt":', load_json.autocannon),
    _json(b'"successRate"', rb'"summary":\s*\{\s*"successRate":', load_json.oha),
    _json(b'"endReason"', rb'[^{}]{0,500}"endReason":', load_json.ghz),
    _json(b'"RunType"', rb'"RunType":', load_json.fortio),
    _json(b'"transactions"', rb'"transactions":', load_json.siege),
)


class LoadScanner:
    """Finds load generator summaries in blocks of whole lines, fed in order.

    If there are several, the longest run counts: warm-up runs are shorter.
    """

    def __init__(self) -> None:
        self._longest: LoadSummary | None = None
        self._read: Reader | None = None  # of a summary that may continue
        self._held = b""  # that summary, or the last lines, which may begin one
        self._rows: Rows | None = None

    def feed(self, block: bytes) -> None:
        """Read the next block."""
        self._feed_rows(block)
        text = self._held + block if self._held else block
        begins = [*_beginnings(text), (len(text), None)]
        if self._read is not None and begins[0][0] > 0:
            begins.insert(0, (0, self._read))
        self._read = None
        for (begin, read), (end, _) in pairwise(begins):
            if end == len(text) and end - begin < _LONGEST_SUMMARY:
                self._held, self._read = text[begin:], read
            else:
                self._take(read, text[begin : min(end, begin + _LONGEST_SUMMARY)])
        if self._read is None:
            cut = text.find(b"\n", max(len(text) - _LONGEST_BEGINNING, 0)) + 1
            self._held = text[cut:] if len(text) > _LONGEST_BEGINNING else text

    def close(self) -> LoadSummary | None:
        """Return the summary of the longest run, or None if there is none."""
        self._take(self._read, self._held)
        self._end_rows()
        self._read, self._held = None, b""
        return self._longest

    def _feed_rows(self, block: bytes) -> None:
        end = 0
        if self._rows is not None:
            end = self._rows.feed(block, 0)
            if end < len(block):
                self._end_rows()
        for header in HEADER.finditer(block, end):
            self._end_rows()
            self._rows = Rows()
            if self._rows.feed(block, header.end()) < len(block):
                self._end_rows()

    def _end_rows(self) -> None:
        if self._rows is not None:
            self._keep(self._rows.summary())
            self._rows = None

    def _take(self, read: Reader | None, text: bytes) -> None:
        try:
            self._keep(None if read is None else read(text))
        except load_texts.NoSummaryError:
            return

    def _keep(self, load: LoadSummary | None) -> None:
        if load is None:
            return
        longest = self._longest
        if longest is None or (load.seconds or 0) > (longest.seconds or 0):
            self._longest = load


def _beginnings(text: bytes) -> Iterator[tuple[int, Reader]]:
    found = [
        (match.start(), one.read)
        for one in _FORMATS
        if one.mark in text
        for match in one.begins.finditer(text)
    ]
    yield from sorted(found, key=lambda begin: begin[0])
