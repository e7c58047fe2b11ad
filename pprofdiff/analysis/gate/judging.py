"""The verdict: each rule's worst figure against its limit, and what would decide."""

from __future__ import annotations

from math import inf, log
from typing import NamedTuple

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.gate.forms import RULES
from pprofdiff.analysis.gate.measures import Asked, Figure, Judged, Limit, NoDataError
from pprofdiff.analysis.gate.model import Outcome, Ruling, Verdict
from pprofdiff.analysis.gate.rules import KINDS, Gate
from pprofdiff.analysis.judge.student import MOST_RUNS, times_as_many, wanted_runs

_WITHOUT_LIMIT = {form.kind for form in RULES if not form.limited}


def judge(gate: Gate, judged: Judged) -> Verdict:
    """Return the ruling on each rule; raises UsageError for one that does not apply.

    A rule fails if the whole interval of a figure is over its limit, passes if all
    intervals are within, and is ``cannot tell`` otherwise. A figure without an interval
    fails if it is over and the change is significant. A rule that matches nothing, or
    whose significance is unknown, has no data, which is no pass. A strict gate fails
    unless all figures are known to be within their limits.
    """
    rulings = tuple(_ruling(asked, gate, judged) for asked in gate.rules)
    outcomes = {ruling.outcome for ruling in rulings}
    for outcome in ("fail", "cannot tell", "pass"):
        if outcome in outcomes:
            return Verdict(outcome, rulings)
    return Verdict("none", rulings)


def verdict_caveats(verdict: Verdict) -> list[Caveat]:
    """Return warnings: rules without data, and why rules are undecided."""
    caveats = [
        Caveat("gate-no-data", f"{ruling.rule} judged nothing: {ruling.measured}")
        for ruling in verdict.rules
        if not ruling.matched or ruling.outcome == "no data"
    ]
    needed: dict[str, list[str]] = {}
    for ruling in verdict.rules:
        if ruling.needs:
            needed.setdefault(ruling.needs, []).append(ruling.rule)
    return caveats + [
        Caveat("gate-cannot-tell", f"{', '.join(named)} cannot tell: {needs}")
        for needs, named in needed.items()
    ]


class _Checked(NamedTuple):
    """A figure against its limit.

    `allowed` is how much worse than base new may be, in the figure's unit. `over` is
    set if it is worse, `trips` if that is as certain as the gate requires, `between` if
    the limit lies inside its interval.
    """

    figure: Figure
    allowed: float
    over: bool
    trips: bool
    between: bool

    @property
    def untested(self) -> bool:
        """Whether it is over the limit but its significance is unknown."""
        without = self.figure.bounds is None and self.figure.noise is None
        return self.over and not self.trips and without

    @property
    def rank(self) -> tuple[bool, bool, bool, float]:
        """Sort key: certain failures, then possible ones, then the largest change."""
        sure = self.trips and not self.between
        return sure, self.untested or self.between, self.over, self.figure.change


def _ruling(asked: Asked, gate: Gate, judged: Judged) -> Ruling:
    limit = "" if asked.kind in _WITHOUT_LIMIT else str(asked.limit)
    try:
        measured = KINDS[asked.kind].measure(asked, judged)
    except NoDataError as missing:
        unknown: Outcome = "fail" if gate.strict else "no data"
        return Ruling(asked.text, unknown, "", str(missing), limit)
    checked = [_checked(figure, asked.limit, strict=gate.strict) for figure in measured]
    worst = max(checked, key=lambda one: one.rank)
    figure = worst.figure
    low, high = figure.bounds or (None, None)
    if high == inf:
        high = None
    return Ruling(
        rule=asked.text,
        outcome=_outcome(checked, worst),
        what=figure.what,
        figure=_words(worst, checked),
        limit=limit,
        base=figure.base,
        new=figure.new,
        unit=figure.unit,
        noise=figure.noise,
        matched=len(checked),
        tripped=sum(one.trips for one in checked),
        file=figure.file,
        line=figure.line,
        low=low,
        high=high,
        allowed=worst.allowed if limit else None,
        needs=needs(figure, asked.limit, worst.allowed) if worst.between else "",
    )


def _outcome(checked: list[_Checked], worst: _Checked) -> Outcome:
    if any(one.trips for one in checked):
        return "fail"
    if worst.untested:
        return "no data"
    return "cannot tell" if any(one.between for one in checked) else "pass"


def _checked(figure: Figure, limit: Limit, *, strict: bool) -> _Checked:
    if limit.sign:
        allowed = limit.allowed(figure.base, figure.unit)
    else:
        allowed = limit.within(figure.unit) - figure.base
    over, worse = figure.change > allowed, figure.worse
    if worse is None:
        trips = over and (strict or figure.noise is False)
        return _Checked(figure, allowed, over, trips, between=False)
    low, high = worse
    between = low <= allowed < high
    trips = low > allowed or (strict and between)
    return _Checked(figure, allowed, over, trips, between)


def _words(worst: _Checked, checked: list[_Checked]) -> str:
    """Return the worst figure as text, with its caveat and the number of others."""
    figure = worst.figure
    text = figure.text
    if worst.untested:
        text += f", but {figure.unsure}"
    elif figure.bounds is None and figure.noise and worst.over:
        text += ", may be noise"
    elif figure.bounds is None and figure.noise and figure.change:
        text += ", within noise"
    tripped = sum(one.trips for one in checked)
    between = sum(one.between for one in checked)
    if tripped > 1:
        text += f"; also over the limit: {tripped - 1:,} more"
    elif worst.between and between > 1:
        text += f"; undecided: {between - 1:,} more"
    elif len(checked) > 1:
        text += f"; the worst of {len(checked):,}"
    return text


_SEVERAL = (
    "one run per side does not show how far runs differ: measure several, in turns "
    "(pprofdiff measure, or a folder per run)"
)


def needs(figure: Figure, limit: Limit, allowed: float) -> str:
    """Return what it takes to decide, as text without a full stop.

    An interval narrows with the square root of the runs, or samples. It has to end at
    the limit, which is `allowed` above base in the figure's unit.
    """
    if figure.by_ratio and figure.runs == 1:
        return _SEVERAL
    if not figure.runs or figure.worse is None:
        return "more runs like these would not decide"
    wanted = wanted_runs(figure.runs, _times(figure.worse, figure, allowed))
    if wanted is None:
        return _too_little(figure, limit)
    if figure.runs == 1 and figure.assumed:
        return _SEVERAL
    if figure.runs == 1:
        return f"to decide, take {wanted} times the samples: longer profiles, or more"
    return f"to decide, take about {wanted} runs per side, in turns"


def _times(worse: tuple[float, float], figure: Figure, allowed: float) -> float:
    """Return the factor by which the number of runs must grow to decide."""
    places = [*worse, figure.change, allowed]
    if figure.by_ratio and min(places) > -figure.base:
        places = [log(1 + place / figure.base) for place in places]
    low, high, change, limit = places
    reach = high - change if limit > change else change - low
    return times_as_many(reach, limit - change)


def _too_little(figure: Figure, limit: Limit) -> str:
    """Return why no practical number of runs would decide."""
    if limit.relative and not figure.by_ratio and figure.unit != "pp":
        return (
            f"over {MOST_RUNS} times the samples are needed: hold small rows against a "
            "limit in percentage points, such as +1pp"
        )
    return (
        f"over {MOST_RUNS} runs per side are needed: the change is too near the limit"
    )
