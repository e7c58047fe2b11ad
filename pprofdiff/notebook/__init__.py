"""Jupyter output: static tables that survive every viewer, and the flame graph.

GitHub, nbconvert, VS Code and untrusted notebooks drop scripts and style sheets, and
mostly ``style``: a table is plain HTML whose signs and words carry everything, with a
plain-text twin. Text is escaped in one place, the template engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pprofdiff.errors import PprofDiffError
from pprofdiff.plots.axes import shortened
from pprofdiff.report.rows import Cell, Part, Row, Sentence, Table, written
from pprofdiff.report.text.lines import render

if TYPE_CHECKING:
    from jinja2 import Environment

# Eight groups of runtime costs and their total.
ROWS = 9
"""Maximum number of rows in a table."""


class Card(NamedTuple):
    """What to show of one object: two labels or its name, a sentence, a table.

    `findings` go below the sentence, one per line; a level above 0 follows from
    the nearest earlier one of a lower level. `below` goes below the table.
    """

    labels: tuple[str, ...]
    kind: str
    lead: str
    table: Table
    below: str = ""
    findings: tuple[tuple[int, str], ...] = ()


def shown(
    card: Callable[[], Card],
    text: str,
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> dict[str, str]:
    """Return a MIME bundle: ``text/plain``, `text` with the table, and ``text/html``.

    `include` and `exclude` limit the types, as IPython requests.
    """
    chosen = wanted(("text/plain", "text/html"), include, exclude)
    if not chosen:
        return {}
    try:
        made = _fitting(card())
    except PprofDiffError:
        return {kind: text for kind in chosen if kind == "text/plain"}
    makers = {
        "text/plain": lambda: _plain(made, text),
        "text/html": lambda: _html(made),
    }
    return {kind: makers[kind]() for kind in chosen}


def _fitting(card: Card) -> Card:
    """Return a card with printable labels, headings and cells, cut if too long."""
    table = card.table
    return card._replace(
        labels=tuple(map(cut, card.labels)),
        lead=cut(card.lead, 400),
        findings=tuple((level, cut(text, 400)) for level, text in card.findings),
        table=replace(
            table,
            columns=tuple(replace(c, text=cut(c.text)) for c in table.columns),
            rows=tuple(map(_short, table.rows)),
        ),
    )


def _short(row: Row) -> Row:
    cells = (
        replace(cell, text=cut(_with_detail(cell)), full=cut(cell.full, 400), detail="")
        for cell in row.cells
    )
    return replace(row, cells=tuple(cells))


def _with_detail(cell: Cell) -> str:
    """Return a text with its detail in parentheses; viewers collapse double spaces."""
    return f"{cell.text} ({cell.detail})" if cell.detail else cell.text


def cut(text: str, longest: int = 120) -> str:
    """Return a text with its middle cut out if it is too long."""
    return shortened(text, longest)


def wanted(
    kinds: tuple[str, ...],
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> list[str]:
    """Return the MIME types that IPython requests."""
    return [
        kind
        for kind in kinds
        if (not include or kind in include) and kind not in (exclude or ())
    ]


def _plain(card: Card, text: str) -> str:
    parts: list[Part] = [Sentence(card.lead)] if card.lead else []
    parts += (Sentence(f"{'  ' * level}{words}") for level, words in card.findings)
    parts.append(card.table)
    if card.below:
        parts.append(Sentence(card.below))
    return f"{text}\n\n{render(parts)}".rstrip()


def _html(card: Card) -> str:
    template = environment().get_template("card.html.j2")
    text: str = template.render(
        card=card,
        table=card.table,
        written=lambda cell, column: written(cell, column).strip(),
    )
    return text


@cache
def environment() -> Environment:
    """Return the Jinja environment that escapes and fills our templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("pprofdiff.notebook", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
