"""What each of a side's stacks is: its category, who pays, which rule decided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.goruntime.classify import FunctionTraits, classify, compile_traits
from pprofdiff.model.csr import Offsets

__all__ = ["Attribution", "Classifier"]

Column = NDArray[np.int64]
Index = NDArray[np.int32]


class Attribution(NamedTuple):
    """What each sample is, one element a sample.

    `category`, `rule` (int16) and `leaf_kind` (int8) are positions in the rules'
    tables; `payer` and `anchor` (int32) are functions (rows of the functions level),
    -1 for none: the frame of the user's code nearest the leaf, and the frame that
    decided.
    """

    category: NDArray[np.int16]
    rule: NDArray[np.int16]
    leaf_kind: NDArray[np.int8]
    payer: Index
    anchor: Index


class Classifier:
    """Classifies a side's stacks as they come by (see `graph.flat_and_cum`)."""

    def __init__(self, names: list[str]) -> None:
        self._traits = compile_traits(names)
        self._parts: list[Attribution] = []

    def __call__(self, offsets: Offsets, functions: NDArray[np.integer]) -> None:
        """Take in some stacks: the function, as a row of `names`, of each frame."""
        self._parts.append(_attributed(self._traits, offsets, functions))

    def result(self) -> Attribution:
        """Return the attribution of all stacks that came by, in their order."""
        if not self._parts:
            self(np.zeros(1, np.int64), np.zeros(0, np.int64))
        return Attribution(
            *(
                np.concatenate([getattr(part, field) for part in self._parts])
                for field in ("category", "rule", "leaf_kind", "payer", "anchor")
            )
        )


def _attributed(
    traits: FunctionTraits, offsets: Offsets, ids: NDArray[np.integer]
) -> Attribution:
    """Classify one chunk of stacks."""
    classes = classify(traits, offsets, ids)
    return Attribution(
        classes.category,
        classes.rule,
        classes.leaf_kind,
        _function_at(classes.payer, ids),
        _function_at(classes.anchor, ids),
    )


def _function_at(frames: Column, ids: NDArray[np.integer]) -> Index:
    """Return the function of each frame, -1 for frame -1."""
    return np.where(frames < 0, -1, np.append(ids, -1)[frames]).astype(np.int32)
