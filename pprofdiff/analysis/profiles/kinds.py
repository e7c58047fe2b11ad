"""Detects the kind of a profile from its sample types and stacks."""

from __future__ import annotations

import re
from operator import methodcaller
from typing import Final

import numpy as np

from pprofdiff.analysis.normalization import Counts
from pprofdiff.analysis.policy import MUCH
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.kept import kept
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.units import clipped, comparable

_LEADING = 200
_IN_RUNTIME = methodcaller("startswith", "runtime.")
_IN_JAVA = methodcaller("startswith", ("java/", "java.", "jdk/", "jdk."))
_WORD = re.compile("[a-z]+")
# What is in use, where nothing else is said of memory.
_SPACE = ValueType("space", "bytes")
_PARK = "runtime.gopark"
_SNAPSHOTS = ("goroutine", "goroutineleak", "threadcreate")
WEIGHT: Final = "weight"
"""The sample type of folded stacks whose counts have another, unknown unit."""
UNKNOWN_WAITS: Final = "delay"
"""The name of a trace's delays whose stacks do not show what is waited for."""
_STATES = ("running", "runnable", "blocked", "syscall")
_BLOCKED = re.compile(
    r"runtime\.(chan|selectgo|block|gc|sema|stopTheWorld|trace)|(internal/)?sync\."
    r"|internal/poll\.\(\*(fdMutex\)|FD\)\.Close)"
)
_POLLED = re.compile(r"internal/poll\.\(\*(FD|pollDesc)\)\.(?!Close)")
_CALLED = re.compile(r"(.*/)?(syscall|sys/unix|syscall/unix)\.")
# Preempted, or waking another goroutine: no wait begins there.
_RUNNABLE = re.compile(
    r"runtime\.(asyncPreempt|[Gg]osched|goyield|closechan|selectnb|bgsweep)"
    r"|.*nlock|.*_Semrelease|sync\.\(\*(WaitGroup\)\.(Add|Done)"
    r"|Cond\)\.(Signal|Broadcast))"
)


def is_cpu(profile: Profile) -> bool:
    """Return whether samples are CPU time."""
    return any(is_time_of("cpu", one) for one in profile.sample_types)


def is_wall(profile: Profile) -> bool:
    """Return whether samples are a thread's wall time, as in Node.js profiles."""
    return any(is_time_of("wall", one) for one in profile.sample_types)


def is_time_of(clock: str, sample_type: ValueType) -> bool:
    """Return whether a sample type is time by this clock, ``cpu`` or ``wall``.

    Producers write ``cpu``, ``CPU``, ``cpu-time`` and
    ``process_cpu:cpu:nanoseconds:cpu:nanoseconds``; ``cpu/count`` are samples.
    """
    name, unit = sample_type.type.casefold(), sample_type.unit
    if name == clock:
        return unit != "count"
    return clock in _WORD.findall(name) and comparable(unit, "nanoseconds")


def is_counted(profile: Profile) -> bool:
    """Return whether samples of running code are only counted, or weighted.

    How much time a sample is worth is unknown: in folded stacks, and in what
    async-profiler's converter writes (``cpu/count``).
    """
    types = profile.sample_types
    words = {word for one in types for word in _WORD.findall(one.type.casefold())}
    counts = all(one.unit == "count" for one in types)
    named = not words.isdisjoint(("sample", "samples", "cpu", WEIGHT))
    return counts and named and "alloc" not in words


def primary_column(profile: Profile) -> int:
    """Return the column of values to compare unless one is chosen.

    It is the profile's default type; else CPU time, else wall time; else the last, as
    in ``go tool pprof``. Raises UsageError without types.
    """
    if profile.default_sample_type is None:
        for clock in ("cpu", "wall"):
            for column, one in enumerate(profile.sample_types):
                if is_time_of(clock, one):
                    return column
    return profile.sample_index()


@kept
def is_of_go(profile: Profile) -> bool:
    """Return whether Go wrote the profile: true unless another producer is evident.

    It is evident if functions have files but none is Go or assembly, from the ``::`` in
    C++ and Rust names, from Java's packages, or if no function has a package or name.
    """
    names = profile.function_names()
    if not names:
        return not len(profile)
    if any(map(_IN_RUNTIME, names)):
        return True
    files = list(filter(None, profile.files()))
    if files:
        foreign = not any(file.endswith((".go", ".s")) for file in files)
    else:
        # Folded stacks of Go have the runtime's functions.
        foreign = is_counted(profile) or not any(map(package_of, names))
    foreign = foreign or any(map(_IN_JAVA, names))
    return not (foreign or "::" in "\n".join(names))


def is_state(profile: Profile) -> bool:
    """Return whether samples are goroutine time in one state (derived from a trace)."""
    types = [t.type for t in profile.sample_types]
    return len(types) == 2 and types[0] == "intervals" and types[1] in _STATES


def is_heap(profile: Profile) -> bool:
    """Return whether samples are memory, recorded where it was allocated.

    Jemalloc has ``inuse_space`` alone, V8 and JAX have ``space``.
    """
    return any(
        one.type.startswith("alloc_") or _is_held(one) for one in profile.sample_types
    )


def _is_held(sample_type: ValueType) -> bool:
    return sample_type.type.startswith("inuse_") or sample_type == _SPACE


@kept
def is_of_goroutines(profile: Profile) -> bool:
    """Return whether samples are all goroutines' time, idle ones too, as by fgprof.

    Its folded stacks have no period, but many end in `runtime.gopark`: a goroutine that
    waits, which takes no CPU.
    """
    period = profile.period_type
    if period is None:
        return is_counted(profile) and _are_parked(profile)
    return period.type == "wallclock" and is_of_go(profile)


def _are_parked(profile: Profile) -> bool:
    """Return whether many samples end where a goroutine waits."""
    parked = np.array([name == _PARK for name in profile.function_names()], np.bool_)
    if not parked.any():
        return False
    begins = profile.stack_offsets[:-1]
    stacks = begins < profile.stack_offsets[1:]
    leaf = profile.locations.line_offsets[profile.stack_locations[begins[stacks]]]
    waits = np.append(parked, [False])[profile.locations.line_function[leaf]]
    values = profile.values[stacks, 0]
    return float(values[waits].sum()) >= MUCH * float(values.sum())


def counting_column(profile: Profile, column: int) -> int | None:
    """Return the column that counts the samples behind another one, None without.

    libdatadog has ``cpu-samples`` for ``cpu-time`` alone.
    """
    types = [one.type for one in profile.sample_types]
    own = f"{types[column].partition('-')[0]}-samples"
    return next(
        (types.index(n) for n in (own, "samples", "sample") if n in types), None
    )


def sample_count(profile: Profile) -> int:
    """Return how often the profiler sampled, as far as known.

    By its column of samples, else by its period; else the number of stacks.
    """
    types, period = profile.sample_types, profile.period_type
    counted = counting_column(profile, primary_column(profile))
    if counted is not None:
        return int(np.abs(profile.values[:, counted]).sum())
    every = profile.period or 0
    if every > 0 and period is not None and is_cpu(profile):
        column = primary_column(profile)
        if types[column].unit == period.unit:
            return int(np.abs(profile.values[:, column]).sum()) // every
    return len(profile)


def is_snapshot(sample_type: ValueType) -> bool:
    """Return whether a sample type is a snapshot (live memory), not cumulative."""
    return _is_held(sample_type) or sample_type.type in _SNAPSHOTS


def counts_of(profile: Profile, sample_type: ValueType) -> Counts:
    """Return what a sample type counts, as input to `normalization.choose`."""
    if is_snapshot(sample_type):
        return "moment"
    costs = is_cpu(profile) or is_heap(profile) or is_counted(profile)
    return "cost" if costs else "other"


def kind_name(profile: Profile) -> str:
    """Return Go's name for this kind of profile, such as cpu, allocs, heap or mutex.

    It follows from the sample types (runtime/pprof). Block and mutex profiles have the
    same types: stacks of a block profile end where goroutines wait, stacks of a mutex
    profile where a lock is released (runtime/mprof.go). What ``go tool trace -pprof``
    writes has them too, and is ``sched``, ``sync``, ``net`` or ``syscall``. A profile
    that Go has no name for is ``wall``, ``samples`` or ``weight`` (`is_counted`), or
    named after its last sample type; ``empty`` if it has none.
    """
    if is_cpu(profile):
        return "cpu"
    if is_wall(profile):
        return "wall"
    if is_counted(profile):
        return WEIGHT if profile.sample_types[0].type == WEIGHT else "samples"
    if is_heap(profile):
        return "allocs" if profile.default_sample_type == "alloc_space" else "heap"
    types = [t.type for t in profile.sample_types]
    if "contentions" in types:
        return _of_waits(profile)
    return clipped(types[-1]) if types else "empty"


def is_of_trace(profile: Profile) -> bool:
    """Return whether samples are delays of a Go execution trace, as exported."""
    period = profile.period_type
    return period is not None and period.type == "trace"


def _of_waits(profile: Profile) -> str:
    """Return the name of a profile of contentions, by where its first stacks end.

    A trace's runnable goroutines have the stack in which they were preempted, started
    or woken, or none; blocked ones always have one, which ends where they block
    (cmd/trace/pprof.go). `UNKNOWN_WAITS` if the stacks show neither.
    """
    leaves = _leaves(profile)
    if not is_of_trace(profile):
        unlocking = sum("nlock" in leaf for leaf in leaves)
        return "mutex" if unlocking * 2 > sum(map(bool, leaves)) else "block"
    if any(map(_RUNNABLE.match, leaves)):
        return "sched"
    if not leaves or not all(leaves):
        return UNKNOWN_WAITS
    if all(map(_BLOCKED.match, leaves)):
        return "sync"
    if all(map(_POLLED.match, leaves)):
        return "net"
    return "syscall" if any(map(_CALLED.match, leaves)) else UNKNOWN_WAITS


def _leaves(profile: Profile) -> list[str]:
    starts = profile.stack_offsets[:-1][:_LEADING]
    filled = np.diff(profile.stack_offsets)[:_LEADING] > 0
    if not filled.any():
        return [""] * len(starts)
    first = profile.stack_locations[np.where(filled, starts, 0)]
    lines = profile.locations.line_offsets[:-1][first]
    functions = np.where(filled, profile.locations.line_function[lines], -1).tolist()
    names = profile.function_names()
    return [names[function] if function >= 0 else "" for function in functions]
