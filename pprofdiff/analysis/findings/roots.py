"""Functions that one side alone has, outermost in their stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["OneSidedWork", "Root"]


class Root(NamedTuple):
    """A function that is on one side only, and nothing above it in its stacks is.

    `parent` is the function that called it most, or that this is a part of on one side
    alone, -1 for none; `value` is the raw CPU time under it.
    """

    row: int
    parent: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class OneSidedWork:
    """Roots of one side (0: gone, 1: new), and which samples are under each.

    `passing` are roots that call what ran without them: that is not under them here.
    """

    side: int
    roots: tuple[Root, ...]
    root_of_sample: NDArray[np.int64]
    passing: frozenset[int] = frozenset()
