"""Markdown that GitHub and GitLab show alike: names as code, never as markup.

All text passes through `inline`, or through `summary` where Markdown is not parsed. A
word that a renderer could take for more than a word becomes a code span.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from pprofdiff.plots.axes import shortened
from pprofdiff.report.markdown.links import commit_url, lines_url
from pprofdiff.report.rows import (
    LEADS,
    Cell,
    Footnotes,
    Heading,
    Reason,
    Rulings,
    SectionPart,
    Sentence,
    SourceNote,
    Table,
    written,
)
from pprofdiff.units import printable

# A longer name loses its middle; JSON has it in full.
_LONGEST_NAME = 400
LONGEST_PARAGRAPH = 3000
"""A longer paragraph loses its middle."""
# Words until a bracket closes: main.(*Map[go.shape.string, go.shape.int]).Get.
_REACH = 16

# What a plain word may contain other than letters and digits.
_BARE = frozenset(".,;:()'\"?!+-−–—×÷±=→←▲▼…∞%·’")
_RISKY = re.compile(
    r"[^\W\d_]\.[^\W\d_]"  # main.run; www.example.com
    r"|:(?=.)"  # :emoji:; https://example.com
    r"|[!%](?=\w)"  # GitLab's merge requests and milestones
    r"|^--(?=[a-z])"  # a flag
    r"|\b[A-Za-z]+-\d"  # GH-1
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"  # a commit
)
# Plain words all the same: <0.1%, 1/31,000, µs/op, ns/KiB.
_BELOW = re.compile(r"<[\d.]+[%×]?|1/\d[\d,]*")
_PER_OP = re.compile(r"(?<=[^\W\d_])/(?:op|s|KiB)\b")
_LONG = re.compile(f"[^ ]{{{_LONGEST_NAME + 1},}}")
# A flag and its value: --work BASE:NEW.
_FLAG, _VALUE = (
    re.compile(r"\(?--[a-z-]+"),
    re.compile(r"[A-Z]+(?:(?::|\.\.)[A-Z]+)?[.,;:)]*"),
)
_SPACES = re.compile("( +)")
# A list marker, with its number if it has one.
_LIST = re.compile(r"^(?:([0-9]*)([-+.)])(?=[-+ ]|$))")

_Span = Callable[[str], str]

Part = SectionPart | Heading | Reason | Rulings
"""What a comment consists of."""


def inline(text: str, most: int = _LONGEST_NAME) -> str:
    """Return text as one line of Markdown, without pipes, cut to `most` characters."""
    return _written(_fitting(text, most), _code)


def summary(text: str) -> str:
    """Return text as HTML, for places where Markdown is not parsed."""
    fitting = _fitting(text, _LONGEST_NAME)
    return _written(fitting, lambda word: f"<code>{escape(word)}</code>")


def emphasis(text: str, most: int = _LONGEST_NAME) -> str:
    """Return text as bold Markdown."""
    written = inline(text.strip(), most)
    return f"**{written}**" if written else ""


def render(part: Part) -> str:
    """Return one part as Markdown, without a trailing newline."""
    match part:
        case Table():
            return table(part)
        case Footnotes():
            text = "\n".join(printable(f"{n.mark} {n.text}") for n in part.notes)
            fence = "`" * max(3, _longest_run(text) + 1)
            return f"{fence}text\n{text}\n{fence}"
        case Reason():
            return _item(part)
        case Rulings():
            words = [emphasis(f"Verdict   {part.summary}")]
            for rule in part.verdict.rules:
                write = emphasis if rule.outcome == "fail" else inline
                said = write(f"{rule.text}.", LONGEST_PARAGRAPH)
                words.append(f"{rule.outcome} {said}")
            return "\n\n".join(words)
        case Heading():
            return emphasis(part.text, LONGEST_PARAGRAPH)
        case Sentence():
            return _sentence(part)


def _sentence(sentence: Sentence) -> str:
    if sentence.role == "outcome":
        return emphasis(sentence.text, LONGEST_PARAGRAPH)
    lead = LEADS.get(sentence.role, "")
    return paragraph(sentence.text, f"**{lead}**" if lead == "!" else lead)


class Urls(NamedTuple):
    """Links of a name: to its lines, and to its place on the page; "" for none."""

    lines: str = ""
    view: str = ""


def table(shown: Table, urls: Mapping[str, Urls] = MappingProxyType({})) -> str:
    """Return a table below its title; `urls` are links of names, by row key."""
    title = emphasis(shown.heading, LONGEST_PARAGRAPH)
    sides = ["---:" if column.align == ">" else ":---" for column in shown.columns]
    headings = [inline(c.text if shown.headed else "") for c in shown.columns]
    rows = [headings, sides]
    for row in shown.rows:
        cells = [
            inline(written(cell, column).rstrip())
            for cell, column in zip(row.cells, shown.columns, strict=True)
        ]
        own = row.cells[shown.names]
        if row.strong:
            cells[shown.names] = f"{emphasis(own.text)} {inline(own.detail)}".rstrip()
        elif row.level:
            indent = " " * shown.indent * row.level
            cells[shown.names] = inline(f"{indent}{own.label}".rstrip())
        elif row.key in urls:
            cells[shown.names] = _named(own, urls[row.key])
        rows.append(cells)
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{title}\n\n{lines}" if title else lines


def _named(cell: Cell, urls: Urls) -> str:
    remark = f"&nbsp; {inline(cell.remark)}" if cell.remark else ""
    name = linked(_fitting(cell.text, _LONGEST_NAME), urls.lines or urls.view)
    view = f" [stacks]({urls.view})" if urls.lines and urls.view else ""
    return f"{name}{remark}{view}"


def _item(reason: Reason) -> str:
    title = _no_list(emphasis(reason.title, LONGEST_PARAGRAPH))
    return _below(reason, [title, *details(reason)])


def rest_of(reason: Reason) -> str:
    """Return a finding without the title, for readers who know it by its number."""
    below = details(reason)
    cause = reason.number and not reason.level
    return _below(reason, below) if cause and below else _item(reason)


def details(reason: Reason) -> list[str]:
    """Return what is below a finding's title, as paragraphs."""
    finding = reason.finding
    below = []
    if finding.text:
        below.append(paragraph(finding.text))
    below += filter(None, map(noted, reason.notes))
    if finding.advice:
        below.append(paragraph(finding.advice, "→"))
    return below


def _below(reason: Reason, paragraphs: Sequence[str]) -> str:
    lead = _lead(reason)
    indent = " " * len(lead)
    first, *others = paragraphs
    return "\n\n".join([lead + first, *(indent + text for text in others)])


def noted(note: SourceNote) -> str:
    """Return a note on the source, its place and commits linked where possible."""
    if note.lines is None:
        return paragraph(note.text)
    commits = [
        f"{linked(commit.short, commit_url(commit))} {_quoted(commit.subject)}".rstrip()
        for commit in note.commits
    ]
    url = lines_url(note.lines)
    if not note.located and not url:
        # The title has the lines.
        return "; ".join(commits)
    place = linked(note.place, url)
    # Other lines of the place follow directly.
    space = "" if note.after.startswith(",") else " "
    said = f"{place}{space}{inline(note.after.strip(), LONGEST_PARAGRAPH)}".rstrip()
    return "; ".join((f"{inline(note.lead.strip())} {said}", *commits))


def linked(text: str, url: str) -> str:
    """Return text as code, linked if there is a URL."""
    code = _coded(printable(text), _code)
    return f"[{code}]({url})" if url else code


def _quoted(text: str) -> str:
    """Return a commit's subject: as code if any word of it could be markup."""
    fitting = _fitting(text, _LONGEST_NAME)
    return fitting if inline(text) == fitting else _coded(fitting, _code)


def in_short(reason: Reason) -> str:
    """Return only a finding's title, as one item of a numbered list."""
    return f"{_lead(reason)}{paragraph(reason.title)}"


def _lead(reason: Reason) -> str:
    if reason.level or not reason.number:
        return "   " * reason.level + "- "
    return f"{reason.number}. "


def paragraph(text: str, lead: str = "") -> str:
    """Return a sentence after its `lead`, which is Markdown; it starts no list."""
    written = inline(text.strip(), LONGEST_PARAGRAPH)
    return f"{lead} {written}" if lead else _no_list(written)


def _no_list(text: str) -> str:
    return _LIST.sub(r"\1\\\2", text)


def _fitting(text: str, most: int) -> str:
    """Return printable text with long words cut, and then cut as a whole."""
    words = _LONG.sub(lambda word: shortened(word[0], _LONGEST_NAME), printable(text))
    return shortened(words, most)


def _written(text: str, code: _Span) -> str:
    """Return text with possible markup as code; runs of spaces keep their width."""
    words = _SPACES.split(text.rstrip(" "))
    written = []
    at = 0
    while at < len(words):
        # Words and spaces alternate; text that begins with spaces has "" before them.
        if at % 2:
            wide = len(words[at]) - (at > 1 or words[0] != "")
            written.append("&nbsp;" * wide + words[at][wide:])
            at += 1
            continue
        after = _closed(words, at)
        written.append(_word("".join(words[at:after]), code))
        at = after
    return "".join(written)


def _closed(words: list[str], at: int) -> int:
    """Return the end of the name that begins at a word: all its brackets are closed."""
    if _FLAG.fullmatch(words[at]) and _VALUE.fullmatch("".join(words[at + 2 : at + 3])):
        return at + 3
    depth = 0
    for end in range(at, min(at + 2 * _REACH, len(words)), 2):
        depth += words[end].count("[") - words[end].count("]")
        if depth <= 0:
            return end + 1
    return at + 1


def _word(word: str, code: _Span) -> str:
    """Return a word, as code if it could be markup; punctuation stays outside."""
    if _BELOW.fullmatch(word.strip("(,.;:)")):
        return escape(word)
    if word == "~" or _plain(word):
        return word
    before = after = ""
    closed = word.count("(") <= word.count(")")
    if word.startswith("(") and not (closed and word.rstrip(".,;:")[-1:] != ")"):
        before, word = "(", word[1:]
    while word[-1:] and word[-1] in ".,;:)":
        if word[-1] == ")" and word.count(")") <= word.count("("):
            break
        word, after = word[:-1], word[-1] + after
    return f"{before}{word if _plain(word) else _coded(word, code)}{after}"


def _plain(word: str) -> bool:
    """Return whether a word is just a word to every renderer."""
    bare = word.rstrip(".,;:)")
    if _RISKY.search(bare):
        return False
    return all(char.isalnum() or char in _BARE for char in _PER_OP.sub("", word))


def _coded(word: str, code: _Span) -> str:
    """Return a word as code; pipes are entities, as tables differ in escaping them."""
    return "&#124;".join(code(part) if part else "" for part in word.split("|"))


def _code(text: str) -> str:
    fence = "`" * (_longest_run(text) + 1)
    ends = text[0] + text[-1]
    pad = " " if "`" in ends or ends == "  " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
