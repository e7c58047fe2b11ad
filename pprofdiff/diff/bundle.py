"""Whole sides: files paired by kind, each pair compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pprofdiff.diff.compare import ProfileDiff, compare
from pprofdiff.diff.kinds import is_heap, kind_name
from pprofdiff.diff.modelled import ModelledBlame, apportion_mark
from pprofdiff.diff.side import Run, side
from pprofdiff.diff.work import Work
from pprofdiff.errors import UsageError

__all__ = ["BundleDiff", "Evidence", "compare_bundles"]

# The order of the report: what a reader looks for first.
_ORDER = ("cpu", "allocs", "heap", "block", "mutex", "goroutine")


class Evidence(NamedTuple):
    """All the profiles of one side, under the word for it in tables."""

    label: str
    runs: tuple[Run, ...]


class BundleDiff(NamedTuple):
    """Every comparison that two sides allow.

    `profiles` come most telling first; `lonely` names the kinds that one side only
    has, as (kind, label of the side that has it).
    """

    base: Evidence
    new: Evidence
    profiles: tuple[ProfileDiff, ...]
    lonely: tuple[tuple[str, str], ...]
    modelled: ModelledBlame | None


def compare_bundles(
    base: Evidence,
    new: Evidence,
    *,
    sample_type: str | None = None,
    normalize: bool = False,
    work: Work | None = None,
) -> BundleDiff:
    """Pair the sides' profiles by kind and subtract each pair.

    One profile a side is a pair whatever its kind. Raises UsageError where nothing
    pairs.
    """
    pairs, lonely = _pairs(base, new)
    if not pairs:
        held = "; ".join(f"{label} has {kind}" for kind, label in lonely)
        raise UsageError(f"nothing to compare: {held or 'no profiles were given'}")
    diffs: list[ProfileDiff] = []
    refusals: list[UsageError] = []
    for old_runs, new_runs in pairs:
        old, fresh = side(base.label, old_runs), side(new.label, new_runs)
        try:
            first = compare(
                old, fresh, sample_type=sample_type, normalize=normalize, work=work
            )
        except UsageError as error:
            # One kind of several may lack the sample type that was asked for.
            refusals.append(error)
            continue
        diffs.append(first)
        objects = _objects_type(first) if sample_type is None else None
        if objects is not None:
            diffs.append(
                compare(old, fresh, sample_type=objects, normalize=normalize, work=work)
            )
    if not diffs:
        raise refusals[0]
    return BundleDiff(base, new, tuple(diffs), lonely, apportion_mark(diffs))


def _pairs(
    base: Evidence, new: Evidence
) -> tuple[list[tuple[list[Run], list[Run]]], tuple[tuple[str, str], ...]]:
    """Return (base runs, new runs) by kind, and the kinds of one side only."""
    if len(base.runs) == 1 and len(new.runs) == 1:
        return [(list(base.runs), list(new.runs))], ()
    held = [_by_kind(base.runs), _by_kind(new.runs)]
    kinds = sorted({*held[0], *held[1]}, key=_place)
    lonely = tuple(
        (kind, label)
        for kind in kinds
        for label, own, other in (
            (base.label, held[0], held[1]),
            (new.label, held[1], held[0]),
        )
        if kind in own and kind not in other
    )
    both = [kind for kind in kinds if kind in held[0] and kind in held[1]]
    return [(held[0][kind], held[1][kind]) for kind in both], lonely


def _place(kind: str) -> tuple[int, str]:
    """Return where a kind stands in the report."""
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind)


def _by_kind(runs: Sequence[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(kind_name(run.profile), []).append(run)
    return groups


def _objects_type(diff: ProfileDiff) -> str | None:
    """Return the sample type that counts the objects of these bytes, or None."""
    if not is_heap(diff.new.profile) or not diff.sample_type.type.endswith("_space"):
        return None
    objects = diff.sample_type.type.replace("_space", "_objects")
    held = [{t.type for t in s.profile.sample_types} for s in (diff.base, diff.new)]
    return objects if objects in held[0] & held[1] else None
