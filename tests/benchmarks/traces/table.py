"""Traces measured, as tables of text, next to what they may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.benchmarks.measure import Run, Spread
from tests.benchmarks.table import budget, columns, spread

# Wall time and peak memory to go tool trace -pprof=sched, at most.
WALL, MEMORY = 0.5, 0.25

# Places in a round.
GO_BASE, GO_NEW, BARE, ONE, TWO = range(5)

_Round = list[Run]


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One input, measured: rounds of runs, as GO_BASE … TWO number them."""

    name: str
    rounds: list[_Round]

    def of(self, value: Callable[[_Round], float]) -> Spread:
        """Return the spread of what a function says of each round."""
        return Spread.of([value(found) for found in self.rounds])

    def ratios(self) -> str:
        """Return two traces' ratios in a line, for who waits for the rest."""
        wall, peak = self.of(_two_wall).middle, self.of(_two_peak).middle
        return f"{wall:.2f} x go tool trace's wall, {peak:.2f} x its memory"


def _two_wall(found: _Round) -> float:
    return found[TWO].wall / (found[GO_BASE].wall + found[GO_NEW].wall)


def _two_peak(found: _Round) -> float:
    return found[TWO].peak / max(found[GO_BASE].peak, found[GO_NEW].peak)


def comparison(rows: list[TraceRow]) -> str:
    """Return three tables of all inputs: time of two traces, of one, memory."""
    two = [[
        "wall time, two traces", "go tool trace, twice, s", "pprofdiff, s",
        "to go tool trace", "at most", "CPU to go tool trace",
    ]]  # fmt: skip
    one = [[
        "wall time, one trace", "go tool trace, s", "Go's summary, s", "load, s",
        "to go tool trace", "at most", "CPU to go tool trace", "to Go's summary",
        "CPU to Go's summary",
    ]]  # fmt: skip
    memory = [[
        "peak memory", "go tool trace, MB", "Go's summary, MB", "two, MB", "one, MB",
        "two to go tool trace", "at most", "one to go tool trace", "at most",
    ]]  # fmt: skip
    for row in rows:
        two.append(_two(row))
        one.append(_one(row))
        memory.append(_memory(row))
    return "\n\n".join(columns(table) for table in (two, one, memory))


def _two(row: TraceRow) -> list[str]:
    ratio = row.of(_two_wall)
    return [
        row.name,
        spread(row.of(lambda r: r[GO_BASE].wall + r[GO_NEW].wall)),
        spread(row.of(lambda r: r[TWO].wall)),
        spread(ratio),
        budget(ratio.middle, WALL),
        spread(row.of(lambda r: r[TWO].cpu / (r[GO_BASE].cpu + r[GO_NEW].cpu))),
    ]


def _one(row: TraceRow) -> list[str]:
    ratio = row.of(lambda r: r[ONE].wall / r[GO_NEW].wall)
    return [
        row.name,
        *(spread(row.of(lambda r, i=i: r[i].wall)) for i in (GO_NEW, BARE, ONE)),
        spread(ratio),
        budget(ratio.middle, WALL),
        spread(row.of(lambda r: r[ONE].cpu / r[GO_NEW].cpu)),
        spread(row.of(lambda r: r[ONE].wall / r[BARE].wall)),
        spread(row.of(lambda r: r[ONE].cpu / r[BARE].cpu)),
    ]


def _memory(row: TraceRow) -> list[str]:
    two = row.of(_two_peak)
    one = row.of(lambda r: r[ONE].peak / r[GO_NEW].peak)
    peaks = [row.of(lambda r, i=i: r[i].peak) for i in (GO_NEW, BARE, TWO, ONE)]
    return [
        row.name,
        *(f"{peak.middle / 1e6:.0f}" for peak in peaks),
        spread(two),
        budget(two.middle, MEMORY),
        spread(one),
        budget(one.middle, MEMORY),
    ]
