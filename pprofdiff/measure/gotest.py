"""Run ``go test`` benchmarks: rounds of short timed turns and one profiled run each."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from statistics import median
from typing import Any, NamedTuple

from pprofdiff.analysis.figures.costs import CPU
from pprofdiff.errors import FormatError, MeasureError
from pprofdiff.measure.captured import keep_allocations, keep_operations
from pprofdiff.measure.children import Ended
from pprofdiff.measure.gobuild import run_tests
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.leaves import (
    Counts,
    Leaf,
    folders_of,
    operations_in,
    pattern_of,
    raised,
)
from pprofdiff.measure.sides import SIDES, SideName, Started, order
from pprofdiff.model.profiles.profile import Operations
from pprofdiff.units import printable

# Seconds until rounds end, from the start of the command, so that one benchmark takes
# less than a minute including build and report. However long the build takes, rounds
# get half a minute.
_SECONDS, _SECONDS_MORE, _SECONDS_MOST, _SECONDS_LEAST = 55.0, 15.0, 300.0, 30.0
# CPU time of 300 samples, so a function with 5% of it has 15. With many benchmarks,
# five times as much is enough.
_SAMPLED_S, _ENOUGH_FOR = 3.0, 5
# From this many iterations on, `go test` calls a benchmark twice: for b.N = 1 and b.N.
_TWICE = 2
# Involuntary context switches per CPU second: a Go program's own threads cause 300 to
# 900 on two processors (19 benchmarks); with three busy programs, 1,400 to 4,000.
_BUSY = 2000
# The most time outside the timer, as a part of time per op, for CPU per op to be of
# operations: it is then off by as much as turns of one build differ.
_OUTSIDE = 1 / 20
# The fewest turns and start-ups whose ranges are seldom separate by chance: of four and
# four in 1 of 70 orders.
_KNOWN = 4
# Start-up is measured in each turn if there are few benchmarks, else in a few turns.
_FEW, _EMPTY_TURNS = 5, 3
_RESULT = re.compile(rb"^Benchmark\S+\s+\d+\s.*$", re.MULTILINE)
_TIME = re.compile(rb"^Benchmark\S+\s+\d+\s+([0-9.e+-]+) ns/op", re.MULTILINE)
_HEADER = re.compile(rb"^(?:goos|goarch|pkg|cpu): .*$", re.MULTILINE)
_IN_TURNS = "measured: in turns"
_FORCED = re.compile(rb"^gc \d+ @.*\(forced\)\s*$\n?", re.MULTILINE)
# How often `go test` calls a benchmark function, including the root of all benchmarks.
_CALLS = 3


class Plan(NamedTuple):
    """Iterations of a benchmark: in timed turns, profiled, for allocation sites."""

    timed: Counts
    profiled: Counts
    counted: Counts


_Ran = tuple[Leaf, bytes, Ended]


class GoBenchmarks:
    """Both sides' test binaries; each benchmark runs in its own process."""

    def __init__(
        self,
        layouts: Layouts,
        plans: Mapping[Leaf, Plan],
        turns: int,
        alike: int,
        seconds: float | None,
        rewritten: Sequence[str] = (),
    ) -> None:
        self._run = partial(run_leaf, layouts)
        self._rewritten = rewritten
        self._layouts = layouts
        self._alike = alike
        self._turn_s = seconds
        self.plans = dict(plans)
        self.turns = turns
        self._folders = folders_of(list(plans))
        self._number = count()
        self._empty: dict[tuple[SideName, Leaf], list[Ended]] = {}
        self._without_cpu: set[Leaf] = set()
        self._counted = self._timed_before = False
        self._preempted = 0
        self._cpu_s = 0.0
        self._sampled_s = dict.fromkeys(SIDES, 0.0)

    def seconds(self, spent: float) -> float:
        """Return how many seconds rounds may take; more for more benchmarks."""
        whole = _SECONDS + (len(self.plans) - 1) * _SECONDS_MORE
        return max(min(whole, _SECONDS_MOST) - spent, _SECONDS_LEAST)

    @property
    def traceable(self) -> bool:
        """Return whether there is exactly one benchmark and it is not a sub-benchmark.

        A parent's goroutine that calls ``b.Run`` waits for its sub-benchmarks, which
        looks the same as waits of the code under test.
        """
        return len(self.plans) == 1 and "/" not in next(iter(self.plans)).name

    @property
    def enough(self) -> bool:
        """Return whether each side has 300 samples per benchmark, for at most five."""
        wanted = _SAMPLED_S * min(len(self.plans), _ENOUGH_FOR)
        return min(self._sampled_s.values()) >= wanted

    def round(self, folders: Mapping[SideName, str]) -> Started:
        """Run a round; write ``bench.txt`` and a folder per benchmark.

        Folders are absolute paths, as programs run elsewhere. Raises MeasureError.
        ``bench.txt`` has one line per turn. A benchmark's folder has ``cpu.pb.gz`` and
        ``gctrace.log`` of one process; in the first round also ``allocs.pb.gz``, which
        samples every allocation.
        """
        began = self.timed_round(folders)
        sides = order(next(self._number))
        for leaf in self.plans:
            for side in sides:
                folder = os.path.join(folders[side], self._folders[leaf])
                os.makedirs(folder)
                self._profiled(side, leaf, folder)
                if not self._counted:
                    self._sites(side, leaf, folder)
        self._counted = True
        return began

    def timed_round(self, folders: Mapping[SideName, str]) -> Started:
        """Run the timed turns of a round alone; write ``bench.txt``."""
        began, ran = self._in_turns()
        if not self._timed_before:
            if self._turn_s is not None and self._run_longer(ran, self._turn_s):
                # The cost per op may depend on b.N: all turns of a benchmark have one.
                began, ran = self._in_turns()
            # All rounds print the same figures, or turns would not pair.
            self._without_cpu = {
                leaf
                for leaf in self.plans
                if not all(self._mostly_timed(side, ran[side], leaf) for side in SIDES)
            }
        for side in SIDES:
            lines = [_round(began, side), self._heading()]
            for leaf, printed, ended in ran[side]:
                lines += self._lines(side, leaf, printed, ended, lines)
            with open(os.path.join(folders[side], "bench.txt"), "wb") as file:
                file.write(b"\n".join([*lines, b""]))
        self._timed_before = True
        return tuple(began.items())

    def _in_turns(self) -> tuple[dict[SideName, float], dict[SideName, list[_Ran]]]:
        began: dict[SideName, float] = {}
        ran: dict[SideName, list[_Ran]] = {side: [] for side in SIDES}
        for turn in range(self.turns):
            if turn % self._alike == 0:
                self._layouts.change()
            sides = order(next(self._number))
            for leaf in self.plans:
                for side in sides:
                    began.setdefault(side, time.time())
                    ran[side].append((leaf, *self._timed(side, leaf)))
                    if turn < self._empty_turns:
                        self._start_up(side, leaf)
        return began, ran

    def _run_longer(self, ran: Mapping[SideName, list[_Ran]], seconds: float) -> bool:
        """Raise iterations to turns of about `seconds`; return whether any rose."""
        rose = False
        for leaf, plan in self.plans.items():
            took = {
                side: median([s for s, _ in _times(ran[side], leaf)] or [0.0])
                for side in SIDES
            }
            if min(took.values()) > 0:
                timed = raised(plan.timed, took, seconds)
                self.plans[leaf] = plan._replace(timed=timed)
                if timed != plan.timed:
                    rose = True
                    for side in SIDES:
                        self._empty.pop((side, leaf), None)
        return rose

    def trace(self, side: SideName, folder: str) -> None:
        """Write trace.out of the first benchmark, from one run as long as a turn."""
        leaf, plan = next(iter(self.plans.items()))
        flags = [f"-test.trace={os.path.join(folder, 'trace.out')}"]
        self._run(side, leaf, plan.timed.of(side), flags)

    def doubts(self) -> list[str]:
        """Return a warning if other programs used the processors."""
        switches = self._switches()
        if switches is None or switches < _BUSY:
            return []
        often = f"{switches:,.0f} involuntary context switches per CPU second"
        waits = "other programs are running, and time/op includes waiting for them"
        return [f"{often}: {waits}"]

    def notes(self) -> dict[str, Any]:
        """Return which benchmarks run, and their iterations, for `measure.json`."""
        return {
            "benchmarks": [
                {
                    "package": leaf.package,
                    "name": leaf.shown,
                    "folder": self._folders[leaf],
                    "timed": plan.timed._asdict(),
                    "profiled": plan.profiled._asdict(),
                }
                for leaf, plan in self.plans.items()
            ],
            "turns_a_round": self.turns,
            "turns_a_layout": self._alike if self._layouts.vary else None,
            "involuntary_context_switches_per_cpu_second": self._switches(),
            "build_flags": list(self._layouts.asked.build),
            "test_flags": list(self._layouts.asked.test),
            "arguments": list(self._layouts.asked.arguments),
        }

    def _heading(self) -> bytes:
        alike = f", {self._alike} a layout" if self._layouts.vary else ""
        lines = [f"{_IN_TURNS}{alike}"]
        if self._rewritten:
            lines.append(f"rewritten: {', '.join(self._rewritten)}")
        return "\n".join(lines).encode()

    def _switches(self) -> float | None:
        """Return involuntary context switches per CPU second, None if not counted."""
        return round(self._preempted / self._cpu_s, 1) if self._cpu_s else None

    @property
    def _empty_turns(self) -> int:
        """Return the number of turns in a round that also measure start-up."""
        return self.turns if len(self.plans) <= _FEW else _EMPTY_TURNS

    def _timed(self, side: SideName, leaf: Leaf) -> tuple[bytes, Ended]:
        iterations = self.plans[leaf].timed.of(side)
        printed, ended = self._run(side, leaf, iterations, ["-test.benchmem"])
        if ended.preempted is not None and ended.cpu_s is not None:
            self._preempted += ended.preempted
            self._cpu_s += ended.cpu_s
        return printed, ended

    def _start_up(self, side: SideName, leaf: Leaf) -> None:
        """Measure a process that runs the fewest operations, none if a turn runs one.

        Measured between turns, start-up drifts as they do.
        """
        iterations = self.plans[leaf].timed.of(side)
        none = ["-test.bench=^$"] if iterations == 1 else []
        _, ended = self._run(side, leaf, _least(iterations), none)
        self._empty.setdefault((side, leaf), []).append(ended)

    def _more(self, side: SideName, leaf: Leaf) -> int:
        """Return how many operations a turn runs more than start-up does."""
        iterations = self.plans[leaf].timed.of(side)
        if iterations == 1:
            return 1
        return operations_in(iterations) - operations_in(_least(iterations))

    def _mostly_timed(self, side: SideName, ran: Sequence[_Ran], leaf: Leaf) -> bool:
        """Return whether little of a turn, start-up apart, is outside the timer.

        Processes start late on a busy machine, so it is no only if the shortest turn
        shows it: after the usual start-up in turns of one operation, whose set-up no
        start-up has, else after the longest, of enough.
        """
        started = [one.wall_s for one in self._empty.get((side, leaf), ())]
        more = self._more(side, leaf)
        if not started or (more > 1 and len(started) < _KNOWN):
            return True
        start = median(started) if more == 1 else max(started)
        times = [
            (ended.wall_s - start) / (seconds * more)
            for seconds, ended in _times(ran, leaf)
            if seconds > 0
        ]
        return min(times, default=1.0) <= 1 + _OUTSIDE

    def _lines(
        self,
        side: SideName,
        leaf: Leaf,
        printed: bytes,
        ended: Ended,
        before: Sequence[bytes],
    ) -> list[bytes]:
        results = _RESULT.findall(printed)
        if not results:
            raise _cut("bench.txt")
        cpu = self._cpu_per_op(side, leaf, ended)
        if cpu is not None and len(results) == 1:
            results = [
                b"%s\t%12.1f %s" % (results[0].rstrip(), cpu, CPU.printed.encode())
            ]
        header = _HEADER.findall(printed)
        if _package(header) == _package(before):
            header = []
        return [*header, *results]

    def _cpu_per_op(self, side: SideName, leaf: Leaf, ended: Ended) -> float | None:
        """Return CPU ns per op without start-up, 0 if that took all of it.

        None if the system does not count CPU time, or much is outside the timer.
        """
        if ended.cpu_s is None or leaf in self._without_cpu:
            return None
        started = self._empty.get((side, leaf), ())
        cpu = [one.cpu_s for one in started if one.cpu_s is not None]
        if not cpu:
            return None
        return max(ended.cpu_s - median(cpu), 0.0) / self._more(side, leaf) * 1e9

    def _profiled(self, side: SideName, leaf: Leaf, folder: str) -> None:
        iterations = self.plans[leaf].profiled.of(side)
        profile = os.path.join(folder, "cpu.pb.gz")
        log = os.path.join(folder, "gctrace.log")
        flags = [f"-test.cpuprofile={profile}"]
        self._run(side, leaf, iterations, flags, gctrace=log)
        try:
            done = _named(leaf, operations_in(iterations))
            sources = self._layouts.of(side, leaf.package).folder
            self._sampled_s[side] += keep_operations(profile, done, sources)
        except (OSError, FormatError):
            raise _cut(profile) from None
        without_forced(log)

    def _sites(self, side: SideName, leaf: Leaf, folder: str) -> None:
        """Write an allocs profile with every allocation of some operations.

        Subtracting a shorter run removes start-up.
        """
        profile = os.path.join(folder, "allocs.pb.gz")
        fewer = f"{profile}.fewer"
        most = self.plans[leaf].counted.of(side)
        for path, iterations in ((profile, most), (fewer, _TWICE)):
            flags = [f"-test.memprofile={path}", "-test.memprofilerate=1"]
            self._run(side, leaf, iterations, flags)
        try:
            more = operations_in(most) - operations_in(_TWICE)
            sources = self._layouts.of(side, leaf.package).folder
            keep_allocations(profile, fewer, _named(leaf, more), sources)
        except (OSError, FormatError):
            raise _cut(profile) from None
        os.unlink(fewer)


def _times(ran: Sequence[_Ran], leaf: Leaf) -> Iterator[tuple[float, Ended]]:
    """Yield the seconds per op that each turn of a benchmark printed, and its end."""
    for one, printed, ended in ran:
        if one == leaf:
            for ns in _TIME.findall(printed):
                yield float(ns) / 1e9, ended


def _round(began: Mapping[SideName, float], side: SideName) -> bytes:
    """Return the line that identifies a round, the same on both sides but for the side.

    A ``key: value`` line that differs would separate the sides' tables in benchstat.
    """
    at = datetime.fromtimestamp(min(began.values()), UTC)
    when = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"Round of {when}, {side}".encode()


def _least(iterations: int) -> int:
    """Return the fewest iterations that have the same start-up and set-up."""
    return _TWICE if iterations >= 10 * _TWICE else 1


def _named(leaf: Leaf, count: int) -> Operations:
    return Operations(count, f"{leaf.package} {leaf.shown}")


def _package(lines: Sequence[bytes]) -> bytes:
    return next((line for line in reversed(lines) if line.startswith(b"pkg: ")), b"")


def _cut(path: str) -> MeasureError:
    return MeasureError(
        f"{printable(path)}: the benchmark succeeded, but this file is incomplete: "
        "is the disk full?"
    )


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
