"""What goroutines waited for: at which line, on what, and what that was in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.goroutines import Groups
from pprofdiff.analysis.traces.interval_rows import (
    lengths,
    owners_of,
    waits_throughout,
)
from pprofdiff.analysis.traces.movers import StackFrames, movers
from pprofdiff.analysis.traces.profiles import (
    informative_stacks,
    profile_of,
    shared_frames,
)
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.wait_chains import (
    ENDS,
    SEVERAL,
    TIMED,
    EndKind,
    Rows,
    WaitChains,
    WaitPaths,
    wait_chains,
)
from pprofdiff.analysis.traces.workers import worker_names
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.readable import short
from pprofdiff.identity.model import SideKeys
from pprofdiff.model.arrays import Column, Integers, Mask
from pprofdiff.model.csr import few_tuples, slices, sums
from pprofdiff.model.traces.trace import State, Trace

T = TypeVar("T")
Spelling = Callable[[str], str]
S = State

# Places of waiting shown by themselves: those with the most time.
_PLACES = 24
# A goroutine runs after at most a system call, the loss of its P, and runnable time.
_BEFORE = 3
# Places of a chain shown below its first.
_DEEPEST = 8


class Wait(NamedTuple):
    """Where goroutines wait: the reason, the program's function, and what it called.

    `call` is such as ``sync.(*Mutex).Lock``, "" for the language's own operations. All
    three are "" for many places together.
    """

    reason: str
    function: str
    call: str


class End(NamedTuple):
    """What a chain of waits ends at, and in which function of the program.

    `call` is the system call, what waited for a timer, or the reason of a wait that no
    goroutine ended, such as ``select``.
    """

    kind: EndKind
    function: str
    call: str


SYSTEM_CALL, RUNNABLE = _OWN = "system call", "runnable"
"""Reasons for which goroutines are off the CPU without waiting for another."""

_ELSEWHERE = Wait("", "", "")
_COLLECTOR, _PROCESSOR = End("gc", "", ""), End("processor", "", "")
_UNBORN = End("created", "", "")


class Chain(NamedTuple):
    """Who waits for whom: goroutines of a root function, at a place, for an end.

    Each of `waits` waits for the next. From the ninth on they are one, without a name.
    """

    root: str
    waits: tuple[Wait, ...]
    end: End


class Chained(NamedTuple):
    """Time that goroutines waited in one chain; raw ns, over all traces of a side."""

    chain: Chain
    base_ns: int
    new_ns: int


class Waited(NamedTuple):
    """Time that goroutines waited at one place for one end; raw ns, over all traces."""

    wait: Wait
    end: End
    base_ns: int
    new_ns: int

    @property
    def direct(self) -> bool:
        """Whether goroutines were held up by nothing but what they waited for."""
        return is_wait_itself(self.wait, self.end)


_Spent = Counter[Chain]
_Key = tuple[object, ...]


def chained(diff: TraceDiff) -> tuple[Chained, ...]:
    """Return what the goroutines of `worker_rows` waited for, largest change first.

    A side's times add up exactly to these goroutines' blocked time. Functions have
    new's names.
    """
    rows = off_cpu_chains(diff)
    return tuple(row for row in rows if row.chain.waits[0].reason not in _OWN)


def waited(diff: TraceDiff) -> tuple[Waited, ...]:
    """Return `chained` by where goroutines wait, and the end."""
    return diff.once("waited", lambda diff: _by_place(diff, chained(diff)))


def off_cpu_chains(diff: TraceDiff) -> tuple[Chained, ...]:
    """Return `chained` plus the goroutines' own system calls and runnable time.

    These have the reasons `SYSTEM_CALL` and `RUNNABLE`. A side's times add up exactly
    to the goroutines' time off the CPU.
    """
    return diff.once("off cpu chains", lambda diff: _added_up(diff, worker_names(diff)))


def off_cpu_of_all(diff: TraceDiff) -> tuple[Chained, ...]:
    """Return `off_cpu_chains` of all goroutines, including the runtime's."""
    return _added_up(diff, [{*side.groups.names} for side in diff.sides])


def off_cpu(diff: TraceDiff) -> tuple[Waited, ...]:
    """Return `off_cpu_chains` by where goroutines wait, and the end."""
    return diff.once("off cpu", lambda diff: _by_place(diff, off_cpu_chains(diff)))


def off_cpu_by_run(diff: TraceDiff) -> Runs[Mapping[End, int]]:
    """Return the time of each end of `off_cpu` in each trace, raw ns, if above 0."""
    shown, runs = _of_runs(diff, worker_names(diff))
    sides = [tuple(Counter[End]() for _ in side) for side in runs]
    for ends, cells in zip(chain(*sides), chain(*runs), strict=True):
        for key, ns in cells.items():
            ends[shown[key].end] += ns
    return Runs(sides[0], sides[1], diff.in_turns)


def end_changes(diff: TraceDiff) -> Mapping[End, Estimate[float]]:
    """Return the change of each end's time over runs, without ends that take little."""

    def made(diff: TraceDiff) -> dict[End, Estimate[float]]:
        runs = off_cpu_by_run(diff)
        return diff.changes_of_times(runs.base, runs.new)

    return diff.once("end changes", made)


def _by_place(diff: TraceDiff, rows: Iterable[Chained]) -> tuple[Waited, ...]:
    times = _summed(((row.chain.waits[0], row.chain.end), *row[1:]) for row in rows)
    return _sorted(diff, [Waited(*pair, *ns) for pair, ns in times.items()])


def _summed(rows: Iterable[tuple[T, int, int]]) -> dict[T, tuple[int, int]]:
    times: dict[T, tuple[int, int]] = {}
    for key, base_ns, new_ns in rows:
        base, new = times.get(key, (0, 0))
        times[key] = base + base_ns, new + new_ns
    return times


def _added_up(diff: TraceDiff, roots: Sequence[set[str]]) -> tuple[Chained, ...]:
    shown, runs = _of_runs(diff, roots)
    base, new = (sum(side, Counter[_Key]()) for side in runs)
    return _sorted(
        diff, [Chained(chain, base[key], new[key]) for key, chain in shown.items()]
    )


_R = TypeVar("_R", Chained, Waited)


def _sorted(diff: TraceDiff, rows: Iterable[_R]) -> tuple[_R, ...]:
    by = diff.normalization
    return tuple(sorted(rows, key=lambda row: -abs(by.delta(row.base_ns, row.new_ns))))


def _of_runs(
    diff: TraceDiff, roots: Sequence[set[str]]
) -> tuple[dict[_Key, Chain], list[list[Counter[_Key]]]]:
    """Return chains of a side's root functions, and the time in each trace by side."""
    shown: dict[_Key, Chain] = {}
    times: list[list[Counter[_Key]]] = []
    for side, keys, names in zip(diff.sides, diff.identity.sides, roots, strict=True):
        times.append([])
        for part in side.parts:
            cells: Counter[_Key] = Counter()
            for one, ns in spent_off(part).items():
                if one.root in names:
                    key = _key(keys, one)
                    # New's names are shown.
                    shown[key] = one
                    cells[key] += ns
            times[-1].append(cells)
    return shown, times


def lines_of(diff: TraceDiff) -> dict[Wait, str]:
    """Return the line with most of the time at each place, where one is known."""
    lines: dict[Wait, tuple[int, str]] = {}
    for place in (*movers(diff, "blocked"), *movers(diff, "syscall")):
        wait = Wait(place.reason or SYSTEM_CALL, place.function, place.call)
        most = max(place.base_ns, place.new_ns)
        if place.at and most > lines.get(wait, (0, ""))[0]:
            lines[wait] = most, place.at
    return {wait: line for wait, (_, line) in lines.items()}


def by_end(rows: Iterable[Waited]) -> dict[End, tuple[int, int]]:
    """Return the raw time of each end, (base, new) in ns, over all places."""
    return _summed((row.end, row.base_ns, row.new_ns) for row in rows)


def _key(keys: SideKeys, chain: Chain) -> _Key:
    """Return a key that is equal for the same chain of base and new."""
    of, end = keys.function, chain.end
    waits = [(wait.reason, of(wait.function), of(wait.call)) for wait in chain.waits]
    return of(chain.root), *waits, end.kind, of(end.function), of(end.call)


def spent_off(side: TraceSide) -> _Spent:
    """Return one trace's time off the CPU by chain, in ns; computed once.

    Waits and system calls of the runtime's goroutines and of those that write the trace
    do not count.
    """
    return side.trace.once("off cpu", lambda trace: _off(trace, side.groups))


def _off(trace: Trace, groups: Groups) -> _Spent:
    rows = trace.intervals
    chains, naming = wait_chains(trace), Naming(trace)
    program = ~(groups.system | groups.tracing)[groups.group_of]
    places, ends = _Coded[Wait](len(rows)), _Coded[End](len(rows))
    begins = _Coded[tuple[int, int]](len(rows))
    waited, called = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for here in slices(len(rows)):
        row = np.arange(here.start, here.stop)
        owner = owners_of(rows.offsets, row)
        state, lasts = rows.state[here], lengths(trace, here)
        at = np.flatnonzero(state == S.WAITING)
        named, code = naming.waits(row[at], owner[at])
        places.put(row[at], [wait for wait, _ in named], code)
        ends.put(row[at], [end for _, end in named], code)
        at = at[program[owner[at]]]
        root, place = groups.group_of[owner[at]], places.column[row[at]]
        begins.put(row[at], *_add(waited, root, place, lasts[at]))
        at = np.flatnonzero(state == S.RUNNABLE)
        ends.put(row[at], [_PROCESSOR], np.int64(0))
        at = np.flatnonzero((state != S.WAITING) & (state != S.RUNNABLE))
        ends.put(row[at], *naming.others(row[at], owner[at]))
        calls = (state[at] == S.SYSCALL) | (state[at] == S.SYSCALL_BLOCKED)
        at = at[calls & program[owner[at]]]
        _add(called, groups.group_of[owner[at]], ends.column[row[at]], lasts[at])
    ended = _ended(chains, naming, ends)
    end_of = [*ends.things]
    order, root_of = _begins(waited, begins.column)
    paths = chains.paths(
        root_of,
        [SEVERAL if place is None else place for _, place in order],
        Rows(places.column, ends.column, ended, len(end_of)),
        _DEEPEST,
    )
    roots = [groups.names[group] for group, _ in order]
    spent = _named(paths, roots, [*places.things], end_of)
    for (group, end), ns in called.items():
        one = end_of[end]
        wait = Wait(SYSTEM_CALL, one.function, one.call)
        spent[Chain(groups.names[group], (wait,), one)] += ns
    runnable = Wait(RUNNABLE, "", "")
    for name, ns in zip(groups.names, groups.sched_wait_ns.tolist(), strict=True):
        if ns:
            spent[Chain(name, (runnable,), _PROCESSOR)] += ns
    return spent


def _ended(chains: WaitChains, naming: Naming, ends: _Coded[End]) -> Integers:
    """Return the end of each wait of chains: what its waker did up to the wake-up.

    Unless the waker runs, that is the end of its row, one of `ends`.
    """
    rows = chains.trace.intervals
    ended = _Coded(len(chains.row), ends.things)
    for here in slices(len(chains.row)):
        wait = here.start + np.flatnonzero(chains.last[here] >= 0)
        last = chains.last[wait].astype(np.int64)
        ended.column[wait] = ends.column[last]
        runs = np.flatnonzero(rows.state[last] == S.RUNNING)
        wait, last = wait[runs], last[runs]
        woken = rows.stack[chains.row[wait] + 1]
        ended.put(wait, *naming.wakers(last, chains.waker[wait], woken))
    return ended.column


def _begins(
    waited: Mapping[tuple[int, int], int], pair: Integers
) -> tuple[list[tuple[int, int | None]], Integers]:
    """Return where chains begin: root functions with a place, or with many.

    `waited` is the time by (root function, place), `pair` each row's, -1 for none. Also
    returns the index of each row's beginning.
    """
    lasts = np.array([*waited.values()], np.int64)
    few = {*np.argsort(lasts, kind="stable")[: -_PLACES or None].tolist()}
    pairs: list[tuple[int, int | None]] = [
        (group, None if i in few else place) for i, (group, place) in enumerate(waited)
    ]
    # What is left of a root function's places comes before single places.
    many = sorted({one for one in pairs if one[1] is None}, reverse=True)
    order = [*many, *(one for one in pairs if one[1] is not None)]
    number = {one: i for i, one in enumerate(order)}
    of = np.array([*(number[one] for one in pairs), -1], pair.dtype)
    for here in slices(len(pair)):
        pair[here] = of[pair[here]]
    return order, pair


def _named(
    paths: WaitPaths, roots: list[str], places: list[Wait], ends: list[End]
) -> _Spent:
    """Return chains by name; `roots` are the root functions of the first nodes."""
    chains: list[tuple[Wait, ...]] = []
    by_root: dict[int, list[int]] = {}
    begin = [*range(len(roots))]
    for node, (above, place) in enumerate(
        zip(paths.parent.tolist(), paths.place.tolist(), strict=True)
    ):
        wait = _ELSEWHERE if place == SEVERAL else places[place]
        chains.append((*(chains[above] if above >= 0 else ()), wait))
        if above >= 0:
            begin.append(begin[above])
        by_root.setdefault(begin[node], []).append(node)
    spent: _Spent = Counter()
    for first, nodes in by_root.items():
        ns = paths.ns[nodes]
        for i, end in zip(*(axis.tolist() for axis in np.nonzero(ns)), strict=True):
            spent[Chain(roots[first], chains[nodes[i]], ends[end])] += int(ns[i, end])
        for node in nodes:
            if paths.unborn_ns[node]:
                unborn = Chain(roots[first], chains[node], _UNBORN)
                spent[unborn] += int(paths.unborn_ns[node])
    return spent


def end_in_words(end: End, spell: Spelling = short) -> str:
    """Return what a chain of waits ended at: ``syscall.Fsync in store.(*DB).Sync``."""
    where = f" in {spell(end.function)}" if end.function else ""
    words = {
        "running": f"{spell(end.function)} running",
        "timer": f"{'a timer' if end.call in TIMED else spell(end.call)}{where}",
        "processor": "a processor",
        "gc": "GC",
        "created": "a goroutine that did not exist yet",
        "network": f"the network{where}",
        "blocked": f"{end.call or 'a wait'}{where}, ended by no goroutine",
    }
    call = spell(end.call) if end.call else "a system call"
    return words.get(end.kind, f"{call}{where}")


def wait_in_words(wait: Wait, spell: Spelling = short) -> str:
    """Return where goroutines wait: ``cache.Get waits in sync.(*Mutex).Lock``."""
    if not wait.function:
        return "waits elsewhere"
    if wait.function == wait.reason:
        return f"waits in {wait.reason}"
    how = f" for {wait.reason}" if wait.reason else ""
    how = f" in {spell(wait.call)}" if wait.call else how
    return f"{spell(wait.function)} waits{how}"


def is_wait_itself(wait: Wait, end: End) -> bool:
    """Return whether a chain is one wait or call that is also its end."""
    if wait.reason in ENDS or wait.reason in _OWN:
        return True
    return wait[:2] == (end.call, end.function)


def off_cpu_in_words(end: End) -> str:
    """Return what goroutines did off the CPU: ``waiting while main.work runs``."""
    where = f" in {short(end.function)}" if end.function not in ("", end.call) else ""
    words = {
        "running": f"waiting while {short(end.function)} runs",
        "syscall": end_in_words(end),
        "blocked": f"blocked: {end.call or 'reason not recorded'}{where}",
    }
    return words.get(end.kind, f"waiting for {end_in_words(end)}")


def _blocked(reason: str, function: str, call: str, *, timed: bool = False) -> End:
    """Return the end of a chain at a wait that no goroutine ended, or a timer did."""
    if timed:
        return End("timer", function, reason)
    kind = ENDS.get(reason, "blocked")
    if kind == "blocked":
        return End(kind, function, reason)
    return _COLLECTOR if kind == "gc" else End(kind, function, call or reason)


class Naming:
    """Names of what goroutines do in rows of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._stacks = informative_stacks(trace)
        self._throughout = waits_throughout(trace)
        self._names: dict[tuple[int, int, int], tuple[str, str, str]] = {}

    def waits(
        self, rows: Column, owner: Column
    ) -> tuple[list[tuple[Wait, End]], Column]:
        """Return the distinct waits, as places and as ends, and each row's index.

        `owner` are the rows' goroutines.
        """
        trace = self._trace
        reason = trace.intervals.reason[rows].astype(np.int64)
        stack = self._stacks[trace.intervals.stack[rows]]
        timed = self._timed(rows, owner)
        kind = (reason << 1 | timed) << 1 | self._throughout[owner]
        first, code, names = self._distinct(owner, stack, kind)
        reasons = [trace.reasons[i] for i in reason[first].tolist()]
        whole = self._throughout[owner[first]].tolist()
        ends = zip(reasons, timed[first].tolist(), whole, names, strict=True)
        waits = [
            (
                Wait(why, function, call),
                End("blocked", function, why)
                if throughout
                else _blocked(why, function, call, timed=by_timer),
            )
            for why, by_timer, throughout, (function, call, _) in ends
        ]
        return waits, code

    def others(self, rows: Column, owner: Column) -> tuple[list[End], Column]:
        """Return the distinct ends that rows are, and each row's index.

        The rows' goroutines, `owner`, are not waiting and not runnable.
        """
        state = self._trace.intervals.state[rows].astype(np.int64)
        stack, start = self._stacks_of(rows, owner, state), np.zeros_like(rows)
        runs = np.flatnonzero(state == S.RUNNING)
        start[runs] = self._stacks_before(rows[runs], owner[runs])
        return self._ends(owner, state, stack, start)

    def wakers(
        self, rows: Column, owner: Integers, woken: Integers
    ) -> tuple[list[End], Column]:
        """Like `others`, for what goroutines run in rows up to a wake-up.

        `woken` are their stacks at the wake-up.
        """
        state = np.full(len(rows), S.RUNNING, np.int64)
        start = self._stacks_before(rows, owner)
        return self._ends(owner, state, self._stacks[woken], start)

    def _ends(
        self, owner: Integers, state: Column, stack: Column, start: Column
    ) -> tuple[list[End], Column]:
        first, code, names = self._distinct(owner, stack, state, start)
        ends = [
            self._end(State(int(state[i])), int(owner[i]), function, system_call)
            for i, (function, _, system_call) in zip(first.tolist(), names, strict=True)
        ]
        return ends, code

    def _end(self, state: State, owner: int, function: str, system_call: str) -> End:
        if state == S.GONE:
            return _blocked("", function, "")
        if state != S.RUNNING:
            return End("syscall", function, system_call)
        root = self._trace.strings[int(self._trace.goroutines.name[owner])]
        gc = is_runtime_like(root) and root.startswith("runtime.")
        return _COLLECTOR if gc else End("running", function, "")

    def _timed(self, rows: Column, owner: Column) -> Mask:
        """Return which waits are for what a timer sends."""
        held = self._trace.intervals
        reasons = np.array([one in TIMED for one in self._trace.reasons], np.bool_)
        after = np.minimum(rows + 1, held.offsets[owner + 1] - 1)
        timed: Mask = reasons[held.reason[rows]]
        # A goroutine's last row is followed by another goroutine's.
        timed &= (held.state[after] == S.RUNNABLE) & (held.by[after] < 0)
        return timed

    def _stacks_of(self, rows: Column, owner: Column, state: Column) -> Column:
        """Return the stack that shows what a goroutine does in a row, 0 if unknown.

        A running goroutine has the stack where it stops: a trace does not record where
        it was before. A call that lost its P is named in the row before.
        """
        held = self._trace.intervals
        after = np.minimum(rows + 1, held.offsets[owner + 1] - 1)
        next_state = held.state[after]
        stops = (next_state == S.WAITING) | (next_state == S.SYSCALL)
        stops = (stops | (next_state == S.RUNNABLE)) & (after > rows)
        before = np.maximum(rows - 1, 0)
        lost = (state == S.SYSCALL_BLOCKED) & (held.state[before] == S.SYSCALL)
        place = np.where(state == S.RUNNING, after, np.where(lost, before, rows))
        stack = self._stacks[held.stack[place]]
        return np.where((state == S.RUNNING) & ~stops, 0, stack)

    def _stacks_before(self, rows: Column, owner: Integers) -> Column:
        """Return the stacks at which goroutines resume in rows, 0 if unknown.

        They are where the goroutines waited, made a call or were stopped before.
        """
        held, found = self._trace.intervals, np.zeros_like(rows)
        first = held.offsets[owner]
        live, before = np.arange(len(rows)), rows
        for _ in range(_BEFORE):
            more = np.flatnonzero(before > first[live])
            live, before = live[more], before[more] - 1
            state, earlier = held.state[before], np.maximum(before - 1, first[live])
            stopped = (state == S.RUNNABLE) & (held.state[earlier] == S.RUNNING)
            own = stopped | (state == S.WAITING) | (state == S.SYSCALL)
            found[live[own]] = self._stacks[held.stack[before[own]]]
            live, before = live[~own], before[~own]
        return found

    def _distinct(
        self, owner: Integers, stack: Column, kind: Column, start: Column | None = None
    ) -> tuple[Column, Column, list[tuple[str, str, str]]]:
        """Return the first row of each combination, each row's, and their names.

        Names are the program's function, what it called, and the system call; with
        `start`, of the frames it shares with `stack`, if the program's. A goroutine
        without a stack is in its root function.
        """
        root = self._trace.goroutines.name[owner].astype(np.int64)
        start = np.zeros_like(stack) if start is None else start
        first, code = few_tuples([kind, stack, root, start])
        what = np.stack([stack[first], root[first], start[first]])
        keys = [*zip(*what.tolist(), strict=True)]
        # Parts of a trace have much in common.
        unknown = [i for i, key in enumerate(keys) if key not in self._names]
        if unknown:
            self._names |= self._named(*what[:, unknown])
        return first, code, [self._names[key] for key in keys]

    def _named(
        self, stack: Column, root: Column, start: Column
    ) -> dict[tuple[int, int, int], tuple[str, str, str]]:
        """Return the names of stacks in root functions, by stack, root and start."""
        trace = self._trace
        none = np.zeros((len(stack), 2), np.int64)
        shared = shared_frames(trace, start, stack)
        program = StackFrames.of(profile_of(trace, shared, none)).owner
        began = np.where(program < 0, 0, start)
        profile = profile_of(trace, shared_frames(trace, began, stack), none)
        frames, words = StackFrames.of(profile), profile.strings
        columns = [
            [words[i] for i in frames.function_at(position, 0).tolist()]
            for position in (frames.function, frames.called, frames.system_call)
        ]
        names = [
            (function or trace.strings[own], call, system_call)
            for own, function, call, system_call in zip(
                root.tolist(), *columns, strict=True
            )
        ]
        keys = zip(stack.tolist(), root.tolist(), start.tolist(), strict=True)
        return dict(zip(keys, names, strict=True))


class _Coded(Generic[T]):
    """Codes of rows by first appearance of what they stand for, -1 for none.

    `things` have codes already, and are shared.
    """

    def __init__(self, size: int, things: dict[T, int] | None = None) -> None:
        self.things = {} if things is None else things
        self.column: Integers = np.full(size, -1, np.int16)
        self._widen()

    def _widen(self) -> None:
        if len(self.things) > np.iinfo(self.column.dtype).max:
            self.column = self.column.astype(np.int32)

    def put(self, rows: Column, things: list[T], code: Column | np.int64) -> None:
        place = self.things
        of = np.array([place.setdefault(one, len(place)) for one in things], np.int64)
        self._widen()
        self.column[rows] = of[code]


def _add(
    totals: Counter[tuple[int, int]], root: Integers, other: Integers, ns: Column
) -> tuple[list[tuple[int, int]], Column]:
    """Add ns by root function and another code to `totals`.

    Returns the distinct pairs of codes, and each row's.
    """
    first, code = few_tuples([root, other])
    pairs = [*zip(root[first].tolist(), other[first].tolist(), strict=True)]
    for pair, lasts in zip(pairs, sums(code, ns, len(first)).tolist(), strict=True):
        totals[pair] += lasts
    return pairs, code
