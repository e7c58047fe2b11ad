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
WORD = re.compile(r"\w+")
"""A name or number: lines have some, unlike a closing brace."""
# A call of a function or method, perhaps with type arguments.
_CALL = re.compile(r"(\w+)(?:\[[^]\n]*\])?\(")
PHRASE = re.compile(rf"{LITERAL}|\w+(?:\s*\.\s*\w+)*|:=|\S")
"""A literal, a name with what it is selected from, or a mark of Go, as a pattern."""
# Variables that a function declares, its receiver and its parameters.
_LOCAL = re.compile(r"\bvar (\w+)|((?:\w+ , )*\w+) :=")
_SIGNATURE = re.compile(r"func (?:\( ([^()]*) \) )?\w+ \( (?:([^()]*) )?\)")
_PARAMETER = re.compile(r"(?:^|, )(\w+) (?=[*\w\[,])")
FILES = 512
"""Texts to cache: those of one report, whose packages may have hundreds of files."""


def worded_lines(text: SourceText, lines: range) -> dict[int, str]:
    """Return the code of those of some lines with a name or number, by number."""
    pairs = zip(lines, plain_lines(text, lines), strict=False)
    found = ((number, code_of([line])) for number, line in pairs)
    return {number: code for number, code in found if WORD.search(code)}


def code_lines(text: SourceText, lines: range) -> list[str]:
    """Return the code of each of some lines, if it has any."""
    return [code for line in plain_lines(text, lines) if (code := code_of([line]))]


def called_in(text: SourceText, lines: range) -> set[str]:
    """Return the names, without package or receiver, of what some lines call."""
    code = "\n".join(plain_lines(text, lines))
    return set(_CALL.findall(code))


def plain_lines(text: SourceText, lines: range) -> tuple[str, ...]:
    """Return lines without their comments, given by number."""
    first, last = lines.start - 1, lines.stop - 1
    return without_comments(text.lines)[first:last] if lines else ()


@lru_cache(FILES)
def without_comments(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return a file's lines without comments, which may span several."""
    return tuple(uncommented("\n".join(lines)).split("\n"))


def code_of(lines: Sequence[str]) -> str:
    """Return the code of lines without comments: their words, without space.

    Lists on several lines end with a comma that those on one line do not have.
    """
    code = "".join(_TOKEN.findall("\n".join(lines)))
    return code.replace(",)", ")").replace(",}", "}")


def variables_of(code: str) -> list[str]:
    """Return a function's receiver, parameters and variables, in the order of the text.

    Of closures in it, only variables.
    """
    code = " ".join(PHRASE.findall(code))
    declared = _SIGNATURE.match(code)
    parts = [part or "" for part in declared.groups()] if declared else []
    found = [name for part in parts for name in _PARAMETER.findall(part)]
    for names in _LOCAL.findall(code):
        found += "".join(names).split(" , ")
    return list(dict.fromkeys(found))


def unnamed(code: str) -> str:
    """Return a function's code with its variables numbered by their declaration."""
    numbers = {name: f"<{i}>" for i, name in enumerate(variables_of(code))}

    def numbered(phrase: str) -> str:
        first, dot, rest = phrase.partition(".")
        return numbers.get(first, first) + dot + rest

    return " ".join(map(numbered, PHRASE.findall(code)))
