"""Choose which benchmarks run, their iterations, and the length of turns."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pprofdiff.analysis.figures.costs import TIME
from pprofdiff.errors import UsageError
from pprofdiff.measure.gobuild import Binary, Tree
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.gotest import GoBenchmarks, Plan, run_leaf
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.leaves import (
    FAST_S,
    Counts,
    Leaf,
    Pilot,
    any_unlike,
    counts_for,
    pilots,
    results_of,
    shorter,
    unlike,
)
from pprofdiff.measure.rewritten import rewritten
from pprofdiff.measure.sides import SIDES, SideName
from pprofdiff.units import first_few, printable

# In equal total time, 75 pairs of 0.2 s runs give half the interval of 15 pairs of 1 s
# runs: load from other programs changes slowly, so frequent turns cancel more of it.
_TURN_S = 0.1
_TURNS, _FEWEST_TURNS = 12, 2
# A process takes some milliseconds to start; shorter runs would be mostly start-up.
_SHORTEST_TURN_S, _SHORTEST_PROFILE_S = 0.02, 0.1
# Target seconds for all timed turns of a round, over all benchmarks.
_ROUND_S = 3.0
# Within one layout, two turns start with base and two with new.
_ALIKE = 4
# Sampling every allocation costs 1 to 2 µs per object.
_OBJECTS = 100_000
# The fewest iterations whose profile covers more than the shorter run's two.
_FEWEST_FOR_SITES = 3
# How many benchmarks are run once to measure set-up time.
_PROBED = 5
# How many benchmarks a warning names.
_NAMED = 3


def planned(
    layouts: Layouts,
    seconds: float,
    warn: Callable[[str], None],
    wanted: Callable[[Leaf], bool] = lambda _: True,
) -> GoBenchmarks:
    """Return the benchmarks that both sides have and are `wanted`, with iterations.

    A short pilot on each side measures the time per op. On the slower side, a timed
    turn takes about 0.1 s and a profiled run `seconds`, for all benchmarks together.
    Raises UsageError if no benchmark matches, MeasureError if one fails.
    """
    asked, trees, binaries = layouts.asked, layouts.trees, layouts.built

    def piloted(side: SideName) -> dict[Leaf, Pilot]:
        every = pilots(asked, trees[side], binaries[side].values(), seconds)
        return {leaf: one for leaf, one in every.items() if wanted(leaf)}

    found = {side: piloted(side) for side in trees}
    if any_unlike(found):
        # Other programs only add time: the shorter of two pilots is truer.
        found = {side: shorter(own, piloted(side)) for side, own in found.items()}
    base, new = found["base"], found["new"]
    common = [leaf for leaf in base if leaf in new]
    if not common:
        raise UsageError(_none(asked, trees, binaries, found))
    for side, own, other in (("base", base, new), ("new", new, base)):
        alone = [leaf.shown for leaf in own if leaf not in other]
        if alone:
            warn(f"only {side} has {_few(alone)}: not measured")
    differ = _rewritten(common, binaries)
    if differ:
        verb = "is" if len(differ) == 1 else "are"
        warn(
            f"{_few(differ)} {verb} written differently in base and new, and may "
            "do other work"
        )
    layouts.change()
    if not layouts.vary:
        warn(
            "the linker cannot lay out functions in other orders (Go 1.22 can, without "
            "-ldflags in GOFLAGS): their placement may account for a change of a few "
            "percent"
        )
    if asked.iterations is None:
        found = {side: _alone(layouts, side, found[side], common) for side in trees}
    start = _set_up_seconds(layouts, found, common)
    turn = _Turn.of(len(common), start, layouts.seconds)
    plans = _plans(asked, found, common, seconds, turn)
    different = [
        f"{leaf.shown} ({plan.timed.base:,} and {plan.timed.new:,})"
        for leaf, plan in plans.items()
        if plan.timed.base != plan.timed.new
    ]
    if different:
        warn(
            "base and new run a different number of iterations, so that both get "
            f"enough time: {_few(different)}"
        )
    fixed = asked.iterations is not None or asked.seconds is not None
    longer = None if fixed else turn.seconds
    return GoBenchmarks(layouts, plans, turn.number, turn.alike, longer, differ)


class _Turn(NamedTuple):
    """Seconds that a benchmark of a side runs in a turn, turns per round and layout."""

    seconds: float
    number: int
    alike: int

    @classmethod
    def of(cls, benchmarks: int, start: float, linking: float) -> _Turn:
        """Return short turns, but at least as long as set-up takes.

        There are as many layouts as can be linked within twice the time of their turns.
        """
        share = _ROUND_S / (_FEWEST_TURNS * len(SIDES) * benchmarks)
        seconds = max(_SHORTEST_TURN_S, start, min(_TURN_S, share))
        each = (seconds + start) * benchmarks * len(SIDES)
        number = max(_FEWEST_TURNS, min(_TURNS, round(_ROUND_S / each)))
        if number < _ALIKE:
            return cls(seconds, number, number)
        number -= number % _ALIKE
        return cls(seconds, number, _ALIKE if linking <= 2 * _ALIKE * each else number)


def _alone(
    layouts: Layouts,
    side: SideName,
    found: Mapping[Leaf, Pilot],
    leaves: Sequence[Leaf],
) -> dict[Leaf, Pilot]:
    """Return the pilots of a side, with the times of benchmarks run by themselves.

    In a pilot, all benchmarks of a package share a process: what one leaves in global
    variables may make another many times slower or faster. Those that take a turn per
    op, or that differ no more than pilots do, keep the pilot's time.
    """
    packages = Counter(leaf.package for leaf in found)
    pilots_of = dict(found)
    for leaf in leaves:
        pilot = max(found[leaf].seconds, FAST_S)
        if pilot > _SHORTEST_TURN_S or packages[leaf.package] == 1:
            continue
        took = _seconds(layouts, side, leaf)
        if took > pilot and unlike(took, pilot):
            # Other programs only add time.
            took = min(took, _seconds(layouts, side, leaf))
        if took and unlike(took, pilot):
            pilots_of[leaf] = found[leaf]._replace(seconds=took)
    return pilots_of


def _seconds(layouts: Layouts, side: SideName, leaf: Leaf) -> float:
    # Go raises the iterations until they take that long.
    flags = [f"-test.benchtime={_SHORTEST_TURN_S}s"]
    printed, _ = run_leaf(layouts, side, leaf, 1, flags)
    times = [value for _, unit, value in results_of(printed) if unit == TIME.printed]
    return times[-1] * 1e-9 if times else 0.0


def _set_up_seconds(
    layouts: Layouts,
    found: Mapping[SideName, Mapping[Leaf, Pilot]],
    leaves: Sequence[Leaf],
) -> float:
    """Return the seconds a process takes apart from its operations: slowest probe."""
    longest = 0.0
    for leaf in leaves[:_PROBED]:
        began = time.monotonic()
        run_leaf(layouts, "new", leaf, 1)
        took = time.monotonic() - began - found["new"][leaf].seconds
        longest = max(longest, took)
    return longest


def _plans(
    asked: GoTest,
    found: Mapping[SideName, Mapping[Leaf, Pilot]],
    leaves: list[Leaf],
    seconds: float,
    turn: _Turn,
) -> dict[Leaf, Plan]:
    times = asked.iterations
    if times is not None:
        same = Counts(times, times)
        return {
            leaf: Plan(same, same, _for_sites(same, found, leaf)) for leaf in leaves
        }
    timed = turn.seconds
    if asked.seconds is not None:
        timed = min(timed, asked.seconds)
    share = max(_SHORTEST_PROFILE_S, asked.seconds or seconds / len(leaves))
    plans = {}
    for leaf in leaves:
        both = {side: own[leaf] for side, own in found.items()}
        profiled = counts_for(both, share)
        sites = _for_sites(profiled, found, leaf)
        plans[leaf] = Plan(counts_for(both, timed), profiled, sites)
    return plans


def _for_sites(
    counts: Counts, found: Mapping[SideName, Mapping[Leaf, Pilot]], leaf: Leaf
) -> Counts:
    objects = max(own[leaf].objects for own in found.values())
    most = min(counts.base, counts.new, round(_OBJECTS / max(objects, 1)))
    times = max(_FEWEST_FOR_SITES, most)
    return Counts(times, times)


def _rewritten(
    leaves: Sequence[Leaf], binaries: Mapping[SideName, Mapping[str, Binary]]
) -> list[str]:
    """Return benchmarks, and what they call in test files, whose code differs."""
    functions: dict[str, dict[str, None]] = {}
    for leaf in leaves:
        name = f"Benchmark{leaf.name.partition('/')[0]}"
        functions.setdefault(leaf.package, {})[name] = None
    return [
        name
        for package, names in functions.items()
        for name in rewritten(
            binaries["base"][package].folder, binaries["new"][package].folder, names
        )
    ]


def _few(names: Sequence[str]) -> str:
    return first_few([printable(name) for name in names], _NAMED)


def _none(
    asked: GoTest,
    trees: Mapping[SideName, Tree],
    binaries: Mapping[SideName, Mapping[str, Binary]],
    found: Mapping[SideName, Mapping[Leaf, Pilot]],
) -> str:
    packages = " ".join(map(printable, asked.packages))
    for side, tree in trees.items():
        if not binaries[side]:
            return (
                f"measure: {tree.checkout.label}: no package of {packages} has tests; "
                "name some after --, such as -- ./..."
            )
        if not found[side]:
            return (
                f"measure: {tree.checkout.label}: no benchmark of {packages} matches "
                f"-bench={printable(asked.pattern)}"
            )
    return (
        f"measure: base and new have no benchmark of {packages} in common that matches "
        f"-bench={printable(asked.pattern)}"
    )
