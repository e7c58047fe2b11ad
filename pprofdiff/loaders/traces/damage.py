"""What readers raise where a trace is damaged; `decode` keeps what came before it."""

from __future__ import annotations

__all__ = ["Damage"]


class Damage(Exception):  # noqa: N818 - not an error by itself: what came before counts
    """A part of a trace cannot be read; the text says why, in a few words.

    In a trace of Go 1.22 or later the part is a generation. It ends reading, but not
    `decode`, which returns the generations before it; a user meets the text as
    `model.traces.trace.Missing.why` or at the end of a `FormatError`.
    """
