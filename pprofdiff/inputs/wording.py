"""How this package's messages write names and sizes."""

from __future__ import annotations

from pprofdiff.units import printable


def shortened(text: str, limit: int) -> str:
    """Return `text` on one line, truncated to `limit` characters."""
    shown = printable(text)
    return f"{shown[:limit]}…" if len(shown) > limit else shown


def size_text(size: int) -> str:
    """Return a number of bytes in the largest binary unit that it fills."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.4g} {unit}"
    return f"{size} bytes"


def too_large(name: str, size: int) -> str:
    """Return the message for an input that exceeds `--max-size`."""
    return f"{name}: holds more than {size_text(size)}; raise --max-size to read it"
