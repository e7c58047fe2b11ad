"""The base class of the frozen dataclasses that hold a trace's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from pprofdiff.model.arrays import Integers, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length; each field of a subclass is one numpy array."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def take(self, rows: Integers | Mask) -> Self:
        """Return a new table with copies of the chosen rows (indices, or a mask)."""
        columns = (getattr(self, field.name)[rows] for field in fields(self))
        return type(self)(*columns)

    @classmethod
    def concatenate(cls, tables: Sequence[Self]) -> Self:
        """Return the rows of one or more tables, in the order given."""
        return cls(
            *(
                np.concatenate([getattr(table, field.name) for table in tables])
                for field in fields(cls)
            )
        )
