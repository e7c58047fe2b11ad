"""Traces of Go 1.11 to 1.21, as Go 1.26 reads them.

What such a trace does not tell, and what stands in its place: when a fast system call
ended (a nanosecond later), which thread another's call or wake-up was on (none), who
took a processor from its thread (nobody stole one), which goroutines run what for those
that never did anything (no name), and what processors did in system calls (they run).
A wake-up by the network poller, a timer or the end of a system call is on no processor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.pairs import ranges_of, regions_of, tasks_of
from pprofdiff.loaders.traces.strings import Interned
from pprofdiff.loaders.traces.v1calls import calls_of
from pprofdiff.loaders.traces.v1columns import Footer, V1Events
from pprofdiff.loaders.traces.v1context import v1_context
from pprofdiff.loaders.traces.v1marks import (
    Texts,
    labels_of,
    logs_of,
    marks_of,
    samples_of,
    series_of,
)
from pprofdiff.loaders.traces.v1order import moves_of
from pprofdiff.loaders.traces.v1reading import read_v1
from pprofdiff.loaders.traces.v1rows import (
    BEGIN_NS,
    V1_REASONS,
    Scene,
    goroutines_of,
    intervals_of,
    processors_of,
)
from pprofdiff.loaders.traces.v1schema import V1
from pprofdiff.model.traces.trace import Missing, Stacks, Sync, Trace

__all__ = ["decode_v1"]

_LAST_TIME = 1 << 62
_FRAME = 4


def decode_v1(
    data: bytes, version: int, name: str, say: Callable[[str], None] | None
) -> Trace:
    """Read a trace of format 1.11, 1.19 or 1.21; see `loaders.traces.decode`."""

    def said(read: int) -> None:
        if say is not None:
            say(f"reading {name}: {100 * read // len(data)} %")

    try:
        events, footer, read, why = read_v1(data, version, said)
        missing = None if why is None else Missing(read, len(data), why)
        return _trace(events, footer, version, missing)
    except Damage as damage:
        raise FormatError(f"{name}: this trace cannot be read: {damage}") from None


def _trace(
    events: V1Events, footer: Footer, version: int, missing: Missing | None
) -> Trace:
    """Put a trace together."""
    interned = Interned()
    texts = Texts.of(footer.strings, interned)
    places = _stacks(footer, texts, interned)
    stacks = interned.stacks()
    context = v1_context(events)
    moves = moves_of(events, context)
    calls = calls_of(events, context, moves)
    time, sampled = _times(events.tick, footer)
    timers = np.zeros(len(context.goroutines), np.bool_)
    timers[context.goroutines.find(footer.timers)] = len(footer.timers) > 0
    early = context.early(events, moves.row)
    stack = places(events.stack)
    scene = Scene(events, context, moves, calls, time, stack, early, timers, places)
    marks = marks_of(scene, version, texts, interned)
    intervals = intervals_of(scene)
    latest = [intervals.start_ns, time, sampled]
    return Trace(
        version=version,
        start_ns=BEGIN_NS,
        end_ns=max(int(t.max()) for t in latest if len(t)) + 1,
        events=len(events.kind),
        experimental=0,
        syncs=(Sync(1, BEGIN_NS, footer.frequency),),
        missing=missing,
        reasons=V1_REASONS,
        stacks=stacks,
        goroutines=goroutines_of(scene, _roots(stacks)),
        processors=context.processors.ids,
        threads=context.threads.ids,
        intervals=intervals,
        processor_intervals=processors_of(scene),
        ranges=ranges_of(marks),
        heap_live_bytes=series_of(scene, V1.HEAP_ALLOC),
        heap_goal_bytes=series_of(scene, V1.HEAP_GOAL),
        gomaxprocs=series_of(scene, V1.GOMAXPROCS),
        tasks=tasks_of(marks),
        regions=regions_of(marks),
        logs=logs_of(scene, footer, texts, interned),
        labels=labels_of(scene, texts),
        samples=samples_of(scene, footer.samples, sampled),
        strings=tuple(interned.strings),
    )


def _times(
    tick: NDArray[np.int64], footer: Footer
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the times (int64 ns) of events and CPU samples, from the first on."""
    sampled = footer.samples[0]
    first = min(int(t.min()) for t in (tick, sampled) if len(t))
    ns_per_tick = 1e9 / footer.frequency
    if (
        max(int(t.max()) - first for t in (tick, sampled) if len(t)) * ns_per_tick
        >= _LAST_TIME
    ):
        raise Damage("a time that no clock has")
    return (
        ((tick - first) * ns_per_tick).astype(np.int64),
        ((sampled - first) * ns_per_tick).astype(np.int64),
    )


class _StackPlaces:
    """Where stacks are, by their ids in the file; what is not there is no stack."""

    def __init__(self, places: dict[int, int]) -> None:
        """Take the place of each id."""
        ids = np.fromiter(places, np.int64, len(places))
        order = np.argsort(ids)
        self._ids = ids[order]
        self._places = np.fromiter(places.values(), np.int32, len(places))[order]

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the places (int32) of ids."""
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, self._places[at], np.int32(0))


def _stacks(footer: Footer, texts: Texts, interned: Interned) -> _StackPlaces:
    """Put a file's stacks among the others.

    As in Go, a program counter means what its first frame says.
    """
    places = {0: 0}
    if footer.stacks:
        cells = np.concatenate(
            [np.asarray(s, np.uint64) for s in footer.stacks.values()]
        )
        pc, function, file, line = cells.reshape(-1, _FRAME).T
        _, first, which = np.unique(pc, return_index=True, return_inverse=True)
        functions = texts(function[first].view(np.int64)).tolist()
        files = texts(file[first].view(np.int64)).tolist()
        known = [
            interned.frame(f, p, min(n, (1 << 63) - 1))
            for f, p, n in zip(functions, files, line[first].tolist(), strict=True)
        ]
        spelled, at = np.array(known, np.int32)[which].tobytes(), 0
        # A stack of which no frame says anything is none, as for Go.
        told = (np.array(functions) + np.array(files) > 0)[which]
        for name, frames in footer.stacks.items():
            end = at + len(frames)
            some = told[at // _FRAME : end // _FRAME].any()
            places[name] = interned.stack(spelled[at:end]) if some else 0
            at = end
    return _StackPlaces(places)


def _roots(stacks: Stacks) -> NDArray[np.int32]:
    """Return the function that each stack begins in, 0 where there is none."""
    roots = np.zeros(len(stacks), np.int32)
    filled = np.flatnonzero(np.diff(stacks.offsets))
    roots[filled] = stacks.function[stacks.frame[stacks.offsets[filled + 1] - 1]]
    return roots
