"""Functions that one side has in parts, at the same cost."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.wording import parts_inside
from pprofdiff.analysis.profiles.splits import Split

__all__ = ["splits"]


def splits(case: Case) -> Iterator[Finding]:
    """Yield the functions that do the same work in parts on one side."""
    if case.cpu is not None:
        for split in case.cpu.diff.splits:
            yield _finding(case.cpu, split)


def _finding(cpu: CPUComparison, split: Split) -> Finding:
    rows = [split.function, *split.parts]
    whole, *parts = (cpu.names[row] for row in rows)
    moved = "fell" if split.side else "rose"
    return Finding(
        "split" if split.side else "joined",
        f"{parts_inside(whole, parts, new=split.side == 1)}, whose own {cpu.noun} "
        f"{moved} as much: together {cpu.words(*split.whole)}, within noise",
        "Code that only moved between functions costs the same.",
        cpu.facts(rows, "flat"),
        functions=tuple(cpu.names[row] for row in rows),
    )
