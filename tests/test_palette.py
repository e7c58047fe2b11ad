"""The palette: words are legible on it and its colours distinct, in both themes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from pprofdiff import palette
from pprofdiff.goruntime.rules import rules

# sRGB's weights of relative luminance (WCAG 2.2).
WEIGHTS = np.array([0.2126, 0.7152, 0.0722])

# What deuteranopes see, in linear sRGB: Machado, Oliveira and Fernandes, "A
# physiologically-based model for simulation of color vision deficiency" (2009), table 1.
DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
VISIONS = {"normal": np.eye(3), "deuteranopia": DEUTERANOPIA}

# CSS Color 4 (13.2, gamut mapping) takes 0.02 in OKLab as a just noticeable difference.
# Frames are not side by side but apart, and small: four of them.
APART = 4 * 0.02

both = pytest.mark.parametrize("theme", palette.THEMES)


def linear(name, theme):
    """Return a colour's linear sRGB."""
    code = palette.colour(name, theme)
    value = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(name, theme):
    """Return a colour's relative luminance."""
    return float(linear(name, theme) @ WEIGHTS)


def contrast(one, other, theme):
    """Return WCAG's contrast ratio of two colours."""
    low, high = sorted(luminance(name, theme) for name in (one, other))
    return (high + 0.05) / (low + 0.05)


def lightness(name, theme):
    """Return CIE L* (0 to 100)."""
    value = luminance(name, theme)
    return 116 * value ** (1 / 3) - 16 if value > 216 / 24389 else value * 24389 / 27


def oklab(value):
    """Return linear sRGB as OKLab (bottosson.github.io/posts/oklab)."""
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return lab @ np.cbrt(cones @ value)


def distance(one, other, theme, vision):
    """Return how far apart two colours are seen, in OKLab."""
    seen = [oklab(np.clip(vision @ linear(name, theme), 0, 1)) for name in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def test_colours_are_written_one_way():
    for codes in palette.COLOURS.values():
        assert all(re.fullmatch("#[0-9a-f]{6}", code) for code in codes)


def test_black_on_white_is_the_most_contrast(monkeypatch):
    monkeypatch.setitem(palette.COLOURS, "ink", ("#000000", "#000000"))
    assert contrast("ink", "background", "light") == pytest.approx(21)


@pytest.mark.slow
@both
@pytest.mark.parametrize("ground", ["background", "panel"])
@pytest.mark.parametrize(
    "name", ["text", "faint", "link", "base", "new", "worse", "better"]
)
def test_words_can_be_read(name, ground, theme):
    assert contrast(name, ground, theme) >= 4.5


@both
@pytest.mark.parametrize("fill", palette.FILLS)
def test_words_in_frames_can_be_read(fill, theme):
    assert contrast("frame_text", fill, theme) >= 4.5


@both
@pytest.mark.parametrize("ground", ["background", "panel"])
def test_the_focus_ring_can_be_seen(ground, theme):
    assert contrast("focus", ground, theme) >= 3  # WCAG 2.2, 1.4.11


@both
@pytest.mark.parametrize("side", [palette.WORSE, palette.BETTER])
def test_shades_leave_neutral_in_steps_of_lightness(side, theme):
    levels = [lightness(name, theme) for name in ("neutral", *side)]
    steps = np.diff(levels) * (-1 if theme == "light" else 1)
    # 2.3 is a just noticeable difference of CIELAB (Mahy and others, 1994).
    assert steps.min() > 2.3


@both
@pytest.mark.parametrize("vision", VISIONS.values(), ids=VISIONS)
def test_worse_and_better_are_never_taken_for_one_another(theme, vision):
    pairs = [*zip(palette.WORSE, palette.BETTER, strict=True), ("worse", "better")]
    apart = [distance(*pair, theme, vision) for pair in pairs]
    assert min(apart[palette.FAINT :]) > APART
    # Faint ones say little, and still their direction: three just noticeable differences.
    assert min(apart) > 3 * 0.02


@both
@pytest.mark.parametrize("vision", VISIONS.values(), ids=VISIONS)
@pytest.mark.parametrize("side", [palette.WORSE, palette.BETTER])
def test_faint_shades_are_seen_and_not_taken_for_strong_ones(side, theme, vision):
    ramp = ["neutral", *side]
    steps = [distance(a, b, theme, vision) for a, b in itertools.pairwise(ramp)]
    assert min(steps) > 0.02
    # The step to what is significant is the largest up to there.
    assert max(steps[: palette.FAINT]) < steps[palette.FAINT]


@both
@pytest.mark.parametrize("vision", VISIONS.values(), ids=VISIONS)
def test_new_is_neither_worse_nor_better(theme, vision):
    assert distance("new", "worse", theme, vision) > APART
    assert distance("new", "better", theme, vision) > APART


@both
def test_base_and_new_differ_in_greyscale(theme):
    assert abs(lightness("base", theme) - lightness("new", theme)) > 10


@both
@pytest.mark.parametrize("vision", VISIONS.values(), ids=VISIONS)
def test_groups_are_distinguished(theme, vision):
    names = [f"group_{name}" for name in palette.GROUPS]
    apart = {
        pair: distance(*pair, theme, vision)
        for pair in itertools.combinations(names, 2)
    }
    pair = min(apart, key=apart.__getitem__)
    assert apart[pair] > APART, pair


def test_every_group_of_the_runtime_has_a_fill():
    assert [group.id for group in rules().groups] == list(palette.GROUPS)
    assert palette.group("gc", "dark") == palette.colour("group_gc", "dark")
    assert palette.group("of tomorrow") == palette.colour("group_user")


@both
def test_css_declares_every_colour_once(theme):
    declared = [part.split(":") for part in palette.css_variables(theme).split(";")]
    assert dict(part for part in declared if part != [""]) == {
        palette.css_name(name): palette.colour(name, theme) for name in palette.COLOURS
    }
