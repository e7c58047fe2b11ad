"""Read some profiles and sum them per step: the work of one task of a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.ledger.codes import Attribution
from pprofdiff.analysis.profiles.filters import pruned_frames
from pprofdiff.analysis.profiles.kinds import is_cpu, is_state, kind_name
from pprofdiff.analysis.profiles.rows import SampleValues, summed_rows
from pprofdiff.fleets.hosts import GROUPS, group_of
from pprofdiff.fleets.partial import LeftOut, Task, profiles_of, shares_by, stripped
from pprofdiff.fleets.steps import StepRule, width_for
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import grouped, sums
from pprofdiff.model.profiles.merge import merge_apart
from pprofdiff.model.profiles.profile import Profile, ValueType

Counts = Counter[tuple[str | int, str]]


class TallyTask(NamedTuple):
    """Objects to read, and how to find steps; None for a single step ``""``."""

    objects: Task
    steps: StepRule | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Names of the objects."""
        return self.objects.paths


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The sums of some profiles, by cell and function.

    `profiles` is the number of profiles per (step, host). `width_s` is the width of a
    window of time, 0 for builds; if it is `chosen`, windows are joined if there are too
    many. `grouped` says whether the units of `sums` are groups of hosts. `skipped` and
    `first` are as in `partial.LeftOut`.
    """

    sums: CellSums
    profiles: Counts
    width_s: int = 0
    chosen: bool = False
    grouped: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)


def read_tally(task: TallyTask) -> Tally:
    """Return the sums of a task's objects; unreadable objects are counted."""
    left = LeftOut()
    alike: dict[object, list[tuple[Cell, Profile]]] = {}
    profiles: Counts = Counter()
    for path, profile in profiles_of(task.objects, left):
        kind = kind_name(profile)
        sample_type = profile.sample_types[profile.sample_index()]
        key = kind, sample_type, profile.sample_types, profile.period_type
        for step, host, share in _shares(task, profile, path, left):
            cell = Cell(kind, sample_type, host, step)
            alike.setdefault(key, []).append((cell, stripped(share, labels=False)))
            profiles[step, host] += 1
    width, chosen = 0, False
    if task.steps is not None and task.steps.builds is None:
        width, chosen = task.steps.width_s or 1, not task.steps.width_s
    if chosen:
        # Before functions are summed: fewer cells take less time.
        width = width_for(_seconds(profiles), width)
        profiles = _wider(profiles, width)
        alike = {
            key: [(_in_window(cell, width), profile) for cell, profile in several]
            for key, several in alike.items()
        }
    sums = joined([summed(several) for several in alike.values()])
    return Tally(sums, profiles, width, chosen, skipped=left.skipped, first=left.first)


def _shares(
    task: TallyTask, profile: Profile, path: str, left: LeftOut
) -> list[tuple[str | int, str, Profile]]:
    """Return (step, host, samples) of one profile; empty if either is unknown."""
    rule = task.objects.rule
    hosts = shares_by(profile, path, rule)
    if hosts is None:
        left.add("without a host", path)
        return []
    steps: list[tuple[str | int, Profile]] = [("", profile)]
    if task.steps is not None:
        by_step = task.steps.shares(profile, path)
        if by_step is None:
            left.add(task.steps.lacking, path)
            return []
        steps = by_step
    return [
        (step, host, share)
        for step, own in steps
        # Most profiles belong to one step.
        for host, share in (
            hosts if own is profile else shares_by(own, path, rule) or ()
        )
    ]


def combine_tallies(parts: Sequence[Tally]) -> Tally:
    """Return the sum of tallies (at least one), however they were split.

    Up to `GROUPS` hosts stay separate. Windows without a given width are joined if
    there are more than `steps.MOST_WINDOWS`.
    """
    profiles: Counts = Counter()
    left = LeftOut()
    for part in parts:
        left.add_all(part.skipped, part.first)
        profiles.update(part.profiles)
    width = max(part.width_s for part in parts)
    chosen = any(part.chosen for part in parts)
    if chosen:
        width = width_for(_seconds(profiles), width)
        profiles = _wider(profiles, width)
    grouped = len({host for _, host in profiles}) > GROUPS
    sums = joined(
        [
            _renamed(
                part.sums,
                width=width if chosen else 0,
                grouped=grouped and not part.grouped,
            )
            for part in parts
        ]
    )
    return Tally(sums, profiles, width, chosen, grouped, left.skipped, left.first)


def _renamed(sums: CellSums, *, width: int, grouped: bool) -> CellSums:
    """Return sums with cells of wider windows, if any, and of hosts' groups."""
    cells = sums.cells
    if width:
        cells = tuple(_in_window(cell, width) for cell in cells)
    if grouped:
        cells = tuple(cell._replace(unit=group_of(cell.unit)) for cell in cells)
    return replace(sums, cells=cells)


def _seconds(profiles: Counts) -> set[int]:
    return {step for step, _ in profiles if isinstance(step, int)}


def _wider(profiles: Counts, width: int) -> Counts:
    added: Counts = Counter()
    for (step, host), count in profiles.items():
        added[_window(step, width), host] += count
    return added


def _in_window(cell: Cell, width: int) -> Cell:
    return cell._replace(step=_window(cell.step, width))


def _window(step: str | int, width: int) -> str | int:
    return step // width * width if isinstance(step, int) else step


class Cell(NamedTuple):
    """What samples are grouped by, apart from their function.

    `unit` is a host or several hosts; `step` is a build, or the start of a window of
    time in Unix seconds.
    """

    kind: str
    sample_type: ValueType
    unit: str
    step: str | int


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Sums of profiles per cell and function, exact in int64.

    `cells` may have duplicates, whose sums are to be added. `totals` are the sums of
    each one's samples, `categories` by category of ``rules().categories``, of shape
    (cells, categories). `names` are distinct functions, including one for samples
    without a stack. `entries` are positions in `cells` and `names`, as ``cell *
    len(names) + name``, ascending; `flat` and `cum` are their sums, not both 0.
    """

    cells: tuple[Cell, ...]
    totals: Column
    categories: Column
    names: tuple[str, ...]
    entries: Column
    flat: Column
    cum: Column


def summed(several: Sequence[tuple[Cell, Profile]]) -> CellSums:
    """Return the sums of profiles (at least one) with identical sample types."""
    order = sorted(several, key=lambda one: repr(one[0]))
    cells = tuple(dict.fromkeys(cell for cell, _ in order))
    of_profile = [cells.index(cell) for cell, _ in order]
    first = order[0][1]
    column, types = first.sample_index(), len(first.sample_types)
    # The first columns that `merge_apart` returns are the sum.
    merged = merge_apart([profile for _, profile in order])
    units = merged.values.reshape(len(merged), 1 + len(order), types)[:, 1:, column]
    starts = np.searchsorted(of_profile, np.arange(len(cells)))
    by_cell = np.add.reduceat(units, starts, axis=1)
    plain = pruned_frames(merged) if merged.drop_frames else merged
    classified = is_cpu(first) or is_state(first)
    side = SampleValues(plain, by_cell)
    rows = summed_rows(side, "functions", classified=classified)
    known = len(rules().categories)
    categories = np.zeros((len(cells), known), np.int64)
    if isinstance(rows.ends, Attribution):
        for number, values in enumerate(by_cell.T):
            categories[number] = sums(rows.ends.category, values, known)
    flat, cum = rows.flat, rows.cum
    # Two functions may have the same name.
    place = {name: i for i, name in enumerate(dict.fromkeys(rows.rows.names))}
    name = np.array([place[one] for one in rows.rows.names], np.int64)
    own, cell = np.nonzero((flat != 0) | (cum != 0))
    return CellSums(
        cells,
        by_cell.sum(axis=0),
        categories,
        tuple(place),
        *_entries(cell * len(place) + name[own], flat[own, cell], cum[own, cell]),
    )


def joined(several: Sequence[CellSums]) -> CellSums:
    """Return the sum of sums, in which each cell is there once."""
    cells: dict[Cell, int] = {}
    names: dict[str, int] = {}
    of_cells, of_names = [], []
    for one in several:
        new = (cells.setdefault(cell, len(cells)) for cell in one.cells)
        of_cells.append(np.fromiter(new, np.int64, len(one.cells)))
        known = (names.setdefault(name, len(names)) for name in one.names)
        of_names.append(np.fromiter(known, np.int64, len(one.names)))
    totals = np.zeros(len(cells), np.int64)
    categories = np.zeros((len(cells), len(rules().categories)), np.int64)
    keys = [np.zeros(0, np.int64)]
    for one, cell, name in zip(several, of_cells, of_names, strict=True):
        np.add.at(totals, cell, one.totals)
        np.add.at(categories, cell, one.categories)
        own, called = np.divmod(one.entries, max(len(one.names), 1))
        keys.append(cell[own] * len(names) + name[called])
    none = np.zeros(0, np.int64)
    flat = np.concatenate([none, *(one.flat for one in several)])
    cum = np.concatenate([none, *(one.cum for one in several)])
    entries = _entries(np.concatenate(keys), flat, cum)
    return CellSums(tuple(cells), totals, categories, tuple(names), *entries)


def _entries(keys: Column, flat: Column, cum: Column) -> tuple[Column, Column, Column]:
    """Return distinct keys, ascending, and the sums for each."""
    distinct, place = grouped(keys)
    count = len(distinct)
    return distinct, sums(place, flat, count), sums(place, cum, count)
