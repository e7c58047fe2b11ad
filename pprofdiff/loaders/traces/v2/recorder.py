"""Accumulate a trace of Go 1.22 or later, generation by generation."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from pprofdiff.loaders.traces.clock_order import HappensBefore
from pprofdiff.loaders.traces.damage import LATEST_TIME, MOST_PROCESSORS, Damage
from pprofdiff.loaders.traces.id_index import Ids
from pprofdiff.loaders.traces.owner_rows import counts_of_each
from pprofdiff.loaders.traces.timeline import TimelineEvents
from pprofdiff.loaders.traces.v2.context import NOBODY, ThreadBindings, context_of
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.goroutine_rows import (
    GenerationEvents,
    GoroutineRows,
    GoroutineStates,
    NewGoroutines,
    goroutine_rows,
)
from pprofdiff.loaders.traces.v2.goroutine_states import goroutine_effects
from pprofdiff.loaders.traces.v2.incarnations import CREATES, STATUSES, Incarnations
from pprofdiff.loaders.traces.v2.processor_states import (
    ProcessorChanges,
    ProcessorStates,
    drop_stolen,
    processor_state_changes,
)
from pprofdiff.loaders.traces.v2.reading import ReadGeneration
from pprofdiff.loaders.traces.v2.row_store import (
    OwnerCounts,
    store_of,
)
from pprofdiff.loaders.traces.v2.schema import (
    FIRST_EXPERIMENTAL,
    NO_THREAD,
    EventType,
)
from pprofdiff.loaders.traces.v2.syscalls import (
    ProcessorLosses,
    ends_after_loss,
    returns_after_steal,
    steals_after_loss,
)
from pprofdiff.loaders.traces.v2.tables import GenerationTables
from pprofdiff.loaders.traces.v2.timeline import (
    MetricEvents,
    read_metric_events,
    read_timeline_events,
    with_times,
)
from pprofdiff.model.traces.timeline import CPUSamples
from pprofdiff.model.traces.trace import Intervals, ProcessorIntervals, Sync

E = EventType


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
        """Return a generation's CPU samples by time, with indices instead of ids."""
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
