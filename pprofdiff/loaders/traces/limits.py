"""Bounds that any trace has to keep, whatever its format."""

from __future__ import annotations

__all__ = ["LATEST_TIME", "MOST_PROCESSORS"]

# Processors are int16 in the model.
MOST_PROCESSORS = 1 << 15
# Nanoseconds (or ticks) that leave room for sums in int64: 146 years.
LATEST_TIME = 1 << 62
