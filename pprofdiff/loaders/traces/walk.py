"""Goroutines through one generation: in order, a few thousand changes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.calls import Loss
from pprofdiff.loaders.traces.clock_order import Sequence, settle
from pprofdiff.loaders.traces.context import Context
from pprofdiff.loaders.traces.events import Events
from pprofdiff.loaders.traces.goroutines import (
    GoroutineOrder,
    Steps,
    goroutine_steps,
)
from pprofdiff.loaders.traces.intervals import Births, Part, Rows, births, first_stacks
from pprofdiff.loaders.traces.lives import STATUSES
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.pages import Store
from pprofdiff.loaders.traces.strings import Places

__all__ = ["Scene", "Walk", "walk"]


class Scene(NamedTuple):
    """A generation, and what its events refer to; it began at `since`.

    Before it, the first `known` goroutines had been mentioned. There is room for its
    rows behind those that `rows` keeps.
    """

    events: Events
    context: Context
    losses: Loss
    threads: Numbering
    stacks: Places
    since: int
    known: int
    rows: Store


class Walk(NamedTuple):
    """What a generation says of goroutines.

    `states` (uint8) is where each stands afterwards, `first_stacks` (int32) the first
    stack of its own that is known of each, 0 if none.
    """

    part: Part
    births: Births
    states: NDArray[np.uint8]
    first_stacks: NDArray[np.int32]


def walk(
    scene: Scene,
    order: GoroutineOrder,
    sequences: list[Sequence],
    states: NDArray[np.uint8],
    stacks: NDArray[np.int32],
) -> Walk:
    """Follow all goroutines through a generation, and settle its times in place.

    `order` is from `goroutine_order`, `sequences` are of anything else, `states` and
    `stacks` what was known before. Raises Damage where events contradict each other.
    """
    settle(scene.events.time, sequences)
    found = _walk(scene, order, states, stacks)
    if found is None:
        steps = list(_steps(scene, order, states.copy()))
        whole = Sequence(
            np.concatenate([step.chain.event for step in steps]),
            np.concatenate([step.fresh for step in steps]),
        )
        settle(scene.events.time, [*sequences, whole])
        found = _walk(scene, order, states, stacks)
    if found is None:
        raise Damage("its events wait for each other")
    return found


def _steps(
    scene: Scene, order: GoroutineOrder, states: NDArray[np.uint8]
) -> Iterator[Steps]:
    """Return the steps of all goroutines."""
    return goroutine_steps(order, scene.events, scene.context, states, scene.losses)


def _walk(
    scene: Scene,
    order: GoroutineOrder,
    states: NDArray[np.uint8],
    stacks: NDArray[np.int32],
) -> Walk | None:
    """Follow all goroutines; return None if time runs backwards for one of them."""
    events, context = scene.events, scene.context
    states, stacks = states.copy(), stacks.copy()
    # A step is one row, and two where a status tells of a lost processor.
    most = len(order.chain) + len(events.where(*STATUSES))
    columns = scene.rows.room(most)
    rows = Rows(columns, events, context, scene.threads, scene.since)
    born = [Births.none()]
    last = 0
    for steps in _steps(scene, order, states):
        time = events.time[steps.chain.event]
        falls = np.diff(time, prepend=last) < 0
        if (falls & ~steps.fresh).any():
            return None
        last = int(time[-1])
        rows.add(steps)
        born.append(births(events, context, steps, scene.since, scene.known))
        owner, stack = first_stacks(events, steps, scene.stacks, stacks == 0)
        stacks[owner] = stack
    whole = Births(*(np.concatenate(c) for c in zip(*born, strict=True)))
    return Walk(rows.part(), whole, states, stacks)
