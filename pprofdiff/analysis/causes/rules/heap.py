"""Live heap that grew or shrank: which call sites hold it, and whether they free it."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import load_of
from pprofdiff.analysis.causes.finding import Fact, Finding, Severity
from pprofdiff.analysis.causes.rules.gc import held_back
from pprofdiff.analysis.causes.sites import (
    by_place,
    column_of,
    line_of,
)
from pprofdiff.analysis.causes.wording import (
    amount,
    arrow,
    count,
    counts,
    first_functions,
    fixed,
    percent,
    times,
)
from pprofdiff.analysis.judge.calibration import IN_FLIGHT
from pprofdiff.analysis.judge.counts import CountModel, held_moved, held_variance
from pprofdiff.analysis.judge.judge import beyond_runs
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import View, together
from pprofdiff.analysis.policy import (
    MAJOR,
    MINOR,
    MOST,
    MUCH,
    NAMED,
    NEARLY_ALL,
    SEVERAL,
    SIMILAR,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff, compare
from pprofdiff.analysis.profiles.kinds import is_of_go
from pprofdiff.analysis.profiles.own_code import FLAT_WITH_LIBRARY
from pprofdiff.goruntime.readable import HELD, short
from pprofdiff.model.arrays import Column, Mask

# A slice that grows by append has at least a fifth of what it allocated in use, as each
# step adds a quarter to its capacity. Sites that keep less turn over, like requests in
# flight.
_KEPT = 0.2
_EVER = "since the process started"
_MIB = 1 << 20
# Variances are summed in int64, in KiB², with this much at most for a sample.
_KIB2, _MOST_KIB2 = 1 << 20, 1 << 50
# A log's mean live heap is over at least this many cycles, with at least this many MiB
# on a side, as logs print whole MiB.
_CYCLES, _LEAST_MB = 5, 4


class _Site(NamedTuple):
    """What one function of the program holds in the heap, base and new.

    `row` is its row in the sums by place. `own` says that stacks have a frame of the
    program; else `name` is the leaf, in the standard library. `live` is bytes in use,
    `allocated` bytes counted by the profile, None where the profiles lack it; `objects`
    are in use. `few` says that another snapshot of the same build may differ as much.
    """

    row: int
    name: str
    own: bool
    live: tuple[int, int]
    allocated: tuple[int, int] | None
    objects: tuple[int, int] | None
    few: bool

    @property
    def delta(self) -> int:
        """How many more bytes new has in use."""
        return self.live[1] - self.live[0]

    @property
    def kept(self) -> tuple[int, int] | None:
        """(in use, allocated) of the side that holds more, None if unknown."""
        if self.allocated is None:
            return None
        side = int(self.delta > 0)
        return self.live[side], self.allocated[side]


def heap_growth(case: Case) -> Iterator[Finding]:
    """Yield a finding where live memory changed, in total or at a call site.

    Call sites come from heap profiles, which show one instant. Where none stands out in
    the direction of the GC log's means over cycles, the finding rests on those means.
    """
    logged = _by_log(case)
    for finding in _by_profile(case):
        if logged is None or (finding.names and finding.direction == logged.direction):
            yield finding
            return
    if logged is not None:
        yield logged


def _by_log(case: Case) -> Finding | None:
    """Return the finding that the live heap's mean over cycles changed, by GC log."""
    gc = case.gc
    if gc is None or not gc.estimates["mean_live"].significant or held_back(gc):
        return None
    sides = gc.base.steady, gc.new.steady
    live = sides[0].heap.mean_live, sides[1].heap.mean_live
    if min(side.cycles for side in sides) < _CYCLES or max(live) < _LEAST_MB:
        return None
    base, new = (
        side.heap.mean_live - side.heap.allocated_during_mark / side.cycles
        for side in sides
    )
    if min(base, new, *live) <= 0 or log(new / base) / log(live[1] / live[0]) < MOST:
        return None
    grew = live[1] > live[0]
    amount = arrow(live[0] * _MIB, live[1] * _MIB, "bytes")
    goal = arrow(
        sides[0].heap.mean_goal * _MIB, sides[1].heap.mean_goal * _MIB, "bytes"
    )
    text = (
        f"Means over {count(sides[0].cycles)} and {count(sides[1].cycles)} GC cycles; "
        f"the goal is {goal}."
    )
    older = _of_other_ages(case)
    if older or not gc.per_work:
        text += older or " Another load does that too."
    diff = _live_heap(case)
    if diff is not None:
        instant = arrow(*diff.totals, diff.unit)
        text += f" The heap profile (one instant) has {instant}"
        text += f"{_most_of(diff, grew=grew)}."
    advice = "A heap profile of each side shows what holds it." if diff is None else ""
    return Finding(
        "heap-growth",
        f"The live heap {'grew' if grew else 'shrank'} {amount} by the GC log "
        f"({times(live[1] / live[0])})",
        text,
        (
            Fact("live heap, mean", "gctrace H2", *live, "MiB"),
            Fact(
                "goal, mean",
                "gctrace goal",
                sides[0].heap.mean_goal,
                sides[1].heap.mean_goal,
                "MiB",
            ),
        ),
        advice if grew else "",
        # An older process has had more time to fill its memory.
        severity="info" if older else "minor",
        direction="worse" if grew else "better",
        weight=abs(live[1] - live[0]) / max(live),
    )


def _most_of(diff: ProfileDiff, *, grew: bool) -> str:
    """Return the call site that changed most, if the profile agrees with the log."""
    base, new = diff.totals
    if diff.model is None or not diff.model.sound or (new > base) != grew:
        return ""
    for site in _moved(diff, diff.model, by_place(diff)):
        if (site.delta > 0) == grew:
            return f", most in {short(site.name)}: {arrow(*site.live, diff.unit)}"
    return ""


def _by_profile(case: Case) -> Iterator[Finding]:
    """Yield the finding from the heap profiles."""
    diff = _live_heap(case)
    if diff is None or diff.model is None or not diff.model.sound:
        return
    if max(diff.totals) <= 0:
        return
    whole = diff.model.one(diff.whole)
    live = by_place(diff)
    sites = _moved(diff, diff.model, live)
    if whole.significant:
        sites = [site for site in sites if (site.delta > 0) == (whole.delta > 0)]
    sites = [site for site in sites if not site.few] or sites
    rows = [site.row for site in sites]
    if not sites or not diff.model.one(together(live.runs, rows)).significant:
        if whole.significant:
            yield _without_a_site(diff, 1.0)
        return
    base, new = _sum(sites)
    grew = new > base
    sites = [site for site in sites if (site.delta > 0) == grew]
    pace = _shared_pace(diff, diff.model, live, sites)
    if pace is not None:
        if whole.significant:
            yield _without_a_site(diff, pace)
        return
    yield Finding(
        "heap-growth",
        _title(diff, sites, total=whole.significant),
        _text(case, diff, sites),
        _evidence(diff, sites),
        _advice(case, diff, sites) if grew else "",
        severity=_severity(diff, sites),
        direction="worse" if grew else "better",
        names=frozenset(site.name for site in sites),
        weight=abs(sum(site.delta for site in sites)) / max(diff.totals),
    )


def _live_heap(case: Case) -> ProfileDiff | None:
    """Return the comparison of memory in use at one instant, or of its growth.

    An allocs profile has the columns of a heap profile. None if it is unknown which it
    is, or if they grew over unlike spans.
    """
    diff = case.comparison.of_type("inuse_space") or case.comparison.of_type("space")
    if diff is None:
        allocs = case.comparison.of_type("alloc_space")
        if allocs is None or column_of(allocs, "inuse_space") is None:
            return None
        diff = compare(
            allocs.base, allocs.new, sample_type="inuse_space", identity=allocs.identity
        )
    if any(diff.spans_ns) and not _in_windows(diff) and _grew_for(diff) is None:
        return None
    # Shares of each heap hide how large it is.
    return diff if diff.normalization.mode == "absolute" else None


def _in_windows(diff: ProfileDiff) -> bool:
    """Return whether profiles count since the one before, with what is in use now."""
    return all(run.deltas for side in (diff.base, diff.new) for run in side.runs)


def _grew_for(diff: ProfileDiff) -> tuple[float, float] | None:
    """Return over how many seconds the heaps grew, None if they are no growth.

    Captured over a time span (``?seconds=60``), a heap profile is the difference of two
    (net/http/pprof): what was freed is negative.
    """
    base, new = diff.spans_ns
    if not base or not new or max(base, new) > SIMILAR * min(base, new):
        return None
    freed = any(bool((side < 0).any()) for side in diff.values)
    return (base / 1e9, new / 1e9) if freed else None


def _moved(diff: ProfileDiff, model: CountModel, live: View) -> list[_Site]:
    """Return the sites that changed, largest change first."""
    loud = _loud(model, live.runs)
    large = np.abs(live.new - live.base) >= MAJOR * max(diff.totals)
    rows = np.flatnonzero(loud & large)
    owners = live["place"][rows]
    allocated, objects = (
        None if columns is None else by_place(diff, columns).at("place", owners)
        for columns in (
            column_of(diff, "alloc_space"),
            column_of(diff, "inuse_objects"),
        )
    )
    names = diff.paired_functions.names
    own = diff.paired_functions.own
    variance = _held_variance(diff)
    spread = None if variance is None else by_place(diff, variance).at("place", owners)
    sites = [
        _Site(
            row,
            names[int(owners[i])],
            bool(own[owners[i]]),
            (int(live.base[row]), int(live.new[row])),
            _pair(allocated, i),
            _pair(objects, i),
            few=spread is not None
            and _few(
                (int(live.base[row]), int(live.new[row])),
                _pair(allocated, i),
                _pair(spread, i),
            ),
        )
        for i, row in enumerate(rows.tolist())
    ]
    whole = beyond_runs(IN_FLIGHT, *diff.totals)
    changed = [site for site in sites if _matters(site, weighs=site.own or whole)]
    return sorted(changed, key=lambda site: -abs(site.delta))


def _held_variance(diff: ProfileDiff) -> tuple[Column, Column] | None:
    """Return the variance of each sample's bytes at another instant, in KiB² (int64).

    None where profiles lack objects or their sampling rate.
    """
    objects = column_of(diff, "inuse_objects")
    rates = [side.profile.period for side in (diff.base, diff.new)]
    if objects is None or None in rates:
        return None
    base, new = (
        np.minimum(held_variance(held, space, rate or 1) / _KIB2, _MOST_KIB2).astype(
            np.int64
        )
        for held, space, rate in zip(objects, diff.values, rates, strict=True)
    )
    return base, new


def _few(
    live: tuple[int, int],
    allocated: tuple[int, int] | None,
    variance: tuple[int, int] | None,
) -> bool:
    """Return whether a site holds so few objects that two snapshots differ as much.

    Not if neither side freed any: once allocated, that is the same in each snapshot.
    """
    if variance is None or held_moved(live[1] - live[0], sum(variance) * _KIB2):
        return False
    return allocated is None or not all(
        total > 0 and held >= NEARLY_ALL * total
        for held, total in zip(live, allocated, strict=True)
    )


def _pair(columns: tuple[Column, Column] | None, row: int) -> tuple[int, int] | None:
    return None if columns is None else (int(columns[0][row]), int(columns[1][row]))


def _loud(model: CountModel, runs: Runs[Column]) -> Mask:
    return ~model.rows(runs).noise


def _matters(site: _Site, *, weighs: bool) -> bool:
    """Return whether a site holds more than what comes and goes with requests.

    Memory that the standard library allocates on its own belongs to connections, whose
    number clients choose: it `weighs` only if the whole heap changed that much.
    """
    if not weighs:
        return False
    if site.kept is None or site.kept[0] >= _KEPT * site.kept[1]:
        return True
    return beyond_runs(IN_FLIGHT, *site.live)


def _sum(sites: list[_Site]) -> tuple[int, int]:
    return sum(site.live[0] for site in sites), sum(site.live[1] for site in sites)


def _shared_pace(
    diff: ProfileDiff, model: CountModel, live: View, sites: list[_Site]
) -> float | None:
    """Return the factor by which the whole heap changed, None if a site stands out.

    It is the ratio of the heaps, if several sites changed by it and none by another:
    the load. Or it is the ratio of bytes allocated since process start, if most sites
    share one: a process that is older, or did more, leaks more with the same code.
    """
    if min(diff.totals) <= 0:
        # Where one heap has no samples, all of the other is growth.
        return None
    ratio = diff.totals[1] / diff.totals[0]
    several = _loud(model, live.runs).sum() >= SEVERAL
    if several and not _loud(model.with_base_times(ratio), live.runs).any():
        return ratio
    if column_of(diff, "alloc_space") is None:
        return None
    allocated = compare(
        diff.base, diff.new, sample_type="alloc_space", identity=diff.identity
    )
    done = load_of(allocated)
    if done is None:
        return None
    # In raw bytes, whatever the comparison scales them to.
    by = allocated.normalization
    done = done.times(by.factors[0] / by.factors[1])
    if not done.sure:
        return None
    rows = [site.row for site in sites]
    columns = np.array([site.live for site in sites], np.int64)
    since_start = model.with_base_times(done.ratio)
    follow = not _loud(since_start, live.runs.map(lambda run: run[rows])).any()
    base, new = (float(side.sum()) for side in columns.T)
    # A few samples fit any factor: the sites' own must be near it.
    near = columns.min() > 0 and abs(log(new / base / done.ratio)) <= log(SIMILAR)
    return done.ratio if follow and near else None


def _alike(diff: ProfileDiff) -> bool:
    """Return whether no function holds a good part of one side alone."""
    flat = diff.paired_functions.raw("flat")
    base, new = (side / max(int(side.sum()), 1) for side in flat)
    large = np.maximum(base, new) >= MUCH
    return bool((2 * np.minimum(base, new) >= np.maximum(base, new))[large].all())


def _without_a_site(diff: ProfileDiff, pace: float) -> Finding:
    """Return the finding that the heap changed as a whole."""
    base, new = diff.totals
    word = "grew" if new > base else "shrank"
    return Finding(
        "heap-growth",
        f"{diff.sample_type.type} {word} {arrow(base, new, diff.unit)}"
        + (", at all call sites alike" if pace != 1.0 and _alike(diff) else ""),
        ("" if pace == 1.0 else f"Sites that changed did so by about {times(pace)}. ")
        + "Another load, or another age of the process, does that too: a heap profile "
        "is of one instant.",
        _evidence(diff, []),
        weight=abs(new - base) / max(diff.totals),
    )


def _title(diff: ProfileDiff, sites: list[_Site], *, total: bool) -> str:
    """Return how much the heap changed, and who holds it."""
    base, new = _sum(sites)
    more = "more" if new > base else "less"
    size = amount(abs(new - base), diff.unit)
    who = first_functions([site.name for site in sites])
    if (seconds := _grew_for(diff)) is not None:
        verb = "grow" if len(sites) > 1 else "grows"
        how = f"{arrow(base, new, diff.unit)} in {fixed(*seconds, 1)} s"
        return f"{who} {verb} the live heap by {how}"
    if new > base and (allocated := _garbage(sites)) is not None:
        ever = f"{arrow(*allocated, diff.unit)} {_counted_when(diff)}"
        return f"{who} allocated {ever}; next to nothing of it is kept"
    verb = "hold" if len(sites) > 1 else "holds"
    whose = f"{who} {verb} {size} {more}"
    if not total:
        return f"{whose} of the live heap"
    word = "grew" if new > base else "shrank"
    heap = arrow(*diff.totals, diff.unit)
    return f"{diff.sample_type.type} {word} {heap}: {whose}"


def _text(case: Case, diff: ProfileDiff, sites: list[_Site]) -> str:
    """Return each site's memory, and what shows whether it is freed."""
    parts = [_site_words(diff, site) for site in sites[:NAMED]]
    text = f"{'; '.join(parts)}."
    text += _of_other_ages(case)
    if all(site.few for site in sites):
        text += " So few objects come and go: another snapshot may differ as much."
    for side, label in zip((0, 1), case.labels, strict=True):
        if _nothing_freed(diff, side):
            text += (
                f" Nothing at all was freed in {label}: all of it is kept, or no "
                "collection had run yet and garbage counts as in use."
            )
    return text


def _garbage(sites: list[_Site]) -> tuple[int, int] | None:
    """Return the bytes sites ever allocated, if new has more and keeps nearly none.

    What is in use of them is work in flight: garbage at the next GC cycle, not growth.
    """
    pairs = [site.allocated for site in sites if _keeps_none(site) and site.allocated]
    base, new = (sum(pair[side] for pair in pairs) for side in (0, 1))
    return (base, new) if len(pairs) == len(sites) and new > SIMILAR * base else None


def _keeps_none(site: _Site) -> bool:
    return site.kept is not None and site.kept[0] < MINOR * site.kept[1]


def _site_words(diff: ProfileDiff, site: _Site) -> str:
    line = line_of(diff, site.name)
    place = f"{short(site.name)}{f', mostly at {line},' if line else ''}"
    text = f"{place} {arrow(*site.live, diff.unit)}{_column(diff, site)}"
    if site.objects is not None:
        text += f" in {counts(*site.objects)} objects"
    if site.kept is None or site.delta < 0 or not site.kept[1]:
        return text
    if site.name in HELD:
        return f"{text}: {HELD[site.name]}, which the runtime allocates"
    if not site.own:
        return (
            f"{text}: no frame of the program is in these stacks; connections, which "
            "the standard library allocates, are as many as clients keep open"
        )
    when = _counted_when(diff)
    text += f", {percent(*site.kept)} of what it allocated {when}"
    if when == _EVER and site.kept[0] >= NEARLY_ALL * site.kept[1]:
        return f"{text}: it has freed next to nothing, as a leak or a table that stays"
    if site.kept[0] >= _KEPT * site.kept[1]:
        return text
    return f"{text}: it turns over, as a cache or work in flight"


def _column(diff: ProfileDiff, site: _Site) -> str:
    """Return which column a site's memory is, "" if it allocates all of it itself."""
    paired = diff.paired_functions
    row, flat = paired.names.index(site.name), paired.raw("flat")
    own = tuple(int(side[row]) for side in flat)
    return "" if own == site.live else f" {FLAT_WITH_LIBRARY}"


def _counted_when(diff: ProfileDiff) -> str:
    """Return when what profiles count was allocated, in words.

    Some agents count since their last profile. Then more may be in use than was
    allocated, or the profile has a duration, as /debug/pprof/heap?seconds=60 has.
    """
    captures = [run for side in (diff.base, diff.new) for run in side.runs]
    late = any(run.deltas or run.content.duration_ns for run in captures)
    allocated = column_of(diff, "alloc_space")
    if allocated is not None:
        pairs = zip(allocated, diff.values, strict=True)
        late |= any((live > ever).any() for ever, live in pairs)
    return "while profiled" if late else _EVER


def _nothing_freed(diff: ProfileDiff, side: int) -> bool:
    """Return whether all that a side ever allocated counts as in use."""
    allocated = column_of(diff, "alloc_space")
    if allocated is None:
        return False
    live = diff.values[side]
    return bool(live.any() and np.array_equal(allocated[side], live))


def _of_other_ages(case: Case) -> str:
    """Return how long both processes ran by their GC logs, "" if about as long."""
    gc = case.gc
    if gc is None:
        return ""
    ages = [float(s.shown.run.cycles.start_ms[-1]) / 1e3 for s in (gc.base, gc.new)]
    if min(ages) <= 0 or max(ages) < SIMILAR * min(ages):
        return ""
    return f" The processes were {fixed(ages[0], ages[1], 0)} s old."


def _advice(case: Case, diff: ProfileDiff, sites: list[_Site]) -> str:
    new = case.labels[1]
    if all(map(_keeps_none, sites)):
        return "Allocate less there." if _garbage(sites) else ""
    if _grew_for(diff) is not None:
        return (
            f"Capture {new}'s growth once more later: a leak goes on, a cache fills up."
        )
    later = (
        f"Capture {new} once more later: what keeps growing is a leak, what stays is a "
        "cache."
    )
    if not is_of_go(diff.new.profile):
        return later
    return f"{later} /debug/pprof/heap?seconds=60 has the growth of a minute."


def _severity(diff: ProfileDiff, sites: list[_Site]) -> Severity:
    """Return how much it matters, by what the program's own code holds."""
    if all(site.few for site in sites):
        # A buffer of one request: the next snapshot may not have it.
        return "info"
    if any(_nothing_freed(diff, side) for side in (0, 1)):
        # It may be garbage that the first GC cycle frees.
        return "minor"
    base, new = _sum([site for site in sites if site.own])
    # Memory that is no longer held costs nothing.
    return "major" if new - base >= MUCH * max(diff.totals) else "minor"


def _evidence(diff: ProfileDiff, sites: list[_Site]) -> tuple[Fact, ...]:
    source = f"{diff.name} profile"
    in_use = f"{source} {diff.sample_type.type}"
    facts = [Fact("live heap", in_use, *diff.totals, diff.unit)]
    if (seconds := _grew_for(diff)) is not None:
        facts.append(Fact("time it grew for", f"{source} duration", *seconds, "s"))
    if len(sites) > 1 and (allocated := _garbage(sites)) is not None:
        what = f"allocated {_counted_when(diff)}, by all of these"
        facts.append(Fact(what, f"{source} alloc_space", *allocated, diff.unit))
    for site in sites:
        what = f"in use, of {site.name}"
        facts.append(Fact(what, in_use, *site.live, diff.unit))
        if site.allocated is not None:
            facts.append(
                Fact(
                    f"allocated {_counted_when(diff)}, by {site.name}",
                    f"{source} alloc_space",
                    *site.allocated,
                    diff.unit,
                )
            )
        if site.objects is not None:
            facts.append(
                Fact(
                    f"objects in use, of {site.name}",
                    f"{source} inuse_objects",
                    *site.objects,
                    "objects",
                )
            )
    return tuple(facts)
