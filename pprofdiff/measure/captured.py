"""Remove the test harness from the profiles of one benchmark's process.

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
from pprofdiff.model.csr import first_in_row, last_in_row
from pprofdiff.model.profiles.merge import subtract
from pprofdiff.model.profiles.operations import Operations, with_operations
from pprofdiff.model.profiles.profile import Profile

_LOOP = "testing.(*B).runN"
# Frames under the loop that start, stop or reset the benchmark timer.
_CLOCK = (
    "testing.(*B).ResetTimer",
    "testing.(*B).StartTimer",
    "testing.(*B).StopTimer",
)
# Roots of goroutines that run no operations.
_ROOTS = ("runtime.main", "runtime/pprof.profileWriter", "testing.tRunner")


def keep_operations(path: str, operations: Operations) -> float:
    """Drop the harness from a CPU profile and store its operation count in it.

    Returns the CPU seconds that remain.
    """
    kept = _without_harness(_read(path), operations)
    _write(path, with_operations(kept, operations))
    return float(kept.values[:, kept.sample_index("cpu")].sum()) / 1e9


def keep_allocations(path: str, fewer: str, operations: Operations) -> None:
    """Rewrite an allocs profile as its difference to a run of fewer operations.

    Start-up and benchmark set-up are in both and cancel out; `operations` are left.
    """
    more, less = (_without_harness(_read(one), operations) for one in (path, fewer))
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


def _without_harness(profile: Profile, operations: Operations) -> Profile:
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
    clock = _any(np.isin(function, _CLOCK), frames.offsets)
    roots = _any(np.isin(function, _ROOTS), frames.offsets)
    alone = inside & (loop == frames.offsets[:-1])
    dropped = (inside & (own | alone | clock)) | (~inside & roots)
    return profile.take(np.flatnonzero(~dropped))


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


def _any(marked: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows contain a marked item."""
    return first_in_row(marked, offsets) >= 0
