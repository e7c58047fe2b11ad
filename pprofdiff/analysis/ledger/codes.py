"""Codes of each sample: the functions at the end of its stack, and its category."""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.goruntime.classify import classify, compile_traits
from pprofdiff.goruntime.names import is_standard_library, package_of
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import Offsets, first_in_row

# Nearly all symbols of modules: the first element of the path is a host's name.
# Ranges, not \w, which takes twice as long.
_OF_MODULE = (
    r"(?!go\.|type\.)[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)+/"
    r"(?:[0-9A-Za-z_.-]+/)*+[0-9A-Za-z_-]+\."
)


class Ends(Struct, frozen=True, eq=False):
    """The functions at the end of each stack, one element per sample.

    Both columns (int32) are rows of the side's `SideRows`, -1 for none:

    - `leaf`, the innermost frame; of heap profiles, the innermost that is not the
      allocator's: stacks of the runtime alone begin with runtime.mallocgc;
    - `owner`, the innermost frame of the program's own code.
    """

    leaf: Index
    owner: Index


class Attribution(Ends, frozen=True, eq=False):
    """The attribution of each sample of a CPU profile, one element per sample.

    `category`, `rule` (int16) and `leaf_kind` (int8) index the tables of
    `goruntime.rules`. The others (int32) are functions like `leaf` and `owner`:

    - `payer`, the call site: the innermost frame outside the runtime;
    - `anchor`, the frame whose rule decided the category.
    """

    category: NDArray[np.int16]
    rule: NDArray[np.int16]
    leaf_kind: NDArray[np.int8]
    payer: Index
    anchor: Index


class Marker:
    """Finds the `Ends` of a side's stacks, as a `watch` of `graph.flat_and_cum`.

    `own` marks the program's own code among all functions of the side, `skipped` those
    that are no leaf unless a stack has no others.
    """

    def __init__(
        self, own: NDArray[np.bool_], skipped: NDArray[np.bool_] | None = None
    ) -> None:
        self._owned = own
        self._skipped = skipped
        self._parts: list[Ends] = []

    def __call__(self, offsets: Offsets, functions: NDArray[np.integer]) -> None:
        """Add a batch of stacks; `functions` are the frames' positions in `names`."""
        self._parts.append(self._marked(offsets, functions))

    def _marked(self, offsets: Offsets, functions: NDArray[np.integer]) -> Ends:
        filled = np.diff(offsets) > 0
        leaf = np.where(filled, offsets[:-1], -1)
        if self._skipped is not None:
            first = first_in_row(~self._skipped[functions], offsets)
            leaf = np.where(first >= 0, first, leaf)
        owner = first_in_row(self._owned[functions], offsets)
        return Ends(_function_at(leaf, functions), _function_at(owner, functions))

    def result(self) -> Ends:
        """Return the result for all stacks added, in their order."""
        if not self._parts:
            self(np.zeros(1, np.int64), np.zeros(0, np.int64))
        kind = type(self._parts[0])
        return kind(
            *(
                np.concatenate([getattr(part, name) for part in self._parts])
                for name in kind.__struct_fields__
            )
        )


class Classifier(Marker):
    """A `Marker` that also classifies the stacks: its result is an `Attribution`."""

    def __init__(self, own: NDArray[np.bool_], names: list[str]) -> None:
        super().__init__(own)
        self._traits = compile_traits(names)

    def _marked(self, offsets: Offsets, functions: NDArray[np.integer]) -> Attribution:
        ends = super()._marked(offsets, functions)
        classified = classify(self._traits, offsets, functions)
        return Attribution(
            ends.leaf,
            ends.owner,
            classified.category,
            classified.rule,
            classified.leaf_kind,
            _function_at(classified.payer, functions),
            _function_at(classified.anchor, functions),
        )


def allocator(names: list[str]) -> NDArray[np.bool_]:
    """Return a mask of the allocator's functions, such as bytealg.MakeNoZero."""
    tier = 1 + rules().tiers.index("allocation")
    found: NDArray[np.bool_] = compile_traits(names).code == tier
    return found


def owned(names: list[str]) -> NDArray[np.bool_]:
    """Return a mask of the functions in packages outside the standard library."""
    own = np.fromiter(map(re.compile(_OF_MODULE).match, names), np.bool_, len(names))
    for row in np.flatnonzero(~own).tolist():
        package = package_of(names[row])
        own[row] = bool(package) and not is_standard_library(package)
    return own


def _function_at(frames: Column, ids: NDArray[np.integer]) -> Index:
    """Return the function of each frame, -1 for frame -1."""
    if not len(ids):
        return np.full(len(frames), -1, np.int32)
    return np.where(frames < 0, -1, ids[frames]).astype(np.int32)
