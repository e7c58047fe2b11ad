"""Cells that name functions: short and distinct, with the full name as tooltip."""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.goruntime.readable import HELD, distinct_names
from pprofdiff.report.rows import Cell


def named_cell(text: str, name: str) -> Cell:
    """Return a cell with a text for a name; the whole name is the tooltip."""
    return Cell(text, full="" if text == name else name)


def function_cells(names: Sequence[str]) -> list[Cell]:
    """Return cells that name a table's functions: different ones read differently."""
    return list(map(named_cell, distinct_names(names), names))


def site_of(names: Sequence[str], called: int, owner: int) -> tuple[str, ...]:
    """Return a call site's function, and its caller in the program if it is another."""
    return (names[called],) if owner in (called, -1) else (names[called], names[owner])


def call_site_cells(sites: Sequence[tuple[str, ...]]) -> list[Cell]:
    """Return cells that name call sites: a function, and its caller if given."""
    names = list(dict.fromkeys(name for site in sites for name in site))
    spelled = dict(zip(names, distinct_names(names), strict=True))
    return [
        Cell(
            called_by([spelled[name] for name in site]),
            remark=f"({HELD[site[0]]})" if site[0] in HELD else "",
            full=called_by(site),
        )
        for site in sites
    ]


def called_by(site: Sequence[str]) -> str:
    """Return a function and its caller, if given, as one text."""
    return " ← ".join(site)
