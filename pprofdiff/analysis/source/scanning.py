"""A scanner for the functions that a Go file declares, and the closures in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

__all__ = ["Closure", "Function", "GoFile"]

# Text to skip: comments, and string and rune literals.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*(?:`|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?',
    re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_FUNCTION = re.compile(r"^func\b[ \t]*(?:\(([^()]*)\)[ \t]*)?(\w+)", re.MULTILINE)
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\Z")
_BRACKET = re.compile(r"[(){}\[\]\n]")
_CLOSURE = re.compile(r"\b(?:func|go|defer|for)\b")
_PACKAGE = re.compile(r"^package[ \t]+(\w+)", re.MULTILINE)
_PARENTHESIS = re.compile(r"[()]")
_EMPTY_TYPE = re.compile(r"\b(?:interface|struct)\s*\{\s*\}")
_AFTER_PARAMETERS = re.compile(r"[{}=;,\n()]")
# The result types of a function literal are shorter than this.
_LONGEST_RESULT = 1_000


class Function(NamedTuple):
    """A declared function: `F`, or `T.M` with or without a pointer receiver.

    `start` and `end` are offsets in the text, `line` and `last` lines from 1.
    """

    name: str
    start: int
    end: int
    line: int
    last: int


class Closure(NamedTuple):
    """Code that may compile to a closure, by the keyword that it begins with."""

    kind: str
    start: int
    end: int
    line: int


class GoFile:
    """The text of a Go file, and what it declares.

    `plain` has the same length, with blanks for comments and literals.
    """

    def __init__(self, text: str) -> None:
        """Take the whole text, with lines that end in a bare newline."""
        self.text = text
        self.plain = _OPAQUE.sub(_blank, text)

    def code(self, start: int, end: int) -> str:
        """Return a part of the text without comments."""
        return _OPAQUE.sub(_uncommented, self.text[start:end])

    @property
    def in_test_package(self) -> bool:
        """Whether its package tests another one from outside."""
        named = _PACKAGE.search(self.plain)
        return named is not None and named[1].endswith("_test")

    @cached_property
    def functions(self) -> list[Function]:
        """The functions that start at the beginning of a line, as gofmt writes them."""
        found = list(_FUNCTION.finditer(self.plain))
        limits = [match.start() for match in found[1:]] + [len(self.plain)]
        functions = []
        line = at = 0
        for match, limit in zip(found, limits, strict=False):
            start, end = match.start(), self._end(match.start(), limit)
            line += self.plain.count("\n", at, start)
            last = line + self.plain.count("\n", start, end)
            at = start
            receiver = _RECEIVER.search(match[1]) if match[1] is not None else None
            name = f"{receiver[1]}.{match[2]}" if receiver else match[2]
            functions.append(Function(name, start, end, line + 1, last + 1))
        return functions

    def _end(self, start: int, limit: int) -> int:
        """Return where a declaration ends: at a line that leaves no bracket open."""
        newline = self.plain.find("\n", start)
        first = self.plain[start : newline if newline >= 0 else limit]
        if all(first.count(o) == first.count(c) for o, c in ("{}", "()", "[]")):
            return start + len(first)
        end = self.plain.find("\n}", start, limit)
        # gofmt puts the closing brace on its own line.
        return end + 2 if end >= 0 else self._balanced(start)

    def _balanced(self, start: int) -> int:
        """Return the end of the first line from here that leaves no bracket open."""
        depth = 0
        for bracket in _BRACKET.finditer(self.plain, start):
            if bracket[0] == "\n":
                if depth <= 0:
                    return bracket.start()
            else:
                depth += 1 if bracket[0] in "([{" else -1
                if depth < 0:
                    return bracket.start()
        return len(self.plain)

    def closures(self, start: int, end: int) -> Iterator[Closure]:
        """Yield what may compile to a closure in a part of the text, in order."""
        line, at = self.plain.count("\n", 0, start) + 1, start
        for match in _CLOSURE.finditer(self.plain, start, end):
            kind = match[0]
            if kind == "func" and not self._is_literal(match.end()):
                continue
            line += self.plain.count("\n", at, match.start())
            at = match.start()
            yield Closure(kind, at, min(self._balanced(match.end()), end), line)

    def _is_literal(self, at: int) -> bool:
        """Return whether a literal follows the keyword `func`, rather than a type."""
        plain = self.plain
        opening = plain.find("(", at)
        if opening < 0 or plain[at:opening].strip():
            return False
        after = self._closing(opening)
        rest = _EMPTY_TYPE.sub("", plain[after : after + _LONGEST_RESULT])
        depth = 0
        for match in _AFTER_PARAMETERS.finditer(rest):
            mark = match[0]
            if mark == "(":
                depth += 1
            elif mark == ")" and depth:
                depth -= 1
            elif depth == 0:
                return mark == "{"
        return False

    def _closing(self, opening: int) -> int:
        """Return the offset after the parenthesis that closes the one at `opening`."""
        depth = 0
        for match in _PARENTHESIS.finditer(self.plain, opening):
            depth += 1 if match[0] == "(" else -1
            if depth == 0:
                return match.end()
        return len(self.plain)


def _uncommented(match: re.Match[str]) -> str:
    return " " if match[0].startswith(("//", "/*")) else match[0]


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    return _NOT_NEWLINE.sub(" ", text) if "\n" in text else " " * len(text)
