"""Lives of goroutines: what C calls back with has one id again and again.

Sequence numbers count anew with every life. Where a generation sees a goroutine created
that it knew before, its events are told apart by when they happened.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.events import Events
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.order import NUMBERED
from pprofdiff.loaders.traces.schema import Kind

__all__ = ["CREATES", "STATUSES", "Lives"]

K = Kind
CREATES = (K.GO_CREATE, K.GO_CREATE_BLOCKED, K.GO_CREATE_SYSCALL)
STATUSES = (K.GO_STATUS, K.GO_STATUS_STACK)


class Lives:
    """The statuses and creations of a generation, and whose life each event is of.

    `rows` (int64) are those events, `owners` (int32) their goroutines.
    """

    def __init__(self, events: Events, goroutines: Numbering) -> None:
        """Take a generation's events; times need not be settled."""
        rows = events.where(*CREATES, *STATUSES)
        owners = goroutines.known(events.argument(0, rows))
        creates = np.isin(events.kind[rows], CREATES)
        begun = np.bincount(owners, minlength=len(goroutines))
        born = np.zeros(len(goroutines), np.bool_)
        born[owners[creates]] = True
        self._time = events.time
        self._several = born & (begun > 1)
        self._creations = rows[creates & self._several[owners]]
        self._creators = owners[creates & self._several[owners]]
        self._bits = int(len(events.kind) + NUMBERED).bit_length()
        self.mask = (1 << self._bits) - 1 if len(self._creations) else -1
        # A status within a life whose begin is seen tells nothing.
        tells = creates | (self._of(owners, rows) == 0)
        self.rows, self.owners = rows[tells], owners[tells]

    def key(
        self,
        owner: NDArray[np.integer],
        key: NDArray[np.integer],
        rows: NDArray[np.integer],
    ) -> NDArray[np.integer]:
        """Return keys as of `order.Links`, those of later lives above earlier ones.

        Below that, in the bits of `mask`, they are what they were.
        """
        if not len(self._creations):
            return key
        return key + (self._of(owner, rows) << self._bits)

    def _of(
        self, owner: NDArray[np.integer], rows: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Return how often its goroutine was created up to each event."""
        life = np.zeros(len(owner), np.int64)
        some = np.flatnonzero(self._several[owner] & (owner >= 0))
        if not len(some):
            return life
        row = np.concatenate((self._creations, rows[some]))
        whose = np.concatenate((self._creators, owner[some]))
        begins = np.zeros(len(row), np.int64)
        begins[: len(self._creations)] = 1
        # A creation comes before itself as one of the events.
        order = np.lexsort((1 - begins, row, self._time[row], whose))
        count = np.cumsum(begins[order])
        whose = whose[order]
        first = np.flatnonzero(np.append(True, whose[1:] != whose[:-1]))
        before = count[first] - begins[order][first]
        count -= np.repeat(before, np.diff(first, append=len(whose)))
        places = np.empty(len(row), np.int64)
        places[order] = count
        life[some] = places[len(self._creations) :]
        return life
