"""What holds for every plot: Axes in, Axes out, and nothing else is touched."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pprofdiff import palette, plots
from tests.examples import daily
from tests.plots.captured import HOSTILE, PLOTS, trace_diff

mpl.use("agg")

# Plots whose picture has every side's label, whole.
LABELLED = tuple(name for name in PLOTS if name != "movers")

every = pytest.mark.parametrize("name", PLOTS)


@pytest.fixture
def figure():
    """Return a figure that pyplot does not know."""
    return Figure()


def texts(figure):
    """Return every text of a drawn figure."""
    figure.canvas.draw()
    return [
        text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()
    ]


@pytest.mark.matrix
@pytest.mark.slow
@every
def test_the_axes_given_come_back_and_nothing_global_changes(name, figure):
    before, open_before = dict(mpl.rcParams), plt.get_fignums()
    ax = figure.subplots()
    assert getattr(plots, name)(PLOTS[name](("main", "pr")), ax) is ax
    assert figure.axes == [ax]
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == open_before


@pytest.mark.matrix
@pytest.mark.slow
@every
def test_without_axes_the_current_ones_are_drawn_on(name):
    mine = plt.figure()
    try:
        ax = plt.gca()
        drawn = getattr(plots, name)(PLOTS[name](("main", "pr")), theme="dark")
        assert drawn is ax
        dark = mpl.colors.to_rgba(palette.colour("background", "dark"))
        assert mine.get_facecolor() == dark
    finally:
        plt.close(mine)


@pytest.mark.matrix
@pytest.mark.slow
@every
@pytest.mark.parametrize("theme", palette.THEMES)
def test_every_colour_is_the_palette_s(name, theme, figure):
    ax = getattr(plots, name)(
        PLOTS[name](("main", "pr")), figure.subplots(), theme=theme
    )
    figure.canvas.draw()
    known = {mpl.colors.to_hex(palette.colour(c, theme)) for c in palette.COLOURS}
    drawn = [line.get_color() for line in ax.lines]
    drawn += [text.get_color() for text in ax.findobj(mpl.text.Text) if text.get_text()]
    drawn += [patch.get_facecolor() for patch in ax.patches]
    assert {mpl.colors.to_hex(colour) for colour in drawn} <= known


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("label", daily(HOSTILE, HOSTILE[::3]), ids=ascii)
@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_shown_as_they_are(name, label, figure):
    shown = "a\\u202eb\\x00\\n" if "\x00" in label else label
    diff = PLOTS[name]((label, "pr"))
    with warnings.catch_warnings():
        # matplotlib's own, of fonts that lack Japanese: the label is right.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        getattr(plots, name)(diff, figure.subplots())
        drawn = texts(figure)
    assert any(shown in text for text in drawn)
    for text in figure.findobj(mpl.text.Text):
        if shown in text.get_text():
            assert not text.get_parse_math()
            assert not text.get_usetex()


@pytest.mark.parametrize("name", LABELLED)
def test_words_show_the_labels_and_numbers(name):
    module = sys.modules[getattr(plots, name).__module__]
    words = getattr(module, f"{name}_in_words")(PLOTS[name](("main", "pr")))
    assert words.endswith(".")
    assert any(c.isdigit() for c in words)
    assert "main" in words
    assert "pr" in words


def test_a_caller_s_looks_win(figure):
    ax = plots.mmu(trace_diff("health-check"), figure.subplots(), lw=5, c="#123456")
    assert [line.get_linewidth() for line in ax.lines[:2]] == [5, 5]
    assert ax.lines[0].get_color() == "#123456"


def test_importing_plots_imports_nothing_heavy():
    code = (
        "import json, sys, pprofdiff.plots as p\n"
        "assert 'mmu' in dir(p)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, check=True
    )
    imported = set(json.loads(done.stdout))
    assert not imported & {"matplotlib", "numpy", "pandas"}


def test_every_public_name_is_there():
    for name in plots.__all__:
        assert getattr(plots, name)
    with pytest.raises(AttributeError, match="no attribute 'heep'"):
        plots.heep  # noqa: B018 - the access is the test
