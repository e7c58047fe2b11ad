"""What goroutines wait for in the end, and whether that changed.

Time off the CPU is split by what it ended at, however many goroutines are between:
whoever waits for a lock waits for what its holder does. Where an end says nothing about
the program, as in a library's own loop, it is the place of waiting.

A change is measured as a part of the goroutines' time: all that they spend running,
runnable, in system calls and blocked, except idle waits (as in an accept loop) and
waits too rare to be part of repeated work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from math import inf
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Severity
from pprofdiff.analysis.causes.off_cpu import (
    EVENTS,
    Lives,
    Off,
    serves,
    shows,
)
from pprofdiff.analysis.causes.traces import (
    beyond,
    group_ns,
    mostly,
    own_groups,
    pair_of,
)
from pprofdiff.analysis.judge import calibration
from pprofdiff.analysis.judge.calibration import BLOCKED, LATENCY_SURE, WAITS, Prior
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.policy import MOST, MUCH, NOTICED
from pprofdiff.analysis.traces.waited import (
    Chained,
    End,
    Wait,
    end_changes,
    is_wait_itself,
    off_cpu_chains,
    off_cpu_of_all,
)
from pprofdiff.goruntime.names import canonical_user
from pprofdiff.model.csr import sums

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide

T = TypeVar("T")

# Ends that are the same wherever goroutines wait for them, and ends that differ by
# function of the program.
_SHARED = ("processor", "gc")
_NAMED = ("running", "syscall", "timer", "network")
# How often something happens depends on the program, how long it takes also on the
# machine: counts per op that differ by this are the program's. In two runs of one build
# system calls per op differed by 3% at most.
_OFTEN, _FAR_OFTENER = Prior(1.25), Prior(8.0)
# On a machine that did other work too, p99 scheduling latency was 2.4 to 16 ms, and the
# mean within 1 ms.
_WAKING_NS = 1_000_000


def changes_of(case: Case, lives: Lives, known: Mapping[Wait, Off]) -> Iterator[Change]:
    """Yield all time off the CPU by its end, or by place; without idle waits.

    `known` are the places of repeated work at which goroutines wait.
    """
    idle = {(p.reason, p.function) for p in case.waits if p.idle}
    idle -= {wait[:2] for wait in known}
    ends, places = _taken_apart(lives, idle, known)
    for end, rows in ends.items():
        first = None if end.kind in _SHARED else _nearest(lives, known, rows)
        # One traced run says little about the scheduler; measurements judge GC.
        if first is not None or (end.kind in _SHARED and not case.comparison.measured):
            alike = _running_there(ends, first) if end.kind == "running" else rows
            yield Change(lives, end, rows, first, _sum(alike))
    for place, rows in places.items():
        if place in known and _sure(lives, known[place]):
            change = Change(lives, None, rows, known[place], _sum(rows))
            if _is_most(lives, change.times_ns, known[place].times_ns):
                yield change


def of_roots(diff: TraceDiff, end: End) -> Iterator[Change]:
    """Yield an end for each root function, as a part of its goroutines' lifetime.

    A few goroutines may wait differently where most do not. Only root functions of the
    program: a library's goroutines wait like the ones that they serve.
    """
    by_root: dict[str, list[Chained]] = defaultdict(list)
    for row in off_cpu_of_all(diff):
        if row.chain.end == end:
            by_root[row.chain.root].append(row)
    counts = [_waits_by_group(side) for side in diff.sides]
    pairs = [*own_groups(diff)]
    for pair in compress(pairs, owned([pair.name for pair in pairs])):
        rows = zip((pair.base, pair.new), counts, strict=True)
        if any(at < 0 or n[at] < WAITS for at, n in rows):
            continue
        ran = {canonical_user(pair.name): group_ns(diff, pair, "exec_ns")}
        lives = Lives(diff, group_ns(diff, pair, "total_ns"), ran)
        some = by_root[pair.name]
        yield Change(lives, end, some, None, _sum(some), pair.name)


def _waits_by_group(side: TraceSide) -> list[int]:
    """Return how often the goroutines of each group were runnable."""
    groups = side.groups
    numbers = np.bincount(side.waits.goroutine, minlength=len(groups.group_of))
    counts: list[int] = sums(groups.group_of, numbers, len(groups)).tolist()
    return counts


def _running_there(
    ends: Mapping[End, list[Chained]], first: Off | None
) -> Iterator[Chained]:
    """Yield waits at a place for all that runs: one's work may be called another's.

    Where a goroutine ran is known by the stacks before and after.
    """
    if first is not None:
        for end, rows in ends.items():
            if end.kind == "running":
                yield from (row for row in rows if _place(row) == first.wait)


def _place(row: Chained) -> Wait:
    return Off.place_of(row.chain.waits[0])


def _taken_apart(
    lives: Lives, idle: Container[tuple[str, str]], known: Mapping[Wait, Off]
) -> tuple[dict[End, list[Chained]], dict[Wait, list[Chained]]]:
    """Return time off the CPU by its end, and the rest by the place of waiting.

    Waits that did not end in the trace are left out. Where goroutines wait on one side
    alone, and mostly for a processor or for GC, the place is the end: its holders are
    delayed like all others.
    """
    rows = [
        row
        for row in off_cpu_chains(lives.diff)
        if row.chain.end.kind != "blocked" and _place(row)[:2] not in idle
    ]
    names = list(dict.fromkeys(row.chain.end.function for row in rows))
    own = dict(zip(names, owned(names), strict=True))
    ends: dict[End, list[Chained]] = defaultdict(list)
    places: dict[Wait, list[Chained]] = defaultdict(list)
    shared: dict[Wait, list[Chained]] = defaultdict(list)
    for row in rows:
        end, place = row.chain.end, _place(row)
        if end.kind in _SHARED:
            shared[place].append(row)
        elif end.kind in _NAMED and own[end.function]:
            ends[end].append(row)
        else:
            places[place].append(row)
    for place, some in shared.items():
        off = known.get(place)
        if off and off.one_sided and _is_most(lives, _sum(some), off.times_ns):
            places[place] += some
        else:
            for row in some:
                ends[row.chain.end].append(row)
    return ends, places


def _is_most(lives: Lives, part_ns: tuple[int, int], whole_ns: tuple[int, int]) -> bool:
    """Return whether a change is most of another."""
    delta = lives.diff.normalization.delta
    return bool(delta(*part_ns) / (delta(*whole_ns) or inf) >= MOST)


def _sure(lives: Lives, off: Off) -> bool:
    """Return whether goroutines that wait there do not just wait to be given work."""
    return off.calls or any(
        p.asked or (shows(lives, p) and not serves(lives, p)) for p in off.places
    )


def _nearest(
    lives: Lives, known: Mapping[Wait, Off], rows: Sequence[Chained]
) -> Off | None:
    """Return the place nearest to an end that has a large part of its change.

    That is where goroutines do themselves what others wait for, else where they wait
    for the lock that it holds, else the place with most of the change.
    """
    delta = lives.diff.normalization.delta
    whole = sum(delta(row.base_ns, row.new_ns) for row in rows)
    parts: dict[tuple[int, Wait], float] = defaultdict(float)
    for row in rows:
        place = _place(row)
        if place in known:
            direct = is_wait_itself(row.chain.waits[0], row.chain.end)
            distance = 0 if direct else 1 if place.reason == "sync" else 2
            parts[distance, place] += delta(row.base_ns, row.new_ns) / (whole or inf)
    order = sorted(parts, key=lambda key: (key[0], -parts[key]))
    for key in order:
        if parts[key] >= MUCH and _sure(lives, known[key[1]]):
            return known[key[1]]
    return None


@dataclass(frozen=True, eq=False)
class Change:
    """What goroutines wait for, with all that waits for it, largest change first.

    `end` is None where only the place of waiting is known. `first` is the place nearest
    to the end, None for a processor and for GC. `alike_ns` is the raw time for what may
    be the same end under another name. With a `root`, it is of that root function's
    goroutines, and `lives` have their lifetime.
    """

    lives: Lives
    end: End | None
    rows: Sequence[Chained]
    first: Off | None
    alike_ns: tuple[int, int]
    root: str = ""

    @cached_property
    def times_ns(self) -> tuple[int, int]:
        """All time for this end, raw ns."""
        return _sum(self.rows)

    @cached_property
    def shown_ns(self) -> tuple[int, int]:
        """What a sentence names, raw ns: the part of it at the first place.

        Without an end it is all that goroutines wait there, whatever held them up, and
        without a place all of it.
        """
        if self.first is None:
            return self.times_ns
        if self.end is None:
            return self.first.times_ns
        return self.places[self.first.wait]

    @cached_property
    def places(self) -> dict[Wait, tuple[int, int]]:
        """The time at each place of waiting, raw ns, largest change first."""
        return self._by(self.rows, _place)

    @cached_property
    def roots(self) -> dict[str, tuple[int, int]]:
        """The time of each root function's goroutines, as `places`."""
        return self._by(self.rows, lambda row: row.chain.root)

    def _by(
        self, some: Iterable[Chained], key: Callable[[Chained], T]
    ) -> dict[T, tuple[int, int]]:
        rows: dict[T, list[Chained]] = defaultdict(list)
        for row in some:
            rows[key(row)].append(row)
        sums = {one: _sum(some) for one, some in rows.items()}
        return dict(sorted(sums.items(), key=lambda item: -self.lives.part(item[1])))

    @property
    def kind(self) -> str:
        """The kind of end, "" for a place of waiting."""
        return self.end.kind if self.end else ""

    @property
    def direct(self) -> bool:
        """Whether the first place is where goroutines meet the end themselves."""
        if self.first is None or self.end is None:
            return False
        return self.first.calls or is_wait_itself(self.first.wait, self.end)

    @property
    def rate(self) -> tuple[float, float]:
        """What it costs per op, or per running time of the same goroutines."""
        return self._rates(self.times_ns)[0]

    @cached_property
    def behind(self) -> dict[Wait, tuple[int, int]]:
        """The time of waits for others, at places other than the first, as `places`."""
        first = self.first and self.first.wait
        return self._by(
            (
                row
                for row in self.rows
                if _place(row) != first
                and not is_wait_itself(row.chain.waits[0], row.chain.end)
            ),
            _place,
        )

    @cached_property
    def changed(self) -> bool:
        """Whether it changed by more than runs of one build differ."""
        if self._varies:
            return False
        if self.answers is not None:
            return True
        return (
            self.lives.part(self.times_ns) >= NOTICED
            and not self._by_load
            and (self._all(BLOCKED) or (self._oftener and self._all(_OFTEN)))
            and self._all(_OFTEN, self.alike_ns)
        )

    @property
    def _varies(self) -> bool:
        """Whether traces of one build differ as much; False with one trace a side."""
        if not self.lives.diff.several:
            return False
        if self.end is None:
            return self.first is not None and self.first.places[0].varies
        change = end_changes(self.lives.diff).get(self.end)
        return change is None or not change.significant

    def _rates(self, amounts: tuple[int, int]) -> list[tuple[float, float]]:
        return self.lives.rates(amounts, set(map(canonical_user, self.roots)))

    def _all(self, prior: Prior, amounts: tuple[int, int] | None = None) -> bool:
        """Return whether it changed one way beyond a prior, in every unit.

        `amounts` are the raw times by default.
        """
        rates = self._rates(amounts or self.times_ns)
        ways = {new > base for base, new in rates}
        return len(ways) == 1 and all(
            beyond(self.lives.diff, prior, rate) for rate in rates
        )

    @property
    def _by_load(self) -> bool:
        """Whether it changed mostly with the work that the same goroutines do.

        Where the work is unknown, their running time is used. Another wait that grows
        lowers everything else that they do. A system call also takes longer where more
        of them compete for the CPU.
        """
        if self.lives.diff.rates is not None:
            return False
        by_run, by_second = self._rates(self.times_ns)
        return mostly(by_second, left=by_run)

    @cached_property
    def answers(self) -> tuple[float, float] | None:
        """The mean time (ns) that what a function asks of others takes, if it changed.

        The work need not be known for that. Below what a busy machine takes to wake a
        goroutine, it says nothing about who answers.
        """
        off = self.first
        if off is None or off.calls or not off.chosen or min(off.numbers) < EVENTS:
            return None
        base, new = (t / n for t, n in zip(off.times_ns, off.numbers, strict=True))
        long = max(base, new) >= _WAKING_NS
        long = long and max(self.lives.shares(off.times_ns)) >= MUCH
        sure = long and beyond(self.lives.diff, BLOCKED, (base, new))
        return (base, new) if sure else None

    @cached_property
    def _oftener(self) -> bool:
        """Whether goroutines wait there, or call, more or less often per op.

        How often goroutines find a lock held, or a channel full, is chance, and unknown
        work may differ: both need a larger factor.
        """
        off = self.first
        if off is None or max(off.numbers) < EVENTS:
            return False
        sure = off.chosen and self.lives.diff.rates is not None
        return self._all(_OFTEN if sure else _FAR_OFTENER, off.numbers)

    @cached_property
    def severity(self) -> Severity:
        """How much it matters; durations differ between runs of one build."""
        if self._slows_operations or self.answers is not None:
            return "major"
        off, diff = self.first, self.lives.diff
        if off is None:
            return "minor" if self._all(LATENCY_SURE._replace(events=0)) else "info"
        part = self.lives.part(self.shown_ns)
        # Waits for one lock took 12 and 105 µs/op in two runs of one build, on a quiet
        # and on a busy machine; so may calls and answers.
        far = self._all(_FAR_OFTENER)
        sure = self._oftener and (off.chosen or far)
        if self.end is not None and not self.direct:
            sure = sure or (far and part >= MUCH)
        # Waits for others come in bursts: a few in a short trace are one moment.
        short_one = min(side.wall_ns for side in diff.sides) < calibration.LONG_NS
        few = max(off.numbers) < LATENCY_SURE.events
        if not sure or (short_one and few and not off.chosen):
            return "info"
        return "major" if part >= MUCH else "minor"

    @property
    def _slows_operations(self) -> bool:
        """Whether operations take longer or shorter, mostly for this end.

        They are counted for longer than a trace lasts, so that no moment explains it.
        What operations do by themselves, such as sleep, may be what paces them.
        """
        lives = self.lives
        diff, rates = lives.diff, lives.diff.rates
        if (
            rates is None
            or self.first is None
            or not any(map(any, self.behind.values()))
        ):
            return False
        each, amounts = (1 / rates[0], 1 / rates[1]), pair_of(diff, *self.times_ns)
        return (
            beyond(diff, BLOCKED, each)
            and beyond(diff, BLOCKED, amounts)
            and (each[1] > each[0]) == (amounts[1] > amounts[0])
            and _is_most(lives, self.times_ns, lives.whole_ns)
        )


def _sum(rows: Iterable[Chained]) -> tuple[int, int]:
    """Return the sums of base and of new, raw ns."""
    base, new = 0, 0
    for row in rows:
        base, new = base + row.base_ns, new + row.new_ns
    return base, new
