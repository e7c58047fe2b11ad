"""How much a session tries: all with ``--whole``, else a part that has every kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import hypothesis
import pytest


def whole() -> bool:
    """Tell whether this session tries all."""
    return hypothesis.settings.default.max_examples >= 100


def examples(most: int) -> int:
    """Return the number of examples for this session, `most` of them with ``--whole``."""
    return max(most * hypothesis.settings.default.max_examples // 100, 10)


def daily(
    cases: Iterable[object], kept: Collection[object], *, rows: bool = True
) -> list[object]:
    """Return cases as parameters: those in `kept` always, others only with ``--whole``.

    A tuple is a row of several parameters, one value where `rows` is false.
    """
    return [
        case
        if case in kept
        else pytest.param(
            *(case if rows and isinstance(case, tuple) else (case,)),
            marks=pytest.mark.whole,
        )
        for case in cases
    ]
