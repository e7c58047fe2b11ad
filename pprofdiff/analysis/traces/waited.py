"""What goroutines waited for: at which line, on what, and what that was in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.interval_rows import lengths
from pprofdiff.analysis.traces.movers import StackFrames
from pprofdiff.analysis.traces.profiles import (
    informative_stacks,
    profile_of,
)
from pprofdiff.analysis.traces.shared_frames import shared_frames
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.wait_chains import (
    ENDS,
    SEVERAL,
    TIMED,
    EndKind,
    WaitChains,
    WaitPaths,
    wait_chains,
)
from pprofdiff.analysis.traces.workers import worker_names
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.readable import short
from pprofdiff.identity.model import SideKeys
from pprofdiff.model.csr import grouped, row_of_item, slices, sums, unique_tuples
from pprofdiff.model.traces.trace import State, Trace

T = TypeVar("T")
Spelling = Callable[[str], str]
Column = NDArray[np.int64]
S = State

# So many places of waiting are shown by themselves, those with most time.
_PLACES = 24
# A goroutine runs after at most a system call, the loss of its P, and runnable time.
_BEFORE = 3
# So many places of a chain are shown below its first.
_DEEPEST = 8


class Wait(NamedTuple):
    """Where goroutines wait: the reason, the program's function, and what it called.

    `call` is such as ``sync.(*Mutex).Lock``, "" for the language's own operations. All
    three are "" for the waits of many places together.
    """

    reason: str
    function: str
    call: str


class End(NamedTuple):
    """What a chain of waits ends at, in which function of the program.

    `call` is the system call, what waited for a timer, or the reason of a wait that no
    goroutine ended, such as ``select``.
    """

    kind: EndKind
    function: str
    call: str


SYSTEM_CALL, RUNNABLE = "system call", "runnable"
"""Reasons for which goroutines are off the CPU without waiting for another."""

_ELSEWHERE = Wait("", "", "")
_COLLECTOR, _PROCESSOR = End("gc", "", ""), End("processor", "", "")
_UNBORN = End("created", "", "")


class Chain(NamedTuple):
    """Who waits for whom: goroutines of a root function, at a place, for an end.

    `waits` are the place at which they wait, that at which the goroutine waits which
    they wait for, and so on. Places follow each other once, and from the ninth on they
    are one, without a name.
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
    """Return what the goroutines that do the work waited for, largest change first.

    The goroutines are those of `worker_rows`. The times of a side add up to the time
    that they are blocked, exactly; functions are paired by the identity of the builds,
    and have new's names.
    """
    return _added_up(diff, spent_waiting)


def waited(diff: TraceDiff) -> tuple[Waited, ...]:
    """Return `chained` by the place at which goroutines wait, and the end."""
    return _by_place(diff, chained(diff))


def off_cpu(diff: TraceDiff) -> tuple[Waited, ...]:
    """Return `waited` and their own system calls and waits for a processor.

    These have the reasons `SYSTEM_CALL` and `RUNNABLE`. The times of a side add up to
    the time that the goroutines are blocked, runnable and in system calls, exactly.
    """
    return _by_place(diff, _added_up(diff, _spent_off))


def off_cpu_by_run(diff: TraceDiff) -> Runs[Mapping[End, int]]:
    """Return the time of each end of `off_cpu` in each trace, raw ns, if above 0."""
    shown, runs = _of_runs(diff, _spent_off)
    sides: list[tuple[Counter[End], ...]] = []
    for side in runs:
        ends = tuple(Counter[End]() for _ in side)
        for run, cells in zip(ends, side, strict=True):
            for key, ns in cells.items():
                run[shown[key].end] += ns
        sides.append(ends)
    return Runs(sides[0], sides[1], diff.in_turns)


def _by_place(diff: TraceDiff, rows: Iterable[Chained]) -> tuple[Waited, ...]:
    """Return the sums of chains by their first wait and their end, likewise sorted."""
    times: dict[tuple[Wait, End], tuple[int, int]] = {}
    for (_, waits, end), base_ns, new_ns in rows:
        base, new = times.get((waits[0], end), (0, 0))
        times[waits[0], end] = base + base_ns, new + new_ns
    return _sorted(diff, [Waited(*pair, *ns) for pair, ns in times.items()])


def _added_up(
    diff: TraceDiff, spent: Callable[[TraceSide], _Spent]
) -> tuple[Chained, ...]:
    """Return the time of all traces of each side, largest change first."""
    shown, runs = _of_runs(diff, spent)
    base, new = (sum(side, Counter[_Key]()) for side in runs)
    return _sorted(
        diff, [Chained(chain, base[key], new[key]) for key, chain in shown.items()]
    )


_R = TypeVar("_R", Chained, Waited)


def _sorted(diff: TraceDiff, rows: Iterable[_R]) -> tuple[_R, ...]:
    by = diff.normalization
    return tuple(sorted(rows, key=lambda row: -abs(by.delta(row.base_ns, row.new_ns))))


def _of_runs(
    diff: TraceDiff, spent: Callable[[TraceSide], _Spent]
) -> tuple[dict[_Key, Chain], list[list[Counter[_Key]]]]:
    """Return the workers' chains, and the time of each in each trace by side."""
    shown: dict[_Key, Chain] = {}
    times: list[list[Counter[_Key]]] = []
    for side, keys, names in zip(
        diff.sides, diff.identity.sides, worker_names(diff), strict=True
    ):
        times.append([])
        for part in side.parts:
            cells: Counter[_Key] = Counter()
            for chain, ns in spent(part).items():
                if chain.root in names:
                    key = _key(keys, chain)
                    # New's names are shown.
                    shown[key] = chain
                    cells[key] += ns
            times[-1].append(cells)
    return shown, times


def by_end(rows: Iterable[Waited]) -> dict[End, tuple[int, int]]:
    """Return the raw time of each end, (base, new) in ns, over all places."""
    times: dict[End, tuple[int, int]] = {}
    for row in rows:
        base, new = times.get(row.end, (0, 0))
        times[row.end] = base + row.base_ns, new + row.new_ns
    return times


def _key(keys: SideKeys, chain: Chain) -> _Key:
    """Return what is equal for chains of base and new that are the same."""
    of, end = keys.function, chain.end
    waits = [(wait.reason, of(wait.function), of(wait.call)) for wait in chain.waits]
    return of(chain.root), *waits, end.kind, of(end.function), of(end.call)


def spent_waiting(side: TraceSide) -> _Spent:
    """Return the chains of one trace's waits, in ns; computed once.

    Waits of the runtime's goroutines, and of those that write the trace, do not count.
    """
    return side.trace.once("waited", lambda trace: _chains(trace, side))


def spent_in_calls(side: TraceSide) -> _Spent:
    """Return one trace's system calls as `spent_waiting` does waits; computed once."""
    return side.trace.once("in calls", lambda trace: _calls(trace, side))


def _spent_off(side: TraceSide) -> _Spent:
    """Return one trace's time off the CPU by root function, place and end, in ns."""
    spent = Counter(spent_waiting(side))
    spent.update(spent_in_calls(side))
    groups = side.groups
    runnable = Wait(RUNNABLE, "", "")
    for name, ns in zip(groups.names, groups.sched_wait_ns.tolist(), strict=True):
        if ns:
            spent[Chain(name, (runnable,), _PROCESSOR)] += ns
    return spent


def _calls(trace: Trace, side: TraceSide) -> _Spent:
    groups, rows = side.groups, trace.intervals
    owner = row_of_item(rows.offsets)
    program = ~(groups.system | groups.tracing)[groups.group_of]
    calling = np.isin(rows.state, (S.SYSCALL, S.SYSCALL_BLOCKED)) & program[owner]
    at = np.flatnonzero(calling)
    calls: _Spent = Counter()
    if not len(at):
        return calls
    ends, end = _Naming(trace, owner).ends(at)
    root = groups.group_of[owner[at]].astype(np.int64)
    first, code = unique_tuples([root, end])
    spent = sums(code, lengths(trace, slice(0, len(rows)))[at], len(first))
    for i, ns in zip(first.tolist(), spent.tolist(), strict=True):
        one = ends[end[i]]
        wait = Wait(SYSTEM_CALL, one.function, one.call)
        calls[Chain(groups.names[root[i]], (wait,), one)] += ns
    return calls


def _chains(trace: Trace, side: TraceSide) -> _Spent:
    groups, rows = side.groups, trace.intervals
    owner = row_of_item(rows.offsets)
    program = ~(groups.system | groups.tracing)[groups.group_of]
    waits = np.flatnonzero((rows.state == S.WAITING) & program[owner])
    if not len(waits):
        return Counter()
    chains, naming = wait_chains(trace), _Naming(trace, owner)
    followed = chains.wait_of >= 0
    followed[waits] = True
    places, place = _places(naming, np.flatnonzero(followed), len(rows))
    root = groups.group_of[owner[waits]].astype(np.int64)
    first, code = unique_tuples([root, place[waits]])
    lasts = sums(code, chains.lengths[waits], len(first))
    # A chain begins at a place, or at what is left of a root function's places.
    few = np.argsort(lasts, kind="stable")[: -_PLACES or None]
    single = np.arange(len(first))
    single[few] = -1 - root[first[few]]
    classes, code = grouped(single[code])
    order = np.argsort(code, kind="stable")
    bounds = np.searchsorted(code[order], np.arange(len(classes) + 1)).tolist()
    ends = naming.all_ends(chains)
    spent: _Spent = Counter()
    for which, (start, stop) in zip(classes.tolist(), pairwise(bounds), strict=True):
        some = order[start:stop]
        begin = SEVERAL if which < 0 else int(place[waits[some[0]]])
        paths = chains.paths(waits[some], place, begin, _DEEPEST)
        spent.update(_named(paths, groups.names[root[some[0]]], places, ends))
    return spent


def _places(
    naming: _Naming, waits: Column, size: int
) -> tuple[list[Wait], NDArray[np.int32]]:
    """Return the distinct places of waits, and that of each of `size` rows."""
    places, code = naming.waits(waits)
    place = np.full(size, SEVERAL, np.int32)
    place[waits] = code
    return places, place


def _named(
    paths: WaitPaths,
    root: str,
    places: list[Wait],
    named: tuple[list[End], NDArray[np.int32]],
) -> _Spent:
    """Return chains of one root function by name; `named` is as of `all_ends`."""
    ends, end_of = named
    pairs, code = grouped(paths.node * len(ends) + end_of[paths.row])
    lasts = sums(code, paths.ns, len(pairs)).tolist()
    chains: list[tuple[Wait, ...]] = []
    for above, place in zip(paths.parent.tolist(), paths.place.tolist(), strict=True):
        wait = _ELSEWHERE if place == SEVERAL else places[place]
        chains.append((*(chains[above] if above >= 0 else ()), wait))
    spent: _Spent = Counter()
    for pair, ns in zip(pairs.tolist(), lasts, strict=True):
        if ns:
            node, end = divmod(pair, len(ends))
            spent[Chain(root, chains[node], ends[end])] += ns
    for node in np.flatnonzero(paths.unborn_ns).tolist():
        spent[Chain(root, chains[node], _UNBORN)] += int(paths.unborn_ns[node])
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
    return words.get(end.kind, f"{spell(end.call)}{where}")


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
    """Return whether a chain that begins with a wait ends with the same wait.

    So do system calls, and times in which a goroutine is runnable.
    """
    if wait.reason in ENDS or wait.reason in (SYSTEM_CALL, RUNNABLE):
        return True
    return wait[:2] == (end.call, end.function)


def off_cpu_in_words(end: End) -> str:
    """Return what goroutines did off the CPU: ``waiting while main.work runs``."""
    where = f" in {short(end.function)}" if end.function else ""
    words = {
        "running": f"waiting while {short(end.function)} runs",
        "syscall": end_in_words(end),
        "blocked": f"blocked: {end.call or 'reason not recorded'}{where}",
    }
    return words.get(end.kind, f"waiting for {end_in_words(end)}")


class _Naming:
    """Names of what goroutines do in rows of a trace."""

    def __init__(self, trace: Trace, owner: Column) -> None:
        self._trace = trace
        self._owner = owner
        self._stacks = informative_stacks(trace)

    def waits(self, rows: Column) -> tuple[list[Wait], Column]:
        """Return the distinct places of rows in which goroutines wait, and each's."""
        trace = self._trace
        reason = trace.intervals.reason[rows].astype(np.int64)
        stack = self._stacks[trace.intervals.stack[rows]]
        first, code, names = self._distinct(rows, stack, reason)
        places = [
            Wait(trace.reasons[int(reason[i])], function, call)
            for i, (function, call, _) in zip(first.tolist(), names, strict=True)
        ]
        return _merged(places, code)

    def ends(
        self, rows: Column, stops: Column | None = None
    ) -> tuple[list[End], Column]:
        """Return the distinct ends of chains that rows are, and each row's.

        `stops` are stacks at which goroutines that run are looked at, not at the end of
        their row.
        """
        held = self._trace.intervals
        state, timed = held.state[rows], self._timed(rows)
        kind = state * np.int64(len(self._trace.reasons) + 1) + held.reason[rows]
        stack, start = self._stacks_of(rows, state), np.zeros(len(rows), np.int64)
        runs = np.flatnonzero(state == S.RUNNING)
        start[runs] = self._stacks_before(rows[runs])
        if stops is not None:
            stack[runs] = stops[runs]
        first, code, names = self._distinct(rows, stack, kind << 1 | timed, start)
        ends = [
            End("timer", name[0], self._reason(int(rows[i])))
            if timed[i]
            else self._end(State(int(state[i])), int(rows[i]), *name)
            for i, name in zip(first.tolist(), names, strict=True)
        ]
        return _merged(ends, code)

    def all_ends(self, chains: WaitChains) -> tuple[list[End], NDArray[np.int32]]:
        """Return the distinct ends that chains can have, and those of `WaitPaths.row`.

        Rows are named in parts, so that only their codes are in memory at once.
        """
        size = len(self._owner)
        place: dict[End, int] = {}
        codes = np.zeros(size + len(chains.row), np.int32)
        woken = self._stacks[self._trace.intervals.stack[chains.row + 1]]
        for first, rows, stops in (
            (0, np.arange(size), None),
            (size, np.maximum(chains.ended_in, 0), woken),
        ):
            for here in slices(len(rows)):
                part = None if stops is None else stops[here]
                ends, code = self.ends(rows[here], part)
                of = [place.setdefault(end, len(place)) for end in ends]
                at = slice(first + here.start, first + here.start + len(code))
                codes[at] = np.array(of, np.int32)[code]
        return list(place), codes

    def _end(
        self, state: State, row: int, function: str, call: str, system_call: str
    ) -> End:
        if state == S.RUNNABLE:
            return _PROCESSOR
        if state == S.RUNNING:
            root = self._root(row)
            gc = is_runtime_like(root) and root.startswith("runtime.")
            return _COLLECTOR if gc else End("running", function, "")
        if state in (S.SYSCALL, S.SYSCALL_BLOCKED):
            return End("syscall", function, system_call)
        reason = self._reason(row)
        kind = ENDS.get(reason, "blocked")
        if kind == "blocked":
            return End(kind, function, reason)
        return _COLLECTOR if kind == "gc" else End(kind, function, call or reason)

    def _timed(self, rows: Column) -> NDArray[np.bool_]:
        """Return in which rows goroutines wait for what a timer sends."""
        held = self._trace.intervals
        reasons = np.array([one in TIMED for one in self._trace.reasons], np.bool_)
        after = np.minimum(rows + 1, len(held) - 1)
        timed: NDArray[np.bool_] = reasons[held.reason[rows]] & (after > rows)
        timed &= self._owner[after] == self._owner[rows]
        timed &= held.state[rows] == S.WAITING
        timed &= (held.state[after] == S.RUNNABLE) & (held.by[after] < 0)
        return timed

    def _reason(self, row: int) -> str:
        return self._trace.reasons[int(self._trace.intervals.reason[row])]

    def _root(self, row: int) -> str:
        names = self._trace.goroutines.name
        return self._trace.strings[int(names[self._owner[row]])]

    def _stacks_of(self, rows: Column, state: NDArray[np.uint8]) -> Column:
        """Return the stack that says what a goroutine does in a row, 0 if unknown.

        That of a running goroutine is where it stops: a trace does not say where it was
        before. A call that lost its processor is named in the row before.
        """
        held = self._trace.intervals
        after = np.minimum(rows + 1, len(held) - 1)
        stops = (self._owner[after] == self._owner[rows]) & (after > rows)
        stops &= np.isin(held.state[after], (S.WAITING, S.SYSCALL, S.RUNNABLE))
        before = np.maximum(rows - 1, 0)
        place = np.where(state == S.RUNNING, np.where(stops, after, -1), rows)
        lost = (state == S.SYSCALL_BLOCKED) & (held.state[before] == S.SYSCALL)
        place = np.where(lost, before, place)
        place = np.where(state == S.RUNNABLE, -1, place)
        return np.where(place < 0, 0, self._stacks[held.stack[place]])

    def _stacks_before(self, rows: Column) -> Column:
        """Return the stack with which goroutines begin to run in rows, 0 if unknown.

        It is that of the wait or call before, or where a goroutine was stopped.
        """
        held, owner = self._trace.intervals, self._owner[rows]
        before, own = rows.copy(), np.zeros(len(rows), np.bool_)
        for _ in range(_BEFORE):
            further = ~own
            before[further] = np.maximum(before[further] - 1, 0)
            state, earlier = held.state[before], np.maximum(before - 1, 0)
            stopped = (state == S.RUNNABLE) & (held.state[earlier] == S.RUNNING)
            stopped &= self._owner[earlier] == owner
            own |= stopped | np.isin(state, (S.WAITING, S.SYSCALL))
        own &= (self._owner[before] == owner) & (before < rows)
        return np.where(own, self._stacks[held.stack[before]], 0)

    def _distinct(
        self, rows: Column, stack: Column, kind: Column, start: Column | None = None
    ) -> tuple[Column, Column, list[tuple[str, str, str]]]:
        """Return the first row of each combination, each row's, and their names.

        Names are of the program's function, what it called, and the system call: with
        `start`, of what it shares with `stack`, if that is of the program. A goroutine
        without a stack is in its root function.
        """
        trace = self._trace
        root = trace.goroutines.name[self._owner[rows]].astype(np.int64)
        start = np.zeros(len(rows), np.int64) if start is None else start
        first, code = _combinations([kind, stack, root, start])
        none = np.zeros((len(first), 2), np.int64)
        shared = shared_frames(trace, start[first], stack[first])
        owner = StackFrames.of(profile_of(trace, shared, none)).owner
        began = np.where(owner < 0, 0, start[first])
        profile = profile_of(trace, shared_frames(trace, began, stack[first]), none)
        frames, words = StackFrames.of(profile), profile.strings
        columns = [
            [words[i] for i in frames.function_at(position, 0).tolist()]
            for position in (frames.function, frames.called, frames.system_call)
        ]
        roots = [trace.strings[i] for i in root[first].tolist()]
        names = [
            (function or own, call, system_call)
            for own, function, call, system_call in zip(roots, *columns, strict=True)
        ]
        return first, code, names


# So many combinations can be counted in a column.
_FEW = 1 << 24


def _combinations(columns: list[Column]) -> tuple[Column, Column]:
    """Return the first row of each combination, and the combination of each row.

    As `unique_tuples` does, but without sorting where few combinations are possible.
    """
    key, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        here = int(column.max(initial=0)) + 1
        if size * here > _FEW:
            return unique_tuples(columns)
        key, size = key * here + column, size * here
    place = np.full(size, -1, np.int64)
    # Later rows first: what stays is the first row.
    place[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    first = np.sort(place[place >= 0])
    place[key[first]] = np.arange(len(first))
    return first, place[key]


def _merged(items: list[T], code: Column) -> tuple[list[T], Column]:
    """Return the distinct items, and each row's by its code among `items`."""
    place = {item: i for i, item in enumerate(dict.fromkeys(items))}
    return list(place), np.array([place[item] for item in items], np.int64)[code]
