"""Where goroutines are off the CPU, and what part of their time that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.causes.finding import Fact
from pprofdiff.analysis.causes.traces import (
    group_ns,
    own_groups,
    pair_of,
    runnable_ns,
    scaled,
    sides_of,
    time_fact,
)
from pprofdiff.analysis.causes.wording import listed
from pprofdiff.analysis.judge.calibration import BLOCKED
from pprofdiff.analysis.policy import COVERS, FEW_SAMPLES, MUCH, NOTICED
from pprofdiff.analysis.traces.movers import Mover
from pprofdiff.analysis.traces.waited import (
    SYSTEM_CALL,
    Chained,
    End,
    Wait,
    end_in_words,
)
from pprofdiff.goruntime.names import canonical_user, package_of

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide

REASONS = {
    "sync": ("sync", "for locks and wait groups"),
    "sync.(*Cond).Wait": ("cond", "in sync.(*Cond).Wait"),
    "chan send": ("send", "to send on channels"),
    "chan receive": ("receive", "to receive from channels"),
    "select": ("select", "in select"),
    "network": ("network", "for the network"),
    "sleep": ("sleep", "in time.Sleep"),
}
"""Wait reasons (traceBlockReasonStrings in runtime/traceruntime.go), with their names
in ids and in sentences. Other rules cover waits for GC."""

_CALLS = "system calls"
# Ends that a sentence names.
_ENDS = 2

EVENTS = 40
"""From this many events on, the Poisson spread of a count is below 1/6."""


class Off(NamedTuple):
    """Off-CPU time of one function for one reason, or in one system call.

    Times are raw ns, (base, new). `places` have any root function and caller, largest
    change first.
    """

    what: str
    places: tuple[Mover, ...]
    calls: bool

    @property
    def wait(self) -> Wait:
        """The reason and the function, and which system call."""
        reason, call = (SYSTEM_CALL, self.what) if self.calls else (self.what, "")
        return Wait(reason, self.places[0].function, call)

    @staticmethod
    def place_of(wait: Wait) -> Wait:
        """Return the `wait` of the one that a place of waiting belongs to."""
        return wait if wait.reason == SYSTEM_CALL else wait._replace(call="")

    @property
    def chosen(self) -> bool:
        """Whether the number of events is the program's doing, not chance."""
        return self.calls or all(place.chosen for place in self.places)

    @property
    def one_sided(self) -> bool:
        """Whether one side has none, or so few that they may be chance."""
        return min(self.numbers) < FEW_SAMPLES and max(self.numbers) >= EVENTS

    @property
    def times_ns(self) -> tuple[int, int]:
        """The time off the CPU."""
        return sum(p.base_ns for p in self.places), sum(p.new_ns for p in self.places)

    @property
    def lone_ns(self) -> tuple[int, int]:
        """The time of it in system calls without a P."""
        return (
            sum(p.base_lone_ns for p in self.places),
            sum(p.new_lone_ns for p in self.places),
        )

    @property
    def numbers(self) -> tuple[int, int]:
        """How many waits, or calls, there were."""
        return (
            sum(p.base_number for p in self.places),
            sum(p.new_number for p in self.places),
        )


class Lives(NamedTuple):
    """The goroutines' time, (base, new) in ns.

    By root function there are the running time and the lifetime.
    """

    diff: TraceDiff
    whole_ns: tuple[int, int]
    ran_ns: dict[str, tuple[int, int]]
    lasts_ns: Mapping[str, tuple[int, int]] = MappingProxyType({})

    def part(self, times_ns: tuple[int, int]) -> float:
        """Return a change as a part of the goroutines' time.

        Where the work is known, that is the change per op over the larger side's time;
        else it is the change in share.
        """
        if self.diff.rates is None:
            base, new = self.shares(times_ns)
            return abs(new - base)
        base, new = pair_of(self.diff, *times_ns)
        return abs(new - base) / max(*pair_of(self.diff, *self.whole_ns), 1e-9)

    def shares(self, times_ns: tuple[int, int]) -> tuple[float, float]:
        """Return times as shares of the goroutines' time."""
        base, new = (
            time / max(whole, 1)
            for time, whole in zip(times_ns, self.whole_ns, strict=True)
        )
        return base, new

    def rates(
        self, amounts: tuple[float, float], roots: Iterable[str]
    ) -> list[tuple[float, float]]:
        """Return amounts in every unit in which a change has to show.

        Per op where the work is known. Otherwise per running time of the same
        goroutines, and per second: costlier work lowers the former, a different load
        the latter.
        """
        if self.diff.rates is not None:
            return [pair_of(self.diff, *amounts)]
        ran = [sum(self.ran_ns.get(r, (0, 0))[side] for r in roots) for side in (0, 1)]
        base, new = (
            amount / max(time, 1) for amount, time in zip(amounts, ran, strict=True)
        )
        return [(base, new), pair_of(self.diff, *amounts)]


def lives_of(diff: TraceDiff, calls: Iterable[Mover], waits: Iterable[Mover]) -> Lives:
    """Return the goroutines' time, without idle and rare waits."""
    ran: dict[str, tuple[int, int]] = {}
    lasts: dict[str, tuple[int, int]] = {}
    whole = [0, 0]
    for pair in own_groups(diff):
        lasts[pair.name] = group_ns(diff, pair, "total_ns")
        times = group_ns(diff, pair, "exec_ns")
        key = canonical_user(pair.name)
        more = ran.get(key, (0, 0))
        ran[key] = more[0] + times[0], more[1] + times[1]
        waited = runnable_ns(diff, pair)
        whole = [whole[side] + times[side] + waited[side] for side in (0, 1)]
    for mover in (*calls, *waits):
        whole[0] += mover.base_ns
        whole[1] += mover.new_ns
    return Lives(diff, (whole[0], whole[1]), ran, lasts)


def repeated(places: Iterable[Mover]) -> list[Mover]:
    """Return the places that are part of repeated work."""
    return [
        place
        for place in places
        if not place.idle and max(place.base_number, place.new_number) >= FEW_SAMPLES
    ]


def may_move(diff: TraceDiff) -> bool:
    """Return whether anything may have changed enough, by the groups' times alone.

    The change is compared with the least that the goroutines' time can be: without
    stacks, idle waits are unknown.
    """
    lives = Lives(diff, _not_waiting(diff), {})
    for pair in own_groups(diff):
        base, new = (_off_times(side, row) for side, row in sides_of(diff, pair))
        for what in {*base, *new}:
            if lives.part((base.get(what, 0), new.get(what, 0))) >= NOTICED:
                return True
    return _processors_may_move(diff, lives)


def moved(lives: Lives, places: Iterable[Mover]) -> bool:
    """Return whether what is not idle changed enough, before any wait is followed."""
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for place in places:
        both = sums[place.root, place.function, place.reason or place.call]
        both[0] += place.base_ns
        both[1] += place.new_ns
    if any(lives.part((base, new)) >= NOTICED for base, new in sums.values()):
        return True
    return _processors_may_move(lives.diff, lives)


def _processors_may_move(diff: TraceDiff, lives: Lives) -> bool:
    """Return whether goroutines may wait for a processor differently.

    Such waits are also judged as parts of a root function's lifetime.
    """
    for pair in own_groups(diff):
        waits, lasts = runnable_ns(diff, pair), group_ns(diff, pair, "total_ns")
        least, most = sorted(
            wait / max(life, 1) for wait, life in zip(waits, lasts, strict=True)
        )
        if most - least >= NOTICED and most >= BLOCKED.ratio * least:
            return True
        if lives.part(waits) >= NOTICED:
            return True
    return False


def _not_waiting(diff: TraceDiff) -> tuple[int, int]:
    """Return how long goroutines of the program are not blocked (ns), base and new."""
    columns = ("exec_ns", "sched_wait_ns", "syscall_ns")
    base, new = (sum(map(side.of_program, columns)) for side in diff.sides)
    return base, new


def _off_times(side: TraceSide, row: int) -> dict[str, int]:
    """Return how long a group's goroutines wait, and are in system calls (ns)."""
    if row < 0:
        return {}
    groups = side.groups
    calls = int(groups.syscall_ns[row] + groups.syscall_block_ns[row])
    blocked = dict(zip(groups.reasons, groups.block_ns[row].tolist(), strict=True))
    return {what: blocked.get(what, 0) for what in REASONS} | {_CALLS: calls}


def shows(lives: Lives, place: Mover) -> bool:
    """Return whether a wait is a cost by its numbers, where stacks do not show it.

    A goroutine that waits for work waits for as long as there is none: its whole life
    per op changes with the load, and the wait's share of it hardly does.
    """
    base, new = lives.shares((place.base_ns, place.new_ns))
    if abs(new - base) < NOTICED:
        return False
    longer = [
        rate[1] > rate[0]
        for rate in lives.rates(lives.whole_ns, (canonical_user(place.root),))
    ]
    return longer[0] == (new > base)


def serves(lives: Lives, place: Mover) -> bool:
    """Return whether goroutines wait there to be given work for nearly all their lives.

    They read from a connection, or write what others send, for code of the program
    that is not in their stacks: the longer an operation takes for another reason, the
    longer they wait per op.
    """
    lasts = lives.lasts_ns.get(place.root, (0, 0))
    return (
        not place.asked
        and not place.under
        and package_of(place.function) != "main"
        and all(
            ns >= COVERS * life > 0
            for ns, life in zip((place.base_ns, place.new_ns), lasts, strict=True)
        )
    )


def grouped(places: Iterable[Mover], *, calls: bool) -> dict[Wait, Off]:
    """Return places together by function, and reason or system call, by `Off.wait`."""
    groups: dict[tuple[str, str], list[Mover]] = defaultdict(list)
    for place in places:
        groups[place.call if calls else place.reason, place.function].append(place)
    rows = [Off(what, tuple(some), calls) for (what, _), some in groups.items()]
    return {row.wait: row for row in rows}


def held_up(diff: TraceDiff, rows: Iterable[Chained]) -> tuple[str, list[Fact]]:
    """Return what held up goroutines most: a list in words, and evidence."""
    times: dict[End, tuple[int, int]] = {}
    for row in rows:
        base, new = times.get(row.chain.end, (0, 0))
        times[row.chain.end] = base + row.base_ns, new + row.new_ns
    moved = {end: abs(diff.normalization.delta(*pair)) for end, pair in times.items()}
    least = MUCH * sum(moved.values())
    order = sorted(moved, key=lambda end: -moved[end])
    ends = [end for end in order if moved[end] >= least > 0 and end.kind != "blocked"]
    words = [(end_in_words(end), times[end]) for end in ends[:_ENDS]]
    listing = listed([f"{what} {scaled(diff, *ns)}" for what, ns in words])
    facts = [time_fact(f"held up by {what}", *ns) for what, ns in words]
    return listing, facts
