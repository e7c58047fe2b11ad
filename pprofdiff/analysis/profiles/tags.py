"""Filters samples by label: ``key=value`` patterns and ranges of numbers."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.errors import UsageError
from pprofdiff.model.csr import unique_tuples
from pprofdiff.units import scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pprofdiff.analysis.profiles.regexp import Matches
    from pprofdiff.model.profiles.profile import Labels, Profile

    Test = Callable[[Profile], NDArray[np.bool_]]
    InRange = Callable[[int, str], bool]

__all__ = ["number_units", "tag_test"]

_NUMBER = re.compile(r"([+-]?[0-9]+)([A-Za-z]+)?")
_BYTES = ("alignment", "request")


def number_units(profile: Profile) -> dict[str, str]:
    """Return the unit of each numeric label key: the first that a sample gives.

    A key without a unit counts bytes if it is ``alignment`` or ``request``; otherwise
    its own name is its unit.
    """
    labels, strings = profile.labels, profile.strings
    rows = np.flatnonzero(_numeric(labels))
    units: dict[str, str] = {}
    keys = {strings[i] for i in np.unique(labels.key[rows]).tolist()}
    rows = rows[labels.unit[rows] != 0]
    first, _ = unique_tuples((labels.key[rows], labels.unit[rows]))
    for row in rows[first].tolist():
        if unit := strings[labels.unit[row]]:
            units.setdefault(strings[labels.key[row]], unit)
    for key in keys - set(units):
        units[key] = "bytes" if key in _BYTES else key
    return units


def tag_test(option: str, value: str, units: dict[str, str], notes: list[str]) -> Test:
    """Return the test for a ``-tagfocus`` or ``-tagignore`` option.

    The test takes a profile and returns which of its samples pass (bool).

    Parameters
    ----------
    option
        The name of the filter in errors and notes.
    value
        What to look for, after ``KEY=`` to restrict it to labels of one key. A range of
        numbers such as ``32kb``, ``:64kb``, ``4mb:`` or ``12kb:64mb`` applies to
        numeric labels. Anything else is comma-separated regular expressions for text
        labels: all of them must match ``KEY:VALUE`` or, with a key, any of them the
        value.
    units
        The unit of each key's numbers; see `number_units`.
    notes
        Gets a line if `value` is read as a range.

    Raises
    ------
    UsageError
        A pattern is invalid, or a number does not fit in 64 bits.

    """
    wanted, separator, rest = value.partition("=")
    key, spelled = (wanted, rest) if separator else (None, value)
    in_range = _range(option, spelled)
    if in_range is not None:
        notes.append(f"{option}={value} is a range of numbers, not a pattern")
        return partial(_has_number, key=key, in_range=in_range, units=units)
    patterns = [matcher(pattern, option) for pattern in spelled.split(",")]
    return partial(_has_texts, key=key, patterns=patterns)


def _has_texts(
    profile: Profile, *, key: str | None, patterns: list[Matches]
) -> NDArray[np.bool_]:
    """Return which samples have text labels that match the patterns."""
    strings, labels = profile.strings, profile.labels

    def holds(row: int, matches: Matches) -> bool:
        name, text = strings[labels.key[row]], strings[labels.text[row]]
        if key is None:
            return matches(f"{name}:{text}")
        return name == key and matches(text)

    rows = np.flatnonzero(labels.text != 0)
    marks = [
        _marked(profile, rows, labels.text, partial(holds, matches=matches))
        for matches in patterns
    ]
    combine = np.logical_and if key is None else np.logical_or
    combined: NDArray[np.bool_] = combine.reduce(marks, axis=0)
    return combined


def _has_number(
    profile: Profile, *, key: str | None, in_range: InRange, units: dict[str, str]
) -> NDArray[np.bool_]:
    """Return which samples have a number in range, under `key` if given."""
    strings, labels = profile.strings, profile.labels

    def holds(row: int) -> bool:
        name = strings[labels.key[row]]
        known = key is None or name == key
        return known and in_range(int(labels.number[row]), units.get(name, ""))

    rows = np.flatnonzero(_numeric(labels))
    return _marked(profile, rows, labels.number, holds)


def _numeric(labels: Labels) -> NDArray[np.bool_]:
    """Return which labels are numeric; those without any value are not."""
    valued = (labels.number != 0) | (labels.unit != 0)
    numeric: NDArray[np.bool_] = valued & (labels.text == 0)
    return numeric


def _marked(
    profile: Profile,
    rows: NDArray[np.int64],
    column: NDArray[np.int64] | NDArray[np.int32],
    holds: Callable[[int], bool],
) -> NDArray[np.bool_]:
    """Return which samples have a label that holds, testing equal labels once."""
    labels = profile.labels
    first, group = unique_tuples((labels.key[rows], column[rows]))
    holding = np.array([holds(row) for row in rows[first].tolist()], np.bool_)
    marked = np.zeros(len(profile), np.bool_)
    marked[labels.sample[rows[holding[group]]]] = True
    return marked


def _range(option: str, text: str) -> InRange | None:
    """Return the test for a range of numbers; None if the text is not a range."""
    numbers = list(_NUMBER.finditer(text))[:2]
    if not numbers:
        return None
    first, last = numbers[0], numbers[-1]
    if any(not -(1 << 63) <= int(m[1]) < 1 << 63 for m in numbers):
        raise UsageError(f"{option}: {text!r} is out of the range of 64-bit numbers")
    low, unit = scale(int(first[1]), first[2] or "", first[2] or "")
    high = low
    if len(numbers) == 2:
        high, other = scale(int(last[1]), last[2] or "", unit)
        if text != f"{first[0]}:{last[0]}" or unit != other:
            return None
    elif text == f"{first[0]}:":
        high = math.inf
    elif text == f":{first[0]}":
        low = -math.inf
    elif text != first[0]:
        return None

    def in_range(value: int, its_unit: str) -> bool:
        number, name = scale(value, its_unit, unit)
        return name == unit and low <= number <= high

    return in_range
