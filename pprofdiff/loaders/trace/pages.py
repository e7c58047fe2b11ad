"""Memory of its own for columns that are kept while much else comes and goes.

The C library serves arrays of some megabytes from one heap once it has seen such come
and go. What is kept between them then holds the heap open: of a long trace, decoding
left behind as much unused memory as the result takes.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["empty"]

# Smaller arrays are not worth pages of their own.
_FEWEST_BYTES = 1 << 16
_PRIVATE = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    if hasattr(mmap, "MAP_ANONYMOUS")
    else {}
)


def empty(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array whose memory goes back to the system when it is dropped.

    What is never written to takes none.
    """
    kind = np.dtype(dtype)
    if size * kind.itemsize < _FEWEST_BYTES:
        return np.empty(size, kind)
    return np.frombuffer(mmap.mmap(-1, size * kind.itemsize, **_PRIVATE), kind, size)
