"""Reused goroutine ids: each creation begins another incarnation.

A C thread that calls Go keeps one goroutine id for all its calls, and sequence numbers
restart at each creation. Timestamps assign events to incarnations.
"""

from __future__ import annotations

import numpy as np

from pprofdiff.loaders.traces.id_index import IdIndex
from pprofdiff.loaders.traces.owner_rows import first_of_each
from pprofdiff.loaders.traces.v2.effects import NUMBERED
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.model.arrays import Column, Integers

E = EventType
CREATES = (E.GO_CREATE, E.GO_CREATE_BLOCKED, E.GO_CREATE_SYSCALL)
STATUSES = (E.GO_STATUS, E.GO_STATUS_STACK)


class Incarnations:
    """The incarnations of goroutines in a generation.

    `rows` (int64) are the events from which keys count: creations, and the statuses of
    goroutines that existed before. `owners` (int32) are their goroutines. `mask`
    selects the bits of a key that count within an incarnation.
    """

    def __init__(self, events: Events, goroutines: IdIndex) -> None:
        rows = events.where(*CREATES, *STATUSES)
        owners = goroutines.require(events.argument(0, rows))
        creates = np.isin(events.type[rows], CREATES)
        mentions = np.bincount(owners, minlength=len(goroutines))
        born = np.zeros(len(goroutines), np.bool_)
        born[owners[creates]] = True
        self._time = events.time
        self._several = born & (mentions > 1)
        self._creations = rows[creates & self._several[owners]]
        self._creators = owners[creates & self._several[owners]]
        self._bits = int(len(events.type) + NUMBERED).bit_length()
        self.mask = (1 << self._bits) - 1 if len(self._creations) else -1
        # A status after a creation in this generation adds nothing.
        first = creates | (self._ordinal(owners, rows) == 0)
        self.rows, self.owners = rows[first], owners[first]

    def key(self, owner: Integers, key: Integers, rows: Integers) -> Integers:
        """Return keys (see `effects`) that order later incarnations after earlier ones.

        `owner` are goroutines, `rows` their events, and `key` their keys within an
        incarnation, which remain in the bits of `mask`.
        """
        if not len(self._creations):
            return key
        return key + (self._ordinal(owner, rows) << self._bits)

    def _ordinal(self, owner: Integers, rows: Integers) -> Column:
        ordinal = np.zeros(len(owner), np.int64)
        some = np.flatnonzero(self._several[owner] & (owner >= 0))
        if not len(some):
            return ordinal
        row = np.concatenate((self._creations, rows[some]))
        goroutine = np.concatenate((self._creators, owner[some]))
        begins = np.zeros(len(row), np.int64)
        begins[: len(self._creations)] = 1
        # A creation counts before the same row among the events.
        order = np.lexsort((1 - begins, row, self._time[row], goroutine))
        count = np.cumsum(begins[order])
        goroutine = goroutine[order]
        first = np.flatnonzero(first_of_each(goroutine))
        before = count[first] - begins[order][first]
        count -= np.repeat(before, np.diff(first, append=len(goroutine)))
        places = np.empty(len(row), np.int64)
        places[order] = count
        ordinal[some] = places[len(self._creations) :]
        return ordinal
