"""The test data of internal/trace, read in place from GOROOT: texts and fuzzed inputs.

`cases()` yields the traces of its ``*.test`` files, which are in text form, and what
Go's reader says of each; `fuzzed()` yields the inputs that Go's fuzzing found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import oracle
from .toolchains import run_go

_ESCAPE = re.compile(
    rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))"
)
_PLAIN = dict(
    zip(b"abfnrtv\\\"'", (bytes([c]) for c in b"\a\b\f\n\r\t\v\\\"'"), strict=True)
)


class Case(NamedTuple):
    """A trace of Go's tests: what Go's reader says, None for success, is a pattern."""

    name: str
    text: str
    failure: str | None

    @property
    def content(self) -> bytes:
        """The trace's bytes."""
        return oracle.encoded(self.text)


def cases(go: str | None = None) -> Iterator[Case]:
    """Yield the traces in ``internal/trace/testdata/tests``; needs Go."""
    for path in sorted(data(go).glob("tests/*.test")):
        expect, text = sections(path.read_text("utf-8"))
        words = expect.split(" ", 1)
        failure = unquoted(words[1].strip()).decode() if len(words) > 1 else None
        yield Case(path.stem, text, failure)


def fuzzed(go: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of what once broke Go's reader; needs Go."""
    for path in sorted(data(go).glob("fuzz/FuzzReader/*")):
        line = path.read_text("utf-8").splitlines()[1]
        yield path.name, unquoted(line.removeprefix("[]byte(").removesuffix(")"))


@cache
def data(go: str | None = None) -> Path:
    """Return the folder of Go's own test data; needs Go."""
    return Path(run_go("env", "GOROOT", go=go).strip()) / "src/internal/trace/testdata"


def sections(archive: str) -> tuple[str, str]:
    """Return the parts ``expect`` and ``trace`` of a txtar archive."""
    parts = re.split(r"^-- (?:expect|trace) --\n", archive, flags=re.MULTILINE)
    _, expect, rest = parts
    return expect.strip(), rest


def unquoted(literal: str) -> bytes:
    """Return the bytes of a Go string literal, interpreted or raw."""
    if literal[0] == "`":
        return literal[1:-1].replace("\r", "").encode()

    def plain(match: re.Match[bytes]) -> bytes:
        hexadecimal, octal, short, long, one = match.groups()
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        if octal:
            return bytes([int(octal, 8)])
        if short or long:
            return chr(int(short or long, 16)).encode()
        return _PLAIN[one[0]]

    return _ESCAPE.sub(plain, literal[1:-1].encode())
