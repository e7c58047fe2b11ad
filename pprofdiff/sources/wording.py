"""How names and sizes are written in this package's messages."""

from __future__ import annotations


def printable(text: str, limit: int = 0) -> str:
    """Return `text` on one line: control characters escaped, cut to `limit` if any.

    File names and servers' answers reach a terminal through here.
    """
    shown = "".join(c if c.isprintable() else _escaped(c) for c in text)
    return f"{shown[:limit]}…" if 0 < limit < len(shown) else shown


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def size_text(size: int) -> str:
    """Return a number of bytes in the largest binary unit it fills."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.4g} {unit}"
    return f"{size} bytes"


def too_large(name: str, size: int) -> str:
    """Return the message for an input that exceeds `--max-size`."""
    return f"{name}: holds more than {size_text(size)}; raise --max-size to read it"
