"""What to know before trusting a result."""

from __future__ import annotations

from typing import NamedTuple


class Caveat(NamedTuple):
    """One caveat: a stable `id`, and `text`, a sentence for the reader."""

    id: str
    text: str
