"""Bounds for traces of any format."""

from __future__ import annotations

# Ps are int16 in the model.
MOST_PROCESSORS = 1 << 15
# Nanoseconds (or ticks): 146 years, so sums fit in int64.
LATEST_TIME = 1 << 62
