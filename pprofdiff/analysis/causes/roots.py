"""Functions that only one side has, outermost in their stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["OneSidedWork", "Root"]


class Root(NamedTuple):
    """A function that only one side has, outermost of these in its stacks.

    `parent` is its main caller, or the function that the caller is a part of on one
    side alone, -1 for none; `value` is the raw CPU time under it.
    """

    row: int
    parent: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class OneSidedWork:
    """Roots of one side (0: gone, 1: new), and which samples are under each.

    `passing` are roots that call code which ran without them: it does not count here.
    """

    side: int
    roots: tuple[Root, ...]
    root_of_sample: NDArray[np.int64]
    passing: frozenset[int] = frozenset()
