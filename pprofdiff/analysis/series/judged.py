"""All curves of a series, judged together: groups, categories, functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.student import false_discovery_rates
from pprofdiff.analysis.profiles.tables import STOPPED
from pprofdiff.analysis.series.changes import (
    ALARMS,
    Change,
    Moderation,
    Proposed,
    Shares,
    changes_at,
    moderation,
    need_ruptures,
    proposed,
    shares_of,
)
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.series import Measured, Series

Floats = NDArray[np.float64]
CurveSort = Literal["group", "category", "function"]

_SORTS: tuple[CurveSort, ...] = ("group", "category", "function")

LEAST = 0.001
"""Functions below this share of the total at every step are skipped.

They could add less than the day-to-day variation of hosts.
"""

_LEAST_STEPS = 2
# Functions per block: a few megabytes for 64 hosts and 48 steps.
_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Curve:
    """One share of the total, step by step.

    `key` is the id of a group or category of runtime costs, or a function. `raw` are
    sums in the unit of the sample type, int64. `shares` are those of each step's total,
    float64, NaN for a step without profiles; `deviation` is the standard deviation of
    each, from how hosts vary, NaN if unknown.
    """

    sort: CurveSort
    key: str
    label: str
    raw: NDArray[np.int64]
    shares: Floats
    deviation: Floats
    changes: tuple[Change, ...]

    @property
    def levels(self) -> list[tuple[int, float]]:
        """The share between changes, as (first step, share), empty without changes."""
        if not self.changes:
            return []
        first = self.changes[0]
        return [(0, first.before), *((one.step, one.after) for one in self.changes)]

    @property
    def largest(self) -> float:
        """The largest change, signed; 0 without changes."""
        return max((one.delta for one in self.changes), key=abs, default=0.0)

    @property
    def ends(self) -> tuple[float, float]:
        """The first and last known share."""
        known = self.shares[np.isfinite(self.shares)]
        return float(known[0]), float(known[-1])

    @property
    def span(self) -> float:
        """The range of the share."""
        return float(np.nanmax(self.shares) - np.nanmin(self.shares))


@dataclass(frozen=True, eq=False)
class KindCurves:
    """The curves of one kind of profile.

    `functions` are sorted by largest change, then by range; only those with a share of
    `LEAST` at some step are included.
    """

    measured: Measured
    groups: tuple[Curve, ...]
    categories: tuple[Curve, ...]
    functions: tuple[Curve, ...]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """All curves."""
        return (*self.groups, *self.categories, *self.functions)

    @property
    def changed(self) -> tuple[Curve, ...]:
        """The functions that changed."""
        return tuple(curve for curve in self.functions if curve.changes)


@dataclass(frozen=True, eq=False)
class JudgedSeries:
    """A series, and the curves of each kind of profile in it."""

    series: Series
    kinds: tuple[KindCurves, ...]

    @cached_property
    def steps(self) -> dict[int, list[tuple[KindCurves, Curve, Change]]]:
        """Changes by step, for each step that has any, largest first."""
        at: dict[int, list[tuple[KindCurves, Curve, Change]]] = {}
        for kind in self.kinds:
            for curve in kind.functions:
                for change in curve.changes:
                    at.setdefault(change.step, []).append((kind, curve, change))
        for changes in at.values():
            changes.sort(key=lambda one: -abs(one[2].delta))
        return dict(sorted(at.items()))


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows processed together: their names, sums, shares and possible changes.

    `moderated` is how much units vary, by all blocks of the kind of profile.
    """

    sort: CurveSort
    names: list[tuple[str, str]]
    raw: NDArray[np.int64]
    shares: Shares
    proposals: Sequence[Proposed]
    moderated: Moderation


def judge_series(series: Series) -> JudgedSeries:
    """Return the curves of a series and where they changed, all judged together.

    At most `changes.ALARMS` of the reported changes are false, and as many of the
    series without a change report one. Raises UsageError if ruptures is not installed.
    """
    need_ruptures()
    blocks = [_blocks(kind) for kind in series.kinds]
    rates = {sort: iter(_rates(blocks, sort)) for sort in _SORTS}
    return JudgedSeries(
        series,
        tuple(
            _kind(measured, own, rates)
            for measured, own in zip(series.kinds, blocks, strict=True)
        ),
    )


def _rates(blocks: Sequence[Sequence[_Block]], sort: CurveSort) -> list[float]:
    """Return the false discovery rate of each proposed step.

    Groups, categories and functions get a third of the alarms each: a few groups need
    less evidence than hundreds of functions. A row with no proposed step is a test too.
    """
    proposals = [
        proposal
        for own in blocks
        for block in own
        if block.sort == sort
        for proposal in block.proposals
    ]
    chances = [p for one in proposals for p in one.p or (1.0,)]
    rates = false_discovery_rates(np.array(chances, np.float64)) * len(_SORTS)
    return [min(float(rate), 1.0) for rate in rates]


def _kind(
    measured: Measured,
    blocks: Sequence[_Block],
    rates: Mapping[CurveSort, Iterator[float]],
) -> KindCurves:
    """Return the curves of one kind; consumes the rates of its rows."""
    curves: dict[CurveSort, list[Curve]] = {"group": [], "category": [], "function": []}
    for block in blocks:
        curves[block.sort] += _curves(measured, block, rates[block.sort])
    functions = _undiluted(curves["function"])
    functions.sort(key=lambda curve: (-abs(curve.largest), -curve.span, curve.key))
    return KindCurves(
        measured, tuple(curves["group"]), tuple(curves["category"]), tuple(functions)
    )


def _undiluted(functions: list[Curve]) -> list[Curve]:
    """Return functions without changes that follow from larger ones of others.

    If one function takes more of the total, all others shrink by the same factor.
    """
    chance = ALARMS / max(len(functions), 1)
    wider = NormalDist().inv_cdf(1 - chance / 2) / NormalDist().inv_cdf(0.975)
    every = [(curve, i) for curve in functions for i in range(len(curve.changes))]
    every.sort(key=lambda one: -abs(one[0].changes[one[1]].delta))
    own: dict[str, Floats] = {}
    follows: set[tuple[str, int]] = set()
    for curve, i in every:
        change = curve.changes[i]
        others = [shares for key, shares in own.items() if key != curve.key]
        before, after = _around(curve, i, others)
        expected = change.before * ((1 - after) / (1 - before) - 1)
        reach = wider * (change.high - change.low) / 2
        if expected * change.delta > 0 and abs(change.delta - expected) <= reach:
            follows.add((curve.key, change.step))
        else:
            own[curve.key] = curve.shares
    return [
        replace(
            curve,
            changes=tuple(
                one for one in curve.changes if (curve.key, one.step) not in follows
            ),
        )
        for curve in functions
    ]


def _around(curve: Curve, place: int, others: Sequence[Floats]) -> tuple[float, float]:
    """Return the share of other functions before and after a change."""
    if not others:
        return 0.0, 0.0
    whole = np.sum(others, axis=0)
    ends = [0, *(change.step for change in curve.changes), len(whole)]
    before, after = (
        float(np.nanmean(whole[ends[place + i] : ends[place + i + 1]])) for i in (0, 1)
    )
    return before, after


def _curves(
    measured: Measured, block: _Block, rates: Iterator[float]
) -> Iterator[Curve]:
    present = _present(measured)
    count = measured.totals.shape[1]
    for row, ((key, label), proposal) in enumerate(
        zip(block.names, block.proposals, strict=True)
    ):
        own = [next(rates) for _ in proposal.p or (1.0,)]
        kept = [
            (step, rate)
            for step, rate in zip(proposal.steps, own, strict=False)
            if rate <= ALARMS and key != STOPPED
        ]
        changes = changes_at(
            block.shares,
            row,
            [step for step, _ in kept],
            [rate for _, rate in kept],
            block.moderated,
        )
        whole = np.full((2, count), np.nan)
        whole[0, present] = block.shares.shares[row]
        whole[1, present] = np.sqrt(block.shares.variance[row])
        yield Curve(
            block.sort,
            key,
            label,
            block.raw[row],
            whole[0],
            whole[1],
            tuple(one._replace(step=int(present[one.step])) for one in changes),
        )


def _present(measured: Measured) -> NDArray[np.int64]:
    """Return the steps that have measurements."""
    return np.flatnonzero(measured.totals.sum(axis=0) > 0)


def _blocks(measured: Measured) -> list[_Block]:
    present = _present(measured)
    if len(present) < _LEAST_STEPS:
        return []
    totals = measured.totals[:, present]
    rows = [
        (sort, names, own.sum(axis=1), shares_of(own[:, :, present], totals))
        for sort, names, own in _rows(measured, present)
    ]
    moderated = moderation(
        [shares for sort, _, _, shares in rows if sort == "function"]
    )
    return [_Block(*row, proposed(row[-1], moderated), moderated) for row in rows]


_Rows = tuple[CurveSort, list[tuple[str, str]], NDArray[np.int64]]


def _rows(measured: Measured, present: NDArray[np.int64]) -> Iterator[_Rows]:
    """Yield rows that are processed together: their sort, names, and sums by unit."""
    if measured.categories is not None:
        yield from _of_categories(measured.categories)
    whole = measured.totals[:, present].sum(axis=0)
    share = measured.by_step(measured.flat)[:, present] / whole
    large = np.flatnonzero(share.max(axis=1) >= LEAST)
    for start in range(0, len(large), _AT_ONCE):
        rows = large[start : start + _AT_ONCE]
        names = [(measured.functions[i], measured.functions[i]) for i in rows.tolist()]
        yield "function", names, measured.flat_of(rows)


def _of_categories(sums: NDArray[np.int64]) -> Iterator[_Rows]:
    """Yield groups of runtime costs, then categories, that have a value."""
    known = rules()
    place = {category: i for i, category in enumerate(known.categories)}
    groups = [
        (group, sums[[place[category] for category in group.categories]].sum(axis=0))
        for group in known.groups
    ]
    some = [(group, own) for group, own in groups if own.any()]
    if some:
        names = [(group.id, group.label) for group, _ in some]
        yield "group", names, np.array([own for _, own in some])
    rows = np.flatnonzero(sums.any(axis=(1, 2)))
    ids = [known.categories[i] for i in rows.tolist()]
    if ids:
        yield "category", [(name, name) for name in ids], sums[rows]
