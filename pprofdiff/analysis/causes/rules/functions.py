"""Work that vanished, appeared, or moved, and calls that most of a change is below."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison, cum_of
from pprofdiff.analysis.causes.finding import Claim, Direction, Fact, Finding
from pprofdiff.analysis.causes.inside import Inside, OneSidedWork, Root
from pprofdiff.analysis.causes.one_sided import mostly
from pprofdiff.analysis.causes.parked import line_at
from pprofdiff.analysis.causes.wording import (
    count,
    distinct_lists,
    listed,
    listed_functions,
    parts_inside,
    percent,
    times,
)
from pprofdiff.analysis.ledger.graph import walk_some
from pprofdiff.analysis.policy import CLEARLY, COVERS, MAJOR, MOST, NAMED, NEARLY_ALL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.own_code import named
from pprofdiff.goruntime.readable import short
from pprofdiff.model.csr import first_in_row, grouped

Mask = NDArray[np.bool_]


def functions(case: Case) -> Iterator[Finding]:
    """Yield functions above a share that vanished, appeared, or replaced each other."""
    cpu, alone = case.cpu, case.one_sided
    if cpu is None or alone is None:
        return
    changes = alone.gone, alone.added
    for family in alone.families:
        if all(family) and not any(map(_passes_on, changes, family)):
            yield _replaced(cpu, changes, family)
            continue
        # What a function passes on to code of both sides is in no comparison of both.
        for change, roots in zip(changes, family, strict=True):
            if roots:
                yield _gone_or_new(case, cpu, change, roots)
    own = cpu.diff.paired_functions.own
    for inside in alone.inside:
        # Which library code C++ and Rust compilers inline differs by build.
        if cpu.of_go or own[[root.row for root in inside.roots]].any():
            yield _inside(cpu, inside)


def _passes_on(change: OneSidedWork, roots: list[Root]) -> bool:
    return any(root.row in change.passing for root in roots)


def _under_any(change: OneSidedWork, roots: list[Root]) -> Mask:
    """Return which samples of the change's side are under any of these roots."""
    under = np.zeros(len(change.root_of_sample), np.bool_)
    for root in roots:
        under |= change.root_of_sample == root.row
    return under


def _claim(cpu: CPUComparison, change: OneSidedWork, roots: list[Root]) -> Claim:
    """Claim the samples under these roots."""
    sides = [np.zeros(len(values), np.bool_) for values in cpu.diff.values]
    sides[change.side] = _under_any(change, roots)
    return Claim(sides[0], sides[1])


def _gone_or_new(
    case: Case, cpu: CPUComparison, change: OneSidedWork, roots: list[Root]
) -> Finding:
    gone = change.side == 0
    here, there = case.labels if gone else case.labels[::-1]
    under, total = _under(cpu, change, roots), cpu.diff.totals[change.side]
    share = percent(under, total)
    part = f"{share} of {here}'s {cpu.noun}"
    cum = cpu.sums(cpu.under(cpu.only(roots[0].row)).without(cpu.lent))[change.side]
    below_one = len(roots) == 1 and roots[0].row not in change.passing
    if below_one and under < NEARLY_ALL * cum and _has_caller(cpu.names, roots[0]):
        # Elsewhere it is below other functions that are gone or new.
        caller = short(cpu.names[roots[0].parent])
        part = f"{percent(cum, total)} of {here}'s {cpu.noun}, {share} under {caller}"
    named = listed_functions([cpu.names[r.row] for r in roots[:NAMED]])
    several = len(roots) > 1
    verb = "are" if several else "is"
    left = any(cpu.cum[1 - change.side][r.row] for r in roots)
    if gone:
        end = "all but gone" if left else "gone"
        were = "they were" if several else "it was"
        title = f"{named} {verb} {end}: {were} {part}"
    elif left:
        title = f"{named} went from next to nothing to {part}"
    else:
        title = f"{named} {verb} new: {part}"
    claim = _claim(cpu, change, roots)
    side = change.side
    most = mostly(cpu, side, np.where(claim.sides[side], change.root_of_sample, -1))
    # The title has the names: without a known caller there is no more to say of one.
    called = [_called(cpu.names, r) for r in roots[:NAMED] if _has_caller(cpu.names, r)]
    rest = len(roots) - NAMED
    more = [f"and {rest} more"] if called and rest > 0 else []
    sentences = [f"{'; '.join([*called, *more])}."] if called else []
    passed = [root.row for root in roots if root.row in change.passing]
    if passed:
        whole = percent(int(cpu.cum[side][passed[0]]), cpu.diff.totals[side])
        what = f"{short(cpu.names[passed[0]])} takes {whole} with all that it calls"
        sentences.append(f"{what}: what {there} calls without it is not counted.")
    if "stack growth" in cpu.excluded:
        sentences.append("Stack growth is not counted.")
    if most is not None:
        sentences.append(f"Most of it is in {short(cpu.names[most])}.")
    return Finding(
        "work-vanished" if gone else "work-appeared",
        title,
        " ".join(sentences),
        cpu.facts([root.row for root in roots], "cum"),
        direction=_direction(cpu, gone=gone),
        rises=not gone,
        names=frozenset(cpu.names[r.row] for r in roots),
        claim=claim,
        line="" if gone or several else _line(cpu, roots[0].row, claim),
    )


def _line(cpu: CPUComparison, row: int, claim: Claim) -> str:
    """Return the line of new's function with most of the claimed CPU, "" for none.

    A name with spaces, as in C++, is not one word of a title.
    """
    if " " in short(cpu.names[row]):
        return ""
    profile, values = cpu.diff.new.profile, cpu.diff.values[1]
    of_line = cpu.diff.paired_functions.of_lines(1)
    sums = np.zeros(len(of_line), np.int64)
    for samples, frames in walk_some(profile, np.flatnonzero(claim.new)):
        first = first_in_row(of_line[frames.line] == row, frames.offsets)
        met = first >= 0
        np.add.at(sums, frames.line[first[met]], values[samples][met])
    # A line has a row for each of its calls.
    numbers = profile.locations.line_number
    lines, group = grouped(numbers[sums > 0])
    amounts = np.bincount(group, sums[sums > 0], len(lines))
    at = int(np.argmax(amounts)) if len(lines) else -1
    if at < 0 or not amounts[at] > MOST * amounts.sum():
        return ""
    return line_at(profile, int(np.flatnonzero((sums > 0) & (numbers == lines[at]))[0]))


def _inside(cpu: CPUComparison, inside: Inside) -> Finding:
    """Return the finding that code was split off, or merged in, at no more cost."""
    rows = [inside.host, *(root.row for root in inside.roots)]
    whole, *parts = (cpu.names[row] for row in rows)
    less = "more" if inside.side else "less"
    base, new = (int(side[inside.host]) for side in cpu.cum)
    return Finding(
        "split" if inside.side else "joined",
        f"{parts_inside(whole, parts, new=inside.side == 1)}, which costs no "
        f"{less}: with all it calls {cpu.words(base, new)}",
        "Code that only moved between functions does the same work.",
        cpu.facts(rows, "cum"),
        functions=tuple(cpu.names[row] for row in rows),
    )


def _direction(cpu: CPUComparison, *, gone: bool) -> Direction:
    """Return the direction of work that vanished or appeared; neutral for shares."""
    if cpu.in_shares:
        return "neutral"
    return "better" if gone else "worse"


def _has_caller(names: list[str], root: Root) -> bool:
    return root.parent >= 0 and bool(named([names[root.parent]])[0])


def _called(names: list[str], root: Root) -> str:
    return f"{short(names[root.row])}, called by {short(names[root.parent])}"


def _under(cpu: CPUComparison, change: OneSidedWork, roots: list[Root]) -> int:
    """Return the raw CPU time under roots, GC and allocation included."""
    under = _under_any(change, roots)
    return int(cpu.diff.values[change.side][under].sum())


def _replaced(
    cpu: CPUComparison,
    changes: tuple[OneSidedWork, OneSidedWork],
    roots: tuple[list[Root], list[Root]],
) -> Finding:
    """Return the finding that some functions replaced others, and what both cost."""
    for some in roots:
        some.sort(key=lambda root: -root.value)
    before, after = distinct_lists(
        *([cpu.names[r.row] for r in some[:NAMED]] for some in roots)
    )
    more = [
        f" and {len(some) - NAMED} more" if len(some) > NAMED else "" for some in roots
    ]
    claim = _claim(cpu, changes[0], roots[0]).plus(_claim(cpu, changes[1], roots[1]))
    base, new = cpu.sums(claim)
    change = cpu.change_relative(claim)
    scaled = cpu.relative.by.scaled(base, new)
    verb = "replace" if len(roots[1]) > 1 else "replaces"
    cost = cpu.words(base, new)
    if not cpu.in_shares:
        cost += f" ({times(scaled[1] / scaled[0])})"
    direction: Direction = "neutral"
    if change.significant and not cpu.in_shares:
        direction = "worse" if change.delta > 0 else "better"
    callers = list(
        dict.fromkeys(cpu.names[r.parent] for rs in roots for r in rs if r.parent >= 0)
    )
    under = f"Called by {listed_functions(callers[:NAMED])}. " if callers else ""
    return Finding(
        "work-moved",
        f"{after}{more[1]} {verb} {before}{more[0]}: {cost}",
        f"{under}With their callees.",
        (
            *cpu.facts([root.row for some in roots for root in some], "cum"),
            cpu.fact("these functions together", base, new),
        ),
        direction=direction,
        claim=claim,
        names=frozenset(cpu.names[r.row] for some in roots for r in some),
    )


def package_moved(case: Case) -> Iterator[Finding]:
    """Yield a finding where functions moved from a package of base to one of new."""
    moves = case.comparison.identity.moves.packages
    if not moves:
        return
    first, total = moves[0], sum(move.functions for move in moves)
    where = f"from {first.base} to {first.new}"
    if len(moves) > 1:
        others = len(moves) - 1
        where += f" and {others} other package{'s' if others > 1 else ''} likewise"
    functions = f"{count(total)} function{'s' if total > 1 else ''}"
    also = [f"{move.base} to {move.new}" for move in moves[1 : NAMED + 1]]
    if len(moves) > NAMED + 1:
        also.append(f"{len(moves) - NAMED - 1} more")
    yield Finding(
        "package-moved",
        f"{functions} moved {where}",
        (f"Also: {listed(also)}. " if also else "")
        + "Each is compared with its namesake there.",
        tuple(
            Fact(
                f"{move.base} → {move.new}",
                "function names",
                move.functions,
                move.functions,
                "functions",
            )
            for move in moves
        ),
    )


def covering(diff: ProfileDiff, kept: Claim | None = None) -> int | None:
    """Return the function of the program that covers a change, None if none does.

    It is on both sides, and a row of `paired_functions.names`: of the functions whose
    cum changed by at least 80% of the change, the one with the least cum. `kept`
    selects samples.
    """
    base, new = (
        cum_of(diff, side, None if kept is None else kept.sides[side])
        for side in (0, 1)
    )
    by = diff.normalization
    delta = by.delta(base, new)
    totals = [
        int(values.sum() if kept is None else values[kept.sides[side]].sum())
        for side, values in enumerate(diff.values)
    ]
    whole = by.delta(*totals)
    covers = diff.paired_functions.own & (delta * np.sign(whole) >= COVERS * abs(whole))
    covers &= (base > 0) & (new > 0)
    rows = np.flatnonzero(covers)
    if not whole or not len(rows):
        return None
    sizes = np.sum(by.scaled(base[rows], new[rows]), axis=0)
    return int(rows[int(np.argmin(sizes))])


def below(case: Case) -> Iterator[Finding]:
    """Yield a finding where code below one function costs more or less, spread out.

    GC, allocation, and what vanished or appeared do not count: they have findings.
    """
    cpu, alone = case.cpu, case.one_sided
    if cpu is None or alone is None or cpu.other_release or cpu.in_shares:
        return
    claimed = alone.claim.plus(cpu.bookkeeping).plus(cpu.lent)
    kept = Claim(~claimed.base, ~claimed.new)
    change = cpu.change_relative(kept)
    if not change.significant or abs(change.delta) < MAJOR * cpu.whole:
        return
    row = covering(cpu.diff, kept)
    if row is None:
        return
    claim = cpu.under(cpu.only(row)).within(kept)
    base, new = cpu.sums(claim)
    scaled = cpu.relative.by.scaled(base, new)
    ratio = scaled[1] / scaled[0] if scaled[0] else 0.0
    if not ratio > 0 or max(ratio, 1 / ratio) < CLEARLY:
        return
    if cpu.delta(claim) * cpu.scaled_delta(*(int(side[row]) for side in cpu.cum)) < 0:
        # What is new or gone below it takes the change back.
        return
    name = cpu.names[row]
    delta = _by_owner(cpu, claim)
    if delta.max() >= MOST * abs(cpu.delta(claim)):
        return
    movers = np.argsort(-delta, kind="stable")[:NAMED].tolist()
    named = listed_functions([cpu.names[i] for i in movers if delta[i]])
    most = delta[movers].sum() > MOST * delta.sum()
    where = f"; most of it in {named}" if most else ""
    without = f", without {listed(cpu.excluded)}" if cpu.excluded else ""
    many = "many" if cpu.noun == "samples" else "much"
    yield Finding(
        "dearer-below" if ratio > 1 else "cheaper-below",
        f"{short(name)} and what it calls cost {times(ratio)} as {many} {cpu.noun}",
        f"{cpu.words(base, new)}{without}{where}.",
        (cpu.fact(f"below {name}", base, new),),
        direction="worse" if ratio > 1 else "better",
        claim=claim,
        names=frozenset({name}),
    )


def _by_owner(cpu: CPUComparison, claim: Claim) -> NDArray[np.float64]:
    """Return how much each function's own samples changed, scaled and unsigned."""
    sums = []
    for side, values in enumerate(cpu.diff.values):
        owner = cpu.sides[side].owner
        kept = claim.sides[side] & (owner >= 0)
        rows = cpu.diff.paired_functions.union[side][owner[kept]]
        column = np.zeros(len(cpu.names), np.int64)
        np.add.at(column, rows, values[kept])
        sums.append(column)
    return np.abs(cpu.diff.normalization.delta(sums[0], sums[1]))
