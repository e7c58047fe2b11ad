"""Every reference of a plot or picture leads to an id that is there, once."""

from __future__ import annotations

import pytest

import pprofdiff
from pprofdiff import plots
from tests.examples import daily
from tests.plots.captured import DATA, LABELS, PLOTS, STORIES
from tests.plots.svgs import ids_of, references_of, resolved

SVG = "{http://www.w3.org/2000/svg}"
# Plots that hatch what is gone, and so need a pattern.
HATCHED = ("flamegraph",)


def test_every_plot_is_here():
    others = {"heaps_of", "image", "picture", "svg"}
    assert set(plots.__all__) - others == set(PLOTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", daily(PLOTS, [*PLOTS][::4]))
def test_references_of_a_plot_resolve_and_no_id_is_idle(name):
    subject = PLOTS[name](LABELS)

    def draw(figure):
        getattr(plots, name)(subject, figure.subplots())

    root = resolved(plots.image(draw, "svg", description=name))
    assert set(ids_of(root)) == set(references_of(root))
    assert bool(root.findall(f".//{SVG}pattern")) == (name in HATCHED)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("story", "theme"), [*((story, "light") for story in STORIES), ("zstd", "dark")]
)
def test_references_of_a_picture_resolve_and_its_answer_is_bold(story, theme):
    compared = pprofdiff.compare(DATA / story / "base", DATA / story / "new")
    root = resolved(
        plots.picture(compared.comparison, "svg", answer="Answer.", theme=theme)
    )
    assert root.findall(f".//{SVG}pattern")
    weights = {
        "".join(text.itertext()): text.get("font-weight")
        for text in root.iter(f"{SVG}text")
    }
    assert weights["Answer."] == "700"
    assert [line for line, weight in weights.items() if weight] == ["Answer."]
