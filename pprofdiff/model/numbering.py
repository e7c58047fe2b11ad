"""Number the distinct members of lists."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

T = TypeVar("T", bound="Hashable")


def numbered(*lists: Sequence[T]) -> tuple[dict[T, int], list[NDArray[np.int32]]]:
    """Return the number of each distinct member, and each list as numbers (int32).

    Numbers start at 0, in the order in which members first appear.
    """
    number: defaultdict[T, int] = defaultdict(count().__next__)
    numbers = [
        np.fromiter(map(number.__getitem__, one), np.int32, len(one)) for one in lists
    ]
    number.default_factory = None
    return number, numbers
