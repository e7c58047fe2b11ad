"""Places whose CPU per op changed: the fewest functions that explain it.

The program's function nearest the leaf owns a sample, along with the standard library
and runtime code below it. The function whose samples changed most is a place; if no
function has most of a change, the path that it runs through is. A place's samples are
set aside, and the search repeats on the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property, partial
from heapq import nlargest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Claim
from pprofdiff.analysis.causes.inlined import (
    always_inlined,
    inlined_calls,
    inlining_caller,
)
from pprofdiff.analysis.causes.renumbered import renumbered
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.policy import (
    COVERS,
    FEW_SAMPLES,
    GOOD_PART,
    LITTLE,
    MOST,
    MUCH,
    NAMED,
    NEARLY_ALL,
    SEVERAL,
)
from pprofdiff.analysis.profiles.own_code import named
from pprofdiff.analysis.profiles.rows import PairedRows
from pprofdiff.goruntime.names import (
    is_closure,
    package_end,
    package_of,
    strip_type_arguments,
)
from pprofdiff.goruntime.readable import short
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import (
    expand,
    first_in_row,
    last_in_row,
    offsets_of,
    once_per_row,
    row_of_item,
    sums,
)

# A function replaces its caller if it has this part of the caller's change: of 51
# commits with known causes, 65% named the first cause in 44 (50% and 80% in fewer).
_KEEPS = 0.65
# Further places are details of the first ones.
_MOST = 4
# Callees of a place that only one side has, of each side.
_CALLEES = 2
# go/build: files compiled only for tests.
_TEST_FILE = "_test.go"
_ASSEMBLY = ".s"


class Place(NamedTuple):
    """A function whose samples changed: a row of the union of functions.

    `claim` are its samples, `base` and `new` their raw CPU time. They are the samples
    it owns, or with `whole` also its callees'. `gone` and `added` are the
    outermost callees that only base, or only new, has, largest first. A place is
    `partial` if larger places have some of its samples. `absorbed` is a callee without
    samples on one side, whose work the function does itself there; -1 for none.
    `callers` are functions whose code it took over, or gave to them. `parts` are
    callees that both sides have, with good parts of its change. A place is
    `only_changed` if it has nearly all of the outcome, and its callers' text is the
    same.
    """

    row: int
    claim: Claim
    base: int
    new: int
    whole: bool
    gone: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    partial: bool = False
    absorbed: int = -1
    callers: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()
    only_changed: bool = False

    @property
    def others(self) -> tuple[int, ...]:
        """The functions that count together with this one."""
        return self.callers if self.absorbed < 0 else (self.absorbed,)

    def having(self, cpu: CPUComparison, claim: Claim) -> Place:
        """Return the place with other samples."""
        base, new = cpu.sums(claim)
        return self._replace(claim=claim, base=base, new=new)

    def delta(self, cpu: CPUComparison) -> float:
        """Return the scaled delta of the place's samples."""
        return cpu.scaled_delta(self.base, self.new)


class Program:
    """The functions of the union that may be named, as bool masks.

    `code` excludes the runtime and package testing, `own` also the standard library,
    and `inner`, those that may be places, with `tests_apart` also the program's own
    tests and benchmarks.
    """

    def __init__(self, cpu: CPUComparison, *, tests_apart: bool = False) -> None:
        self._cpu, functions = cpu, cpu.diff.paired_functions
        self.own = functions.own
        if cpu.of_go:
            self.code = functions.own.copy()
            for row in np.flatnonzero(~self.code).tolist():
                self.code[row] = _is_code(package_of(functions.names[row]))
        else:
            self.code = named(functions.names)
        self.inner = self.own & ~of_harness(functions) if tests_apart else self.own

    @cached_property
    def entries(self) -> tuple[Column, ...]:
        """What stacks of base and new begin in, by row; -1 if they have own code."""
        cpu, found = self._cpu, []
        for side, own in enumerate(cpu.under(self.own).sides):
            roots, cut = cpu.roots(side, self.code, ~own)
            found.append(np.where(cut, -1, roots))
        return tuple(found)

    @cached_property
    def closures(self) -> list[int]:
        """Closures of one side that may be the other's by another number."""
        return renumbered(self._cpu)

    @cached_property
    def nameable(self) -> NDArray[np.bool_]:
        """The callees that may be named: no closure that may be renumbered."""
        nameable = self.code.copy()
        nameable[self.closures] = False
        return nameable

    def among(self, rows: NDArray[np.bool_]) -> Program:
        """Return the same functions, where only `rows` may be places."""
        program = copy(self)
        program.inner = rows
        return program


def _is_code(package: str) -> bool:
    """Return whether a package is outside Go's runtime and package testing."""
    first, _, rest = package.partition("/")
    internal = first == "internal" and rest.partition("/")[0] in ("runtime", "abi")
    return bool(package) and first not in ("runtime", "testing") and not internal


def of_harness(functions: PairedRows) -> NDArray[np.bool_]:
    """Return a mask of the union's functions in test files: benchmarks, helpers.

    A closure inlined into a benchmark has the benchmark's name but its own function's
    file. Without a file, the name decides.
    """
    found = np.zeros(len(functions.names), np.bool_)
    for side, rows in zip(functions.sides, functions.union, strict=True):
        found[rows] = [
            file.endswith(_TEST_FILE) if file else is_benchmark(name)
            for name, file in zip(side.names, side.files, strict=True)
        ]
    return found


def is_benchmark(name: str) -> bool:
    """Return whether a function is a benchmark, or was inlined into one."""
    return ".Benchmark" in name and short(name).partition(".")[2].startswith(
        "Benchmark"
    )


def places(cpu: CPUComparison, program: Program) -> list[Place]:
    """Return the places that changed significantly, largest change first.

    If work only moved between functions, their caller replaces them, and its
    change may be within noise.
    """
    left, found, searched = cpu.all, list[Place](), program
    while len(found) < _MOST:
        place = _next(cpu, searched, left)
        if place is None:
            break
        if found:
            rows = cpu.only(place.row)
            every = cpu.under(rows) if place.whole else owned_by(cpu, [place.row])
            place = place._replace(partial=any(cpu.sums(every.without(left))))
            other = not place.whole and all(one.row != place.row for one in found)
            if place.partial and other and not changes_too(cpu, every, place):
                # What an earlier place has of it on one side is missing on the other.
                searched = searched.among(searched.inner & ~rows)
                continue
        found.append(place)
        left = left.without(place.claim)
    found = _of_functions(cpu, _netted(cpu, program, found))
    found = [with_moved(cpu, program, place) for place in found]
    return [with_callees(cpu, program, place) for place in disjoint(cpu, found)]


def changes_too(cpu: CPUComparison, claim: Claim, place: Place) -> bool:
    """Return whether samples change significantly, and as a place does."""
    change = cpu.change(claim)
    return change.significant and change.delta * place.delta(cpu) > 0


def _of_functions(cpu: CPUComparison, found: Sequence[Place]) -> list[Place]:
    """Return places; a path to a function is all of it if that is a change as well.

    pprof shows the cum of a function, not of one way to it. What other places have of
    it is theirs.
    """
    kept = []
    for place in found:
        if not place.whole:
            kept.append(place)
            continue
        whole = whole_of(cpu, place.row)
        others = (one.claim for one in found if one is not place)
        left = whole.claim.without(cpu.of(()).plus_all(others))
        partial = cpu.sums(left) != cpu.sums(whole.claim)
        every = whole.having(cpu, left)._replace(partial=partial)
        kept.append(every if changes_too(cpu, left, place) else place)
    return kept


def disjoint(cpu: CPUComparison, found: Sequence[Place]) -> list[Place]:
    """Return places by decreasing change, each without the samples of earlier ones."""
    claimed, kept = cpu.of(()), []
    for place in sorted(found, key=lambda one: -abs(one.delta(cpu))):
        left = place.having(cpu, place.claim.without(claimed))
        if left.base or left.new:
            partial = (left.base, left.new) != (place.base, place.new)
            kept.append(left._replace(partial=place.partial or partial))
            claimed = claimed.plus(left.claim)
    return kept


def unclaimed(
    cpu: CPUComparison,
    program: Program,
    found: Sequence[Place],
    is_said: Callable[[Place], bool],
) -> list[Place]:
    """Return places; those outside others with the samples of places that are not said.

    They have them if they change significantly, and the same way, with these. One with
    all samples changes as the outcome does.
    """
    left = list(found)
    if not any(place.partial and place.whole for place in found):
        return left
    said, all_ = list(map(is_said, found)), holds_all(cpu)
    for i, place in enumerate(found):
        if not (said[i] and place.partial and place.whole) or place.others:
            continue
        claim = whole_of(cpu, place.row).claim
        every = cpu.sums(claim)
        for other, known in zip(left, said, strict=True):
            if known and other is not place:
                claim = claim.without(other.claim)
        same_way = cpu.delta(claim) * place.delta(cpu) > 0
        if changes_too(cpu, claim, place) or (same_way and all_[place.row]):
            partial = cpu.sums(claim) != every
            now = place.having(cpu, claim)._replace(partial=partial)
            left[i] = with_callees(cpu, program, now)
    return left


def holds_all(cpu: CPUComparison) -> NDArray[np.bool_]:
    """Return a mask of the functions that nearly all samples of both sides have."""
    found = np.ones(len(cpu.names), np.bool_)
    for cum, whole in zip(cpu.cum, cpu.sums(cpu.all), strict=True):
        found &= cum >= NEARLY_ALL * max(whole, 1)
    return found


def operation(cpu: CPUComparison, program: Program) -> Place | None:
    """Return the deepest function in which a benchmark spends nearly all its time.

    It changed as the total did: what else has samples are the runtime's goroutines.
    """
    loops = [i for i, name in enumerate(cpu.names) if is_benchmark(name)]
    may = program.inner & _changes_as_all(cpu)
    may[loops] = False
    for cum in cpu.cum:
        may &= cum >= NEARLY_ALL * max(cum[loops].max(initial=0), 1)
    rows = np.flatnonzero(may).tolist()
    if not rows:
        return None
    inner = min(rows, key=lambda row: sum(cpu.cum_at(row)))
    return whole_of(cpu, inner)._replace(only_changed=True)


def _changes_as_all(cpu: CPUComparison) -> NDArray[np.bool_]:
    """Return a mask of the functions whose cum changed about as much as the total."""
    base, new = cpu.cum
    whole = cpu.total_delta
    off = np.abs(cpu.diff.normalization.delta(base, new) - whole)
    found: NDArray[np.bool_] = (base > 0) & (new > 0)
    return found & (off <= (1 - COVERS) * abs(whole))


def holding(
    cpu: CPUComparison, program: Program, found: Sequence[Place]
) -> Place | None:
    """Return the deepest function with the whole change, without samples of others.

    It has nearly all samples of both sides, or else a change as large as the total.
    """
    rows: list[int] = []
    for mask in (holds_all(cpu), _changes_as_all(cpu)):
        rows = rows or [
            row
            for row in np.flatnonzero(program.inner & mask).tolist()
            if not is_benchmark(cpu.names[row])
        ]
    if not rows:
        return None
    row = min(rows, key=lambda row: sum(cpu.cum_at(row)))
    claimed = cpu.of(()).plus_all(place.claim for place in found)
    claim = cpu.under(cpu.only(row)).without(claimed)
    base, new = cpu.sums(claim)
    if any(one.row == row for one in found) or not (base and new):
        return None
    return Place(row, claim, base, new, whole=True, partial=bool(found))


def _next(cpu: CPUComparison, program: Program, left: Claim) -> Place | None:
    """Return the place with most of what is left, or None if none is significant."""
    path = None if cpu.loses_callers else deepest(cpu, program, left)
    owner = owner_of_most(cpu, program, left)
    entry = None
    if cpu.of_go:
        # Goroutines of libraries, named by what they start in: they have no function of
        # the program. Threads of other languages begin in system libraries.
        entry = _with_most(cpu, program.entries, program.code, left, whole=True)
    best = owner or path
    if owner and path and abs(owner.delta(cpu)) < MOST * abs(path.delta(cpu)):
        best = path
    if best and entry and abs(best.delta(cpu)) < abs(entry.delta(cpu)):
        best = entry
    return best or entry


def owner_of_most(cpu: CPUComparison, program: Program, left: Claim) -> Place | None:
    """Return the function whose own samples changed most."""
    return _with_most(cpu, owners(cpu), program.inner, left, whole=False)


def _with_most(
    cpu: CPUComparison,
    of_sample: Sequence[Column],
    candidates: NDArray[np.bool_],
    left: Claim,
    *,
    whole: bool,
) -> Place | None:
    """Return the candidate whose samples changed most, given each sample's function."""
    base, new = (
        np.where(kept, rows, -1)
        for kept, rows in zip(left.sides, of_sample, strict=True)
    )
    best = _largest(cpu, cpu.diff.runs_of((base, new), len(cpu.names)), candidates)
    if best is None:
        return None
    claim = Claim(base == best[0], new == best[0])
    return Place(best[0], claim, *cpu.sums(claim), whole=whole)


# A place that counts together with others, and these others.
_Together = tuple[Place, Sequence[Place]]


def with_callers(
    cpu: CPUComparison,
    program: Program,
    found: Sequence[Place],
    *,
    total_known: bool = False,
) -> list[Place]:
    """Return places; those that gave cost to each other, or to functions near, as one.

    Where the total is known well, what is saved beyond it is spent elsewhere: likeliest
    where it was.
    """
    rules: tuple[Callable[[Place, list[Place]], _Together | None], ...] = (
        partial(_without_callers, cpu),
        partial(_callers_doing, cpu, program, total_known=total_known),
        partial(_callers_sharing, cpu, program),
        partial(_contrary_callees, cpu, program),
        partial(_caller_taking_back, cpu),
        partial(_with_details, cpu, program),
        # Sources of Go show how a function does its work: each has its own lines.
        *(() if cpu.of_go else (partial(_details, cpu, program),)),
    )
    left = list(found)
    for rule in rules:
        for place in tuple(left):
            together = rule(place, left) if place in left else None
            if together is not None:
                whole, others = together
                left[left.index(place)] = whole
                left = [one for one in left if one not in others]
    return left


def _without_callers(
    cpu: CPUComparison, place: Place, left: Sequence[Place]
) -> _Together | None:
    """Return a function that stacks begin in with the largest change the other way.

    Assembly without a frame pointer has no callers in a profile: what called it on one
    side may be what is new on the other.
    """
    if place.others or not _is_cut_off(cpu, place):
        return None
    change = place.delta(cpu)
    contrary = [one for one in left if not one.others and one.delta(cpu) * change < 0]
    if not contrary:
        return None
    other = max(contrary, key=lambda one: abs(one.delta(cpu)))
    claim = place.claim.plus(other.claim)
    return _with_own_callers(cpu, place, claim, (other.row,)), [place, other]


def _is_cut_off(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a place of one side is assembly in which its stacks begin.

    A goroutine's function begins its stacks too, in a file of Go.
    """
    if not cpu.of_go or (place.base and place.new):
        return False
    side, functions = 0 if place.base else 1, cpu.diff.paired_functions
    rows = np.flatnonzero(functions.union[side] == place.row).tolist()
    files = functions.sides[side].files
    if not any(files[row].endswith(_ASSEMBLY) for row in rows):
        return False
    every = np.ones(len(cpu.names), np.bool_)
    roots, _ = cpu.roots(side, every, place.claim.sides[side])
    first = int(cpu.diff.values[side][roots == place.row].sum())
    return first >= NEARLY_ALL * max(place.base, place.new)


def _callers_doing(
    cpu: CPUComparison,
    program: Program,
    place: Place,
    left: Sequence[Place],
    *,
    total_known: bool,
) -> _Together | None:
    """Return a place that only one side has with the callers that do its work.

    The compiler inlined such a function, or its code moved into its callers: what the
    callers cost more must be set against what the function costs less.
    """
    callers = _calling(cpu, program, place)
    if not callers:
        return None
    same = [one for one in left if one.row in (*callers, place.row)]
    own = _unclaimed(cpu, callers, [one for one in left if one not in same])
    change, back = cpu.delta(place.claim), cpu.delta(own)
    if back * change >= 0:
        return None
    # A caller that is a place would be a cause that goes the other way.
    contrary = any(one.delta(cpu) * change < 0 for one in same)
    taken_over = any(
        cpu.delta(part) * change <= -MUCH * change**2 and cpu.change(part).significant
        for part in (own, _on_one_side(cpu, callers, own))
    )
    # Of what one side alone does, samples leave no doubt, however runs differ.
    taken_over |= abs(back) >= MUCH * abs(change) and _is_left(cpu, own)
    if total_known:
        whole = cpu.total_delta
        taken_over |= change * whole > (1 + LITTLE) * whole**2
    if not (contrary or taken_over):
        return None
    claim = own.plus_all(one.claim for one in same)
    return _with_own_callers(cpu, place, claim, callers), same


def _is_left(cpu: CPUComparison, own: Claim) -> bool:
    """Return whether one side has several samples, and the other hardly any."""
    sums = cpu.sums(own)
    by = cpu.diff.normalization.scaled(*sums)
    several = max(raw / worth for raw, worth in zip(sums, cpu.model.worth, strict=True))
    return several >= FEW_SAMPLES and min(by) <= MUCH * max(by)


def _callers_sharing(
    cpu: CPUComparison, program: Program, place: Place, left: Sequence[Place]
) -> _Together | None:
    """Return a function of one side with several callers that lost other callees.

    What they do in it they did themselves, or by others, on the other side.
    """
    callers = _calling(cpu, program, place)
    if len(callers) < 2:
        return None
    claim, change = cpu.under(cpu.only(*callers)), 0.0
    same = list[Place]()
    for one in left:
        if holds(cpu, claim, one):
            same.append(one)
            change += one.delta(cpu)
        elif any(cpu.sums(one.claim.within(claim))):
            return None
    moved = cpu.delta(claim)
    back = change - moved
    if moved * change <= 0 or back * change < MUCH * change**2:
        return None
    return _with_own_callers(cpu, place, claim, callers)._replace(whole=True), same


def _contrary_callees(
    cpu: CPUComparison, program: Program, place: Place, left: Sequence[Place]
) -> _Together | None:
    """Return a function with its callees if they take back its change.

    Work that moved between a function and its callees is no change of either. For
    inlined callees, the compiler decides whose an instruction is.
    """
    if place.whole or place.others:
        return None
    whole = whole_of(cpu, place.row)
    # They may do the work that the function did itself, or by library calls.
    alone = _on_one_side(cpu, [place.row], whole.claim, program.own)
    back = max(-cpu.delta(alone) * float(np.sign(place.delta(cpu))), 0.0)
    # Few of a large cost may be most of what is left of it.
    much = back >= MUCH * min(cpu.diff.normalization.scaled(place.base, place.new))
    much &= back > 0 and _are_enough(cpu, alone, whole)
    if not (much or taken_back(cpu, place)):
        return None
    same_way = place.delta(cpu) * whole.delta(cpu) > 0
    lost = same_way and not cpu.change(whole.claim).significant
    inside = _inside(cpu, left, whole)
    if any(_is_apart_from(cpu, one, place) for one in inside):
        return None
    if lost and back < (1 - COVERS) * abs(place.delta(cpu)):
        if len(inside) != 1 or not _takes_over(cpu, place, inside[0]):
            return None
        claim = place.claim.plus(inside[0].claim)
        return _with_own_callers(cpu, inside[0], claim, (place.row,)), inside
    contrary = all(
        holds(cpu, whole.claim, one) and one.delta(cpu) * place.delta(cpu) < 0
        for one in inside
    )
    return (with_callees(cpu, program, whole), inside) if contrary else None


def _are_enough(cpu: CPUComparison, alone: Claim, whole: Place) -> bool:
    """Return whether one-sided callees have enough samples to count with a function.

    Few are enough if they are most of what that has on their side.
    """
    sides = cpu.sums(alone)
    samples = np.divide(sides, cpu.model.worth).sum()
    pairs = zip(sides, (whole.base, whole.new), strict=True)
    most = any(part > MOST * all_ for part, all_ in pairs)
    return bool(samples >= (SEVERAL if most else FEW_SAMPLES))


def _is_apart_from(cpu: CPUComparison, callee: Place, place: Place) -> bool:
    """Return whether a callee that both sides run changed far more than its caller."""
    scaled = cpu.diff.normalization.scaled(callee.base, callee.new)
    both = min(scaled) >= MUCH * max(scaled)
    return both and abs(place.delta(cpu)) < LITTLE * abs(callee.delta(cpu))


def _caller_taking_back(
    cpu: CPUComparison, place: Place, left: Sequence[Place]
) -> _Together | None:
    """Return a place with the caller it is inlined into, if that takes back its change.

    A sample counts for the instruction after the one that took the time, which may be
    of the other function.
    """
    caller = _inlining_caller(cpu, place)
    if caller is None or any(one.row == caller for one in left):
        return None
    own = _unclaimed(cpu, [caller], left)
    change, back = place.delta(cpu), cpu.delta(own)
    much = back * change < 0 and abs(back) >= MUCH * abs(change)
    if not much or not cpu.change(own).significant:
        return None
    claim = place.claim.plus(own)
    sums = cpu.sums(claim)
    return Place(place.row, claim, *sums, whole=False, callers=(caller,)), ()


def _with_details(
    cpu: CPUComparison, program: Program, place: Place, left: Sequence[Place]
) -> _Together | None:
    """Return a function with callees that changed alike: inlined ones, and closures.

    The compiler decides whose an instruction is. A closure is its function's code.
    """
    if len(place.callers) > 1:
        return None
    whole = whole_of(cpu, place.row)
    inside = _inside(cpu, left, whole)
    alike = all(
        not one.others
        and one.delta(cpu) * place.delta(cpu) > 0
        and (
            _is_inside(cpu, one.row, place.row)
            or (one.base and one.new and always_inlined(cpu, one.row))
        )
        and holds(cpu, whole.claim, one)
        for one in inside
    )
    return (with_callees(cpu, program, whole), inside) if inside and alike else None


def _details(
    cpu: CPUComparison, program: Program, place: Place, left: Sequence[Place]
) -> _Together | None:
    """Return a function with closures, and what only it calls on one side.

    They are how it does its work, if both changed the same way.
    """
    if place.others or not (place.base and place.new):
        return None
    whole, change = whole_of(cpu, place.row), place.delta(cpu)
    inside = _inside(cpu, left, whole)
    details = all(
        (not all(cpu.cum_at(one.row)) or _is_inside(cpu, one.row, place.row))
        and holds(cpu, whole.claim, whole_of(cpu, one.row))
        and one.delta(cpu) * change > 0
        for one in inside
    )
    return (with_callees(cpu, program, whole), inside) if inside and details else None


def _inside(cpu: CPUComparison, found: Sequence[Place], whole: Place) -> list[Place]:
    """Return the other places that have samples of a function with its callees."""
    others = (one for one in found if one.row != whole.row)
    return [one for one in others if any(cpu.sums(one.claim.within(whole.claim)))]


def _takes_over(cpu: CPUComparison, place: Place, callee: Place) -> bool:
    """Return whether a callee took over most of what a function did itself, or back.

    Which of them has a sample depends on the frames: a tail call leaves none.
    """
    own, change = place.delta(cpu), callee.delta(cpu)
    return (
        own * change <= -MOST * own * own
        and not callee.others
        and holds(cpu, cpu.under(cpu.only(place.row)), whole_of(cpu, callee.row))
    )


def called_on_one_side(
    cpu: CPUComparison, program: Program, rows: Sequence[int]
) -> list[int]:
    """Return the program's functions that others call and that only one side has.

    Where one has no more than a few samples, the other may have none by chance.
    """
    callers = cpu.only(*rows)
    claim = cpu.under(callers)
    found = np.zeros(len(cpu.names), np.bool_)
    for side, worth in enumerate(cpu.model.worth):
        several = cpu.cum[side] > SEVERAL * worth
        found |= (
            several & (cpu.cum[1 - side] == 0) & (below(cpu, callers, claim, side) > 0)
        )
    found &= program.own & ~callers
    return [int(row) for row in np.flatnonzero(found)]


def _on_one_side(
    cpu: CPUComparison,
    rows: Sequence[int],
    claim: Claim,
    kind: NDArray[np.bool_] | None = None,
) -> Claim:
    """Claim of a claim what lies below functions that one side alone has there.

    There is below `rows`; with `kind`, a mask, only functions of that count.
    """
    there = cpu.only(*rows)
    base, new = (below(cpu, there, claim, side) == 0 for side in (0, 1))
    alone = base != new
    if kind is not None:
        alone &= kind
    return claim.within(cpu.under(alone))


def _inlining_caller(cpu: CPUComparison, place: Place) -> int | None:
    """Return the caller that a place's own code is inlined into on both sides."""
    if place.whole or place.others or not (place.base and place.new):
        return None
    return inlining_caller(cpu, place.row)


def gives_to_caller(cpu: CPUComparison, place: Place) -> bool:
    """Return whether the caller that a place is inlined into takes back most of it."""
    caller = _inlining_caller(cpu, place)
    if caller is None:
        return False
    back = cpu.delta(owned_by(cpu, [caller]).without(place.claim))
    return back * place.delta(cpu) <= -MOST * place.delta(cpu) ** 2


def taken_back(cpu: CPUComparison, place: Place) -> bool:
    """Return whether callees take back a good part of a function's own change."""
    if place.whole or place.others or not (place.base and place.new):
        return False
    cum = cpu.scaled_delta(*cpu.cum_at(place.row))
    return bool(is_taken_back(place.delta(cpu), cum))


def is_taken_back(
    own: float | NDArray[np.float64], cum: float | NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return where cum changed by less than own costs did, or the other way."""
    found: NDArray[np.bool_] = (np.multiply(own, cum) <= 0) | (
        np.abs(cum) < COVERS * np.abs(own)
    )
    return found


def takes_another_path(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a path that changed is no change of its function.

    Other stacks may have what this one lost: a function is called by another one, or
    its caller is missing, as of assembly without frame pointers.
    """
    delta = place.delta(cpu)
    cum = cpu.scaled_delta(*cpu.cum_at(place.row))
    least = 0.0 if place.partial else MOST * delta * delta
    return place.whole and not place.callers and cum * delta <= least


def _with_own_callers(
    cpu: CPUComparison, place: Place, claim: Claim, callers: tuple[int, ...]
) -> Place:
    """Return a place and its callers as one: named for the caller if there is one."""
    base, new = cpu.sums(claim)
    if len(callers) == 1:
        absorbed = place.row
        return Place(callers[0], claim, base, new, whole=False, absorbed=absorbed)
    return Place(place.row, claim, base, new, whole=False, callers=callers)


def moved_to_instances(cpu: CPUComparison, place: Place) -> bool:
    """Return whether other instances of a generic function took most of a change.

    One that has samples on one side only is another instance there, if any has some.

    Each set of type arguments is a function in profiles: `Add` of a cache that holds
    other values now is no cheaper for that.
    """
    name = cpu.names[place.row]
    generic = strip_type_arguments(name)
    if generic == name:
        return False
    rows = [
        row
        for row, other in enumerate(cpu.names)
        if row != place.row
        and other.startswith(name[: name.index("[") + 1])
        and strip_type_arguments(other) == generic
    ]
    if not (place.base and place.new):
        side = 1 if place.base else 0
        return any(cpu.cum[side][row] for row in rows)
    others = sum(cpu.scaled_delta(*cpu.cum_at(row)) for row in rows)
    return others * place.delta(cpu) < 0 and abs(others) >= MOST * abs(place.delta(cpu))


def _calling(cpu: CPUComparison, program: Program, place: Place) -> tuple[int, ...]:
    """Return the few functions that call a place that one side has, most calls first.

    Of callers that this side alone has as well, their callers.
    """
    if place.base and place.new:
        return ()
    other = cpu.cum[0 if place.new else 1]
    rows: tuple[int, ...] = (place.row,)
    seen = set[int]()
    while rows and seen.isdisjoint(rows) and not any(other[row] for row in rows):
        seen.update(rows)
        rows = callers_of(cpu, program, place, rows)
    return rows if seen.isdisjoint(rows) else ()


def callers_of(
    cpu: CPUComparison, program: Program, place: Place, called: Sequence[int]
) -> tuple[int, ...]:
    """Return the program's few functions that call others on the stacks of a place.

    Those on the side that has more of it, most calls first. Returns none unless `NAMED`
    of them have nearly all of its samples there.
    """
    side = 1 if place.new >= place.base else 0
    calls = by_caller(cpu, place, side, called, program.code)
    whole = NEARLY_ALL * max(place.base, place.new)
    order = np.argsort(-calls, kind="stable")[:NAMED]
    reached = np.cumsum(calls[order]) >= whole
    if not reached.any():
        return ()
    return tuple(order[: int(reached.argmax()) + 1].tolist())


def by_caller(
    cpu: CPUComparison,
    place: Place,
    side: int,
    called: Sequence[int],
    callers: NDArray[np.bool_],
) -> Column:
    """Return a place's raw value on a side by the nearest function that calls others.

    It is one of `callers`, a mask of the union, above the outermost of `called`.
    """
    size, mask = len(cpu.names), cpu.only(*called)
    total = np.zeros(size, np.int64)
    claimed = place.claim.sides[side]
    for samples, ids, offsets in cpu.stacks_with(side, mask, claimed):
        outer = last_in_row(mask[ids], offsets)
        above = np.arange(len(ids)) > outer[row_of_item(offsets)]
        first = first_in_row(callers[ids] & above, offsets)
        met = (outer >= 0) & (first >= 0)
        total += sums(ids[first[met]], cpu.diff.values[side][samples[met]], size)
    return total


def own_caller(cpu: CPUComparison, place: Place) -> tuple[int, int]:
    """Return the program's function that calls most of a library's, and its raw value.

    On new, or on base if new has none of the place. The value is 0 for no caller.
    """
    side, own = 1 if place.new else 0, cpu.diff.paired_functions.own
    by_own = by_caller(cpu, place, side, [place.row], own)
    most = int(np.argmax(by_own))
    return most, int(by_own[most])


def owned_by(cpu: CPUComparison, rows: Sequence[int]) -> Claim:
    """Claim the samples that functions own, given as rows of the union."""
    base, new = owners(cpu)
    return Claim(np.isin(base, rows), np.isin(new, rows))


def owners(cpu: CPUComparison) -> list[Column]:
    """Return each sample's owner by row of the union, -1 for none.

    Where stacks lack frames, nobody knows who called library code.
    """
    owners = [side.astype(np.int64) for side in cpu.diff.ledger.sides("owner")]
    if cpu.loses_callers:
        for ends, owner in zip(cpu.sides, owners, strict=True):
            owner[ends.leaf != ends.owner] = -1
    return owners


def _unclaimed(
    cpu: CPUComparison, rows: Sequence[int], others: Sequence[Place]
) -> Claim:
    """Claim the samples that functions own, without other places' samples."""
    claimed = cpu.of(()).plus_all(other.claim for other in others)
    return owned_by(cpu, rows).without(claimed)


def deepest(cpu: CPUComparison, program: Program, left: Claim) -> Place | None:
    """Return the function deepest in the stacks that still has most of a change.

    Of functions that only one side has, it is the outermost: its callees are part of
    what is new, or gone.
    """
    claim, whole, path = left, 0.0, list[int]()
    candidates = program.inner.copy()
    runs = cpu.cum_by_run(claim)
    while True:
        best = _largest(cpu, runs, candidates, whole)
        if best is None or abs(best[1]) < _KEEPS * abs(whole):
            break
        row = best[0]
        candidates[row] = False
        if _passes_on(cpu, program, row, claim, merged(runs)):
            continue
        whole = best[1]
        path.append(row)
        claim = claim.within(cpu.under(cpu.only(row)))
        runs = cpu.cum_by_run(claim)
        if not all(cpu.cum_at(row)):
            side = 1 if cpu.cum[1][row] else 0
            within = merged(runs)[side]
            same = program.inner & (within == within[row]) & (cpu.cum[1 - side] == 0)
            outer = _in_stack(cpu, claim, np.flatnonzero(same).tolist(), max)
            return Place(outer, claim, *cpu.sums(claim), whole=True)
    if not path:
        return None
    inner = _in_stack(cpu, claim, path, min)
    return Place(inner, claim, *cpu.sums(claim), whole=True)


def _passes_on(
    cpu: CPUComparison,
    program: Program,
    row: int,
    claim: Claim,
    cum: tuple[Column, Column],
) -> bool:
    """Return whether a function that one side has runs what the other runs without it.

    A new wrapper has the cost of the code that it calls. `cum` is the claim's.
    """
    if all(cpu.cum_at(row)):
        return False
    side = 1 if cpu.cum[1][row] else 0
    scaled = cpu.diff.normalization.scaled(*cum)
    most = MOST * scaled[side][row]
    may = program.own & (np.minimum(*scaled) >= most)
    may[row] = False
    if not may.any():
        return False
    called = below(cpu, cpu.only(row), claim, side)
    here = called * cpu.diff.normalization.factors[side]
    return bool((may & (here >= most)).any())


def _in_stack(
    cpu: CPUComparison, claim: Claim, rows: list[int], end: Callable[..., int]
) -> int:
    """Return the function nearest one end of a claim's heaviest stack.

    `end` is min for the leaf, max for the root.
    """
    values = [
        np.where(kept, np.abs(side), -1)
        for kept, side in zip(claim.sides, cpu.diff.values, strict=True)
    ]
    heaviest = [int(side.max(initial=-1)) for side in values]
    side = int(np.argmax(heaviest))
    chosen = np.zeros(len(values[side]), np.bool_)
    chosen[int(np.argmax(values[side]))] = True
    for _, ids, _ in cpu.stacks_with(side, cpu.only(rows[0]), chosen):
        stack = ids.tolist()
        return end(rows, key=stack.index)
    return rows[-1]


def _largest(
    cpu: CPUComparison,
    runs: Runs[Column],
    candidates: NDArray[np.bool_],
    way: float = 0.0,
) -> tuple[int, float] | None:
    """Return the row with the largest significant change, and its scaled delta.

    With a `way`, only changes of that sign count.
    """
    base, new = merged(runs)
    some = np.flatnonzero(candidates & ((base != 0) | (new != 0)))
    if not len(some):
        return None
    judged = cpu.model.rows(runs.map(lambda run: run[some]))
    delta = np.where(judged.noise | ~judged.known, 0.0, judged.delta)
    if way:
        delta = np.where(delta * way > 0, delta, 0.0)
    best = int(np.argmax(np.abs(delta)))
    return (int(some[best]), float(delta[best])) if delta[best] else None


def _netted(cpu: CPUComparison, program: Program, found: list[Place]) -> list[Place]:
    """Replace functions that only one side has by their caller if work moved.

    A function that is gone may have been replaced by a new one or by its caller's own
    code: what counts is the caller with its callees, on both sides.
    """
    kept = list[Place]()
    for place in found:
        # Without all frames, the caller may be another one's.
        if (place.base and place.new) or cpu.loses_callers:
            kept.append(place)
            continue
        caller = _replaced_by(cpu, program, place, found)
        if caller is not None:
            kept.append(_narrowed(cpu, caller, found))
        elif place.row not in program.closures:
            kept.append(_with_own_callees(cpu, program, place))
    wholes = [place for place in kept if place.whole]
    unique: dict[int, Place] = {}
    for place in kept:
        inside = any(
            one.row != place.row and holds(cpu, one.claim, place) for one in wholes
        )
        first = unique.get(place.row)
        if inside:
            continue
        if first is None:
            unique[place.row] = place
        elif place.whole and not first.whole:
            # Its own code took over from callees, or gave to them: both count together.
            unique[place.row] = whole_of(cpu, place.row)
    return list(unique.values())


def _replaced_by(
    cpu: CPUComparison, program: Program, place: Place, found: Sequence[Place]
) -> Place | None:
    """Return the function that does the work of a place that one side has, or None."""
    if all(cpu.cum_at(place.row)):
        # Own samples on one side only: the function calls others on the other side.
        return whole_of(cpu, place.row)
    caller = _caller(cpu, program, place, found)
    if caller is not None and _is_inside(cpu, place.row, caller.row):
        # A closure is its function's code: without it, the function does the work.
        return caller
    if place.row in program.closures:
        # It may be renumbered; what only its side calls it by is not.
        return _calling_alone(cpu, program, place)
    return None if caller is None or _is_apart(cpu, place, caller) else caller


def _with_own_callees(cpu: CPUComparison, program: Program, place: Place) -> Place:
    """Return a function of one side with its callees, unless the other runs these."""
    if place.whole:
        return place
    whole, side = whole_of(cpu, place.row), 1 if place.new else 0
    called = below(cpu, cpu.only(place.row), whole.claim, side)
    by, other = cpu.diff.normalization, cpu.cum[1 - side]
    pair = by.scaled(*((other, called) if side else (called, other)))
    shared = np.minimum(*pair)[program.own]
    most = MUCH * max(by.scaled(whole.base, whole.new))
    return place if shared.max(initial=0.0) >= most else whole


def _calling_alone(cpu: CPUComparison, program: Program, place: Place) -> Place | None:
    """Return the nearest function with nearly all of a place that only its side has."""
    side = 1 if place.new else 0
    cum = cpu.cum_of(side, place.claim)
    callers = program.nameable & program.inner & (cpu.cum[1 - side] == 0)
    callers &= cum >= NEARLY_ALL * (place.base, place.new)[side]
    callers[place.row] = False
    rows = np.flatnonzero(callers).tolist()
    if not rows:
        return None
    return whole_of(cpu, min(rows, key=lambda row: int(cpu.cum[side][row])))


def with_moved(cpu: CPUComparison, program: Program, place: Place) -> Place:
    """Return a function, or the caller that now runs the code below it without it.

    What it lost then says how it is called, not what its work costs.
    """
    if not place.whole or cpu.loses_callers:
        return place
    scaled = cpu.diff.normalization.scaled(place.base, place.new)
    heavier, change = int(scaled[1] > scaled[0]), place.delta(cpu)
    own = cpu.only(place.row)
    inside = [below(cpu, own, place.claim, side) for side in (0, 1)]
    of_most = inside[heavier] >= MOST * (place.base, place.new)[heavier]
    of_most[place.row] = False
    by = cpu.diff.normalization
    outside = (by.delta(*cpu.cum) - by.delta(*inside)) * -np.sign(change)
    outside[~(of_most & program.inner)] = 0
    row = int(np.argmax(outside))
    elsewhere = cpu.under(cpu.only(row)).without(cpu.under(own))
    taken_over = outside[row] > (1 - COVERS) * abs(change)
    if not taken_over or not cpu.change(elsewhere).significant:
        return place
    callers = program.inner & (cpu.cum[0] > 0) & (cpu.cum[1] > 0)
    callers[[place.row, row]] = False
    for claim in (place.claim, elsewhere):
        for side, total in enumerate(cpu.sums(claim)):
            callers &= cpu.cum_of(side, claim) >= NEARLY_ALL * total
    if not callers.any():
        return place
    nearest = min(np.flatnonzero(callers).tolist(), key=lambda at: sum(cpu.cum_at(at)))
    return whole_of(cpu, nearest)


def _narrowed(cpu: CPUComparison, caller: Place, found: Sequence[Place]) -> Place:
    """Return a caller, or only what replaced something in it where that alone changed.

    What replaces a small part of a large function is lost in the noise of all of it.
    """
    if cpu.change(caller.claim).significant:
        return caller
    claim = cpu.of(())
    for one in found:
        if not (one.base and one.new) and holds(cpu, caller.claim, one):
            claim = claim.plus(one.claim.within(caller.claim))
    change, rest = cpu.delta(claim), cpu.delta(caller.claim.without(claim))
    if rest * change < 0 and abs(rest) >= MOST * abs(change):
        # The rest of the caller may do that work now.
        return caller
    part = caller.having(cpu, claim)
    sure = part.base and part.new and cpu.change(claim).significant
    return part if sure else caller


def _is_apart(cpu: CPUComparison, place: Place, caller: Place) -> bool:
    """Return whether the rest of a caller is no change that may be a place's work.

    What only one side calls in a function is lost in the noise of a large one, unless
    the rest of it changed the same way.
    """
    if _took_over(cpu, place, caller):
        return False
    rest = caller.claim.without(place.claim)
    change, back = place.delta(cpu), cpu.delta(rest)
    lost = not cpu.change(caller.claim).significant
    return (
        lost
        and not cpu.change(rest).significant
        and -MOST * change**2 < back * change <= 0
    )


def _took_over(cpu: CPUComparison, place: Place, caller: Place) -> bool:
    """Return whether a place runs most of what its caller ran without it.

    As a new method does that makes the call of the library which its caller made.
    """
    by, change = cpu.diff.normalization, place.delta(cpu)
    within = (
        [below(cpu, cpu.only(one.row), claim, side) for side in (0, 1)]
        for one, claim in (
            (place, place.claim),
            (caller, caller.claim.without(place.claim)),
        )
    )
    inside, outside = (by.delta(*sides) * np.sign(change) for sides in within)
    return bool((np.minimum(inside, -outside) >= MOST * abs(change)).any())


def holds(cpu: CPUComparison, claim: Claim, place: Place) -> bool:
    """Return whether a claim has most of a place's samples."""
    base, new = cpu.sums(place.claim.within(claim))
    return base + new >= NEARLY_ALL * (place.base + place.new)


def _caller(
    cpu: CPUComparison, program: Program, place: Place, found: Sequence[Place]
) -> Place | None:
    """Return the nearest caller within which a place's work moved, or None.

    What else it no longer calls, or only now, is `found` too: it may have replaced all
    of that by one thing.
    """
    side = 0 if place.base else 1
    own = place.base or place.new
    within = cpu.cum_of(side, place.claim)
    callers = program.inner & (within >= NEARLY_ALL * own)
    callers[place.row] = False
    both = np.flatnonzero(callers & (cpu.cum[0] > 0) & (cpu.cum[1] > 0))
    if not len(both):
        return None
    nearest = int(min(both.tolist(), key=lambda row: int(cpu.cum[side][row])))
    whole = whole_of(cpu, nearest)
    alike = [
        one.delta(cpu)
        for one in found
        if bool(one.base) == bool(place.base)
        and bool(one.new) == bool(place.new)
        and holds(cpu, whole.claim, one)
    ]
    moved, change = whole.delta(cpu), sum(alike)
    if moved * change > 0 and abs(moved) >= COVERS * abs(change):
        # One of several would be named as if it were all of them.
        _, second = nlargest(2, [*map(abs, alike), 0.0])
        several = second >= MUCH * abs(moved) and abs(change) >= MOST * abs(moved)
        return whole if several or _is_inside(cpu, place.row, nearest) else None
    return whole


def _is_inside(cpu: CPUComparison, row: int, function: int) -> bool:
    """Return whether a function is a closure, or Ruby's block, written in another.

    Where that is inlined, its closure has the name of its caller before its own.
    """
    name, outer = cpu.names[row], cpu.names[function]
    if is_closure(name):
        inlined = f".{outer[package_end(outer) + 1 :]}.func"
        return name.startswith(f"{outer}.") or inlined in name
    return name.startswith("block ") and name.endswith(f" in {outer}")


def whole_of(cpu: CPUComparison, row: int) -> Place:
    """Return a function with all its callees, as a place."""
    claim = cpu.under(cpu.only(row))
    return Place(row, claim, *cpu.sums(claim), whole=True)


def with_callees(cpu: CPUComparison, program: Program, place: Place) -> Place:
    """Return the place with its outermost `nameable` callees that only one side has.

    Not library functions inlined everywhere that call little: both sides may call
    them, as the compiler decides which instructions are theirs.
    """
    gone, added, left = list[int](), list[int](), place.claim
    own = cpu.only(place.row)
    every = inside = [below(cpu, own, place.claim, side) for side in (0, 1)]
    absent = [one == 0 for one in inside]
    nameable = program.nameable & ~_run_closures_of(cpu, place)
    flat = cpu.diff.paired_functions.raw("flat")
    may = [
        nameable & (program.own | (calls.most > 0) | (inner < MOST * cum))
        for calls, inner, cum in zip(inlined_calls(cpu), flat, cpu.cum, strict=True)
    ]
    for again in range(_CALLEES):
        if again:
            inside = [below(cpu, own, left, side) for side in (0, 1)]
        claimed = left
        for side, found in enumerate((gone, added)):
            # One that mostly calls the first, or is called by it, counts with it.
            apart = inside[side] >= NEARLY_ALL * every[side]
            alone = np.where(may[side] & absent[1 - side] & apart, inside[side], 0)
            alone[place.row] = 0
            best = int(np.argmax(alone))
            if not alone[best]:
                continue
            claim = left.within(cpu.under(cpu.only(best)))
            called = below(cpu, cpu.only(best), left, side)
            shared = (called > 0) & ~absent[1 - side]
            if np.where(nameable & shared, called, 0).max() >= NEARLY_ALL * alone[best]:
                # The other side calls nearly all of it too: only its name is new.
                continue
            shared &= program.own & (called >= NEARLY_ALL * every[side])
            both = cpu.sums(claim.within(cpu.under(shared)))[side]
            if program.own[best] and both >= NEARLY_ALL * alone[best]:
                # It only calls what the other side calls without it.
                continue
            # What took the place of a callee matters if it has much of that side.
            instead = bool(gone if side else added)
            part = alone[best] / (place.base, place.new)[side] if instead else 0.0
            if _matters(cpu, place, claim, part):
                # One that has all of the place says nothing that this does not.
                all_ = (place.base, place.new)[side]
                found.append(
                    _inner(program, best, alone) if alone[best] == all_ else best
                )
                claimed = claimed.without(claim)
        if claimed is left:
            break
        left = claimed
    of_one, change = cpu.delta(place.claim.without(left)), place.delta(cpu)
    few = of_one * change < MOST * change**2
    parts = _library_instead(cpu, program, place, [*gone, *added], few=few)
    if parts:
        return place._replace(gone=(), added=(), parts=parts)
    # Of what only one side calls, none is the rest of the change.
    parts = _parts(cpu, program, place, left) if few or not (gone or added) else ()
    return _without_nested(
        cpu, place._replace(gone=tuple(gone), added=tuple(added)), parts
    )


def _inner(program: Program, outer: int, alone: Column) -> int:
    """Return the innermost function of the program with most of a callee's amount.

    `alone` are the amounts of callees that one side has.
    """
    most = np.flatnonzero(program.own & (alone >= MOST * alone[outer])).tolist()
    return int(min(most, key=lambda row: int(alone[row]))) if most else outer


def _without_nested(cpu: CPUComparison, place: Place, parts: tuple[int, ...]) -> Place:
    """Return a place with its callees and `parts`; of those that overlap, the larger.

    Their amounts are listed next to each other: no sample counts twice.
    """
    rows = [*place.gone, *place.added, *parts]
    claims = {row: place.claim.within(cpu.under(cpu.only(row))) for row in rows}
    kept, claimed = set[int](), cpu.of(())
    for row in sorted(rows, key=lambda row: -abs(cpu.delta(claims[row]))):
        if not any(cpu.sums(claims[row].within(claimed))):
            kept.add(row)
            claimed = claimed.plus(claims[row])
    gone, added, parts = (
        tuple(row for row in some if row in kept)
        for some in (place.gone, place.added, parts)
    )
    return place._replace(gone=gone, added=added, parts=parts)


def _matters(cpu: CPUComparison, place: Place, claim: Claim, part: float) -> bool:
    """Return whether a callee has much of a place's change, or a large `part`.

    With nearly all of it, it is as sure as the place.
    """
    whole, own = abs(place.delta(cpu)), abs(cpu.delta(claim))
    much = own >= MUCH * whole or part >= MUCH
    return much and (own >= NEARLY_ALL * whole or cpu.change(claim).significant)


def _library_instead(
    cpu: CPUComparison,
    program: Program,
    place: Place,
    alone: Sequence[int],
    *,
    few: bool,
) -> tuple[int, ...]:
    """Return the library function to name in place of callees `alone` of one side.

    It is named where `few` of the place's samples are theirs, or where one side hardly
    calls it: that says more than what it calls in the library.
    """
    if few:
        return _library_part(cpu, program, place)
    if not alone or program.own[list(alone)].any():
        return ()
    parts = _library_part(cpu, program, place)
    inside = place.claim.within(cpu.under(cpu.only(*parts)))
    by = cpu.diff.normalization.scaled(*cpu.sums(inside))
    return parts if min(by) < LITTLE * max(by) else ()


def _library_part(
    cpu: CPUComparison, program: Program, place: Place
) -> tuple[int, ...]:
    """Return the library function that both sides call with most of a place's change.

    As of a sort that runs less often: its own callees depend on what it is given. Only
    names of Go show what is a library's.
    """
    if not (cpu.of_go and place.base and place.new):
        return ()
    own, change = cpu.only(place.row), place.delta(cpu)
    base, new = (below(cpu, own, place.claim, side) for side in (0, 1))
    same_way = cpu.diff.normalization.delta(base, new) * np.sign(change)
    may = program.nameable & ~program.own
    same_way[~(may & (base > 0) & (new > 0))] = 0
    most = float(same_way.max(initial=0.0))
    if not change or most < MOST * abs(change):
        return ()
    # Of those that call each other, the one nearest the program.
    nearly = np.flatnonzero(same_way >= NEARLY_ALL * most).tolist()
    return (max(nearly, key=lambda row: int(base[row] + new[row])),)


def _parts(
    cpu: CPUComparison, program: Program, place: Place, left: Claim
) -> tuple[int, ...]:
    """Return the callees that both sides have with good parts of a place's change.

    Of the samples that are `left`. None has so much of the change that it would be the
    place itself.
    """
    if not place.whole or place.partial or not (place.base and place.new):
        return ()
    found, own = list[int](), cpu.only(place.row)
    may = program.inner & program.nameable & ~_run_closures_of(cpu, place)
    may[place.row] = False
    every = [below(cpu, own, left, side) for side in (0, 1)]
    change = place.delta(cpu)
    while change and len(found) < NAMED:
        base, new = (below(cpu, own, left, side) for side in (0, 1))
        same_way = cpu.diff.normalization.delta(base, new) * np.sign(change)
        # What calls an earlier one, or is called by it, is no part of its own.
        apart = base + new >= NEARLY_ALL * (every[0] + every[1])
        same_way[~(may & apart & (base > 0) & (new > 0))] = 0
        most = float(same_way.max(initial=0.0))
        if most < GOOD_PART * abs(change):
            break
        # Of callees that call each other, the one nearest the leaf.
        nearly = np.flatnonzero(same_way >= NEARLY_ALL * most).tolist()
        best = min(nearly, key=lambda row: int(base[row] + new[row]))
        inside = left.within(cpu.under(cpu.only(best)))
        if not cpu.change(inside).significant:
            break
        found.append(best)
        left = left.without(inside)
    return tuple(found)


def _run_closures_of(cpu: CPUComparison, place: Place) -> NDArray[np.bool_]:
    """Return a mask of a place's closures, and of the callees that only run these.

    An iterator that calls back has the cost of its callback, which is the place's code.
    """
    start = f"{cpu.names[place.row]}.func"
    closures = np.array([name.startswith(start) for name in cpu.names], np.bool_)
    found = closures
    if not closures.any():
        return found
    inside = place.claim.within(cpu.under(closures))
    for side in (0, 1):
        all_ = below(cpu, cpu.only(place.row), place.claim, side)
        through = cpu.cum_of(side, inside) >= NEARLY_ALL * all_
        called = below(cpu, closures, inside, side) >= (1 - MOST) * all_
        found = found | ((all_ > 0) & through & ~called)
    return found


def below(
    cpu: CPUComparison, functions: NDArray[np.bool_], claim: Claim, side: int
) -> Column:
    """Return the raw value of each function below others (bool, by row) on one side.

    Of claimed samples; a function counts once per sample, as in cum.
    """
    size = len(cpu.names)
    total = np.zeros(size, np.int64)
    values, claimed = cpu.diff.values[side], claim.sides[side]
    for samples, ids, offsets in cpu.stacks_with(side, functions, claimed):
        # Stacks begin at the leaf: callees precede the outermost of the functions.
        depths = last_in_row(functions[ids], offsets) - offsets[:-1]
        deeper = ids[expand(offsets[:-1], depths)]
        once = once_per_row(offsets_of(depths), deeper, size)
        total += sums(deeper[once], np.repeat(values[samples], depths)[once], size)
    return total
