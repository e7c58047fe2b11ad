"""The CPU profiles as rules see them: groups, pace, and claims on samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.findings.model import Claim
from pprofdiff.analysis.profiles.attribution import Attribution
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.analysis.profiles.groups import JudgedSum, judged_groups
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.analysis.stats.common_ratio import CommonRatio, paced
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import first_in_row

__all__ = ["Samples", "words"]

_BOOKKEEPING = ("gc", "gc_tax", "alloc")

Column = NDArray[np.int64]


def words(diff: ProfileDiff, base: float, new: float) -> str:
    """Return raw values as ``base → new unit``, in the report's scale."""
    by, scale = diff.normalization, scale_of(diff)
    old, fresh = base * by.base_factor, new * by.new_factor
    return f"{scale.number(old)} → {scale.number(fresh)} {scale.unit}"


@dataclass(frozen=True, eq=False)
class Samples:
    """CPU profiles with samples on both sides; functions are rows of their union.

    `pace` is the load of new over base, where values are not by operation and it shows.
    """

    diff: ProfileDiff
    model: CountModel
    sides: tuple[Attribution, Attribution]
    pace: CommonRatio | None

    @cached_property
    def groups(self) -> dict[str, JudgedSum]:
        """The groups by id, in the order of the report."""
        return {group.id: group for group in judged_groups(self.diff)}

    def moved(self, group: str) -> bool:
        """Return whether a group moved beyond noise."""
        return group in self.groups and self.groups[group].noise is False

    @cached_property
    def paced_model(self) -> CountModel:
        """How far values may move by chance, base brought to new's pace."""
        return self.model if self.pace is None else paced(self.model, self.pace.ratio)

    def follows_load(self, delta: float) -> bool:
        """Return whether a change is what more or less load alone would make."""
        pace = self.pace
        return pace is not None and pace.sure and (delta > 0) == (pace.ratio > 1)

    @property
    def other_release(self) -> bool:
        """Whether the sides were built with different Go releases."""
        return any(caveat.id == "go-version" for caveat in self.diff.warnings)

    @cached_property
    def whole(self) -> float:
        """The larger of both sides' scaled totals."""
        (base, new), by = self.diff.totals, self.diff.normalization
        return max(abs(base) * by.base_factor, abs(new) * by.new_factor)

    @property
    def table(self) -> Table:
        """Flat and cum by function."""
        return self.diff.table("functions")

    @property
    def names(self) -> list[str]:
        """The functions of either side; positions are rows of the union."""
        return self.diff.paired_functions.names

    @cached_property
    def row(self) -> dict[str, int]:
        """Where each function's name stands in `names`."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def cum(self) -> tuple[Column, Column]:
        """Base and new cum of each function, raw, by row of the union."""
        rows = np.array([self.row[name] for name in self.table.names], np.int64)
        base, new = (np.zeros(len(self.names), np.int64) for _ in range(2))
        base[rows], new[rows] = self.table.raw("cum")
        return base, new

    def words(self, base: float, new: float) -> str:
        """Return raw values as ``base → new unit``, in the report's scale."""
        return words(self.diff, base, new)

    def of(self, categories: Iterable[str]) -> Claim:
        """Claim the samples of some categories."""
        chosen = set(categories)
        wanted = np.array([c in chosen for c in rules().categories], np.bool_)
        base, new = self.sides
        return Claim(wanted[base.category], wanted[new.category])

    def of_groups(self, *groups: str) -> Claim:
        """Claim the samples of whole groups."""
        held = {g.id: g.categories for g in rules().groups}
        return self.of(c for group in groups for c in held[group])

    def of_leaf_kind(self, kind: int) -> Claim:
        """Claim the samples whose leaf does one kind of work, by its position."""
        base, new = self.sides
        return Claim(base.leaf_kind == kind, new.leaf_kind == kind)

    @cached_property
    def bookkeeping(self) -> Claim:
        """GC and allocation: what has causes of its own."""
        return self.of_groups(*_BOOKKEEPING)

    def under(self, rows: NDArray[np.bool_]) -> Claim:
        """Claim the samples with a chosen function in their stack (bool, one a row)."""
        if not rows.any():
            return self.of(())
        base, new = (
            np.concatenate(
                [np.zeros(0, np.bool_)]
                + [
                    first_in_row(rows[ids], offsets) >= 0
                    for _, _, ids, offsets in self.stacks(side)
                ]
            )
            for side in (0, 1)
        )
        return Claim(base, new)

    def stacks(self, side: int) -> Iterator[tuple[int, int, Column, Column]]:
        """Yield (start, stop, functions, offsets) of stacks, one function a frame."""
        functions = self.diff.paired_functions
        union = functions.union[side][functions.sides[side].ids]
        profile = (self.diff.base, self.diff.new)[side].profile
        for start, stop, frames in walk(profile):
            yield start, stop, union[frames.line], frames.offsets

    def sums(self, claim: Claim) -> tuple[int, int]:
        """Return the raw CPU time of the claimed samples, base and new."""
        base, new = self.diff.values
        return int(base[claim.base].sum()), int(new[claim.new].sum())

    def delta(self, claim: Claim) -> float:
        """Return the scaled delta of the claimed samples."""
        return self.scaled_delta(*self.sums(claim))

    def scaled_delta(self, base: int, new: int) -> float:
        """Return the scaled delta of raw sums."""
        by = self.diff.normalization
        return new * by.new_factor - base * by.base_factor

    def by_chance(self, base: int, new: int) -> bool:
        """Return whether raw sums differ by no more than chance."""
        judged = self.model.judge(np.array([base]), np.array([new]))
        return bool(judged.noise[0])
