"""Sentences and tables of a series: which functions changed when, and their curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.series.changes import Change
from pprofdiff.analysis.series.judged import Curve, JudgedSeries, KindCurves
from pprofdiff.model.series import Series
from pprofdiff.report.rows import (
    Cell,
    Column,
    Part,
    Row,
    RowRole,
    SectionPart,
    Sentence,
    Table,
    Tone,
    name_column,
)
from pprofdiff.report.sections.named import function_cells
from pprofdiff.report.text.layout import Block, flags_to_try

FUNCTIONS = 10
"""Functions whose curves are shown, those that changed most."""

# Steps, and functions of a step, with a sentence before the tables.
_STEPS, _OF_STEP = 6, 3
# Maximum characters of a curve, which is also the maximum of time windows.
_WIDE = 48
_BARS = "▁▂▃▄▅▆▇█"
# A range of at most this many deviations of a share looks flat.
_FLAT = 8


def series_parts(report: SeriesReport, *, full: bool = False) -> Iterator[Part | Block]:
    """Yield what a terminal shows, of functions and categories all if `full`."""
    yield Sentence(headline(report), "outcome")
    for words in (*step_sentences(report), *_both_sides(report)):
        yield Sentence(words)
    for kind in report.judged.kinds:
        most = None if full else FUNCTIONS
        yield from kind_tables(report, kind, most=most, categories=full)
    for caveat in report.warnings:
        yield Sentence(caveat.text, "warning")
    yield Sentence(over_words(report.judged.series), "legend")
    files = {"html": "the curves drawn", "json": "every curve, for a script"}
    yield flags_to_try({f"-o curves.{one}": shows for one, shows in files.items()})


def headline(report: SeriesReport) -> str:
    """Return what changed, in one line."""
    series = report.judged.series
    changed = report.judged.steps
    first, last = series.steps[0].name, series.steps[-1].name
    noun = f"windows of {_width(series.width_s)}" if series.width_s else "builds"
    head = f"{first} → {last}, {len(series.steps)} {noun}"
    if not changed:
        return f"{head}: no function changed beyond how hosts differ"
    names = {(kind.measured.kind, c.key) for t in changed.values() for kind, c, _ in t}
    count = f"{len(names)} function{'s' if len(names) > 1 else ''} changed"
    at = [series.steps[step].name for step in changed]
    where = ", ".join(at[:_STEPS]) + (", …" if len(at) > _STEPS else "")
    return f"{head}: {count}, at {where}"


def _width(seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def step_sentences(report: SeriesReport) -> Iterator[str]:
    """Yield a sentence for each of the steps with the largest changes, in order."""
    judged = report.judged
    largest = sorted(
        judged.steps, key=lambda step: -abs(judged.steps[step][0][2].delta)
    )
    for step in sorted(largest[:_STEPS]):
        changed = judged.steps[step]
        names = function_cells([curve.key for _, curve, _ in changed])
        several = len(judged.kinds) > 1
        words = [
            (f"{kind.measured.kind} " if several else "")
            + f"{name.text} {change_words(change)}"
            for (kind, _, change), name in zip(changed, names, strict=True)
        ]
        more = len(words) - _OF_STEP
        rest = f"; {more} more" if more > 0 else ""
        yield f"{judged.series.steps[step].name}: {'; '.join(words[:_OF_STEP])}{rest}."


def change_words(change: Change) -> str:
    """Return a change with its interval, in percent of the total."""
    low, high = (_points(end) for end in (change.low, change.high))
    return (
        f"{_percent(change.before)} → {_percent(change.after)} of the total "
        f"({_points(change.delta)} points, 95% interval {low} to {high})"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _points(share: float) -> str:
    return f"{100 * share:+.2f}".replace("-", "−")


def kind_tables(
    report: SeriesReport,
    kind: KindCurves,
    *,
    most: int | None = None,
    categories: bool = False,
) -> Iterator[SectionPart]:
    """Yield a table of groups, also with unchanged `categories`, and of functions."""
    series, name = report.judged.series, kind.measured.kind
    of = f"% of each {'window' if series.width_s else 'build'}'s total"
    if kind.groups:
        rows = tuple(_rows_of_groups(series, kind, every=categories))
        yield Table(
            f"{name}_groups", _columns(series, "group"), rows,
            title=f"{name} by group, {of}",
        )  # fmt: skip
    shown = kind.functions[:most]
    if shown:
        cells = function_cells([curve.key for curve in shown])
        rows = tuple(
            _row(series, curve, cell, "function")
            for curve, cell in zip(shown, cells, strict=True)
        )
        yield Table(
            f"{name}_functions", _columns(series, "function"), rows,
            title=f"{name} by function (flat, those that changed most), {of}",
            total=len(kind.functions), code=True, one_unit=True,
        )  # fmt: skip


def _columns(series: Series, noun: str) -> tuple[Column, ...]:
    first, last = series.steps[0].name, series.steps[-1].name
    return (
        Column(first, "text"),
        Column(last, "text"),
        Column("change", "delta"),
        Column("at", "text", "<"),
        Column("curve", "text", "<"),
        name_column(noun),
    )


def _rows_of_groups(series: Series, kind: KindCurves, *, every: bool) -> Iterator[Row]:
    """Yield groups, and below each the categories that changed, or all of them."""
    from pprofdiff.goruntime.rules import rules

    parts = {curve.key: curve for curve in kind.categories}
    of_group = {group.id: group.categories for group in rules().groups}
    for curve in kind.groups:
        yield _row(series, curve, Cell(curve.label), "group")
        own = [parts[key] for key in of_group[curve.key] if key in parts]
        if len(own) > 1:
            for part in own:
                if every or part.changes:
                    yield _row(series, part, Cell(part.label), "category", 1)


def _row(
    series: Series, curve: Curve, name: Cell, role: RowRole, level: int = 0
) -> Row:
    first, last = curve.ends
    cells = (
        Cell(f"{100 * first:.2f}", first),
        Cell(f"{100 * last:.2f}", last),
        _change_cell(curve),
        Cell(", ".join(series.steps[one.step].name for one in curve.changes)),
        Cell(drawn_curve(curve)),
        name,
    )
    return Row(f"{curve.sort}:{curve.key}", role, cells, level)


def _change_cell(curve: Curve) -> Cell:
    if not curve.changes:
        # A step without profiles has no share and no deviation.
        known = bool(np.isfinite(curve.deviation[np.isfinite(curve.shares)]).all())
        return Cell("", 0.0 if known else None, mark="noise" if known else "")
    delta = curve.largest
    tone: Tone = "worse" if delta > 0 else "better"
    return Cell(_points(delta), delta, mark="more" if delta > 0 else "less", tone=tone)


def drawn_curve(curve: Curve) -> str:
    """Return a curve as bars, a space if missing; what hosts explain is flat."""
    shares = curve.shares
    if len(shares) > _WIDE:
        cuts = np.linspace(0, len(shares), _WIDE + 1).astype(int)
        parts = [shares[a:b][np.isfinite(shares[a:b])] for a, b in pairwise(cuts)]
        shares = np.array([part.mean() if len(part) else np.nan for part in parts])
    known = shares[np.isfinite(shares)]
    spread = curve.deviation[np.isfinite(curve.deviation)]
    noise = _FLAT * float(np.median(spread)) if len(spread) else 0.0
    low, high = float(known.min()), float(known.max())
    reach = max(high - low, noise) or 1.0
    begin = (low + high - reach) / 2
    return "".join(
        " " if np.isnan(share)
        else _BARS[min(int(len(_BARS) * (share - begin) / reach), len(_BARS) - 1)]
        for share in shares.tolist()
    )  # fmt: skip


def over_words(series: Series) -> str:
    """Return what was read, and what a change is."""
    steps = [step for step in series.steps if step.profiles]
    hosts = [step.hosts for step in steps]
    few, many = min(hosts), max(hosts)
    each = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    gaps = len(series.steps) - len(steps)
    when = " Times are UTC." if series.width_s else ""
    lacking = f"; {gaps} windows have no profile" if gaps else ""
    return (
        f"{series.profiles:,} profiles of {series.hosts:,} hosts, {each} at a step"
        f"{lacking}. A change is a step from which on a share differs by more than "
        "hosts do; ~ not significant. About 5% of the changes shown may be false."
        f"{when}"
    )


def _both_sides(report: SeriesReport) -> Iterator[str]:
    series, changed = report.judged.series, report.judged.steps
    plain = series.over.replace("-", "").replace("_", "").isalnum()
    if changed and not series.width_s and plain:
        step = max(changed, key=lambda one: abs(changed[one][0][2].delta))
        sides = (
            f"'…/{series.over}={series.steps[i].name}/**'" for i in (step - 1, step)
        )
        yield f"Why: pprofdiff {' '.join(sides)} compares these two."


# With fewer hosts, one outlier is over a tenth of all, as for two fleets.
_FEW = 10


class SeriesReport(NamedTuple):
    """A judged series, and what to know before trusting it."""

    judged: JudgedSeries
    warnings: tuple[Caveat, ...]


def series_report(judged: JudgedSeries, notes: Sequence[str] = ()) -> SeriesReport:
    """Return the report of a series; `notes` say what was left out."""
    caveats = [Caveat("input", note) for note in notes]
    return SeriesReport(judged, (*caveats, *_caveats(judged)))


def _caveats(judged: JudgedSeries) -> Iterator[Caveat]:
    series = judged.series
    hosts = min((step.hosts for step in series.steps if step.profiles), default=0)
    if hosts == 1:
        yield Caveat(
            "one-host",
            "there are steps of one host: how far hosts differ is unknown, so no "
            "change is reported there",
        )
    elif hosts < _FEW:
        yield Caveat(
            "few-hosts",
            f"there are steps of {hosts} hosts, too few to show how far hosts "
            f"differ; use {_FEW} or more",
        )
    if not judged.steps:
        return
    if series.width_s:
        yield Caveat(
            "load",
            "the load of an hour moves shares as a build does: what changed may be "
            "either",
        )
    if any(
        0 in (change.before, change.after)
        for changes in judged.steps.values()
        for _, _, change in changes
    ):
        yield Caveat(
            "names",
            "functions are followed by their names: one that was renamed is gone at a "
            "step, and another one is new there",
        )
