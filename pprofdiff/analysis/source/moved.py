"""Functions that only moved to another file of their package."""

from __future__ import annotations

from collections.abc import Iterable

from pprofdiff.analysis.source.declarations import Function
from pprofdiff.analysis.source.extents import go_file
from pprofdiff.analysis.source.imports import is_import
from pprofdiff.analysis.source.text import code_lines, code_of, plain_lines
from pprofdiff.model.source import SourceText

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

    Imports, and the name of the package, are no code of their own. No lines have none.
    """
    every = go_file(text.lines).functions
    inside = [one for one in every if one.line in lines and one.last in lines]
    if not lines or not inside:
        return not lines
    if not known.issuperset(_named(text, one) for one in inside):
        return False
    left = set(lines).difference(*(range(one.line, one.last + 1) for one in inside))
    rest = (code for i in left for code in code_lines(text, range(i, i + 1)))
    return all(is_import(code) or code.startswith("package") for code in rest)
