"""Remove the test harness and set-up from the profiles of one benchmark's process.

``go test`` forces a GC before each benchmark, reads memory statistics when a timer
stops, writes profiles and initialises packages (testing/benchmark.go).
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.inputs.gunzip import decompress
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.measure.untimed import BenchmarkSources, Verdict
from pprofdiff.model.csr import first_in_row, grouped, last_in_row
from pprofdiff.model.profiles.merge import subtract
from pprofdiff.model.profiles.operations import Operations, with_operations
from pprofdiff.model.profiles.profile import Frames, Profile

_LOOP = "testing.(*B).runN"
# Frames under the loop that start, stop or reset the benchmark timer.
_CLOCK = (
    "testing.(*B).ResetTimer",
    "testing.(*B).StartTimer",
    "testing.(*B).StopTimer",
)
# Roots of goroutines that run no operations.
_ROOTS = ("runtime.main", "runtime/pprof.profileWriter", "testing.tRunner")


def keep_operations(path: str, operations: Operations, folder: str) -> float:
    """Keep the samples of operations in a CPU profile and store their count in it.

    `folder` has the sources of the benchmark's package. Returns the CPU seconds that
    remain.
    """
    kept = _of_operations(_read(path), operations, folder)
    _write(path, with_operations(kept, operations))
    return float(kept.values[:, kept.sample_index("cpu")].sum()) / 1e9


def keep_allocations(
    path: str, fewer: str, operations: Operations, folder: str
) -> None:
    """Rewrite an allocs profile as its difference to a run of fewer operations.

    Start-up is in both and cancels out; `operations` are left. `folder` has the sources
    of the benchmark's package.
    """
    more, less = (
        _of_operations(_read(one), operations, folder) for one in (path, fewer)
    )
    rest = subtract(more, less, label=False)
    counted = [kind.type.startswith("alloc_") for kind in rest.sample_types]
    values = np.where(np.array(counted), np.maximum(rest.values, 0), 0)
    some = np.flatnonzero(values.any(axis=1))
    kept = rest.with_values(values).take(some)
    # Keep the time and period of the longer run.
    header = replace(kept, time_ns=more.time_ns, period=more.period)
    _write(path, with_operations(header, operations))


def _read(path: str) -> Profile:
    with open(path, "rb") as file:
        return decode(decompress(file.read(), path), path)


def _write(path: str, profile: Profile) -> None:
    with open(path, "wb") as file:
        file.write(compress(encode(profile)))


def _of_operations(profile: Profile, operations: Operations, folder: str) -> Profile:
    """Return the samples of operations and of goroutines that operations started.

    In a sub-benchmark, work that the parent function does before ``b.Run`` is dropped.
    """
    above = operations.name.rpartition(" ")[2].partition("/")
    frames = profile.frames()
    name = np.array([*profile.function_names(), ""], dtype=object)
    function = name[profile.locations.line_function[frames.line]]
    loop = last_in_row(function == _LOOP, frames.offsets)
    # Stacks start at the leaf: the loop's callee is the frame before it.
    inside = loop >= 0
    called = np.where(loop > frames.offsets[:-1], loop - 1, 0)
    own = np.zeros(len(called), np.bool_)
    if len(function):
        own = _of_harness(function[called], above[0] if above[1] else "")
    clock, roots = (
        first_in_row(np.isin(function, names), frames.offsets) >= 0
        for names in (_CLOCK, _ROOTS)
    )
    alone = inside & (loop == frames.offsets[:-1])
    dropped = (inside & (own | alone | clock)) | (~inside & roots)
    rows = np.flatnonzero(inside & ~dropped)
    untimed = _untimed(profile, frames, rows, called[rows], BenchmarkSources(folder))
    dropped[rows[untimed]] = True
    return profile.take(np.flatnonzero(~dropped))


def _verdict(profile: Profile, line: int, sources: BenchmarkSources) -> Verdict:
    """Return whether one of the profile's lines counts as an operation's."""
    functions, places = profile.functions, profile.locations
    function = int(places.line_function[line])
    if function < 0:
        return "counts"
    return sources.verdict(
        profile.strings[functions.filename[function]],
        profile.function_names()[function],
        int(functions.start_line[function]),
        int(places.line_number[line]),
    )


def _untimed(
    profile: Profile,
    frames: Frames,
    rows: NDArray[np.int64],
    called: NDArray[np.int64],
    sources: BenchmarkSources,
) -> NDArray[np.bool_]:
    """Return which samples (`rows`) are of lines that the benchmark's timer leaves out.

    `called` is the position of each one's frame of the benchmark function.
    """
    found, left = np.zeros(len(rows), np.bool_), np.arange(len(rows))
    while len(left):
        lines, which = grouped(frames.line[called[left]])
        verdicts = np.array(
            [_verdict(profile, line, sources) for line in lines.tolist()]
        )[which]
        found[left[verdicts == "untimed"]] = True
        # The callee is the frame before, if this one is not the leaf.
        more = called[left] > frames.offsets[rows[left]]
        left = left[(verdicts == "see callee") & more]
        called[left] -= 1
    return found


def _of_harness(names: NDArray[np.object_], above: str) -> NDArray[np.bool_]:
    """Return which of the loop's callees belong to the harness.

    `above` is the parent function of a sub-benchmark, "" for none.
    """
    return np.array(
        [
            name.startswith(("runtime.", "testing."))
            or (above != "" and name.rpartition(".")[2] == above)
            for name in names
        ],
        np.bool_,
    )
