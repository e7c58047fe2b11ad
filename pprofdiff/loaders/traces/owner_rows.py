"""Columns whose rows are grouped by owner (a goroutine or P)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.arrays import Column, Index, Integers, Mask

T = TypeVar("T", bound=np.generic)


def first_of_each(owner: Integers) -> Mask:
    """Mark each row (bool) whose owner differs from the row before."""
    first = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=first[1:])
    return first


def counts_of_each(owner: Index) -> tuple[Index, Column]:
    """Return the owners in order, and the number of consecutive rows of each."""
    first = np.flatnonzero(first_of_each(owner))
    return owner[first], np.diff(first, append=len(owner))


def shifted(column: NDArray[T]) -> NDArray[T]:
    """Return the column shifted down by one row; the first value is zero."""
    before = np.zeros_like(column)
    before[1:] = column[:-1]
    return before


def values_before(after: NDArray[T], first: Column, start: NDArray[T]) -> NDArray[T]:
    """Return the value before each row; `start` has those before rows `first`."""
    before = shifted(after)
    before[first] = start
    return before
