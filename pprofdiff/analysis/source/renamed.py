"""Functions that got another name, and hunks that only name functions otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pprofdiff.analysis.source.extents import Extent, go_file
from pprofdiff.analysis.source.text import PHRASE, code_of, plain_lines
from pprofdiff.model.source import Hunk, SourceText

# Shorter bodies are alike by chance.
_LEAST = 4
_RECEIVER = re.compile(r"\bfunc \( [^()]* \) (?=\w+ [(\[])")


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
