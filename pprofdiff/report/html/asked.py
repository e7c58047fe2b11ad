"""One line for each table that readers ask for first, with a link to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pprofdiff.report.html.furthest import largest, moved_furthest
from pprofdiff.report.rows import Section
from pprofdiff.report.sections import tiles

# Who pays for the runtime's work, and whose goroutines wait for a P.
_TABLES = ("payers", "goroutines.runnable")


class Asked(NamedTuple):
    """A table's title, its place on the page, and what it shows in one line.

    `lead` states the section's totals; `anchor` is the table's id. `names` names rows,
    which are looked up first in the flame graph whose address begins with `view`.
    """

    lead: str
    title: str
    anchor: str
    names: str
    view: str


def asked(sections: Sequence[Section], anchors: Iterable[str]) -> Iterator[Asked]:
    """Yield who pays for GC and who waits for a P, from sections with such tables.

    `anchors` are the ids of the sections' places.
    """
    for section, anchor in zip(sections, anchors, strict=True):
        for table in section.tables:
            if table.key in _TABLES and table.rows:
                most, furthest = largest(table), moved_furthest(table)
                yield Asked(
                    lead=_totals(section) if section.diff is None else "",
                    title=table.heading,
                    anchor=f"{anchor}-{table.key}",
                    names=_names(most, furthest),
                    view="" if section.diff is None else section.diff.name,
                )


def _names(most: str, furthest: str) -> str:
    if most == furthest:
        return f"largest, and changed most: {most}"
    return f"largest: {most}" + (f"; changed most: {furthest}" if furthest else "")


def _totals(section: Section) -> str:
    """Return a section's totals as sentences: name, base → new, change."""
    sentences = (
        f"{one.name} {one.values} ({one.change.signed})." for one in tiles(section)
    )
    return " ".join(f"{text[:1].upper()}{text[1:]}" for text in sentences)
