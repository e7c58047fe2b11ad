"""Decode a trace of Go 1.22 or later: read its generations, then combine them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.header import HEADER_BYTES
from pprofdiff.loaders.traces.timeline import (
    TimelineEvents,
    ranges_of,
    regions_of,
    tasks_of,
)
from pprofdiff.loaders.traces.v2.goroutine_rows import NewGoroutines
from pprofdiff.loaders.traces.v2.reading import GenerationReader
from pprofdiff.loaders.traces.v2.recorder import Recorder
from pprofdiff.loaders.traces.v2.row_store import rows_by_owner
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.v2.timeline import MetricEvents
from pprofdiff.model.traces.timeline import CPUSamples, Labels, Logs, Series
from pprofdiff.model.traces.trace import (
    Goroutines,
    Intervals,
    Missing,
    ProcessorIntervals,
    Stacks,
    Trace,
)
from pprofdiff.parallel import ahead
from pprofdiff.unused_memory import give_back

E = EventType
# Size in bytes from which a second thread and returning unused memory pay off.
_LARGE = 4 << 20


def decode_v2(
    data: bytes, version: int, name: str, say: Callable[[str], None] | None
) -> Trace:
    """Read a trace of format 1.22 or later; see `loaders.traces.decode`."""
    large = len(data) >= _LARGE
    give = give_back if large else _keep
    give()
    reader, recorder = GenerationReader(data, version), Recorder()
    read, why = HEADER_BYTES, None
    try:
        for generation in ahead(reader) if large else reader:
            if say is not None:
                say(f"reading {name}: {100 * read // len(data)} %")
            recorder.add(generation, generation.stop / len(data))
            read = generation.stop
    except Damage as damage:
        why = str(damage)
    if not recorder.syncs:
        what = why or "it ends after its header"
        raise DamagedError(
            f"{name}: no whole part of this trace can be read: {what}; trace again"
        )
    missing = None if why is None else Missing(read, len(data), why)
    give()
    goroutines = _goroutines(recorder)
    give()
    trace = _trace(version, reader, recorder, goroutines, missing)
    del reader, recorder
    give()
    return trace


def _keep() -> None:
    """Keep unused memory: returning it is not worth the time."""


def _trace(
    version: int,
    reader: GenerationReader,
    recorder: Recorder,
    goroutines: Goroutines,
    missing: Missing | None,
) -> Trace:
    offsets, columns = rows_by_owner(
        recorder.interval_counts, recorder.intervals, len(goroutines)
    )
    intervals = Intervals(offsets, *columns)
    strings = tuple(reader.interner.strings)
    reasons = tuple([strings[index] for index in reader.reasons.strings])
    offsets, columns = rows_by_owner(
        recorder.processor_counts,
        recorder.processor_intervals,
        len(recorder.ids.processors),
    )
    timeline = TimelineEvents.concatenate(recorder.timeline)
    recorder.timeline.clear()
    metrics = MetricEvents.concatenate(recorder.metrics)
    stacks = reader.interner.stacks()
    return Trace(
        version=version,
        start_ns=recorder.syncs[0].time_ns,
        end_ns=recorder.last_ns + 1,
        events=recorder.events,
        experimental=recorder.experimental,
        syncs=tuple(recorder.syncs),
        missing=missing,
        strings=strings,
        reasons=reasons,
        stacks=stacks,
        goroutines=_named(goroutines, recorder, stacks),
        processors=recorder.ids.processors.ids,
        threads=recorder.ids.threads.ids,
        intervals=intervals,
        processor_intervals=ProcessorIntervals(offsets, *columns),
        ranges=ranges_of(timeline),
        heap_live_bytes=_series(metrics, E.HEAP_ALLOC),
        heap_goal_bytes=_series(metrics, E.HEAP_GOAL),
        gomaxprocs=_series(metrics, E.PROCS_CHANGE),
        tasks=tasks_of(timeline),
        regions=regions_of(timeline),
        logs=_logs(timeline.take(timeline.type == E.LOG)),
        labels=_labels(timeline.take(timeline.type == E.GO_LABEL)),
        samples=CPUSamples.concatenate(recorder.samples),
    )


def _logs(events: TimelineEvents) -> Logs:
    return Logs(
        time_ns=events.time,
        goroutine=events.goroutine,
        task=events.id,
        key=events.name,
        text=events.text,
        stack=events.stack,
    )


def _labels(events: TimelineEvents) -> Labels:
    return Labels(time_ns=events.time, goroutine=events.owner, label=events.name)


def _series(metrics: MetricEvents, metric: EventType) -> Series:
    rows = np.flatnonzero(metrics.type == metric)
    rows = rows[np.argsort(metrics.time[rows], kind="stable")]
    return Series(metrics.time[rows], metrics.value[rows])


def _goroutines(recorder: Recorder) -> Goroutines:
    new = NewGoroutines.concatenate(recorder.new_goroutines)
    recorder.new_goroutines.clear()
    order = np.argsort(new.goroutine, kind="stable")
    return Goroutines(
        id=recorder.ids.goroutines.ids[: len(new)].copy(),
        name=np.zeros(len(new), np.int32),
        born=new.born[order],
        created_ns=new.created_ns[order],
        seen_ns=new.seen_ns[order],
        creator=new.creator[order].astype(np.int32, copy=False),
        creation_stack=new.creation_stack[order],
    )


def _named(goroutines: Goroutines, recorder: Recorder, stacks: Stacks) -> Goroutines:
    """Name goroutines, in place, after the root function of their first stack."""
    stack = recorder.states.first_stack[: len(goroutines)]
    known = np.flatnonzero(stack)
    root = stacks.frame[stacks.offsets[stack[known] + 1] - 1]
    goroutines.name[known] = stacks.function[root]
    return goroutines
