"""Code that differs only in the names of functions, or of variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pprofdiff.analysis.source.extents import Extent, go_file
from pprofdiff.analysis.source.text import PHRASE, code_of, plain_lines, unnamed
from pprofdiff.model.source import Hunk, SourceText

# Shorter bodies are alike by chance.
_LEAST = 4
_RECEIVER = re.compile(r"\bfunc \( [^()]* \) (?=\w+ [(\[])")


def only_variables(
    texts: tuple[SourceText, SourceText], extents: tuple[Extent, Extent]
) -> bool:
    """Return whether two texts of a function differ in names of its variables alone."""
    codes = [
        "\n".join(plain_lines(text, range(extent.start, extent.end + 1)))
        for text, extent in zip(texts, extents, strict=True)
    ]
    return codes[0] == codes[1] or unnamed(codes[0]) == unnamed(codes[1])


def with_other_variables(base: SourceText, new: SourceText) -> tuple[set[int], ...]:
    """Return the lines of a file's functions that differ in variables' names alone.

    Of base, and of new; also those of functions that do not differ.
    """
    sides = [
        {one.name: Extent(one.line, one.last) for one in go_file(text.lines).functions}
        for text in (base, new)
    ]
    found: tuple[set[int], set[int]] = set(), set()
    for name in sides[0].keys() & sides[1].keys():
        extents = sides[0][name], sides[1][name]
        if only_variables((base, new), extents):
            for lines, extent in zip(found, extents, strict=True):
                lines.update(range(extent.start, extent.end + 1))
    return found


def only_renames(
    hunk: Hunk, base: SourceText, new: SourceText, names: Mapping[str, str]
) -> bool:
    """Return whether a hunk only declares or calls renamed functions by their names.

    `names` maps those of base to those of new, without packages and receivers.
    """
    known = {**names, **{name: name for name in names.values()}}
    old, now = (
        _with_names("\n".join(plain_lines(text, lines)), known)
        for text, lines in zip((base, new), hunk.sides, strict=True)
    )
    return old == now


def _with_names(code: str, names: Mapping[str, str]) -> str:
    """Return code without space, with functions by `names` and without receivers."""
    words = []
    for phrase in PHRASE.findall(code):
        last = phrase.rpartition(".")[2].strip()
        words.append(names.get(last, phrase))
    return _RECEIVER.sub("func ", " ".join(words))


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
