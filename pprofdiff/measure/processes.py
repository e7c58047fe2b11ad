"""Run one benchmark of a side in its own process."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from pprofdiff.measure.children import Ended
from pprofdiff.measure.failures import run_tests
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.leaves import Leaf, pattern_of
from pprofdiff.measure.sides import SideName

_FORCED = re.compile(rb"^gc \d+ @.*\(forced\)\s*$\n?", re.MULTILINE)
# How often `go test` calls a benchmark function, including the root of all benchmarks.
_CALLS = 3


def run_leaf(
    layouts: Layouts,
    side: SideName,
    leaf: Leaf,
    iterations: int,
    flags: Sequence[str] = (),
    gctrace: str = "",
) -> tuple[bytes, Ended]:
    """Run one benchmark in the current layout; see `run_tests`."""
    asked = layouts.asked
    words = [
        *(f"-test.bench={pattern_of(leaf)}", "-test.count=1"),
        *(f"-test.benchtime={iterations}x", *leaf.flags, *flags),
        *(*asked.test, *asked.arguments),
    ]
    binary = layouts.of(side, leaf.package)
    return run_tests(layouts.trees[side], binary, words, gctrace)


def without_forced(path: str) -> None:
    """Drop the GC cycles that ``go test`` forces; remove the log if none remain.

    It forces one before each call: of the root benchmark, for b.N = 1, and for b.N. If
    there are more, the program forces them itself, and all are kept.
    """
    with open(path, "rb") as file:
        text = file.read()
    if len(_FORCED.findall(text)) <= _CALLS:
        text = _FORCED.sub(b"", text)
    if not re.search(rb"^gc \d+ @", text, re.MULTILINE):
        os.unlink(path)
        return
    with open(path, "wb") as file:
        file.write(text)
