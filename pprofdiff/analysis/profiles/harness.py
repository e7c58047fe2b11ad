"""Separates the samples of a benchmark's operations from its harness's.

A ``go test -bench`` process starts up, parses flags, finds benchmarks and prints. An
exact allocs profile has all of that, and dividing it by the operations would be wrong.
"""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.side import BENCHMARK_LOOPS
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.arrays import Mask
from pprofdiff.model.csr import first_in_row
from pprofdiff.model.profiles.profile import Profile


def of_operations(diff: ProfileDiff) -> tuple[Mask, Mask]:
    """Return which samples of (base, new) come from a benchmark function.

    The frame of package testing nearest the leaf is then the benchmark loop. Goroutines
    that the benchmark starts have no testing frame and count too; stacks rooted in the
    runtime do not.
    """
    base, new = (_of_side(side.profile) for side in (diff.base, diff.new))
    return base, new


def is_testing(name: str) -> bool:
    """Return whether a function is in package testing, which runs benchmarks."""
    return package_of(name) == "testing"


def _of_side(profile: Profile) -> Mask:
    names = profile.function_names()
    testing = np.array([*map(is_testing, names), False], np.bool_)
    loop = np.array([*(name in BENCHMARK_LOOPS for name in names), False], np.bool_)
    runtime = np.array([*map(_is_runtime, names), True], np.bool_)
    found = [np.zeros(0, np.bool_)]
    for _, _, frames in walk(profile):
        functions = np.append(profile.locations.line_function[frames.line], -1)
        nearest = first_in_row(testing[functions[:-1]], frames.offsets)
        filled = np.diff(frames.offsets) > 0
        root = np.where(filled, frames.offsets[1:] - 1, -1)
        called = loop[functions[nearest]] & (nearest > frames.offsets[:-1])
        found.append(np.where(nearest >= 0, called, filled & ~runtime[functions[root]]))
    return np.concatenate(found)


def _is_runtime(name: str) -> bool:
    return package_of(name).partition("/")[0] == "runtime"
