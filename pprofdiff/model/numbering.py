"""Number the distinct members of lists."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pprofdiff.model.arrays import Index

T = TypeVar("T", bound="Hashable")

# If so many at the start of a list differ, all of them may.
_FEW = 64


def numbered(*lists: Sequence[T]) -> tuple[dict[T, int], list[Index]]:
    """Return the number of each distinct member, and each list as numbers (int32).

    Numbers start at 0, in the order in which members first appear.
    """
    number: defaultdict[T, int] = defaultdict(None)
    numbers = []
    for one in lists:
        if not number and len(set(one[:_FEW])) == len(one[:_FEW]):
            number.update(zip(one, range(len(one)), strict=True))
            if len(number) == len(one):
                # All differ: no need to look them up.
                numbers.append(np.arange(len(one), dtype=np.int32))
                continue
            number.clear()
        number.default_factory = count(len(number)).__next__
        numbers.append(np.fromiter(map(number.__getitem__, one), np.int32, len(one)))
    number.default_factory = None
    return number, numbers
