"""The few values of a uint32 column that need 64 bits, kept beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.table import Table

__all__ = ["WideValues"]


@dataclass(frozen=True, slots=True, eq=False)
class WideValues(Table):
    """Values that a column's 32 bits do not hold.

    `rows` (int64) are the column's rows, rising; `values` (int64) what belongs there.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.int64]

    def restore(self, column: NDArray[np.int64], rows: NDArray[np.integer]) -> None:
        """Put wide values into `column`, in place: its entries are those of `rows`."""
        if not len(self.rows) or not len(rows):
            return
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        wide = self.rows[at] == rows
        column[wide] = self.values[at[wide]]
