"""Events that move no goroutine: ranges, tasks, regions, logs, labels and metrics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.context import Context
from pprofdiff.loaders.traces.events import Events
from pprofdiff.loaders.traces.lives import Lives
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.order import SAID, Chain, Links, chained
from pprofdiff.loaders.traces.schema import MOST_PROCESSORS, Kind
from pprofdiff.loaders.traces.strings import Places

__all__ = [
    "METRICS",
    "Marks",
    "Metrics",
    "read_marks",
    "read_metrics",
]

K = Kind
METRICS = (K.HEAP_ALLOC, K.HEAP_GOAL, K.PROCS_CHANGE)

# Which arguments of a type are: an id or number, another, a name, a text, a stack.
_SHAPES: dict[Kind, str] = {
    K.STW_BEGIN: "ns",
    K.STW_END: "",
    K.GC_ACTIVE: "i",
    K.GC_BEGIN: "is",
    K.GC_END: "i",
    K.SWEEP_ACTIVE: "i",
    K.SWEEP_BEGIN: "s",
    K.SWEEP_END: "io",
    K.ASSIST_ACTIVE: "i",
    K.ASSIST_BEGIN: "s",
    K.ASSIST_END: "",
    K.GO_LABEL: "n",
    K.TASK_BEGIN: "ions",
    K.TASK_END: "is",
    K.REGION_BEGIN: "ins",
    K.REGION_END: "ins",
    K.LOG: "ints",
}
_STOPS = (K.STW_BEGIN, K.STW_END)
_ASSISTS = (K.ASSIST_BEGIN, K.ASSIST_END)
_OF_GOROUTINE = (*_STOPS, *_ASSISTS, K.REGION_BEGIN, K.REGION_END, K.GO_LABEL)
_OF_PROCESSOR = (K.SWEEP_BEGIN, K.SWEEP_END)
_OF_NOBODY = (K.GC_BEGIN, K.GC_END, K.GC_ACTIVE, K.TASK_BEGIN, K.TASK_END, K.LOG)


class Metrics(NamedTuple):
    """Values at times (int64), of one of `METRICS` (uint8), in no order."""

    kind: NDArray[np.uint8]
    time: NDArray[np.int64]
    value: NDArray[np.int64]


class Marks(NamedTuple):
    """One row an event, each owner's in the order they happened.

    `owner` (int32) is the goroutine or processor a range, region or label belongs to, 0
    for what is the program's. `id`, `other`, `name`, `text` and `stack` are the
    arguments, 0 where the type has none; `since` is when the generation began.
    """

    kind: NDArray[np.uint8]
    time: NDArray[np.int64]
    since: NDArray[np.int64]
    owner: NDArray[np.int32]
    goroutine: NDArray[np.int32]
    processor: NDArray[np.int16]
    id: NDArray[np.int64]
    other: NDArray[np.int64]
    name: NDArray[np.int32]
    text: NDArray[np.int32]
    stack: NDArray[np.int32]

    def timed(self, events: Events) -> Marks:
        """Return the marks with the times of their rows, nobody's by time."""
        held = self._replace(time=events.time[self.time])
        nobody = np.isin(held.kind, _OF_NOBODY)
        order = np.arange(len(held.time))
        free = np.flatnonzero(nobody)
        order[free] = free[np.argsort(held.time[free], kind="stable")]
        return Marks._make(column[order] for column in held)


def read_metrics(events: Events) -> Metrics:
    """Return what a generation says of heap and GOMAXPROCS, rows in place of times.

    Raises Damage where GOMAXPROCS is no number of processors.
    """
    rows = events.where(*METRICS)
    kind, value = events.kind[rows], events.argument(0, rows)
    limits = value[kind == K.PROCS_CHANGE]
    if len(limits) and not 0 < int(limits.min()) <= int(limits.max()) < MOST_PROCESSORS:
        raise Damage("a GOMAXPROCS that there cannot be")
    return Metrics(kind, rows, value)


def read_marks(
    events: Events,
    context: Context,
    numberings: tuple[Numbering, Numbering],
    lives: Lives,
    tables: tuple[Places, Places],
    since: int,
) -> Marks:
    """Return a generation's marks, with rows in place of times.

    `numberings` are those of goroutines and processors, `tables` strings and stacks.
    """
    goroutines, processors = numberings
    row, owner = _ordered(events, context, goroutines, processors, lives)
    kind = events.kind[row]
    columns = {letter: np.zeros(len(row), np.int64) for letter in "ionts"}
    for one, shape in _SHAPES.items():
        some = np.flatnonzero(kind == one)
        for place, letter in enumerate(shape) if len(some) else ():
            columns[letter][some] = events.argument(place, row[some])
    strings, stacks = tables
    return Marks(
        kind=kind,
        time=row,
        since=np.full(len(row), since, np.int64),
        owner=owner,
        goroutine=context.goroutine[row],
        processor=context.processor[row],
        id=columns["i"],
        other=columns["o"],
        name=strings(columns["n"]),
        text=strings(columns["t"]),
        stack=stacks(columns["s"]),
    )


def _ordered(
    events: Events,
    context: Context,
    goroutines: Numbering,
    processors: Numbering,
    lives: Lives,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the rows of marks, each owner's in order, and their owners."""
    own = events.where(*_OF_GOROUTINE)
    owner = context.goroutine[own]
    said = events.where(K.ASSIST_ACTIVE)
    chain = _chain(
        [
            _links(own, owner, lives.key(owner, context.goroutine_key[own], own)),
            _links(said, goroutines.known(events.argument(0, said)), None),
        ],
        len(goroutines),
        events,
    )
    sweeps = events.where(*_OF_PROCESSOR)
    active = events.where(K.SWEEP_ACTIVE)
    swept = _chain(
        [
            _links(sweeps, context.processor[sweeps], context.processor_key[sweeps]),
            _links(active, processors.known(events.argument(0, active)), None),
        ],
        len(processors),
        events,
    )
    rest = events.where(*_OF_NOBODY)
    nobody = np.zeros(len(rest), np.int32)
    row = np.concatenate((chain.event, swept.event, rest))
    return row, np.concatenate((chain.owner - 1, swept.owner - 1, nobody))


def _chain(links: list[Links], owners: int, events: Events) -> Chain:
    """Return the rows of all links in order."""
    most = sum(len(group.owner) for group in links)
    order = chained(links, owners + 1, len(events.kind), most)
    return order.rows(0, len(order))


def _links(
    rows: NDArray[np.int64],
    owner: NDArray[np.integer],
    key: NDArray[np.integer] | None,
) -> Links:
    """Return rows of owners, numbered from 1 so that nobody's come first."""
    said = np.full(len(rows), SAID, np.int64)
    return Links(owner.astype(np.int64) + 1, said if key is None else key, rows)
