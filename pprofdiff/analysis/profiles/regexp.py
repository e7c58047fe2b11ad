r"""Go's regular expressions (RE2 syntax), translated to those of Python's `re`.

What Go reads differently is written out (``$``, ``\s``, ``[[:alpha:]]``, ``\z``,
``\Q…\E``, flags in mid-pattern); what Go refuses is refused here too
(https://pkg.go.dev/regexp/syntax).

Limits:

- A pattern only tells whether a text has a match: groups do not capture, and greedy
  and lazy repetition are the same.
- Unicode classes (``\p{…}``, ``\P{…}``, ``\pL``) are refused, for `re` has none.
- Ignoring case (``(?i)``) follows Python's tables of Unicode, not Go's.
- `re` searches with backtracking: a pattern such as ``(a*)*b`` may take time that is
  exponential in the length of a text, where Go's takes linear time.

RE2 itself has a Python package (google-re2), which has no wheel for musl, the C library
of Alpine Linux and of the image ``golang:alpine``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pprofdiff.errors import UsageError

__all__ = ["Matches", "matcher"]

Matches = Callable[[str], bool]

# Sets by the letter that names them: ranges, as they stand between brackets.
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
# Places in the text; grouped, since Python repeats no bare assertion.
_PLACES = {"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?a:\B)"}
# Bare characters: the flag that changes them, with it, without it.
_BARE = {
    ".": ("s", "(?s:.)", "[^\\n]"),
    "^": ("m", "(?m:^)", _PLACES["A"]),
    "$": ("m", "(?m:$)", _PLACES["z"]),
}
_MOST_REPEATS = 1000


def matcher(pattern: str, option: str) -> Matches:
    r"""Return a function that tells whether a text has a match of the pattern.

    It answers as Go's `regexp.MatchString` does.

    Parameters
    ----------
    pattern
        A regular expression in the syntax of Go.
    option
        The word for the pattern in errors.

    Raises
    ------
    UsageError
        Go refuses the pattern, or it has a Unicode class (``\p{…}``).

    """
    try:
        compiled = re.compile(_Reader(pattern).all())
    except (_Refused, re.error, OverflowError, ValueError) as error:
        raise UsageError(
            f"{option}: {pattern!r} is not a regular expression of Go: {error}"
        ) from error
    return lambda text: compiled.search(text) is not None


class _Refused(Exception):  # noqa: N818 - never leaves this module
    """Why a pattern cannot be used."""


class _Reader:
    """One pattern, read from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def all(self) -> str:
        """Return the whole pattern in Python's spelling."""
        out = self.alternatives(frozenset())
        if self.at < len(self.pattern):
            raise _Refused("there is a ) too many")
        return out

    def next(self, size: int = 1) -> str:
        """Take characters; fewer if the pattern ends."""
        taken = self.pattern[self.at : self.at + size]
        self.at += len(taken)
        return taken

    def starts(self, text: str) -> bool:
        """Return whether the rest begins with the text, and take it if so."""
        begins = self.pattern.startswith(text, self.at)
        self.at += len(text) * begins
        return begins

    def match(self, expression: str) -> re.Match[str] | None:
        """Match the rest, and take what matched."""
        match = re.compile(expression).match(self.pattern, self.at)
        if match:
            self.at = match.end()
        return match

    def alternatives(self, flags: frozenset[str]) -> str:
        """Read up to the end or an unmatched parenthesis."""
        out: list[str] = []
        repeatable = False
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.starts("|"):
                out.append("|")
                repeatable = False
            elif changed := self.match(r"\(\?([imsU]*)(?:-([imsU]+))?\)"):
                flags = (flags | set(changed[1])) - set(changed[2] or "")
            elif repeat := self.repetition():
                if not repeatable:
                    raise _Refused(f"nothing to repeat before {repeat}")
                out.append(repeat)
                repeatable = False
            else:
                out.append(self.atom(flags))
                repeatable = True
        return "".join(out)

    def repetition(self) -> str:
        """Read one repetition operator, or nothing."""
        operator = self.match(r"(?:[*+?]|\{([0-9]+)(,([0-9]*))?\})\??")
        if not operator:
            return ""
        if any(int(n) > _MOST_REPEATS for n in (operator[1], operator[3]) if n):
            raise _Refused(f"{operator[0]} repeats more than {_MOST_REPEATS} times")
        return operator[0]

    def atom(self, flags: frozenset[str]) -> str:
        """Read one character, class, group or place."""
        taken = self.next()
        if taken == "(":
            return self.group(flags)
        if taken == "[":
            return _folded(self.brackets(), flags)
        if taken == "\\":
            return self.escape(flags)
        if taken in _BARE:
            flag, with_flag, without = _BARE[taken]
            return with_flag if flag in flags else without
        return _folded(re.escape(taken), flags)

    def group(self, flags: frozenset[str]) -> str:
        """Read a group, after its opening parenthesis."""
        if self.match(r"\?P?<[A-Za-z0-9_]+>") is None and self.starts("?"):
            changed = self.match(r"([imsU]*)(?:-([imsU]+))?:")
            if changed is None:
                raise _Refused("Go has no such group as (?" + self.next())
            flags = (flags | set(changed[1])) - set(changed[2] or "")
        inner = self.alternatives(flags)
        if not self.starts(")"):
            raise _Refused("a ) is missing")
        return f"(?:{inner})"

    def escape(self, flags: frozenset[str]) -> str:
        """Read what follows a backslash outside brackets."""
        if self.starts("Q"):
            quoted = self.match(r"(?s:(.*?)(?:\\E|\Z))")
            return "".join(
                _folded(re.escape(c), flags) for c in (quoted[1] if quoted else "")
            )
        letter = self.pattern[self.at : self.at + 1]
        if letter in _PLACES and letter:
            return _PLACES[self.next()]
        if letter in _PERL and letter:
            return f"[{_PERL[self.next()]}]"
        return _folded(re.escape(self.character()), flags)

    def character(self) -> str:
        """Read the character that an escape stands for, after its backslash."""
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
            raise _Refused(f"Go has no escape \\{letter}")
        return letter

    def brackets(self) -> str:
        """Read a character class, after its opening bracket."""
        out = ["[", "^" * self.starts("^")]
        first = True
        while first or not self.starts("]"):
            if self.at >= len(self.pattern):
                raise _Refused("a ] is missing")
            first = False
            out.append(self.member())
        return "".join(out) + "]"

    def member(self) -> str:
        """Read one set, character or range of a character class."""
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
        """Read one character of a class, escaped or not."""
        taken = self.next()
        if not taken:
            raise _Refused("a ] is missing")
        return self.character() if taken == "\\" else taken


def _folded(spelled: str, flags: frozenset[str]) -> str:
    """Return the atom, ignoring case if the flags say so."""
    return f"(?i:{spelled})" if "i" in flags else spelled


def _member(character: str) -> str:
    """Return a character as it stands between brackets."""
    return f"\\{character}" if character in r"\[]^-&~|" else character


def _complement(ranges: str) -> str:
    """Return the ranges of all ASCII characters that are not in these, and the rest."""
    inside = re.compile(f"[{ranges}]")
    outside = [chr(c) for c in range(0x80) if not inside.match(chr(c))]
    return "".join(map(_member, outside)) + "\\x80-\U0010ffff"
