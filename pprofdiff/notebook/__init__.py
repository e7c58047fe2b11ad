"""What Jupyter shows: static tables that survive every viewer, and the flame graph.

A notebook is looked at on GitHub, through nbconvert, in VS Code, untrusted in
JupyterLab: all of these drop scripts and style sheets, and most drop ``style``. So a
table here is plain HTML whose signs and words say all, and has a twin in plain text.
Text is escaped in one place, the template engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.errors import PprofDiffError
from pprofdiff.plots.frame import shown as shortened
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.report.text.plain import render

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["ROWS", "Card", "cut", "environment", "shown", "wanted"]

# Eight groups of runtime costs, and their total.
ROWS = 9
"""Rows of a table at most."""


class Card(NamedTuple):
    """What is shown of one object: the two labels or its name, a sentence, a table.

    `below` is said under the table; `code` tells that the first column holds names out
    of the input.
    """

    labels: tuple[str, ...]
    kind: str
    lead: str
    grid: Grid
    below: str = ""
    code: bool = False


def shown(
    card: Callable[[], Card],
    text: str,
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> dict[str, str]:
    """Return a MIME bundle: ``text/plain``, `text` with the table, and ``text/html``.

    `include` and `exclude` limit the types, as IPython asks. Where there is nothing to
    make a table of, `text` is alone.
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
    """Return a card whose labels, headings and cells are printable and not too long."""
    grid = card.grid
    rows = tuple([Cell(cut(c.text), c.style, c.value) for c in r] for r in grid.rows)
    headings = tuple(map(cut, grid.headings))
    return card._replace(
        labels=tuple(map(cut, card.labels)),
        lead=cut(card.lead, 400),
        grid=grid._replace(headings=headings, rows=rows),
    )


def cut(text: str, longest: int = 120) -> str:
    """Return a text without what is in the middle of it, if it is long."""
    return shortened(text, longest)


def wanted(
    kinds: tuple[str, ...],
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> list[str]:
    """Return the MIME types that IPython asks for."""
    return [
        kind
        for kind in kinds
        if (not include or kind in include) and kind not in (exclude or ())
    ]


def _plain(card: Card, text: str) -> str:
    held: list[Block] = [Words(card.lead)] if card.lead else []
    held.append(card.grid)
    if card.below:
        held.append(Words(card.below))
    return f"{text}\n\n{render(held)}".rstrip()


def _html(card: Card) -> str:
    template = environment().get_template("card.html.j2")
    numbers = [sign == ">" for sign in card.grid.align]
    text: str = template.render(card=card, grid=card.grid, numbers=numbers)
    return text


@cache
def environment() -> Environment:
    """Return what escapes and fills our templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("pprofdiff.notebook", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
