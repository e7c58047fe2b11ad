"""What each sample of a CPU profile is: its category, its call site, the rule."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pprofdiff.goruntime.classify import classify, compile_traits
from pprofdiff.goruntime.names import is_standard_library, package_of
from pprofdiff.model.csr import Offsets, first_in_row

__all__ = ["Attribution", "Classifier", "owned"]

Column = NDArray[np.int64]
Index = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attribution:
    """What each sample is, one element a sample.

    `category`, `rule` (int16) and `leaf_kind` (int8) are positions in the tables of
    `goruntime.rules`. The others (int32) are functions, as rows of the side's
    `SideRows`, -1 for none:

    - `payer`, the call site: the frame nearest the leaf that is no runtime function;
    - `owner`, the frame nearest the leaf that is not of the standard library;
    - `anchor`, the frame by whose rule the category was decided.
    """

    category: NDArray[np.int16]
    rule: NDArray[np.int16]
    leaf_kind: NDArray[np.int8]
    payer: Index
    owner: Index
    anchor: Index


class Classifier:
    """Classifies a side's stacks, some at a time (a `watch` of `graph.flat_and_cum`).

    `names` are those of all functions of the side.
    """

    def __init__(self, names: list[str]) -> None:
        self._traits = compile_traits(names)
        self._owned = owned(names)
        self._parts: list[Attribution] = []

    def __call__(self, offsets: Offsets, functions: NDArray[np.integer]) -> None:
        """Classify some stacks; `functions` are the frames' positions in `names`."""
        classified = classify(self._traits, offsets, functions)
        owner = first_in_row(self._owned[functions], offsets)
        self._parts.append(
            Attribution(
                classified.category,
                classified.rule,
                classified.leaf_kind,
                _function_at(classified.payer, functions),
                _function_at(owner, functions),
                _function_at(classified.anchor, functions),
            )
        )

    def result(self) -> Attribution:
        """Return the attribution of all stacks that were given, in their order."""
        if not self._parts:
            self(np.zeros(1, np.int64), np.zeros(0, np.int64))
        return Attribution(
            *(
                np.concatenate([getattr(part, field.name) for part in self._parts])
                for field in fields(Attribution)
            )
        )


def owned(names: list[str]) -> NDArray[np.bool_]:
    """Return which functions have a package that is not of the standard library."""
    packages = [package_of(name) for name in names]
    own = {p: bool(p) and not is_standard_library(p) for p in set(packages)}
    return np.array([own[package] for package in packages], np.bool_)


def _function_at(frames: Column, ids: NDArray[np.integer]) -> Index:
    """Return the function of each frame, -1 for frame -1."""
    return np.where(frames < 0, -1, np.append(ids, -1)[frames]).astype(np.int32)
