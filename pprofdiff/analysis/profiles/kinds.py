"""Which kind of profile this is, told from its sample types and stacks."""

from __future__ import annotations

from operator import methodcaller

import numpy as np

from pprofdiff.analysis.normalization import Counts
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.units import clipped

__all__ = [
    "counts_of",
    "is_cpu",
    "is_heap",
    "is_of_go",
    "is_snapshot",
    "is_state",
    "is_wall",
    "kind_name",
]

_LEADING = 200
_IN_RUNTIME = methodcaller("startswith", "runtime.")
_STATES = ("running", "runnable", "blocked", "syscall")


def is_cpu(profile: Profile) -> bool:
    """Return whether samples are CPU time."""
    return any(t.type == "cpu" for t in profile.sample_types)


def is_wall(profile: Profile) -> bool:
    """Return whether samples are wall time of a thread, as Node.js is profiled."""
    return any(t.type == "wall" for t in profile.sample_types)


def is_of_go(profile: Profile) -> bool:
    """Return whether Go wrote a profile, as far as it tells: no other producer is seen.

    Another one is seen where functions have files and none of them is Go's or assembly,
    or by the ``::`` in names of C++ and Rust.
    """
    names = profile.function_names()
    if any(map(_IN_RUNTIME, names)):
        return True
    files = {profile.strings[i] for i in set(profile.functions.filename.tolist())}
    files.discard("")
    foreign = bool(files) and not any(file.endswith((".go", ".s")) for file in files)
    return not (foreign or "::" in "\n".join(names))


def is_state(profile: Profile) -> bool:
    """Return whether samples are goroutines' time in one state (made of a trace)."""
    types = [t.type for t in profile.sample_types]
    return len(types) == 2 and types[0] == "intervals" and types[1] in _STATES


def is_heap(profile: Profile) -> bool:
    """Return whether samples are allocations, recorded where they were made."""
    return any(t.type.startswith("alloc_") for t in profile.sample_types)


def is_snapshot(sample_type: ValueType) -> bool:
    """Return whether a sample type is of one moment (live memory), not of a time."""
    name = sample_type.type
    return name.startswith("inuse_") or name in ("goroutine", "threadcreate")


def counts_of(profile: Profile, sample_type: ValueType) -> Counts:
    """Return what a sample type counts, as `normalization.choose` asks."""
    if is_snapshot(sample_type):
        return "moment"
    return "cost" if is_cpu(profile) or is_heap(profile) else "other"


def kind_name(profile: Profile) -> str:
    """Return what Go calls this kind of profile, such as cpu, allocs, heap or mutex.

    It is told from sample types (runtime/pprof). Those of block and mutex profiles are
    equal: stacks of a block profile end where goroutines wait, those of a mutex profile
    where a lock is released (runtime/mprof.go). A profile that Go has no name for is
    called by its last sample type, or ``empty`` where it has none.
    """
    if is_cpu(profile):
        return "cpu"
    if is_heap(profile):
        return "allocs" if profile.default_sample_type == "alloc_space" else "heap"
    types = [t.type for t in profile.sample_types]
    if "contentions" in types:
        return "mutex" if _unlocks(profile) else "block"
    return clipped(types[-1]) if types else "empty"


def _unlocks(profile: Profile) -> bool:
    """Return whether most of the first stacks end in an unlock."""
    starts = profile.stack_offsets[:-1]
    filled = starts[np.diff(profile.stack_offsets) > 0][:_LEADING]
    if not len(filled):
        return False
    first_lines = profile.locations.line_offsets[:-1][profile.stack_locations[filled]]
    names = profile.function_names()
    leaves = profile.locations.line_function[first_lines].tolist()
    unlocking = sum(f >= 0 and "nlock" in names[f] for f in leaves)
    return bool(unlocking * 2 > len(leaves))
