"""No writer reads a text: with all of them replaced by others, nothing else changes.

Every word of the model gives way to letters of scripts that no report has, as many as
there were, without a space or a sign. Put back into what a writer made of that, they
must give what it makes of the words themselves, byte for byte but for capital letters,
which begin sentences and which nonsense has none of.
"""

from __future__ import annotations

import re
from itertools import product

import pytest
from markupsafe import escape
from msgspec.structs import replace

import pprofdiff
from pprofdiff.analysis.causes.finding import Finding, Findings
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.goruntime import rules as goruntime
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.notebook import _html as notebook_html
from pprofdiff.notebook.cards import comparison_card
from pprofdiff.report import sections as kinds
from pprofdiff.report.html import page
from pprofdiff.report.markdown import comment
from pprofdiff.report.model import ReportModel, Scope
from pprofdiff.report.rows import (
    Cell,
    Column,
    Footnote,
    Footnotes,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
)
from pprofdiff.report.sections import sections
from pprofdiff.report.text import lines, terminal
from pprofdiff.report.text import report as text
from pprofdiff.report.text.lines import Page, render
from pprofdiff.report.text.report import report_parts
from tests.conftest import DATA
from tests.examples import daily
from tests.report.reading import tokens

# Letters, one column wide: a text of one letter gets another one, of several two that
# are its own and as many of a third kind as are left.
_ONE = [chr(i) for i in range(0x1401, 0x166D)]
_TWO = [chr(i) for i in range(0x1208, 0x1248)]
_REST = "\u13a0"
_TOKEN = re.compile(f"[{_ONE[0]}-{_ONE[-1]}]|[{_TWO[0]}-{_TWO[-1]}]{{2}}{_REST}*")


# What is said in each part of a report, or is a part itself.
SPOKEN = {
    ReportModel: ("findings", "warnings"),
    Findings: ("found",),
    Finding: ("title", "text", "advice"),
    Caveat: ("text",),
    Section: ("title", "measure", "mode", "short", "lead", "contents", "instead"),
    Tile: ("name", "values", "change"),
    Table: ("title", "columns", "rows"),
    Column: ("text",),
    Row: ("cells",),
    Cell: ("text", "detail", "remark"),
    Sentence: ("text",),
    Footnotes: ("notes",),
    Footnote: ("mark", "text"),
}


class Words:
    """A dictionary from what is said to nonsense, and back."""

    def __init__(self):
        self.nonsense = {}
        self._one = iter(_ONE)
        self._two = map("".join, product(_TWO, repeat=2))

    def of(self, part):
        """Return a part in nonsense; a text is as long, with the spaces around it."""
        if isinstance(part, str):
            core = part.strip()
            if core and core not in self.nonsense:
                token = next(self._one) if len(core) == 1 else next(self._two)
                self.nonsense[core] = token.ljust(len(core), _REST)
            return part.replace(core, self.nonsense[core], 1) if core else part
        if type(part) is tuple:
            return tuple(map(self.of, part))
        said = {name: self.of(getattr(part, name)) for name in SPOKEN[type(part)]}
        return (
            part._replace(**said) if isinstance(part, tuple) else replace(part, **said)
        )

    def section(self, section):
        """Return a section in nonsense."""
        return replace(
            self.of(section),
            build=lambda: map(self.of, section.parts),
            short_parts=lambda *most: map(self.of, section.short_parts(*most)),
        )

    def undone(self, text, written=str):
        """Return what a writer made, with the words in place of the nonsense."""
        said = {token: core for core, token in self.nonsense.items()}
        return _TOKEN.sub(lambda token: str(written(said[token[0]])), text)


@pytest.fixture
def reworded(monkeypatch):
    """Return a function: from then on, sections and tiles of reports are nonsense."""

    def speak(words):
        says = {kind.sections: words.section for kind in KINDS.values()}
        says |= {kind.tiles: words.of for kind in KINDS.values()}

        def reworded(reference):
            made = resolve(reference)
            if reference not in says:
                return made
            return lambda *given: map(says[reference], made(*given))

        monkeypatch.setattr(kinds, "resolve", reworded)

    return speak


STORIES = {
    "cpu": ("syncpool", "cpu.pb.gz"),
    "noise": ("unchanged", "cpu.pb.gz"),
    "joined": ("versions", "cpu.pb.gz"),
    "heap": ("syncpool", "heap.pb.gz"),
    "mutex": ("node-pool", "mutex.pb.gz"),
    "log": ("syncpool", "gctrace.log"),
    "trace": ("health-check", "trace.out"),
    "benchmarks": ("zstd", "bench.txt"),
    "folder": ("zstd", ""),
}
SIDES = {"unchanged": ("run1", "run2"), "versions": ("go1.20", "go1.27")}


@pytest.fixture(scope="module", params=daily(STORIES, [*STORIES][::3]))
def report(request):
    """Return the report on a story."""
    story, name = STORIES[request.param]
    paths = [DATA / story / s / name for s in SIDES.get(story, ("base", "new"))]
    compare = pprofdiff.diff if name else pprofdiff.compare
    return compare(*paths).report()


FULL = Scope(joined=True, full=True)


def as_text(report):
    return render(report_parts(report, FULL))


def as_drawn(report):
    return terminal.render(report_parts(report, FULL), color=True, page=lines.PAGE)


def as_answer(report):
    return render(report_parts(report, Scope(joined=True)))


def as_card(report):
    return notebook_html(comparison_card(report))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("writer", "written"),
    daily(
        [
            (as_text, str),
            (as_drawn, str),
            (as_answer, str),
            (page.render, escape),
            (as_card, escape),
        ],
        [(as_answer, str), (page.render, escape)],
    ),
)
def test_a_page_of_nonsense_is_the_page(report, reworded, monkeypatch, writer, written):
    # Nonsense has no spaces to wrap a line at.
    for module in (lines, text):
        monkeypatch.setattr(module, "PAGE", Page(10_000, fit=False))
    meant = writer(report)
    words = Words()
    reworded(words)
    nonsense = writer(words.of(report))
    assert len(words.nonsense) > 20
    assert nonsense != meant
    undone = words.undone(nonsense, written)
    assert undone.lower().splitlines() == meant.lower().splitlines()


def structure(text, undone=str):
    """Return what Markdown is made of: blocks, what is strong, and what a reader sees."""
    shown = []
    for token in tokens(text):
        strong = [c.content for c in token.children or () if c.type == "strong_open"]
        seen = "".join(c.content for c in token.children or ()) or token.content
        plain_text = undone(re.sub("</?code>", "", seen)).replace("\xa0", " ")
        shown.append((token.type, len(strong), plain_text.lower()))
    return shown


@pytest.mark.slow
def test_a_comment_of_nonsense_is_the_comment(report, reworded):
    meant = structure(comment.render(report))
    words = Words()
    reworded(words)
    nonsense = comment.render(words.of(report))
    undone = structure(nonsense, words.undone)
    unescaped = [
        (kind, strong, text if kind != "html_block" else text.replace("&gt;", ">"))
        for kind, strong, text in undone
    ]
    assert unescaped == meant


@pytest.fixture
def other_labels(monkeypatch):
    """Give every group and category of runtime costs, and every detail, another name."""
    numbers = {c: i for i, c in enumerate(goruntime.rules().categories)}
    groups = tuple(
        replace(
            g,
            label=f"ጀ{i}",
            detail=f"ጄ{i}" if g.detail else "",
            labels={c: f"ጅ{numbers[c]}" for c in g.categories},
        )
        for i, g in enumerate(goruntime.GROUPS)
    )
    monkeypatch.setattr(goruntime, "GROUPS", groups)
    goruntime.rules.cache_clear()
    yield
    goruntime.rules.cache_clear()


def rows_of(report):
    """Return (table, row, role, level, marks) of every row of a report."""
    return [
        (table.key, row.key, row.role, row.level, [cell.mark for cell in row.cells])
        for section in sections(report)
        for table in section.parts
        if isinstance(table, Table)
        for row in table.rows
    ]


@pytest.mark.slow
def test_other_labels_of_runtime_costs_give_the_same_rows(request):
    paths = [DATA / "syncpool" / side / "cpu.pb.gz" for side in ("base", "new")]
    meant = rows_of(pprofdiff.diff(*paths).report())
    request.getfixturevalue("other_labels")
    report = pprofdiff.diff(*paths).report()
    assert rows_of(report) == meant
    text = as_text(report)
    assert len(re.findall(r"^ጀ\d  ", text, re.MULTILINE)) == 8
    assert re.search(r"^    ጅ\d", text, re.MULTILINE)
    assert as_card(report).count("<strong>ጀ") == 8


@pytest.mark.slow
def test_rows_of_a_table_have_keys_of_their_own(report):
    for section in sections(report, Scope(joined=True)):
        for part in section.parts:
            if isinstance(part, Table):
                keys = [row.key for row in part.rows]
                assert len(set(keys)) == len(keys), part.key
                assert all(len(row.cells) == len(part.columns) for row in part.rows)
                assert [c.role for c in part.columns].count("name") == 1
