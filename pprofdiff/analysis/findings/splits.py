"""Functions that one side has in parts, at the same cost."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.model import Finding
from pprofdiff.analysis.findings.wording import listed
from pprofdiff.analysis.profiles.splits import Split
from pprofdiff.goruntime.readable import distinct_names

__all__ = ["splits"]

_NAMED = 3


def splits(case: Case) -> Iterator[Finding]:
    """Functions whose work is the same, and that one side has in parts."""
    if case.cpu is not None:
        for split in case.cpu.diff.splits:
            yield _finding(case.cpu, split)


def _finding(cpu: CPUComparison, split: Split) -> Finding:
    rows = [split.function, *split.parts]
    whole, *parts = distinct_names(cpu.names[row] for row in rows)
    if len(parts) > _NAMED:
        parts = [*parts[:_NAMED], f"{len(parts) - _NAMED} more"]
    verb = "are" if len(split.parts) > 1 else "is"
    state, moved = ("new inside", "fell") if split.side else ("gone from", "rose")
    return Finding(
        "split" if split.side else "joined",
        f"{listed(parts)} {verb} {state} {whole}, whose own {cpu.noun} {moved} as "
        f"much: together {cpu.words(*split.whole)}, within noise",
        "Code that moved from one function to another costs what it did.",
        cpu.facts(rows, "flat"),
        functions=tuple(cpu.names[row] for row in rows),
    )
