"""Decode a trace of Go 1.22 or later, generation by generation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.traces.clock_order import HappensBefore
from pprofdiff.loaders.traces.damage import (
    HEADER_BYTES,
    LATEST_TIME,
    MOST_PROCESSORS,
    Damage,
)
from pprofdiff.loaders.traces.id_index import Ids
from pprofdiff.loaders.traces.owner_rows import counts_of_each
from pprofdiff.loaders.traces.timeline import (
    TimelineEvents,
    ranges_of,
    regions_of,
    tasks_of,
)
from pprofdiff.loaders.traces.v2.context import NOBODY, ThreadBindings, context_of
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.goroutine_rows import (
    GenerationEvents,
    GoroutineRows,
    GoroutineStates,
    NewGoroutines,
    OwnerCounts,
    goroutine_rows,
    rows_by_owner,
    store_of,
)
from pprofdiff.loaders.traces.v2.goroutine_states import (
    CREATES,
    STATUSES,
    Incarnations,
    goroutine_effects,
)
from pprofdiff.loaders.traces.v2.processor_states import (
    ProcessorChanges,
    ProcessorLosses,
    ProcessorStates,
    drop_stolen,
    ends_after_loss,
    processor_state_changes,
    returns_after_steal,
    steals_after_loss,
)
from pprofdiff.loaders.traces.v2.reading import GenerationReader, ReadGeneration
from pprofdiff.loaders.traces.v2.schema import (
    FIRST_EXPERIMENTAL,
    NO_THREAD,
    EventType,
)
from pprofdiff.loaders.traces.v2.tables import GenerationTables
from pprofdiff.loaders.traces.v2.timeline import (
    MetricEvents,
    read_metric_events,
    read_timeline_events,
    with_times,
)
from pprofdiff.model.traces.trace import (
    CPUSamples,
    Goroutines,
    Intervals,
    Labels,
    Logs,
    Missing,
    ProcessorIntervals,
    Series,
    Stacks,
    Sync,
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


class Recorder:
    """The rows of all generations so far, and the state carried between them.

    Lists have an entry per generation; `decode_v2` combines them.
    """

    def __init__(self) -> None:
        self.ids = Ids.none()
        self.syncs: list[Sync] = []
        self.intervals = store_of(Intervals)
        self.interval_counts: list[OwnerCounts] = []
        self.processor_intervals = store_of(ProcessorIntervals)
        self.processor_counts: list[OwnerCounts] = []
        self.new_goroutines: list[NewGoroutines] = []
        self.timeline: list[TimelineEvents] = []
        self.metrics: list[MetricEvents] = []
        self.samples: list[CPUSamples] = []
        self.events = self.experimental = 0
        self.last_ns = 0
        self._bindings = ThreadBindings({}, {})
        self.states = GoroutineStates.none()
        self._processor_states = ProcessorStates.none()

    def add(self, generation: ReadGeneration, share: float) -> None:
        """Add a generation; `share` is the fraction of the file read with it.

        Drops the arguments of its events. Raises Damage, and adds no rows, if events
        contradict each other.
        """
        tables, events, _ = generation
        since = max(tables.sync.time_ns, self.last_ns + 1)
        self._register_ids(events)
        ids, goroutines = self.ids, self.ids.goroutines

        # The context of each event, minus the Ps that threads lost in system calls.
        context = context_of(events, goroutines, ids.processors, self._bindings)
        lost = ends_after_loss(events, context, ids.processors)
        context.processor[lost] = NOBODY
        incarnations = Incarnations(events, goroutines)
        processors, losses, processor_states = processor_state_changes(
            events, context, ids, self._processor_states.grown(len(ids.processors))
        )
        timeline = read_timeline_events(
            events, context, ids, incarnations, tables, since
        )
        metrics = read_metric_events(events)
        context.processor[steals_after_loss(events, losses)] = NOBODY
        before = self.states.grown(len(goroutines))
        order = goroutine_effects(
            events, context, goroutines, incarnations, before.state, losses
        )

        # What only served to find the order takes more memory than the result.
        events.drop_arguments()
        context = context.lighter()
        np.maximum(events.time, since, out=events.time)
        ordered = GenerationEvents(
            events=events,
            context=context,
            losses=losses,
            thread=np.repeat(ids.threads.find(events.threads), np.diff(events.offsets)),
            threads=ids.threads,
            stacks=tables.stacks,
            since=since,
            known=len(self.states),
        )
        self.intervals.share = self.processor_intervals.share = share
        constraints = _constraints(events, processors, losses)
        rows = goroutine_rows(ordered, order, constraints, before, self.intervals)
        samples = self._samples(tables, since)

        # Nothing fails from here on.
        self._keep_goroutines(rows)
        self._keep_processors(ordered, processors)
        self.timeline.append(with_times(timeline, events.time))
        self.metrics.append(replace(metrics, time=events.time[metrics.time]))
        self.samples.append(samples)
        self._processor_states = processor_states
        self._bindings = drop_stolen(context.after, processor_states)
        self.syncs.append(tables.sync._replace(time_ns=since))
        self.events += len(events)
        self.experimental += int(np.count_nonzero(events.type >= FIRST_EXPERIMENTAL))
        latest = [t for t in (events.time, samples.time_ns) if len(t)]
        self.last_ns = max([since, *(int(t.max()) for t in latest)])

    def _register_ids(self, events: Events) -> None:
        ids = self.ids
        ids.goroutines.add(events.argument(0, events.where(*CREATES, *STATUSES)))
        ids.processors.add(events.argument(0, events.where(E.PROC_STATUS)))
        if len(ids.processors) >= MOST_PROCESSORS:
            raise Damage("more processors than there can be")
        ids.threads.add(events.threads[events.threads != NO_THREAD])
        thread = events.argument(1, events.where(*STATUSES))
        ids.threads.add(thread[thread != NO_THREAD])

    def _samples(self, tables: GenerationTables, since: int) -> CPUSamples:
        raw = tables.samples
        units = raw.time.view(np.uint64) * tables.ns_per_unit
        if len(units) and float(units.max()) >= LATEST_TIME:
            raise Damage("an impossible time")
        time = np.maximum(units.astype(np.int64), since)
        self.ids.threads.add(raw.thread[raw.thread != NO_THREAD])
        samples = CPUSamples(
            time_ns=time,
            goroutine=self.ids.goroutines.find(raw.goroutine),
            processor=self.ids.processors.find(raw.processor),
            thread=self.ids.threads.find(raw.thread),
            stack=tables.stacks(raw.stack),
        )
        return samples.take(np.argsort(time, kind="stable"))

    def _keep_goroutines(self, rows: GoroutineRows) -> None:
        self.intervals.keep(int(rows.counts.count.sum()))
        self.interval_counts.append(rows.counts)
        self.new_goroutines.append(rows.new)
        self.states = rows.states

    def _keep_processors(
        self, generation: GenerationEvents, changes: ProcessorChanges
    ) -> None:
        """Write the changes of Ps as rows to their store, and keep them."""
        rows = np.flatnonzero(changes.changed)
        event = changes.event[rows]
        start, state, thread, stolen = self.processor_intervals.room(len(rows))
        np.take(generation.events.time, event, out=start, mode="clip")
        if not self.syncs:
            # A P that the first generation mentions existed when it began.
            start[changes.first_mention[rows]] = generation.since
        np.take(changes.state, rows, out=state, mode="clip")
        np.take(generation.thread, event, out=thread, mode="clip")
        np.take(changes.stolen, rows, out=stolen, mode="clip")
        self.processor_counts.append(OwnerCounts(*counts_of_each(changes.owner[rows])))
        self.processor_intervals.keep(len(rows))


def _constraints(
    events: Events, processors: ProcessorChanges, losses: ProcessorLosses
) -> list[HappensBefore]:
    """Return happens-before chains: of threads, Ps, GC cycles and steals."""
    begins = np.zeros(len(events), np.bool_)
    begins[events.offsets[:-1]] = True
    cycle = events.where(E.GC_BEGIN, E.GC_ACTIVE, E.GC_END)
    cycle = cycle[np.argsort(events.argument(0, cycle), kind="stable")]
    first = np.zeros(len(cycle), np.bool_)
    first[:1] = True
    pairs = np.stack(returns_after_steal(events, losses), axis=1)
    return [
        HappensBefore(None, begins),
        HappensBefore(processors.event, processors.is_first),
        HappensBefore(cycle, first),
        HappensBefore(pairs.ravel(), np.tile((True, False), len(pairs))),
    ]
