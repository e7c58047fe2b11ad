"""The flame graph drawn: widths add up, shades are the page's, names fit their frames."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from pprofdiff import Profile, palette, plots
from pprofdiff.analysis.call_tree import call_tree, inclusive, noise_limit
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.plots.flamenames import FrameName, fitted, spellings
from pprofdiff.plots.flames import flame_rows
from tests.examples import daily
from tests.plots.captured import STORIES, profile_diff

BUDGET = 900


def boxes(ax):
    """Return frames as (row, left, right) rows, and their fills."""
    frames = ax.collections[0]
    corners = np.array([path.vertices[:4] for path in frames.get_paths()])
    fills = [to_hex(colour) for colour in frames.get_facecolors()]
    return np.floor(corners[:, 0, 1]), corners[:, 0, 0], corners[:, 1, 0], fills


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_frames_lie_within_what_calls_them_and_next_to_each_other(story):
    ax = plots.flamegraph(profile_diff(story, "cpu"), Figure().subplots())
    row, left, right, _ = boxes(ax)
    assert (right >= left).all()
    slack = 1e-9 * right[0]
    for level in range(1, int(row.max()) + 1):
        at = np.flatnonzero(row == level)
        order = at[np.argsort(left[at])]
        assert (left[order[1:]] >= right[order[:-1]] - slack).all()
        above = np.flatnonzero(row == level - 1)
        for i in at:
            inside = (left[above] <= left[i] + slack) & (
                right[above] >= right[i] - slack
            )
            assert inside.sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("kind", ["cpu", "allocs", "mutex"])
def test_widths_are_the_larger_of_both_sides(story, kind):
    diff = profile_diff(story, kind)
    ax = plots.flamegraph(diff, Figure().subplots(), budget=BUDGET)
    by = diff.normalization
    whole = max(diff.totals[0] * by.base_factor, diff.totals[1] * by.new_factor)
    _, left, right, _ = boxes(ax)
    base, new = (side[1:] for side in merged(inclusive(call_tree(diff, BUDGET)[0])))
    wanted = np.maximum(base * by.base_factor, new * by.new_factor)
    assert right[0] >= whole
    # Only frames that hold more than the larger side of their own are wider.
    drawn = np.sort(right - left)[::-1][1:]
    wanted = np.sort(wanted)[::-1][: len(drawn)]
    assert (drawn >= wanted * (1 - 1e-9)).all()


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("kind", ["cpu", "allocs"])
@pytest.mark.parametrize("theme", palette.THEMES)
def test_shades_say_the_change_beyond_noise(story, kind, theme):
    diff = profile_diff(story, kind)
    ax = plots.flamegraph(
        diff, Figure().subplots(), budget=BUDGET, theme=theme, rows=999
    )
    tree = call_tree(diff, BUDGET)[0]
    base, new = (side[1:] for side in merged(inclusive(tree)))
    by = diff.normalization
    delta = new * by.new_factor - base * by.base_factor
    limit = noise_limit(diff)
    beyond = delta != 0
    if diff.model is not None:
        z = delta / diff.model.sigma(Runs.single(base, new))
        beyond = np.abs(z) >= (np.inf if limit is None else limit)
    fills = set(boxes(ax)[3][1:])
    faint, strong = (slice(palette.FAINT), slice(palette.FAINT, None))
    more, less, maybe_more, maybe_less = (
        {palette.colour(name, theme) for name in side[shades]}
        for shades in (strong, faint)
        for side in (palette.WORSE, palette.BETTER)
    )
    assert bool(fills & more) == (beyond & (delta > 0)).any()
    assert bool(fills & less) == (beyond & (delta < 0)).any()
    assert not (fills & maybe_more) or (~beyond & (delta > 0)).any()
    assert not (fills & maybe_less) or (~beyond & (delta < 0)).any()
    grey = {palette.colour("neutral", theme)}
    assert fills <= more | less | maybe_more | maybe_less | grey
    ax = plots.flamegraph(
        diff,
        Figure().subplots(),
        budget=BUDGET,
        theme=theme,
        rows=999,
        only_significant=True,
    )
    assert set(boxes(ax)[3][1:]) <= more | less | grey


def test_two_equal_sides_are_grey_and_have_no_marks():
    base = Profile(profile_diff("zstd", "cpu").base.profile)
    ax = plots.flamegraph(base - base, Figure().subplots())
    assert set(boxes(ax)[3]) == {palette.colour("neutral")}
    assert [len(marks.get_paths()) for marks in ax.collections[1:]] == [0, 0, 0]


def test_gone_is_hatched_and_new_has_an_outline():
    diff = profile_diff("zstd", "allocs")
    _, gone, added, _ = plots.flamegraph(diff, Figure().subplots()).collections
    assert gone.get_hatch()
    status = diff.table("functions").status()
    assert bool(len(gone.get_paths())) == (status == 2).any()
    base, new = (Profile(side.profile) for side in (diff.base, diff.new))
    back = plots.flamegraph(new - base, Figure().subplots())
    again = plots.flamegraph(base - new, Figure().subplots())
    assert len(back.collections[1].get_paths()) == len(again.collections[2].get_paths())
    assert len(added.get_paths()) == len(again.collections[1].get_paths())


@pytest.mark.slow
def test_names_stay_in_their_frames():
    figure = Figure((9, 5), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    ax = plots.flamegraph(profile_diff("syncpool", "cpu"), figure.subplots())
    canvas.draw()
    names = [text for text in ax.texts if isinstance(text, FrameName)]
    shown = [text for text in names if text.get_text()]
    assert len(shown) > 20
    renderer = canvas.get_renderer()
    for text in shown:
        box = text.get_window_extent(renderer)
        ends = [ax.transData.transform((x, 0))[0] for x in (text.left, text.right)]
        assert ends[0] <= box.x0
        assert box.x1 <= ends[1] + 0.5


@given(
    st.text("ab./[]()*", min_size=0, max_size=30),
    st.sampled_from(["", "+12 ms"]),
    st.floats(0, 40),
)
def test_what_is_written_fits(name, change, room):
    text = fitted(spellings(name), change, room, len)
    tail = f"  {change}" if change else ""
    assert len(text) <= room
    if len(name + tail) < room:
        assert text == name + tail
    if text and not text.endswith("…"):
        assert name.endswith(text.removesuffix(tail)) or name == text


@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("main.main", ["main"]),
        ("http.(*conn).serve", ["(*conn).serve"]),
        ("b.F[c.T]", ["F[c.T]"]),
        ("yaml.Unmarshal", ["Unmarshal"]),
        ("lru/v2.New", ["New"]),
        ("memeqbody", []),
        ("type:.eq.[4]string", []),
    ],
)
def test_a_function_s_name_is_spelled_shorter_by_its_package(name, shorter):
    assert spellings(name) == [name, *shorter]


def test_only_functions_are_spelled_shorter():
    """The whole is named after its totals, which have dots too."""
    ax = plots.flamegraph(profile_diff("syncpool", "allocs"), Figure().subplots())
    (whole, *_) = [text for text in ax.texts if isinstance(text, FrameName)]
    assert whole.names == [whole.names[0]]
    assert re.fullmatch(r"all  [\d.]+ → [\d.]+ GiB", whole.names[0])


def test_rows_are_as_deep_as_asked():
    diff = profile_diff("syncpool", "cpu")
    assert flame_rows(diff, 7) == 7
    ax = plots.flamegraph(diff, Figure().subplots(), rows=7)
    assert boxes(ax)[0].max() == 6
