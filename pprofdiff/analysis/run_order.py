"""When runs started, which of both sides make pairs, and what that says of hosts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.policy import MOST
from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.model.side import Fleet, Side

# With fewer pairs, t widens more than removing drift is worth: with four, it reaches
# 1.3 times as far as for unpaired runs; with five, 1.2 times.
_FEWEST = 5


def starts_of(side: Side) -> dict[int, int]:
    """Return when runs started, ns since 1970, for those that say so.

    A CPU profile's time is its start (runtime/pprof, profBuilder); a heap profile's is
    when it was written. A trace has a wall clock from Go 1.25 on.
    """
    starts: dict[int, int] = {}
    for run, start in _starts(side):
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
    in_order = pairs.max(axis=0)[:-1] < pairs.min(axis=0)[1:]
    return len(sides[0]) if in_order.all() else 0


def started_first(base: Side, new: Side) -> Side | None:
    """Return the side whose runs all started first; None if unknown or neither."""
    starts = [sorted(starts_of(side).values()) for side in (base, new)]
    if min(map(len, starts)) <= 1:
        return None
    if starts[0][-1] < starts[1][0]:
        return base
    return new if starts[1][-1] < starts[0][0] else None


def one_after_the_other(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield a caveat if all runs of one side started before the other's.

    On virtual machines, the first half of 24 runs of one build differed significantly
    from the second half in up to half of such comparisons.
    """
    first = started_first(base, new)
    if first is not None:
        yield Caveat(
            "one_after_the_other",
            f"all runs of {first.label} were taken first: a machine that slows or "
            "speeds up meanwhile looks like a change; take turns (base, new, new, "
            "base …), as pprofdiff measure does",
        )


def _starts(side: Side) -> Iterator[tuple[int, int]]:
    """Yield (run, nanoseconds since 1970) of what says when it started."""
    for profile in side.of("profile"):
        content = profile.content
        if content.time_ns and content.duration_ns and is_cpu(content):
            yield profile.run, content.time_ns
    for trace in side.of("trace"):
        if (begin := trace.content.begin_wall_ns) is not None:
            yield trace.run, begin


# With fewer hosts per side, t reaches 7% further than the normal distribution, and one
# odd host is a tenth of its side.
_FEW = 10


def hosts_of_both(base: Side, new: Side) -> int:
    """Return how many hosts are compared with themselves.

    0 unless half of either side's hosts are on the other side too, by name. If there
    are so many hosts that runs are groups of them, a host is in the same group on both
    sides, and groups are paired.
    """
    if base.fleet is None or new.fleet is None:
        return 0
    runs = [{capture.run for capture in side.captures} for side in (base, new)]
    names = base.fleet.names, new.fleet.names
    both = len({*names[0]} & {*names[1]})
    # With fewer hosts in pairs, most host-to-host variation remains.
    return both if runs[0] & runs[1] and both >= MOST * max(map(len, names)) else 0


def fleet_caveats(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield caveats about sides that are fleets; none about other sides."""
    if base.fleet is None or new.fleet is None:
        return
    if len(base.fleet.names) == len(new.fleet.names) == 1:
        yield _one("either side")
    else:
        yield from _few(base, base.fleet)
        yield from _few(new, new.fleet)
    first = started_first(base, new)
    if first is not None:
        yield Caveat(
            "one_after_the_other",
            f"profiles of all hosts of {first.label} began first: load varies by the "
            "hour, which looks like a change; compare builds that ran at the same time",
        )


def _one(side: str) -> Caveat:
    return Caveat(
        "one-host",
        f"{side} is one host: how far hosts of one build differ is unknown, so another "
        "host looks like a change",
    )


def _few(side: Side, fleet: Fleet) -> Iterator[Caveat]:
    count = len(fleet.names)
    if count == 1:
        yield _one(side.label)
    elif count < _FEW:
        yield Caveat(
            "few-hosts",
            f"{side.label} has {count} hosts, too few to show how far hosts of one "
            f"build differ; use {_FEW} or more",
        )
