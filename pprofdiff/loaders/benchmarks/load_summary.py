"""Parse the summaries that hey and wrk print, from any log, into `LoadSummary`."""

from __future__ import annotations

import re
from itertools import chain, pairwise

from pprofdiff.model.benchmarks import LoadSummary

_LONGEST_SUMMARY = 1 << 22  # hey prints a line per distinct error
_MOST_DIGITS = 15  # up to here, sums and products are finite and counts exact
_NUMBER = rb"(\d+(?:\.\d+)?)"
_HEY_MOST_TIMES = 1_000_000  # requester/report.go, maxRes

# The first line of each tool's summary; no other log output matches.
_BEGINNINGS = (
    re.compile(rb"Summary:\r?\n  Total:\t(?=[\d.]+ secs)"),
    re.compile(rb"Thread Stats   Avg      Stdev "),
)
_TWO_LINES = b"Summary:"

# From format_time_s in wrk's units.c.
_SECONDS = {b"us": 1e-6, b"ms": 1e-3, b"s": 1.0, b"m": 60.0, b"h": 3600.0}


class LoadScanner:
    """Finds load generator summaries in blocks of whole lines, fed in order.

    If there are several, the longest run counts: warm-up runs are shorter.
    """

    def __init__(self) -> None:
        self._longest: LoadSummary | None = None
        self._summary = b""  # a summary that may continue, or a possible start of one

    def feed(self, block: bytes) -> None:
        """Read the next block."""
        text = self._summary + block if self._summary else block
        matches = chain.from_iterable(p.finditer(text) for p in _BEGINNINGS)
        begins = sorted(match.start() for match in matches)
        for begin, end in pairwise([*begins, len(text)]):
            if end < len(text) or end - begin >= _LONGEST_SUMMARY:
                self._take(text[begin : min(end, begin + _LONGEST_SUMMARY)])
        if begins and len(text) - begins[-1] < _LONGEST_SUMMARY:
            self._summary = text[begins[-1] :]
        else:
            self._summary = text[max(text.rfind(_TWO_LINES, len(text) - 64), 0) :]
            if not self._summary.startswith(_TWO_LINES):
                self._summary = b""

    def close(self) -> LoadSummary | None:
        """Return the summary of the longest run, or None if there is none."""
        if any(pattern.match(self._summary) for pattern in _BEGINNINGS):
            self._take(self._summary)
        self._summary = b""
        return self._longest

    def _take(self, summary: bytes) -> None:
        if b"Requests/sec:" not in summary:
            return
        try:
            load = _hey(summary) if summary.startswith(b"Summary") else _wrk(summary)
        except _TooLongError:
            return
        if load and (self._longest is None or load.seconds > self._longest.seconds):
            self._longest = load


class _TooLongError(ValueError):
    """A number has more digits than any load generator prints."""


def _hey(summary: bytes) -> LoadSummary | None:
    """Return a summary in the format of hey's requester/print.go."""
    total = re.search(rb"(?m)^  Total:\t" + _NUMBER + rb" secs", summary)
    rate = re.search(rb"(?m)^  Requests/sec:\t" + _NUMBER, summary)
    if total is None or rate is None:
        return None
    seconds, per_second = _float(total[1]), _float(rate[1])
    requests, failed = _hey_counts(summary, seconds, per_second)
    return LoadSummary("hey", seconds, requests, failed, per_second)


def _hey_counts(
    summary: bytes, seconds: float, rate: float
) -> tuple[int | None, int | None]:
    """Return the numbers of requests and of failed requests; None is unknown.

    Hey keeps the status of only the first million responses, so the total is checked
    against the printed rate, which is accurate to 0.00005.
    """
    codes = re.findall(rb"(?m)^  \[(\d{3})\]\t(\d+) responses", summary)
    _, _, rest = summary.partition(b"Error distribution:")
    listed = re.match(rb"\r?\n((?:  \[\d+\]\t[^\n]*(?:\n|\Z))*)", rest)
    errors = re.findall(rb"(?m)^  \[(\d+)\]\t", listed[1]) if listed else []
    answers = sum(_int(count) for _, count in codes)
    total = answers + sum(map(_int, errors))
    made, blur = rate * seconds, 0.00005 * (rate + seconds) + 1e-6
    if answers < _HEY_MOST_TIMES and abs(total - made) <= blur:
        bad = sum(_int(count) for code, count in codes if int(code) >= 400)
        return total, bad + total - answers
    return (round(made) if blur < 0.5 else None), None


def _wrk(summary: bytes) -> LoadSummary | None:
    """Return a summary in the format of wrk's wrk.c, which wrk2 shares."""
    rate = re.search(rb"(?m)^Requests/sec: +" + _NUMBER, summary)
    total = re.search(
        rb"(?m)^  (\d+) requests in " + _NUMBER + rb"(us|ms|s|m|h)\b", summary
    )
    if rate is None or total is None:
        return None
    per_second, requests = _float(rate[1]), _int(total[1])
    printed, unit = _float(total[2]), total[3]
    seconds = printed * _SECONDS[unit]
    if unit in (b"m", b"h") and per_second > printed:
        # Both have two decimals, so the larger number is more precise.
        seconds = requests / per_second
    refused = re.search(rb"(?m)^  Non-2xx or 3xx responses: (\d+)", summary)
    sockets = re.search(
        rb"(?m)^  Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)",
        summary,
    )
    failed = sum(_int(n) for m in (refused, sockets) if m for n in m.groups())
    return LoadSummary("wrk", seconds, requests, failed, per_second)


def _float(number: bytes) -> float:
    if len(number) > _MOST_DIGITS:
        raise _TooLongError
    return float(number)


def _int(number: bytes) -> int:
    if len(number) > _MOST_DIGITS:
        raise _TooLongError
    return int(number)
