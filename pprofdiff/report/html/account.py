"""The account as a bar that adds up: steps from zero to the total change."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

from pprofdiff.plots.axes import shortened
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.account import (
    account_scale,
    largest_parts,
    of_other_ops,
    outside_notes,
)
from pprofdiff.units import printable

# Show at most this many parts: this is a summary, and its table lists them all.
_MOST = 5
# Width of the bar, in units of its viewBox.
_WIDTH = 100.0
# Minimum width of a nonzero change, so that it stays visible.
_LEAST = 0.5
_LABEL = 20


class Step(NamedTuple):
    """One part: its label, formatted base, new and delta, its segment of the bar."""

    label: str
    base: str
    new: str
    delta: str
    x: str
    width: str
    style: str
    whole: bool = False


class Account(NamedTuple):
    """An account to draw: its subject, unit, side labels, steps, and omissions."""

    of: str
    unit: str
    labels: tuple[str, str]
    steps: tuple[Step, ...]
    notes: str


def account_steps(report: ReportModel) -> Account | None:
    """Return the account's parts, largest change first, the total last."""
    account = None if of_other_ops(report) else report.account
    if account is None or not any(part.amount.delta for part in account.parts):
        return None
    scale = account_scale(account)
    # As precise as the tables of the same parts, and as the findings.
    scale = scale._replace(decimals=scale.decimals + 1)
    parts = largest_parts(account, _MOST)
    ends = [0.0, *map(float, accumulate(part.amount.delta for part in parts))]
    low, high = min(ends), max(ends)
    size = _WIDTH / ((high - low) or 1.0)
    pieces = [*pairwise(ends), (0.0, ends[-1])]
    amounts = [(printable(part.label), part.amount) for part in parts]
    amounts.append(("total", account.total))
    steps: list[Step] = []
    for (label, amount), (start, end) in zip(amounts, pieces, strict=True):
        width = abs(end - start) * size
        steps.append(
            Step(
                label,
                scale.number(float(amount.base)),
                scale.number(float(amount.new)),
                scale.number(float(amount.delta), signed=True),
                f"{(min(start, end) - low) * size:.1f}",
                f"{max(width, _LEAST) if end != start else 0:.1f}",
                "more" if end > start else "less",
                len(steps) == len(parts),
            )
        )
    base, new = (shortened(label, _LABEL) for label in report.labels)
    notes = printable(" ".join(outside_notes(account)))
    return Account(account.of, scale.unit, (base, new), tuple(steps), notes)
