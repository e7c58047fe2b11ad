"""What else differs between the sides: the Go release, load, GOMAXPROCS."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.changed_code import of_one_side
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import OF_CPU, Claim, Fact, Finding
from pprofdiff.analysis.causes.wording import listed, listed_functions, numeral, times
from pprofdiff.analysis.control.alike import functions_alike, scaled_alike
from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.judge.scaling import InferredWork
from pprofdiff.analysis.policy import MAJOR, MINOR, MOST, NAMED, SIMILAR
from pprofdiff.analysis.profiles.caveats import releases_apart
from pprofdiff.goruntime.names import is_runtime_like, is_standard_library, package_of
from pprofdiff.goruntime.rules import rules
from pprofdiff.goruntime.versions import (
    Change,
    changes_between,
    format_go_version,
    number,
)
from pprofdiff.model.csr import first_in_row

# Groups that are reported as a whole, with their names here.
_GROUPS = {
    "gc": "GC",
    "gc_tax": "GC sweeping, barriers, scavenging",
    "alloc": "allocation",
    "sched": "scheduling",
    "locks": "locks and channels",
}
# These follow from how much a program allocates: a change is the release's only where
# that is equal.
_BY_ALLOCATION = frozenset({"gc", "gc_tax", "alloc", "mem.move", "mem.clear"})

_Bools = NDArray[np.bool_]
_Span = tuple[str | None, str | None]
_Spans = tuple[_Span, _Span]


class _Subject(NamedTuple):
    """A part of Go whose cost changed, with its raw sums and its samples."""

    name: str
    groups: frozenset[str]
    categories: frozenset[str]
    package: str
    claim: Claim
    base: int
    new: int


def upgrade(case: Case) -> Iterator[Finding]:
    """Yield a finding on the parts of Go whose cost changed between two releases."""
    cpu = case.cpu
    if cpu is None:
        return
    spans = releases_apart(cpu.diff.base, cpu.diff.new)
    if spans is None:
        return
    allocates_alike = _allocates_alike(case)
    subjects = [
        subject
        for subject in (*_of_runtime(cpu), *_of_packages(cpu, spans))
        if _moved(cpu, subject)
        and (
            allocates_alike
            or _BY_ALLOCATION.isdisjoint(subject.groups | subject.categories)
        )
    ]
    if not subjects:
        return
    subjects.sort(key=lambda s: -abs(cpu.scaled_delta(s.base, s.new)))
    largest = cpu.scaled_delta(subjects[0].base, subjects[0].new)
    claim = cpu.of(())
    for subject in subjects:
        # What changed in the other direction is named, not claimed with the largest.
        # But a package may have become another one: both together are the change.
        same = (cpu.scaled_delta(subject.base, subject.new) > 0) == (largest > 0)
        if same or not (subject.base and subject.new):
            claim = claim.plus(subject.claim)
    words = [format_go_version(*span).removeprefix("go") for span in spans]
    named = [_words(cpu, s, _known(spans, s)) for s in subjects[:NAMED]]
    # One more is as short as that there is one.
    shown = len(subjects) if len(subjects) == NAMED + 1 else NAMED
    rest = len(subjects) - shown
    sources = dict.fromkeys(
        change.source for s in subjects for change in _known(spans, s)[0]
    )
    yield Finding(
        "go-upgrade",
        f"Go {words[0]} → {words[1]}: {listed(named)}",
        "; ".join(f"{s.name} {cpu.words(s.base, s.new)}" for s in subjects[:shown])
        + (f"; and {rest} more" if rest > 0 else "")
        + f". {' '.join(sources)}".rstrip(),
        tuple(cpu.fact(s.name, s.base, s.new) for s in subjects),
        "Build both with one Go release to see what your own change does.",
        direction=cpu.way(largest),
        rises=largest > 0,
        claim=claim,
        weight=float("inf"),
    )


def collectors(cpu: CPUComparison) -> str:
    """Return the known collector changes between the sides' releases, "" for none."""
    spans = releases_apart(cpu.diff.base, cpu.diff.new)
    if spans is None:
        return ""
    changes, back = _between(spans)
    names = [
        f"{change.name} of Go {change.release}"
        for change in changes
        if "gc" in change.groups
    ]
    return f"{'without ' if back and names else ''}{listed(names)}"


def _moved(cpu: CPUComparison, subject: _Subject) -> bool:
    change = cpu.change(subject.claim)
    return change.significant and abs(change.delta) >= MINOR * cpu.whole


def _words(
    cpu: CPUComparison, subject: _Subject, known: tuple[list[Change], bool]
) -> str:
    """Return how a part's cost changed, and the known reason."""
    changes, back = known
    base, new = cpu.diff.normalization.scaled(subject.base, subject.new)
    what = "the share" if cpu.in_shares else "the CPU"
    if not base:
        cost = "is new"
    elif not new:
        cost = "is gone"
    else:
        cost = f"{times(new / base)} {what}"
    text = f"{subject.name} {cost}"
    if not changes:
        return text
    names = listed([f"{c.name} of Go {c.release}" for c in changes])
    return f"{text} ({'without ' if back else ''}{names})"


def _known(spans: _Spans, subject: _Subject) -> tuple[list[Change], bool]:
    """Return a part's known changes between the releases, and whether reverted."""
    changes, back = _between(spans)
    return [
        change
        for change in changes
        if subject.package in change.packages
        or subject.groups.intersection(change.groups)
        or subject.categories.intersection(change.categories)
    ], back


def _between(spans: _Spans) -> tuple[tuple[Change, ...], bool]:
    """Return all known changes between the releases, and whether new is the older."""
    (base_first, base_last), (new_first, new_last) = spans
    if base_last and new_first and number(base_last) < number(new_first):
        return changes_between(base_last, new_first), False
    if new_last and base_first and number(new_last) < number(base_first):
        return changes_between(new_last, base_first), True
    return (), False


def _allocates_alike(case: Case) -> bool:
    """Return whether both sides allocate the same, as far as is known."""
    allocs = case.comparison.of_type("alloc_space")
    if allocs is None or allocs.normalization.mode != "per_work":
        return True
    base, new = allocs.normalization.scaled(*allocs.totals)
    return abs(new - base) <= MAJOR * max(base, new)


def _of_runtime(cpu: CPUComparison) -> Iterator[_Subject]:
    """Yield the parts of the runtime: groups by name, and other categories."""
    by_name: dict[str, tuple[set[str], list[str]]] = {}
    for group in rules().groups:
        for category in group.categories:
            if group.id == "user" or category == "user":
                continue
            label = _GROUPS.get(group.id, rules().category_labels[category])
            groups, categories = by_name.setdefault(label, (set(), []))
            groups.add(group.id)
            categories.append(category)
    for name, (groups, categories) in by_name.items():
        claim = cpu.of(categories)
        base, new = cpu.sums(claim)
        whole = frozenset(groups) if name in _GROUPS.values() else frozenset[str]()
        yield _Subject(name, whole, frozenset(categories), "", claim, base, new)


def _of_packages(cpu: CPUComparison, spans: _Spans) -> Iterator[_Subject]:
    """Yield packages of the standard library, with what runs below their functions.

    Packages with a known change come first, wherever they are in a stack; the rest goes
    to the package that the program called.
    """
    packages = [package_of(name) for name in cpu.names]
    standard = {p: bool(p) and is_standard_library(p) for p in set(packages)}
    user = cpu.of(["user"])
    known = dict.fromkeys(p for c in _between(spans)[0] for p in c.packages)
    for package in known:
        rows = np.array([p == package for p in packages], np.bool_)
        claim = cpu.under(rows).within(user)
        user = user.without(claim)
        yield from _package(cpu, package, claim)
    own = np.array([bool(p) and not standard[p] for p in packages], np.bool_)
    ids = {package: i for i, package in enumerate(dict.fromkeys(packages))}
    of_row = np.array([ids[p] for p in packages], np.int64)
    entered = [
        np.where(user.sides[side], _entered(cpu, side, own, of_row), -1)
        for side in (0, 1)
    ]
    for package, i in ids.items():
        if standard[package] and package not in known:
            claim = Claim(entered[0] == i, entered[1] == i)
            yield from _package(cpu, package, claim)


def _package(cpu: CPUComparison, package: str, claim: Claim) -> Iterator[_Subject]:
    """Yield a package if it has samples."""
    base, new = cpu.sums(claim)
    none = frozenset[str]()
    if base or new:
        yield _Subject(package, none, none, package, claim, base, new)


def _entered(
    cpu: CPUComparison, side: int, own: _Bools, package_of_row: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the package below each sample's innermost frame of the program, or -1."""
    parts = [np.zeros(0, np.int64)]
    for _, ids, offsets in cpu.diff.walked(side):
        first = first_in_row(own[ids], offsets)
        below = first - 1
        inside = (first >= 0) & (below >= offsets[:-1])
        packages = np.append(package_of_row[ids], -1)[below]
        parts.append(np.where(inside, packages, -1))
    return np.concatenate(parts)


def unlike_load(case: Case) -> Iterator[Finding]:
    """Yield a finding where most functions changed by one factor: unequal work."""
    cpu = case.cpu
    load = None if cpu is None else _a_second(cpu)
    if cpu is None or load is None or not load.sure:
        return
    base, new = case.labels
    more = load.ratio > 1
    factor = "more" if more else "fewer" if cpu.noun == "samples" else "less"
    if load.high < SIMILAR * load.low:
        factor = f"{times(load.ratio)} the"
    pair = f"{base.upper()}:{new.upper()}"
    flag, each = f"--rps {pair} (ops/s)", ""
    if case.comparison.of_fleets:
        flag = f"--work {pair} (operations of all hosts while profiled)"
        # Sides may differ in the number of hosts and profiles.
        each = " and host"
    yield Finding(
        "not-comparable",
        f"Most functions use {factor} {cpu.noun} per second{each}: {new} probably "
        f"did {'more' if more else 'less'} work",
        "That is what another load does. Rows that changed by another factor are what "
        "differs.",
        (Fact("pace of most functions", OF_CPU, 1.0, load.ratio, "ratio"),),
        f"Pass {flag} to compare per op.",
        severity="minor",
    )


def _a_second(cpu: CPUComparison) -> InferredWork | None:
    """Return the load, None without both durations.

    Shares are converted to CPU time per second: a share falls where one function costs
    more, which is not less work.
    """
    load, (base_ns, new_ns) = cpu.load, cpu.diff.spans_ns
    if load is None or not (base_ns and new_ns):
        return None
    if not cpu.in_shares:
        return load
    base_by, new_by = cpu.diff.normalization.factors
    return load.times(base_by / new_by * base_ns / new_ns)


def more_of_the_same(case: Case) -> Iterator[Finding]:
    """Yield a finding where all code costs more by one factor: ops do more work.

    It is the same work if neither side runs functions that the other lacks. It is not
    one factor if the share of unchanged code in the total changed, or one function
    explains most of the change.
    """
    cpu = case.cpu
    if cpu is None or cpu.diff.normalization.mode != "per_work":
        return
    diff = cpu.diff
    alike = scaled_alike(diff)
    if alike is None or not alike.alike or total_noise(diff) is not False:
        return
    if not functions_alike(diff) or _one_explains(case, cpu):
        return
    by = control(diff)
    if by is not None and by.holds and not by.cost.low <= 1 <= by.cost.high:
        return
    base, new = diff.normalization.scaled(*diff.totals)
    more = new > base
    table = diff.table("functions")
    own = [
        i for i in table.order("flat").tolist() if not is_runtime_like(table.names[i])
    ]
    own.sort(key=lambda i: -int(table.raw("flat")[1][i]))
    named = listed_functions([table.names[i] for i in own[:NAMED]])
    # Only one side runs some of its functions: it does other work.
    differ = any(cpu.sums(of_one_side(cpu, case.places)))
    work = "work" if differ else "of the same work"
    yield Finding(
        "more-of-the-same",
        f"All code costs {times(new / base)} alike: each op does "
        f"{'more' if more else 'less'} {work}",
        f"{named} and all groups keep their shares of the CPU. A machine that is "
        f"{'slower' if more else 'faster'} by as much does that too; virtual machines "
        "vary by 12 to 17% from run to run.",
        (Fact("CPU per op", OF_CPU, base, new, diff.unit),),
        direction="worse" if more else "better",
        claim=cpu.all,
        weight=float("inf"),
    )


def _one_explains(case: Case, cpu: CPUComparison) -> bool:
    """Return whether one function, with its callees, explains most of the change.

    What only one side runs counts as one function. A function with most of the CPU on
    both sides is all code, not a part.
    """
    parts = [np.append(side, 0) for side in cpu.cum]
    for side, alone in zip(parts, cpu.sums(of_one_side(cpu, case.places)), strict=True):
        side[-1] = alone
    totals, by = cpu.diff.totals, cpu.diff.normalization
    rests = [whole - part for whole, part in zip(totals, parts, strict=True)]
    shares = np.maximum(rests[0] / totals[0], rests[1] / totals[1])
    # One sample more, as a side may have nothing left.
    left = by.scaled(*(r + w for r, w in zip(rests, cpu.model.worth, strict=True)))
    whole = by.scaled(*totals)
    if whole[0] == whole[1]:
        return True
    # With negative values, as in a diff, a part may exceed the whole.
    large = (shares >= MOST) & (left[0] > 0) & (left[1] > 0)
    moved = np.log(left[1][large] / left[0][large]) / log(whole[1] / whole[0])
    return bool((moved < 1 - MOST).any())


def processors(case: Case) -> Iterator[Finding]:
    """Yield a finding where GOMAXPROCS differs, unless a trace says more."""
    gc = case.gc
    if gc is None or gc.base.steady.procs == gc.new.steady.procs:
        return
    if case.trace is not None:
        from pprofdiff.analysis.causes.rules.capacity import overcommitted

        if overcommitted(case):
            return
    base, new = gc.base.steady.procs, gc.new.steady.procs
    both = numeral(f"{base:g} → {new:g}", "pair", new, base)
    yield Finding(
        "gomaxprocs",
        f"GOMAXPROCS differs: {both}",
        "Shares of capacity, scheduling and idle marking change with it.",
        (Fact("GOMAXPROCS", "gctrace P", base, new, "processors"),),
        "Compare builds under one GOMAXPROCS.",
        severity="minor",
    )
