"""What no trace has: the exception for damage, and the bounds of values."""

from __future__ import annotations

# Ps are int16 in the model.
MOST_PROCESSORS = 1 << 15
# Nanoseconds (or ticks): 146 years, so sums fit in int64.
LATEST_TIME = 1 << 62


class Damage(Exception):  # noqa: N818 - not an error by itself: what came before counts
    """A part of a trace cannot be read; the text briefly says why.

    In a trace of Go 1.22 or later the part is a generation, and the generations before
    it are read.
    """
