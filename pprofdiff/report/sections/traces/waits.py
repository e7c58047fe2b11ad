"""Tables of what goroutines waited for in the end: in the section, and ``--waits``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from pprofdiff.analysis.policy import MINOR
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.time import UNKNOWN
from pprofdiff.analysis.traces.wait_chains import EndKind
from pprofdiff.analysis.traces.waited import (
    RUNNABLE,
    SYSTEM_CALL,
    End,
    Waited,
    by_end,
    end_in_words,
    lines_of,
    off_cpu,
    off_cpu_in_words,
    wait_in_words,
    waited,
)
from pprofdiff.analysis.traces.workers import worker_rows
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.readable import short
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Column, Part, Row, Sentence
from pprofdiff.report.sections.traces.cells import figure, of_whole, table_of

_ENDS, _WAITS = 8, 2
# A place is listed below an end from this part of it on; an end, of all waits.
_PART, _OF_ALL = 0.1, MINOR
# A longer wait of these is worse; more of the others may be more work.
_WORSE = ("processor", "gc")
_KINDS: Mapping[EndKind, str] = MappingProxyType(
    {
        "processor": "waiting for a processor",
        "network": "waiting for the network",
        "syscall": "in system calls",
        "timer": "waiting for timers",
        "gc": "waiting for GC",
        "running": "waiting while others run",
        "created": "waiting for goroutines that did not exist yet",
        "blocked": "blocked, ended by no goroutine",
    }
)
_BEHIND = "behind locks, channels, others"
# The table that stands alone has room for so many places of an end.
_PLACES = 6


def kind_rows(diff: TraceDiff) -> Iterator[Row]:
    """Yield the known time of the goroutines that do the work: running, off the CPU.

    Time off the CPU is listed by kind of end; below each kind is what came through
    others, such as a lock's holder. The last cell is the share of all.
    """
    rows, roots = off_cpu(diff), worker_rows(diff)
    if roots is None:
        return
    views = diff.time.by_state(roots)
    views.pop(UNKNOWN, None)
    states = {state: (int(v.base[0]), int(v.new[0])) for state, v in views.items()}
    whole = [sum(pair[side] for pair in states.values()) for side in (0, 1)]
    ran = states.get("running", (0, 0))

    def row_of(key: str, name: str, raw: tuple[int, int], level: int = 0) -> Row:
        # Of several runs, only what is judged over them is marked.
        worse = key.partition(".")[2] in _WORSE and not diff.several
        pair = diff.normalization.scaled(*raw)
        row = figure(key, name, pair, "ns", worse=worse, level=level)
        return of_whole(row, raw, whole)

    yield row_of("kind.running-itself", "running", ran)
    for kind, name in _KINDS.items():
        of_kind = [row for row in rows if row.end.kind == kind]
        raw = _both(of_kind)
        behind = _both(row for row in of_kind if not row.direct)
        if any(raw):
            yield row_of(f"kind.{kind}", name, raw)
        if any(behind) and behind != raw:
            yield row_of(f"behind.{kind}", _BEHIND, behind, 1)


def _both(rows: Iterable[Waited]) -> tuple[int, int]:
    base, new = 0, 0
    for row in rows:
        base, new = base + row.base_ns, new + row.new_ns
    return base, new


def wait_rows(diff: TraceDiff) -> Iterator[Row]:
    """Yield the largest ends of waits, and below each the places that waited."""
    rows = waited(diff)
    for end in _largest(diff, rows)[:_ENDS]:
        name = end_in_words(end)
        yield _end(diff, end, name, rows)
        below = _below(diff, name, [row for row in rows if row.end == end])
        yield from [row for row, wait in below if not wait.direct][:_WAITS]


def waits_view(report: ReportModel) -> Iterator[Part]:
    """Yield all time by kind, and time off the CPU by its end with who waited where.

    Raises UsageError without traces of both sides.
    """
    diff: TraceDiff | None = report.comparison.results.get("trace")
    if diff is None:
        raise UsageError("--waits needs execution traces of both sides")
    rows = off_cpu(diff)
    ends, lines = _largest(diff, rows), lines_of(diff)
    shown: list[Row] = []
    for end in ends:
        name = off_cpu_in_words(end)
        shown.append(_end(diff, end, name, rows))
        below = [*_below(diff, name, [row for row in rows if row.end == end])]
        for row, wait in below[:_PLACES]:
            at = lines.get(wait.wait)
            if wait.direct and len(below) == 1 and not at:
                continue
            named = replace(row.cells[0], remark=f"({at})" if at else "")
            shown.append(replace(row, cells=(named, *row.cells[1:])))
    rest = [row for row in rows if row.end not in ends]
    if rest:
        shown.append(_sum(diff, "rest", f"{len(by_end(rest))} more", rest))
    total = _sum(diff, "total", "off the CPU", rows)
    shown.insert(0, replace(total, role="total"))
    per = "per op" if diff.rates else "per second"
    if kinds := [*kind_rows(diff)]:
        more = (Column("of time", "share"),)
        title = f"Time of the goroutines that do the work, {per}"
        yield table_of(report.labels, "kinds", "", kinds, more, title=title)
    name, title = "held up by, and who waits where", f"Off the CPU, {per}"
    yield table_of(report.labels, "off-cpu", name, shown, title=title)
    yield Sentence(
        "Each wait is followed through the goroutines that ended it to what they did.",
        role="legend",
    )


def _largest(diff: TraceDiff, rows: Iterable[Waited]) -> list[End]:
    by = diff.normalization
    ends = {end: max(by.scaled(*pair)) for end, pair in by_end(rows).items()}
    least = _OF_ALL * sum(ends.values())
    order = sorted(ends, key=lambda end: -ends[end])
    return [end for end in order if ends[end] >= least > 0]


def _end(diff: TraceDiff, end: End, name: str, rows: Iterable[Waited]) -> Row:
    row = _sum(diff, f"end.{'.'.join(end)}", name, [r for r in rows if r.end == end])
    if end.kind not in _WORSE or diff.several:
        return row
    pair = row.cells[1].value, row.cells[2].value
    return figure(row.key, name, pair, "ns", worse=True)


def _below(
    diff: TraceDiff, name: str, rows: Iterable[Waited]
) -> Iterator[tuple[Row, Waited]]:
    """Yield the places with a tenth of an end's time or more, largest first."""
    times = {row: diff.normalization.scaled(row.base_ns, row.new_ns) for row in rows}
    base, new = (sum(pair[side] for pair in times.values()) for side in (0, 1))
    for row in sorted(times, key=lambda row: -max(times[row])):
        if max(times[row]) >= _PART * max(base, new):
            key = f"wait.{'.'.join(row.wait)}.{name}"
            yield figure(key, _who(row), times[row], "ns", level=1), row


def _who(row: Waited) -> str:
    """Return who waits where, for what: ``cache.Get waits in sync.(*Mutex).Lock``."""
    if row.wait.reason == RUNNABLE:
        return "runnable themselves"
    if row.wait.reason == SYSTEM_CALL:
        return f"{short(row.wait.function)} calls it"
    return wait_in_words(row.wait)


def _sum(diff: TraceDiff, key: str, name: str, rows: Iterable[Waited]) -> Row:
    return figure(key, name, diff.normalization.scaled(*_both(rows)), "ns")
