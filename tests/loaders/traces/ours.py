"""A decoded trace in the same plain rows as `parsed` gives Go's."""

from __future__ import annotations

from functools import cache

import numpy as np

from pprofdiff.model.traces.trace import RangeKind

from .parsed import NOTHING

GO_NAMES = {
    RangeKind.GC_MARK: "GC concurrent mark phase",
    RangeKind.MARK_ASSIST: "GC mark assist",
    RangeKind.SWEEP: "GC incremental sweep",
}


class Plain:
    """A trace with ids for places and None for -1 times."""

    def __init__(self, trace):
        self.trace = trace
        self.goroutine_ids = np.append(trace.goroutines.id, -1).tolist()
        self.thread_ids = np.append(trace.threads, -1).tolist()
        self.processor_ids = np.append(trace.processors, -1).tolist()
        self.stack = cache(self._stack)

    def _stack(self, place):
        stacks, strings = self.trace.stacks, self.trace.strings
        frames = stacks.frame[stacks.offsets[place] : stacks.offsets[place + 1]]
        return tuple((strings[stacks.function[f]], int(stacks.line[f])) for f in frames)

    def goroutines(self):
        """Return each goroutine's rows, as `parsed.goroutines` without the slack."""
        trace, held = self.trace, self.trace.intervals
        rows = [
            (
                start,
                state,
                trace.reasons[reason],
                self.processor_ids[processor],
                self.thread_ids[thread],
                self.goroutine_ids[by],
                self.stack(stack),
            )
            for start, state, reason, processor, thread, by, stack in zip(
                held.start_ns.tolist(),
                held.state.tolist(),
                held.reason.tolist(),
                held.processor.tolist(),
                held.thread.tolist(),
                held.by.tolist(),
                held.stack.tolist(),
                strict=True,
            )
        ]
        return self._by_owner(self.goroutine_ids, held.offsets, rows)

    def processors(self):
        """Return each processor's rows: (start, runs, thread, stolen)."""
        held = self.trace.processor_intervals
        threads = [self.thread_ids[t] for t in held.thread.tolist()]
        columns = held.start_ns.tolist(), (held.state > 0).tolist(), threads
        rows = list(zip(*columns, held.stolen.tolist(), strict=True))
        found = self._by_owner(self.processor_ids, held.offsets, rows)
        # Go does not separate a processor in a system call from a running one.
        return {
            p: [r for i, r in enumerate(rows) if i == 0 or r[1] != rows[i - 1][1]]
            for p, rows in found.items()
        }

    @staticmethod
    def _by_owner(ids, offsets, rows):
        bounds = offsets.tolist()
        return {
            name: rows[first:last]
            for name, first, last in zip(ids[:-1], bounds[:-1], bounds[1:], strict=True)
        }

    def names(self):
        """Return each goroutine's root function, if it is known."""
        named = zip(
            self.goroutine_ids, self.trace.goroutines.name.tolist(), strict=False
        )
        return {g: self.trace.strings[n] for g, n in named if n}

    def ranges(self):
        """Return ranges by (name, owner), as `parsed.ranges`."""
        found, held = {}, self.trace.ranges
        for i in range(len(held)):
            kind = RangeKind(held.kind[i])
            name = GO_NAMES.get(kind) or (
                f"stop-the-world ({self.trace.strings[held.name[i]]})"
            )
            owner = 0
            if kind == RangeKind.SWEEP:
                owner = self.processor_ids[held.processor[i]]
            elif kind != RangeKind.GC_MARK:
                owner = self.goroutine_ids[held.goroutine[i]]
            times = int(held.start_ns[i]), bool(held.seen[i]), _time(held.end_ns[i])
            row = *times, int(held.swept[i]), int(held.reclaimed[i])
            found.setdefault((name, owner), []).append(row)
        return found

    def tasks(self):
        """Return tasks, as `parsed.tasks`."""
        held = self.trace.tasks
        return [
            (
                int(held.id[i]),
                int(held.parent[i]) % NOTHING,
                self.trace.strings[held.name[i]],
                _time(held.start_ns[i]),
                _time(held.end_ns[i]),
                self.goroutine_ids[held.goroutine[i]],
                self.goroutine_ids[held.last_goroutine[i]],
            )
            for i in range(len(held))
        ]

    def regions(self):
        """Return regions, as `parsed.regions`."""
        held = self.trace.regions
        return [
            (
                self.goroutine_ids[held.goroutine[i]],
                int(held.task[i]),
                self.trace.strings[held.name[i]],
                int(held.depth[i]),
                _time(held.start_ns[i]),
                _time(held.end_ns[i]),
            )
            for i in range(len(held))
        ]

    def logs(self):
        """Return logs, as `parsed.logs`."""
        held, strings = self.trace.logs, self.trace.strings
        return [
            (
                int(held.time_ns[i]),
                self.goroutine_ids[held.goroutine[i]],
                int(held.task[i]),
                strings[held.key[i]],
                strings[held.text[i]],
            )
            for i in range(len(held))
        ]

    def labels(self):
        """Return labels, as `parsed.labels`."""
        held = self.trace.labels
        return [
            (int(t), self.goroutine_ids[g], self.trace.strings[n])
            for t, g, n in zip(held.time_ns, held.goroutine, held.label, strict=True)
        ]

    def metrics(self):
        """Return the metrics, by Go's names."""
        trace = self.trace
        series = {
            "/memory/classes/heap/objects:bytes": trace.heap_live_bytes,
            "/gc/heap/goal:bytes": trace.heap_goal_bytes,
            "/sched/gomaxprocs:threads": trace.gomaxprocs,
        }
        return {
            name: list(zip(s.time_ns.tolist(), s.value.tolist(), strict=True))
            for name, s in series.items()
            if len(s.value)
        }

    def samples(self):
        """Return CPU samples, as `parsed.samples`."""
        held = self.trace.samples
        return [
            (
                int(held.time_ns[i]),
                self.goroutine_ids[held.goroutine[i]],
                self.processor_ids[held.processor[i]],
                self.thread_ids[held.thread[i]],
                self.stack(int(held.stack[i])),
            )
            for i in range(len(held))
        ]


def _time(ns):
    return None if ns < 0 else int(ns)
