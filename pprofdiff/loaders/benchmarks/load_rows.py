"""Read the requests that hey lists as CSV, into the summary that hey would print."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

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
