"""Measured pairs as a table of text, next to what they may cost."""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.measure import Run, Spread

__all__ = [
    "BUDGETS",
    "SCALING",
    "TOOL",
    "Row",
    "budget",
    "columns",
    "comparison",
    "scaling",
    "spread",
]

# input: (wall time to go tool pprof, memory to pprof) at most.
BUDGETS: dict[str, tuple[float, float | None]] = {
    "real": (1.3, None),
    "50000": (0.35, 0.6),
    "500000": (0.20, 0.6),
}
# Wall time of ten times the input to that of the input, at most.
SCALING = 11.0


# Places in a round: what a user types, the program behind it, ours.
TOOL, PPROF, OURS = range(3)


@dataclass(frozen=True, slots=True)
class Row:
    """One input, measured: rounds of runs, as TOOL, PPROF and OURS number them."""

    key: str
    name: str
    rounds: list[list[Run]]

    def of(self, program: int, field: str) -> Spread:
        """Return ``wall``, ``cpu`` (seconds) or ``peak`` (bytes) of one program."""
        return Spread.of([float(getattr(r[program], field)) for r in self.rounds])

    def ratio(self, field: str, program: int) -> Spread:
        """Return ours to that program's, round by round."""
        return Spread.of(
            [getattr(r[OURS], field) / getattr(r[program], field) for r in self.rounds]
        )


def comparison(rows: list[Row]) -> str:
    """Return two tables of all inputs: time, then memory."""
    time = [[
        "wall time", "go tool pprof, s", "pprof, s", "pprofdiff, s", "to go tool pprof",
        "at most", "to pprof", "CPU to pprof",
    ]]  # fmt: skip
    memory = [["peak memory", "pprof, MB", "pprofdiff, MB", "to pprof", "at most"]]
    for row in rows:
        wall, peak = BUDGETS.get(row.key, (None, None))
        ratio = row.ratio("wall", TOOL)
        time.append([
            row.name,
            *(spread(row.of(program, "wall")) for program in (TOOL, PPROF, OURS)),
            spread(ratio),
            budget(ratio.middle, wall),
            spread(row.ratio("wall", PPROF)),
            spread(row.ratio("cpu", PPROF)),
        ])  # fmt: skip
        ratio = row.ratio("peak", PPROF)
        memory.append([
            row.name,
            *(f"{row.of(program, 'peak').middle / 1e6:.0f}" for program in (PPROF, OURS)),
            spread(ratio),
            budget(ratio.middle, peak),
        ])  # fmt: skip
    return f"{columns(time)}\n\n{columns(memory)}"


def scaling(small: Row, large: Row) -> str:
    """Return what ten times the input costs, in one line for each program."""
    lines = []
    for side, program in ((OURS, "pprofdiff"), (PPROF, "pprof")):
        times = large.of(side, "wall").middle / small.of(side, "wall").middle
        memory = large.of(side, "peak").middle / small.of(side, "peak").middle
        verdict = f" (at most {SCALING:g}: {_verdict(times, SCALING)})"
        lines.append(
            f"{program}: {small.name} to {large.name} takes {times:.1f} x the time"
            f"{verdict if side == OURS else ''}, {memory:.1f} x the memory"
        )
    return "\n".join(lines)


def _verdict(ratio: float, limit: float) -> str:
    return "kept" if ratio <= limit else "over"


def budget(ratio: float, limit: float | None) -> str:
    """Return a limit and whether a ratio keeps it; a dash if there is none."""
    return "-" if limit is None else f"{limit:g} {_verdict(ratio, limit)}"


def spread(found: Spread) -> str:
    """Return a median with its (least-greatest)."""
    return f"{found.middle:.2f} ({found.low:.2f}-{found.high:.2f})"


def columns(rows: list[list[str]]) -> str:
    """Return rows as text: the first column flush left, numbers flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
