"""What each of a side's stacks is: its category, who pays, which rule decided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.goruntime.classify import classify, compile_traits
from pprofdiff.goruntime.names import is_standard_library, package_of
from pprofdiff.model.csr import Offsets, first_in_row

__all__ = ["Attribution", "Classifier", "owned"]

Column = NDArray[np.int64]
Index = NDArray[np.int32]


class Attribution(NamedTuple):
    """What each sample is, one element a sample.

    `category`, `rule` (int16) and `leaf_kind` (int8) are positions in the rules'
    tables; `payer`, `owner` and `anchor` (int32) are functions (rows of the functions
    level), -1 for none: the frame of the user's code nearest the leaf, the nearest one
    that is not of the standard library, and the frame that decided.
    """

    category: NDArray[np.int16]
    rule: NDArray[np.int16]
    leaf_kind: NDArray[np.int8]
    payer: Index
    owner: Index
    anchor: Index


class Classifier:
    """Classifies a side's stacks as they come by (see `graph.flat_and_cum`)."""

    def __init__(self, names: list[str]) -> None:
        self._traits = compile_traits(names)
        self._owned = owned(names)
        self._parts: list[Attribution] = []

    def __call__(self, offsets: Offsets, functions: NDArray[np.integer]) -> None:
        """Take in some stacks: the function, as a row of `names`, of each frame."""
        classes = classify(self._traits, offsets, functions)
        owner = first_in_row(self._owned[functions], offsets)
        self._parts.append(
            Attribution(
                classes.category,
                classes.rule,
                classes.leaf_kind,
                _function_at(classes.payer, functions),
                _function_at(owner, functions),
                _function_at(classes.anchor, functions),
            )
        )

    def result(self) -> Attribution:
        """Return the attribution of all stacks that came by, in their order."""
        if not self._parts:
            self(np.zeros(1, np.int64), np.zeros(0, np.int64))
        return Attribution(
            *(
                np.concatenate([getattr(part, field) for part in self._parts])
                for field in Attribution._fields
            )
        )


def owned(names: list[str]) -> NDArray[np.bool_]:
    """Return which functions are the program's own, or of its modules (bool)."""
    packages = [package_of(name) for name in names]
    own = {p: bool(p) and not is_standard_library(p) for p in set(packages)}
    return np.array([own[package] for package in packages], np.bool_)


def _function_at(frames: Column, ids: NDArray[np.integer]) -> Index:
    """Return the function of each frame, -1 for frame -1."""
    return np.where(frames < 0, -1, np.append(ids, -1)[frames]).astype(np.int32)
