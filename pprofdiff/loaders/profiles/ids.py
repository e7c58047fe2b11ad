"""Map ids of profile.proto, dense or sparse, to positions in a table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pprofdiff.errors import DamagedError
from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import distinct


class Ids:
    """The ids that one table of profile.proto defines, and the row of each.

    `ids`: the id of each row. `noun`: the word for a row in errors: mapping, function
    or location. `fault`: makes the error for an inconsistent file.

    Raises DamagedError: an id is 0, or defined twice.
    """

    def __init__(
        self,
        ids: list[int] | NDArray[np.uint64],
        noun: str,
        fault: Callable[[str], DamagedError],
    ) -> None:
        self.ids = np.asarray(ids, np.uint64)
        self.noun = noun
        self.fault = fault
        top = int(self.ids.max()) if len(self.ids) else 0
        # Go numbers its tables 1, 2, 3: then an id is its position plus one.
        counted = np.arange(1, len(self.ids) + 1, dtype=np.uint64)
        self.in_order = bool((self.ids == counted).all())
        self.order: Column | None = None
        self.table = np.zeros(0, np.int32)
        if top <= 4 * len(self.ids) + 1024:
            self.table = np.full(top + 2, -1, np.int32)
            self.table[self.ids] = np.arange(len(self.ids), dtype=np.int32)
            known = int((self.table >= 0).sum())
        else:
            self.order = np.argsort(self.ids, kind="stable")
            known = len(distinct(self.ids))
        if (self.ids == 0).any():
            raise fault(f"it defines a {noun} of id 0, which means none")
        if known != len(self.ids):
            raise fault(
                f"it defines the same {noun} twice; "
                "if two profiles were joined, pass them as two files"
            )

    def lenient(self, wanted: NDArray[np.unsignedinteger]) -> Index:
        """Return positions (int32), -1 for ids that the table does not define."""
        if self.in_order:
            # Unsigned: 0 - 1 wraps to the largest number, which is not in the table.
            places = wanted - wanted.dtype.type(1)
            known = places.astype(np.int32)
            if len(places) and int(places.max()) >= len(self.ids):
                known[places >= len(self.ids)] = -1
            return known
        if self.order is None:
            last = len(self.table) - 1
            positions: Index = self.table[np.minimum(wanted, wanted.dtype.type(last))]
            return positions
        ranked = self.ids[self.order]
        at = np.minimum(np.searchsorted(ranked, wanted), len(ranked) - 1)
        defined = ranked[at] == wanted
        return np.where(defined, self.order[at], -1).astype(np.int32)

    def strict(self, wanted: NDArray[np.unsignedinteger], referrer: str) -> Index:
        """Return positions (int32); raises DamagedError for an undefined id.

        `referrer` is the referring thing in the error, such as ``a sample``.
        """
        positions = self.lenient(wanted)
        if len(positions) and int(positions.min()) < 0:
            missing = int(wanted[int(positions.argmin())])
            raise self.fault(
                f"{referrer} refers to {self.noun} {missing}, which it does not define"
            )
        return positions
