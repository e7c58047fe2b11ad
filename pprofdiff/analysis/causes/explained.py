"""How much of the CPU's change the findings explain, and which groups are left."""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Claim, Explained
from pprofdiff.analysis.profiles.groups import JudgedSum, judged_sums

__all__ = ["explained"]


def explained(cpu: CPUComparison, covered: Claim) -> Explained:
    """Return how much the findings explain together, and which groups are left."""
    total = cpu.scaled_delta(*cpu.diff.totals)
    return Explained(total, cpu.delta(covered), tuple(_left(cpu, covered)))


def _left(cpu: CPUComparison, covered: Claim) -> list[JudgedSum]:
    """Return the groups that changed significantly beyond what findings cover."""
    names = [(group.id, group.label) for group in cpu.groups.values()]
    base, new = (np.full(len(side), -1, np.int64) for side in covered.sides)
    for row, (name, _) in enumerate(names):
        own = cpu.of_groups(name)
        base[own.base & ~covered.base] = new[own.new & ~covered.new] = row
    runs = cpu.diff.runs_of((base, new), len(names))
    rows = judged_sums(cpu.diff, names, runs, cpu.model)
    left = [row for row in rows if row.noise is False]
    return sorted(left, key=lambda row: -abs(row.delta))
