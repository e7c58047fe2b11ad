"""Read generations into clocks, tables and events, not yet ordered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pprofdiff.loaders.traces.interning import Interner
from pprofdiff.loaders.traces.v2.batches import generations
from pprofdiff.loaders.traces.v2.event_finder import EventFinder
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.reading import event_batches, read_events
from pprofdiff.loaders.traces.v2.schema import argument_counts
from pprofdiff.loaders.traces.v2.strings import ReasonCodes
from pprofdiff.loaders.traces.v2.tables import GenerationTables, read_tables


class ReadGeneration(NamedTuple):
    """A generation as read; `stop` is the byte of the file after it."""

    tables: GenerationTables
    events: Events
    stop: int


class GenerationReader:
    """Reads the generations of a file; `interner` and `reasons` accumulate."""

    def __init__(self, data: bytes, version: int) -> None:
        self.interner = Interner()
        self.reasons = ReasonCodes()
        self._data = data
        self._version = version
        self._finder = EventFinder(argument_counts(version))

    def __iter__(self) -> Iterator[ReadGeneration]:
        data = self._data
        for generation in generations(data, self._version):
            tables = read_tables(data, generation, self._version, self.interner)
            batches = event_batches(data, generation.batches)
            events = read_events(data, batches, self._finder, tables, self.reasons)
            yield ReadGeneration(tables, events, generation.stop)
            # Free this generation before reading the next.
            del tables, events
