"""The table of what goroutines waited for in the end."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.waited import (
    by_end,
    end_in_words,
    is_wait_itself,
    wait_in_words,
    waited,
)
from pprofdiff.report.rows import Row
from pprofdiff.report.sections.traces.cells import figure

_ENDS, _WAITS = 8, 2
# A place is listed below an end from this part of it on; an end from that of all waits.
_PART, _OF_ALL = 0.1, 0.01
# A longer wait of these is worse; more of the others may be more work.
_WORSE = ("processor", "gc")


def wait_rows(diff: TraceDiff) -> Iterator[Row]:
    """Yield the largest ends of waits, and below each the places that waited for it.

    They are of the goroutines that do the work, and scaled as all times of the trace.
    """
    rows, by = waited(diff), diff.normalization
    ends = {end: by.scaled(*pair) for end, pair in by_end(rows).items()}
    least = _OF_ALL * sum(map(max, ends.values()))
    for end in sorted(ends, key=lambda end: -max(ends[end]))[:_ENDS]:
        pair, name = ends[end], end_in_words(end)
        if max(pair) < least:
            break
        yield figure(
            f"end.{end.kind}.{end.function}.{end.call}",
            name,
            pair,
            "ns",
            worse=end.kind in _WORSE,
        )
        places = [row for row in rows if row.end == end]
        places.sort(key=lambda row: -max(row.base_ns, row.new_ns))
        for wait, _, *raw in places[:_WAITS]:
            times = by.scaled(*raw)
            if is_wait_itself(wait, end) or max(times) < _PART * max(pair):
                continue
            key = f"wait.{wait.reason}.{wait.function}.{wait.call}.{name}"
            yield figure(key, wait_in_words(wait), times, "ns", level=1)
