"""The table of what goroutines waited for in the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.wait_chains import ENDS
from pprofdiff.analysis.traces.waited import End, Wait, end_in_words, waited
from pprofdiff.goruntime.readable import short
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
    ends: Counter[End] = Counter()
    sides: dict[End, list[int]] = defaultdict(lambda: [0, 0])
    places: dict[End, list[tuple[Wait, int, int]]] = defaultdict(list)
    for row in waited(diff):
        sides[row.end][0] += row.base_ns
        sides[row.end][1] += row.new_ns
        places[row.end].append((row.wait, row.base_ns, row.new_ns))
    by = diff.normalization
    for end, (base, new) in sides.items():
        ends[end] = int(max(by.scaled(base, new)))
    least = _OF_ALL * ends.total()
    for end, size in ends.most_common(_ENDS):
        if size < least:
            break
        pair = by.scaled(*sides[end])
        name = end_in_words(end)
        yield figure(
            f"end.{end.kind}.{end.function}.{end.call}",
            name,
            pair,
            "ns",
            worse=end.kind in _WORSE,
        )
        largest = sorted(places[end], key=lambda one: -max(one[1:]))
        for wait, *times in largest[:_WAITS]:
            itself = wait.reason in ENDS or wait[:2] == (end.call, end.function)
            if itself or max(by.scaled(*times)) < _PART * size:
                continue
            key = f"wait.{wait.reason}.{wait.function}.{wait.call}.{name}"
            yield figure(key, _in_words(wait), by.scaled(*times), "ns", level=1)


def _in_words(wait: Wait) -> str:
    """Return where goroutines wait: ``cache.Get waits in sync.(*Mutex).Lock``."""
    if not wait.function:
        return "waits elsewhere"
    if wait.function == wait.reason:
        return f"waits in {wait.reason}"
    how = f" for {wait.reason}" if wait.reason else ""
    return (
        f"{short(wait.function)} waits{f' in {short(wait.call)}' if wait.call else how}"
    )
