"""Off-CPU time: waits for other goroutines, for the outside, and system calls.

What goroutines wait for in the end is one change, wherever they wait for it: a finding
is about an end of wait chains and all that waits for it, or about a place of waiting
that has several ends.

A change is measured as a part of the goroutines' time: all that they spend running,
runnable, in system calls and blocked, except idle waits (as in an accept loop) and
waits too rare to be part of repeated work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import (
    SEVERITIES,
    Direction,
    Fact,
    Finding,
    Severity,
)
from pprofdiff.analysis.causes.off_cpu import (
    ENOUGH,
    REASONS,
    Lives,
    Off,
    grouped,
    lives_of,
    may_move,
    places_of,
    repeated,
    shows,
)
from pprofdiff.analysis.causes.traces import (
    beyond,
    direction,
    mostly,
    pair_of,
    scaled,
    time_fact,
)
from pprofdiff.analysis.causes.wording import arrow, counts, joined, listed, share_pair
from pprofdiff.analysis.judge import calibration
from pprofdiff.analysis.judge.calibration import (
    BLOCKED,
    LATENCY_SURE,
    Prior,
)
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.policy import MOST, MUCH, NOTICED
from pprofdiff.analysis.traces import waited
from pprofdiff.analysis.traces.movers import Mover
from pprofdiff.analysis.traces.wait_chains import ENDS
from pprofdiff.analysis.traces.waited import End, Wait, Waited, end_in_words
from pprofdiff.goruntime.readable import short

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff

# Waits for other goroutines of the program: where both sides have them, their length
# follows from what the others do. Waits on one side alone are causes.
_OF_OTHERS = ("sync.(*Cond).Wait", "chan send", "chan receive", "select")
# Ends of chains that say what to look at.
_NAMED = ("running", "syscall", "timer", "network", "gc")
# At most this many system calls, and wait reasons, become findings.
_MOST = 2
# What explains the goroutines' time ranks above what it entails: shares of capacity,
# and scheduling latency.
_WEIGHT = 10.0
# How often something happens depends on the program, how long it takes also on the
# machine: counts per op that differ by this are the program's. In two runs of one build
# system calls per op differed by 3% at most.
_OFTEN, _FAR_OFTENER = Prior(1.25), Prior(8.0)
# On a machine that did other work too, p99 scheduling latency was 2.4 to 16 ms, and the
# mean within 1 ms.
_WAKING_NS = 1_000_000


def off_cpu(case: Case) -> Iterator[Finding]:
    """Yield findings on goroutines that are off the CPU for longer or shorter.

    System calls count with and without a P: which one depends on how soon the runtime
    retakes it (sysmon in runtime/proc.go, from 20 µs on).
    """
    diff = case.trace
    if diff is None or not may_move(diff):
        return
    calls = repeated(case.system_calls)
    waits = [p for p in repeated(case.waits) if p.reason in REASONS]
    lives = lives_of(diff, calls, waits)
    sure = [p for p in waits if p.asked or shows(lives, p)]
    called = grouped(calls, lambda p: p.call, calls=True)
    waited_for = grouped(sure, lambda p: p.reason, calls=False)
    moved = [*_moved(lives, called), *_moved(lives, waited_for)]
    idle = frozenset((p.reason, p.function) for p in case.waits if p.idle)
    ends = _Ends(diff, idle.difference(places_of(waits)))
    for change in (
        *_by_end(lives, ends, moved),
        *_ends_alone(lives, ends, moved, waited_for),
    ):
        alike = called if change.first.calls else waited_for
        instead = "" if change.first.calls else _instead(lives, change.first, waits)
        yield _finding(lives, change, alike, places_of(waits), instead)


class _Ends:
    """What goroutines that do the work wait for, without idle waits."""

    def __init__(self, diff: TraceDiff, idle: Container[tuple[str, str]]) -> None:
        self.rows: dict[End, list[Waited]] = defaultdict(list)
        for row in waited.off_cpu(diff):
            if row.wait[:2] not in idle and owned([row.end.function])[0]:
                self.rows[row.end].append(row)

    def of(self, end: End | None) -> tuple[Waited, ...]:
        """Return what waits for an end and is there itself, largest change first."""
        return () if end is None else tuple(self.rows.get(end, ()))


class _Change(NamedTuple):
    """What changed for one end: where it shows, and all waits for it.

    `first` is the place nearest to the end; `rows` are all places that changed for it.
    `end` is None if no single thing made the change, and if it is the standard
    library's: what a library waits in says nothing about whom it waits for. `held` is
    what waits for the end, the largest change first. If `alone`, the end changed, and
    the places that wait for it did not.
    """

    rows: tuple[Off, ...]
    end: End | None = None
    held: tuple[Waited, ...] = ()
    alone: bool = False

    @property
    def first(self) -> Off:
        return self.rows[0]

    @property
    def times_ns(self) -> tuple[int, int]:
        """The time at the end, or at the place if that has none."""
        if not self.held:
            return self.first.times_ns
        base, new = zip(*((row.base_ns, row.new_ns) for row in self.held), strict=True)
        return sum(base), sum(new)

    @property
    def behind(self) -> list[Waited]:
        """Waits of other goroutines, at other places than the first, for the end."""
        wait = self.first.wait
        return [row for row in self.held if not row.direct and row.wait[:2] != wait]

    @property
    def shown_ns(self) -> tuple[int, int]:
        """The time of the first place that the finding is about."""
        if not self.alone:
            return self.first.times_ns
        here = [row for row in self.held if row.wait[:2] == self.first.wait]
        return sum(row.base_ns for row in here), sum(row.new_ns for row in here)


def _by_end(lives: Lives, ends: _Ends, rows: Sequence[Off]) -> list[_Change]:
    """Return what changed for one end together.

    Goroutines that wait for a lock, or for an answer, wait for what its holder does:
    that is one change, and theirs only shows how many stand behind it.
    """
    together: dict[object, list[Off]] = {}
    named: dict[object, End] = {}
    for row in sorted(rows, key=_distance):
        end, more = _end_of(lives, row), lives.diff.normalization.delta(*row.times_ns)
        key: object = row.places
        if end is not None and owned([end.function])[0]:
            key = end, more > 0
            named[key] = end
        together.setdefault(key, []).append(row)
    return [
        _Change(tuple(some), named.get(key), ends.of(named.get(key)))
        for key, some in together.items()
    ]


def _ends_alone(
    lives: Lives, ends: _Ends, moved: Iterable[Off], rows: Iterable[Off]
) -> Iterator[_Change]:
    """Yield the end that changed most at places that changed less.

    A place at which goroutines wait for several things changes by less than one.
    """
    said = {row.wait for row in moved}
    known = {row.wait: row for row in rows}
    for end in ends.rows:
        if end.kind not in _NAMED:
            continue
        held = ends.of(end)
        behind = [row for row in held if not row.direct and row.wait[:2] in known]
        if not behind or not said.isdisjoint(row.wait[:2] for row in held):
            continue
        change = _Change((known[behind[0].wait[:2]],), end, held, alone=True)
        if lives.part(change.shown_ns) >= MUCH and _all(
            lives, _FAR_OFTENER, change.shown_ns, change.first
        ):
            yield change
            return


def _distance(row: Off) -> int:
    """Return how directly goroutines are held up: in a call, for a lock, for others."""
    if row.calls or row.what in ENDS:
        return 0
    return 1 if row.what == "sync" else 2


def _end_of(lives: Lives, row: Off) -> End | None:
    """Return what made most of a change, None if it is no single thing.

    Waits for a processor, and those that no goroutine ended, are not one.
    """
    if row.calls:
        return End("syscall", row.places[0].function, row.what)
    if row.what in ENDS:
        place = row.places[0]
        return End(ENDS[row.what], place.function, place.call or row.what)
    parts = _parts(lives, row)
    end = max(parts, key=lambda end: parts[end][0], default=None)
    if end is None or end.kind not in _NAMED or parts[end][0] < MOST:
        return None
    return end


def _moved(lives: Lives, rows: Iterable[Off]) -> list[Off]:
    """Return what changed by more than runs of one build differ, largest first.

    For each reason, or system call, that is the function that changed most.
    """
    some = [
        row
        for row in rows
        if not row.places[0].varies
        and (
            _answers(lives, row)
            or (
                lives.part(row.times_ns) >= NOTICED
                and not _by_load(lives, row)
                and (
                    _all(lives, BLOCKED, row.times_ns, row)
                    or (_oftener(lives, row) and _all(lives, _OFTEN, row.times_ns, row))
                )
            )
        )
    ]
    first: dict[str, Off] = {}
    for row in sorted(some, key=lambda row: -lives.part(row.times_ns)):
        first.setdefault(row.what, row)
    return list(first.values())[:_MOST]


def _by_load(lives: Lives, row: Off) -> bool:
    """Return whether it changed mostly with the work that the same goroutines do.

    Where the work is unknown, their running time stands in for it. Another wait that
    grows lowers everything else that they do. A system call also takes longer where
    more of them compete for the CPU.
    """
    if lives.diff.rates is not None:
        return False
    by_run, by_second = lives.rates(row.times_ns, row.roots)
    return mostly(by_second, left=by_run)


def _answers(lives: Lives, row: Off) -> bool:
    """Return whether what a function asks of others takes longer or shorter.

    The time per answer does not depend on how many were asked for, so the work need
    not be known. Below what a busy machine takes to wake a goroutine, it says nothing
    about who answers.
    """
    if row.calls or not row.chosen or min(row.numbers) < ENOUGH:
        return False
    base, new = (t / n for t, n in zip(row.times_ns, row.numbers, strict=True))
    return (
        max(base, new) >= _WAKING_NS
        and max(lives.shares(row.times_ns)) >= MUCH
        and beyond(lives.diff, BLOCKED, (base, new), (inf, inf))
    )


def _all(lives: Lives, prior: Prior, amounts: tuple[int, int], row: Off) -> bool:
    """Return whether amounts changed the same way beyond a prior, in every unit."""
    rates = lives.rates(amounts, row.roots)
    ways = {new > base for base, new in rates}
    return len(ways) == 1 and all(
        beyond(lives.diff, prior, rate, (inf, inf)) for rate in rates
    )


def _oftener(lives: Lives, row: Off) -> bool:
    """Return whether something happens more or less often per op.

    How often goroutines find a lock held, or a channel full, is chance, and where the
    work is unknown, different work shows up too: both need a larger factor.
    """
    often = _OFTEN if row.chosen and lives.diff.rates is not None else _FAR_OFTENER
    return max(row.numbers) >= ENOUGH and _all(lives, often, row.numbers, row)


def _severity(lives: Lives, change: _Change) -> Severity:
    """Return how much a change matters."""
    if _as_operations(lives, change):
        return "major"
    severities = (_severity_of(lives, row, change) for row in change.rows)
    return max(severities, key=SEVERITIES.index)


def _as_operations(lives: Lives, change: _Change) -> bool:
    """Return whether operations take longer or shorter, mostly for an end.

    Their number is counted for longer than a trace lasts, so that no moment explains
    it. What operations do by themselves, as to sleep, may be what paces them.
    """
    diff, rates = lives.diff, lives.diff.rates
    if rates is None or not change.behind:
        return False
    each = 1 / rates[0], 1 / rates[1]
    amounts, whole = (
        pair_of(diff, *times_ns) for times_ns in (change.times_ns, lives.whole_ns)
    )
    more = amounts[1] - amounts[0]
    return (
        beyond(diff, BLOCKED, each)
        and beyond(diff, BLOCKED, amounts)
        and (each[1] > each[0]) == (more > 0)
        and more / ((whole[1] - whole[0]) or inf) >= MOST
    )


def _severity_of(lives: Lives, row: Off, change: _Change) -> Severity:
    """Return how much the change of a place matters; durations differ between runs.

    Waits for other goroutines come in bursts: a few in a short trace are one moment.
    """
    if _answers(lives, row):
        return "major"
    oftener = change.alone or _oftener(lives, row)
    if not row.chosen and not change.alone:
        # Waits for one lock took 12 and 105 µs/op in two runs of one build, on a quiet
        # and on a busy machine.
        oftener = oftener and _all(lives, _FAR_OFTENER, row.times_ns, row)
    short_one = min(side.wall_ns for side in lives.diff.sides) < calibration.LONG_NS
    few = max(row.numbers) < LATENCY_SURE.events
    if not oftener or (short_one and few and not row.chosen):
        return "info"
    shown = change.shown_ns if change.alone else row.times_ns
    return "major" if lives.part(shown) >= MUCH else "minor"


def _instead(lives: Lives, off: Off, waits: Iterable[Mover]) -> str:
    """Return how the same function waits instead, "" if it does not."""
    function, (base, new) = off.places[0].function, off.times_ns
    others = [
        place
        for place in waits
        if (place.function, place.reason == off.what) == (function, False)
        and (place.new_ns > place.base_ns) != (new > base)
        and lives.part((place.base_ns, place.new_ns)) >= NOTICED
    ]
    if not others:
        return ""
    place = others[0]
    how = f"in {short(place.call)}" if place.call else REASONS[place.reason][1]
    amount = scaled(lives.diff, place.base_ns, place.new_ns)
    return f"The same function waits {how} for {amount}"


class _Words(NamedTuple):
    """The words of a finding: its id, subject and verb, and what is counted."""

    id: str
    subject: str
    verb: str
    events: str
    fact: str


def _of_wait(off: Off) -> _Words:
    id_, words = REASONS[off.what]
    if off.one_sided and off.what in _OF_OTHERS:
        id_ = f"own-{id_}"
    place = off.places[0]
    call = short(place.call)
    if place.call.startswith(("sync.", "time.")):
        words = f"in {call}"
    elif place.chosen:
        # What was asked for says more than how the library waits for it.
        words = f"for {call}"
    elif call:
        words = f"{words} in {call}"
    return _Words(
        f"blocked-{id_}",
        f"{_who(off)} waits {words}",
        "for",
        "waits",
        f"blocked: {off.what}",
    )


def _of_call(off: Off) -> _Words:
    name = short(off.what)
    return _Words(
        f"syscall-{name.rpartition('.')[2].lower()}",
        f"{name}, called by {_who(off)},",
        "takes",
        "calls",
        f"in system calls: {off.what}",
    )


def _who(off: Off) -> str:
    """Return who waits: the program's function, its line, and its caller in main.

    Line and caller only if all places that matter share them.
    """
    least = MUCH * max(max(p.base_ns, p.new_ns) for p in off.places)
    large = [p for p in off.places if max(p.base_ns, p.new_ns) >= least]
    lines, callers = ({p.at for p in large}, {p.under for p in large})
    line = lines.pop() if len(lines) == 1 else ""
    caller = callers.pop() if len(callers) == 1 else ""
    at = f" ({line})" if line else ""
    under = f" under {short(caller)}" if caller else ""
    return f"{short(off.places[0].function)}{at}{under}"


def _finding(
    lives: Lives,
    change: _Change,
    rows: Iterable[Off],
    known: Mapping[tuple[str, str], Off],
    instead: str = "",
) -> Finding:
    """Return the finding on a function, with others that wait for the same."""
    diff, off = lives.diff, change.first
    words = _of_call(off) if off.calls else _of_wait(off)
    amount, more, way = _amounts(lives, change)
    alike = sorted(
        (row for row in rows if row.what == off.what and row is not off),
        key=lambda row: -lives.part(row.times_ns),
    )
    others = [
        f"{_who(row)} {scaled(diff, *row.times_ns)}"
        for row in alike[:_MOST]
        if lives.part(row.times_ns) >= NOTICED / _MOST
    ]
    behind = _largest_behind(lives, change, known)
    ends = _ends(lives, off) if change.end is None else []
    lone = scaled(diff, *off.lone_ns) if any(off.lone_ns) else ""
    sentences = [
        f"{more}{_each(lives, change, words.events)}",
        f"Behind it, {listed([words for words, _ in behind])}" if behind else "",
        f"Elsewhere: {listed(others)}" if others else "",
        f"{lone} of it without a processor" if lone else "",
        instead,
        f"What held them up: {listed(ends)}" if ends else "",
    ]
    whole = []
    if behind:
        what = f"{words.fact}, in {off.wait[1]}, and all waits for the same end"
        whole.append(time_fact(what, *change.times_ns))
    if change.alone:
        what = f"{words.fact}, in {off.wait[1]}, for the same end"
        whole.append(time_fact(what, *change.shown_ns))
    return Finding(
        words.id,
        f"{words.subject} {words.verb} {amount}{_for_what(lives, change, behind)}",
        joined([sentence for sentence in sentences if sentence]),
        (
            *(
                time_fact(f"{words.fact}, in {row.places[0].function}", *row.times_ns)
                for row in (off, *alike[:_MOST])
            ),
            *(fact for _, fact in behind),
            *whole,
            time_fact("the goroutines' time", *lives.whole_ns),
            Fact(
                f"{words.events}: {off.what}, in {off.places[0].function}",
                "trace",
                *off.numbers,
                words.events,
            ),
        ),
        severity=_severity(lives, change),
        direction=way,
        weight=1 + _WEIGHT * max(map(lives.part, (change.times_ns, change.shown_ns))),
    )


def _amounts(lives: Lives, change: _Change) -> tuple[str, str, Direction]:
    """Return how long the first place waits: for the title, for the text, the way."""
    diff, off, shown = lives.diff, change.first, change.shown_ns
    of_time = share_pair(*lives.shares(shown))
    amount, more = scaled(diff, *shown), f"That is {of_time} of the goroutines' time"
    way = direction(*lives.rates(shown, off.roots)[0])
    if diff.rates is not None:
        return amount, more, way
    if not _answers(lives, off):
        more = f"That is {amount}, added up over goroutines"
        return f"{of_time} of the goroutines' time", more, way
    base_ns, new_ns = (t / n for t, n in zip(off.times_ns, off.numbers, strict=True))
    return f"{arrow(base_ns, new_ns, 'ns')} each time", more, direction(base_ns, new_ns)


def _for_what(lives: Lives, change: _Change, behind: Sequence[object]) -> str:
    """Return what the title says of the end, and of all that waits for it."""
    off, end = change.first, change.end
    if off.calls:
        whole = f"; with waits for it {scaled(lives.diff, *change.times_ns)}"
        return whole if behind else ""
    itself = end is None or waited.is_wait_itself(Wait(*off.wait, ""), end)
    return "" if end is None or itself else f", held up by {end_in_words(end)}"


def _largest_behind(
    lives: Lives, change: _Change, known: Mapping[tuple[str, str], Off]
) -> list[tuple[str, Fact]]:
    """Return the waits for the end that matter most: in words, and as evidence."""
    least = MUCH * lives.part(change.times_ns)
    found = []
    for row in change.behind:
        place, times_ns = known.get(row.wait[:2]), (row.base_ns, row.new_ns)
        if place is not None and lives.part(times_ns) >= least:
            what = f"blocked: {row.wait.reason}, in {row.wait.function}"
            found.append(
                (
                    f"{_of_wait(place).subject} for {scaled(lives.diff, *times_ns)}",
                    time_fact(f"{what}, for the same end", *times_ns),
                )
            )
    return found[:_MOST]


def _parts(lives: Lives, off: Off) -> dict[End, tuple[float, tuple[int, int]]]:
    """Return what waits were for in the end: the part of their change, and the time.

    Empty if no goroutine ended them: then the wait itself is all that is known.
    """
    if off.calls or off.what in ENDS:
        return {}
    functions = {place.function for place in off.places}
    times = waited.by_end(
        row
        for row in waited.waited(lives.diff)
        if row.wait.reason == off.what and row.wait.function in functions
    )
    whole = lives.diff.normalization.delta(*off.times_ns)
    return {
        end: (float(lives.diff.normalization.delta(*pair)) / whole, pair)
        for end, pair in times.items()
        if whole
    }


def _ends(lives: Lives, off: Off) -> list[str]:
    """Return the ends with most of a change, with their times."""
    parts = {
        end: part
        for end, part in _parts(lives, off).items()
        if end.kind != "blocked" and part[0] >= MUCH
    }
    most = sorted(parts, key=lambda end: -parts[end][0])[:_MOST]
    return [f"{end_in_words(end)} {scaled(lives.diff, *parts[end][1])}" for end in most]


def _each(lives: Lives, change: _Change, events: str) -> str:
    """Return how many there were, and how long each took."""
    off = change.first
    if change.alone:
        whole = scaled(lives.diff, *off.times_ns)
        return f"; it waits there {whole} for all reasons"
    base, new = off.numbers
    text = f": {counts(base, new)} {events} in the traces"
    if base and new:
        means = off.times_ns[0] / base, off.times_ns[1] / new
        text += f", {arrow(*means, 'ns')} each"
    return text
