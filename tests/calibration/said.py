"""What is said of one pair of sides: by the library, as its report says it, and plainly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.report.model import report_of
from tests.calibration.loading import RunSet, side_of
from tests.calibration.plain import TESTS, discoveries
from tests.calibration.splits import Split

GATE = {"total": "total:+2%", "pause": "figure:p99_pause_us:+10%"}
_GATE = Gate.of(list(GATE.values()))
TABLES = ("flat", "cum", "groups", "gc")


class Figure(NamedTuple):
    """An estimate of new / base with its 95 % interval, and what it alone says."""

    ratio: float
    low: float
    high: float
    verdict: str


class Marks(NamedTuple):
    """How many rows of a table are marked, and whether the planted one is."""

    rows: int
    planted: bool = False

    @property
    def others(self) -> int:
        """How many rows but the planted one."""
        return self.rows - self.planted


@dataclass(frozen=True)
class Said:
    """Everything that is counted of one pair of sides.

    Attributes
    ----------
    verdict, headline
        The outcome's verdict, and the figure that it rests on.
    figures
        The outcome's figures by id: time, cpu, control.
    tables
        Marked rows of `TABLES`, of which ``gc`` are the figures of GC logs, and of
        ``Welch flat`` and so on.
    findings
        How many findings are above ``info``.
    tripped
        Which rules of `GATE` tripped.

    """

    verdict: str
    headline: str
    figures: Mapping[str, Figure]
    tables: Mapping[str, Marks]
    findings: int = 0
    tripped: frozenset[str] = field(default_factory=frozenset)


def said(
    runs: RunSet, split: Split, planted: str = "", settings: Settings = DEFAULTS
) -> Said:
    """Return what a report of these runs says; `planted` is the dearer function."""
    sides = [
        side_of(label, [runs.runs[i] for i in positions])
        for label, positions in zip(("base", "new"), split, strict=True)
    ]
    comparison = compare_sides(*sides, settings)
    report = report_of(comparison, gate=_GATE)
    outcome = report.outcome
    rulings = {rule.rule: rule.outcome for rule in report.verdict.rules}
    return Said(
        outcome.verdict,
        outcome.headline.id if outcome.headline else "",
        {
            m.id: Figure(m.judged.ratio, *m.judged.bounds, m.verdict)
            for m in outcome.measures
        },
        {**_tables(comparison, planted), **_plain(runs, split, planted)},
        sum(finding.severity != "info" for finding in report.findings.found),
        frozenset(name for name, rule in GATE.items() if rulings[rule] == "fail"),
    )


def _tables(comparison, planted: str) -> dict[str, Marks]:
    diff = next(diff for diff in comparison.profiles if diff.is_cpu)
    table = diff.table("functions")
    got = {}
    for column in ("flat", "cum"):
        marked = ~table.judge(column).noise
        at = [i for i, name in enumerate(table.names) if name == planted]
        got[column] = Marks(int(marked.sum()), bool(marked[at].any()))
    groups = sum(row.noise is False for row in judged_groups(diff))
    logs = comparison.gc.estimates.values() if comparison.gc is not None else ()
    figures = sum(change.significant for change in logs)
    return got | {"groups": Marks(groups), "gc": Marks(figures)}


def _plain(runs: RunSet, split: Split, planted: str) -> dict[str, Marks]:
    counts, (base, new) = runs.counts, map(list, split)
    row = np.array([name == planted for name in counts.names])
    got = {}
    for name, test in TESTS.items():
        for column in ("flat", "cum"):
            values = counts.column(column)
            totals = counts.totals[base], counts.totals[new]
            marked = discoveries(values[:, base], values[:, new], totals, test)
            got[f"{name} {column}"] = Marks(
                int(marked.sum()), bool((marked & row).any())
            )
    return got
