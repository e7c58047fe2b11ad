"""The base class of tables: frozen structs of numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from msgspec import Struct

from pprofdiff.model.arrays import Integers, Mask


class Table(Struct, frozen=True, eq=False):
    """Columns of equal length; each field of a subclass is one numpy array."""

    def __len__(self) -> int:
        return len(getattr(self, self.__struct_fields__[0]))

    def take(self, rows: Integers | Mask) -> Self:
        """Return a new table with copies of the chosen rows (indices, or a mask)."""
        columns = (getattr(self, name)[rows] for name in self.__struct_fields__)
        return type(self)(*columns)

    @classmethod
    def concatenate(cls, tables: Sequence[Self]) -> Self:
        """Return the rows of one or more tables, in the order given."""
        return cls(
            *(
                np.concatenate([getattr(table, name) for table in tables])
                for name in cls.__struct_fields__
            )
        )
