"""What a side's captures measured, their runs, and how long they took."""

from __future__ import annotations

import re
from collections import Counter
from posixpath import basename
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.identity.evidence import Stacks
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.model.profiles.merge import with_shared_added
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pprofdiff.model.gclogs import Cycles
    from pprofdiff.model.traces.trace import Trace

# The last number of a name: 12 in cpu-v2-12.
_NUMBER = re.compile(r"\d+(?=\D*$)")
# A process allocates throughout if this share of its allocation is in the second half
# of its life: half of an even split.
_LATE = 0.25
# Bytes in a profile and those in a log until then differ by a smaller factor: in 17
# processes of a second or more it was 0.71 to 0.99, as logs round to MiB; 0.43 and 0.57
# came from profiles written before the last cycles.
_LOGGED = 1.5
# In the stacks of a CPU profile from go test -bench -cpuprofile: the benchmark's
# goroutine, or those that RunParallel starts while it waits.
BENCHMARK_LOOPS = {"testing.(*B).runN", "testing.(*B).RunParallel.func1"}


def measure(capture: Capture[Any]) -> str:
    """Return what a capture measured: cpu, allocs …, or the id of its kind."""
    named = KINDS[capture.kind].measures
    return str(resolve(named)(capture.content)) if named else capture.kind


def numbered(side: Side) -> Side:
    """Return the side with `Capture.run` set.

    If inputs do not say which were captured together, runs come from the numbers in
    their names (`cpu2.pb.gz` and `allocs2.pb.gz` are of one); else captures of one
    measure are of runs 0, 1, 2 … in the order given. Traces of one process are of one
    run, as the snapshots of a flight recorder are.
    """
    if side.captures and all(capture.run_known for capture in side.captures):
        return side
    if (by_name := _numbered_by_name(side)) is not None:
        return by_name
    before: Counter[str] = Counter()
    captures: list[Capture[Any]] = []
    for capture in side.captures:
        measured = measure(capture)
        same = [one for one in captures if _of_one_process(one, capture)]
        run = same[0].run if same else before[measured]
        before[measured] += not same
        captures.append(replace(capture, run=run))
    return replace(side, captures=tuple(captures))


def _of_one_process(one: Capture[Any], other: Capture[Any]) -> bool:
    """Return whether two captures are traces of one process, as far as they show it.

    Most thread ids are equal, and generations are equal or larger in the later trace:
    containers number threads the same way, but each process's generations begin at 1.
    Traces have a wall clock, which orders them, from Go 1.25.
    """
    if one.kind != "trace" or other.kind != "trace":
        return False
    traces = [capture.content for capture in (one, other)]
    if any(trace.begin_wall_ns is None for trace in traces):
        return False
    first, later = sorted(traces, key=lambda trace: trace.begin_wall_ns)
    threads = [{*trace.threads.tolist()} for trace in traces]
    if min(map(len, threads)) >= 2 * len(threads[0] & threads[1]):
        return False
    if not {*first.syncs}.isdisjoint(later.syncs):
        return True
    return bool(later.syncs[0].generation > first.syncs[-1].generation)


def number_in(name: str) -> int | None:
    """Return the last number in a file or folder name, before its extensions."""
    number = _NUMBER.search(name.partition(".")[0])
    return None if number is None else int(number.group())


def _numbered_by_name(side: Side) -> Side | None:
    """Return the side with runs by the last number in names, None if those fail.

    Numbers must differ, and no measure may have two files of one number. Several
    profiles of one process are not runs.
    """
    numbers = []
    for capture in side.captures:
        number = number_in(basename(capture.path))
        if number is None or capture.of_process > 1:
            return None
        numbers.append(number)
    order = {number: run for run, number in enumerate(sorted(set(numbers)))}
    keys = {
        (measure(capture), number)
        for capture, number in zip(side.captures, numbers, strict=True)
    }
    if len(order) <= 1 or len(keys) < len(numbers):
        return None
    return replace(
        side,
        captures=tuple(
            replace(capture, run=order[number])
            for capture, number in zip(side.captures, numbers, strict=True)
        ),
    )


def cpu_seconds(side: Side) -> float | None:
    """Return how long a side's CPU profiles lasted, None if one does not say."""
    durations = [profile.duration_ns or 0 for profile in cpu_profiles(side)]
    return sum(durations) / 1e9 if durations and all(durations) else None


def cpu_profiles(side: Side) -> list[Profile]:
    """Return a side's CPU profiles."""
    return [c.content for c in side.of("profile") if measure(c) == "cpu"]


def age_seconds(side: Side) -> float | None:
    """Return how long a side's process had run when captured, None if unknown.

    If GC runs often, the last line of a GC log gives it: ``@16.4s`` since process
    start. If not, a CPU profile may have lasted longer. A CPU profile of ``go test``
    lasts as long as the process. With several processes, nothing is known.
    """
    if (cycles := _only_log(side)) is None:
        return cpu_seconds(side) if is_whole(side) else None
    durations = [(profile.duration_ns or 0) / 1e9 for profile in cpu_profiles(side)]
    return max(float(cycles.start_ms[-1]) / 1e3, *durations, 0.0)


def counted_seconds(side: Side) -> float | None:
    """Return until when allocations of a side's process are counted, None if unknown.

    Profiles have those before the last GC cycle but one, or before the last if
    runtime.GC ran it; all if there was no second one (`mProf_Flush`, `mProf_PostSweep`
    in runtime/mprof.go). If the log counts far more or fewer bytes until then, the
    profile was written at another, unknown time.
    """
    cycles, age = _only_log(side), age_seconds(side)
    if cycles is None or int(cycles.number[-1]) <= 1:
        return age
    last = -1 if cycles.forced[-1] or len(cycles) == 1 else -2
    during = np.maximum(cycles.heap_end_mb - cycles.heap_start_mb, 0)
    until = (_allocated_mb(cycles) + during)[: len(cycles) + last + 1]
    logged = float(until.sum()) * (1 << 20)
    for capture in side.of("profile"):
        profile = capture.content
        types = [counted.type for counted in profile.sample_types]
        if measure(capture) == "allocs" and "alloc_space" in types:
            held = float(profile.values[:, types.index("alloc_space")].sum())
            if not logged / _LOGGED <= held <= logged * _LOGGED:
                return None
    wall_us = cycles.sweep_termination_wall_us[last] + cycles.mark_wall_us[last]
    return float(cycles.start_ms[last]) / 1e3 + float(wall_us) / 1e6


def is_whole(side: Side) -> bool:
    """Return whether a side's CPU profiles last as long as its process, if known.

    Those of ``go test`` do. GC logs of one process give its age more precisely.
    """
    return _only_log(side) is None and of_benchmarks(side)


def allocating(side: Side) -> tuple[bool, float | None]:
    """Return how a process allocates in the second half of its life, by its GC log.

    The result is whether it allocated beyond start-up, as far as known, and MiB per
    second in that half; None with fewer than three cycles.
    """
    cycles, age = _only_log(side), age_seconds(side)
    if cycles is None or age is None:
        return True, None
    amounts = _allocated_mb(cycles)
    late = np.flatnonzero(cycles.start_ms >= age * 1e3 / 2)
    share = float(amounts[late].sum()) / max(float(amounts.sum()), 1.0)
    if len(late[1:]) <= 1:
        return share >= _LATE, None
    # The first amount began before that: only what follows counts.
    took = float(cycles.start_ms[late[-1]] - cycles.start_ms[late[0]]) / 1e3
    return share >= _LATE, float(amounts[late[1:]].sum()) / took if took else None


def _allocated_mb(cycles: Cycles) -> NDArray[np.int64]:
    """Return how many MiB were allocated before each cycle, since the previous one."""
    between = cycles.heap_start_mb[1:] - cycles.heap_live_mb[:-1]
    return np.append(cycles.heap_start_mb[:1], np.maximum(between, 0))


def _only_log(side: Side) -> Cycles | None:
    """Return the cycles of a side's one process, None without such a GC log."""
    logs = [run for c in side.of("gctrace") for run in c.content.runs]
    one = len(logs) == 1 and len(logs[0].cycles.start_ms) > 0
    return logs[0].cycles if one else None


def of_benchmarks(side: Side) -> bool:
    """Return whether there is a CPU profile, and all of them are of benchmarks."""
    profiles = cpu_profiles(side)
    return bool(profiles) and all(map(runs_benchmarks, profiles))


def runs_benchmarks(profile: Profile) -> bool:
    """Return whether a profile has a benchmark loop on a stack."""
    return not BENCHMARK_LOOPS.isdisjoint(profile.function_names())


def stacks_of(side: Side) -> list[Profile | Stacks]:
    """Return a side's stacks, profiles first; profiles with the same stacks are one."""
    profiles = with_shared_added([capture.content for capture in side.of("profile")])
    return [*profiles, *(_TraceStacks(capture.content) for capture in side.of("trace"))]


class _TraceStacks:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def functions(self) -> tuple[list[str], list[str], NDArray[np.int64]]:
        """Return names, files and start lines; a trace has no start lines, so zeros."""
        strings, stacks = self._trace.strings, self._trace.stacks
        names = [strings[i] for i in stacks.function.tolist()]
        files = [strings[i] for i in stacks.file.tolist()]
        return names, files, np.zeros(len(names), np.int64)

    def __len__(self) -> int:
        return len(self._trace.stacks.frame)

    def total(self) -> int:
        return len(self._trace.stacks.offsets) - 1

    def frames(
        self, _wanted: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], ...]]:
        """Yield (offsets, function, line, weight) of all stacks."""
        stacks = self._trace.stacks
        yield (
            stacks.offsets,
            stacks.frame.astype(np.int64),
            stacks.line[stacks.frame],
            np.ones(len(stacks), np.int64),
        )
