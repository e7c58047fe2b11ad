"""Profiles of one run's units of work, merged into one profile per kind and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.times import allocated_by_benchmark
from pprofdiff.analysis.ledger.units import REST, UnitOfWork
from pprofdiff.analysis.policy import LITTLE
from pprofdiff.analysis.side import measure
from pprofdiff.errors import IncompatibleProfilesError
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.profile import (
    Labels,
    Operations,
    Profile,
    operations_of,
    with_operations,
)
from pprofdiff.model.side import Capture, Side

LABEL = "benchmark"
"""The sample label that names one of several benchmarks."""

# The kind of profile whose operations define the mix that others are scaled to.
_MIX = "cpu"

_Captures = Sequence[Capture[Profile]]


def operations_by_unit(side: Side) -> Mapping[str, int]:
    """Return the operations that the CPU profiles of all runs cover, by name.

    Empty if a unit's profile does not state them.
    """
    sums: dict[str, int] = {}
    for _, done in _of_units(side):
        if done is None:
            return {}
        sums[done.name] = sums.get(done.name, 0) + done.number
    return sums


def _of_units(side: Side) -> Iterator[tuple[str, Operations | None]]:
    """Yield the unit of each CPU profile that has one, and its operations."""
    for capture in side.of("profile"):
        if capture.unit not in ("", REST) and measure(capture) == _MIX:
            yield capture.unit, operations_of(capture.content)


def in_one_mix(base: Side, new: Side) -> tuple[UnitOfWork, ...]:
    """Return units with profiles of their own, with the operations to scale them to.

    Empty if both sides ran the same mix: new each unit the same multiple of base's.
    """
    sides = [_operations(side) for side in (base, new)]
    if set(sides[0]) != set(sides[1]) or len(sides[0]) <= 1:
        return ()
    multiples = [sides[1][unit] / sides[0][unit] for unit in sides[0]]
    if max(multiples) <= (1 + LITTLE) * min(multiples):
        return ()
    return tuple(
        UnitOfWork(unit, (), (), min(number, sides[1][unit]))
        for unit, number in sides[0].items()
    )


def _operations(side: Side) -> dict[str, int]:
    """Return the operations of each unit's CPU profiles of all runs, {} if unknown."""
    sums: dict[str, int] = {}
    for unit, done in _of_units(side):
        sums[unit] = sums.get(unit, 0) + (0 if done is None else done.number)
    return sums if all(sums.values()) else {}


def added_up(side: Side, units: Sequence[UnitOfWork] = ()) -> Side:
    """Return the side with its units' profiles merged by kind and run.

    An allocs profile that covers other operations than its unit's CPU profiles is
    scaled to theirs. With `units`, all profiles are scaled to the common mix of both
    sides. The merged profile covers the operations of its parts, and each sample is
    labelled with its benchmark. Raises IncompatibleProfilesError.
    """
    if not any(capture.unit for capture in side.captures):
        return side
    if units:
        side = _in_one_mix(side, units)
    mix = operations_by_unit(side)
    groups: dict[tuple[str, int], list[Capture[Profile]]] = {}
    captures = []
    for capture in side.captures:
        if capture.kind == "profile" and capture.unit:
            groups.setdefault((measure(capture), capture.run), []).append(capture)
        else:
            captures.append(capture)
    sums = [_sum(kind, group, mix) for (kind, _), group in groups.items()]
    return replace(side, captures=(*captures, *sums))


def _in_one_mix(side: Side, units: Sequence[UnitOfWork]) -> Side:
    """Return the side with each unit's profiles scaled to its operations in the mix.

    The mix has the smaller count of both sides, so samples hardly ever count for more
    than the noise model assumes. Samples outside the units scale with what the units
    allocate, or else with what they cost.
    """
    mix = {unit.name: unit.operations for unit in units}
    parts = [c for c in side.of("profile") if c.unit]
    done: dict[str, list[int]] = {name: [] for name in mix}
    for part in parts:
        if part.unit in mix and (known := operations_of(part.content)) is not None:
            done[part.unit].append(known.number)
    # Sides that ran the same mix more or less often are not scaled.
    times = min(
        sum(counts) / len(counts) / mix[name] for name, counts in done.items() if counts
    )
    space = _space_by_unit(side, units)
    captures: list[Capture[Any]] = [c for c in side.captures if not c.unit]
    by_run: dict[tuple[str, int], list[Capture[Profile]]] = {}
    for part in parts:
        by_run.setdefault((measure(part), part.run), []).append(part)
    for own in by_run.values():
        # A benchmark that only one side has is in no common mix.
        kept = [part for part in own if part.unit in mix or part.unit == REST]
        factors = {
            part.unit: times * mix.get(part.unit, 0.0) / count
            if (count := _count(part))
            else 0.0
            for part in kept
        }
        weights = {
            part.unit: space.get(part.unit, 0.0) * _count(part)
            if space
            else float(np.abs(part.content.values[:, -1]).sum())
            for part in kept
            if part.unit in mix
        }
        whole = sum(weights.values())
        rest = sum(factors[name] * weight for name, weight in weights.items())
        factors[REST] = rest / whole if whole else 1.0
        for part in kept:
            profile = _scaled(part.content, factors[part.unit])
            if part.unit in mix:
                number = max(round(times * mix[part.unit]), 1)
                profile = with_operations(profile, Operations(number, part.unit))
            captures.append(replace(part, content=profile))
    return replace(side, captures=tuple(captures))


def _count(part: Capture[Profile]) -> int:
    known = operations_of(part.content)
    return 0 if known is None else known.number


def _space_by_unit(side: Side, units: Sequence[UnitOfWork]) -> dict[str, float]:
    """Return bytes per op of each unit; empty if unknown."""
    by_benchmark = allocated_by_benchmark(side)["B/op"]
    space = {}
    for unit in units:
        values = [v for key in unit.benchmarks for v in by_benchmark.get(key, ())]
        if not values:
            return {}
        space[unit.name] = sum(values) / len(values)
    return space if any(space.values()) else {}


def _sum(kind: str, group: _Captures, mix: Mapping[str, int]) -> Capture[Profile]:
    """Return one capture that merges a kind's units in one run."""
    parts = [capture.content for capture in group]
    counted = [c.content for c in group if c.unit != REST]
    known = [done for part in counted if (done := operations_of(part)) is not None]
    counts = [done.number for done in known]
    if kind != _MIX and len(parts) > 1 and len(known) == len(parts):
        wanted = [mix.get(done.name, done.number) for done in known]
        factors = (want / own for want, own in zip(wanted, counts, strict=True))
        parts = [_scaled(part, by) for part, by in zip(parts, factors, strict=True)]
        counts = wanted
    if len(parts) > 1:
        names = (_benchmark(capture) for capture in group)
        parts = [
            _with_label(part, LABEL, name) if name else part
            for part, name in zip(parts, names, strict=True)
        ]
    try:
        whole = merge(parts)
    except IncompatibleProfilesError as error:
        paths = ", ".join(capture.path for capture in group)
        raise IncompatibleProfilesError(f"{paths}: {error}") from error
    if known and len(known) == len(counted):
        whole = with_operations(whole, Operations(sum(counts)))
    first = group[0]
    folder, _, name = first.path.rpartition("/")
    one = all(capture.path == first.path for capture in group)
    if one:
        # Parts of one profile share its duration.
        whole = replace(whole, duration_ns=first.content.duration_ns)
    path = first.path if one else f"{folder.rpartition('/')[0]}/*/{name}"
    return replace(first, path=path, content=whole, unit="")


def _benchmark(capture: Capture[Profile]) -> str:
    """Return the name of a unit's benchmark without its package."""
    if capture.unit == REST:
        return ""
    known = operations_of(capture.content)
    name = capture.unit if known is None or not known.name else known.name
    return name.rpartition(" ")[2]


def _scaled(profile: Profile, factor: float) -> Profile:
    return profile.with_values(np.rint(profile.values * factor).astype(np.int64))


def _with_label(profile: Profile, key: str, value: str) -> Profile:
    labels, strings, size = profile.labels, profile.strings, len(profile)
    sample = np.append(labels.sample, np.arange(size))
    order = np.argsort(sample, kind="stable")

    def column(name: str, number: int) -> np.ndarray:
        own = getattr(labels, name)
        added = np.full(size, number, own.dtype)
        return np.append(own, added)[order]

    return replace(
        profile,
        strings=(*strings, key, value),
        labels=Labels(
            sample[order],
            column("key", len(strings)),
            column("text", len(strings) + 1),
            column("number", 0),
            column("unit", 0),
        ),
    )
