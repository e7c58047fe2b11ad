"""What is known of a trace so far: each generation is taken in and reduced to rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage, Generation
from pprofdiff.loaders.traces.calls import Loss, returns, robbed, thieves
from pprofdiff.loaders.traces.clock_order import Sequence
from pprofdiff.loaders.traces.context import NOBODY, Held, context_of
from pprofdiff.loaders.traces.events import Events
from pprofdiff.loaders.traces.goroutines import goroutine_order
from pprofdiff.loaders.traces.intervals import (
    Births,
    Part,
    interval_store,
    processor_part,
    processor_store,
)
from pprofdiff.loaders.traces.lives import CREATES, STATUSES, Lives
from pprofdiff.loaders.traces.marks import (
    Marks,
    Metrics,
    read_marks,
    read_metrics,
)
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.processors import (
    Processors,
    ProcessorSteps,
    processor_steps,
    rebound,
)
from pprofdiff.loaders.traces.reading import event_batches, read_events
from pprofdiff.loaders.traces.schema import (
    FIRST_EXPERIMENTAL,
    MOST_PROCESSORS,
    NO_THREAD,
    UNKNOWN,
    Kind,
    argument_counts,
)
from pprofdiff.loaders.traces.strings import Interned, Reasons
from pprofdiff.loaders.traces.structure import Samples, Structure, read_structure
from pprofdiff.loaders.traces.tokens import Heads
from pprofdiff.loaders.traces.walk import Scene, Walk, walk
from pprofdiff.model.traces.trace import Sync

__all__ = ["Recorder"]

K = Kind


class Recorder:
    """The rows of all generations so far, and what goes on from one to the next."""

    def __init__(self, version: int) -> None:
        """Take NN of the format ``go 1.NN trace``."""
        self.version = version
        self.interned = Interned()
        self.reasons = Reasons()
        self.goroutines = Numbering("goroutine")
        self.processors = Numbering("processor")
        self.threads = Numbering("thread")
        self.syncs: list[Sync] = []
        self.parts: list[Part] = []
        self.processor_parts: list[Part] = []
        self.rows = interval_store()
        self.processor_rows = processor_store()
        self.births: list[Births] = []
        self.marks: list[Marks] = []
        self.metrics: list[Metrics] = []
        self.samples: list[tuple[NDArray[Any], ...]] = []
        self.events = self.experimental = 0
        self.last_ns = 0
        self.first_stacks = np.zeros(0, np.int32)
        self._heads = Heads(argument_counts(version))
        self._held = Held({}, {})
        self._states = np.zeros(0, np.uint8)
        none = np.zeros(0, np.int64)
        self._stood = Processors(self._states, none, none.astype(np.int32), none)

    def take(self, data: bytes, generation: Generation) -> None:
        """Read a generation; raise Damage, and take nothing of it, if it cannot be."""
        structure = read_structure(data, generation, self.version, self.interned)
        since = max(structure.sync.time_ns, self.last_ns + 1)
        batches = event_batches(data, generation.batches)
        events = read_events(data, batches, self._heads, structure, self.reasons)
        self._mention(events)
        context = context_of(events, self.goroutines, self.processors, self._held)
        numberings = self.goroutines, self.processors
        context.processor[robbed(events, context, self.processors)] = NOBODY
        lives = Lives(events, self.goroutines)
        stood = self._stood.grown(len(self.processors))
        found = processor_steps(events, context, *numberings, stood)
        processors, losses, stood = found
        tables = structure.strings, structure.stacks
        marks = read_marks(events, context, numberings, lives, tables, since)
        metrics = read_metrics(events)
        context.processor[thieves(events, losses)] = NOBODY
        states, stacks = self._grown()
        said = self.goroutines, lives
        order = goroutine_order(events, context, *said, states, losses)
        # What only served to find the order takes more memory than the result.
        events, context = events.lighter(), context.lighter()
        np.maximum(events.time, since, out=events.time)
        named = self.threads, structure.stacks
        self.rows.share = self.processor_rows.share = generation.stop / len(data)
        known = len(self._states)
        scene = Scene(events, context, losses, *named, since, known, self.rows)
        sequences = _sequences(events, processors, losses)
        gone = walk(scene, order, sequences, states, stacks)
        samples = self._samples(structure, since)
        # Nothing fails from here on.
        self._keep(scene, gone, processors)
        self.marks.append(marks.timed(events))
        self.metrics.append(metrics._replace(time=events.time[metrics.time]))
        self.samples.append(samples)
        self._stood = stood
        self._held = rebound(context.held, stood)
        self.syncs.append(structure.sync._replace(time_ns=since))
        self.events += len(events.kind)
        self.experimental += int(np.count_nonzero(events.kind >= FIRST_EXPERIMENTAL))
        latest = [t for t in (events.time, samples[0]) if len(t)]
        self.last_ns = max([since, *(int(t.max()) for t in latest)])

    def _keep(self, scene: Scene, gone: Walk, processors: ProcessorSteps) -> None:
        """Keep the rows of goroutines and processors."""
        self.parts.append(gone.part)
        self.rows.keep(int(gone.part.counts.sum()))
        self.births.append(gone.births)
        self.first_stacks, self._states = gone.first_stacks, gone.states
        first, kept = None if self.syncs else scene.since, self.processor_rows
        part = processor_part(scene.events, processors, self.threads, first, kept)
        self.processor_parts.append(part)
        kept.keep(int(part.counts.sum()))

    def _grown(self) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return each goroutine's state and first stack, new ones among them."""
        more = len(self.goroutines) - len(self._states)
        return (
            np.append(self._states, np.full(more, UNKNOWN, np.uint8)),
            np.append(self.first_stacks, np.zeros(more, np.int32)),
        )

    def _mention(self, events: Events) -> None:
        """Give numbers to what a generation mentions first."""
        self.goroutines.add(events.argument(0, events.where(*CREATES, *STATUSES)))
        self.processors.add(events.argument(0, events.where(K.PROC_STATUS)))
        if len(self.processors) >= MOST_PROCESSORS:
            raise Damage("more processors than there can be")
        self.threads.add(events.threads[events.threads != NO_THREAD])
        says = events.where(K.GO_STATUS, K.GO_STATUS_STACK)
        named = events.argument(1, says)
        self.threads.add(named[named != NO_THREAD])

    def _samples(self, structure: Structure, since: int) -> tuple[NDArray[Any], ...]:
        """Return a generation's CPU samples by time, with places instead of ids."""
        held: Samples = structure.samples
        units = held.time.view(np.uint64) * structure.ns_per_unit
        if len(units) and float(units.max()) >= 1 << 62:
            raise Damage("a time that no clock has")
        time = np.maximum(units.astype(np.int64), since)
        order = np.argsort(time, kind="stable")
        self.threads.add(held.thread[held.thread != NO_THREAD])
        return (
            time[order],
            self.goroutines.find(held.goroutine)[order],
            self.processors.find(held.processor)[order],
            self.threads.find(held.thread)[order],
            structure.stacks(held.stack)[order],
        )


def _sequences(
    events: Events, processors: ProcessorSteps, losses: Loss
) -> list[Sequence]:
    """Return what follows what: of threads, processors, collections, steals."""
    begins = np.zeros(len(events.kind), np.bool_)
    begins[events.offsets[:-1]] = True
    cycle = events.where(K.GC_BEGIN, K.GC_ACTIVE, K.GC_END)
    cycle = cycle[np.argsort(events.argument(0, cycle), kind="stable")]
    first = np.zeros(len(cycle), np.bool_)
    first[:1] = True
    pairs = np.stack(returns(events, losses), axis=1)
    return [
        Sequence(None, begins),
        Sequence(processors.event, processors.fresh),
        Sequence(cycle, first),
        Sequence(pairs.ravel(), np.tile((True, False), len(pairs))),
    ]
