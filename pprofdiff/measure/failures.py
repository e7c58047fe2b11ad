"""Run a test binary, and turn the output of one that fails into one error."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence

from pprofdiff.errors import MeasureError
from pprofdiff.measure.children import Ended, Program, first_lines, run
from pprofdiff.measure.gobuild import Binary, Tree, here, with_gctrace
from pprofdiff.units import printable

_MOST = 1 << 26
# The result line of a benchmark that ran no operations.
_NOTHING_DONE = re.compile(rb"^Benchmark\S*\s+0\s", re.MULTILINE)
# What a test binary prints of benchmarks that do not fail.
_OF_OTHERS = re.compile(rb"(?:goos|goarch|pkg|cpu): |PASS$|Benchmark\S*\s+[1-9]\d*\s")
# The runtime writes a GODEBUG=gctrace=1 line in pieces (mgc.go), so the program's
# output may split it: this matches a whole line, its start or its end.
_GCTRACE = re.compile(
    rb"^gc \d+ @[\d.]*s?"
    rb"(?:[\d.+/>%:, -]|ms|clock|cpu|MB|goal|stacks|globals|(?<=\d )P|\(forced\))*"
    rb"|^(?:[\d ]*P)?(?: \(forced\))?$",
    re.MULTILINE,
)


def run_tests(
    tree: Tree, binary: Binary, flags: Sequence[str], gctrace: str = ""
) -> tuple[bytes, Ended]:
    """Run a test binary without its tests; return its output and how it ended.

    `gctrace` is the file for the log of GC cycles. Raises MeasureError if a benchmark
    fails or runs no operations.
    """
    words = [binary.path, "-test.run=^$", *flags]
    variables = with_gctrace(tree.environment) if gctrace else tree.environment
    with tempfile.TemporaryDirectory(dir=os.path.dirname(binary.path)) as own:
        names = os.path.join(own, "out"), gctrace or os.path.join(own, "errors")
        with open(names[0], "wb") as out, open(names[1], "wb") as errors:
            ended = run(Program(words, binary.folder, variables), out, errors)
        with open(names[0], "rb") as file:
            printed = file.read(_MOST)
        # A program that exits while a benchmark panics, or a benchmark that calls
        # runtime.Goexit (testing.(*B).launch), may exit with status 0.
        if ended.status or _NOTHING_DONE.search(printed):
            raise _failed(tree, binary.package, ended.status, names)
        return printed, ended


def _failed(
    tree: Tree, package: str, status: int, names: tuple[str, str]
) -> MeasureError:
    """Return the error for a failed test binary; `names` are its output files."""
    said = []
    for name in names:
        with open(name, "rb") as file:
            said.append(file.read(_MOST))
    # gctrace lines, headers and results do not explain the failure.
    text = b"\n".join(
        line
        for part in said
        for line in without_gctrace(part).splitlines()
        if not _OF_OTHERS.match(line)
    )
    lines = here(tree, first_lines(text))
    marks = ("--- FAIL", "panic:", "fatal error:")
    reason = next((line for line in lines if line.startswith(marks)), "")
    if not status and not reason:
        reason = "a benchmark ended before its first iteration"
    if not reason:
        reason = lines[0] if lines and status > 0 else _ended(status)
    return MeasureError(
        f"{tree.checkout.label}: the benchmarks of {printable(package)} fail: "
        f"{reason.strip()}",
        lines,
    )


def without_gctrace(said: bytes) -> bytes:
    """Return a program's output without gctrace lines."""
    return _GCTRACE.sub(b"", said)


def _ended(status: int) -> str:
    return f"ended by signal {-status}" if status < 0 else f"exit status {status}"
