"""What goroutines wait for differently: one finding for each end of wait chains."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.ends import (
    Change,
    changes_of,
    of_roots,
)
from pprofdiff.analysis.causes.finding import SEVERITIES, Fact, Finding
from pprofdiff.analysis.causes.off_cpu import (
    REASONS,
    Off,
    grouped,
    held_up,
    lives_of,
    may_move,
    moved,
    repeated,
    serves,
)
from pprofdiff.analysis.causes.traced_units import NONE, per_task, unit_of_waits
from pprofdiff.analysis.causes.traces import (
    beyond,
    direction,
    own_groups,
    runnable_ns,
    scaled,
    sides_of,
    time_fact,
)
from pprofdiff.analysis.causes.wording import arrow, counts, joined, listed, share_pair
from pprofdiff.analysis.judge.calibration import BLOCKED
from pprofdiff.analysis.policy import MOST, MUCH, NOTICED
from pprofdiff.analysis.traces.waited import Wait, end_in_words
from pprofdiff.goruntime.readable import short

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff

# Waits for other goroutines of the program: where both sides have them, their length
# follows from what the others do. Waits on one side alone are causes.
_OF_OTHERS = ("sync.(*Cond).Wait", "chan send", "chan receive", "select")
# At most this many ends become findings; so many places, or root functions, a sentence.
_MOST, _LISTED = 3, 2
# What explains the goroutines' time ranks above what it entails: shares of capacity.
_WEIGHT = 10.0
_UNSURE = "Runs of one build may differ as much, by what else the machine does"


def waits(case: Case) -> Iterator[Finding]:
    """Yield a finding for each end of wait chains that goroutines wait for differently.

    System calls count with and without a P: which one depends on how soon the runtime
    retakes it (sysmon in runtime/proc.go, from 20 µs on).
    """
    diff = case.trace
    if diff is None:
        return
    some, known = _changed(case, diff)
    servers = {one: _server_of(one, some) for one in some}
    for change in [one for one in some if servers[one] is None][:_MOST]:
        clients = [one for one, server in servers.items() if server is change]
        finding = _finding(change, known, clients)
        if change.first is not None:
            places = [known[wait] for wait in change.places if wait in known]
            finding = _in_tasks(case, (places, [change.first]), finding)
        yield finding


def _changed(case: Case, diff: TraceDiff) -> tuple[list[Change], Mapping[Wait, Off]]:
    """Return the changes that become findings, and the places of repeated waits."""
    if not may_move(diff):
        return [], {}
    calls = repeated(case.system_calls)
    blocked = [p for p in repeated(case.waits) if p.reason in REASONS]
    lives = lives_of(diff, calls, blocked)
    if not moved(lives, (*calls, *blocked)):
        return [], {}
    known = grouped(calls, calls=True) | grouped(blocked, calls=False)
    changes = list(changes_of(case, lives, known))
    some = [change for change in changes if change.changed]
    for change in changes:
        if change.first is None and change.end is not None and not change.changed:
            roots = [one for one in of_roots(diff, change.end) if one.changed]
            roots.sort(key=lambda one: -one.lives.part(one.times_ns))
            some += roots[:1]
    some.sort(key=lambda c: (-SEVERITIES.index(c.severity), -lives.part(c.times_ns)))
    return some, known


def _server_of(client: Change, some: Iterable[Change]) -> Change | None:
    """Return what held up the server, in this process, that a client waits for.

    A trace does not say who sends it: the goroutines that wait for requests, if they
    are held up by about as much as others wait for answers.
    """
    if client.answers is None:
        return None
    lives = client.lives
    delta = lives.diff.normalization.delta
    network = [row for row in client.rows if row.chain.end.kind == "network"]
    asked = sum(delta(row.base_ns, row.new_ns) for row in network)
    if asked / (delta(*client.times_ns) or inf) < MOST:
        return None
    for one in some:
        root = next(iter(one.roots), "")
        if (
            one is not client
            and one.kind in ("running", "syscall", "timer", "network", "")
            and root not in client.roots
            and _reads_requests(lives.diff, root)
            and MOST <= delta(*one.times_ns) / asked <= 1 / MOST
        ):
            return one
    return None


def _reads_requests(diff: TraceDiff, root: str) -> bool:
    """Return whether goroutines of a root function wait for the network, both sides."""
    for pair in own_groups(diff):
        if pair.name == root and min(pair.base, pair.new) >= 0:
            return all(
                "network" in side.groups.reasons
                and side.groups.block_ns[row, side.groups.reasons.index("network")] > 0
                for side, row in sides_of(diff, pair)
            )
    return False


def _roots(change: Change) -> list[str]:
    """Return the root functions whose goroutines a finding without a place names."""
    return [change.root] if change.root else [*change.roots][:_LISTED]


class _Words(NamedTuple):
    """The words of a finding: its id, subject and verb, and what is counted."""

    id: str
    subject: str
    verb: str
    events: str
    fact: str


def _words_of(change: Change) -> _Words:
    off = change.first
    if off is None:
        what = "a processor" if change.kind == "processor" else "GC"
        # Its length has the waits for goroutines that waited for it.
        waits = "waits for " if change.kind == "processor" else ""
        least = MUCH * change.lives.part(change.times_ns)
        behind = any(change.lives.part(one) >= least for one in change.behind.values())
        verb = f"are held up by {waits}{what}" if behind else f"wait for {what}"
        return _Words(
            f"wait-{change.kind}",
            f"Goroutines of {short(change.root)}" if change.root else "Goroutines",
            f"{verb} for",
            "waits",
            f"held up by {what}: {change.root or 'without idle waits'}",
        )
    return _of_call(off) if off.calls else _of_wait(off)


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
        f"blocked: {off.what}, in {place.function}",
    )


def _of_call(off: Off) -> _Words:
    name = short(off.what)
    return _Words(
        f"syscall-{name.rpartition('.')[2].lower()}",
        f"{name}, called by {_who(off)},",
        "takes",
        "calls",
        f"in system calls: {off.what}, in {off.places[0].function}",
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
    change: Change, known: Mapping[Wait, Off], clients: Iterable[Change]
) -> Finding:
    """Return the finding on an end; `known` are the places of repeated waits.

    `clients` are waits for the server that it holds up.
    """
    lives, off, words = change.lives, change.first, _words_of(change)
    amount, more, way = _amounts(change)
    behind, fact = _largest_behind(change, known), words.fact
    served = [_behind_server(client) for client in clients]
    after = ""
    if off is None:
        details, facts = _whose(change)
    else:
        details, facts = _where(change, off, words)
    if change.end is not None and change.direct and behind:
        after = f"; with waits for it {scaled(lives.diff, *change.times_ns)}"
    elif change.end is not None and off is not None and not change.direct:
        after = f", held up by {end_in_words(change.end)}"
        fact += after
    if behind:
        whole = time_fact(f"{fact}, and all waits for it", *change.times_ns)
        facts = [*(fact for _, fact in behind), whole, *facts]
        details.insert(0, f"Behind it, {listed([words for words, _ in behind])}")
    if served:
        clients_wait = listed([words for words, _ in served])
        details.insert(0, f"As a client of it, {clients_wait}")
        facts = [*facts, *(fact for _, fact in served)]
    if off is not None:
        more = ": ".join(filter(None, (more, _each(change, off, words.events))))
    lasts = f"lifetime: {change.root}" if change.root else "the goroutines' time"
    return Finding(
        words.id,
        f"{words.subject} {words.verb} {amount}{after}",
        joined([sentence for sentence in (more, *details) if sentence]),
        (
            time_fact(fact, *change.shown_ns),
            *facts,
            time_fact(lasts, *lives.whole_ns),
        ),
        severity=max(
            (one.severity for one in (change, *clients)), key=SEVERITIES.index
        ),
        direction=direction(*way),
        weight=1 + _WEIGHT * lives.part(change.times_ns),
    )


def _in_tasks(case: Case, ways: Iterable[Sequence[Off]], finding: Finding) -> Finding:
    """Return the finding on waits with the tasks or regions that they are in.

    It is major where these last longer or shorter mostly for it. Of `ways`, the first
    whose places are in tasks of one name counts.
    """
    diff, unit = case.trace, NONE
    places: Sequence[Off] = ()
    for places in ways:
        unit = NONE if diff is None else unit_of_waits(diff, places)
        if unit[1]:
            break
    if diff is None or not unit[1]:
        return finding
    finding = finding._replace(label=unit)
    each = per_task(case.comparison, unit, places)
    if each is None or not each.slows or not beyond(diff, BLOCKED, each.lasts_ns):
        return finding
    waits, lasts = arrow(*each.waits_ns, "ns"), arrow(*each.lasts_ns, "ns")
    return finding._replace(
        text=f"Each {unit[0]} waits {waits} of {lasts}. {finding.text}",
        evidence=(
            *finding.evidence,
            time_fact(f"waiting for it per {unit[0]} {unit[1]}", *each.waits_ns),
            time_fact(f"duration of {unit[0]} {unit[1]}", *each.lasts_ns),
        ),
        severity="major",
    )


def _behind_server(client: Change) -> tuple[str, Fact]:
    """Return what a client waits for: in words, and as evidence."""
    words, amount = _words_of(client), _amounts(client)[0]
    return f"{words.subject} for {amount}", time_fact(words.fact, *client.shown_ns)


def _amounts(change: Change) -> tuple[str, str, tuple[float, float]]:
    """Return how much it is: for the title, for the text, and as what it costs."""
    diff, shown = change.lives.diff, change.shown_ns
    life = "their lifetime" if change.root else "the goroutines' time"
    of_time = f"{share_pair(*change.lives.shares(shown))} of {life}"
    amount = scaled(diff, *shown)
    if diff.rates is not None:
        return amount, "", change.rate
    costs = change.rate if change.answers is None else change.answers
    return of_time, f"That is {amount}, added up over goroutines", costs


def _where(change: Change, off: Off, words: _Words) -> tuple[list[str], list[Fact]]:
    """Return what else is known of the first place, in words and as evidence."""
    diff, details, facts = change.lives.diff, list[str](), list[Fact]()
    if change.end is None:
        what, facts = held_up(diff, change.rows)
        details.append(f"What held them up: {what}" if what else "")
    if any(off.lone_ns):
        details.append(f"{scaled(diff, *off.lone_ns)} of it without a processor")
    numbers = f"{words.events}: {off.what}, in {off.places[0].function}"
    facts.append(Fact(numbers, "trace", *off.numbers, words.events))
    if change.shown_ns != off.times_ns:
        facts.append(time_fact(f"{words.fact}, for all reasons", *off.times_ns))
    return details, facts


def _each(change: Change, off: Off, events: str) -> str:
    """Return how often goroutines wait at the first place, and how long each time.

    A library's call may wait several times: its length is not that of one wait.
    """
    base, new = off.numbers
    text = f"{counts(base, new)} {events} in the traces"
    if base and new and not off.places[0].chosen:
        means = off.times_ns[0] / base, off.times_ns[1] / new
        text += f", {arrow(*means, 'ns')} each"
    if change.shown_ns == off.times_ns:
        return text
    whole = scaled(change.lives.diff, *off.times_ns)
    return f"{text}; they take {whole} for all reasons"


def _largest_behind(
    change: Change, known: Mapping[Wait, Off]
) -> list[tuple[str, Fact]]:
    """Return the waits for the end that matter most: in words, and as evidence."""
    lives, end, found = change.lives, change.end, []
    if end is None:
        return []
    least = MUCH * lives.part(change.times_ns)
    for wait, times_ns in change.behind.items():
        if wait not in known or known[wait].calls:
            continue
        loops = all(serves(lives, place) for place in known[wait].places)
        if lives.part(times_ns) >= least and not loops:
            words, amount = _of_wait(known[wait]), scaled(lives.diff, *times_ns)
            what = f"{words.fact}, held up by {end_in_words(end)}"
            found.append((f"{words.subject} for {amount}", time_fact(what, *times_ns)))
    return found[:_LISTED]


def _whose(change: Change) -> tuple[list[str], list[Fact]]:
    """Return whose waits for a processor, or GC, changed, in words and as evidence."""
    diff, details, facts = change.lives.diff, list[str](), list[Fact]()
    if not change.root:
        roots = [(name, change.roots[name]) for name in _roots(change)]
        listing = [f"of {short(name)} ({scaled(diff, *ns)})" for name, ns in roots]
        details.append(f"It changed most for goroutines {listed(listing)}")
        what = _words_of(change).fact
        facts = [time_fact(f"{what}: {name}", *ns) for name, ns in roots]
    if change.kind == "processor":
        details += _while_runnable(diff, change.roots, facts)
    return [*details, "" if change.severity != "info" else _UNSURE], facts


def _while_runnable(
    diff: TraceDiff, roots: Container[str], facts: list[Fact]
) -> Iterator[str]:
    """Yield how much GC marked while root functions were runnable, in words.

    Their figures and p99 scheduling latency are added to `facts`.
    """
    pairs = [pair for pair in own_groups(diff) if pair.name in roots]
    chosen = [
        np.isin(side.groups.group_of, rows)
        for side, rows in zip(
            diff.sides, ([p.base for p in pairs], [p.new for p in pairs]), strict=True
        )
    ]
    waits = [side.waits for side in diff.sides]
    base, new = (
        one.quantiles(some).p99_ns for one, some in zip(waits, chosen, strict=True)
    )
    facts.append(time_fact("p99 scheduling latency, of these", base, new))
    runnable = [sum(runnable_ns(diff, pair)[side] for pair in pairs) for side in (0, 1)]
    marking = [
        one.while_marking_ns(some) for one, some in zip(waits, chosen, strict=True)
    ]
    facts.append(time_fact("runnable, of these", *runnable))
    facts.append(time_fact("runnable while GC was marking, of these", *marking))
    shares = [ns / max(whole, 1) for ns, whole in zip(marking, runnable, strict=True)]
    if max(shares) >= NOTICED:
        of_time = share_pair(shares[0], shares[1])
        yield f"GC was marking for {of_time} of the time they were runnable"
