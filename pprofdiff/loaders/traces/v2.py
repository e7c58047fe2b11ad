"""Traces of Go 1.22 and later: a generation at a time, then everything put together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces.batches import HEADER_BYTES, Damage, generations
from pprofdiff.loaders.traces.intervals import joined
from pprofdiff.loaders.traces.marks import Marks, Metrics
from pprofdiff.loaders.traces.pairs import ranges_of, regions_of, tasks_of
from pprofdiff.loaders.traces.recorder import Recorder
from pprofdiff.loaders.traces.schema import Kind
from pprofdiff.model.traces.marks import CPUSamples, Labels, Logs, Series
from pprofdiff.model.traces.trace import (
    Goroutines,
    Intervals,
    Missing,
    ProcessorIntervals,
    Stacks,
    Trace,
)

__all__ = ["decode_v2"]

K = Kind


def decode_v2(
    data: bytes, version: int, name: str, say: Callable[[str], None] | None
) -> Trace:
    """Read a trace of format 1.22 or later; see `loaders.traces.decode`."""
    recorder = Recorder(version)
    read, why = HEADER_BYTES, None
    try:
        for generation in generations(data, version):
            if say is not None:
                say(f"reading {name}: {100 * read // len(data)} %")
            recorder.take(data, generation)
            read = generation.stop
    except Damage as damage:
        why = str(damage)
    if not recorder.syncs:
        what = why or "it ends after its header"
        raise FormatError(f"{name}: no whole part of this trace can be read: {what}")
    missing = None if why is None else Missing(read, len(data), why)
    return _trace(recorder, missing)


def _trace(recorder: Recorder, missing: Missing | None) -> Trace:
    """Put the generations together."""
    goroutines = _goroutines(recorder)
    intervals, reasons = _intervals(recorder, len(goroutines.id))
    offsets, columns = joined(
        recorder.processor_parts, recorder.processor_rows, len(recorder.processors)
    )
    marks = Marks(*(np.concatenate(c) for c in zip(*recorder.marks, strict=True)))
    recorder.marks.clear()
    logs = marks.kind == K.LOG
    labels = marks.kind == K.GO_LABEL
    metrics = Metrics(*(np.concatenate(c) for c in zip(*recorder.metrics, strict=True)))
    samples = [np.concatenate(c) for c in zip(*recorder.samples, strict=True)]
    ranges, tasks, regions = ranges_of(marks), tasks_of(marks), regions_of(marks)
    stacks = recorder.interned.stacks()
    return Trace(
        version=recorder.version,
        start_ns=recorder.syncs[0].time_ns,
        end_ns=recorder.last_ns + 1,
        events=recorder.events,
        experimental=recorder.experimental,
        syncs=tuple(recorder.syncs),
        missing=missing,
        strings=tuple(recorder.interned.strings),
        reasons=reasons,
        stacks=stacks,
        goroutines=_named(goroutines, recorder, stacks),
        processors=recorder.processors.ids,
        threads=recorder.threads.ids,
        intervals=intervals,
        processor_intervals=ProcessorIntervals(offsets, *columns),
        ranges=ranges,
        heap_live_bytes=_series(metrics, K.HEAP_ALLOC),
        heap_goal_bytes=_series(metrics, K.HEAP_GOAL),
        gomaxprocs=_series(metrics, K.PROCS_CHANGE),
        tasks=tasks,
        regions=regions,
        logs=Logs(
            marks.time[logs],
            marks.goroutine[logs],
            marks.id[logs],
            marks.name[logs],
            marks.text[logs],
            marks.stack[logs],
        ),
        labels=Labels(marks.time[labels], marks.owner[labels], marks.name[labels]),
        samples=CPUSamples(samples[0], *(c.astype(np.int32) for c in samples[1:])),
    )


def _series(metrics: Metrics, kind: Kind) -> Series:
    """Return one metric by time."""
    rows = np.flatnonzero(metrics.kind == kind)
    rows = rows[np.argsort(metrics.time[rows], kind="stable")]
    return Series(metrics.time[rows], metrics.value[rows])


def _goroutines(recorder: Recorder) -> Goroutines:
    """Return the goroutine table, without names."""
    born = recorder.births
    columns = [np.concatenate(column) for column in zip(*born, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    _, born_, created, seen, creator, stack = (column[order] for column in columns)
    ids = recorder.goroutines.ids[: len(order)]
    name = np.zeros(len(ids), np.int32)
    return Goroutines(ids, name, born_, created, seen, creator.astype(np.int32), stack)


def _named(goroutines: Goroutines, recorder: Recorder, stacks: Stacks) -> Goroutines:
    """Give goroutines the name of the last frame of their first stack."""
    stack = recorder.first_stacks[: len(goroutines)]
    known = np.flatnonzero(stack)
    root = stacks.frame[stacks.offsets[stack[known] + 1] - 1]
    goroutines.name[known] = stacks.function[root]
    return goroutines


def _intervals(
    recorder: Recorder, goroutines: int
) -> tuple[Intervals, tuple[str, ...]]:
    """Return the goroutines' intervals, and the reasons they name."""
    offsets, columns = joined(recorder.parts, recorder.rows, goroutines)
    texts = list(recorder.interned.strings)
    reasons = tuple([texts[place] for place in recorder.reasons.strings])
    return Intervals(offsets, *columns), reasons
