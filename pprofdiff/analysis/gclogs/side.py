"""One build's GC logs: the cycles of each run, and their sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from math import exp, fsum, log
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.gclogs.figures import GCFigures, figures
from pprofdiff.analysis.settings import Span
from pprofdiff.errors import UsageError
from pprofdiff.model.gclogs import Cycles, GCLog, GCRun
from pprofdiff.model.side import Capture

# The heap has grown once a trigger reaches this share of the median trigger.
_GROWN = 0.2
# With fewer cycles than this the whole run is the window.
_FEW = 5


class _Window(NamedTuple):
    first: int
    stop: int
    reason: str

    def of(self, cycles: Cycles) -> Cycles:
        return cycles.take(slice(self.first, self.stop))


def window_of(run: GCRun, span: Span | None = None, path: str = "log") -> _Window:
    """Return the cycles that started within `span`, by default those under load.

    By default the window starts with the first cycle whose heap at start is a fifth of
    the median, which leaves out waiting for load and growing to size. It ends before
    the last cycle, since the next one's start is unknown. It is the whole log if that
    would leave fewer than four. Raises UsageError, which names `path`, if no cycle
    started within `span`.
    """
    count = run.lines_seen
    if span is not None:
        return _asked_for(run, span, path)
    if count < _FEW:
        return _Window(0, count, "the whole log")
    heap = run.cycles.heap_start_mb
    first = int(np.argmax(heap >= _GROWN * np.median(heap)))
    if count - 1 - first < _FEW - 1:
        return _Window(0, count, "the whole log")
    numbers = run.cycles.number
    return _Window(
        first,
        count - 1,
        f"gc {numbers[first]} to {numbers[count - 2]}: excluding start-up and the "
        "last cycle",
    )


def _asked_for(run: GCRun, span: Span, path: str) -> _Window:
    seconds = run.cycles.start_ms / 1000
    low = -np.inf if span.start is None else span.start
    high = np.inf if span.end is None else span.end
    rows = np.flatnonzero((seconds >= low) & (seconds < high))
    if not len(rows):
        known = f"{seconds[0]:.3f} to {seconds[-1]:.3f} s" if len(seconds) else "none"
        raise UsageError(
            f"{path}: no collection started within --window; they started at {known}"
        )
    first, stop = int(rows[0]), int(rows[-1]) + 1
    numbers = run.cycles.number
    return _Window(first, stop, f"--window: gc {numbers[first]} to {numbers[stop - 1]}")


T = TypeVar("T")

# Properties of a process, not of a build: taken from the shown run.
_WHICH = frozenset(("first_cycle", "last_cycle", "start_s", "end_s"))


@dataclass(frozen=True, eq=False)
class LoggedRun:
    """One run's GC cycles, of one process, and the window that is compared."""

    path: str
    run: GCRun
    window: _Window
    asked: bool

    @cached_property
    def whole(self) -> GCFigures:
        """Sums over all lines that were read, or over the window if the user set it."""
        return figures(self.summed)

    @cached_property
    def cycles(self) -> Cycles:
        """The cycles in the window."""
        return self.window.of(self.run.cycles)

    @cached_property
    def steady(self) -> GCFigures:
        """Rates and means within the window."""
        return figures(self.cycles)

    @property
    def summed(self) -> Cycles:
        """The cycles that `whole` sums."""
        return self.cycles if self.asked else self.run.cycles

    @property
    def pauses_ns(self) -> NDArray[np.int64]:
        """Both stop-the-world phases of each cycle in `whole`, int64."""
        cycles = self.summed
        both = cycles.sweep_termination_wall_us, cycles.mark_termination_wall_us
        return np.concatenate(both) * 1000


@dataclass(frozen=True, eq=False)
class GCSide:
    """One build's GC cycles, run by run; `others` counts further processes."""

    label: str
    runs: tuple[LoggedRun, ...]
    others: int

    @cached_property
    def shown(self) -> LoggedRun:
        """The run to draw: the one with the most cycles, the first of equals."""
        return max(self.runs, key=lambda one: one.run.lines_seen)

    @cached_property
    def whole(self) -> GCFigures:
        """Sums of a run, `_mean_over_runs`: over all its lines, or its window."""
        return _mean_over_runs([run.whole for run in self._shown_first])

    @cached_property
    def steady(self) -> GCFigures:
        """Rates and means within the windows, `_mean_over_runs`."""
        return _mean_over_runs([run.steady for run in self._shown_first])

    @property
    def _shown_first(self) -> list[LoggedRun]:
        return [self.shown, *(run for run in self.runs if run is not self.shown)]

    def caveats(self) -> Iterator[Caveat]:
        """Yield caveats about the logs: damaged lines, further processes."""
        for one in self.runs:
            yield from _amiss(one)
        if not self.others:
            return
        count = self.others + len(self.runs)
        which = f", {self.shown.run.lines_seen} in {self.shown.path}"
        if len(self.runs) > 1:
            which = f" in each of {len(self.runs)} runs"
        yield Caveat(
            "gctrace-runs",
            f"{self.label}: {count} processes in the GC logs; compared is the one with "
            f"most cycles{which}",
        )


def _amiss(one: LoggedRun) -> Iterator[Caveat]:
    run, path = one.run, one.path
    if run.lines_seen < run.lines_expected:
        yield Caveat(
            "gctrace-gaps",
            f"{path}: {run.lines_seen} of {run.lines_expected} GC lines intact; sums "
            "are of these, rates go by the cycles' numbers",
        )
    if run.repeated:
        yield Caveat(
            "gctrace-repeated",
            f"{path}: repeated GC lines: {run.repeated}; each collection counts once",
        )
    if run.swapped:
        yield Caveat(
            "gctrace-order",
            f"{path}: GC lines in the wrong order: {run.swapped}; read in the order "
            "of their numbers",
        )


def _mean_over_runs(runs: Sequence[T]) -> T:
    """Return figures averaged by `mean_of_runs`, integers rounded.

    Ratios of sides are ratios of this mean, so that one run next to other processes,
    with pauses ten times as long, does not decide. Numbers and times of cycles are the
    first run's.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    values: dict[str, Any] = {}
    for name in (field.name for field in fields(first)):  # type: ignore[arg-type]
        column = [getattr(run, name) for run in runs]
        if name in _WHICH:
            values[name] = column[0]
        elif is_dataclass(column[0]):
            values[name] = _mean_over_runs(column)
        else:
            mean = mean_of_runs(column)
            whole = any(isinstance(value, int) for value in column)
            values[name] = round(mean) if whole and mean is not None else mean
    return type(first)(**values)


def mean_of_runs(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean over runs, arithmetic with a 0; None without values."""
    column = [value for value in values if value is not None]
    if len(column) < 2:
        return column[0] if column else None
    if min(column) > 0:
        return exp(fsum(map(log, column)) / len(column))
    return fsum(column) / len(column)


def side_of(
    label: str, logs: Sequence[Capture[GCLog]], span: Span | None
) -> GCSide | None:
    """Return a side's GC cycles; None if its logs have no intact line.

    A run is what was captured together, or one of several logs whose names differ only
    in their numbers. In each run, the process with the most cycles is compared; of logs
    with unlike names, which may be of unlike programs, those that include the process
    with the most. Raises UsageError if no cycle started within the span.
    """
    usable = [
        (number, entry, run)
        for number, entry in enumerate(logs)
        for run in entry.content.runs
        if run.lines_seen and not entry.content.mixed
    ]
    if not usable:
        return None
    chosen = [
        max(processes, key=lambda one: one[1].lines_seen)
        for processes in _by_run(usable)
    ]
    runs = tuple(
        LoggedRun(
            path=entry.path,
            run=run,
            window=window_of(run, span, entry.path),
            asked=span is not None,
        )
        for entry, run in chosen
    )
    return GCSide(label, runs, len(usable) - len(runs))


_Process = tuple[Capture[GCLog], GCRun]


def _by_run(
    processes: Iterable[tuple[int, Capture[GCLog], GCRun]],
) -> list[list[_Process]]:
    """Return the processes of each run, in log order."""
    by_name: dict[str, dict[tuple[bool, int], list[_Process]]] = {}
    for number, entry, run in processes:
        name = "" if entry.run_known else re.sub(r"\d+", "#", entry.path)
        key = (entry.run_known, entry.run if entry.run_known else number)
        by_name.setdefault(name, {}).setdefault(key, []).append((entry, run))
    most = max(
        by_name.values(),
        key=lambda runs: max(run.lines_seen for one in runs.values() for _, run in one),
    )
    return list(most.values())


def unusable(logs: Sequence[Capture[GCLog]]) -> Iterator[Caveat]:
    """Yield a caveat for each log that cannot be compared."""
    for capture in logs:
        path, log_ = capture.path, capture.content
        if log_.mixed:
            yield Caveat(
                "gctrace-mixed",
                f"{path}: lines of several processes alternate and cannot be "
                "separated: not compared; write one log per process",
            )
        elif not any(run.lines_seen for run in log_.runs):
            torn = sum(run.torn for run in log_.runs)
            yield Caveat(
                "gctrace-torn",
                f"{path}: none of {torn} GC lines is whole: other output tore them; "
                "write standard error to a file of its own",
            )
