"""Hunks that only name functions otherwise: renamed ones, or methods made functions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pprofdiff.analysis.source.text import PHRASE, plain_lines
from pprofdiff.model.source import Hunk, SourceText

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
