"""Time in a state by reason and by function of the program, base against new."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import Classifier
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.states import StateName, state_profile
from pprofdiff.goruntime.names import canonical_user
from pprofdiff.model.csr import grouped, sums
from pprofdiff.model.profiles.profile import Profile

__all__ = ["Mover", "movers"]

Column = NDArray[np.int64]


class Mover(NamedTuple):
    """Time of the program's goroutines in a state for one reason, in one function.

    `function` is the frame nearest the leaf that is not of the standard library; where
    a stack has none, the nearest one that is not of the runtime, or else the
    goroutine's root function. Times are raw nanoseconds, the number is how many
    intervals they are.
    """

    reason: str
    function: str
    base_ns: int
    new_ns: int
    base_number: int
    new_number: int


class _Cell(NamedTuple):
    """What one side spends: time in ns, and in how many intervals."""

    name: str
    time_ns: int
    number: int


def movers(diff: TraceDiff, state: StateName) -> tuple[Mover, ...]:
    """Return every reason and function, those whose time moved most (scaled) first.

    Functions are paired by name, without what differs from build to build.
    """
    base, new = (_cells(side, state) for side in diff.sides)
    rows = []
    for key in dict.fromkeys([*base, *new]):
        old, now = base.get(key), new.get(key)
        either = now or old
        rows.append(
            Mover(
                key[0],
                either.name if either else "",
                old.time_ns if old else 0,
                now.time_ns if now else 0,
                old.number if old else 0,
                now.number if now else 0,
            )
        )
    by = diff.normalization

    def moved(row: Mover) -> float:
        return -abs(by.delta(row.base_ns, row.new_ns))

    return tuple(sorted(rows, key=moved))


def _cells(side: TraceSide, state: StateName) -> dict[tuple[str, str], _Cell]:
    """Return a side's times by reason and function."""
    groups = side.groups
    own = ~(groups.system | groups.tracing)[groups.group_of]
    profile = state_profile(side.trace, state, goroutines=own)
    if not len(profile.values):
        return {}
    reasons, functions = _text(profile, "reason"), _functions(profile)
    size = len(profile.strings)
    keys, group = grouped(reasons * size + functions)
    number, time = (sums(group, profile.values[:, i], len(keys)) for i in (0, 1))
    cells: dict[tuple[str, str], _Cell] = {}
    for i, key in enumerate(keys.tolist()):
        name = profile.strings[key % size]
        place = profile.strings[key // size], canonical_user(name)
        more = cells.get(place, _Cell(name, 0, 0))
        cells[place] = _Cell(
            more.name, more.time_ns + int(time[i]), more.number + int(number[i])
        )
    return cells


def _functions(profile: Profile) -> Column:
    """Return the function (an index of strings) that each sample counts for."""
    places, locations = profile.functions.name, profile.locations
    # Each location of a trace's profile is one line.
    frames = locations.line_function[profile.stack_locations]
    classifier = Classifier([profile.strings[i] for i in places.tolist()])
    classifier(profile.stack_offsets, frames)
    classes = classifier.result()
    row = np.where(classes.owner >= 0, classes.owner, classes.payer)
    named: Column = _text(profile, "goroutine")
    named[row >= 0] = places[row[row >= 0]]
    return named


def _text(profile: Profile, key: str) -> Column:
    """Return the text of a label (an index of strings) of each sample, 0 for none."""
    labels, texts = profile.labels, np.zeros(len(profile.values), np.int64)
    if key in profile.strings:
        some = labels.key == profile.strings.index(key)
        texts[labels.sample[some]] = labels.text[some]
    return texts
