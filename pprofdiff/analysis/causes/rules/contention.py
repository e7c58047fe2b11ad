"""Lock contention by mutex and block profiles: who waits, and for which lock.

A block profile counts every wait, and in select and receive goroutines may just wait to
be given work, which is no cost. So only waits for mutexes and channel sends count here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import inferred_load
from pprofdiff.analysis.causes.finding import Fact, Finding, Severity
from pprofdiff.analysis.causes.parked import line_at
from pprofdiff.analysis.causes.wording import arrow, fixed, times
from pprofdiff.analysis.judge.calibration import CONTENTION, CONTENTION_SURE, CROWD
from pprofdiff.analysis.judge.judge import beyond_runs
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.ledger.views import Dimension, Ledger, View
from pprofdiff.analysis.policy import CLEARLY, LITTLE, MAJOR, MOST, MUCH
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.names import package_of
from pprofdiff.goruntime.readable import short
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import first_in_row, last_in_row
from pprofdiff.model.side import Side

_OF_LOCKS = ("sync", "internal/sync", "runtime")
# Functions of locks, and channel sends, below which a profile counts waits.
_LOCK = r"(internal/)?sync\.\(\*(Mutex|RWMutex)\)\."
_SEND = "runtime.chansend"
_CHANNELS = r"runtime\.(chansend|chanrecv|selectgo)"


class _LockWaits(NamedTuple):
    """The waits for locks of a mutex or block profile.

    The dimensions of `ledger` are ``waiter`` and ``lock``, rows of
    `ProfileDiff.paired_functions`, and ``line``, a position in `lines`; -1 for other
    samples. `lines` are ``main.go:57``, "" if unknown.
    """

    ledger: Ledger
    lines: list[str]

    @property
    def waiters(self) -> View:
        """The delays by ``waiter``."""
        return self.ledger.by("waiter").known("waiter")


def _lock_waits(diff: ProfileDiff, locks: str = "") -> _LockWaits:
    """Return who waits for which locks, and on which lines.

    The waiter is the innermost function of the program, else the innermost outside of
    locks. `locks` matches the functions that count as locks, by default as in a profile
    of this kind.
    """
    names = diff.paired_functions.names
    own = owned(names)
    other = np.array([package_of(n) not in _OF_LOCKS for n in names], np.bool_)
    # Below a send, a mutex profile has the runtime's own lock of the channel.
    locks = locks or (_LOCK if diff.name == "mutex" else f"{_LOCK}|{_SEND}")
    lock = np.array([bool(re.match(locks, n)) for n in names], np.bool_)
    places: dict[str, int] = {}
    codes = [_codes(diff, side, (own, other, lock), places) for side in (0, 1)]
    sizes = len(names), len(names), len(places)
    dimensions = {
        name: Dimension(size, (base, new))
        for name, size, base, new in zip(
            ("waiter", "lock", "line"), sizes, *codes, strict=True
        )
    }
    return _LockWaits(Ledger(diff.run_values, dimensions), list(places))


def _codes(
    diff: ProfileDiff,
    side: int,
    marks: tuple[NDArray[np.bool_], ...],
    places: dict[str, int],
) -> tuple[Column, Column, Column]:
    """Return the waiter, lock and line of each sample; add new lines to `places`."""
    profile = (diff.base, diff.new)[side].profile
    of_line = diff.paired_functions.of_lines[side]
    waiter, lock, line = (np.full(len(profile), -1, np.int64) for _ in range(3))
    for start, stop, frames in walk(profile):
        ids, offsets = of_line[frames.line], frames.offsets
        own, other = (first_in_row(mark[ids], offsets) for mark in marks[:2])
        # A sync.RWMutex has a sync.Mutex in it.
        locks = last_in_row(marks[2][ids], offsets)
        caller = np.where(own >= 0, own, other)
        some = np.flatnonzero((locks >= 0) & (caller >= 0))
        waiter[start:stop][some] = ids[caller[some]]
        lock[start:stop][some] = ids[locks[some]]
        line[start:stop][some] = frames.line[caller[some]]
    rows, at = np.unique(line[line >= 0], return_inverse=True)
    rows_of = [
        places.setdefault(line_at(profile, row), len(places)) for row in rows.tolist()
    ]
    line[line >= 0] = np.array(rows_of, np.int64)[at]
    return waiter, lock, line


def contention(case: Case) -> Iterator[Finding]:
    """Yield a finding where goroutines wait longer or shorter for locks.

    By mutex profiles, else by block profiles, else by those exported from a trace.
    Traces with a finding on locks take precedence: they show how much of the
    goroutines' time it is.
    """
    diff = _profile(case)
    if diff is None or _in_trace(case):
        return
    waits, names = _lock_waits(diff), diff.paired_functions.names
    view = waits.waiters
    totals = int(view.base.sum()), int(view.new.sum())
    crowd = _crowd(case, diff, totals)
    if crowd is not None:
        if beyond_runs(CROWD, *crowd):
            yield _crowded(case, diff, waits, crowd)
        return
    rates = _rates(case, diff, totals)
    by = "per op" if diff.normalization.mode == "per_work" else "per second"
    if rates is None:
        # The time span is unknown, so it takes more than a warm-up explains.
        by, rates = "since the start", _since_start(case, totals)
    if rates is None or not max(totals):
        return
    loaded = 1.0 if by == "per op" else _load_ratio(case)
    base, new = rates[0], rates[1] / loaded
    enough = CONTENTION_SURE if by == "since the start" else CONTENTION
    if not beyond_runs(enough, base, new):
        return
    factors = base / max(totals[0], 1), new / max(totals[1], 1)
    caller = _changed_most(waits, names, *factors)
    where = f"most of the change under {_place(diff, waits, caller)}"
    locks = _noun(diff, totals)
    instead, others = _instead(case, diff, waits, caller)
    where += instead
    if min(base, new) > 0:
        title = f"Goroutines wait {times(new / base)} as long for {locks}, {where}"
    else:
        title = f"Goroutines {'no longer' if base else 'now'} wait for {locks}, {where}"
    more = new > base
    what, facts = _held_up(case, names[caller])
    yield Finding(
        "contention",
        title,
        f"Waited {by}: {arrow(rates[0], rates[1], 's')}, over all goroutines"
        f"{'' if loaded == 1.0 else '; the factor is per unit of work'}"
        f"{_uncounted(diff, totals)}.{what}",
        (_fact(diff, totals), *others, *facts),
        "Hold the lock for less time, or split it, if longer waiting matters."
        if more
        else "",
        severity="minor"
        if _much(case, rates, by)
        and beyond_runs(CONTENTION_SURE, base, new)
        and not instead
        else "info",
        direction="worse" if more else "better",
        names=frozenset({names[caller]}),
    )


def _noun(diff: ProfileDiff, totals: tuple[int, int]) -> str:
    """Return what is waited for, precisely if the whole profile changes the other way.

    From Go 1.22, mutex profiles have the locks inside the runtime too, and block
    profiles have select and receive. Mutex profiles miss readers' waits.
    """
    if _misses_readers(diff):
        return "mutexes and for write locks"
    counted, every = (diff.normalization.delta(*t) for t in (totals, diff.totals))
    if counted * every >= 0:
        return "locks"
    return "sync locks" if diff.name == "mutex" else "sync locks and channel sends"


def _uncounted(diff: ProfileDiff, totals: tuple[int, int]) -> str:
    """Return what else the profile has, "" for nothing."""
    if totals == tuple(diff.totals):
        return ""
    others = (
        "locks inside the runtime" if diff.name == "mutex" else "select and receive"
    )
    return f"; waits for {others} are not counted"


def _fact(diff: ProfileDiff, totals: tuple[int, int]) -> Fact:
    """Return the counted waits as evidence."""
    source = f"{diff.name} profile"
    return Fact("delay of sync locks and sends", source, *totals, diff.unit)


def _crowd(
    case: Case, diff: ProfileDiff, totals: tuple[int, int]
) -> tuple[float, float] | None:
    """Return how many goroutines wait for locks at a time, on average, by side.

    None where it is fewer than one on both sides, or the time span is unknown, as of
    what ``go tool trace`` writes. Such a queue forms at a lock whatever the load and
    the machine's speed.
    """
    if diff.name == "sync":
        return None
    seconds = _seconds(case, diff) or _as_long(case)
    if seconds is None:
        return None
    base, new = (t / 1e9 / s for t, s in zip(totals, seconds, strict=True))
    return (base, new) if max(base, new) >= 1 else None


def _crowded(
    case: Case, diff: ProfileDiff, waits: _LockWaits, crowd: tuple[float, float]
) -> Finding:
    """Return the finding that more, or fewer, goroutines queue for locks."""
    base, new = crowd
    totals = int(waits.waiters.base.sum()), int(waits.waiters.new.sum())
    factors = (c / max(t, 1) for c, t in zip(crowd, totals, strict=True))
    names = diff.paired_functions.names
    caller = _changed_most(waits, names, *factors)
    what, facts = _held_up(case, names[caller])
    instead, others = _instead(case, diff, waits, caller)
    severity: Severity = "major" if abs(new - base) >= 1 else "minor"
    return Finding(
        "contention",
        f"{fixed(base, new, 1)} goroutines wait for {_noun(diff, totals)} at a time, "
        f"most of the change under {_place(diff, waits, caller)}{instead}",
        f"Waited in all: {arrow(totals[0], totals[1], diff.unit)}, over all "
        f"goroutines, since the profiles began to count{_uncounted(diff, totals)}."
        f"{what}",
        (
            _fact(diff, totals),
            *others,
            Fact(
                "goroutines waiting at a time",
                f"{diff.name} profile",
                base,
                new,
                "goroutines",
            ),
            *facts,
        ),
        "Hold the lock for less time, or split it." if new > base else "",
        severity="info" if instead else severity,
        direction="worse" if new > base else "better",
        names=frozenset({names[caller]}),
        weight=abs(new - base) / max(crowd),
    )


def _instead(
    case: Case, diff: ProfileDiff, waits: _LockWaits, caller: int
) -> tuple[str, list[Fact]]:
    """Return for how long the same function waits for channels where not for locks.

    Words that follow the place and their figures, or nothing. With them, locks are a
    part of a wait that goes on, and what changed of them is no cause.
    """
    block = next((d for d in case.comparison.profiles if d.name == "block"), None)
    if block is None:
        return "", []
    name = diff.paired_functions.names[caller]
    view, names = _lock_waits(block, _CHANNELS).waiters, block.paired_functions.names
    rows = [i for i, row in enumerate(view["waiter"].tolist()) if names[row] == name]
    own = waits.waiters.where(waits.waiters["waiter"] == caller)
    locks = int(own.base.sum()), int(own.new.sum())
    channels = int(view.base[rows].sum()), int(view.new[rows].sum())
    (less, more), (few, many) = sorted(channels), sorted(locks)
    if (
        more < MUCH * many
        or less > LITTLE * more
        or few > LITTLE * many
        or (channels[1] > channels[0]) == (locks[1] > locks[0])
    ):
        return "", []
    waited = arrow(*channels, block.unit)
    fact = Fact(f"delay of channels: {name}", "block profile", *channels, block.unit)
    return f"; waits for channels there: {waited} in all", [fact]


def _much(case: Case, rates: tuple[float, float], by: str) -> bool:
    """Return whether goroutines are known to wait for much of the time."""
    if by == "since the start":
        return False
    if by == "per second":
        return max(rates) >= MOST
    work = case.comparison.work
    if work is None or work.rates is None:
        return False
    return max(r * w for r, w in zip(rates, work.rates, strict=True)) >= MOST


def _profile(case: Case) -> ProfileDiff | None:
    """Return the mutex profiles, else the block profiles, which have readers' waits.

    What is exported from a trace counts per op only: how long it took is unknown.
    """
    delays = {
        diff.name: diff
        for diff in case.comparison.profiles
        if diff.sample_type.type == "delay"
    }
    mutex, block = delays.get("mutex"), delays.get("block")
    sync = delays.get("sync")
    if block is None and sync is not None and sync.normalization.mode == "per_work":
        block = sync
    return block if mutex is None or (block and _misses_readers(mutex)) else mutex


def _misses_readers(diff: ProfileDiff) -> bool:
    """Return whether a mutex profile is of locks that readers wait for as well."""
    names = diff.paired_functions.names
    return diff.name == "mutex" and any("sync.(*RWMutex)." in name for name in names)


def _in_trace(case: Case) -> bool:
    if case.trace is None:
        return False
    from pprofdiff.analysis.causes.rules import waits

    return any(
        fact.what.startswith("blocked: sync,")
        for finding in waits.waits(case)
        if finding.severity != "info"
        for fact in finding.evidence
    )


def _held_up(case: Case, function: str) -> tuple[str, list[Fact]]:
    """Return what held up those that wait for locks in a function, by the traces.

    A sentence and its figures. Without traces, it says that they would show it.
    """
    diff = case.trace
    if diff is None:
        return " A trace of each side would show what holds them up.", []
    from pprofdiff.analysis.causes.off_cpu import held_up
    from pprofdiff.analysis.traces.waited import chained

    rows = [row for row in chained(diff) if row.chain.waits[0].reason == "sync"]
    some = [row for row in rows if row.chain.waits[0].function == function]
    what, facts = held_up(diff, some or rows)
    return f" What held them up in the trace: {what}." if what else "", facts


def _rates(
    case: Case, diff: ProfileDiff, totals: tuple[int, int]
) -> tuple[float, float] | None:
    """Return seconds waited per op where operations are known, else per second.

    None where that is too little, or the time span is unknown.
    """
    if diff.normalization.mode == "per_work":
        base, new = diff.normalization.scaled(*totals)
        return (base / 1e9, new / 1e9) if max(totals) >= MAJOR * 1e9 else None
    seconds = _seconds(case, diff)
    if seconds is None:
        return None
    base, new = (t / 1e9 / s for t, s in zip(totals, seconds, strict=True))
    return (base, new) if max(base, new) >= MAJOR else None


def _since_start(case: Case, totals: tuple[int, int]) -> tuple[float, float] | None:
    """Return seconds waited in total, if both sides were measured for equally long."""
    if max(totals) < MOST * 1e9 or _as_long(case) is None:
        return None
    return totals[0] / 1e9, totals[1] / 1e9


def _as_long(case: Case) -> tuple[float, float] | None:
    """Return the durations of the CPU profiles (s), if about equal.

    Values since process start also cover the warm-up before it, which may have taken
    longer on either side.
    """
    if case.cpu is None:
        return None
    base_ns, new_ns = case.cpu.diff.spans_ns
    if not base_ns or not new_ns:
        return None
    if max(base_ns, new_ns) > CLEARLY * min(base_ns, new_ns):
        return None
    return base_ns / 1e9, new_ns / 1e9


def _changed_most(
    waits: _LockWaits, names: Sequence[str], base_factor: float, new_factor: float
) -> int:
    """Return the row of the function whose waiting changed most."""
    view = waits.waiters
    moved = np.abs(view.new * new_factor - view.base * base_factor)
    rows = view["waiter"].tolist()
    best = max(range(len(rows)), key=lambda i: (float(moved[i]), names[rows[i]]))
    return int(rows[best])


def _place(diff: ProfileDiff, waits: _LockWaits, row: int) -> str:
    """Return a function, its line with most of the waiting, and the locks.

    Mutex profiles show who released a lock that others waited for, block profiles who
    waited (runtime/pprof).
    """
    names = diff.paired_functions.names
    own = waits.ledger.by("waiter", "line")
    own = own.where(own["waiter"] == row)
    delays = own.new if own.new.sum() >= own.base.sum() else own.base
    at = int(np.argmax(delays))
    line = waits.lines[int(own["line"][at])]
    how = "unlocked at " if diff.name == "mutex" else ""
    most = line and 2 * int(delays[at]) > int(delays.sum())
    named = f" ({how}{line})" if most else ""
    return f"{short(names[row])}{named}{_locks(waits, names, row)}"


def _locks(waits: _LockWaits, names: Sequence[str], row: int) -> str:
    """Return which locks a function waits for, as ``, in sync.Mutex``."""
    own = waits.ledger.by("waiter", "lock")
    own = own.where(own["waiter"] == row)
    locks = [
        _shown(names[int(own["lock"][np.argmax(delays)])])
        for delays in (own.base, own.new)
        if delays.any()
    ]
    return f", in {' → '.join(dict.fromkeys(locks))}" if locks else ""


def _shown(lock: str) -> str:
    """Return the type of a lock's function: sync.Mutex, or ``channel sends``."""
    if lock.startswith(_SEND):
        return "channel sends"
    return re.sub(r"^(?:internal/)?(sync)\.\(\*(\w+)\)\..*", r"\1.\2", lock)


def _load_ratio(case: Case) -> float:
    """Return new ÷ base of the work done, 1 if unknown."""
    work = case.comparison.work
    if work is not None and work.rates is not None:
        return work.rates[1] / work.rates[0]
    if case.cpu is None:
        return 1.0
    load = case.cpu.load or inferred_load(case.cpu.diff)
    return load.ratio if load is not None and load.sure else 1.0


def _seconds(case: Case, diff: ProfileDiff) -> tuple[float, float] | None:
    """Return the time that the profiles cover (s), by durations, else by GC logs."""
    base_ns, new_ns = diff.spans_ns
    if base_ns and new_ns:
        return base_ns / 1e9, new_ns / 1e9
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
    """Return how long all runs took (s) by their GC logs, 0 if unknown."""
    logs = [run for c in side.of("gctrace") for run in c.content.runs]
    ends = [float(log.cycles.start_ms[-1]) / 1e3 for log in logs if len(log.cycles)]
    return sum(ends) if len(ends) == runs else 0.0
