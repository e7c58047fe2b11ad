"""Which commit changed a figure: sentences, and the curve of measured commits."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log

from pprofdiff.analysis.bisection.result import Bisection, Curve, Point
from pprofdiff.analysis.bisection.search import Step
from pprofdiff.analysis.judge.student import NORMAL
from pprofdiff.report.rows import Cell, Column, Row, SectionPart, Sentence, Table
from pprofdiff.report.sections.changes import change
from pprofdiff.units import many, printable

_BARS = "▁▂▃▄▅▆▇█"
# Commits of a range that are listed one by one.
_LISTED = 3
_STOPPED = {
    "time": "--time is used up",
    "rounds": "more rounds of the built commits (--rounds) may decide",
    "interrupted": "interrupted",
}


def bisection_parts(found: Bisection) -> Iterator[SectionPart]:
    """Yield the answer, the commits, and a table for each curve."""
    yield Sentence(headline(found), "outcome")
    for commit in named_commits(found):
        yield Sentence(commit_text(found, commit))
    yield Sentence(below(found))
    for curve in found.curves:
        yield curve_table(found, curve)
    for skipped in found.skipped:
        short = found.commits[skipped.commit].short
        reason = skipped.reason.removeprefix(f"{short}: ")
        yield Sentence(f"{short} was skipped: {reason}", "warning")


def headline(found: Bisection) -> str:
    """Return the answer in a sentence or two, one for each way curves ended."""
    if not found.curves:
        good, bad = found.ends
        if found.question in ("slower", "faster"):
            said = f"{bad} is not significantly {found.question} than {good}"
        else:
            said = f"{found.question} does not trip from {good} to {bad}"
        return f"No commit to find: {said}."
    return " ".join(dict.fromkeys(_answer(found, curve) for curve in found.curves))


def _answer(found: Bisection, curve: Curve) -> str:
    over = curve.conclusion
    chance = f"{100 * min(over.chance, 0.999):.3g}%"
    count = len(found.commits) - 1
    if over.ending == "found":
        steps = "; ".join(_step_text(found, curve, step) for step in over.steps)
        several = f"{len(over.steps)} steps: " if len(over.steps) > 1 else ""
        return f"{several}{steps}; probability {chance}."
    if over.ending == "drift":
        return (
            f"{curve.name} drifted over the {count:,} commits: no few of them account "
            f"for the change; probability {chance}."
        )
    if over.ending == "none":
        return f"{curve.name} did not change; probability {chance}."
    where = many(
        len({commit for step in over.steps for commit in step.commits}), "commit"
    )
    why = f"; {_STOPPED[found.stopped]}" if found.stopped in _STOPPED else ""
    return f"Can't tell which commit changed {curve.name}: it is among {where}{why}."


def _step_text(found: Bisection, curve: Curve, step: Step) -> str:
    """Return what a step did: ``3f2ab19c8 made Price 18% slower``."""
    if len(step.commits) == 1:
        who = found.commits[step.commits[0]].short
    else:
        first, last = (found.commits[step.commits[i]].short for i in (0, -1))
        who = f"one of {len(step.commits)} commits from {first} to {last}"
    low, high = (exp(step.size + way * NORMAL.of_95 * step.sigma) for way in (-1, 1))
    bounds = f"95% CI {change(low)} to {change(high)}"
    by = f"{change(exp(step.size))} ({bounds})"
    if not curve.figure:
        return f"{who} changed what {curve.name} measures: {by}"
    way = "slower" if step.size > 0 else "faster"
    return f"{who} made {curve.name} {way}: {curve.figure} {by}"


def named_commits(found: Bisection) -> list[int]:
    """Return the commits to describe: those found, or the first of a short range."""
    named: dict[int, None] = {}
    for curve in found.curves:
        for step in curve.conclusion.steps:
            if curve.conclusion.ending == "found" or len(step.commits) == 1:
                named |= dict.fromkeys(step.commits[:_LISTED])
    return sorted(named)


def commit_text(found: Bisection, commit: int) -> str:
    """Return a commit as ``git log`` shows it, on one line."""
    one = found.commits[commit]
    return printable(f"{one.short}  {one.date[:10]}  {one.author}  {one.subject}")


def below(found: Bisection) -> str:
    """Return what the answer rests on."""
    commits = many(len(found.commits) - 1, "commit")
    good, bad = map(printable, found.ends)
    skipped = f", {len(found.skipped)} skipped" if found.skipped else ""
    return f"{commits} from {good} to {bad}, {found.built} built{skipped}"


def curve_table(found: Bisection, curve: Curve) -> Table:
    """Return the measured commits in order, each against the good end."""
    columns = (
        Column("commit", "name", "<"),
        Column("change", "delta"),
        Column("95% CI", "interval", "<"),
        Column("rounds", "text"),
        Column("", "text", "<"),
        Column("subject", "text", "<"),
    )
    start = Point(0, 1.0, 1.0, 1.0, 0)
    points = (start, *curve.points)
    bars = _bars(points)
    rows = tuple(
        _row(found, curve, point, bar) for point, bar in zip(points, bars, strict=True)
    )
    of = f", {curve.figure}" if curve.figure else ""
    title = f"{curve.name}{of} against {found.ends[0]}"
    return Table(f"bisect_{curve.name}", columns, rows, title=title)


def _row(found: Bisection, curve: Curve, point: Point, bar: str) -> Row:
    commit = found.commits[point.commit]
    over = curve.conclusion
    stepped = any(point.commit in step.commits for step in over.steps)
    by, bounds, rounds = "0", "", ""
    if point.commit:
        by, rounds = change(point.ratio), f"{point.rounds}"
        bounds = f"{change(point.low)} to {change(point.high)}"
    cells = (
        Cell(commit.short),
        Cell(by, point.ratio),
        Cell(bounds),
        Cell(rounds, float(point.rounds)),
        Cell(bar),
        Cell(commit.subject),
    )
    found_here = stepped and over.ending == "found"
    return Row(commit.id, "total" if found_here else "figure", cells)


def _bars(points: tuple[Point, ...]) -> list[str]:
    """Return a bar per point, longer for larger ratios; noise looks flat."""
    values = [log(point.ratio) for point in points]
    low, high = min(values), max(values)
    reach = max(high - low, 1e-9)
    last = len(_BARS) - 1
    return [_BARS[round(last * (value - low) / reach)] * 3 for value in values]
