"""Tables in notebooks: plain HTML that every viewer keeps, and its twin in text."""

from __future__ import annotations

import re
from functools import cache

import pytest

import pprofdiff
from tests.conftest import DATA
from tests.examples import daily
from tests.notebook.shown import Parsed
from tests.plots.captured import HOSTILE

PLAIN = {"div", "p", "br", "strong", "em", "code"} | {"table", "thead", "tbody"}
PLAIN |= {"tr", "th", "td"}
DIFFS = {
    "cpu": "syncpool/{}/cpu.pb.gz",
    "allocs": "syncpool/{}/allocs.pb.gz",
    "objects": "syncpool/{}/allocs.pb.gz",
    "mutex": "node-pool/{}/mutex.pb.gz",
    "log": "syncpool/{}/gctrace.log",
    "trace": "health-check/{}/trace.out",
    "benchmarks": "zstd/{}/bench.txt",
}


@cache
def thing(name):
    """Return what is shown: a diff, one side of it, or several builds."""
    kind, _, side = name.partition(" ")
    if kind == "folders":
        return pprofdiff.compare(DATA / "zstd/base", DATA / "zstd/new")
    if kind == "logs":
        return pprofdiff.compare(DATA / "pauses/base", DATA / "pauses/new").gc
    if kind == "builds":
        paths = sorted((DATA / "versions").glob("*/cpu.pb.gz"))
        return pprofdiff.load_many(paths)
    base, new = (DATA / DIFFS[kind].format(side) for side in ("base", "new"))
    options = {"sample_type": "alloc_objects"} if kind == "objects" else {}
    return pprofdiff.load(base) if side else pprofdiff.diff(base, new, **options)


THINGS = [*DIFFS, *(f"{kind} alone" for kind in DIFFS), "builds", "folders", "logs"]


@pytest.mark.slow
@pytest.mark.parametrize("name", THINGS)
def test_a_table_is_plain_and_small(name):
    comparison = thing(name)._repr_mimebundle_()
    assert list(comparison) == ["text/plain", "text/html"]
    found = Parsed(comparison["text/html"])
    assert found.tags <= PLAIN
    for _, attributes in found.elements:
        assert set(attributes) <= {"class", "scope", "align", "style", "title"}
        assert attributes.get("style", "text-align:left") == "text-align:left"
    head, *rows = found.rows
    # Eight groups and the total.
    assert 1 <= len(rows) <= 9
    assert all(len(row) == len(head) for row in rows)
    assert len(comparison["text/html"]) < 6_000


def test_what_has_no_table_is_a_line():
    summary = pprofdiff.load(DATA / "load/hey.txt")
    assert summary._repr_mimebundle_() == {"text/plain": repr(summary)}


@pytest.mark.slow
@pytest.mark.parametrize("name", THINGS)
def test_the_text_twin_has_the_same_cells(name):
    comparison = thing(name)._repr_mimebundle_()
    plain = comparison["text/plain"]
    assert plain.splitlines()[0] == repr(thing(name))
    squeezed = " ".join(plain.split())
    for row in Parsed(comparison["text/html"]).rows:
        for cell in row:
            assert " ".join(cell.split()) in squeezed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cpu", "folders"])
def test_findings_are_lines_of_text_below_the_outcome(name):
    """Left-aligned wherever it is shown: of a table, viewers align text as numbers."""
    comparison = thing(name)
    html = comparison._repr_mimebundle_()["text/html"]
    paragraph = html[html.index('<p align="left">') : html.index("<table>")]
    labels, outcome, *got = re.split(r"<br>\n", paragraph.replace("</p>", "").strip())
    assert "</code>: cpu" in labels
    assert re.fullmatch(
        r"<strong>Can&#39;t tell: .+</strong>\n*|<strong>Faster: .+", outcome.strip()
    )
    titles = list(comparison.findings["title"])
    assert 1 < len(got) <= 5
    assert titles[0] in Parsed(got[0]).text
    assert got[0].startswith("1. ")
    assert all(any(title in Parsed(line).text for title in titles) for line in got)
    # What follows from one stands under it, further in.
    follows = [line for line in got if "↳" in line]
    assert follows
    assert all(line.startswith("&emsp;") for line in follows)


@pytest.mark.parametrize("name", ["cpu", "logs", "trace"])
def test_changes_have_signs(name):
    _, *rows = Parsed(thing(name)._repr_mimebundle_()["text/html"]).rows
    cells = [row[3] for row in rows]
    assert any(cell[:1] in "▲▼" for cell in cells)
    if name == "cpu":
        *marked, total = cells
        assert all(cell[:1] in "▲▼~" for cell in marked)
        # At about equal work, one run per side does not show that it costs more.
        assert total == "~ +1.70"


def test_what_single_runs_of_one_build_may_differ_by_has_no_sign():
    _, *rows = Parsed(thing("log")._repr_mimebundle_()["text/html"]).rows
    assert not any(cell[:1] in "▲▼" for row in rows for cell in row if cell)


def test_the_first_sentence_is_the_report_s():
    d = thing("log")
    html = Parsed(d._repr_mimebundle_()["text/html"]).text
    assert d.findings["title"][0] in html
    assert d.findings["title"][0] in d.to_text().replace("\n   ", " ")


@pytest.mark.parametrize("name", ["cpu", "log", "trace alone", "builds"])
def test_types_are_those_asked_for(name):
    shown = thing(name)._repr_mimebundle_
    assert list(shown(include={"text/html"})) == ["text/html"]
    assert list(shown(exclude=["text/html"])) == ["text/plain"]
    assert shown(include=["image/png"]) == {}
    assert list(shown(include=[], exclude=[])) == ["text/plain", "text/html"]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("hostile", daily([*HOSTILE, "x" * 10_000], HOSTILE[:2]))
@pytest.mark.parametrize("kind", DIFFS)
def test_hostile_labels_are_text(kind, hostile):
    base, new = (
        pprofdiff.load(DATA / DIFFS[kind].format(side), label=hostile)
        for side in ("base", "new")
    )
    for one in (pprofdiff.diff(base, new), base):
        assert repr(one).isprintable()
        found = Parsed(one._repr_mimebundle_()["text/html"])
        assert found.tags <= PLAIN
        if hostile.isprintable() and len(hostile) < 100:
            assert hostile in found.text
        assert len(found.text) < 4_000


@pytest.mark.parametrize("hostile", [*HOSTILE, "x" * 10_000])
def test_hostile_functions_are_text(hostile):
    from dataclasses import replace

    from msgspec import structs

    base, new = (
        pprofdiff.load(DATA / DIFFS["allocs"].format(side)) for side in ("base", "new")
    )
    name = "example.com/workloads/syncpool/ingest.readBody"

    def renamed(strings):
        return tuple(hostile if s == name else s for s in strings)

    spoilt = [
        replace(p, data=structs.replace(p.data, strings=renamed(p.data.strings)))
        for p in (base, new)
    ]
    found = Parsed(pprofdiff.diff(*spoilt)._repr_mimebundle_()["text/html"])
    assert found.tags <= PLAIN
    if hostile.isprintable() and len(hostile) < 100:
        assert hostile in found.text
    for kept in [row[0] for row in found.rows]:
        assert len(kept) < 200
