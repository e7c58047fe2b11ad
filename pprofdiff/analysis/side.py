"""What a side's captures measured, of which run each is, and how long they took."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from pprofdiff.analysis.profiles.granularity import files_of_functions
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.model.side import Capture, Side

__all__ = [
    "age_seconds",
    "cpu_seconds",
    "measure",
    "numbered",
    "of_benchmarks",
    "source_files",
]

# In the stacks of a CPU profile that go test -bench -cpuprofile wrote: the benchmark's
# goroutine, or those that RunParallel starts while that one waits.
_BENCHMARK_LOOPS = {"testing.(*B).runN", "testing.(*B).RunParallel.func1"}


def measure(capture: Capture[Any]) -> str:
    """Return what a capture measured: cpu, allocs …, or the id of its kind."""
    named = KINDS[capture.kind].measures
    return str(resolve(named)(capture.content)) if named else capture.kind


def numbered(side: Side) -> Side:
    """Return the side with `Capture.run` set.

    Nothing in the inputs says which were captured together, so captures of the same
    measure are of runs 0, 1, 2 … in the order they were given.
    """
    before: Counter[str] = Counter()
    captures = []
    for capture in side.captures:
        measured = measure(capture)
        captures.append(replace(capture, run=before[measured]))
        before[measured] += 1
    return replace(side, captures=tuple(captures))


def cpu_seconds(side: Side) -> float | None:
    """Return how long a side's CPU profiles lasted, None where one does not say."""
    durations = [
        capture.content.duration_ns
        for capture in side.of("profile")
        if measure(capture) == "cpu"
    ]
    known = [duration for duration in durations if duration]
    return sum(known) / 1e9 if known and len(known) == len(durations) else None


def age_seconds(side: Side) -> float | None:
    """Return how long a side's process had run when it was captured, None if unknown.

    The last line of a GC log tells it closely: ``@16.4s`` since the process began. A
    CPU profile of ``go test`` lasts as long as the process. Of several processes,
    nothing is known.
    """
    logs = [run for c in side.of("gctrace") for run in c.content.runs]
    if len(logs) == 1 and len(logs[0].cycles.start_ms):
        return float(logs[0].cycles.start_ms[-1]) / 1e3
    return cpu_seconds(side) if of_benchmarks(side) else None


def of_benchmarks(side: Side) -> bool:
    """Return whether there is a CPU profile, and all of them are of benchmarks."""
    profiles = [c.content for c in side.of("profile") if measure(c) == "cpu"]
    return bool(profiles) and all(
        not _BENCHMARK_LOOPS.isdisjoint(profile.function_names())
        for profile in profiles
    )


def source_files(side: Side) -> dict[str, str]:
    """Return the source file of every function in a side's stacks, by its symbol.

    Profiles come before traces; the file is `""` where it is unknown.
    """
    files: dict[str, str] = {}
    for capture in side.of("profile"):
        files = files_of_functions(capture.content) | files
    for trace in (capture.content for capture in side.of("trace")):
        strings, stacks = trace.strings, trace.stacks
        pairs = dict.fromkeys(
            zip(stacks.function.tolist(), stacks.file.tolist(), strict=True)
        )
        for function, file in pairs:
            files.setdefault(strings[function], strings[file])
    return files
