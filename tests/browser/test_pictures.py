"""``-o x.svg`` as browsers draw it: hatches, bold words, and what the legend names."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pprofdiff.cli.main import main
from pprofdiff.palette import BETTER, WORSE, colour
from tests.examples import daily

WIDTH, HEIGHT = 1000, 2100


@pytest.fixture(scope="module")
def drawing(tmp_path_factory, data_folder):
    """Return the picture of a story in which a third of the stacks is gone."""
    path = tmp_path_factory.mktemp("pictures") / "x.svg"
    sides = [str(data_folder / "zstd" / side) for side in ("base", "new")]
    assert main([*sides, "-q", "-o", str(path)]) == 0
    return path


def in_chromium(path, chromium):
    """Return what Chromium draws, as an image of a page: as GitHub shows it."""
    context = chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    page = context.new_page()
    shown = path.with_suffix(".html")
    shown.write_text(f'<body style="margin:0"><img src="{path.name}">', "utf-8")
    page.goto(shown.as_uri())
    picture = page.screenshot()
    context.close()
    return np.asarray(Image.open(BytesIO(picture)).convert("RGB")).astype(np.int16)


def in_firefox(path, folder):
    """Return what Firefox draws of the file itself."""
    program = shutil.which("firefox") or shutil.which("firefox-esr")
    if program is None:
        pytest.skip("needs Firefox: apt-get install firefox-esr")
    target, profile = folder / "firefox.png", folder / "profile"
    profile.mkdir(exist_ok=True)
    words = ["--headless", "--no-remote", "--profile", str(profile)]
    size = ["--window-size", f"{WIDTH},{HEIGHT}", "--screenshot", str(target)]
    subprocess.run(
        [program, *words, *size, path.as_uri()],
        check=True,
        timeout=120,
        capture_output=True,
    )
    return np.asarray(Image.open(target).convert("RGB")).astype(np.int16)


@pytest.fixture(scope="module", params=daily(("chromium", "firefox"), ("chromium",)))
def drawn(request, tmp_path_factory):
    """Return a function: a path in, the picture that a browser makes of it out.

    Of a file that was drawn before, it is that picture.
    """
    if request.param == "firefox":
        folder = tmp_path_factory.mktemp("firefox")
        return cache(lambda path: in_firefox(path, folder))
    chromium = request.getfixturevalue("chromium")
    return cache(lambda path: in_chromium(path, chromium))


def changed(drawing, tmp_path, pattern, by):
    """Return a copy of the drawing in which all that matches is replaced."""
    text = drawing.read_text("utf-8")
    other, count = re.subn(pattern, by, text)
    assert count
    path = tmp_path / "changed.svg"
    path.write_text(other, "utf-8")
    return path, count


def near(picture, name):
    """Return which dots have a colour of the palette."""
    wanted = [int(colour(name)[i : i + 2], 16) for i in (1, 3, 5)]
    return (np.abs(picture - wanted) <= 2).all(axis=2)


@pytest.mark.whole
def test_hatches_are_there(drawing, drawn, tmp_path):
    plain, count = changed(drawing, tmp_path, r'fill="url\(#[^)]+\)"', 'fill="none"')
    assert count > 100
    with_hatches, without = drawn(drawing), drawn(plain)
    differ = (with_hatches != without).any(axis=2)
    # A line of 1 lies in every 3.4, so that it colours from 1 to 2 dots of these; of
    # what is hatched names cover less than half. Lines are darker than what is below.
    text = drawing.read_text("utf-8")
    hatched = re.findall(r'd="M[^hv"]+h([\d.]+)v([\d.]+)[^"]*"[^>]*fill="url', text)
    assert len(hatched) > 0.9 * count
    area = sum(float(wide) * float(high) for wide, high in hatched)
    assert area / 3.4 / 2 < differ.sum() < area / 3.4 * 2
    assert (with_hatches.sum(axis=2) < without.sum(axis=2))[differ].mean() > 0.99


@pytest.mark.whole
def test_the_answer_is_bold(drawing, drawn, tmp_path):
    light, _ = changed(drawing, tmp_path, 'font-weight="700"', 'font-weight="400"')
    rows = slice(20, 40)
    ink = [255 * 3 - drawn(path)[rows].sum(axis=2) for path in (drawing, light)]
    assert ink[0].sum() > 1.2 * ink[1].sum()


def test_swatches_are_all_the_shades_that_frames_have(drawing, drawn):
    picture = drawn(drawing)
    heading = legend_row(drawing)
    swatches = picture[heading - 12 : heading + 2, :400]
    for name in (*BETTER, *WORSE, "neutral"):
        assert near(swatches, name).sum() > 4, name


def legend_row(drawing):
    """Return how far down the words of the flame graph's legend stand."""
    text = drawing.read_text("utf-8")
    (place,) = re.findall(r"<text([^>]*)>no change beyond noise<", text)
    down = re.search(r'translate\(\S+ ([\d.]+)\)|y="([\d.]+)"', place)
    return round(float(down[1] or down[2]))
