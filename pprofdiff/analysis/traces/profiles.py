"""Time by stack as a profile, so that traces go where profiles do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import (
    Offsets,
    count_in_row,
    first_places,
    grouped,
    sums,
    take_rows,
    unique_tuples,
)
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Profile,
    ValueType,
)
from pprofdiff.model.traces.trace import Trace

__all__ = ["DELAYS", "Sums", "profile_of", "summed", "taken", "told"]

Column = NDArray[np.int64]

# Cells of a table (bool, then int64) that is made without a thought.
_TABLE = 1 << 16
DELAYS = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))


class Sums(NamedTuple):
    """How often and how long, by some keys: columns of equal length, int64.

    A row of `keys` (keys, rows) occurs once.
    """

    keys: Column
    number: Column
    time_ns: Column

    @property
    def values(self) -> Column:
        """Both, as columns of a profile's values."""
        return np.stack((self.number, self.time_ns), axis=1)


def summed(parts: Sequence[Sums], keys: int) -> Sums:
    """Return the sum of some parts, in the order of keys; of none, no rows."""
    if not parts:
        none = np.zeros(0, np.int64)
        return Sums(np.zeros((keys, 0), np.int64), none, none)
    held = Sums(
        np.concatenate([part.keys for part in parts], axis=1),
        np.concatenate([part.number for part in parts]),
        np.concatenate([part.time_ns for part in parts]),
    )
    found, group = _grouped(held.keys)
    size = found.shape[1]
    return Sums(found, sums(group, held.number, size), sums(group, held.time_ns, size))


def _grouped(keys: Column) -> tuple[Column, Column]:
    """Return the distinct columns of `keys`, rising, and which of them each one is.

    One row of keys after the other is taken in; a table of what occurs does without
    sorting, where it is not much larger than the keys.
    """
    found = np.zeros((0, 1), np.int64)
    group = np.zeros(keys.shape[1], np.int64)
    for key in keys:
        size = int(key.max(initial=0)) + 1
        group = group * size + key
        if found.shape[1] * size <= max(2 * len(group), _TABLE):
            present = np.zeros(found.shape[1] * size, np.bool_)
            present[group] = True
            packed = np.flatnonzero(present)
            group = (np.cumsum(present) - 1)[group]
        else:
            packed, group = grouped(group)
        found = np.concatenate((found[:, packed // size], (packed % size)[None]))
    return found, group


def profile_of(
    trace: Trace,
    stacks: tuple[Offsets, NDArray[np.int32]],
    values: Column,
    sample_types: tuple[ValueType, ...] = DELAYS,
    labels: Sequence[tuple[str, Sequence[str], Column]] = (),
) -> Profile:
    """Return a profile of stacks: one sample a stack, in order.

    `stacks` are offsets and frames, positions in ``trace.stacks.function`` and its
    fellows; `values` has a row for each. A label is a key, texts, and which of these
    each sample has; the empty text is no label.
    """
    offsets, frames = stacks
    used, places = _used(frames, len(trace.stacks.function))
    words = [word for key, words, _ in labels for word in (key, *words)]
    strings, function, locations = _tables(trace, used, words)
    place = {text: i for i, text in enumerate(strings)}
    return Profile(
        strings=strings,
        sample_types=sample_types,
        functions=function,
        locations=locations,
        mappings=(),
        stack_offsets=offsets,
        stack_locations=places,
        values=values,
        labels=_labels(labels, place),
        period_type=ValueType("trace", "count"),
        period=1,
    )


def _tables(
    trace: Trace, used: Column, words: Sequence[str]
) -> tuple[tuple[str, ...], Functions, Locations]:
    """Return strings (`words` among them), functions, and a location a used frame."""
    table = trace.stacks
    columns = [table.function[used], table.file[used]]
    first, function = unique_tuples(columns)
    found, group = grouped(np.concatenate([column[first] for column in columns]))
    texts = [trace.strings[i] for i in found.tolist()]
    strings = tuple(dict.fromkeys(("", *texts, *words)))
    place = {text: i for i, text in enumerate(strings)}
    name, file = np.array([place[t] for t in texts], np.int32)[group].reshape(2, -1)
    none = np.zeros(len(used), np.int64)
    locations = Locations(
        none.astype(np.uint64),
        np.full(len(used), -1, np.int32),
        np.zeros(len(used), np.bool_),
        np.arange(len(used) + 1),
        function.astype(np.int32),
        table.line[used],
        none,
    )
    lines = np.zeros(len(first), np.int64)
    return strings, Functions(name, name, file, lines), locations


def _used(frames: NDArray[np.int32], size: int) -> tuple[Column, NDArray[np.int32]]:
    """Return the frames that occur, by first use, and each one's place among them."""
    first = first_places(frames, size)
    found = np.flatnonzero(first >= 0)
    used = found[np.argsort(first[found])]
    place = np.zeros(size, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return used, place[frames]


def _labels(
    labels: Sequence[tuple[str, Sequence[str], Column]],
    place: dict[str, int],
) -> Labels:
    """Return all labels by sample, then in the order given."""
    if not labels:
        return Labels.none()
    texts = np.stack(
        [np.array([place[t] for t in words], np.int32)[at] for _, words, at in labels],
        axis=1,
    )
    keys = np.array([place[key] for key, _, _ in labels], np.int32)
    sample, which = np.nonzero(texts)
    zero = np.zeros(len(sample), np.int64)
    unit = zero.astype(np.int32)
    return Labels(
        sample.astype(np.int64), keys[which], texts[sample, which], zero, unit
    )


def taken(
    trace: Trace, stack: NDArray[np.integer]
) -> tuple[Offsets, NDArray[np.int32]]:
    """Return the frames of some stacks of a trace, as `profile_of` takes them."""
    return take_rows(trace.stacks.offsets, trace.stacks.frame, stack)


def told(trace: Trace) -> Column:
    """Return each stack's own number, 0 for one that tells nothing (int64).

    The runtime writes a frame without function, file and line where it cannot walk a
    stack; for ``go tool trace`` that is the same as no stack.
    """
    table = trace.stacks
    says = (table.function > 0) | (table.file > 0) | (table.line > 0)
    tells = count_in_row(says[table.frame], table.offsets) > 0
    return np.where(tells, np.arange(len(table)), 0)
