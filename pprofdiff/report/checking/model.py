"""A contradiction, and what finding one in sentences and in tables needs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose
from typing import NamedTuple

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.wording import Span
from pprofdiff.errors import ContradictionError

ROUNDING = 1e-6
"""Sums in floating point are off by less, relative to their parts."""


class Contradiction(NamedTuple):
    """One contradiction: what is checked, and the sentence or row with its numbers."""

    check: str
    text: str

    def __str__(self) -> str:
        """Return both on one line."""
        return f"{self.check}: {self.text}"


def check(found: Sequence[Contradiction]) -> None:
    """Raise ContradictionError for any contradictions."""
    if found:
        raise ContradictionError("; ".join(map(str, found)))


def title_spans(finding: Finding) -> list[Span]:
    """Return the numbers of a title: those that come first."""
    found, at = [], 0
    for span in finding.spans:
        at = finding.title.find(span.text, at)
        if at < 0:
            break
        found.append(span)
        at += len(span.text)
    return found


def near(one: float, other: float) -> bool:
    """Return whether two numbers are equal but for rounding."""
    return isclose(one, other, rel_tol=ROUNDING, abs_tol=1e-9)
