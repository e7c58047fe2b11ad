"""The exception for a damaged trace; `decode` keeps what precedes the damage."""

from __future__ import annotations


class Damage(Exception):  # noqa: N818 - not an error by itself: what came before counts
    """A part of a trace cannot be read; the text briefly says why.

    In a trace of Go 1.22 or later the part is a generation, and the generations before
    it are read.
    """
