"""How rows of profiles are named: short and distinct, with the whole name beside."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename
from typing import NamedTuple

from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.goruntime.readable import (
    distinct_names,
    path_before,
    short_before,
    with_path,
)
from pprofdiff.report.rows import Cell

__all__ = ["row_cells"]


class _Line(NamedTuple):
    """A row's function, file and line; of rows of lines ``function file:line``."""

    function: str
    file: str
    number: str


def row_cells(table: Table, rows: Sequence[int]) -> list[Cell]:
    """Return cells that name rows of a table: functions, lines, files or packages.

    Their remark says what of the base's name is another one, where people see that.
    """
    names = [table.names[i] for i in rows]
    texts = _texts(table, rows)
    cells = []
    for i, name, shown in zip(rows, names, texts, strict=True):
        before = table.base_names[i]
        was = "" if before is None else _before(table.noun, before, name)
        # Of `sync` and `internal/sync` the same is left.
        alike = table.noun == "function" and shown.startswith(f"{was}.")
        text = with_path(name) if was and alike else shown
        full = name if before is None else f"{name} (was {before})"
        cells.append(
            Cell(
                text,
                remark=f"(was {was})" if was else "",
                full="" if full == text else full,
            )
        )
    return cells


def _texts(table: Table, rows: Sequence[int]) -> list[str]:
    """Return what rows are called, different words for different rows."""
    names = [table.names[i] for i in rows]
    if table.noun == "function":
        return distinct_names(names)
    if table.noun != "line":
        return names
    lines = [_line(table.names[i], table.files[i]) for i in rows]
    functions = distinct_names(line.function for line in lines)
    texts = [
        f"{function} {basename(line.file)}:{line.number}" if line.file else function
        for function, line in zip(functions, lines, strict=True)
    ]
    return [
        name if texts.count(text) > 1 else text
        for text, name in zip(texts, names, strict=True)
    ]


def _before(noun: str, before: str, now: str) -> str:
    """Return what is another one in base's name, in few words."""
    if noun == "line":
        return short_before(_line(before).function, _line(now).function)
    return short_before(before, now) if noun == "function" else path_before(before, now)


def _line(name: str, file: str = "") -> _Line:
    """Return the parts of a row's name; the file is looked for where it is not given.

    The names of Go's functions have spaces within brackets only.
    """
    at = name.rfind(f" {file}:") if file else _space(name)
    if at < 0:
        return _Line(name, "", "")
    place, _, number = name[at + 1 :].rpartition(":")
    return _Line(name[:at], place, number)


def _space(name: str) -> int:
    """Return where the first space outside brackets is, -1 without one."""
    depth = 0
    for at, char in enumerate(name):
        depth += (char in "[{(") - (char in "]})")
        if char == " " and depth <= 0:
            return at
    return -1
