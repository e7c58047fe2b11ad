"""The change of a place in words: its title, its amount, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pprofdiff.analysis.causes.cpu import BOOKKEEPING, CPUComparison
from pprofdiff.analysis.causes.finding import Claim, Fact
from pprofdiff.analysis.causes.inlined import inlined_now
from pprofdiff.analysis.causes.parked import line_at
from pprofdiff.analysis.causes.places import (
    Place,
    below,
    by_caller,
    is_benchmark,
    own_caller,
    owned_by,
    taken_back,
)
from pprofdiff.analysis.causes.wording import factor, listed, numeral, percent
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_ROW
from pprofdiff.analysis.ledger.graph import walk_some
from pprofdiff.analysis.policy import (
    ENOUGH,
    GOOD_PART,
    LITTLE,
    MOST,
    MUCH,
    NEARLY_ALL,
    SEVERAL,
)
from pprofdiff.analysis.profiles.own_code import FLAT_WITH_LIBRARY
from pprofdiff.analysis.profiles.scaling import change_scale_of, scale_of
from pprofdiff.goruntime.names import package_of
from pprofdiff.goruntime.readable import distinct_names, inlined_closure
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import first_in_row, grouped
from pprofdiff.units import Scale

# The part of a place's change that gets a clause, and the number of clauses.
_CLAUSE = 0.15
_CLAUSES = 4
# What allocation copies is the program's data.
_COPIES = ("alloc.growcopy", "alloc.makecopy")
# What runs when append or an assignment needs more room (runtime/slice.go,
# internal/runtime/maps; runtime/map.go before Go 1.24).
_GROWTH = (
    ("slice growth", ("runtime.growslice",)),
    (
        "map growth",
        (
            "internal/runtime/maps.(*Map).growToSmall",
            "internal/runtime/maps.(*Map).growToTable",
            "internal/runtime/maps.(*table).grow",
            "internal/runtime/maps.(*table).rehash",
            "internal/runtime/maps.(*table).split",
            "runtime.growWork",
            "runtime.hashGrow",
        ),
    ),
)


_ONE_SIDED = "in calls that one build makes"


def sentences(cpu: CPUComparison, place: Place) -> list[str]:
    """Return what is in a place, as sentences without their periods."""
    resources = _by_resource(cpu, place)
    mechanism = _mechanism(cpu, place, dict(resources))
    found = [
        _calls_library(cpu, place) or _calls_helper(cpu, place),
        _calls_new(cpu, place),
        _absorbed(cpu, place),
        _runs_instead(cpu, place) or _runs_there(cpu, place),
        _with_its_callees(cpu, place),
        _inside(callees(cpu, place), mechanism)
        or _inside("", *growth(cpu, place.claim)),
        inlining(cpu, place),
        _in_clauses(resources, change_scale_of(cpu.diff).unit),
    ]
    return [sentence for sentence in found if sentence]


def most(cpu: CPUComparison, place: Place) -> str:
    """Return that a place has most of the change, with its amount.

    What changed by more than all is not most of it.
    """
    amount = cpu.words(place.base, place.new)
    if not place.whole and (said := which(cpu, place)):
        amount = f"{amount} {said}"
    callees = " and what it calls" if place.whole else ""
    beyond = abs(place.delta(cpu)) > abs(cpu.total_delta)
    what = "The largest change" if beyond else "Most of the change"
    return f"{what} in {cpu.noun} is in {who(cpu, place)}{callees}: {amount}"


def title(cpu: CPUComparison, place: Place, *, runs: bool = False) -> str:
    """Return a place's change as a title.

    `runs` says that one without samples on a side is known to run there.
    """
    size, whose, noun = amount(cpu, place), who(cpu, place), cpu.noun
    ratio = cpu.diff.normalization.ratio(place.base, place.new)
    takes, uses = ("take", "use") if len(place.callers) > 1 else ("takes", "uses")
    left = place.whole and all(cpu.cum_at(place.row))
    delta = place.delta(cpu)
    both = place.base and place.new
    if left and (not both or which(cpu, place) == _ONE_SIDED):
        if cpu.in_shares:
            return f"{whose} {cpu.moves(delta)}: {size}"
        return f"{whose} {uses} {'more' if delta > 0 else 'less'} {noun}: {size}"
    if not place.new:
        gone = f"no longer {takes} {noun}"
        if runs:
            gone = f"hardly {takes} {noun} now"
        elif cpu.diff.totals[1] < ENOUGH * cpu.model.worth[1]:
            # So few samples may miss what runs.
            have = "have" if takes == "take" else "has"
            gone = f"{have} samples in {cpu.diff.base.label} only"
        return f"{whose} {gone}: {size}"
    if not place.base or ratio is None:
        share = percent(place.new, cpu.diff.totals[1])
        now = f"{uses} more {noun}" if runs else f"now {takes} {share} of the {noun}"
        return f"{whose} {now}: {size}"
    if cpu.in_shares:
        return f"{whose} {cpu.moves(ratio - 1, several=takes == 'take')}: {size}"
    return f"{whose} {uses} {by_factor(cpu, place.base, ratio)}: {size}"


def by_factor(cpu: CPUComparison, base: int, ratio: float) -> str:
    """Return how much more or less is used, without a factor of few samples in base.

    One sample may as well have been three, so that "40×" would be "13×".
    """
    few = ratio > 1 and base < SAMPLES_FOR_ROW * cpu.model.worth[0]
    return f"more {cpu.noun}" if few else factor(ratio, cpu.noun)


def facts(cpu: CPUComparison, place: Place) -> tuple[Fact, ...]:
    """Return the amount of a place, and the cum of its function, as evidence."""
    cum = cpu.facts([place.row], "cum")
    if place.others:
        return cpu.fact(who(cpu, place), place.base, place.new), *cum
    part = which(cpu, place)
    name = f"{cpu.names[place.row]} ({part})"
    return (cpu.fact(name, place.base, place.new), *cum) if part else cum


def line(cpu: CPUComparison, place: Place) -> str:
    """Return the line with most of the CPU of a function that is new, "" for none.

    A name with spaces, as in C++, is not one word of a title.
    """
    if place.base or place.others or " " in called(cpu.names[place.row]):
        return ""
    profile, values = cpu.diff.new.profile, cpu.diff.values[1]
    of_line = cpu.diff.paired_functions.of_lines[1]
    met_by_line = np.zeros(len(of_line), np.int64)
    for samples, frames in walk_some(profile, np.flatnonzero(place.claim.new)):
        first = first_in_row(of_line[frames.line] == place.row, frames.offsets)
        met = first >= 0
        np.add.at(met_by_line, frames.line[first[met]], values[samples][met])
    # A line has a row for each of its calls.
    rows = np.flatnonzero(met_by_line)
    lines, group = grouped(profile.locations.line_number[rows])
    amounts = np.bincount(group, met_by_line[rows], len(lines))
    if not len(lines) or amounts.max() <= MOST * amounts.sum():
        return ""
    return line_at(profile, int(rows[np.flatnonzero(group == np.argmax(amounts))[0]]))


def amount(cpu: CPUComparison, place: Place) -> str:
    """Return a place's CPU time, with which part of its function's it is."""
    part = which(cpu, place) or ("cum" if place.whole else "")
    return f"{cpu.words(place.base, place.new)} {part}".rstrip()


def which(cpu: CPUComparison, place: Place) -> str:
    """Return which part of a function's cum a place is, "" for all of it."""
    if place.partial:
        of = "" if place.whole or place.others else f"{FLAT_WITH_LIBRARY} "
        return f"{of}outside the other causes"
    several = (*place.callers, *([place.absorbed] if place.absorbed >= 0 else []))
    if several and not in_caller(cpu, place):
        whole = cpu.sums(cpu.under(cpu.only(place.row, *several)))
        return "" if (place.base, place.new) == whole else FLAT_WITH_LIBRARY
    if place.others or (place.base, place.new) == cpu.cum_at(place.row):
        return ""
    if place.whole:
        alone = bool(place.gone or place.added)
        return _ONE_SIDED if alone else "on the path that changed"
    return "flat" if cpu.loses_callers else FLAT_WITH_LIBRARY


def who(cpu: CPUComparison, place: Place) -> str:
    """Return a place's name; with the callee whose work it does on one side."""
    name = called(cpu.names[place.row])
    if in_caller(cpu, place):
        return f"{name} with its caller {listed(_callers(cpu, place))}"
    if place.callers:
        return f"{listed(_callers(cpu, place))} with {name}"
    if place.absorbed < 0:
        return name
    return f"{name} with {called(cpu.names[place.absorbed])}"


def in_caller(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a place counts together with the caller it is inlined into."""
    return bool(place.callers) and all(cpu.cum_at(place.row))


def _with_its_callees(cpu: CPUComparison, place: Place) -> str:
    """Return a function's cum, as a sentence, if callees take back its change."""
    if not taken_back(cpu, place):
        return ""
    return f"With its callees: {cpu.words(*cpu.cum_at(place.row))} cum"


def _callers(cpu: CPUComparison, place: Place) -> list[str]:
    return [called(cpu.names[row]) for row in place.callers]


def _calls_library(cpu: CPUComparison, place: Place) -> str:
    """Return which function of the program calls a library's, as a sentence."""
    if cpu.of_go or cpu.diff.paired_functions.own[place.row]:
        return ""
    caller, calls = own_caller(cpu, place)
    if calls <= MOST * (place.new or place.base):
        return ""
    return f"{called(cpu.names[caller])} {'calls' if place.new else 'called'} it"


def _calls_helper(cpu: CPUComparison, place: Place) -> str:
    """Return which of several callers has the change of a function, as a sentence.

    Go's reports name call sites instead.
    """
    if cpu.of_go or place.others or cpu.loses_callers:
        return ""
    own = cpu.diff.paired_functions.own
    base, new = (by_caller(cpu, place, side, [place.row], own) for side in (0, 1))
    change = place.delta(cpu) * cpu.diff.normalization.delta(base, new)
    best = int(np.argmax(change))
    if change[best] < NEARLY_ALL * place.delta(cpu) ** 2:
        return ""
    amounts, caller = (int(base[best]), int(new[best])), called(cpu.names[best])
    if amounts != (place.base, place.new):
        return f"Most of the change is in calls from {caller}: {cpu.words(*amounts)}"
    on_path = place.whole and amounts != cpu.cum_at(place.row)
    return f"{caller} {'calls' if place.new else 'called'} it there" if on_path else ""


def _calls_new(cpu: CPUComparison, place: Place) -> str:
    """Return which function of the program calls a new one in Go, as a sentence.

    "" for several, and for a benchmark.
    """
    best = caller_of_new(cpu, place)
    if best is None:
        return ""
    name = cpu.names[best]
    every = cpu.only(place.row) == 0
    nearest = cpu.names[int(np.argmax(by_caller(cpu, place, 1, [place.row], every)))]
    library = package_of(nearest) if nearest != name else ""
    return f"{called(name)} calls it{f' through package {library}' if library else ''}"


def caller_of_new(cpu: CPUComparison, place: Place) -> int | None:
    """Return the program's function that makes nearly all calls of a new one in Go."""
    if not cpu.of_go or place.base or place.others or place.partial:
        return None
    own = cpu.diff.paired_functions.own.copy()
    own[place.row] = False
    calls = by_caller(cpu, place, 1, [place.row], own)
    best = int(np.argmax(calls))
    few = calls[best] < NEARLY_ALL * place.new
    return None if few or is_benchmark(cpu.names[best]) else best


def _absorbed(cpu: CPUComparison, place: Place) -> str:
    """Return which function has samples on one side only, as a sentence."""
    row = place.row if place.callers else place.absorbed
    if row < 0:
        return ""
    if in_caller(cpu, place):
        return "It is inlined there"
    name = called(cpu.names[row])
    if all(cpu.cum_at(row)):
        callee = owned_by(cpu, [row])
        ends = (called(cpu.names[place.row]), name)
        first, last = ends if cpu.delta(callee) > 0 else ends[::-1]
        return f"Cost moved from {first} to {last}"
    with_it = cpu.diff.new if cpu.cum_at(row)[1] else cpu.diff.base
    return f"{name} has samples in {with_it.label} only"


def _runs_instead(cpu: CPUComparison, place: Place) -> str:
    """Return which library function callers run in place of theirs, as a sentence.

    It has most of their cost, and only there.
    """
    if not place.callers or all(cpu.cum_at(place.row)):
        return ""
    callers = cpu.only(*place.callers)
    inside = [below(cpu, callers, place.claim, side) for side in (0, 1)]
    side = 1 if cpu.cum_at(place.row)[0] else 0
    alone = inside[side] * (inside[1 - side] == 0) * ~cpu.diff.paired_functions.own
    best = int(np.argmax(alone))
    if alone[best] <= MOST * (place.base, place.new)[side]:
        return ""
    words = cpu.words(int(inside[0][best]), int(inside[1][best]))
    return f"In it: {called(cpu.names[best])} {words}"


def _runs_there(cpu: CPUComparison, place: Place) -> str:
    """Return what a caller runs in new alone, if a place is gone, as a sentence.

    It is a function of the program that new alone has and base's caller of the place
    calls. "" for a place that new has, with several callers, or for few samples.
    """
    alone = not (place.callers or place.others or place.absorbed >= 0)
    if not (cpu.of_go and alone) or cpu.loses_callers or cpu.cum_at(place.row)[1]:
        return ""
    every = cpu.only(place.row) == 0
    calls = by_caller(cpu, place, 0, [place.row], every)
    caller = int(np.argmax(calls))
    if calls[caller] < NEARLY_ALL * place.base or is_benchmark(cpu.names[caller]):
        return ""
    there = cpu.only(caller)
    runs = below(cpu, there, cpu.under(there), 1)
    runs = runs * cpu.diff.paired_functions.own * (cpu.cum[0] == 0)
    best = int(np.argmax(runs))
    if runs[best] < SEVERAL * cpu.model.worth[1]:
        return ""
    label, words = cpu.diff.new.label, cpu.words(0, int(runs[best]))
    name = called(cpu.names[best])
    return (
        f"In {called(cpu.names[caller])}, {name} has samples in {label} only: {words}"
    )


def inlining(cpu: CPUComparison, place: Place) -> str:
    """Return whether the compiler inlines a place on one side only, as a sentence.

    "" if that should change the cost the other way.
    """
    now = inlined_now(cpu, place.row)
    if now is None or now == (place.delta(cpu) > 0):
        return ""
    # After another function's name, "it" would be that one.
    alone = not (place.others or place.gone or place.added or place.parts)
    it = "it" if alone else called(cpu.names[place.row])
    return f"The compiler {f'inlines {it} now' if now else f'no longer inlines {it}'}"


def called(name: str) -> str:
    """Return a function's display name, of a closure with where it is inlined."""
    closure, benchmark = inlined_closure(name)
    return f"{closure} (created in {benchmark})" if benchmark else closure


def callees(cpu: CPUComparison, place: Place) -> str:
    """Return the callees that only one side has, as a sentence without its period.

    Without any, those that have good parts of the change. "" if they call functions
    that are no part of the place, as sort.Slice calls what compares.
    """
    chosen = [*place.gone, *place.added, *place.parts]
    if place.delta(cpu) > 0:
        # Short reports show the first: the way that the place went.
        chosen = [*place.added, *place.gone, *place.parts]
    # What is inside a part is not what pprof shows of a function.
    if place.partial or not chosen:
        return ""
    names = dict(
        zip(chosen, distinct_names([cpu.names[row] for row in chosen]), strict=True)
    )
    own = cpu.only(place.row)
    base, new = (below(cpu, own, place.claim, side) for side in (0, 1))
    if (place.base, place.new) != cpu.cum_at(place.row):
        every = cpu.under(own)
        for side, inside in enumerate((base, new)):
            if (below(cpu, own, every, side) > (1 + MUCH) * inside)[chosen].any():
                return ""
    amounts = [
        f"{cpu.words(int(base[row]), int(new[row]))}{_called_in(cpu, place, row)}"
        for row in chosen
    ]
    said = list(map(" ".join, zip(names.values(), amounts, strict=True)))
    rest = place.claim.without(cpu.under(cpu.only(*chosen)))
    left, whole = cpu.delta(rest), place.delta(cpu)
    back = left * whole < 0 and abs(left) >= MUCH * abs(whole)
    if back or left * whole > whole * whole:
        # The function itself, or what else it calls, did or does a part of their work.
        said.append(f"the rest {cpu.words(*cpu.sums(rest))}")
    return f"In it: {', '.join(said)}"


def _called_in(cpu: CPUComparison, place: Place, row: int) -> str:
    """Return which function below a place calls a library's, as a phrase, or ""."""
    own = cpu.diff.paired_functions.own
    if not cpu.of_go or own[row]:
        return ""
    side = 1 if cpu.cum_at(row)[1] > cpu.cum_at(row)[0] else 0
    calls = by_caller(cpu, place, side, [row], own)
    best = int(np.argmax(calls))
    # A closure is code of the place.
    its_own = f"{cpu.names[best]}.".startswith(f"{cpu.names[place.row]}.")
    if its_own or calls[best] < NEARLY_ALL * calls.sum():
        return ""
    return f" in {called(cpu.names[best])}"


def _by_resource(cpu: CPUComparison, place: Place) -> list[tuple[str, str]]:
    """Return a place's change as (label, amount) parts; empty if there is only one.

    What changed against the place, or little, within noise, is part of the last one:
    the only resource that is left, or others.
    """
    scale = scale_of(cpu.diff)
    whole = place.delta(cpu)
    base, new = cpu.by_category(place.claim)
    at = {category: i for i, category in enumerate(rules().categories)}
    large, changed = [], list[str]()
    for label, categories in _resources():
        rows = [at[category] for category in categories]
        delta = cpu.scaled_delta(int(base[rows].sum()), int(new[rows].sum()))
        if not delta:
            continue
        own = place.claim.within(cpu.of(categories))
        sure, along = cpu.mark(own) != "noise", delta * whole > 0
        changed.append(label)
        # A good part of a known change is none by chance, if it goes the same way.
        least = (_CLAUSE if sure else GOOD_PART) * abs(whole)
        if abs(delta) >= least and (sure or along):
            large.append((delta, label))
    large.sort(key=lambda one: -abs(one[0]))
    named = [label for _, label in large[:_CLAUSES]]
    left = [label for label in changed if label not in named]
    shown = [(label, _signed(scale, delta)) for delta, label in large[:_CLAUSES]]
    # From the numbers as printed, so that they add up for the reader.
    rest = scale.rounded(whole) - sum(
        scale.rounded(delta) for delta, _ in large[:_CLAUSES]
    )
    if shown and scale.rounded(rest):
        much = len(left) == 1 and abs(rest) >= _CLAUSE * abs(scale.rounded(whole))
        last = left[0] if much else "other"
        shown.append((last, _signed(scale, rest)))
    return shown if len(shown) > 1 else []


def _signed(scale: Scale, delta: float) -> str:
    return numeral(scale.number(delta, signed=True), "amount", delta)


def of_total(cpu: CPUComparison, delta: float) -> str:
    """Return which part of a known change is one of its parts.

    "" for more than all of it, or a change the other way.
    """
    scale, total = change_scale_of(cpu.diff), cpu.total_delta
    if not 0 < delta * total <= total**2:
        return ""
    return f"{_signed(scale, delta)} of {_signed(scale, total)} {scale.unit}"


def _in_clauses(resources: list[tuple[str, str]], unit: str) -> str:
    """Return amounts by resource as a sentence, with the unit after the first."""
    if not resources:
        return ""
    first, *others = (f"{label} {amount}" for label, amount in resources)
    return f"By resource: {'; '.join([f'{first} {unit}', *others])}"


def _resources() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (label, categories) of what a function's time is spent on.

    Allocation and its GC work are one, but for what it copies. Runtime
    work for the code itself is listed by category: maps, strings or copying show how
    the code works.
    """
    memory: list[str] = []
    for group in rules().groups:
        if group.id in BOOKKEEPING:
            memory += (one for one in group.categories if one not in _COPIES)
        elif group.id == "user":
            yield "user and library code", group.categories
        elif group.id == "runtime":
            for category in group.categories:
                yield rules().category_labels[category], (category,)
        else:
            label = group.label
            yield label[0].lower() + label[1:], group.categories
    yield "allocation and GC", tuple(memory)
    for category in _COPIES:
        yield rules().category_labels[category], (category,)


def _inside(callees: str, *mechanisms: str) -> str:
    """Return what only one side has in a place, as a sentence without its period."""
    said = ", ".join(one for one in mechanisms if one)
    if not said:
        return callees
    return f"{callees}, {said}" if callees else f"In it: {said}"


def growth(cpu: CPUComparison, claim: Claim) -> list[str]:
    """Return that slices or maps grow on one side only, with their CPU.

    It has to be much of that side, and no more than all of it changed by: otherwise it
    does what other code did on the other side.
    """
    said, whole, change = [], cpu.sums(claim), cpu.delta(claim)
    for label, names in _GROWTH:
        rows = cpu.rows_of(names)
        part = claim.within(cpu.under(cpu.only(*rows.tolist())))
        base, new = cpu.sums(part)
        one_sided = bool(base) != bool(new)
        much = base >= MUCH * whole[0] if base else new >= MUCH * whole[1]
        delta = cpu.delta(part)
        most = change**2 > 0 and 0 < delta * change <= (1 + MUCH) * change**2
        if one_sided and much and most and cpu.change(part).significant:
            said.append(f"{label} {cpu.words(base, new)}")
    return said


def _mechanism(cpu: CPUComparison, place: Place, said: Mapping[str, str]) -> str:
    """Return the largest kind of runtime work that only one side does, "" for none.

    Kinds that changed against the place, or whose label or amount was `said`, are
    skipped, like all below the callees that are named.
    """
    if not place.base or not place.new:
        return ""
    rows = cpu.only(*place.gone, *place.added)
    own = place.claim.without(cpu.under(rows))
    table, found = rules(), []
    moved = place.delta(cpu)
    whole = max(cpu.diff.normalization.scaled(abs(place.base), abs(place.new)))
    all_, of_own = cpu.by_category(place.claim), cpu.by_category(own)
    for i, category in enumerate(table.categories):
        if category.split(".")[0] in ("user", "gc", "alloc", "sched", "profiling"):
            continue
        base, new = (int(side[i]) for side in of_own)
        if min(side[i] for side in all_):
            # A callee that is gone did the same.
            continue
        delta = cpu.scaled_delta(base, new)
        if min(base, new) or abs(delta) < LITTLE * whole:
            continue
        label = table.category_labels.get(category, category)
        if delta * moved < 0 or label in said:
            continue
        if _signed(scale_of(cpu.diff), delta) in said.values():
            continue
        if cpu.change(own.within(cpu.of((category,)))).significant:
            amount = cpu.words(base, new)
            found.append((abs(delta), f"{label} {amount}"))
    return max(found)[1] if found else ""
