"""Profiles at about equal work, where nothing counts how much either side did.

Unchanged code shows by how much new's values are larger only because new did more, or
ran on a slower machine (`control.estimate`). New is divided by that, so unchanged code
has no delta. Base keeps the values that pprof shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.analysis.control.estimate import Control, control, keep_control
from pprofdiff.analysis.judge.scaling import InferredWork, Normalization
from pprofdiff.analysis.profiles.caveats import releases_apart
from pprofdiff.analysis.profiles.diff import ProfileDiff, of_type
from pprofdiff.analysis.profiles.kinds import is_counted, is_heap, kind_name
from pprofdiff.analysis.side import counted_seconds
from pprofdiff.model.side import Side
from pprofdiff.units import clipped, times

_SITES = "call sites of both builds allocate {} as often"


def at_about_equal_work(
    profiles: Sequence[ProfileDiff], base: Side, new: Side
) -> tuple[ProfileDiff, ...]:
    """Return profiles with new scaled to about base's work, instead of as shares.

    Profiles whose unchanged code shows too little stay as they are.
    """
    scaled: dict[int, Normalization] = {}
    compared = []
    for diff in profiles:
        if diff.name in ("block", "mutex") and diff.normalization.mode == "absolute":
            # Allocation and wait profiles both count since process start
            # (runtime/pprof).
            sites = _shared_sites(profiles)
            if sites is not None:
                diff = diff.scaled_by(_about(sites.work, _SITES, diff))  # noqa: PLW2901
            compared.append(diff)
            continue
        if diff.normalization.mode != "composition":
            compared.append(diff)
            continue
        # Objects are scaled like the bytes of their profile, which come first.
        profile = id(diff.new.profile)
        by = scaled.get(profile) or _normalization(diff, profiles, base, new)
        if by is None:
            compared.append(diff)
            continue
        scaled[profile] = by
        compared.append(keep_control(diff, diff.scaled_by(by)))
    return tuple(compared)


def _normalization(
    diff: ProfileDiff, profiles: Sequence[ProfileDiff], base: Side, new: Side
) -> Normalization | None:
    """Return the scaling to base's work; None if nothing shows it well."""
    found = control(diff)
    if found is not None and found.shows_work:
        work = found.work
        why = f"unchanged code {_takes(diff)}"
    else:
        by_sites = by_call_sites(diff, profiles, base, new)
        if by_sites is None:
            return None
        work, why = by_sites, _SITES
    return _about(work, why, diff)


def _takes(diff: ProfileDiff) -> str:
    """Return what code has more of, with a placeholder for the ratio."""
    profile = diff.new.profile
    if is_heap(profile):
        return "allocates {} as much"
    if is_counted(profile):
        return f"has {{}} the {kind_name(profile)}"
    return "takes {} the CPU" if diff.is_cpu else "takes {} the time"


def _about(work: InferredWork, why: str, diff: ProfileDiff) -> Normalization:
    """Return the scaling to base's work; `why` has a placeholder for its ratio."""
    name, low = clipped(diff.new.label), times(work.low).removesuffix("×")
    text = f"{why.format(times(work.ratio))} in {name}"
    reason = f"{text}, 95% CI {low} to {times(work.high)}"
    return Normalization("about", 1.0, 1 / work.ratio, reason, work)


def shows_work(diff: ProfileDiff) -> bool:
    """Return whether unchanged code of this profile alone shows how much was done."""
    found = control(diff)
    return found is not None and found.shows_work


def by_call_sites(
    cpu: ProfileDiff, profiles: Sequence[ProfileDiff], base: Side, new: Side
) -> InferredWork | None:
    """Return the work during CPU profiles, as call sites of both builds show it.

    They allocate as often as operations are done, counted since process start; GC logs
    show how long that is. None without either.
    """
    shared = _shared_sites(profiles)
    ages = counted_seconds(base), counted_seconds(new)
    spans = cpu.spans_ns
    if shared is None or not cpu.is_cpu or not all((*ages, *spans)):
        return None
    base_s, new_s = (
        span / 1e9 / age for span, age in zip(spans, ages, strict=True) if span and age
    )
    return shared.work.times(new_s / base_s)


def _shared_sites(profiles: Sequence[ProfileDiff]) -> Control | None:
    """Return how often call sites of both builds allocate; None if it is not work.

    Another Go release may allocate differently.
    """
    allocs = of_type(profiles, "alloc_space")
    if allocs is None or releases_apart(allocs.base, allocs.new):
        return None
    shared = control(allocs)
    return shared if shared is not None and shared.of_work else None
