"""Profiles that one process wrote, one after the other: one run, not several.

Continuous profilers upload a profile every few seconds. Windows are added up; of
profiles that count since process start, the latest has everything. Heap profiles of
some agents (dd-trace-go, Pyroscope's godeltaprof) count since the last one: counts are
added up, in-use values are the latest's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.profiles.kinds import is_snapshot, kind_name
from pprofdiff.model.profiles.merge import merge, merge_apart
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side

# Without address space randomization, as under a debugger, Linux maps the vDSO at the
# end of the mmap area or next to the stack: at the same address in each process.
_NOT_RANDOM = 0x7FFFF7F00000
# A window's start and its length are read one after the other: libdatadog's windows
# overlap by 0.1 ms.
_READ_NS = 1_000_000

# By time and kind.
_Windows = defaultdict[tuple[int, str], list[Capture[Profile]]]


def joined(side: Side) -> Side:
    """Return the side with the profiles of one process and kind as one capture.

    The kernel maps the vDSO at a different address in each process, and Go lists it
    (runtime/pprof, readMapping); libdatadog labels samples with thread ids. Without
    either, windows that adjoin to the nanosecond are of one process, as from
    Pyroscope's Rust agents. Otherwise profiles stay apart, and so do overlapping
    windows, as from forked processes.
    """
    groups: defaultdict[object, list[Capture[Profile]]] = defaultdict(list)
    given = () if side.fleet else side.of("profile")
    adjoining = _adjoining(given)
    for capture in given:
        process = _process(capture.content) or adjoining.get(id(capture))
        if process is not None:
            run = capture.run if capture.run_known else None
            kind = kind_name(capture.content)
            groups[process, run, capture.unit, kind].append(capture)
    instead: dict[int, Capture[Profile] | None] = {}
    for captures in groups.values():
        if (one := _as_one(captures)) is not None:
            instead |= dict.fromkeys(map(id, captures))
            instead[id(captures[0])] = one
    if not instead:
        return side
    left = (instead.get(id(capture), capture) for capture in side.captures)
    return replace(side, captures=tuple(one for one in left if one is not None))


def _process(profile: Profile) -> tuple[int, str] | None:
    """Return what identifies the process of a profile, None if unknown."""
    starts = [one.start for one in profile.mappings if one.file == "[vdso]"]
    if not starts:
        return _by_thread(profile)
    if len(starts) != 1 or starts[0] & ~0xFFFFF == _NOT_RANDOM:
        return None
    return starts[0], profile.mappings[0].build_id


def _by_thread(profile: Profile) -> tuple[int, str] | None:
    """Return the (address, number) of a profile's first thread, None without ids.

    The address, which pthread_self returns, is random. The first thread of a process
    has the lowest number.
    """
    labels, ids = profile.labels, {}
    for key in ("thread id", "thread native id"):
        if key not in profile.strings:
            return None
        of_key = labels.key == profile.strings.index(key)
        ids[key] = labels.sample[of_key], labels.number[of_key]
    (samples, addresses), (of_number, numbers) = ids.values()
    if not len(numbers):
        return None
    first = int(numbers.argmin())
    address = addresses[samples == of_number[first]]
    return (int(address[0]), str(numbers[first])) if len(address) else None


def _adjoining(captures: Sequence[Capture[Profile]]) -> dict[int, tuple[int, str]]:
    """Return what identifies the process of profiles with a window, by their `id`.

    It is the start of the first window of a chain of adjoining ones.
    """
    begins: _Windows = defaultdict(list)
    ends: _Windows = defaultdict(list)
    for capture in captures:
        profile, kind = capture.content, kind_name(capture.content)
        if profile.time_ns and profile.duration_ns:
            begins[profile.time_ns, kind].append(capture)
            ends[profile.time_ns + profile.duration_ns, kind].append(capture)
    found: dict[int, tuple[int, str]] = {}
    for window in sorted(begins):
        some, before = begins[window], ends.get(window, [])
        follows = len(before) == len(some) == 1
        for capture in some:
            first = found.get(id(before[0])) if follows else None
            found[id(capture)] = first or (window[0], "adjoining")
    return found


def _as_one(captures: Sequence[Capture[Profile]]) -> Capture[Profile] | None:
    """Return the captures of one process as one; None if they cannot be."""
    profiles = sorted(
        (capture.content for capture in captures), key=lambda one: one.time_ns or 0
    )
    latest = next(one for one in captures if one.content is profiles[-1])
    if (added := _deltas(profiles)) is not None:
        return replace(latest, content=added, of_process=len(profiles), deltas=True)
    spans = [(one.time_ns or 0, one.duration_ns or 0) for one in profiles]
    disjoint = all(
        begin + length < after + _READ_NS if length else begin < after
        for (begin, length), (after, _) in pairwise(spans)
    )
    windows = {length > 0 for _, length in spans}
    if len(profiles) == 1 or spans[0][0] <= 0 or not disjoint or len(windows) > 1:
        return None
    if windows == {True}:
        return replace(captures[0], content=merge(profiles), of_process=len(profiles))
    return replace(latest, of_process=len(profiles))


def _deltas(profiles: Sequence[Profile]) -> Profile | None:
    """Return the sum of profiles that count since the previous one; None for others.

    A count since process start never falls, so one that does is a delta. A profile's
    time is the end of its window.
    """
    types = profiles[0].sample_types
    counted = np.array([not is_snapshot(one) for one in types], bool)
    exact = counted & np.array([one.unit == "count" for one in types], bool)
    if counted.all() or not exact.any():
        return None
    if any(
        one.sample_types != types or not one.time_ns or one.values.min(initial=0) < 0
        for one in profiles
    ):
        return None
    for before, one in pairwise(profiles):
        begin = (one.time_ns or 0) - (one.duration_ns or 0)
        if one.time_ns == before.time_ns or (
            one.duration_ns and begin + _READ_NS < (before.time_ns or 0)
        ):
            return None
    apart = merge_apart(profiles)
    each = apart.values.reshape(len(apart), 1 + len(profiles), len(types))[:, 1:]
    if not (np.diff(each[:, :, exact], axis=1) < 0).any():
        return None
    earlier = [replace(one, values=one.values * counted) for one in profiles[:-1]]
    lengths = [one.duration_ns for one in profiles if one.duration_ns]
    return replace(
        merge([*earlier, profiles[-1]]),
        time_ns=profiles[-1].time_ns,
        duration_ns=sum(lengths) if len(lengths) == len(profiles) else None,
    )
