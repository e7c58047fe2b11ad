"""Names of the arrays that tables are made of; each has one row per item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
"""Times, amounts, and rows of other tables."""
Index = NDArray[np.int32]
"""Positions in a table; -1 is none."""
Codes = NDArray[np.uint8]
"""Members of an enumeration."""
Mask = NDArray[np.bool_]
"""Which rows."""
Integers = NDArray[np.integer]
"""Integers of any size."""
