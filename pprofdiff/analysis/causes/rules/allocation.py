"""Findings on allocation: what changed per op, at which call sites, and GC's part."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import load_of
from pprofdiff.analysis.causes.finding import Claim, Direction, Fact, Finding
from pprofdiff.analysis.causes.rules.marking import marking, stopped
from pprofdiff.analysis.causes.sites import by_place, column_of, line_of
from pprofdiff.analysis.causes.wording import (
    arrow,
    factor,
    first_functions,
    listed_functions,
    percent,
    points,
    times,
    words,
)
from pprofdiff.analysis.judge.calibration import SINCE_START
from pprofdiff.analysis.judge.counts import CountModel, objects_moved
from pprofdiff.analysis.judge.judge import beyond_runs
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.views import View, together
from pprofdiff.analysis.policy import COVERS, LITTLE, MAJOR, MOST, MUCH, NAMED
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import by_leaf
from pprofdiff.analysis.profiles.own_code import FLAT_WITH_LIBRARY
from pprofdiff.goruntime.readable import short

# A function within a site is named from this fraction of the site's delta on.
_INNER = 0.25

_DIRECTIONS: dict[bool | None, Direction] = {
    True: "worse",
    False: "better",
    None: "neutral",
}


class _Site(NamedTuple):
    """Functions that allocate on behalf of one function of the program.

    `row` is its row in `sites.by_place`; `delta` is in scaled bytes, with base
    multiplied by the load.
    """

    row: int
    owner: str
    functions: tuple[str, ...]
    base: int
    new: int
    delta: float


class _Total(NamedTuple):
    """New ÷ base of bytes and objects per op, None where they did not change.

    None also where the change may be noise or process startup. `as_many` says that
    bytes are known to be about equal, not just too noisy to show a change.
    """

    bytes_: float | None
    objects: float | None
    as_many: bool = False

    @property
    def more(self) -> bool | None:
        """Whether new allocates more: by bytes, else by objects; None for neither."""
        ratio = self.bytes_ or self.objects
        return None if ratio is None else ratio > 1


def allocation(case: Case) -> Iterator[Finding]:
    """Yield a finding where allocation changed, per op or at some call sites."""
    diff = case.comparison.of_type("alloc_space")
    if diff is None or diff.model is None or not diff.model.sound:
        return
    if min(diff.totals) <= 0 or _of_other_times(case, diff):
        return
    total = _total(case, diff, diff.model) if _by_operation(diff) else None
    sites = _sites(diff, diff.model)
    more = _more(total, sites)
    chosen = [s for s in sites if more is None or (s.delta > 0) == more]
    if not chosen and (total is None or total.more is None):
        return
    partly = not _is_a_cost(diff) and not _of_one_side(diff, chosen)
    # Shares of CPU next to shares of bytes read as one measure.
    partly |= total is None and case.cpu is not None and case.cpu.in_shares
    claim = None if partly else _claim(case, diff, total, chosen, more=more)
    if claim is not None and case.cpu is not None and more is not None:
        # Samples that changed in the other direction are not what these bytes cost.
        delta = case.cpu.delta(claim)
        claim = claim if delta and (delta > 0) == more else None
    yield Finding(
        "allocation",
        _title(diff, total, chosen),
        _text(case, diff, chosen),
        _evidence(case, diff, chosen),
        # A share that falls without vanishing may just as well be a rise elsewhere.
        severity="info" if partly else "minor",
        direction=_DIRECTIONS[more] if _is_a_cost(diff) else "neutral",
        claim=claim,
        weight=0.0 if partly else float("inf"),
        rises=more,
        names=frozenset(site.owner for site in chosen),
    )


def _of_other_times(case: Case, diff: ProfileDiff) -> bool:
    """Return whether a GC log contradicts when its side's profile was written.

    The two profiles may then cover different parts of their processes' lives.
    """
    work = case.comparison.work
    if work is None or diff.new.profile.duration_ns:
        return False
    known = zip(work.ages, work.counted, strict=True)
    return any(age is not None and until is None for age, until in known)


def _is_a_cost(diff: ProfileDiff) -> bool:
    """Return whether bytes themselves changed, not just shares of all bytes.

    That is known with operations, or if unchanged call sites show the load.
    """
    return _by_operation(diff) or load_of(diff) is not None


def _by_operation(diff: ProfileDiff) -> bool:
    return diff.normalization.mode == "per_work"


def _more(total: _Total | None, sites: list[_Site]) -> bool | None:
    """Return whether new allocates more; None if the total is known and unchanged.

    Without operations, the sites that changed relative to the others decide.
    """
    if total is not None:
        return total.more
    return sum(site.delta for site in sites) > 0


def _total(case: Case, diff: ProfileDiff, model: CountModel) -> _Total | None:
    """Return how bytes and objects per op changed, preferring benchmarks' counts.

    Otherwise by profiles; None if operations are only estimated and neither total
    changed by more than the estimate may be off.
    """
    work = case.comparison.work
    if work is not None and work.allocated:
        base, new = work.allocated.get("alloc_space", (1.0, 1.0))
        if new and not base:
            return None
        ratios = {
            kind: new / base for kind, (base, new) in work.allocated.items() if base
        }
        space, number = ratios.get("alloc_space"), ratios.get("alloc_objects")
        return _Total(
            None if _near(space) else space,
            None if _near(number) else number,
            as_many=_near(space),
        )
    by, objects = diff.normalization, column_of(diff, "alloc_objects")
    rates = diff.base.profile.period, diff.new.profile.period
    counted = objects is not None and objects_moved(objects, diff.values, rates, by)
    exact = bool(diff.new.profile.duration_ns) or (work is not None and work.is_whole)
    total = _Total(
        _ratio(by, *diff.totals, exact=exact)
        if model.one(diff.whole).significant
        else None,
        None
        if objects is None or not counted
        else _ratio(by, *(int(side.sum()) for side in objects), exact=exact),
        as_many=_near(by.ratio(*diff.totals)),
    )
    return total if exact or total.more is not None else None


def _ratio(by: Normalization, base: int, new: int, *, exact: bool) -> float | None:
    """Return new ÷ base; None if it is about 1, or estimated operations may explain it.

    None too for negative values, which a profile that is a diff may hold.
    """
    ratio = by.ratio(base, new)
    if not ratio or ratio < 0 or _near(ratio):
        return None
    return ratio if exact or beyond_runs(SINCE_START, 1.0, ratio) else None


def _near(ratio: float | None) -> bool:
    """Return whether a ratio is known and about 1."""
    return bool(ratio and ratio > 0 and abs(log(ratio)) < log(1 + MAJOR))


def _sites(diff: ProfileDiff, model: CountModel) -> list[_Site]:
    """Return the sites that changed significantly and beyond the load, largest first.

    Where only the sites themselves show the load, a site that allocates as much as
    before is process startup.
    """
    load = None if _by_operation(diff) else load_of(diff)
    relative = model if load is None else model.with_base_times(load.ratio)
    leaves, names = by_leaf(diff.ledger), diff.paired_functions.names
    places = by_place(diff)
    owners, base, new, runs = places["place"], places.base, places.new, places.runs
    judged = relative.rows(runs)
    delta = judged.delta
    whole = max(relative.by.scaled(float(base.sum()), float(new.sum())))
    loud = ~judged.noise & ~_raw(model).rows(runs).noise
    loud &= np.abs(delta) >= MAJOR * whole
    sites = [
        _Site(
            i,
            names[int(owners[i])],
            tuple(
                names[leaf]
                for leaf in _moved_most(
                    leaves, leaves["place"] == owners[i], relative.by
                )
            ),
            int(base[i]),
            int(new[i]),
            float(delta[i]),
        )
        for i in np.argsort(-np.abs(delta), kind="stable").tolist()
        if loud[i]
    ]
    return sites if _by_operation(diff) else _without_moved(relative, sites, runs)


def _raw(model: CountModel) -> CountModel:
    """Return the model of raw bytes, unless operations scale them."""
    return model if model.by.mode == "per_work" else model.raw


def _without_moved(
    model: CountModel, sites: list[_Site], runs: Runs[NDArray[np.int64]]
) -> list[_Site]:
    """Leave out sites that are gone where a new one allocates as much."""
    linked: set[_Site] = set()
    came = [site for site in sites if site.base < LITTLE * site.new]
    for gone in [site for site in sites if site.new < LITTLE * site.base]:
        for other in came:
            if not model.one(together(runs, [gone.row, other.row])).significant:
                linked |= {gone, other}
                came.remove(other)
                break
    return [site for site in sites if site not in linked]


def _moved_most(
    leaves: View, chosen: NDArray[np.bool_], by: Normalization
) -> list[int]:
    """Return the leaves of the chosen rows with most of their delta, largest first."""
    delta = by.delta(leaves.base[chosen], leaves.new[chosen])
    delta = delta * np.sign(delta.sum())
    order = np.argsort(-delta, kind="stable")
    kept = order[delta[order] >= _INNER * delta.sum()]
    rows: list[int] = leaves["leaf"][chosen][kept].tolist()
    return rows


def _names(sites: list[_Site]) -> str:
    """Return the largest sites' functions, and how many others there are."""
    return first_functions([site.owner for site in sites])


def _verb(sites: list[_Site]) -> str:
    return "allocate" if len(sites) > 1 else "allocates"


def _title(diff: ProfileDiff, total: _Total | None, sites: list[_Site]) -> str:
    """Return how much each op allocates, if that is known, and which sites changed."""
    if total is None:
        return _shares(diff, sites)
    amount = _amount(total) or "as much as before"
    if total.bytes_ is not None and not MOST <= _known(diff, sites) <= 1 / COVERS:
        # The sites whose change is significant are not where most of it is, or others
        # took theirs over.
        return f"Each op allocates {amount}"
    who = "; ".join(
        f"{word} in {_names(some)}"
        for some, word in (
            ([s for s in sites if s.delta < 0], "less"),
            ([s for s in sites if s.delta > 0], "more"),
        )
        if some
    )
    return f"Each op allocates {amount}{f': {who}' if who else ''}"


def _known(diff: ProfileDiff, sites: list[_Site]) -> float:
    """Return the sites' part of the change of all bytes, 0 for no change."""
    base, new = diff.normalization.scaled(*diff.totals)
    return sum(site.delta for site in sites) / (new - base) if new != base else 0.0


def _amount(total: _Total) -> str:
    """Return the total's change in words, "" for none."""
    if total.bytes_ is None:
        if total.objects is None:
            return ""
        in_bytes = ", in as many bytes" if total.as_many else ""
        return f"{factor(total.objects, 'objects')}{in_bytes}"
    text = factor(total.bytes_, "bytes")
    if total.objects is None:
        return text
    return f"{text}, {factor(total.objects, 'objects')}"


def _shares(diff: ProfileDiff, sites: list[_Site]) -> str:
    """Return how the sites' shares of all bytes changed, in words."""
    names, verb, totals = _names(sites), _verb(sites), diff.totals
    base, new = _bytes_of(sites)
    if not (base and new):
        side = 1 if new else 0
        below = _cum(diff, 1 - side, [site.owner for site in sites[:NAMED]])
        if below < MUCH * (base or new):
            verb = "started" if new else "stopped"
            share = percent(base or new, totals[side])
            label = (diff.base, diff.new)[side].label
            return f"{names} {verb} allocating: {share} of {label}'s bytes"
    owners = [site.owner for site in sites]
    every = all(_cum(diff, side, owners) == n for side, n in enumerate((base, new)))
    part = "" if every else f" ({FLAT_WITH_LIBRARY})"
    shares = points((base, totals[0]), (new, totals[1]))
    return f"{names} {verb} {shares} of all bytes{part}"


def _cum(diff: ProfileDiff, side: int, owners: list[str]) -> int:
    """Return what functions allocate on a side with all that they call."""
    paired = diff.paired_functions
    rows = np.array([name in owners for name in paired.names], np.bool_)
    return int(paired.raw("cum")[side][rows].sum())


def _of_one_side(diff: ProfileDiff, sites: list[_Site]) -> bool:
    """Return whether one side has next to none of the sites' bytes, also as a share.

    The share alone also falls where others allocate more.
    """
    amounts = _bytes_of(sites)
    shares = [n / total for n, total in zip(amounts, diff.totals, strict=True)]
    return all(min(pair) < LITTLE * max(pair) for pair in (amounts, shares))


def _bytes_of(sites: list[_Site]) -> tuple[int, int]:
    return sum(site.base for site in sites), sum(site.new for site in sites)


def _text(case: Case, diff: ProfileDiff, sites: list[_Site]) -> str:
    """Return each site's bytes and the function in which they are allocated."""
    parts = [f"Total {words(diff, *diff.totals)}"] if _by_operation(diff) else []
    for i, site in enumerate(sites[:NAMED]):
        inner = [f for f in site.functions[:2] if f != site.owner]
        through = f" (through {listed_functions(inner)})" if inner else ""
        amount = words(diff, site.base, site.new)
        line = "" if i else line_of(diff, site.owner)
        at = f", mostly at {line}" if line else ""
        parts.append(f"{short(site.owner)}{through} {amount}{at}")
    row = _covering(diff) if _by_operation(diff) and sites else None
    name = "" if row is None else diff.paired_functions.names[row]
    if name and name != sites[0].owner:
        parts.append(f"most of the change below {short(name)}")
    text = f"{'; '.join(parts)}."
    return f"{text}{_gc_words(case, bytes_given=_by_operation(diff))}"


def _gc_words(case: Case, *, bytes_given: bool) -> str:
    """Return the GC log's allocation rate, unless the profile has it, and GC CPU.

    On a busy machine the log counts more CPU than GC used, so GC CPU is left out.
    """
    gc = case.gc
    if gc is None or gc.factors is None:
        return ""
    rates = [side.steady.allocated_mb_per_second for side in (gc.base, gc.new)]
    if not rates[0] or not rates[1]:
        return ""
    per = "per op" if gc.per_work else "per second"
    parts = []
    if not bytes_given:
        works = gc.rates or (1.0, 1.0)
        base, new = rates[0] * (1 << 20) / works[0], rates[1] * (1 << 20) / works[1]
        parts.append(f"Total {arrow(base, new, 'bytes')} {per}")
    counted = marking(case)
    if (counted is None or not any(counted.busy)) and not stopped(gc):
        ratio = times(gc.factors.gc_cpu)
        parts.append(f"GC CPU {per} is {ratio}")
    return f" {'; '.join(parts)}." if parts else ""


def _evidence(case: Case, diff: ProfileDiff, sites: list[_Site]) -> tuple[Fact, ...]:
    source = f"{diff.name} profile alloc_space"
    facts = [*_site_facts(diff, sites)]
    if len(sites) > 1:
        every = " and ".join(site.owner for site in sites)
        facts.append(Fact(f"bytes for {every}", source, *_bytes_of(sites), diff.unit))
    facts.append(Fact("bytes in all", source, *diff.totals, diff.unit))
    objects = case.comparison.of_type("alloc_objects")
    if objects is not None:
        source = f"{objects.name} profile alloc_objects"
        facts.append(Fact("objects in all", source, *objects.totals, "objects"))
    if _by_operation(diff):
        for one, noun, unit in (
            (diff, "bytes", diff.unit),
            (objects, "objects", "objects"),
        ):
            if one is not None and one.normalization.mode == "per_work":
                by = one.normalization
                sides = by.scaled(*one.totals)
                facts.append(Fact(f"{noun} per op", by.reason, *sides, unit))
    return tuple(facts)


def _site_facts(diff: ProfileDiff, sites: list[_Site]) -> tuple[Fact, ...]:
    source = f"{diff.name} profile alloc_space"
    return tuple(
        Fact(f"bytes for {s.owner}", source, s.base, s.new, diff.unit) for s in sites
    )


def _known_as(diff: ProfileDiff, sites: list[_Site]) -> set[str]:
    """Return the sites' names on both sides, which differ where a function moved."""
    functions, owners = diff.paired_functions, {site.owner for site in sites}
    return {
        name
        for side, rows in zip(functions.sides, functions.union, strict=True)
        for name, row in zip(side.names, rows.tolist(), strict=True)
        if functions.names[row] in owners
    }


def _claim(
    case: Case,
    diff: ProfileDiff,
    total: _Total | None,
    sites: list[_Site],
    *,
    more: bool | None,
) -> Claim | None:
    """Claim the sites' allocation, and all of GC where allocation decides it.

    All allocation is claimed where the sites have less than most of the change, nothing
    where others take much of theirs back.
    """
    cpu = case.cpu
    if cpu is None:
        return None
    if more is not None and _decides_gc(case, falls=not more):
        return cpu.bookkeeping
    known = 1.0 if total is None or total.bytes_ is None else _known(diff, sites)
    if known > 1 / MOST:
        return None
    if known < MOST:
        return cpu.of_groups("alloc")
    return cpu.under_names(_known_as(diff, sites)).within(cpu.bookkeeping)


def _decides_gc(case: Case, *, falls: bool) -> bool:
    """Return whether allocated bytes explain most of GC CPU's change."""
    if case.gc is None or case.gc.factors is None:
        return False
    moved, bytes_ = log(case.gc.factors.gc_cpu), log(case.gc.factors.allocation)
    return moved != 0 and (bytes_ < 0) == falls and bytes_ / moved >= MOST


def _covering(diff: ProfileDiff) -> int | None:
    """Return the function of the program that covers a change, None if none does.

    It is on both sides, and a row of `paired_functions.names`: of the functions whose
    cum changed by at least 80% of the change, the one with the least cum.
    """
    base, new = diff.paired_functions.raw("cum")
    by = diff.normalization
    whole = by.delta(*diff.totals)
    covers = by.delta(base, new) * np.sign(whole) >= COVERS * abs(whole)
    covers &= diff.paired_functions.own & (base > 0) & (new > 0)
    rows = np.flatnonzero(covers)
    if not whole or not len(rows):
        return None
    sizes = np.sum(by.scaled(base[rows], new[rows]), axis=0)
    return int(rows[int(np.argmin(sizes))])
