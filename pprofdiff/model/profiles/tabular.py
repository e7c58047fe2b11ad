"""Profile columns as words, for people's tables: names of stacks and labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pprofdiff.model.profiles.profile import Profile

__all__ = ["label_columns", "stack_names"]

_UNKNOWN = "<unknown>"


def stack_names(profile: Profile) -> tuple[list[str], list[str]]:
    """Return each sample's stack (root first, joined with ``;``) and its leaf."""
    frames = profile.frames()
    names = np.array([*profile.function_names(), _UNKNOWN], object)
    words = names[profile.locations.line_function[frames.line]].tolist()
    bounds = frames.offsets.tolist()
    rows = [words[a:b] for a, b in pairwise(bounds)]
    stacks = [";".join(reversed(row)) for row in rows]
    return stacks, [row[0] if row else "" for row in rows]


def label_columns(profile: Profile) -> dict[str, list[str | None]]:
    """Return, by key, each sample's label as text, or None where it has none."""
    strings, labels = profile.strings, profile.labels
    columns: dict[str, list[str | None]] = {}
    for sample, key, text, number, unit in zip(
        labels.sample.tolist(),
        labels.key.tolist(),
        labels.text.tolist(),
        labels.number.tolist(),
        labels.unit.tolist(),
        strict=True,
    ):
        name = f"label:{strings[key]}"
        column = columns.setdefault(name, [None] * len(profile))
        word = strings[text] if text else f"{number}{strings[unit]}"
        held = column[sample]
        column[sample] = word if held is None else f"{held},{word}"
    return columns
