"""Leaked goroutines, by ``goroutineleak`` profiles (runtime/pprof of Go 1.26).

These list the goroutines that wait for what no goroutine that can run refers to. They
have no go statements: a finding names the function that a goroutine started with.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.parked import (
    WAITS,
    Parked,
    Stacks,
    facts,
    line_at,
    stacks_of_both,
)
from pprofdiff.analysis.causes.rules.goroutines import counts_differ, pace_of
from pprofdiff.analysis.causes.wording import count, counts, joined, listed
from pprofdiff.analysis.policy import FEW_SAMPLES, NAMED
from pprofdiff.analysis.profiles.diff import ProfileDiff, compare
from pprofdiff.analysis.profiles.side import side as profile_side
from pprofdiff.analysis.side import measure
from pprofdiff.goruntime.readable import short
from pprofdiff.identity.model import SAME_NAMES
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import sums, unique_tuples

_ADVICE = {
    "chan send": (
        "Give the channel of the send at {} room, or select on ctx.Done() there."
    ),
    "chan receive": (
        "Close the channel received from at {}, or select on ctx.Done() there."
    ),
    "chan send (nil chan)": "Make the channel of the send at {}: it is nil.",
    "chan receive (nil chan)": "Make the channel received from at {}: it is nil.",
    "select": "Add a case for ctx.Done() to the select at {}.",
    "select (no cases)": "Replace the select without cases at {} by a wait that ends.",
    "sync.Mutex.Lock": "Unlock the mutex that {} waits for on every path.",
    "sync.RWMutex.Lock": "Unlock the RWMutex that {} waits for on every path.",
    "sync.RWMutex.RLock": "Unlock the RWMutex that {} waits for on every path.",
    "sync.WaitGroup.Wait": "Call Done once for each Add before the Wait at {}.",
    "sync.Cond.Wait": "Signal the Cond waited for at {}.",
}
_OTHERWISE = "Let the wait at {} end."
_PROOF = "GC found that no goroutine that can run refers to what they wait for"


def leaked(case: Case) -> Iterator[Finding]:
    """Yield a finding where one side leaks more goroutines."""
    diff = case.comparison.of_type("goroutineleak")
    if diff is None:
        yield from _on_one_side(case)
        return
    if diff.normalization.mode != "absolute":
        return
    base, new = diff.totals
    pace = pace_of(case)
    # Where all of a side's are in a function that the other lacks, it may be renamed.
    places = [
        place
        for place in _places(diff)
        if place.delta * (new - base) > 0
        and 2 * abs(new - base) >= abs(place.delta)
        and (
            not min(place.base, place.new) or counts_differ(place.base, place.new, pace)
        )
    ]
    if not places:
        return
    grew = new > base
    more = sum(abs(place.delta) for place in places)
    yield Finding(
        "goroutine-leak",
        _title(diff, places),
        joined([*(place.sentence for place in places[:NAMED]), _PROOF]),
        facts("leaked goroutines", f"{diff.name} profile", diff.totals, places),
        _advice(places[0]) if grew else "",
        severity="major" if more >= FEW_SAMPLES else "minor",
        direction="worse" if grew else "better",
        weight=more / max(diff.totals),
        functions=tuple(dict.fromkeys(place.function for place in places)),
    )


def _on_one_side(case: Case) -> Iterator[Finding]:
    """Yield a finding where only one side has profiles, and they list leaks.

    The other side may leak as much.
    """
    sides = [
        [c for c in side.of("profile") if measure(c) == "goroutineleak"]
        for side in (case.comparison.base, case.comparison.new)
    ]
    if bool(sides[0]) == bool(sides[1]):
        return
    at = int(bool(sides[1]))
    label, other = case.labels[at], case.labels[1 - at]
    own = profile_side(label, sides[at])
    nothing = own.profile.with_values(np.zeros_like(own.profile.values))
    none = replace(own, profile=nothing, by_run=np.zeros_like(own.by_run))
    places = _places(compare(none, own, identity=SAME_NAMES))
    total = sum(place.new for place in places)
    if not total:
        return
    named = listed([place.words for place in places[:NAMED]])
    counted = facts("leaked goroutines", "goroutineleak profile", (0, total), places)
    yield Finding(
        "goroutine-leak",
        f"{count(total)} leaked goroutines in {label}: blocked forever in {named}",
        joined(
            [
                *(f"{place.where}: {count(place.new)}" for place in places[:NAMED]),
                f"{other} has no goroutineleak profile and may leak as many",
            ]
        ),
        tuple(
            one._replace(base=None) if at else one._replace(base=one.new, new=None)
            for one in counted
        ),
        _advice(places[0]) if at else "",
        severity="minor",
        functions=tuple(dict.fromkeys(place.function for place in places)),
    )


def _title(diff: ProfileDiff, places: list[Parked]) -> str:
    """Return how many goroutines are leaked, and where most of them wait."""
    base, new = diff.totals
    more = sum(place.delta for place in places)
    named = [place.words for place in places[:NAMED]]
    if len(places) > NAMED:
        named.append(f"{len(places) - NAMED} more")
    extra = f"{count(abs(more))} {'more' if more > 0 else 'fewer'} are "
    part = "" if more == new - base else extra
    where = f"{part}blocked forever in {listed(named)}"
    return f"{counts(base, new)} leaked goroutines: {where}"


def _advice(place: Parked) -> str:
    return _ADVICE.get(place.wait, _OTHERWISE).format(
        place.line or short(place.function)
    )


def _places(diff: ProfileDiff) -> list[Parked]:
    """Return the leaked goroutines of both sides by place, largest change first."""
    names, stacks = diff.paired_functions.names, stacks_of_both(diff)
    some = stacks.base + stacks.new > 0
    stacks = Stacks(*(column[some] for column in stacks))
    keys = [stacks.function, stacks.root, stacks.wait]
    first, group = unique_tuples(keys)
    base, new = (sums(group, side, len(first)) for side in (stacks.base, stacks.new))
    lines = _lines(diff, stacks, group, new > base)
    function, root, wait = (key[first].tolist() for key in keys)
    return [
        Parked(
            names[function[i]],
            names[root[i]],
            int(base[i]),
            int(new[i]),
            WAITS[wait[i]],
            lines[i],
        )
        for i in np.argsort(-np.abs(new - base), kind="stable").tolist()
    ]


def _lines(
    diff: ProfileDiff, stacks: Stacks, group: Column, grew: NDArray[np.bool_]
) -> list[str]:
    """Return the line of each place, on new's side where it `grew`, else on base's."""
    lines = [""] * len(grew)
    sides = (
        (diff.base.profile, stacks.base, ~grew),
        (diff.new.profile, stacks.new, grew),
    )
    for profile, waiting, here in sides:
        kept = (waiting > 0) & here[group]
        rows = stacks.line[kept]
        # A line has a row for each of its calls, and for each place it is inlined at.
        numbers = profile.locations.line_number[rows]
        first, at = unique_tuples([group[kept], numbers])
        most = sums(at, waiting[kept], len(first))
        for i in first[np.argsort(most, kind="stable")].tolist():
            lines[group[kept][i]] = line_at(profile, rows[i])
    return lines
