"""Picks one of several compared profiles."""

from __future__ import annotations

from collections.abc import Iterable

from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["cpu_of", "of_type"]


def cpu_of(diffs: Iterable[ProfileDiff]) -> ProfileDiff | None:
    """Return the CPU profile comparison; None unless both sides have samples."""
    return next((d for d in diffs if d.is_cpu and min(d.totals) > 0), None)


def of_type(diffs: Iterable[ProfileDiff], sample_type: str) -> ProfileDiff | None:
    """Return the comparison of a sample type, such as ``alloc_space``, or None."""
    return next((d for d in diffs if d.sample_type.type == sample_type), None)
