"""What hey and wrk print at the end of a run -> `Load`, out of any log."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import NamedTuple

from pprofdiff.model.benchmarks import Load

__all__ = ["LoadScanner"]

_LONGEST_REPORT = 1 << 22  # hey prints a line for every distinct error
_NUMBER = rb"(\d+(?:\.\d+)?)"
_HEY_MOST_TIMES = 1_000_000  # requester/report.go, maxRes

# What each tool's report begins with; nothing else a program logs reads so.
_BEGINNINGS = (
    re.compile(rb"Summary:\r?\n  Total:\t(?=[\d.]+ secs)"),
    re.compile(rb"Thread Stats   Avg      Stdev "),
)
_TWO_LINES = b"Summary:"

# wrk's units.c, format_time_us and format_time_s.
_SECONDS = {b"us": "e-6", b"ms": "e-3", b"s": "", b"m": "", b"h": ""}
_LONG = {b"m": 60, b"h": 3600}
_WRK_TIME = _NUMBER + rb"(us|ms|s|m|h)\b"


class LoadScanner:
    """Finds load generators' reports in blocks of whole lines, fed in order.

    Of several, the longest run counts: warming up is shorter.
    """

    def __init__(self) -> None:
        self._found: Load | None = None
        self._report = b""  # the beginning of a report, or what may become one

    def feed(self, block: bytes) -> None:
        """Read one more block."""
        text = self._report + block if self._report else block
        found = chain.from_iterable(p.finditer(text) for p in _BEGINNINGS)
        begins = sorted(match.start() for match in found)
        for begin, end in pairwise([*begins, len(text)]):
            if end < len(text) or end - begin >= _LONGEST_REPORT:
                self._take(text[begin : min(end, begin + _LONGEST_REPORT)])
        if begins and len(text) - begins[-1] < _LONGEST_REPORT:
            self._report = text[begins[-1] :]
        else:
            self._report = text[max(text.rfind(_TWO_LINES, len(text) - 64), 0) :]
            if not self._report.startswith(_TWO_LINES):
                self._report = b""

    def close(self) -> Load | None:
        """Return what the longest run counted, None if there is no report."""
        if any(pattern.match(self._report) for pattern in _BEGINNINGS):
            self._take(self._report)
        self._report = b""
        return self._found

    def _take(self, report: bytes) -> None:
        if b"Requests/sec:" not in report:
            return
        load = _hey(report) if report.startswith(b"Summary") else _wrk(report)
        if load and (self._found is None or load.seconds > self._found.seconds):
            self._found = load


class _Counts(NamedTuple):
    """Requests that were answered or failed, and those of them that failed."""

    requests: int | None
    failed: int | None


def _hey(report: bytes) -> Load | None:
    """Return a report as requester/print.go writes it."""
    seconds = _value(rb"^  Total:\t" + _NUMBER + rb" secs", report)
    rate = _value(rb"^  Requests/sec:\t" + _NUMBER, report)
    if seconds is None or rate is None:
        return None
    counts = _hey_counts(report, seconds, rate)
    latency = re.findall(rb"(?m)^  (\d+)%{1,2} in " + _NUMBER + rb" secs", report)
    mean = _value(rb"^  Average:\t" + _NUMBER + rb" secs", report)
    return Load(
        tool="hey",
        seconds=seconds,
        requests=counts.requests,
        failed=counts.failed,
        per_second=rate,
        # Beyond a million answers hey divides the sum of all by one million.
        mean_latency_s=None if counts.failed is None else mean,
        # A percentile that hey has too few answers for is "0% in 0.0000 secs".
        latency_s=tuple((float(p), float(t)) for p, t in latency if int(p)),
    )


def _hey_counts(report: bytes, seconds: float, rate: float) -> _Counts:
    """Return how many requests hey made, and how many of them failed.

    Hey keeps the status of the first million answers alone, so the sum is compared
    with the printed rate, whose last digit is good to half of 0.0001.
    """
    codes = re.findall(rb"(?m)^  \[(\d{3})\]\t(\d+) responses", report)
    _, _, rest = report.partition(b"Error distribution:")
    listed = re.match(rb"\r?\n((?:  \[\d+\]\t[^\n]*(?:\n|\Z))*)", rest)
    errors = re.findall(rb"(?m)^  \[(\d+)\]\t", listed[1]) if listed else []
    answers = sum(int(count) for _, count in codes)
    total = answers + sum(map(int, errors))
    made, blur = rate * seconds, 0.00005 * (rate + seconds) + 1e-6
    if answers < _HEY_MOST_TIMES and abs(total - made) <= blur:
        bad = sum(int(count) for code, count in codes if int(code) >= 400)
        return _Counts(total, bad + total - answers)
    return _Counts(round(made) if blur < 0.5 else None, None)


def _wrk(report: bytes) -> Load | None:
    """Return a report as wrk.c prints it (wrk2: the same, with more percentiles)."""
    rate = _value(rb"^Requests/sec: +" + _NUMBER, report)
    total = re.search(rb"(?m)^  (\d+) requests in " + _WRK_TIME, report)
    if rate is None or total is None:
        return None
    requests = int(total[1])
    seconds = _seconds(total[2], total[3])
    if total[3] in _LONG and rate > float(total[2]):
        seconds = requests / rate  # both have two decimals: the larger is the finer
    mean = re.search(rb"(?m)^    Latency +" + _WRK_TIME, report)
    latency = re.findall(rb"(?m)^ +" + _NUMBER + rb"% +" + _WRK_TIME, report)
    bad = _value(rb"^  Non-2xx or 3xx responses: (\d+)", report) or 0
    sockets = re.search(
        rb"(?m)^  Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)",
        report,
    )
    mean_s = _seconds(mean[1], mean[2]) if mean else None
    return Load(
        tool="wrk",
        seconds=seconds,
        requests=requests,
        failed=int(bad) + (sum(map(int, sockets.groups())) if sockets else 0),
        per_second=rate,
        mean_latency_s=mean_s or None,  # 0.00us: none came in time
        latency_s=tuple((float(p), _seconds(t, u)) for p, t, u in latency),
    )


def _value(pattern: bytes, report: bytes) -> float | None:
    found = re.search(rb"(?m)" + pattern, report)
    return float(found[1]) if found else None


def _seconds(number: bytes, unit: bytes) -> float:
    return float(number.decode() + _SECONDS[unit]) * _LONG.get(unit, 1)
