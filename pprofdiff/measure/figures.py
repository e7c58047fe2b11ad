"""The figures that a search over commits follows: each benchmark's time or CPU."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import log
from typing import Any, Protocol

from pprofdiff.analysis.benchmarks.times import BenchmarkKey
from pprofdiff.analysis.benchmarks.turns import measured_in_turns
from pprofdiff.analysis.bisection.search import changed
from pprofdiff.analysis.figures.costs import COSTS, CPU, TIME
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.inputs.sides import Loaded, load_sides
from pprofdiff.kinds import KindId
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.leaves import Leaf
from pprofdiff.measure.sides import SIDES

# More benchmarks share the time of a round, so that each needs more of them.
_MOST = 5
_FIGURES = TIME.id, CPU.id
_TIMED: tuple[KindId, ...] = ("benchmark",)


class Figures(Protocol):
    """What a search follows: figures that the ends have, selected by their names."""

    profiled: bool

    def at_ends(self, out: str, rounds: int, *, last: bool) -> dict[str, Ratio] | None:
        """Return the figures that changed as asked, None if more rounds should show.

        `out` has the captures of the good end in ``base``, of the bad one in ``new``.
        """

    def at(self, out: str) -> dict[str, Ratio]:
        """Return the figures in `out` as ratios to good: the chosen ones, if any."""

    def figure(self) -> str:
        """Return what is followed, such as CPU per op."""

    def chosen(self) -> list[str]:
        """Return the names of the chosen figures, as `at` has them."""

    def shown(self, name: str) -> str:
        """Return a figure's name for people."""

    def narrowed(self, asked: GoTest) -> GoTest:
        """Return what has to be built and run for the chosen figures."""

    def needs(self, leaf: Leaf) -> bool:
        """Return whether a benchmark is needed for the chosen figures."""

    def noted(self) -> dict[str, Any]:
        """Return what was chosen, in JSON."""

    def chosen_before(self, noted: Mapping[str, Any]) -> None:
        """Choose what another run noted."""


class BenchmarkFigures:
    """Time or CPU per op of the benchmarks that became slower, or faster."""

    profiled = False

    def __init__(self, least: float, *, faster: bool) -> None:
        self._least = least
        self._faster = faster
        self._figure = TIME.id
        self._chosen: list[BenchmarkKey] = []

    def at_ends(self, out: str, rounds: int, *, last: bool) -> dict[str, Ratio] | None:
        """Return the benchmarks that changed as asked; see `Figures`."""
        loaded = _loaded(out)
        each = {figure: self._ratios(loaded, figure) for figure in _FIGURES}
        every = [one for ratios in each.values() for one in ratios.values()]
        if not every:
            return {}
        found = changed(every, self._least, last=last, rounds=rounds)
        if found is None:
            return None
        moved = iter(found)
        asked = {
            figure: [
                key
                for key, ratio in ratios.items()
                if next(moved) and (ratio.ratio < 1) == self._faster
            ]
            for figure, ratios in each.items()
        }
        # CPU/op alone says nothing where time/op is known to change the other way.
        asked["cpu"] = [k for k in asked["cpu"] if not self._contrary(each["time"][k])]
        self._figure = max(_FIGURES, key=lambda one: _reach(each[one], asked[one]))
        ratios = each[self._figure]
        own = sorted(asked[self._figure], key=lambda key: -_clear(ratios[key]))
        self._chosen = own[:_MOST]
        return {_text(key): ratios[key] for key in self._chosen}

    def _contrary(self, ratio: Ratio) -> bool:
        return ratio.sure and (ratio.ratio > 1) == self._faster

    def at(self, out: str) -> dict[str, Ratio]:
        """Return benchmarks' ratios; see `Figures`."""
        ratios = self._ratios(_loaded(out), self._figure)
        return {_text(k): r for k, r in ratios.items() if k in (self._chosen or ratios)}

    def _ratios(self, loaded: Loaded, figure: str) -> dict[BenchmarkKey, Ratio]:
        turns = loaded.base and measured_in_turns(loaded.base, loaded.new)
        if not turns:
            return {}
        columns = turns.seconds if figure == "time" else turns.cpu_seconds
        if columns is None:
            return {}
        known = turns.has_cpu | (figure == "time")
        every = zip(turns.names, turns.each(columns), known.tolist(), strict=True)
        return {key: one.ratio() for key, one, has in every if has}

    def figure(self) -> str:
        """Return what is followed."""
        return COSTS[self._figure].noun

    def chosen(self) -> list[str]:
        """Return the chosen benchmarks."""
        return list(map(_text, self._chosen))

    def shown(self, name: str) -> str:
        """Return a benchmark's name, with its package if several are followed."""
        package, _, full = name.partition(" ")
        several = len({own for _, _, own in self._chosen}) > 1
        short = full.rpartition("-")[0]
        return f"{package}.{short}" if several else short

    def narrowed(self, asked: GoTest) -> GoTest:
        """Return the packages of the chosen benchmarks, and a pattern for them."""
        packages = dict.fromkeys(own for _, _, own in self._chosen if own)
        functions = dict.fromkeys(n.partition("/")[0] for n, _, _ in self._chosen)
        if not self._chosen or "/" in asked.pattern:
            return asked._replace(packages=tuple(packages) or asked.packages)
        pattern = "|".join(f"Benchmark{name}" for name in functions)
        return asked._replace(packages=tuple(packages), pattern=f"^({pattern})$")

    def needs(self, leaf: Leaf) -> bool:
        """Return whether a benchmark is one of the chosen ones."""
        return not self._chosen or any(
            (leaf.package, leaf.name) == (own, name) and leaf.cpu in (0, procs or 1)
            for name, procs, own in self._chosen
        )

    def noted(self) -> dict[str, Any]:
        """Return the figure and benchmarks."""
        return {"figure": self._figure, "benchmarks": self._chosen}

    def chosen_before(self, noted: Mapping[str, Any]) -> None:
        """Choose the same figure and benchmarks."""
        self._figure = noted["figure"]
        self._chosen = [(name, procs, own) for name, procs, own in noted["benchmarks"]]


def _clear(ratio: Ratio) -> float:
    return abs(log(ratio.ratio)) / ratio.sigma


def _reach(
    ratios: Mapping[BenchmarkKey, Ratio], asked: list[BenchmarkKey]
) -> tuple[int, float]:
    return len(asked), max((_clear(ratios[key]) for key in asked), default=0.0)


def _loaded(out: str) -> Loaded:
    base, new = ([os.path.join(out, side)] for side in SIDES)
    return load_sides(base, new, kinds=_TIMED)


def _text(key: BenchmarkKey) -> str:
    name, procs, package = key
    return f"{package or ''} {name}-{procs or 1}"
