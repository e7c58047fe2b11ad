"""The verdict: each rule's worst figure against its limit."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.gate.forms import RULES
from pprofdiff.analysis.gate.limits import Limit
from pprofdiff.analysis.gate.measures import Asked, Figure, Judged, Missing
from pprofdiff.analysis.gate.model import Outcome, Ruling, Verdict
from pprofdiff.analysis.gate.rules import KINDS, Gate
from pprofdiff.analysis.profiles.caveats import Caveat

__all__ = ["judge", "verdict_caveats"]

_WITHOUT_LIMIT = {form.kind for form in RULES if not form.limited}


def judge(gate: Gate, judged: Judged) -> Verdict:
    """Return what becomes of each rule; raises UsageError for one that cannot be.

    A rule trips where a figure is over its limit and the change is beyond noise. Where
    chance cannot be told, or nothing matches, it has no data: that is no pass. A
    strict gate takes figures as they are, and a rule without data trips it.
    """
    rulings = tuple(_ruling(asked, gate, judged) for asked in gate.rules)
    outcomes = {ruling.outcome for ruling in rulings}
    if "fail" in outcomes:
        return Verdict("fail", rulings)
    return Verdict("pass" if "pass" in outcomes else "none", rulings)


def verdict_caveats(verdict: Verdict) -> list[Caveat]:
    """Return a warning for each rule that had no data."""
    return [
        Caveat("gate-no-data", f"{ruling.rule} judged nothing: {ruling.measured}")
        for ruling in verdict.rules
        if not ruling.matched or ruling.outcome == "no data"
    ]


class _Checked(NamedTuple):
    """A figure against its limit: over it, and whether that counts."""

    figure: Figure
    over: bool
    trips: bool

    @property
    def untold(self) -> bool:
        """Whether it would trip if it were known not to be chance."""
        return self.over and not self.trips and self.figure.noise is None

    @property
    def rank(self) -> tuple[bool, bool, bool, float]:
        """How much it matters: what trips, else what would, else what moved most."""
        return self.trips, self.untold, self.over, self.figure.change


def _ruling(asked: Asked, gate: Gate, judged: Judged) -> Ruling:
    """Return one rule's worst figure and what it means."""
    limit = "" if asked.kind in _WITHOUT_LIMIT else str(asked.limit)
    measured = KINDS[asked.kind].measure(asked, judged)
    if isinstance(measured, Missing):
        outcome: Outcome = "fail" if gate.strict else "no data"
        return Ruling(asked.text, outcome, "", measured.why, limit)
    checked = [_checked(figure, asked.limit, strict=gate.strict) for figure in measured]
    worst = max(checked, key=lambda one: one.rank)
    tripped = sum(one.trips for one in checked)
    outcome = "fail" if tripped else "no data" if worst.untold else "pass"
    figure = worst.figure
    return Ruling(
        rule=asked.text,
        outcome=outcome,
        what=figure.what,
        figure=_words(worst, tripped, len(checked)),
        limit=limit,
        base=figure.base,
        new=figure.new,
        unit=figure.unit,
        noise=figure.noise,
        matched=len(checked),
        tripped=tripped,
        file=figure.file,
        line=figure.line,
    )


def _checked(figure: Figure, limit: Limit, *, strict: bool) -> _Checked:
    """Hold a figure against the limit."""
    if limit.sign:
        over = figure.change > limit.allowed(figure.base, figure.unit)
    else:
        over = figure.new > limit.within(figure.unit)
    return _Checked(figure, over, over and (strict or figure.noise is False))


def _words(worst: _Checked, tripped: int, matched: int) -> str:
    """Return the worst figure in words, what to know of it, and how many others are."""
    figure = worst.figure
    told = figure.text
    if worst.untold:
        told += f", but {figure.unsure}"
    elif figure.noise and worst.over:
        told += ", may be noise"
    elif figure.noise and figure.change:
        told += ", within noise"
    if tripped > 1:
        told += f"; over it too: {tripped - 1} more"
    elif matched > 1:
        told += f"; the worst of {matched:,}"
    return told
