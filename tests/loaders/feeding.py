"""What incremental readers find in blocks."""

from __future__ import annotations


def fed(make, *blocks):
    """Return what a reader, made by `make`, finds in blocks."""
    reader = make()
    for block in blocks:
        reader.feed(block)
    return reader.close()
