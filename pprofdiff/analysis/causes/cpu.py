"""CPU profiles as rules read them: groups, load, claims on samples."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.causes.finding import OF_CPU, Claim, Direction, Explained, Fact
from pprofdiff.analysis.causes.wording import listed, words
from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_ROW
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Change, Mark, Runs
from pprofdiff.analysis.judge.scaling import InferredWork
from pprofdiff.analysis.ledger.codes import Attribution
from pprofdiff.analysis.ledger.graph import walk_some
from pprofdiff.analysis.policy import LITTLE, MAJOR
from pprofdiff.analysis.profiles.caveats import releases_apart, share_without_names
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import JudgedSum, judged_groups, judged_sums
from pprofdiff.analysis.profiles.own_code import named
from pprofdiff.analysis.profiles.tables import ValueColumn
from pprofdiff.goruntime.names import runtime_like
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.csr import last_in_row, once_per_row, sums


def load_of(diff: ProfileDiff) -> InferredWork | None:
    """Return new ÷ base of the unchanged code in scaled values.

    None where there is no control, or its rows disagree.
    """
    by = control(diff)
    if by is None or not by.agrees:
        return None
    factors = diff.normalization.factors
    return by.work.times(factors[1] / factors[0])


def inferred_load(diff: ProfileDiff) -> InferredWork | None:
    """Return the ratio of work per second, if sides are scaled to about equal work."""
    by, (base_ns, new_ns) = diff.normalization.inferred, diff.spans_ns
    if by is None or not base_ns or not new_ns:
        return None
    return by.times(base_ns / new_ns)


OF_GC = ("gc", "gc_tax")
BOOKKEEPING = (*OF_GC, "alloc")
# What the groups of `OF_GC` do, as a sentence lists it.
_GC_WORK = {
    "sweeping": ("gc.sweep.bg", "gc.sweep.assist"),
    "write barriers": ("gc.writebarrier", "gc.allocblack"),
    "scavenging": ("gc.scavenge.bg", "gc.scavenge.assist"),
}
STACK_KEPT = 64
"""The frames that Go's CPU profiles keep (runtime/cpuprof.go, maxCPUProfStack).

A stack of as many may lack those near its root."""


def _cum(
    diff: ProfileDiff, side: int, kept: Mask, columns: Sequence[tuple[Column, Column]]
) -> list[Column]:
    """Return cum of kept samples for columns of (cum of all samples, values)."""
    functions = diff.paired_functions
    profile = (diff.base, diff.new)[side].profile
    if 2 * int(kept.sum()) > len(kept):
        # Fewer are left out; the last row has the samples without frames.
        left_out = _cum(diff, side, ~kept, columns)
        found = [all_ - out for (all_, _), out in zip(columns, left_out, strict=True)]
        for cum in found:
            cum[functions.union[side][-1]] = 0
        return found
    ids = functions.of_lines[side]
    found = [np.zeros(len(functions.names), np.int64) for _ in columns]
    for samples, frames in walk_some(profile, np.flatnonzero(kept)):
        rows = ids[frames.line]
        once = once_per_row(frames.offsets, rows, len(functions.names))
        for i, (_, values) in enumerate(columns):
            counted = np.repeat(values[samples], np.diff(frames.offsets))
            found[i] += sums(rows[once], counted[once], len(found[i]))
    return found


class CPUComparison(Struct, frozen=True, eq=False, dict=True):
    """CPU profiles with samples on both sides; functions are rows of their union.

    `model` judges raw CPU time, with one run a side by counting alone: the sizes and
    causes that findings also require exceed what runs of one build differ by. `sides`
    classify each sample. `load` is new ÷ base where the functions show it, None where
    values are for equal work or nothing shows it.
    """

    diff: ProfileDiff
    model: CountModel
    sides: tuple[Attribution, Attribution]
    load: InferredWork | None

    @cached_property
    def groups(self) -> dict[str, JudgedSum]:
        """The groups by id, in the order of the report."""
        return {group.id: group for group in judged_groups(self.diff, self.model)}

    def moved(self, group: str) -> bool:
        """Return whether a group changed significantly."""
        return group in self.groups and self.groups[group].noise is False

    @cached_property
    def relative(self) -> CountModel:
        """The model of changes beyond the load."""
        if self.load is None:
            return self.model
        return self.model.with_base_times(self.load.ratio)

    def follows_load(self, delta: float) -> bool:
        """Return whether the load alone explains the direction of a change."""
        load = self.load
        return load is not None and load.sure and (delta > 0) == (load.ratio > 1)

    @cached_property
    def other_release(self) -> bool:
        """Whether the sides were built with different Go releases."""
        return releases_apart(self.diff.base, self.diff.new) is not None

    @property
    def of_go(self) -> bool:
        """Whether a Go program was profiled."""
        return self.diff.grouped

    @cached_property
    def loses_callers(self) -> bool:
        """Whether stacks lack frames, so that library code may seem another's callee.

        Code without frame pointers hides its caller, and hides names above it too.
        """
        profiles = self.diff.base.profile, self.diff.new.profile
        return any(share_without_names(profile) >= MAJOR for profile in profiles)

    @cached_property
    def cut_off(self) -> bool:
        """Whether many stacks of a side lack their root, for as many frames are kept.

        Functions near the root then have less of what is called below them than is so.
        """
        every = np.ones(len(self.names), np.bool_)
        for side, values in enumerate(self.diff.values):
            _, cut = self.roots(side, every, np.ones(len(values), np.bool_))
            if values[cut].sum() >= MAJOR * values.sum():
                return True
        return False

    @cached_property
    def whole(self) -> float:
        """The larger of both sides' scaled totals."""
        return self.diff.normalization.larger(*self.diff.totals)

    @cached_property
    def total_delta(self) -> float:
        """The scaled delta of all samples."""
        return self.scaled_delta(*self.diff.totals)

    @property
    def names(self) -> list[str]:
        """The functions of either side, by row of the union."""
        return self.diff.paired_functions.names

    @cached_property
    def of_runtime(self) -> Mask:
        """Which functions are the runtime's, or do its work (bool, by row)."""
        return runtime_like(self.names)

    def rows_of(self, names: Iterable[str]) -> Column:
        """Return the rows of functions, each given by its name on either side.

        A name that the two sides use for different functions stands for both.
        """
        wanted = set(names)
        functions = self.diff.paired_functions
        rows = [
            row
            for side, union in zip(functions.sides, functions.union, strict=True)
            for row in compress(union.tolist(), map(wanted.__contains__, side.names))
        ]
        return np.array(rows, np.int64)

    @cached_property
    def cum(self) -> tuple[Column, Column]:
        """Base and new cum of each function, raw, by row of the union."""
        return self.diff.paired_functions.raw("cum")

    def cum_at(self, row: int) -> tuple[int, int]:
        """Return a function's raw cum, as (base, new)."""
        base, new = self.cum
        return int(base[row]), int(new[row])

    def facts(self, rows: Sequence[int], column: ValueColumn) -> tuple[Fact, ...]:
        """Return flat or cum of functions, by rows of the union, as evidence."""
        base, new = self.diff.paired_functions.raw(column)
        return tuple(
            self.fact(f"{self.names[row]} ({column})", int(base[row]), int(new[row]))
            for row in rows
        )

    def fact(self, what: str, base: int, new: int) -> Fact:
        """Return raw sums of the profiles as evidence."""
        return Fact(what, OF_CPU, base, new, self.diff.unit)

    @property
    def noun(self) -> str:
        """What samples measure: CPU, wall time, or samples or weight of no unit."""
        if self.diff.is_wall:
            return "time"
        return "CPU" if self.diff.is_cpu else self.diff.name

    @cached_property
    def in_shares(self) -> bool:
        """Whether shares are compared, as the cost per op is unknown.

        So is the wall time of a thread that was as busy on both sides: where one
        function takes more of a second, all others have less of it. Without a duration,
        the time of all samples is about as long.
        """
        mode = self.diff.normalization.mode
        if mode in ("per_second", "absolute") and self.diff.is_wall:
            judged = self.diff.judge_runs(self.diff.whole)
            return judged is None or judged.change().mark not in ("more", "less")
        return mode == "composition"

    def way(self, delta: float) -> Direction:
        """Return whether a change is worse or better; a share is neutral."""
        if self.in_shares or not delta:
            return "neutral"
        return "worse" if delta > 0 else "better"

    def moves(self, delta: float, *, several: bool = False) -> str:
        """Return the verb for a change: costs more, or takes less of the CPU."""
        word = "more" if delta > 0 else "less"
        if self.in_shares:
            return f"{'take' if several else 'takes'} {word} of the {self.noun}"
        return f"{'cost' if several else 'costs'} {word}"

    def words(self, base: float, new: float) -> str:
        """Return raw values as ``base → new unit``, in the report's scale."""
        return words(self.diff, base, new)

    def of(self, categories: Iterable[str]) -> Claim:
        """Claim the samples of some categories."""
        base, new = self.sides
        chosen = set(categories)
        if not chosen:
            return Claim(
                *(np.zeros(len(side.category), np.bool_) for side in self.sides)
            )
        wanted = np.array([c in chosen for c in rules().categories], np.bool_)
        return Claim(wanted[base.category], wanted[new.category])

    def by_category(self, claim: Claim) -> tuple[Column, Column]:
        """Return the raw CPU time of the claimed samples by category, base and new."""
        view = self.diff.ledger.among(claim.sides).every("category")
        return view.base, view.new

    def of_groups(self, *groups: str) -> Claim:
        """Claim the samples of whole groups."""
        return self.of(rules().members(*groups))

    def payers(self, categories: Collection[str]) -> tuple[list[str], Column, Column]:
        """Return the functions that pay for some categories, with raw (base, new)."""
        chosen = np.array([c in categories for c in rules().categories], np.bool_)
        sums = self.diff.ledger.by("category", "payer").known("payer")
        sums = sums.where(chosen[sums["category"]]).by("payer")
        names = [self.names[row] for row in sums["payer"].tolist()]
        return names, sums.base, sums.new

    def of_leaf_kind(self, kind: int) -> Claim:
        """Claim the samples whose leaf does one kind of work, given by its position."""
        base, new = self.sides
        return Claim(base.leaf_kind == kind, new.leaf_kind == kind)

    @cached_property
    def bookkeeping(self) -> Claim:
        """GC and allocation, which have causes of their own."""
        return self.of_groups(*BOOKKEEPING)

    def gc_label(self, claim: Claim) -> tuple[str, bool]:
        """Return what GC work a claim has, as a subject, and whether it is several.

        Work with little of it has no name.
        """
        works = {"GC": rules().members("gc"), **_GC_WORK}
        parts = [
            sum(self.sums(claim.within(self.of(categories))))
            for categories in works.values()
        ]
        least = LITTLE * sum(parts)
        has = [name for name, part in zip(works, parts, strict=True) if part > least]
        words = listed(has)
        return words[:1].upper() + words[1:], has not in (["GC"], ["sweeping"])

    @cached_property
    def nameless(self) -> Claim:
        """Samples whose innermost frame has no function's name; Go names all."""
        if self.of_go:
            return self.of(())
        of_names = np.append(~named(self.names), True)
        unions = self.diff.paired_functions.union
        rows = [
            np.append(union, -1)[side.leaf]
            for union, side in zip(unions, self.sides, strict=True)
        ]
        return Claim(of_names[rows[0]], of_names[rows[1]])

    def cum_of(self, side: int, claim: Claim) -> Column:
        """Return the raw cum of each function on one side, of the claimed samples."""
        columns = [(self.cum[side], self.diff.values[side])]
        return _cum(self.diff, side, claim.sides[side], columns)[0]

    def cum_by_run(self, claim: Claim) -> Runs[Column]:
        """Return the raw cum of each function by run, of the claimed samples."""
        whole = self.diff.paired_functions.runs("cum")
        base, new = (
            tuple(_cum(self.diff, side, kept, list(zip(cums, values.T, strict=True))))
            for side, (kept, cums, values) in enumerate(
                zip(
                    claim.sides,
                    (whole.base, whole.new),
                    self.diff.run_values,
                    strict=True,
                )
            )
        )
        return Runs(base, new)

    @property
    def all(self) -> Claim:
        """Claim every sample."""
        base, new = self.diff.values
        return Claim(np.ones(len(base), np.bool_), np.ones(len(new), np.bool_))

    def only(self, *rows: int) -> Mask:
        """Return a mask with some functions set (bool, by row)."""
        chosen = np.zeros(len(self.names), np.bool_)
        chosen[[*rows]] = True
        return chosen

    def under(self, rows: Mask) -> Claim:
        """Claim the samples with a chosen function in their stack (bool, by row)."""
        if not rows.any():
            return self.of(())
        return Claim(*self.diff.having(rows))

    def under_names(self, names: Iterable[str]) -> Claim:
        """Claim the samples with a function of one of these names in their stack."""
        return self.under(self.only(*self.rows_of(names)))

    def stacks_with(
        self, side: int, rows: Mask, claimed: Mask
    ) -> Iterator[tuple[Column, Column, Column]]:
        """Yield `stacks_of` claimed samples that contain a chosen function.

        Both are bool: `claimed` by sample, `rows` by row.
        """
        yield from self.stacks_of(side, self.diff.having_on(side, rows) & claimed)

    def stacks_of(
        self, side: int, chosen: Mask
    ) -> Iterator[tuple[Column, Column, Column]]:
        """Yield (samples, functions, offsets) of chosen samples (bool, by sample).

        There is one function per frame.
        """
        union = self.diff.paired_functions.of_lines[side]
        profile = (self.diff.base, self.diff.new)[side].profile
        for samples, frames in walk_some(profile, np.flatnonzero(chosen)):
            yield samples, union[frames.line], frames.offsets

    def roots(self, side: int, named: Mask, chosen: Mask) -> tuple[Column, Mask]:
        """Return what each sample's stack begins in, and whether it may lack its root.

        It is a `named` function (bool, by row), -1 for none, and for samples that are
        not chosen (bool, by sample).
        """
        found = np.full(len(chosen), -1, np.int64)
        cut = np.zeros(len(chosen), np.bool_)
        for samples, ids, offsets in self.stacks_of(side, chosen):
            last = last_in_row(named[ids], offsets)
            found[samples] = np.where(last >= 0, np.append(ids, -1)[last], -1)
            cut[samples] = np.diff(offsets) >= STACK_KEPT
        return found, cut

    def sums(self, claim: Claim) -> tuple[int, int]:
        """Return the raw CPU time of the claimed samples, (base, new)."""
        base, new = self.diff.values
        return int(base[claim.base].sum()), int(new[claim.new].sum())

    def delta(self, claim: Claim) -> float:
        """Return the scaled delta of the claimed samples."""
        return self.scaled_delta(*self.sums(claim))

    def scaled_delta(self, base: int, new: int) -> float:
        """Return the scaled delta of raw sums."""
        return self.diff.normalization.delta(base, new)

    def runs(self, claim: Claim) -> Runs[Column]:
        """Return the raw CPU time of the claimed samples by run, as one row."""
        base, new = (np.where(side, 0, -1) for side in claim.sides)
        return self.diff.runs_of((base, new), 1)

    def change(self, claim: Claim) -> Change:
        """Judge the claimed samples on their own."""
        return self.model.one(self.runs(claim))

    def mark(self, claim: Claim) -> Mark | None:
        """Return the claimed samples' mark in a table, None if they are too few.

        The tables' model decides, which knows how runs of one build differ.
        """
        samples = np.divide(self.sums(claim), self.model.worth)
        if samples.sum() < SAMPLES_FOR_ROW:
            return None
        judged = self.diff.judge_runs(self.runs(claim))
        return "unknown" if judged is None else judged.change().mark

    def change_relative(self, claim: Claim) -> Change:
        """Judge how the claimed samples changed beyond the load."""
        return self.relative.one(self.runs(claim))


def explained(cpu: CPUComparison, covered: Claim) -> Explained:
    """Return how much the findings explain together, and which groups are left."""
    total = cpu.total_delta
    left = tuple(_left(cpu, covered))
    rest = Claim(~covered.base, ~covered.new)
    quiet = not left and not cpu.change(rest).significant
    quiet = quiet and not _some_function_changed(cpu, rest)
    return Explained(total, cpu.delta(covered), left, quiet)


def _some_function_changed(cpu: CPUComparison, rest: Claim) -> bool:
    """Return whether a function changed significantly in the samples that it owns."""
    runs = cpu.diff.ledger.among(rest.sides).every("owner").runs
    judged = cpu.diff.judge_runs(runs)
    return judged is not None and bool((judged.known & ~judged.noise).any())


def _left(cpu: CPUComparison, covered: Claim) -> list[JudgedSum]:
    """Return the groups that changed significantly beyond what findings cover."""
    names = [(group.id, group.label) for group in cpu.groups.values()]
    base, new = (np.full(len(side), -1, np.int64) for side in covered.sides)
    for row, (name, _) in enumerate(names):
        own = cpu.of_groups(name)
        base[own.base & ~covered.base] = new[own.new & ~covered.new] = row
    runs = cpu.diff.runs_of((base, new), len(names))
    rows = judged_sums(cpu.diff, names, runs, cpu.model)
    left = [row for row in rows if row.noise is False]
    return sorted(left, key=lambda row: -abs(row.delta))
