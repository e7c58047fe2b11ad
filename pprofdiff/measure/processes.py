"""Run one benchmark of a side in its own process."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence

from pprofdiff.measure.children import Ended, Program, run
from pprofdiff.measure.failures import failed, undone
from pprofdiff.measure.gobuild import Tree
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.leaves import Leaf, pattern_of
from pprofdiff.measure.sides import SideName

_MOST = 1 << 26
_FORCED = re.compile(rb"^gc \d+ @.*\(forced\)\s*$\n?", re.MULTILINE)
# How often `go test` calls a benchmark function, including the root of all benchmarks.
_CALLS = 3


class Processes:
    """Both sides' test binaries, and how to run them."""

    def __init__(
        self,
        asked: GoTest,
        trees: Mapping[SideName, Tree],
        layouts: Layouts,
    ) -> None:
        self.asked = asked
        self.layouts = layouts
        self._trees = trees

    def run(
        self,
        side: SideName,
        leaf: Leaf,
        iterations: int,
        flags: Sequence[str] = (),
        gctrace: str = "",
    ) -> tuple[bytes, Ended]:
        """Run one benchmark; return its output and how the process ended.

        Raises MeasureError if the benchmark fails or runs no operations.
        """
        tree, binary = self._trees[side], self.layouts.of(side, leaf.package)
        words = [
            *(binary.path, "-test.run=^$", f"-test.bench={pattern_of(leaf)}"),
            *("-test.count=1", f"-test.benchtime={iterations}x", *leaf.flags),
            *flags,
            *(*self.asked.test, *self.asked.arguments),
        ]
        variables = dict(tree.environment)
        if gctrace:
            given = variables.get("GODEBUG")
            variables["GODEBUG"] = f"{given},gctrace=1" if given else "gctrace=1"
        with tempfile.TemporaryDirectory(dir=os.path.dirname(binary.path)) as own:
            names = os.path.join(own, "out"), gctrace or os.path.join(own, "errors")
            with open(names[0], "wb") as out, open(names[1], "wb") as errors:
                ended = run(Program(words, binary.folder, variables), out, errors)
            if ended.status or undone(names[0]):
                raise failed(tree, leaf.package, ended.status, names)
            with open(names[0], "rb") as file:
                return file.read(_MOST), ended


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
