"""Functions of a package that only moved to another file, or got another name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pprofdiff.analysis.source.declarations import Function
from pprofdiff.analysis.source.extents import Extent, go_file
from pprofdiff.analysis.source.imports import is_import
from pprofdiff.analysis.source.text import code_lines, code_of, plain_lines
from pprofdiff.model.source import SourceText

# Shorter bodies are alike by chance.
_LEAST = 4

# What a file begins with; functions of both sides are built.
_HEADS = ("package", "//go:build")

Declared = frozenset[tuple[str, str]]
"""Functions: their names with receivers, and their code."""


def declared_in(texts: Iterable[SourceText]) -> Declared:
    """Return the functions of files."""
    return frozenset(
        _named(text, one) for text in texts for one in go_file(text.lines).functions
    )


def _named(text: SourceText, function: Function) -> tuple[str, str]:
    """Return a function's name and code."""
    lines = plain_lines(text, range(function.line, function.last + 1))
    return function.name, code_of(lines)


def only_declares(text: SourceText, lines: range, known: Declared) -> bool:
    """Return whether lines of a file have no code but whole `known` functions.

    Imports, the name of the package and what a file is built for are no code of their
    own. No lines have none.
    """
    every = go_file(text.lines).functions
    inside = [one for one in every if one.line in lines and one.last in lines]
    if not lines or not inside:
        return not lines
    if not known.issuperset(_named(text, one) for one in inside):
        return False
    left = set(lines).difference(*(range(one.line, one.last + 1) for one in inside))
    rest = (code for i in left for code in code_lines(text, range(i, i + 1)))
    return all(map(is_of_head, rest))


def is_of_head(code: str) -> bool:
    """Return whether the code of a line is of what a file begins with."""
    return is_import(code) or code.startswith(_HEADS)


def renamed_in(
    text: SourceText, extent: Extent, others: Sequence[SourceText]
) -> tuple[SourceText, Extent] | None:
    """Return where files have the body of a function, None if none or several have."""
    if not text.path.endswith(".go") or extent.end - extent.start < _LEAST:
        return None
    body = _body(text, extent.start, extent.end)
    found = [
        (other, Extent(one.line, one.last))
        for other in others
        if other.path.endswith(".go")
        for one in go_file(other.lines).functions
        if one.last - one.line == extent.end - extent.start
        and _body(other, one.line, one.last) == body
    ]
    return found[0] if len(found) == 1 else None


def _body(text: SourceText, start: int, end: int) -> str:
    """Return the code of a function below its first line."""
    return code_of(plain_lines(text, range(start + 1, end + 1)))
