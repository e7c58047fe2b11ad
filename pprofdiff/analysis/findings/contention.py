"""Waits for locks as mutex and block profiles count them: who waits, and in what.

A block profile counts every wait: in select, and to receive, goroutines wait to be
given work, and that is no cost. So only waits for mutexes and to send count here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.load import inferred_load
from pprofdiff.analysis.findings.model import Fact, Finding
from pprofdiff.analysis.findings.wording import arrow, short, times
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.analysis.stats.calibration import CONTENTION, CONTENTION_SURE, CROWD
from pprofdiff.analysis.stats.judge import beyond_runs
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.csr import first_in_row, grouped, sums
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Side

__all__ = ["contention"]

# Waiting matters from this much of a second in each second.
_WAITED = 0.05
# It is more than chance from here on: a goroutine that waits for half of the time. Two
# runs of one HTTP client with its server waited 0.005 and 0.05 s a second.
_WAITED_MUCH = 0.5
# Sides were measured for as long if their times differ by no more than this.
_AS_LONG = 1.25
_OF_LOCKS = ("sync", "internal/sync", "runtime")
# The functions of locks under which a profile counts waits, and to send.
_LOCK = re.compile(r"(internal/)?sync\.\(\*(Mutex|RWMutex)\)\.|runtime\.chansend")
_SEND = "runtime.chansend"

_Cells = dict[tuple[str, str], list[int]]


class _Waits(NamedTuple):
    """Raw delays of (base, new) by function that waits and lock, and by line of it."""

    cells: _Cells
    lines: dict[str, tuple[Counter[str], Counter[str]]]

    @property
    def totals(self) -> tuple[int, int]:
        base, new = (sum(cell[side] for cell in self.cells.values()) for side in (0, 1))
        return base, new


def contention(case: Case) -> Iterator[Finding]:
    """Goroutines wait longer or shorter for locks: which, and in whose function.

    Mutex profiles tell; where there is none, block profiles. Traces that tell of locks
    know better: they tell how much of the goroutines' time that is.
    """
    diff = _profile(case)
    if diff is None or _told_by_trace(case):
        return
    waits = _waits(diff)
    totals = waits.totals
    crowd = _crowd(case, diff, totals)
    if crowd is not None:
        if beyond_runs(CROWD, *crowd):
            yield _crowded(diff, waits, totals, crowd)
        return
    rates = _rates(case, diff, totals)
    by = "an operation" if diff.normalization.mode == "per_work" else "a second"
    if rates is None:
        # Over what time is unknown, so only what no warm-up explains is told.
        by, rates = "since the start", _since_start(case, totals)
    if rates is None or not max(totals):
        return
    loaded = 1.0 if by == "an operation" else _load_ratio(case)
    base, new = rates[0], rates[1] / loaded
    enough = CONTENTION_SURE if by == "since the start" else CONTENTION
    if not beyond_runs(enough, base, new):
        return
    caller = _most_moved(waits, base / max(totals[0], 1), new / max(totals[1], 1))
    where = f"most of the change under {_place(diff, waits, caller)}"
    if min(base, new) > 0:
        title = f"Goroutines wait {times(new / base)} as long for locks, {where}"
    else:
        title = f"Goroutines {'no longer' if base else 'now'} wait for locks, {where}"
    more = new > base
    yield Finding(
        "contention",
        title,
        f"Waited {by}: {arrow(rates[0], rates[1], 's')}, over all goroutines"
        f"{'' if loaded == 1.0 else '; the factor is by work done'}.",
        (Fact("delay", f"{diff.name} profile", totals[0], totals[1], diff.unit),),
        "Hold it for less time, or split it, if longer waiting matters."
        if more
        else "",
        severity="minor"
        if _much(case, rates, by) and beyond_runs(CONTENTION_SURE, base, new)
        else "info",
        direction="worse" if more else "better",
        names=frozenset({caller}),
    )


def _crowd(
    case: Case, diff: ProfileDiff, totals: tuple[int, int]
) -> tuple[float, float] | None:
    """Return how many goroutines wait for locks at a time, on average.

    None where fewer than one does on both sides, or nothing tells over what time. Such
    a crowd forms at a lock whatever the load; the machine's speed does not change it.
    """
    seconds = _seconds(case, diff) or _as_long(case)
    if seconds is None:
        return None
    base, new = (t / 1e9 / s for t, s in zip(totals, seconds, strict=True))
    return (base, new) if max(base, new) >= 1 else None


def _crowded(
    diff: ProfileDiff,
    waits: _Waits,
    totals: tuple[int, int],
    crowd: tuple[float, float],
) -> Finding:
    """Return how a crowd of goroutines at locks grew, or got smaller."""
    base, new = crowd
    factors = (c / max(t, 1) for c, t in zip(crowd, totals, strict=True))
    caller = _most_moved(waits, *factors)
    return Finding(
        "contention",
        f"{base:.1f} → {new:.1f} goroutines wait for locks at a time, most of the "
        f"change under {_place(diff, waits, caller)}",
        f"Waited in all: {arrow(totals[0], totals[1], diff.unit)}, over all "
        "goroutines, since the profiles began to count.",
        (Fact("delay", f"{diff.name} profile", totals[0], totals[1], diff.unit),),
        "Hold it for less time, or split it." if new > base else "",
        severity="major" if abs(new - base) >= 1 else "minor",
        direction="worse" if new > base else "better",
        names=frozenset({caller}),
        weight=abs(new - base) / max(crowd),
    )


def _much(case: Case, rates: tuple[float, float], by: str) -> bool:
    """Tell whether goroutines wait for much of the time, as far as that is known."""
    if by == "since the start":
        return False
    if by == "a second":
        return max(rates) >= _WAITED_MUCH
    work = case.comparison.work
    if work is None or work.rates is None:
        return False
    return max(r * w for r, w in zip(rates, work.rates, strict=True)) >= _WAITED_MUCH


def _profile(case: Case) -> ProfileDiff | None:
    """Return the mutex profiles, or else the block profiles."""
    for name in ("mutex", "block"):
        for diff in case.comparison.profiles:
            if diff.name == name and diff.sample_type.type == "delay":
                return diff
    return None


def _told_by_trace(case: Case) -> bool:
    if case.trace is None:
        return False
    from pprofdiff.analysis.findings import blocking

    told = blocking.off_cpu(case)
    return any(f.id == "blocked-sync" and f.severity != "info" for f in told)


def _rates(
    case: Case, diff: ProfileDiff, totals: tuple[int, int]
) -> tuple[float, float] | None:
    """Return seconds waited by operation where that is known, else by second.

    None where too little is waited, or nothing tells over what time that was.
    """
    if diff.normalization.mode == "per_work":
        base, new = diff.normalization.scaled(*totals)
        return (base / 1e9, new / 1e9) if max(totals) >= _WAITED * 1e9 else None
    seconds = _seconds(case, diff)
    if seconds is None:
        return None
    base, new = (t / 1e9 / s for t, s in zip(totals, seconds, strict=True))
    return (base, new) if max(base, new) >= _WAITED else None


def _since_start(case: Case, totals: tuple[int, int]) -> tuple[float, float] | None:
    """Return seconds waited in all, where both sides were measured for as long."""
    if max(totals) < _WAITED_MUCH * 1e9 or _as_long(case) is None:
        return None
    return totals[0] / 1e9, totals[1] / 1e9


def _as_long(case: Case) -> tuple[float, float] | None:
    """Return how long the CPU profiles lasted, where both lasted about as long.

    What counts since the process began is over that time and the warm-up before it,
    which may have taken longer on either side.
    """
    if case.cpu is None:
        return None
    base_ns, new_ns = (
        side.profile.duration_ns for side in (case.cpu.diff.base, case.cpu.diff.new)
    )
    if not base_ns or not new_ns:
        return None
    if max(base_ns, new_ns) > _AS_LONG * min(base_ns, new_ns):
        return None
    return base_ns / 1e9, new_ns / 1e9


def _waits(diff: ProfileDiff) -> _Waits:
    """Return who waits for which locks, and where."""
    cells: _Cells = defaultdict(lambda: [0, 0])
    lines = defaultdict[str, tuple[Counter[str], Counter[str]]](
        lambda: (Counter(), Counter())
    )
    functions = diff.paired_functions
    names = functions.names
    own = owned(names)
    other = np.array([package_of(n) not in _OF_LOCKS for n in names], np.bool_)
    lock = np.array([bool(_LOCK.match(n)) for n in names], np.bool_)
    for side, (one, values) in enumerate(
        zip((diff.base, diff.new), diff.values, strict=True)
    ):
        union = functions.union[side][functions.sides[side].ids]
        for start, stop, frames in walk(one.profile):
            ids, offsets = union[frames.line], frames.offsets
            caller = first_in_row(own[ids], offsets)
            nearest = first_in_row(other[ids], offsets)
            caller = np.where(caller >= 0, caller, nearest)
            locks = first_in_row(lock[ids], offsets)
            some = np.flatnonzero((locks >= 0) & (caller >= 0))
            keys = ids[caller[some]].astype(np.int64) * len(names) + ids[locks[some]]
            for key, delay in _added(keys, values[start:stop][some]):
                function, which = divmod(key, len(names))
                cells[names[function], names[which]][side] += delay
            rows = frames.line[caller[some]].astype(np.int64)
            for row, delay in _added(rows, values[start:stop][some]):
                lines[names[union[row]]][side][_line(one.profile, row)] += delay
    return _Waits(cells, lines)


def _added(keys: NDArray[np.int64], delays: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the distinct keys, each with the sum of its delays."""
    cells, at = grouped(keys)
    return list(zip(cells.tolist(), sums(at, delays, len(cells)).tolist(), strict=True))


def _line(profile: Profile, row: int) -> str:
    """Return a row of the profile's lines as ``main.go:57``, "" where it is unknown."""
    functions, locations = profile.functions, profile.locations
    path = profile.strings[functions.filename[locations.line_function[row]]]
    number = int(locations.line_number[row])
    return f"{basename(path)}:{number}" if path and number > 0 else ""


def _most_moved(waits: _Waits, base_factor: float, new_factor: float) -> str:
    """Return the function whose waiting moved most."""
    moved: dict[str, float] = defaultdict(float)
    for (function, _), (base, new) in waits.cells.items():
        moved[function] += new * new_factor - base * base_factor
    return max(moved, key=lambda name: (abs(moved[name]), name))


def _place(diff: ProfileDiff, waits: _Waits, function: str) -> str:
    """Return a function, its line with most of the waiting, and what it waits in.

    Mutex profiles tell of who let go of a lock that others waited for, and block
    profiles of who waited (the documentation of runtime/pprof).
    """
    base, new = waits.lines[function]
    lines = new if any(new.values()) else base
    at, most = max(lines.items(), key=lambda item: item[1])
    how = "unlocked at " if diff.name == "mutex" else ""
    told = f" ({how}{at})" if at and 2 * most > lines.total() else ""
    return f"{short(function)}{told}{_locks(waits.cells, function)}"


def _locks(cells: _Cells, function: str) -> str:
    """Return in what a function waits, as ``, in sync.Mutex``."""
    mine = {lock: cell for (name, lock), cell in cells.items() if name == function}
    most = [max(mine, key=lambda lock: (mine[lock][side], lock)) for side in (0, 1)]
    some = [any(cell[side] for cell in mine.values()) for side in (0, 1)]
    shown = [_shown(lock) for lock, there in zip(most, some, strict=True) if there]
    return f", in {' → '.join(dict.fromkeys(shown))}" if shown else ""


def _shown(lock: str) -> str:
    """Return the lock that a function is of: sync.Mutex, or what takes its place."""
    if lock.startswith(_SEND):
        return "channel sends"
    return re.sub(r"^(?:internal/)?(sync)\.\(\*(\w+)\)\..*", r"\1.\2", lock)


def _load_ratio(case: Case) -> float:
    """Return how many times as much work new does, as far as is known."""
    work = case.comparison.work
    if work is not None and work.rates is not None:
        return work.rates[1] / work.rates[0]
    if case.cpu is None:
        return 1.0
    load = case.cpu.load or inferred_load(case.cpu.diff)
    return load.ratio if load is not None and load.sure else 1.0


def _seconds(case: Case, diff: ProfileDiff) -> tuple[float, float] | None:
    """Return what time the profiles are over: since the start, as logs tell."""
    spans = diff.base.profile.duration_ns, diff.new.profile.duration_ns
    if spans[0] and spans[1]:
        return spans[0] / 1e9, spans[1] / 1e9
    ends = [
        _logged(side, len(one.runs))
        for side, one in zip(
            (case.comparison.base, case.comparison.new),
            (diff.base, diff.new),
            strict=True,
        )
    ]
    return (ends[0], ends[1]) if all(ends) else None


def _logged(side: Side, runs: int) -> float:
    """Return how many seconds all runs took, by a GC log of each; 0 where unknown."""
    logs = [run for c in side.of("gctrace") for run in c.content.runs]
    ends = [float(log.cycles.start_ms[-1]) / 1e3 for log in logs if len(log.cycles)]
    return sum(ends) if len(ends) == runs else 0.0
