"""Measured pairs as a table of text, next to what they may cost."""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.measure import Run, Spread

# stacks a side, 0 of real captures: (wall time to go tool pprof, memory to pprof) at
# most.
BUDGETS: dict[int, tuple[float, float | None]] = {
    0: (1.3, None),
    50_000: (0.35, 0.6),
    500_000: (0.20, 0.6),
}
# Wall time of ten times the input ÷ wall time of the input, at most.
GROWTH = 11.0


# Places in a round: what a user types, the program behind it, ours.
TOOL, PPROF, OURS = range(3)


@dataclass(frozen=True, slots=True)
class Row:
    """One input, measured: rounds of runs, as TOOL, PPROF and OURS number them."""

    shape: str
    stacks: int
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
        wall, peak = BUDGETS.get(row.stacks, (None, None))
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


def growth(rows: list[Row]) -> str:
    """Return what each input takes of the time and memory of its tenth; "" for none."""
    table = [
        ["to its own tenth", "pprof", "pprofdiff", "at most", "pprofdiff's memory"]
    ]
    small = {(row.shape, row.stacks): row for row in rows}
    for row in rows:
        tenth = small.get((row.shape, row.stacks // 10)) if row.stacks else None
        if tenth is None:
            continue
        pprof, ours, peak = (
            row.of(program, field).middle / tenth.of(program, field).middle
            for program, field in ((PPROF, "wall"), (OURS, "wall"), (OURS, "peak"))
        )
        table.append(
            [
                row.name,
                f"{pprof:.1f}",
                f"{ours:.1f}",
                budget(ours, GROWTH),
                f"{peak:.1f}",
            ]
        )
    return columns(table) if len(table) > 1 else ""


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
