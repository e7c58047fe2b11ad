"""When runs started, and whether both sides' runs were taken in turns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.model.side import Side

# With fewer pairs, t widens more than removing drift is worth: with four, it reaches
# 1.3 times as far as for unpaired runs; with five, 1.2 times.
_FEWEST = 5
_SEVERAL = 2


def starts_of(side: Side) -> dict[int, int]:
    """Return when runs started, ns since 1970, for those that say so.

    A CPU profile's time is its start (runtime/pprof, profBuilder); a heap profile's is
    when it was written. A trace has a wall clock from Go 1.25 on.
    """
    starts: dict[int, int] = {}
    for run, start in (*_profile_starts(side), *_trace_starts(side)):
        starts[run] = min(start, starts.get(run, start))
    return starts


def taken_in_turns(base: Side, new: Side) -> int:
    """Return how many pairs both sides' runs make, 0 if not taken in turns.

    Both first runs start before either side's second run, and so on; which run of a
    pair starts first may vary. A pair is a run of base and the run of new at the same
    position by run number, so numbers follow time.
    """
    sides = []
    for side in (base, new):
        starts, runs = starts_of(side), {capture.run for capture in side.captures}
        if starts.keys() != runs:
            return 0
        sides.append([starts[run] for run in sorted(runs)])
    if len(sides[0]) != len(sides[1]) or len(sides[0]) < _FEWEST:
        return 0
    pairs = np.array(sides)
    apart = pairs.max(axis=0)[:-1] < pairs.min(axis=0)[1:]
    return len(sides[0]) if apart.all() else 0


def began_first(base: Side, new: Side) -> Side | None:
    """Return the side whose runs all started before those of the other.

    None if there is none, or fewer than two runs of a side say when they started.
    """
    starts = [sorted(starts_of(side).values()) for side in (base, new)]
    if min(map(len, starts)) < _SEVERAL:
        return None
    if starts[0][-1] < starts[1][0]:
        return base
    return new if starts[1][-1] < starts[0][0] else None


def one_after_the_other(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield a caveat if all runs of one side started before those of the other.

    On virtual machines, the first half of 24 runs of one build differed significantly
    from the second half in up to half of such comparisons.
    """
    first = began_first(base, new)
    if first is not None:
        yield Caveat(
            "one_after_the_other",
            f"all runs of {first.label} were taken first: a machine that slows or "
            "speeds up meanwhile looks like a change; take turns (base, new, new, "
            "base …), as pprofdiff measure does",
        )


def _profile_starts(side: Side) -> Iterator[tuple[int, int]]:
    for profile in side.of("profile"):
        content = profile.content
        if content.time_ns and content.duration_ns and is_cpu(content):
            yield profile.run, content.time_ns


def _trace_starts(side: Side) -> Iterator[tuple[int, int]]:
    for trace in side.of("trace"):
        for sync in trace.content.syncs[:1]:
            if sync.wall_ns is not None and sync.snapshot_ns is not None:
                begun = sync.wall_ns - sync.snapshot_ns + trace.content.start_ns
                yield trace.run, begun
