"""Tables on memory: allocation by call site, in bytes, objects and mean size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.causes.sites import BYTE, Sites
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.views import Masks, View
from pprofdiff.analysis.outcome.by_unit import counts_alike
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import by_leaf
from pprofdiff.analysis.profiles.harness import of_operations
from pprofdiff.report.rows import Cell, Column, Row, Table, name_column
from pprofdiff.report.sections.named import call_site_cells, called_by, site_of
from pprofdiff.report.sections.profiles.cells import (
    compared,
    compared_columns,
    noise_of,
)
from pprofdiff.units import scale_for

_ROWS = 10
# A smaller share of an exact benchmark profile is one-time work of each process.
_HARDLY = 0.001
_OF_OBJECTS = Column("objects", "pair"), Column("mean size", "pair")


class PerOp(Struct, frozen=True):
    """What is known of sites that benchmarks call.

    A site with fewer objects per op than `least_objects` has none in the table: they
    are not known well. Sites that are not `judged` have no marks.
    """

    least_objects: float
    judged: bool


def call_sites(
    diff: ProfileDiff,
    others: Sequence[ProfileDiff],
    labels: tuple[str, str],
    rows: int | None = None,
    *,
    per_op: PerOp | None = None,
) -> Iterator[Table]:
    """Yield up to `rows` call sites: allocations that changed most, then the largest.

    Those within noise are among the first if they changed by more than all others.
    Objects and mean size are shown if one of `others` is of the same profiles and
    counts objects. With `per_op`, only sites that benchmarks call are shown.
    """
    kept = of_operations(diff) if per_op else None
    leaves = by_leaf(diff.ledger if kept is None else diff.ledger.among(kept))
    if per_op:
        larger = np.maximum(*diff.normalization.scaled(leaves.base, leaves.new))
        least = _HARDLY * max(diff.normalization.scaled(*diff.totals))
        leaves = leaves.where(larger >= max(BYTE, least))
    if per_op and not len(leaves.base):
        return
    noise = noise_of(diff, leaves.runs)
    unmarked = per_op is not None and not per_op.judged
    by_chance = np.array([unmarked or bool(chance) for chance in noise], np.bool_)
    base, new = diff.normalization.scaled(leaves.base, leaves.new)
    delta = np.abs(new - base)
    # Without the row that changed most, a smaller one would seem to be it.
    marked = delta[~by_chance]
    later = by_chance & (delta <= (marked.max() if len(marked) else np.inf))
    weight = np.where(later, np.maximum(base, new), delta)
    most = _ROWS if rows is None else rows
    order = np.lexsort((-weight, later))[:most].tolist()
    least_objects = 0.0 if per_op is None else per_op.least_objects
    objects = _objects(diff, others, kept, least_objects)
    if unmarked:
        noise = [None] * len(noise)
    figures = [_figures(diff, leaves, i, objects, noise=noise[i]) for i in order]
    counted: tuple[Column, ...] = _OF_OBJECTS
    if not any(cells[-1].text for cells in figures):
        counted, figures = (), [cells[: -len(_OF_OBJECTS)] for cells in figures]
    columns = (*compared_columns(diff, labels), *counted, name_column("call site"))
    names = diff.paired_functions.names
    called, owners = leaves["leaf"].tolist(), leaves["place"].tolist()
    sites = [site_of(names, called[i], owners[i]) for i in order]
    rows_of = zip(sites, figures, call_site_cells(sites), strict=True)
    yield Table(
        "call_sites",
        columns,
        tuple(
            Row(called_by(s), "call_site", (*cells, name)) for s, cells, name in rows_of
        ),
        title="By call site (flat: allocated in this function itself)",
        code=True,
        one_unit=True,
    )


def counted_in_turns(
    comparison: Comparison, diff: ProfileDiff
) -> tuple[float, ...] | None:
    """Return bytes or objects per op as benchmarks in interleaved rounds count."""
    turns, kind = comparison.turns, diff.sample_type.type
    if turns is None or not comparison.measured or kind not in turns.allocated:
        return None
    return tuple(float(count) for side in turns.allocated[kind] for count in side)


def sites_in_turns(
    comparison: Comparison,
    diff: ProfileDiff,
    labels: tuple[str, str],
    rows: int | None = None,
) -> Iterator[Table]:
    """Yield the call sites; for benchmarks that count, within their operations."""
    if counted_in_turns(comparison, diff) is None:
        yield from call_sites(diff, comparison.profiles, labels, rows)
        return
    sites, others = Sites.of(comparison), comparison.profiles
    if sites is None:
        others = ()
    least = 0.0 if sites is None else sites.least_objects
    per_op = PerOp(least, judged=not counts_alike(comparison))
    yield from call_sites(diff, others, labels, rows, per_op=per_op)


class _Objects(Struct, frozen=True):
    """Raw object counts by (leaf, owner), unknown below `least` once scaled."""

    counts: dict[tuple[int, int], tuple[int, int]]
    by: Normalization
    least: float

    def of(self, leaf: int, owner: int) -> tuple[int, int] | None:
        """Return the objects of a site, None if unknown."""
        counts = self.counts.get((leaf, owner))
        if counts is None or max(self.by.scaled(*counts)) < self.least:
            return None
        return counts

    def words(self, counts: tuple[int, int]) -> str:
        """Return raw counts scaled, such as per op, or as a percentage of all."""
        scaled = self.by.scaled(*counts)
        if self.by.mode == "composition":
            base, new = (f"{value:.2f}" for value in scaled)
            return f"{_arrow(base, new)}%"
        return _arrow(*map(_short, scaled))


def _objects(
    diff: ProfileDiff, others: Sequence[ProfileDiff], kept: Masks | None, least: float
) -> _Objects | None:
    """Return the comparison of the same profiles that counts objects, if any."""
    wanted = diff.sample_type.type.replace("_space", "_objects")
    for other in others:
        if other is diff:
            continue
        if other.new is diff.new and other.sample_type.type == wanted != "":
            ledger = other.ledger if kept is None else other.ledger.among(kept)
            sums = by_leaf(ledger)
            sites = zip(sums["leaf"].tolist(), sums["place"].tolist(), strict=True)
            counts = zip(sums.base.tolist(), sums.new.tolist(), strict=True)
            known = dict(zip(sites, counts, strict=True))
            return _Objects(known, other.normalization, least)
    return None


def _figures(
    diff: ProfileDiff,
    leaves: View,
    row: int,
    objects: _Objects | None,
    *,
    noise: bool | None,
) -> tuple[Cell, ...]:
    leaf, owner = int(leaves["leaf"][row]), int(leaves["place"][row])
    base, new = int(leaves.base[row]), int(leaves.new[row])
    numbers = sizes = ""
    if objects is not None and (counts := objects.of(leaf, owner)):
        numbers = objects.words(counts)
        sizes = _mean_sizes((base, new), counts)
    return (*compared(diff, base, new, noise=noise), Cell(numbers), Cell(sizes))


def _short(count: float) -> str:
    """Return a number of objects in two or three digits, such as 3.1M or 0.0034."""
    if count < 0:
        return f"−{_short(-count)}"
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{suffix}"
    return f"{count:.0f}" if count == 0 or count >= 10 else f"{count:.2g}"


def _mean_sizes(sizes: tuple[int, int], counts: tuple[int, int]) -> str:
    means = [s / c if c else None for s, c in zip(sizes, counts, strict=True)]
    scale = scale_for([mean for mean in means if mean is not None], "bytes")
    words = ["–" if mean is None else scale.number(mean) for mean in means]
    return f"{_arrow(*words)} {scale.unit}"


def _arrow(base: str, new: str) -> str:
    return base if base == new else f"{base} → {new}"
