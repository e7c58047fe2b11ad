"""Profiles drawn: bars add up to both totals, and no bar is but a number of the diff."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from pprofdiff import palette, plots
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.goruntime.readable import distinct_names
from tests.analysis.building import groups_of
from tests.examples import daily
from tests.plots.captured import DATA, STORIES, load, profile_diff


def bars(ax):
    """Return each bar as (left, width)."""
    return [(bar.get_x(), bar.get_width()) for bar in ax.patches]


def names(ax):
    """Return the names of the rows."""
    return [text.get_text() for text in ax.get_yticklabels()]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("kind", ["cpu", "allocs", "mutex"])
def test_bars_lead_from_base_to_new(story, kind):
    diff = profile_diff(story, kind)
    ax = plots.waterfall(diff, Figure().subplots())
    by = diff.normalization
    base, new = diff.totals[0] * by.base_factor, diff.totals[1] * by.new_factor
    at = base
    for left, width in bars(ax):
        assert left == pytest.approx(at, rel=1e-9, abs=1e-9 * abs(base))
        at += width
    assert at == pytest.approx(new, rel=1e-9, abs=1e-9 * abs(base))
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == [base, new]
    assert (names(ax)[0], names(ax)[-1]) == ("main", "pr")


def test_groups_are_the_report_s():
    diff = profile_diff("syncpool", "cpu")
    ax = plots.waterfall(diff, Figure().subplots())
    by = diff.normalization
    wanted = [
        new * by.new_factor - base * by.base_factor
        for _, base, new in groups_of(diff)
        if base or new
    ]
    assert [width for _, width in bars(ax)] == pytest.approx(wanted, rel=1e-12)
    assert names(ax)[1:3] == ["GC", "GC sweeping, barriers, scavenging"]


@pytest.mark.parametrize("by", ["flat", "cum"])
def test_movers_match_the_table_with_their_chance(by):
    diff = profile_diff("syncpool", "cpu")
    ax = plots.movers(diff, Figure().subplots(), n=7, by=by)
    table = diff.table("functions")
    values = list(zip(*(column.tolist() for column in table.raw(by)), strict=True))
    passed = {f"runtime.{name}" for name in ("systemstack", "mcall", "mstart")}
    kept = [i for i in table.order(by).tolist() if table.names[i] not in passed]
    alike = {}
    for i in kept:
        alike.setdefault(values[i] if by == "cum" else i, []).append(i)
    shown = list(alike.values())[:7]
    drawn = [
        name.removesuffix(f" (+{len(rows) - 1})")
        for name, rows in zip(names(ax), shown, strict=True)
    ]
    # The same values on both sides are one bar, which says how many share it.
    assert [name != full for name, full in zip(drawn, names(ax), strict=True)] == [
        len(rows) > 1 for rows in shown
    ]
    assert any(len(rows) > 1 for rows in shown) == (by == "cum")
    order = np.array([rows[0] for rows in shown])
    deltas = table.scaled_delta(by)[order]
    assert [width for _, width in bars(ax)] == deltas.tolist()
    reach = diff.model.reach(Runs.single(*(c[order] for c in table.raw(by))))
    (whiskers,) = ax.collections
    ends = np.array([segment[:, 0] for segment in whiskers.get_segments()])
    assert ends == pytest.approx(np.stack((deltas - reach, deltas + reach), axis=1))
    noise = table.judge(by).noise[order]
    for bar, delta, chance in zip(ax.patches, deltas, noise, strict=True):
        name = "border" if chance else "worse_4" if delta > 0 else "better_4"
        assert to_hex(bar.get_facecolor()) == palette.colour(name)
    got = [distinct_names([table.names[i] for i in rows]) for rows in shown]
    assert all(name in rows for name, rows in zip(drawn, got, strict=True))


def test_a_diff_of_nothing_is_drawn():
    base = load(DATA / "syncpool" / "base" / "cpu.pb.gz", label="main")
    same = base - base
    for name in ("waterfall", "movers"):
        ax = getattr(plots, name)(same, Figure().subplots())
        assert all(width == 0 for _, width in bars(ax))
        ax.figure.canvas.draw()
