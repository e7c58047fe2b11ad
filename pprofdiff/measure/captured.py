"""Remove the test harness and set-up from the profiles of one benchmark's process.

``go test`` forces a GC before each benchmark, reads memory statistics when a timer
stops, writes profiles and initialises packages (testing/benchmark.go). So are lines of
a benchmark that run while its timer does not count: ``b.ResetTimer`` and the first
``b.Loop`` discard what was timed before them; the timer stands between ``b.StopTimer``
and ``b.StartTimer``, and after a loop of ``b.Loop``. In doubt a line counts.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from functools import cache, cached_property
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.source.declarations import GoFile
from pprofdiff.inputs.decompression import decompress
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.csr import first_in_row, grouped, last_in_row
from pprofdiff.model.profiles.merge import subtract
from pprofdiff.model.profiles.profile import (
    Frames,
    Operations,
    Profile,
    with_operations,
)

_LOOP = "testing.(*B).runN"
# Frames under the loop that start, stop or reset the benchmark timer.
_CLOCK = (
    "testing.(*B).ResetTimer",
    "testing.(*B).StartTimer",
    "testing.(*B).StopTimer",
)
# Roots of goroutines that run no operations.
_ROOTS = ("runtime.main", "runtime/pprof.profileWriter", "testing.tRunner")
Verdict = Literal["counts", "untimed", "see callee"]

_MOST = 1 << 24
_PARAMETER = re.compile(r"\b(\w+)\s+\*testing\.B\b")
_CLOSURE = re.compile(r"[.-](?:func|gowrap|deferwrap|range)?\d+\Z")
# Braces, keywords, and calls of a benchmark's timer with the keyword before.
_WORDS = (
    r"[{{}}]|\b(?:return|case|default)\b|(?:\b(\w+)[ \t]+)?\b{b}\.(\w+Timer|Loop)\b"
)


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


class _Stopped(NamedTuple):
    """Where a timer stopped: the line, and the number of the block in braces."""

    line: int
    block: int


class BenchmarkSources:
    """The source files of benchmark functions, read as needed.

    A path in a profile that is not absolute (``-trimpath``) is looked for in `folder`.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = cache(self._read)
        self._function = cache(self._parsed)

    def verdict(self, path: str, name: str, start: int, line: int) -> Verdict:
        """Return whether a line of a function counts as an operation's.

        `name` and `start`, the first line, are the function's in a profile. "see
        callee" if the line is in no loop, so that a function which it calls with the
        same `b` may reset the timer.
        """
        function = self._function(path, name, start)
        if function is None:
            return "counts"
        if any(first <= line <= last for first, last in function.untimed):
            return "untimed"
        return "counts" if function.in_loop(line) else "see callee"

    def _read(self, path: str) -> GoFile | None:
        if not os.path.isabs(path):
            path = os.path.join(self._folder, os.path.basename(path))
        try:
            with open(path, "rb") as file:
                text = file.read(_MOST).decode("utf-8", "replace")
        except (OSError, ValueError):
            return None
        if "*testing.B" not in text:
            return None
        return GoFile(text.replace("\r\n", "\n") + "\n")

    def _parsed(self, path: str, name: str, start: int) -> _Function | None:
        file = self._file(path)
        if file is None or start <= 0:
            return None
        plain = name.removesuffix("[...]")
        if _CLOSURE.search(plain):
            found = [
                (one.start, one.end)
                for one in file.closures(0, len(file.plain))
                if one.kind == "func" and one.line == start
            ]
        else:
            found = [
                (one.start, one.end)
                for one in file.functions
                if one.line == start
                and one.name.rpartition(".")[2] == plain.rpartition(".")[2]
            ]
        # Nothing distinguishes several function literals in one line.
        if len(found) != 1:
            return None
        opening = _body(file.plain, *found[0])
        parameter = _PARAMETER.search(file.plain, found[0][0], opening)
        return parameter and _Function(file, start, opening, found[0][1], parameter[1])


def _body(plain: str, start: int, end: int) -> int:
    """Return the offset of the brace that opens a function's body, or `end`."""
    depth = 0
    for mark in re.finditer(
        r"\b(?:struct|interface)\s*\{\s*\}|[()\[\]{]", plain[start:end]
    ):
        if mark[0] == "{" and depth == 0:
            return start + mark.start()
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(mark[0], 0)
    return end


class _Function:
    """A function with a benchmark parameter, by its text without comments."""

    def __init__(self, file: GoFile, first: int, start: int, end: int, b: str) -> None:
        self._file = file
        self._first = first
        self._start = start
        self._end = end
        self._b = b
        newlines = re.finditer(r"\n", file.plain)
        self._newlines = [newline.start() for newline in newlines]

    def _line(self, at: int) -> int:
        return bisect_left(self._newlines, at) + 1

    def in_loop(self, line: int) -> bool:
        return any(
            one.line <= line <= self._line(one.end)
            for one in self._file.closures(self._start, self._end)
            if one.kind == "for"
        )

    @cached_property
    def untimed(self) -> list[tuple[int, int]]:
        text = self._own_text()
        if text is None or re.search(r"\bgoto\b", text):
            return []
        timer = _Timer(self._first, len(re.findall(rf"\b{self._b}\.Loop\b", text)))
        for word in re.finditer(_WORDS.format(b=self._b), text):
            before, call = word.groups()
            # A deferred call, or one in a new goroutine, runs at another time.
            if before not in ("defer", "go"):
                line = self._line(self._start + word.end())
                timer.read(f"for {call}" if before == "for" else call or word[0], line)
            if timer.ended:
                break
        # A callee with `b` could start the timer again.
        stopped = timer.stopped_at
        if stopped and not re.search(
            rf"\b{self._b}\b(?!\.)", text[self._newlines[stopped - 1] - self._start :]
        ):
            timer.untimed.append((stopped + 1, self._line(self._end) - 1))
        return timer.untimed

    def _own_text(self) -> str | None:
        """Return the body with blanks for function literals; None in doubt.

        A literal that uses the timer may be called anywhere, unless it has a timer of
        its own, as a sub-benchmark has.
        """
        text = self._file.plain[self._start : self._end]
        timer = rf"\b{self._b}\.(?:\w+Timer|Loop)\b"
        if re.search(timer + r"(?!\(\))", text):
            return None
        for literal in self._file.closures(self._start, self._end):
            if literal.kind == "func":
                start, end = literal.start - self._start, literal.end - self._start
                inside = text[start:end]
                if not _PARAMETER.search(inside) and re.search(timer, inside):
                    return None
                blank = re.sub(r"[^\n]", "_", inside)
                text = text[:start] + blank + text[end:]
        return text


class _Timer:
    """The timer as a function's words are read in order, from its opening brace.

    `untimed` has the (first, last) lines that do not count so far, `stopped_at` the
    line where the function's own block stopped the timer for good, 0 if it did not.
    """

    def __init__(self, first: int, loops: int) -> None:
        self.untimed: list[tuple[int, int]] = []
        self.stopped_at = 0
        self._first = first
        self._loops = loops
        self._blocks: list[int] = []
        self._number = 0
        self._loop = 0
        self._returned = False
        self._stopped: _Stopped | None = None

    @property
    def ended(self) -> bool:
        return not self._blocks

    def read(self, word: str, line: int) -> None:
        if word == "{":
            self._number += 1
            self._blocks.append(self._number)
        elif word == "}":
            self._end_block(line)
        elif word == "return":
            self._returned = True
        elif word == "StopTimer":
            self._stopped = self._stopped or _Stopped(line, self._blocks[-1])
        elif word in ("StartTimer", "case", "default"):
            self._start(word, line)
        elif len(self._blocks) == 1 and not self._returned:
            self._reset(word, line)

    def _start(self, word: str, line: int) -> None:
        here = self._stopped and self._stopped.block == self._blocks[-1]
        if self._stopped and here and word == "StartTimer":
            self.untimed.append((self._stopped.line + 1, line - 1))
        if here or word == "StartTimer":
            self._stopped = None

    def _reset(self, word: str, line: int) -> None:
        starts = word == "for Loop" and self._loops == 1
        if starts:
            self._loop = self._number + 1
        if starts or word == "ResetTimer":
            self.untimed.append((self._first, line - 1))

    def _end_block(self, line: int) -> None:
        ended = self._blocks.pop()
        if self._stopped and self._stopped.block == ended:
            self.stopped_at = 0 if self._blocks else self._stopped.line
            self._stopped = None
        if ended == self._loop:
            self._stopped = _Stopped(line, self._blocks[-1])
