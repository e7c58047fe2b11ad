r"""Go regular expressions (RE2 syntax), searched within a time limit.

All patterns from users, checkouts and profiles are compiled here. They are translated
to the syntax of `regex`: what Go reads differently is rewritten (``$``, ``\s``,
``[[:alpha:]]``, ``\z``, ``\Q…\E``, flags in mid-pattern); what Go rejects is rejected
here too (https://pkg.go.dev/regexp/syntax).

Limits:

- Unicode classes (``\p{…}``, ``\P{…}``, ``\pL``) are rejected.
- Case folding (``(?i)``) follows Python's Unicode tables, not Go's.
- ``(?U)``, which swaps greedy and lazy repetition, has no effect.
- `regex` backtracks: a pattern such as ``(a|aa)+$`` takes time exponential in the
  length of the text, where Go's takes linear time. `Pattern.search` then gives up.

RE2's own Python package (google-re2) has no wheel for musl, the C library of Alpine
Linux and of the image ``golang:alpine``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from time import thread_time
from typing import NamedTuple

from pprofdiff.errors import UsageError

Matches = Callable[[str], bool]

# CPU seconds that all searches for one pattern may take. On a function name, a plain
# pattern takes 1 µs and one cubic in its length, such as .*a.*b.*c, 200 µs.
_SECONDS, _SECONDS_A_TEXT = 2.0, 1e-3

# Character sets by letter, as ranges for use between brackets.
_PERL = {
    "d": "0-9",
    "D": "\\x00-/:-\U0010ffff",
    "w": "0-9A-Z_a-z",
    "W": "\\x00-/:-@\\[-\\^`{-\U0010ffff",
    "s": "\\t\\n\\f\\r ",
    "S": "\\x00-\\x08\\x0b\\x0e-\\x1f!-\U0010ffff",
}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\x0b\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# Assertions, grouped because Python cannot repeat a bare one.
_PLACES = {"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?a:\B)"}
# Metacharacters: the flag that affects them, spelled with it and without it.
_BARE = {
    ".": ("s", "(?s:.)", "[^\\n]"),
    "^": ("m", "(?m:^)", _PLACES["A"]),
    "$": ("m", "(?m:$)", _PLACES["z"]),
}
# Go's limit on the product of nested repetitions (regexp/syntax, repeatIsValid).
_MOST_REPEATS = 1000
# `regex` expands repetitions: 50,000 parts take 0.5 s and 100 MB.
_MOST_PARTS = 50_000
# Go allows 1,000 levels; Python's stack allows fewer.
_DEEPEST = 100
_SHOWN = 80


class Pattern:
    """A Go regular expression, searched within a time limit.

    `names` are the numbers of named groups, from 1; the first if a name repeats.
    """

    def __init__(self, pattern: str, option: str) -> None:
        import regex

        reader = _Reader(pattern)
        try:
            self._compiled = regex.compile(reader.all())
        except (_Refused, regex.error, OverflowError, ValueError) as error:
            raise UsageError(
                f"{option}: {_shown(pattern)} is not a Go regular expression: {error}"
            ) from error
        self.names = reader.names
        self.groups = reader.groups
        self._option = f"{option}: {_shown(pattern)}"
        self._left = _SECONDS

    def search(self, text: str) -> tuple[str | None, ...] | None:
        """Return the first match and its groups; UsageError if it takes too long."""
        started = thread_time()
        # A timeout of 0 would mean no timeout.
        left = max(self._left + _SECONDS_A_TEXT, _SECONDS_A_TEXT)
        try:
            match = self._compiled.search(text, timeout=left)
        except TimeoutError:
            self._left = 0.0
            raise UsageError(
                f"{self._option} takes too long to search for; give alternatives that "
                "repeat, as in (a|aa)+, no common beginning"
            ) from None
        self._left = min(left - (thread_time() - started), _SECONDS)
        return None if match is None else (match[0], *match.groups())


@lru_cache(64)
def compiled(pattern: str, option: str) -> Pattern:
    """Return a pattern, compiled once; raises what `matcher` raises."""
    return Pattern(pattern, option)


def matcher(pattern: str, option: str) -> Matches:
    r"""Return a function that reports whether a text contains a match of the pattern.

    As Go's `regexp.MatchString`. Raises UsageError if Go rejects the pattern, or it has
    a Unicode class (``\p{…}``). The returned function raises it if searches take too
    long.
    """
    search = Pattern(pattern, option).search
    return lambda text: search(text) is not None


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…")


class _Refused(Exception):  # noqa: N818 - never leaves this module
    """Why a pattern cannot be used."""


class _Part(NamedTuple):
    """Part of a pattern, in `regex` syntax.

    `size` counts its characters, classes and assertions, multiplied by repetition;
    `repeats` is the largest product of nested repetition counts.
    """

    spelled: str
    size: int = 1
    repeats: int = 1


class _Reader:
    """Reads one pattern from left to right, counting its `groups`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0
        self.groups = 0
        self.names: dict[str, int] = {}

    def all(self) -> str:
        if len(self.pattern) > _MOST_PARTS:
            raise _Refused("it is too long")
        out = self.alternatives(frozenset())
        if self.at < len(self.pattern):
            raise _Refused("unmatched )")
        return out.spelled

    def next(self, size: int = 1) -> str:
        taken = self.pattern[self.at : self.at + size]
        self.at += len(taken)
        return taken

    def starts(self, text: str) -> bool:
        begins = self.pattern.startswith(text, self.at)
        self.at += len(text) * begins
        return begins

    def match(self, expression: str) -> re.Match[str] | None:
        match = re.compile(expression).match(self.pattern, self.at)
        if match:
            self.at = match.end()
        return match

    def alternatives(self, flags: frozenset[str]) -> _Part:
        """Read up to the end or an unmatched parenthesis."""
        out: list[_Part] = []
        repeatable = False
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.starts("|"):
                out.append(_Part("|"))
                repeatable = False
            elif changed := self.match(r"\(\?([imsU]*)(?:-([imsU]+))?\)"):
                flags = (flags | set(changed[1])) - set(changed[2] or "")
            elif repeat := self.match(_REPETITION):
                if not repeatable:
                    raise _Refused(f"nothing to repeat before {repeat[0]}")
                out.append(_repeated(out.pop(), repeat))
                repeatable = False
            else:
                out.append(self.atom(flags))
                repeatable = True
        return _joined(out)

    def atom(self, flags: frozenset[str]) -> _Part:
        taken = self.next()
        if taken == "(":
            return self.group(flags)
        if taken == "[":
            return _Part(_folded(self.brackets(), flags))
        if taken == "\\":
            return self.escape(flags)
        if taken in _BARE:
            flag, with_flag, without = _BARE[taken]
            return _Part(with_flag if flag in flags else without)
        return _Part(_folded(re.escape(taken), flags))

    def group(self, flags: frozenset[str]) -> _Part:
        opening = "("
        named = self.match(r"\?P?<([A-Za-z0-9_]+)>")
        if named is None and self.starts("?"):
            opening = "(?:"
            changed = self.match(r"([imsU]*)(?:-([imsU]+))?:")
            if changed is None:
                raise _Refused("Go does not know the group (?" + self.next())
            flags = (flags | set(changed[1])) - set(changed[2] or "")
        else:
            self.groups += 1
        if named is not None:
            self.names.setdefault(named[1], self.groups)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Refused(f"groups are nested {_DEEPEST} times and more")
        inner = self.alternatives(flags)
        self.depth -= 1
        if not self.starts(")"):
            raise _Refused("a ) is missing")
        return inner._replace(spelled=f"{opening}{inner.spelled})")

    def escape(self, flags: frozenset[str]) -> _Part:
        if self.starts("Q"):
            quoted = self.match(r"(?s:(.*?)(?:\\E|\Z))")
            return _joined(
                [
                    _Part(_folded(re.escape(c), flags))
                    for c in (quoted[1] if quoted else "")
                ]
            )
        letter = self.pattern[self.at : self.at + 1]
        if letter in _PLACES and letter:
            return _Part(_PLACES[self.next()])
        if letter in _PERL and letter:
            return _Part(f"[{_PERL[self.next()]}]")
        return _Part(_folded(re.escape(self.character()), flags))

    def character(self) -> str:
        if code := self.match(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})"):
            return chr(int(code[1] or code[2], 16))
        if code := self.match(r"[1-7][0-7]{1,2}|0[0-7]{0,2}"):
            return chr(int(code[0], 8))
        letter = self.next()
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in ("p", "P"):
            raise _Refused("Unicode classes (\\p) are not available; list the letters")
        if not letter or letter.isalnum() or ord(letter) >= 0x80:
            raise _Refused(f"Go does not know the escape \\{letter}")
        return letter

    def brackets(self) -> str:
        out = ["[", "^" * self.starts("^")]
        first = True
        while first or not self.starts("]"):
            if self.at >= len(self.pattern):
                raise _Refused("a ] is missing")
            first = False
            out.append(self.member())
        return "".join(out) + "]"

    def member(self) -> str:
        if posix := self.match(r"\[:(\^?)([a-z]+):\]"):
            if posix[2] not in _POSIX:
                raise _Refused(f"there is no class {posix[0]}")
            return _complement(_POSIX[posix[2]]) if posix[1] else _POSIX[posix[2]]
        if perl := self.match(r"\\([dDwWsS])"):
            return _PERL[perl[1]]
        low = self.class_character()
        if not self.match(r"-(?!\])"):
            return _member(low)
        high = self.class_character()
        if high < low:
            raise _Refused(f"the range {low}-{high} is empty")
        return f"{_member(low)}-{_member(high)}"

    def class_character(self) -> str:
        taken = self.next()
        if not taken:
            raise _Refused("a ] is missing")
        return self.character() if taken == "\\" else taken


_REPETITION = r"(?:[*+?]|\{([0-9]+)(,([0-9]*))?\})\??"


def _joined(parts: list[_Part]) -> _Part:
    size = sum(part.size for part in parts)
    if size > _MOST_PARTS:
        raise _Refused("its repetitions expand to too much")
    return _Part(
        "".join(part.spelled for part in parts),
        size,
        max((part.repeats for part in parts), default=1),
    )


def _repeated(part: _Part, operator: re.Match[str]) -> _Part:
    """Return a repeated part; `operator` is a match of `_REPETITION`."""
    times = max([1, *(int(n) for n in (operator[1], operator[3]) if n)])
    if times * part.repeats > _MOST_REPEATS:
        raise _Refused(f"{operator[0]} repeats more than {_MOST_REPEATS} times")
    return _Part(part.spelled + operator[0], part.size * times, part.repeats * times)


def _folded(spelled: str, flags: frozenset[str]) -> str:
    return f"(?i:{spelled})" if "i" in flags else spelled


def _member(character: str) -> str:
    return f"\\{character}" if character in r"\[]^-&~|" else character


def _complement(ranges: str) -> str:
    """Return the ranges of all characters that are not in these ASCII ranges."""
    inside = re.compile(f"[{ranges}]")
    outside = [chr(c) for c in range(0x80) if not inside.match(chr(c))]
    return "".join(map(_member, outside)) + "\\x80-\U0010ffff"
