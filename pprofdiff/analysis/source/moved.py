"""Functions that only moved to another file of their package."""

from __future__ import annotations

from collections.abc import Iterable

from pprofdiff.analysis.source.extents import go_file
from pprofdiff.analysis.source.imports import is_import
from pprofdiff.analysis.source.text import code_lines, code_of, plain_lines
from pprofdiff.model.source import SourceText

Declared = frozenset[tuple[str, str]]
"""Functions: their names with receivers, and their code."""


def declared_in(texts: Iterable[SourceText]) -> Declared:
    """Return the functions of files."""
    return frozenset(
        (one.name, code_of(plain_lines(text, range(one.line, one.last + 1))))
        for text in texts
        for one in go_file(text.lines).functions
    )


def only_declares(text: SourceText, lines: range, known: Declared) -> bool:
    """Return whether lines of a file have no code but whole `known` functions.

    Imports, and the name of the package, are no code of their own. No lines have none.
    """
    inside = [
        one
        for one in go_file(text.lines).functions
        if one.line in lines and one.last in lines
    ]
    if lines and not inside:
        return False
    left = set(lines)
    for one in inside:
        span = range(one.line, one.last + 1)
        if (one.name, code_of(plain_lines(text, span))) not in known:
            return False
        left.difference_update(span)
    rest = (code for i in sorted(left) for code in code_lines(text, range(i, i + 1)))
    return all(is_import(code) or code.startswith("package") for code in rest)
