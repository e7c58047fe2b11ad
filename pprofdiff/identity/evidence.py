"""What a side's stacks show of each function: place, calls, body and weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from pprofdiff.model.arrays import Column, Mask, Table
from pprofdiff.model.csr import chunks, count_in_row, first_places, offsets_of, sums
from pprofdiff.model.numbering import numbered
from pprofdiff.model.profiles.profile import Profile

_KINDS = 5
CALLERS, CALLEES, ABOVE, BELOW, BODY = range(_KINDS)
"""The kinds of entries: see `Entries`."""

# Functions up to this many frames away count as above or below.
_FAR = 4
# Stack items processed at a time, so that temporaries take only a few megabytes.
_ITEMS_AT_ONCE = 1 << 17
# No file has this many lines: two line numbers fit into 64 bits.
_MOST_LINES = 1 << 31
# Bits of a short word.
_SHORT = 32
# Lines of a body, counted from the start of the function.
_LINES = 1 << 14


class Stacks(Protocol):
    """The stacks of a capture."""

    def functions(self) -> tuple[list[str], list[str], Column]:
        """Return name, source file and first line (0 if unknown) of each function."""

    def __len__(self) -> int:
        """Return the number of frames in all stacks, without inlined ones."""

    def total(self) -> int:
        """Return the weight of all stacks."""

    def frames(self, wanted: Mask) -> Iterator[tuple[Column, ...]]:
        """Yield (offsets, function, line, weight): leaf first, one weight per stack.

        Functions are positions in `functions()`, -1 for none; names may repeat there.
        `wanted` has a bool per position, and one for none: stacks without a wanted
        function may be left out.
        """


class _OfProfile:
    """The stacks of a profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def functions(self) -> tuple[list[str], list[str], Column]:
        strings, functions = self._profile.strings, self._profile.functions
        files = [strings[i] for i in functions.filename.tolist()]
        start = functions.start_line
        sound = (start > 0) & (start < _MOST_LINES)
        return self._profile.function_names(), files, np.where(sound, start, 0)

    def __len__(self) -> int:
        return len(self._profile.stack_locations)

    def total(self) -> int:
        return int(self._weights().sum())

    def frames(self, wanted: Mask) -> Iterator[tuple[Column, ...]]:
        profile, locations = self._profile, self._profile.locations
        weights = self._weights()
        some = wanted[locations.line_function]
        located = count_in_row(some, locations.line_offsets) > 0
        for start, stop in chunks(profile.stack_offsets, _ITEMS_AT_ONCE):
            offsets = profile.stack_offsets[start : stop + 1]
            places = profile.stack_locations[int(offsets[0]) : int(offsets[-1])]
            offsets = offsets - offsets[0]
            chosen = count_in_row(located[places], offsets) > 0
            depths = np.diff(offsets)
            frames = profile.frames_of(
                offsets_of(depths[chosen]), places[np.repeat(chosen, depths)]
            )
            yield (
                frames.offsets,
                locations.line_function[frames.line].astype(np.int64),
                locations.line_number[frames.line],
                weights[start:stop][chosen],
            )

    def _weights(self) -> Column:
        """Return how many samples each stack stands for, 1 if unknown."""
        types = [kind.type for kind in self._profile.sample_types]
        if "samples" in types:
            return np.abs(self._profile.values[:, types.index("samples")])
        return np.ones(len(self._profile), np.int64)


class Entries(Table, frozen=True, dict=True):
    """What the samples of functions show, one row per fact.

    `function` was sampled `weight` times with `other` in the relation `kind`. `other`
    is a function next to it (`CALLERS`, `CALLEES`) or up to four frames away (`ABOVE`,
    `BELOW`), or a line relative to its first (`BODY`).
    """

    function: Column
    kind: Column
    other: Column
    weight: Column


class Shown(NamedTuple):
    """What the samples show of some functions: their calls and lines.

    `samples`: number of samples that contain each (int64), 0 if it was not requested.
    """

    entries: Entries
    samples: Column


class SideEvidence:
    """The functions in one side's captures.

    `names`: the distinct symbols. `files`: the source file of each, `""` if unknown.
    `start`: the line on which each begins (int64), 0 if unknown.
    """

    def __init__(self, captures: Sequence[Profile | Stacks]) -> None:
        self._stacks: list[Stacks] = [
            _OfProfile(capture) if isinstance(capture, Profile) else capture
            for capture in captures
        ]
        functions = [stacks.functions() for stacks in self._stacks]
        self.rows, ids = numbered(*(names for names, _, _ in functions))
        self.names = list(self.rows)
        # The id after the last one means no function.
        self._ids = [np.append(own, len(self.rows)).astype(np.int64) for own in ids]
        none = np.zeros(0, np.int64)
        rows = np.concatenate([none, *ids])
        start = np.concatenate([none, *(starts for _, _, starts in functions)])
        first = first_places(rows, len(self.rows))
        # Prefer the file from an entry with a known line.
        lined = np.flatnonzero(start)
        known = first_places(rows[lined], len(self.rows))
        first[known >= 0] = lined[known[known >= 0]]
        self.start = start[first]
        files = list(chain.from_iterable(files for _, files, _ in functions))
        self.files = [files[i] for i in first.tolist()]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def file_names(self) -> list[str]:
        """The source file of each function, without its folder."""
        return [file.rpartition("/")[2] for file in self.files]

    @cached_property
    def total(self) -> int:
        """The number of samples."""
        return sum(stacks.total() for stacks in self._stacks)

    @property
    def frames(self) -> int:
        """The number of frames in the stacks, without inlined ones."""
        return sum(map(len, self._stacks))

    def shown(self, wanted: Mask) -> Shown:
        """Return what the samples show of the functions selected by a bool each."""
        wanted = np.append(wanted, False)
        samples = np.zeros(len(wanted), np.int64)
        # A key is a function's place among the wanted ones, a kind, and the other.
        rows, width = np.flatnonzero(wanted), max(len(wanted), _LINES)
        parts = [(samples[:0], samples[:0])]
        for offsets, function, line, weight in self._frames(wanted):
            at = np.flatnonzero(wanted[function])
            sample = np.repeat(np.arange(len(weight)), np.diff(offsets))[at]
            samples += _in_samples(function[at], sample, weight, len(wanted))
            row, begins, ends = function[at], offsets[sample], offsets[sample + 1]
            own = np.searchsorted(rows, row) * (_KINDS * width)
            for kind, step in _STEPS:
                inside = np.flatnonzero((at + step >= begins) & (at + step < ends))
                other = function[at[inside] + step]
                kept = (other != row[inside]) & (other < len(self))
                inside = inside[kept]
                key = own[inside] + (kind * width + other[kept])
                parts.append(_summed(key, weight[sample[inside]]))
            start = np.append(self.start, 0)[row]
            body = line[at] - start
            known = (start > 0) & (body >= 0) & (body < _LINES)
            key = own[known] + (BODY * width + body[known])
            parts.append(_summed(key, weight[sample[known]]))
        joined = [np.concatenate(one) for one in zip(*parts, strict=True)]
        parts.clear()
        key, worth = _summed(*joined)
        rest, other = np.divmod(key.astype(np.int64), width)
        entries = Entries(rows[rest // _KINDS], rest % _KINDS, other, worth)
        return Shown(entries, samples[:-1])

    def _frames(self, wanted: Mask) -> Iterator[tuple[Column, Column, Column, Column]]:
        for stacks, ids in zip(self._stacks, self._ids, strict=True):
            for offsets, function, line, weight in stacks.frames(wanted[ids]):
                yield offsets, ids[function], line, weight


_STEPS = (
    (CALLERS, 1),
    (CALLEES, -1),
    *((ABOVE, step) for step in range(2, _FAR + 1)),
    *((BELOW, -step) for step in range(2, _FAR + 1)),
)


def _in_samples(function: Column, sample: Column, weight: Column, size: int) -> Column:
    """Return the weight of the samples that contain each function, once per sample."""
    keys = np.sort(function * len(weight) + sample)
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return sums(keys // len(weight), weight[keys % len(weight)], size)


def _summed(key: Column, weight: Column) -> tuple[Column, Column]:
    """Return the distinct keys, sorted, and the sum of weights of each, not negative.

    Sorting key and weight in one word takes a quarter of the time of an argsort.
    """
    if not len(key):
        return key, weight
    bits = int(weight.max()).bit_length()
    most = int(key.max()).bit_length() + bits
    if most < np.iinfo(np.int64).bits:
        words = key.astype(np.int64)
        words <<= bits
        words |= weight
        words = words.astype(np.uint32) if most <= _SHORT else words
        words.sort()
        key, weight = words >> bits, words & ((1 << bits) - 1)
    else:
        order = np.argsort(key)
        key, weight = key[order], weight[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    return key[starts], np.add.reduceat(weight, starts, dtype=np.int64)
