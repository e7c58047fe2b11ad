"""Names of the arrays that tables are made of, and tables: one row per item."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Self, get_args, get_type_hints

import numpy as np
from msgspec import Struct
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


@cache
def dtypes_of(table: type[Struct]) -> tuple[type[np.generic], ...]:
    """Return the dtype that each field of a class is annotated with, in order."""
    arrays = get_type_hints(table)
    dtypes = (get_args(arrays[name])[-1] for name in table.__struct_fields__)
    return tuple(get_args(dtype)[0] for dtype in dtypes)


class Table(Struct, frozen=True, eq=False):
    """Columns of equal length; each field of a subclass is one numpy array."""

    @classmethod
    def none(cls) -> Self:
        """Return a table without rows."""
        return cls(*(np.zeros(0, dtype) for dtype in dtypes_of(cls)))

    def __len__(self) -> int:
        return len(getattr(self, self.__struct_fields__[0]))

    def take(self, rows: Integers | Mask) -> Self:
        """Return a new table with copies of the chosen rows (indices, or a mask)."""
        columns = (getattr(self, name)[rows] for name in self.__struct_fields__)
        return type(self)(*columns)

    @classmethod
    def concatenate(cls, tables: Sequence[Self]) -> Self:
        """Return the rows of some tables, in the order given."""
        if not tables:
            return cls.none()
        return cls(
            *(
                np.concatenate([getattr(table, name) for table in tables])
                for name in cls.__struct_fields__
            )
        )
