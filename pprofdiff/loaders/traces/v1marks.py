"""What moves no goroutine in a trace of Go 1.11 to 1.21: ranges, tasks, samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.marks import Marks
from pprofdiff.loaders.traces.schema import Kind
from pprofdiff.loaders.traces.strings import Interned
from pprofdiff.loaders.traces.v1columns import Footer
from pprofdiff.loaders.traces.v1rows import BEGIN_NS, Scene
from pprofdiff.loaders.traces.v1schema import V1, stop_kinds
from pprofdiff.model.traces.marks import CPUSamples, Labels, Logs, Series

__all__ = ["Texts", "labels_of", "logs_of", "marks_of", "samples_of", "series_of"]

# What a type is in traces of Go 1.22 and later.
_KINDS = {
    V1.GC_START: Kind.GC_BEGIN,
    V1.GC_DONE: Kind.GC_END,
    V1.STW_START: Kind.STW_BEGIN,
    V1.STW_DONE: Kind.STW_END,
    V1.SWEEP_START: Kind.SWEEP_BEGIN,
    V1.SWEEP_DONE: Kind.SWEEP_END,
    V1.ASSIST_START: Kind.ASSIST_BEGIN,
    V1.ASSIST_DONE: Kind.ASSIST_END,
    V1.TASK_CREATE: Kind.TASK_BEGIN,
    V1.TASK_END: Kind.TASK_END,
    V1.REGION: Kind.REGION_BEGIN,
}
_BY_PROCESSOR = (V1.SWEEP_START, V1.SWEEP_DONE)
_BY_GOROUTINE = (V1.STW_START, V1.STW_DONE, V1.ASSIST_START, V1.ASSIST_DONE, V1.REGION)


class Texts(NamedTuple):
    """The places of strings, by their ids in the file: rising ids, and places."""

    ids: NDArray[np.int64]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, strings: dict[int, str], interned: Interned) -> Texts:
        """Return the strings of a file, put among the others."""
        ids = np.fromiter(strings, np.uint64, len(strings)).view(np.int64)
        order = np.argsort(ids)
        places = [interned.string(text) for text in strings.values()]
        return cls(ids[order], np.array(places, np.int32)[order])

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the places of ids; what is not in the file is the empty string."""
        if not len(self.ids):
            return np.zeros(len(ids), np.int32)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[at] == ids, self.places[at], np.int32(0))


def marks_of(scene: Scene, version: int, texts: Texts, interned: Interned) -> Marks:
    """Return the begins and ends of ranges, tasks and regions, by time.

    Raises Damage where stops of the world or collections contradict each other.
    """
    events, context = scene.events, scene.context
    row = events.where(*_KINDS)
    row = row[np.argsort(events.tick[row], kind="stable")]
    was = events.kind[row]
    kinds = np.zeros(64, np.uint8)
    for old, new in _KINDS.items():
        kinds[old] = new
    goroutine = context.goroutine[row]
    owner = np.where(np.isin(was, _BY_GOROUTINE), goroutine, np.int32(0))
    swept = np.isin(was, _BY_PROCESSOR)
    owner[swept] = context.processor[row[swept]]
    stops = np.flatnonzero(np.isin(was, (V1.STW_START, V1.STW_DONE)))
    cycles = np.flatnonzero(np.isin(was, (V1.GC_START, V1.GC_DONE)))
    for turns, begin in ((stops, V1.STW_START), (cycles, V1.GC_START)):
        if ((was[turns] == begin) != (np.arange(len(turns)) % 2 == 0)).any():
            raise Damage("a range that begins twice, or ends without having begun")
    # Only one stops the world at a time, whoever starts it again.
    ends = stops[1::2]
    owner[ends] = owner[stops[: 2 * len(ends) : 2]]
    marks = Marks(
        kind=kinds[was],
        time=scene.time[row],
        since=np.full(len(row), BEGIN_NS, np.int64),
        owner=owner,
        goroutine=goroutine,
        # A collection is nobody's in Go's reader, too.
        processor=np.where(was == V1.GC_START, np.int16(-1), context.processor[row]),
        id=np.zeros(len(row), np.int64),
        other=np.zeros(len(row), np.int64),
        name=np.zeros(len(row), np.int32),
        text=np.zeros(len(row), np.int32),
        stack=scene.stack[row],
    )
    _put_arguments(scene, row, was, marks, texts)
    names = np.array([interned.string(text) for text in stop_kinds(version)], np.int32)
    begun = stops[::2]
    which = events.named(row[begun])
    known = which < len(names)
    marks.name[begun[known]] = names[which[known]]
    return _with_open_assists(marks)


def _put_arguments(
    scene: Scene,
    row: NDArray[np.int64],
    was: NDArray[np.uint8],
    marks: Marks,
    texts: Texts,
) -> None:
    """Fill in what tasks, regions and sweeps say."""
    events = scene.events
    for kind, columns in (
        (V1.TASK_CREATE, {"id": 0, "other": 1, "name": 2}),
        (V1.TASK_END, {"id": 0}),
        (V1.REGION, {"id": 0, "name": 2}),
        (V1.SWEEP_DONE, {"id": 0, "other": 1}),
    ):
        at = np.flatnonzero(was == kind)
        for column, place in columns.items() if len(at) else ():
            held = events.argument(place, row[at])
            getattr(marks, column)[at] = texts(held) if column == "name" else held
    at = np.flatnonzero(was == V1.REGION)
    if len(at):
        mode = events.argument(1, row[at])
        if int(mode.min()) < 0 or int(mode.max()) > 1:
            raise Damage("a region that neither begins nor ends")
        marks.kind[at[mode == 1]] = Kind.REGION_END


def _with_open_assists(marks: Marks) -> Marks:
    """Let assists whose begin is not in the trace go on from its begin."""
    at = np.flatnonzero(np.isin(marks.kind, (Kind.ASSIST_BEGIN, Kind.ASSIST_END)))
    _, first = np.unique(marks.owner[at], return_index=True)
    first = at[first]
    first = np.sort(first[marks.kind[first] == Kind.ASSIST_END])
    if not len(first):
        return marks
    opened = Marks._make(column[first] for column in marks)
    opened.kind[:] = Kind.ASSIST_ACTIVE
    opened.time[:] = BEGIN_NS
    opened.stack[:] = 0
    columns = range(len(marks))
    return Marks._make(np.append(opened[i], marks[i]) for i in columns)


def logs_of(scene: Scene, footer: Footer, texts: Texts, interned: Interned) -> Logs:
    """Return all logs, by time."""
    events = scene.events
    row = events.where(V1.LOG)
    if not len(row):
        none = np.zeros(0, np.int64)
        some = none.astype(np.int32)
        return Logs(none, some, none, some, some, some)
    text = np.array([interned.string(t) for t in footer.logs], np.int32)
    order = np.argsort(events.tick[row], kind="stable")
    row, text = row[order], text[order]
    return Logs(
        scene.time[row],
        scene.context.goroutine[row],
        events.argument(0, row),
        texts(events.argument(1, row)),
        text,
        scene.stack[row],
    )


def labels_of(scene: Scene, texts: Texts) -> Labels:
    """Return how mark workers run, by goroutine."""
    moves = scene.moves
    at = np.flatnonzero(moves.kind == V1.GO_START_LABEL)
    row = moves.row[at]
    if not len(row):
        none = np.zeros(0, np.int64)
        return Labels(none, none.astype(np.int32), none.astype(np.int32))
    label = texts(scene.events.argument(2, row))
    return Labels(scene.time[row], moves.owner[at], label)


def series_of(scene: Scene, kind: V1) -> Series:
    """Return one metric by time."""
    row = scene.events.where(kind)
    row = row[np.argsort(scene.events.tick[row], kind="stable")]
    return Series(scene.time[row], scene.events.named(row))


def samples_of(
    scene: Scene, samples: NDArray[np.int64], time: NDArray[np.int64]
) -> CPUSamples:
    """Return the CPU samples by time; `samples` as of `Footer`, `time` in ns."""
    order = np.argsort(time, kind="stable")
    _, processor, goroutine, stack = samples[:, order]
    context = scene.context
    return CPUSamples(
        time[order],
        context.goroutines.find(goroutine),
        context.processors.find(processor),
        np.full(len(order), -1, np.int32),
        scene.places(stack & 0xFFFFFFFF),
    )
