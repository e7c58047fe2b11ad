"""A search for a commit as a card: the answer, and the measured commits."""

from __future__ import annotations

from pprofdiff.analysis.bisection.result import Bisection
from pprofdiff.notebook import Card
from pprofdiff.report.rows import Table
from pprofdiff.report.sections.bisection import (
    below,
    commit_text,
    curve_table,
    headline,
    named_commits,
)


def bisection_card(found: Bisection) -> Card:
    """Return the answer, its commits, and the first curve."""
    table = (
        curve_table(found, found.curves[0]) if found.curves else Table("none", (), ())
    )
    return Card(
        labels=found.ends,
        kind="bisect",
        lead=headline(found),
        table=table,
        below=below(found),
        findings=tuple((0, commit_text(found, one)) for one in named_commits(found)),
    )
