"""Blocks as Markdown: whatever a name holds, it is read as a name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.report.markdown import markup
from pprofdiff.report.rows import (
    Cell,
    Column,
    Footnote,
    Footnotes,
    Heading,
    Reason,
    Row,
    Sentence,
    Table,
    name_column,
)
from pprofdiff.units import printable
from tests.examples import examples
from tests.report.reading import HOSTILE, inline_tokens, shown, sound, tables, tokens

MANY = settings(derandomize=True, max_examples=examples(400))
texts = (
    st.lists(st.sampled_from(HOSTILE) | st.text(max_size=3), max_size=12).map("".join)
    | st.text(max_size=40)
)  # fmt: skip


def only(text):
    """Return the one inline token of a text."""
    (token,) = [token for token in tokens(text) if token.type == "inline"]
    return token


@MANY
@given(texts)
def test_words_are_shown_as_they_are(text):
    wanted = printable(text).rstrip(" ")
    table = Table("t", (name_column(""),), (Row("r", "file", (Cell(text),)),))
    cell = tables(markup.render(table))[0][1][0]
    assert cell == wanted
    if wanted:
        page = f"# {markup.inline(text)}"
        sound_heading = only(page)
        assert shown(sound_heading) == wanted


@pytest.mark.slow
@MANY
@given(st.lists(texts, min_size=3, max_size=3), texts, texts)
def test_parts_are_what_they_are(cells, text, other):
    rows = (
        Row("plain", "function", tuple(map(Cell, cells))),
        Row("total", "total", (Cell(other, detail=text), Cell(other), Cell(other))),
        Row("part", "category", tuple(map(Cell, cells)), level=1),
    )
    columns = name_column(cells[0]), *(Column(text, "new") for text in cells[1:])
    table = Table("t", columns, rows)
    drawn = markup.render(table)
    assert {line.count("|") for line in drawn.splitlines()} == {4}
    grid, *none = tables(drawn)
    assert not none
    assert [len(row) for row in grid] == [3, 3, 3, 3]
    finding = Finding("id", other, text, (), text, direction="worse")
    parts = [
        table,
        Sentence(text),
        Heading(text),
        Sentence(text, "warning"),
        Reason(1, finding),
        Footnotes((Footnote("¹", text), Footnote("²", other))),
        Sentence(other, "also"),
    ]
    page = "\n\n".join(map(markup.render, parts))
    sound(page)
    lists = [token for token in tokens(page) if token.type == "list_item_open"]
    assert len(lists) == 1
    (fence,) = [token for token in tokens(page) if token.type == "fence"]
    assert fence.content == f"¹ {printable(text)}\n² {printable(other)}\n"


@MANY
@given(texts)
def test_a_summary_holds_no_tag_but_code(text):
    sound(f"<details>\n<summary>{markup.summary(text)}</summary>\n\n</details>")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("runtime.mallocgc", "`runtime.mallocgc`"),
        ("main.(*T).F  (+2 in its chain)", "`main.(*T).F`&nbsp; (+2 in its chain)"),
        ("main.f  (was main.g)", "`main.f`&nbsp; (was `main.g`)"),
        ("a.F, b.G and 3 more.", "`a.F`, `b.G` and 3 more."),
        ("a.Map[k, v] ← b.F", "`a.Map[k, v]` ← `b.F`"),
        ("a|b", "`a|b`".replace("|", "`&#124;`")),
        ("`", "`` ` ``"),
        ("µs/op (−3.1%; 1.42×)", "µs/op (−3.1%; 1.42×)"),
        ("~ −0.002", "~ −0.002"),
        ("(known: --work BASE:NEW gives it)", "(known: `--work BASE:NEW` gives it)"),
        ("with --work: 1 and 2", "with `--work`: 1 and 2"),
        ("give --git BASE..NEW.", "give `--git BASE..NEW`."),
        ("<0.1% → 1.0%", "&lt;0.1% → 1.0%"),
        ("    maps", "&nbsp;&nbsp;&nbsp;&nbsp;maps"),
        ("", ""),
    ],
)
def test_names_are_code_and_sentences_are_not(text, written):
    assert markup.inline(text) == written


def test_an_endless_name_loses_its_middle():
    for name in ("x" * 10_000, "[ " * 5_000, "`|" * 5_000):
        written = markup.inline(f"main.{name}")
        assert len(written) < 4_000
        token = only(written)
        assert "…" in shown(token)
        assert inline_tokens(token)
    sentence = "It costs more: main." + "y" * 10_000 + " does, and that is " + "z " * 90
    assert re.search(r"`main\.y+…y+` does, and", markup.render(Sentence(sentence)))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["- a", "+ a", "1. a", "12) a", "-", "--- x", "1."])
def test_a_sentence_begins_no_list(text):
    drawn = markup.render(Sentence(text))
    assert shown(only(drawn)) == text
    assert tokens(drawn)[0].type == "paragraph_open"
