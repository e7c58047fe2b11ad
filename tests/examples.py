"""How many examples a property is tried on: all with ``--whole``, else a quarter."""

from __future__ import annotations

import hypothesis

__all__ = ["examples"]


def examples(whole: int) -> int:
    """Return the number of examples for this session, `whole` of them with ``--whole``."""
    return max(whole * hypothesis.settings.default.max_examples // 100, 10)
