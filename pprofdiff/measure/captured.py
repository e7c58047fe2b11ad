"""What the profiles of one benchmark's process keep: its operations, not the harness.

``go test`` collects garbage before each benchmark, reads memory statistics when a timer
stops, writes profiles and initialises packages; none of this is the program's work
(testing/benchmark.go).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pprofdiff.inputs.gunzip import decompress
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.csr import first_in_row, last_in_row
from pprofdiff.model.profiles.merge import subtract
from pprofdiff.model.profiles.operations import Operations, with_operations
from pprofdiff.model.profiles.profile import Profile

__all__ = ["keep_allocations", "keep_operations"]

_LOOP = "testing.(*B).runN"
# Frames under the loop that keep its clock.
_CLOCK = (
    "testing.(*B).ResetTimer",
    "testing.(*B).StartTimer",
    "testing.(*B).StopTimer",
)
# Where goroutines begin that run no operation.
_ROOTS = ("runtime.main", "runtime/pprof.profileWriter", "testing.tRunner")


def keep_operations(path: str, operations: Operations) -> float:
    """Rewrite a CPU profile without the harness, and with its number of operations.

    Return the CPU seconds that it still has.
    """
    kept = _without_harness(_read(path), operations)
    _write(path, with_operations(kept, operations))
    return float(kept.values[:, kept.sample_index("cpu")].sum()) / 1e9


def keep_allocations(path: str, fewer: str, operations: Operations) -> None:
    """Rewrite an allocs profile as what it has more than another of fewer operations.

    `operations` are the operations that it has more. What starts the process, and what
    sets the benchmark up, is in both and cancels.
    """
    more, less = (_without_harness(_read(one), operations) for one in (path, fewer))
    rest = subtract(more, less, label=False)
    counted = [kind.type.startswith("alloc_") for kind in rest.sample_types]
    values = np.where(np.array(counted), np.maximum(rest.values, 0), 0)
    some = np.flatnonzero(values.any(axis=1))
    kept = rest.with_values(values).take(some)
    # The time and period are those of the profile that has more.
    header = replace(kept, time_ns=more.time_ns, period=more.period)
    _write(path, with_operations(header, operations))


def _read(path: str) -> Profile:
    with open(path, "rb") as file:
        return decode(decompress(file.read(), path), path)


def _write(path: str, profile: Profile) -> None:
    with open(path, "wb") as file:
        file.write(compress(encode(profile)))


def _without_harness(profile: Profile, operations: Operations) -> Profile:
    """Return the samples of operations, and of goroutines that operations started.

    Of a sub-benchmark, what the function above it does before ``b.Run`` is none of its
    operations.
    """
    above = operations.name.rpartition(" ")[2].partition("/")
    frames = profile.frames()
    name = np.array([*profile.function_names(), ""], dtype=object)
    function = name[profile.locations.line_function[frames.line]]
    loop = last_in_row(function == _LOOP, frames.offsets)
    # Stacks begin at the leaf: what the loop calls stands right before it.
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
    """Return which functions that the loop calls do no operation.

    `above` is the function that sets a sub-benchmark up, "" for none.
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
    """Return which rows hold a marked item."""
    return first_in_row(marked, offsets) >= 0
