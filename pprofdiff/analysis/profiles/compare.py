"""Pairs the profiles of two sides by kind and subtracts each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.judge.run_spread import Pairs
from pprofdiff.analysis.judge.totals import all_paired
from pprofdiff.analysis.profiles.diff import ProfileDiff, compare
from pprofdiff.analysis.profiles.kinds import UNKNOWN_WAITS, is_heap, kind_name
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import Work
from pprofdiff.errors import UsageError
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side
from pprofdiff.parallel import both

# Report order: what readers look for first.
_ORDER = (
    "cpu", "wall", "samples", "weight", "allocs", "heap", "block", "mutex",
    "sync", "sched", "net", "syscall", "goroutineleak", "goroutine",
)  # fmt: skip

_Profiles = tuple[Capture[Profile], ...]


def place_in_report(name: str) -> tuple[int, str]:
    """Return the sort key of a profile name in report order."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def compare_sides(
    base: Side, new: Side, settings: Settings
) -> tuple[ProfileDiff, ...] | None:
    """Subtract each pair of profiles, in report order; None if nothing pairs up.

    A single profile on each side is a pair whatever it measures. For allocations,
    objects follow bytes. Raises UsageError if no pair has the sample type of
    `settings`, IncompatibleProfilesError if the sides do not measure the same thing.
    """
    diffs: list[ProfileDiff] = []
    refusals: list[UsageError] = []
    for old, current in _pairs(base.of("profile"), new.of("profile")):
        pairs = None
        if settings.same_hosts:
            pairs = Pairs.of(*([one.run for one in runs] for runs in (old, current)))
        subtract = partial(
            compare,
            *both(
                lambda one: side(*one),
                (base.label, old),
                (new.label, current),
                size=sum(len(run.content.stack_locations) for run in (*old, *current)),
            ),
            normalize=settings.normalize,
            work=settings.work,
            identity=settings.identity,
            of_fleets=base.fleet is not None and new.fleet is not None,
            in_turns=all_paired(old, current, settings.pairs),
            pairs=pairs,
        )
        try:
            first = subtract(sample_type=settings.sample_type)
        except UsageError as error:
            # One of several profiles may lack the requested sample type.
            refusals.append(error)
            continue
        diffs.append(first)
        objects = _objects_type(first) if settings.sample_type is None else None
        if objects is not None:
            counted = subtract(sample_type=objects)
            diffs.append(_as_bytes_are(counted, first, settings.work))
    if refusals and not diffs:
        raise refusals[0]
    return tuple(diffs) or None


def _as_bytes_are(
    objects: ProfileDiff, space: ProfileDiff, work: Work | None
) -> ProfileDiff:
    """Return a diff of objects, normalized like the diff of their bytes.

    If benchmarks report allocs/op, the objects are scaled to add up to that: profiles
    may have fewer, as the tiny allocator (runtime/malloc.go) packs small objects into
    one block.
    """
    by, totals = space.normalization, objects.totals
    if by.mode == objects.normalization.mode or min(totals) <= 0:
        return objects
    counted = None if work is None else work.of(objects.sample_type.type).holds
    if by.mode == "composition":
        by = by.of_shares(totals)._replace(reason=by.reason)
    elif by.mode == "per_work" and counted is not None and min(counted) > 0:
        by = by._replace(
            base_factor=counted[0] / totals[0], new_factor=counted[1] / totals[1]
        )
    return replace(objects, normalization=by, warnings=space.warnings)


def caveats(
    _base: Side, _new: Side, result: Sequence[ProfileDiff] | None
) -> Iterator[Caveat]:
    """Yield the caveats of all pairs of profiles."""
    for diff in result or ():
        yield from diff.warnings


def _pairs(base: _Profiles, new: _Profiles) -> list[tuple[_Profiles, _Profiles]]:
    """Return (base, new) captures of the same kind, in report order.

    Waits of unknown kind are a pair with the only others that are left.
    """
    if len(base) == len(new) == 1:
        return [(base, new)]
    old, current = _by_name(base), _by_name(new)
    left, right = [*(old.keys() - current)], [*(current.keys() - old)]
    if len(left) == len(right) == 1 and UNKNOWN_WAITS in (*left, *right):
        old[right[0]] = old.pop(left[0])
    names = sorted({*old} & {*current}, key=place_in_report)
    return [(old[name], current[name]) for name in names]


def _by_name(captures: _Profiles) -> dict[str, _Profiles]:
    groups: dict[str, _Profiles] = {}
    for capture in captures:
        name = kind_name(capture.content)
        groups[name] = (*groups.get(name, ()), capture)
    return groups


def _objects_type(diff: ProfileDiff) -> str | None:
    """Return the sample type that counts the objects of these bytes, or None.

    Java's ``alloc_in_new_tlab_bytes`` has ``alloc_in_new_tlab_objects``.
    """
    space = diff.sample_type.type
    if not is_heap(diff.new.profile) or not space.endswith(("_space", "_bytes")):
        return None
    objects = f"{space.rpartition('_')[0]}_objects"
    types = [{t.type for t in s.profile.sample_types} for s in (diff.base, diff.new)]
    return objects if objects in types[0] & types[1] else None
