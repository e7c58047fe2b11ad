"""The code of lines of Go: without comments and space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pprofdiff.analysis.source.declarations import uncommented
from pprofdiff.model.source import SourceText

LITERAL = r'"(?:\\.|[^"\\])*"|`[^`]*`|\'(?:\\.|[^\'\\])+\''
"""A string or rune of Go, as a pattern."""
# A literal, or any other character that is no space.
_TOKEN = re.compile(rf"{LITERAL}|\S")
WORD = re.compile(r"\w")
"""What lines with a name or number have, unlike a closing brace."""
# A call of a function or method, perhaps with type arguments.
_CALL = re.compile(r"(\w+)(?:\[[^]\n]*\])?\(")
# Texts to cache: one report's.
_FILES = 64


def worded_lines(text: SourceText, lines: range) -> dict[int, str]:
    """Return the code of those of some lines with a name or number, by number."""
    pairs = zip(lines, plain_lines(text, lines), strict=False)
    found = ((number, code_of([line])) for number, line in pairs)
    return {number: code for number, code in found if WORD.search(code)}


def called_in(text: SourceText, lines: range) -> set[str]:
    """Return the names, without package or receiver, of what some lines call."""
    code = "\n".join(plain_lines(text, lines))
    return set(_CALL.findall(code))


def plain_lines(text: SourceText, lines: range) -> tuple[str, ...]:
    """Return lines without their comments, given by number."""
    return (
        without_comments(text.lines)[lines.start - 1 : lines.stop - 1] if lines else ()
    )


@lru_cache(_FILES)
def without_comments(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return a file's lines without comments, which may span several."""
    return tuple(uncommented("\n".join(lines)).split("\n"))


def code_of(lines: Sequence[str]) -> str:
    """Return the code of lines without comments: their words, without space.

    Lists on several lines end with a comma that those on one line do not have.
    """
    code = "".join(_TOKEN.findall("\n".join(lines)))
    return code.replace(",)", ")").replace(",}", "}")
