"""The flame graph in a notebook: a frame over its picture, small, of one input alone."""

from __future__ import annotations

import re
from base64 import b64decode

import pytest

import pprofdiff
from pprofdiff.notebook.flames import FlameGraph
from pprofdiff.report.html.graphs import flame_page
from tests.conftest import DATA
from tests.examples import daily
from tests.notebook.shown import Parsed
from tests.traces.captured import FIELD, PAIRS

MOST = 156_000


@pytest.fixture(
    scope="module",
    # Others with --whole: what a story has does not change what is around it.
    params=daily(("syncpool", "rss-search", "zstd", "waits"), ["syncpool", "waits"]),
)
def graph(request):
    """Return the flame graph of a story's CPU profiles, or of waits in two traces."""
    if request.param == "waits":
        paths = (FIELD / PAIRS[0] / side / "trace.out" for side in ("base", "new"))
        return pprofdiff.diff(*paths).wait_chains(height=400)
    paths = (DATA / request.param / side / "cpu.pb.gz" for side in ("base", "new"))
    return pprofdiff.diff(*paths).flamegraph(height=400)


@pytest.mark.whole
@pytest.mark.slow
def test_a_frame_lies_over_the_picture(graph):
    comparison = graph._repr_mimebundle_()
    assert list(comparison) == ["text/plain", "text/html"]
    found = Parsed(comparison["text/html"])
    _, (_, outer), (_, image), (_, frame) = found.elements
    assert [tag for tag, _ in found.elements] == ["style", "div", "img", "iframe"]
    assert frame["sandbox"] == "allow-scripts"
    assert frame["srcdoc"] == flame_page(graph.diff, graph.budget, graph.causes)
    assert frame["height"] == "400"
    assert "position:relative" in outer["style"]
    assert "position:absolute" in frame["style"]
    assert b64decode(image["src"].removeprefix("data:image/png;base64,")) == graph.png
    assert image["alt"] == comparison["text/plain"]
    assert (
        re.sub(r"[^{}]+\{ color-scheme: (dark|light); \}", "", found.text).strip() == ""
    )


@pytest.mark.slow
def test_it_is_small_and_loads_nothing(graph):
    html = graph._repr_mimebundle_()["text/html"]
    assert len(html.encode()) <= MOST
    assert not re.search(r"https?://(?!www\.w3\.org)", html)
    page = flame_page(graph.diff)
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert re.findall(r'(?:src|href)="(?!data:)([^"]*)"', page) == []


@pytest.mark.whole
@pytest.mark.slow
def test_it_is_the_same_every_time(graph):
    again = FlameGraph(graph.diff, 400, causes=graph.causes)
    assert again._repr_mimebundle_() == graph._repr_mimebundle_()


@pytest.mark.slow
def test_types_are_those_asked_for(graph):
    assert list(graph._repr_mimebundle_(include={"image/png"})) == ["image/png"]
    held = graph._repr_mimebundle_(include={"image/png"})["image/png"]
    assert b64decode(held) == graph.png
    assert graph.png.startswith(b"\x89PNG")
    assert list(graph._repr_mimebundle_(exclude={"text/html"})) == ["text/plain"]
    assert "\n" not in repr(graph)


@pytest.mark.slow
def test_without_frames_and_styles_the_picture_is_left(graph):
    html = graph._repr_mimebundle_()["text/html"]
    dropped = r"<(iframe|style)\b.*?</\1>| style=\"[^\"]*\""
    kept = re.sub(dropped, "", html, flags=re.DOTALL)
    found = Parsed(kept)
    assert [tag for tag, _ in found.elements] == ["div", "img"]
    assert found.elements[1][1]["width"] == "100%"


@pytest.mark.slow
def test_hostile_labels_end_no_attribute():
    base, new = (
        pprofdiff.load(
            DATA / "zstd" / side / "cpu.pb.gz", label="\"'></iframe><b>&quot;"
        )
        for side in ("base", "new")
    )
    html = pprofdiff.diff(base, new).flamegraph()._repr_mimebundle_()["text/html"]
    found = Parsed(html)
    assert [tag for tag, _ in found.elements] == ["style", "div", "img", "iframe"]
    inner = Parsed(
        re.sub(
            r"<!doctype html>|<script.*?</script>|<style.*?</style>",
            "",
            found.elements[3][1]["srcdoc"],
            flags=re.DOTALL,
        )
    )
    assert "b" not in inner.tags
