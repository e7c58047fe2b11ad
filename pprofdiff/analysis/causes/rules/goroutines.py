"""Goroutine counts that grew or fell, and where the extra goroutines wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Finding, Severity
from pprofdiff.analysis.causes.parked import WAITS, Parked, facts, stacks_of_both
from pprofdiff.analysis.causes.sites import line_of
from pprofdiff.analysis.causes.wording import count, counts, listed, others, times
from pprofdiff.analysis.judge.calibration import GOROUTINES
from pprofdiff.analysis.judge.judge import beyond_runs
from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.policy import MAJOR, MOST, NAMED, SEVERAL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.model.csr import grouped, sums

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff

# The same where the total is within noise: over 32 snapshots of an unchanged server,
# single places varied by up to 34% of all goroutines, all of them connections in code
# of the standard library alone.
_OWN_SHARE = 0.4
# A goroutine takes 2 KiB of stack and some 400 bytes more: a thousand are 2.5 MB, and
# GC scans each stack.
_MANY = 1000
_NOT_LEAKED = (
    "By the goroutineleak profiles most of them are not leaked: what they wait for "
    "can still happen. Look for work that starts faster than it ends."
)


def goroutine_growth(case: Case) -> Iterator[Finding]:
    """Yield a finding where one place has far more, or far fewer, goroutines.

    Without goroutine profiles, the goroutines at the end of the traces count.
    """
    diff, traced = case.comparison.of_type("goroutine"), None
    if diff is None and case.trace is not None:
        # Imported only where there are traces.
        from pprofdiff.analysis.traces.snapshot import goroutines_at_end

        traced, diff = case.trace, goroutines_at_end(case.trace)
    if diff is None or diff.normalization.mode != "absolute":
        return
    if min(diff.totals) <= 0 or _of_leaks(case, diff):
        return
    everywhere = _places(diff)
    pace = pace_of(case)
    all_moved = counts_differ(*diff.totals, pace)
    total = diff.totals[1] - diff.totals[0]
    places = [
        place
        for place in everywhere
        if counts_differ(place.base, place.new, pace)
        and (place.delta > 0) == (total > 0)
        and abs(place.delta) >= MAJOR * max(diff.totals)
        and (all_moved or _stands_out(diff, place))
    ]
    if not places:
        if all_moved and traced is None:
            yield _by_load(diff, places)
        return
    if _alike(diff, everywhere, places):
        if traced is None:
            yield _by_load(diff, places)
        return
    grew = total > 0
    if traced is not None:
        yield _at_end(traced, diff, places, severe=all_moved)
        return
    yield Finding(
        "goroutine-growth",
        _title(diff, places),
        _text(diff, places),
        facts("goroutines", f"{diff.name} profile", diff.totals, places),
        (_NOT_LEAKED if _leaks(case) else _advice(case)) if grew else "",
        severity=_severity(diff, places) if all_moved else "minor",
        direction="worse" if grew else "better",
        weight=abs(_more(places)) / max(diff.totals),
    )


def _at_end(
    traced: TraceDiff, diff: ProfileDiff, places: list[Parked], *, severe: bool
) -> Finding:
    """Return the finding on goroutines at the end of traces."""
    from pprofdiff.analysis.causes.traced_units import unit_of_starts

    grew = _more(places) > 0
    roots = {place.root for place in places}
    return Finding(
        # Not that of profiles: a trace shows what GC and the scheduler do meanwhile.
        "goroutines-at-end",
        _title(diff, places),
        f"At the end of the traces, {_text(diff, places)}",
        facts("goroutines", "trace", diff.totals, places),
        "A goroutineleak profile (Go 1.26 and later) shows which of them can never end."
        if grew
        else "",
        severity=_severity(diff, places) if severe else "minor",
        direction="worse" if grew else "better",
        weight=abs(_more(places)) / max(diff.totals),
        label=unit_of_starts(traced, roots.pop()) if len(roots) == 1 else ("", ""),
    )


def _leaks(case: Case) -> ProfileDiff | None:
    """Return the comparison of what is leaked for ever, None without such profiles."""
    return case.comparison.of_type("goroutineleak")


def _of_leaks(case: Case, diff: ProfileDiff) -> bool:
    """Return whether most of the change is of leaked goroutines, another finding."""
    leaks = _leaks(case)
    if leaks is None:
        return False
    leaked, all_more = (one.totals[1] - one.totals[0] for one in (leaks, diff))
    return leaked * all_more > 0 and abs(leaked) >= MOST * abs(all_more)


def counts_differ(base: int, new: int, pace: float) -> bool:
    """Return whether a count changed more than snapshots of one build differ.

    Also relative to the work done: a count may just follow the load.
    """
    return beyond_runs(GOROUTINES, base, new) and beyond_runs(
        GOROUTINES, base * pace, new
    )


def _stands_out(diff: ProfileDiff, place: Parked) -> bool:
    """Return whether one place's change stands out from what comes and goes.

    If it is more than twice the total's change, goroutines moved there from elsewhere.
    """
    total = diff.totals[1] - diff.totals[0]
    return (
        place.own
        and abs(place.delta) >= _OWN_SHARE * max(diff.totals)
        and 2 * abs(total) >= abs(place.delta)
    )


def _more(places: list[Parked]) -> int:
    return sum(place.delta for place in places)


def pace_of(case: Case) -> float:
    """Return new ÷ base of operations per second, 1 if unknown.

    Requests in flight are those that start per second times how long each takes.
    """
    work = case.comparison.work
    rates = None if work is None else work.rates
    return rates[1] / rates[0] if rates else 1.0


def _places(diff: ProfileDiff) -> list[Parked]:
    """Return the goroutines of both sides by place, largest change first."""
    names = diff.paired_functions.names
    function, root, wait, _, base, new = stacks_of_both(diff)
    places, at = grouped(function << 32 | root)
    totals = [sums(at, column, len(places)) for column in (base, new)]
    # How many more wait for each reason at each place, one row per place.
    count = len(WAITS)
    by_wait = sums(at * count + wait, new - base, len(places) * count)
    sign = np.sign(totals[1] - totals[0])
    most = (by_wait.reshape(len(places), count) * sign[:, None]).argmax(axis=1)
    order = np.argsort(-np.abs(totals[1] - totals[0]), kind="stable")
    own = owned(names)
    return [
        Parked(
            names[int(places[i] >> 32)],
            names[int(places[i] & 0xFFFFFFFF)],
            int(totals[0][i]),
            int(totals[1][i]),
            WAITS[int(most[i])],
            own=bool(own[places[i] >> 32]),
        )
        for i in order.tolist()
    ]


def _alike(diff: ProfileDiff, everywhere: list[Parked], named: list[Parked]) -> bool:
    """Return whether several places changed, and all by the ratio of the totals."""
    ratio = diff.totals[1] / diff.totals[0]
    return len(named) >= SEVERAL and not any(
        beyond_runs(GOROUTINES, place.base * ratio, place.new)
        for place in everywhere
        if max(place.base * ratio, place.new) >= MAJOR * diff.totals[1]
    )


def _by_load(diff: ProfileDiff, places: list[Parked]) -> Finding:
    """Return the finding that there are more or fewer goroutines of all kinds."""
    base, new = diff.totals
    return Finding(
        "goroutine-growth",
        f"{counts(base, new)} goroutines, {times(new / base)}: "
        f"{'in all places alike' if places else 'no place stands out'}",
        "More clients or more requests at once do that: a goroutine profile is of one "
        "instant.",
        facts("goroutines", f"{diff.name} profile", diff.totals, places),
        weight=abs(new - base) / max(diff.totals),
    )


def _title(diff: ProfileDiff, places: list[Parked]) -> str:
    """Return how many goroutines there are, and where the extra ones are."""
    base, new = diff.totals
    more = _more(places)
    words = [place.words for place in places[:NAMED]]
    named = listed([*words, *others(len(places) - NAMED)])
    word = "more" if more > 0 else "fewer"
    verb = "wait" if all(place.wait for place in places) else "are"
    where = f"{verb} in {named}"
    return f"{counts(base, new)} goroutines: {count(abs(more))} {word} {where}"


def _text(diff: ProfileDiff, places: list[Parked]) -> str:
    located = [p._replace(line=line_of(diff, p.function)) for p in places[:NAMED]]
    return f"{'; '.join(place.sentence for place in located)}."


def _advice(case: Case) -> str:
    new = case.labels[1]
    return (
        f"Capture {new} once more later: if the number keeps growing, nothing ends "
        "these goroutines (no close, no deadline, no canceled context); else there are "
        "as many as there is work."
    )


def _severity(diff: ProfileDiff, places: list[Parked]) -> Severity:
    more = abs(_more(places))
    return "major" if more >= _MANY and more >= MOST * max(diff.totals) else "minor"
