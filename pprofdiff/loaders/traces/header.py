"""The 16-byte header of all trace formats: ``go 1.NN trace`` and zeros."""

from __future__ import annotations

HEADER_BYTES = 16


def version_of(data: bytes) -> int | None:
    """Return NN from the header ``go 1.NN trace``, or None for other data."""
    head = data[:HEADER_BYTES]
    words = head.rstrip(b"\0").split(b" ")
    if len(head) < HEADER_BYTES or len(words) != 3 or words[::2] != [b"go", b"trace"]:
        return None
    major, _, minor = words[1].partition(b".")
    return int(minor) if major == b"1" and minor.isdigit() else None
