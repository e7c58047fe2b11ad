"""The few values of a uint32 column that need 64 bits, stored separately."""

from __future__ import annotations

import numpy as np

from pprofdiff.model.arrays import Column, Integers
from pprofdiff.model.table import Table


class WideValues(Table, frozen=True):
    """Values (int64) that do not fit in 32 bits, and their rows (int64, increasing)."""

    rows: Column
    values: Column

    def restore(self, column: Column, rows: Integers) -> None:
        """Write wide values in place into `column`, the entries of `rows`."""
        if not len(self.rows) or not len(rows):
            return
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        wide = self.rows[at] == rows
        column[wide] = self.values[at[wide]]
