"""Two profiles: how base's total becomes new's, and which functions changed.

Numbers are scaled as in the report. More is orange, less is blue, noise is grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of, unit_words
from pprofdiff.analysis.profiles.tables import chains, plumbing
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    Plottable,
    add_note,
    add_title,
    artist_style,
    data_of,
    mark_axis,
    name_rows,
    shortened,
    themed,
    value_words,
)
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
By = Literal["flat", "cum"]

_NAMED = 8
_MARKS = ("", " (new)", " (gone)")


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a plot: names to show, and one element of each array per row.

    `runs` holds raw sums per run (int64), `delta` is scaled (float64), `noise` (bool)
    marks deltas within noise.
    """

    names: list[str]
    runs: Runs[Column]
    delta: Floats
    noise: NDArray[np.bool_]


def waterfall(
    diff: ProfileDiff | Plottable[ProfileDiff],
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.barh takes
) -> Axes:
    """Draw how base's total becomes new's: one bar per group of runtime costs.

    Profiles whose stacks have no groups are drawn by package: the eight that changed
    most, and all others as one. x is the scaled value, in the unit given in the title;
    y counts rows from the top: base, the groups, new; `kwargs` go to `Axes.barh`.
    """
    diff = data_of(diff)
    ax = themed(ax, theme, "x")
    scale, rows = scale_of(diff), _parts(diff)
    base, new = diff.normalization.scaled(*diff.totals)
    ends = base + np.cumsum(rows.delta)
    starts = ends - rows.delta
    places = np.arange(1, len(rows.names) + 1)
    style = artist_style({"height": 0.62, "linewidth": 0}, kwargs, "bar")
    ax.barh(places, rows.delta, left=starts, color=_fills(rows, theme), **style)
    levels = np.append(base, ends)
    for row, level in enumerate(levels.tolist()):
        ax.plot([level] * 2, [row, row + 1], color=colour("border", theme), zorder=0)
    _add_deltas(
        ax, scale, rows, np.column_stack((np.maximum(starts, ends), places)), theme
    )
    for total, row, name in ((base, 0, "base"), (new, len(places) + 1, "new")):
        shade = colour(name, theme)
        ax.plot(total, row, marker="o", markersize=7, color=shade)
        add_note(ax, value_words(scale, total), (total, row), (7, 0), color=shade)
    labels = [shortened(side.label, 32) for side in (diff.base, diff.new)]
    name_rows(ax, [labels[0], *rows.names, labels[1]])
    _set_range(ax, scale, float(levels.min()), float(levels.max()))
    add_title(ax, f"{diff.name} by {_parts_are(diff)}, in {unit_words(diff)}", theme)
    return ax


def movers(
    diff: ProfileDiff | Plottable[ProfileDiff],
    ax: Axes | None = None,
    *,
    n: int = 12,
    by: By = "cum",
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.barh takes
) -> Axes:
    """Draw the `n` functions whose ``flat`` or ``cum`` changed most, one bar each.

    Functions of one chain, with the same cum on both sides, share a bar. Whiskers show
    the noise range: three standard deviations of the count model. x is the scaled
    delta, in the unit given in the title; y counts functions from the top; `kwargs` go
    to `Axes.barh`.
    """
    diff = data_of(diff)
    ax = themed(ax, theme, "x")
    scale, rows = scale_of(diff), _moved(diff, n, by)
    places = np.arange(len(rows.names))
    style = artist_style({"height": 0.62, "linewidth": 0}, kwargs, "bar")
    ax.barh(places, rows.delta, color=_fills(rows, theme), **style)
    faint = colour("faint", theme)
    reach = np.zeros(len(rows.names))
    if diff.model is not None:
        reach = diff.model.reach(rows.runs)
        # Some rows have no known noise range.
        reach = np.where(np.isfinite(reach), reach, 0.0)
        ax.errorbar(
            rows.delta, places, xerr=reach, fmt="none", ecolor=faint, elinewidth=1.0
        )
    ax.axvline(0, color=faint, linewidth=0.8)
    right = np.maximum(rows.delta + reach, 0)
    _add_deltas(ax, scale, rows, np.column_stack((right, places)), theme)
    name_rows(ax, rows.names)
    ends = np.concatenate(([0.0], rows.delta - reach, rows.delta + reach))
    _set_range(ax, scale, float(ends.min()), float(ends.max()))
    add_title(ax, f"{diff.name}: what changed most, {by}, in {unit_words(diff)}", theme)
    return ax


def waterfall_in_words(diff: ProfileDiff) -> str:
    """Return both totals and each bar of `waterfall`, in a sentence."""
    deltas = _deltas(_parts(diff), scale_of(diff))
    return f"{diff.name} by {_parts_are(diff)}. {totals_in_words(diff)}; {deltas}."


def totals_in_words(diff: ProfileDiff) -> str:
    """Return both sides' labels and totals."""
    scale, labels = scale_of(diff), (diff.base.label, diff.new.label)
    return ", ".join(
        f"{shortened(label)} {value_words(scale, total)}"
        for label, total in zip(
            labels, diff.normalization.scaled(*diff.totals), strict=True
        )
    )


def _deltas(rows: _Rows, scale: Scale) -> str:
    words = [
        f"{name} {value_words(scale, delta, signed=True)}"
        + (" (noise)" if noise else "")
        for name, delta, noise in zip(
            rows.names, rows.delta.tolist(), rows.noise.tolist(), strict=True
        )
    ]
    return "; ".join(words) or "nothing changed"


def _parts_are(diff: ProfileDiff) -> str:
    return "group of runtime costs" if diff.classified else "package"


def _parts(diff: ProfileDiff) -> _Rows:
    """Return the groups or packages that add up to both totals, except those at 0."""
    names, runs = _groups(diff) if diff.classified else _packages(diff)
    base, new = merged(runs)
    some = (base != 0) | (new != 0)
    base, new, runs = base[some], new[some], runs.map(lambda run: run[some])
    judged = diff.judge_runs(runs)
    return _Rows(
        names=[shortened(names[i]) for i in np.flatnonzero(some).tolist()],
        runs=runs,
        delta=diff.normalization.delta(base, new),
        noise=np.zeros(len(base), np.bool_) if judged is None else judged.noise,
    )


def _groups(diff: ProfileDiff) -> tuple[list[str], Runs[Column]]:
    labels = [group.label for group in rules().groups]
    return labels, diff.ledger.every("group").runs


def _packages(diff: ProfileDiff) -> tuple[list[str], Runs[Column]]:
    """Return the packages that changed most and all others as one, and raw sums."""
    table = diff.table("packages")
    order = table.order("flat")
    first = order[:_NAMED]
    base, new = table.raw("flat")
    some = first[(base[first] != 0) | (new[first] != 0)]
    names = [table.names[i] for i in some.tolist()]
    runs = table.runs("flat").map(
        lambda run: np.append(run[some], run.sum() - run[some].sum())
    )
    return [*names, f"{len(order) - len(some)} others"], runs


def _moved(diff: ProfileDiff, n: int, by: By) -> _Rows:
    """Return the chains that changed most, with noise judged among all functions."""
    table = diff.table("functions")
    order = table.order(by)
    moved = (table.scaled_delta(by) != 0) & ~plumbing(table)
    shown = chains(table, order[moved[order]], by)[:n]
    order = np.array([first for first, *_ in shown], np.int64)
    judged = table.judge(by)
    status = table.status()[order].tolist()
    names = distinct_names(table.names[i] for i in order.tolist())
    return _Rows(
        names=[
            shortened(name) + _MARKS[mark] + (f" (+{len(rest)})" if rest else "")
            for name, mark, (_, *rest) in zip(names, status, shown, strict=True)
        ],
        runs=table.runs(by).map(lambda run: run[order]),
        delta=table.scaled_delta(by)[order],
        noise=np.zeros(len(order), np.bool_) if judged is None else judged.noise[order],
    )


def _fills(rows: _Rows, theme: Theme) -> list[str]:
    names = np.where(
        rows.noise, "border", np.where(rows.delta > 0, "worse_4", "better_4")
    )
    return [colour(name, theme) for name in names.tolist()]


def _add_deltas(
    ax: Axes, scale: Scale, rows: _Rows, places: Floats, theme: Theme
) -> None:
    """Write each delta to the right of its place (x, y), and whether it is noise."""
    for delta, noise, (x, y) in zip(
        rows.delta.tolist(), rows.noise.tolist(), places.tolist(), strict=True
    ):
        name = "faint" if noise else "worse" if delta > 0 else "better"
        words = scale.number(delta, signed=True) + (", noise" if noise else "")
        add_note(ax, words, (x, y), (7, 0), color=colour(name, theme))


def _set_range(ax: Axes, scale: Scale, low: float, high: float) -> None:
    """Set x in the report's unit, with room for numbers to the right of bars."""
    room = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    ax.set_xlim(low - room, high + 3 * room)
    # Row names take half of the width, which leaves little for tick labels.
    mark_axis(ax, "x", (low, high), scale, steps=4)
