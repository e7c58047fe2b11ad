"""Load a fleet as a series of steps: windows of time, or builds in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.profiles.compare import place_in_report
from pprofdiff.errors import FormatError
from pprofdiff.fleets.engine import reduced
from pprofdiff.fleets.hosts import host_rule
from pprofdiff.fleets.sides import FleetOptions, noted, tasks_of
from pprofdiff.fleets.sources import Objects, Source, paths_of, read_once, source_of
from pprofdiff.fleets.steps import (
    MOST_STEPS,
    StepRule,
    in_order,
    step_rule,
    window_name,
)
from pprofdiff.fleets.tallies import (
    CellSums,
    Tally,
    TallyTask,
    combine_tallies,
    read_tally,
)
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.series import Measured, Series, Step

_SECOND = 1_000_000_000


class LoadedSeries(NamedTuple):
    """A series, and notes on what was left out."""

    series: Series
    notes: tuple[str, ...]


class Listed(NamedTuple):
    """Objects to read; `ranks` is the first argument that named each build."""

    source: Source
    tasks: tuple[TallyTask, ...]
    ranks: Mapping[str, int]


def load_series(
    places: Sequence[str],
    over: str,
    options: FleetOptions,
    *,
    every: float | None = None,
) -> LoadedSeries:
    """Return the profiles at some places, summed per step.

    `places` are patterns or names, as `sources.source_of` takes them. Builds are in the
    order of the places that name them, and within a place by the numbers in their
    names. `over` is ``time``, or what identifies builds: a label, a path part
    ``KEY=…``, a pattern. `every` is a window's width in seconds, None for one that
    makes at most 48 windows. Raises what `sides.load_fleets` raises, and FormatError
    for more steps than `steps.MOST_STEPS`.
    """
    steps = step_rule(over, every)
    listed = series_tasks(places, steps, options)
    (whole,) = reduced([listed.tasks], read_tally, combine_tallies, options.where)
    note = noted(listed.source, whole, over, options)
    return LoadedSeries(_series(whole, listed, over, options), (note,) if note else ())


def series_tasks(
    places: Sequence[str], steps: StepRule | None, options: FleetOptions
) -> Listed:
    """Return the objects at some places (at least one), split into tasks."""
    options.progress("listing objects")
    read_once(places)
    stores: dict[int, tuple[object, dict[str, None]]] = {}
    ranks: dict[str, int] = {}
    builds = None if steps is None else steps.builds
    sources = [source_of((place,), "any step") for place in places]
    for rank, source in enumerate(sources):
        for objects in source.objects:
            known = stores.setdefault(id(objects.store), (objects.store, {}))[1]
            known |= dict.fromkeys(objects.paths)
            if builds is None:
                continue
            for path in objects.paths:
                build = builds.of_path(path)
                if build:
                    ranks.setdefault(build, rank)
    source = Source(
        None,
        ", ".join(source.place for source in sources),
        tuple(Objects(store, tuple(sorted(paths))) for store, paths in stores.values()),
    )
    rule = host_rule(options.by, paths_of([source]))
    tasks = tuple(TallyTask(task, steps) for task in tasks_of(source, rule, options))
    return Listed(source, tasks, ranks)


def _series(whole: Tally, listed: Listed, over: str, options: FleetOptions) -> Series:
    names = {step for step, _ in whole.profiles}
    width = whole.width_s
    order: list[str | int]
    if width:
        seconds = sorted(step for step in names if isinstance(step, int))
        count = (seconds[-1] - seconds[0]) // width + 1
        _few_enough(count)
        # A window without profiles is a gap.
        order = [seconds[0] + width * i for i in range(count)]
    else:
        _few_enough(len(names))
        order = [*in_order((str(step) for step in names), dict(listed.ranks))]
    if len(order) < 2:
        only = f"{over} {order[0]}" if not width else f"one window of {width:,} s"
        raise FormatError(
            f"{listed.source.place}: all profiles are of {only}: steps are compared"
        )
    days = {step // 86_400 for step in order if isinstance(step, int)}
    steps = []
    for step in order:
        counts = [n for (own, _), n in whole.profiles.items() if own == step]
        if isinstance(step, int):
            name = window_name(step, width, one_day=len(days) == 1)
            steps.append(Step(name, len(counts), sum(counts), step * _SECOND))
        else:
            steps.append(Step(step, len(counts), sum(counts)))
    place = {step: i for i, step in enumerate(order)}
    kinds = dict.fromkeys((cell.kind, cell.sample_type) for cell in whole.sums.cells)
    return Series(
        "objects" if options.anonymous else listed.source.place,
        over,
        tuple(steps),
        width,
        tuple(
            _measured(whole.sums, key, place)
            for key in sorted(kinds, key=lambda key: place_in_report(key[0]))
        ),
        len({host for _, host in whole.profiles}),
        dict(whole.skipped),
    )


def _few_enough(count: int) -> None:
    if count > MOST_STEPS:
        raise FormatError(
            f"there are {count:,} steps, and {MOST_STEPS} can be compared: name fewer "
            "builds, a shorter time or wider windows (--every)"
        )


def _measured(
    sums: CellSums, key: tuple[str, object], place: Mapping[str | int, int]
) -> Measured:
    own = [i for i, cell in enumerate(sums.cells) if (cell[0], cell[1]) == key]
    units = sorted({sums.cells[i].unit for i in own})
    unit_of = {unit: i for i, unit in enumerate(units)}
    steps = len(place)
    # The position of each cell in units × steps, -1 for cells of other kinds.
    at = np.full(len(sums.cells), -1, np.int64)
    at[own] = [
        unit_of[sums.cells[i].unit] * steps + place[sums.cells[i].step] for i in own
    ]
    totals = np.zeros(len(units) * steps, np.int64)
    totals[at[own]] = sums.totals[own]
    known = len(rules().categories)
    categories = np.zeros((known, len(units) * steps), np.int64)
    categories[:, at[own]] = sums.categories[own].T
    cell, name = np.divmod(sums.entries, max(len(sums.names), 1))
    mine = np.flatnonzero(at[cell] >= 0)
    mine = mine[np.lexsort((at[cell[mine]], name[mine]))]
    present, rows = np.unique(name[mine], return_inverse=True)
    shape = len(units), steps
    return Measured(
        sums.cells[own[0]].kind,
        sums.cells[own[0]].sample_type,
        tuple(units),
        totals.reshape(shape),
        tuple(sums.names[i] for i in present.tolist()),
        offsets_of(np.bincount(rows, minlength=len(present))),
        at[cell[mine]],
        sums.flat[mine],
        sums.cum[mine],
        categories.reshape(known, *shape) if categories.any() else None,
    )
