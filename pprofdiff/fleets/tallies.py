"""Read some profiles and sum them per step: the work of one task of a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.fleets.cells import Cell, CellSums, joined, summed
from pprofdiff.fleets.hosts import GROUPS, group_of
from pprofdiff.fleets.partial import LeftOut, Task, profiles_of, shares_by, stripped
from pprofdiff.fleets.steps import StepRule, width_for
from pprofdiff.model.profiles.profile import Profile

Counts = Mapping[tuple[str | int, str], int]


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
    profiles: dict[tuple[str | int, str], int] = {}
    for path, profile in profiles_of(task.objects, left):
        kind = kind_name(profile)
        sample_type = profile.sample_types[profile.sample_index()]
        key = kind, sample_type, profile.sample_types, profile.period_type
        for step, host, share in _shares(task, profile, path, left):
            cell = Cell(kind, sample_type, host, step)
            alike.setdefault(key, []).append((cell, stripped(share, labels=False)))
            profiles[step, host] = profiles.get((step, host), 0) + 1
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
    profiles: dict[tuple[str | int, str], int] = {}
    left = LeftOut()
    for part in parts:
        left.add_all(part.skipped, part.first)
        for key, count in part.profiles.items():
            profiles[key] = profiles.get(key, 0) + count
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


def _wider(profiles: Counts, width: int) -> dict[tuple[str | int, str], int]:
    added: dict[tuple[str | int, str], int] = {}
    for (step, host), count in profiles.items():
        key = _window(step, width), host
        added[key] = added.get(key, 0) + count
    return added


def _in_window(cell: Cell, width: int) -> Cell:
    return cell._replace(step=_window(cell.step, width))


def _window(step: str | int, width: int) -> str | int:
    return step // width * width if isinstance(step, int) else step
