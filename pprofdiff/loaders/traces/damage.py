"""What every trace has, a header, and what none has: damage, values out of bounds."""

from __future__ import annotations

# Ps are int16 in the model.
MOST_PROCESSORS = 1 << 15
# Nanoseconds (or ticks): 146 years, so sums fit in int64.
LATEST_TIME = 1 << 62
HEADER_BYTES = 16


class Damage(Exception):  # noqa: N818 - not an error by itself: what came before counts
    """A part of a trace cannot be read; the text briefly says why.

    In a trace of Go 1.22 or later the part is a generation, and the generations before
    it are read.
    """


def version_of(data: bytes) -> int | None:
    """Return NN from the header ``go 1.NN trace``, or None for other data."""
    head = data[:HEADER_BYTES]
    words = head.rstrip(b"\0").split(b" ")
    if len(head) < HEADER_BYTES or len(words) != 3 or words[::2] != [b"go", b"trace"]:
        return None
    major, _, minor = words[1].partition(b".")
    return int(minor) if major == b"1" and minor.isdigit() else None
