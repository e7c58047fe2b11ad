"""The verdict of a comparison: which figure decides, and what the figures say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.turns import Turns
from pprofdiff.analysis.benchmarks.units import ALLOCATED, tidy
from pprofdiff.analysis.busy import busy, scheduling_alone
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.alike import ScaledAlike, scaled_alike
from pprofdiff.analysis.judge.calibration import (
    TOTAL_FREEDOM,
    TOTAL_SIGMA,
    TURNS_TOGETHER,
)
from pprofdiff.analysis.judge.student import MOST_RUNS, times_as_many, wanted_runs
from pprofdiff.analysis.outcome.by_unit import (
    units_by_label,
    units_by_task,
    units_in_turns,
)
from pprofdiff.analysis.outcome.figures import Timed, measures, timed
from pprofdiff.analysis.outcome.model import (
    BEYOND_CONFIDENCE,
    Compared,
    Counted,
    Measure,
    Outcome,
    Together,
    Unit,
    Verdict,
    contradict,
    is_bounded,
)
from pprofdiff.analysis.policy import MINOR, MOST, NAMED, NOTICED, SAME_WITHIN, SEVERAL
from pprofdiff.analysis.profiles.builds import build_differences
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.profiles.kinds import is_counted, is_snapshot
from pprofdiff.units import first_few, percent, rounded

if TYPE_CHECKING:
    from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff, BenchmarkRow

_MORE_RUNS = "measure each side several times, in turns (a folder per run)"
_WORK = (
    "pass --work BASE:NEW (operations while profiled) or --rps BASE:NEW, or put "
    "bench.txt or a load generator's summary next to the profiles"
)
_WORK_OF_FLEETS = "pass --work BASE:NEW (operations of all hosts while profiled)"
_NOTHING = (
    "a benchmark, a load generator's summary, or CPU profiles with --work give cost "
    "per op"
)
_PACED = "ops/s show speed only in a closed loop; CPU profiles give CPU per op"
_SPEED = "a benchmark or a CPU profile of each side shows time or CPU per op"
_TIMES = "a pprof profile of CPU time{}, or a benchmark, gives cost per op"
_BUSY = "the machine is busy, so a verdict needs"
_LONGER = "stop other programs, or raise --time"
_TOO_FEW = "measure longer (--time)"
_CPU_ALONE = (
    "only CPU/op changed: a verdict needs time/op as well, as GC workers run on idle "
    "processors"
)
_MACHINE = (
    "time/op changed by more than CPU/op: the machine was slower or faster, or the "
    "program waited; an execution trace of each side shows which"
)
# Fewer bytes per op are start-up, spread over the iterations.
_BYTE = 0.5
# The slowdown by two other busy processes per CPU: the most the machine explains.
_SLOWED = 3.0
_CHANGED = ("slower", "faster")
# Costs per op, which imply how much work was done.
_COSTS = ("time", "cpu", "task", "about")
# The least factor shared by all groups that is worth reporting.
_WORTH = 1.10
# The longest measurement to advise, as a multiple of this one.
_LONGEST = 20.0
# Benchmarks change alike if their factors differ no more than two runs of one build do,
_ALIKE = sqrt(2) * TOTAL_SIGMA
# A figure that changed by this part of another's change agrees with it.
_ALSO = 1 / 3
# A significant change of one function by this share of all CPU is a change of its own.
_OWN = 0.03


def outcome(comparison: Comparison) -> Outcome:
    """Return the verdict on the new build, with the figures that it rests on.

    The most direct figure decides: time/op, then closed-loop ops/s, then CPU/op. Cost
    relative to unchanged code decides if nothing else can or if its interval is
    narrower, as it cancels the machine's speed. Contradicting figures give no verdict.
    On a busy machine CPU/op ranks before wall-clock figures.
    """
    builds = list(build_differences(comparison.base, comparison.new, comparison.cpu))
    if names := comparison.rewritten:
        several = names.split(", ")
        verb = "are" if len(several) > 1 else "is"
        who = f"{first_few(several, NAMED)} {verb} written differently"
        builds.append(f"{who}, so an op may do other work")
    decided = _outcome(comparison)
    if (needs := _failures(comparison, decided.verdict)) is not None:
        decided = replace(decided, verdict="unknown", needs=needs)
    return replace(decided, builds=tuple(builds))


def _failures(comparison: Comparison, verdict: Verdict) -> str | None:
    """Return why failed requests, which do less, may make a side faster, or None."""
    if comparison.loads is None or verdict not in _CHANGED:
        return None
    from pprofdiff.analysis.benchmarks.loads import failed

    counts = failed(comparison.base), failed(comparison.new)
    parts = [failures / max(requests, 1) for failures, requests in counts]
    more = parts[1] - parts[0] if verdict == "faster" else parts[0] - parts[1]
    if more < NOTICED:
        return None
    shares = " → ".join(percent(part, 1.0) for part in parts)
    return f"{shares} of requests failed, and one that fails mostly does less work"


def _outcome(comparison: Comparison) -> Outcome:
    figures = list(measures(comparison))
    if comparison.measured:
        return _of_turns(comparison, figures)
    diff = comparison.cpu
    # The load that hosts get says nothing about their build.
    alike = None if diff is None or comparison.of_fleets else scaled_alike(diff)
    speeds = [m for m in figures if m.cost.more_is]
    benchmarks = timed(comparison)
    factor = rate = None
    if diff is not None and alike is not None:
        factor = _factor(diff, alike, figures)
        rate = None if speeds or factor is not None else _rate(diff, alike)
    if not speeds:
        compared = _compared(comparison)
        return Outcome(
            "unknown",
            tuple(figures),
            alike=factor,
            needs=_basis_of(comparison, compared),
            compared=compared,
            cpu_a_second=rate,
            by_label=units_by_task(comparison),
        )
    first = speeds[0]
    share = busy(comparison) if first.cost.clock else None
    if share is not None:
        # CPU time excludes what other processes use.
        figures.sort(key=lambda measure: measure.id != "cpu")
        speeds = [m for m in figures if m.cost.more_is]
    if not first.cost.clock or sum(first.runs) - 2 >= TOTAL_FREEDOM:
        # Enough runs show how much the clock varies.
        share = None
    first, verdict = _decided(speeds)
    units = () if benchmarks is None else benchmarks.units
    verdict, contrary = _of_units(units, first, verdict)
    moved = {unit.figure for unit in units if unit.moved}
    by_mean = not moved
    # The mean of the figure that the units were judged by ranks second.
    first = next((m for m in figures if m.id in moved), first)
    needs = ""
    if (
        by_mean
        and _code_alike(comparison, alike)
        and _machine(comparison, first, figures)
    ):
        verdict, needs = "unknown", _MACHINE
    elif by_mean and verdict == "unknown":
        first = _tightest(first, speeds)
        noun: Literal["runs", "hosts"] = "hosts" if comparison.of_fleets else "runs"
        other = _unsure(speeds)
        needs = _more_runs(first, noun) if other is None else _surer(other, noun)
    ordered = (first, *(m for m in figures if m is not first))
    return Outcome(
        verdict,
        ordered,
        contrary,
        factor,
        needs,
        busy=share,
        together=_together(comparison, benchmarks, verdict, ordered),
        units=units,
        rest=None if comparison.split is None else comparison.split.rest(),
        by_label=None
        if units
        else units_by_label(comparison) or units_by_task(comparison),
    )


def _of_units(
    units: Sequence[Unit], first: Measure, verdict: Verdict
) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict of all units of work, and units that contradict each other.

    Units decide, as each was measured for its own sake. Their mean ranks second, so it
    must be significant at 99% to decide alone. Changes both ways give no verdict.
    """
    ways = {way: tuple(u.name for u in units if u.verdict == way) for way in _CHANGED}
    slower, faster = ways["slower"], ways["faster"]
    if slower and faster:
        return "unknown", (*slower, *faster)
    if slower or faster:
        return ("slower" if slower else "faster"), ()
    if units and verdict in _CHANGED and not _sure(first):
        return "unknown", ()
    return verdict, ()


def _of_turns(comparison: Comparison, figures: list[Measure]) -> Outcome:
    """Return the outcome of interleaved benchmarks.

    Time/op decides, or CPU/op if time/op does not. A busy machine reverses the order,
    as other programs take time but no CPU of this one, and so do a few turns, of which
    they take a larger part. `_holds` has the criteria.
    """
    kept = [m for m in figures if m.id in ("time", "cpu")]
    is_busy = busy(comparison) is not None
    turns = comparison.turns
    few = turns is not None and turns.few
    if is_busy or few:
        kept.sort(key=lambda measure: measure.id != "cpu")
    if few and not _agree(kept):
        kept = [m._replace(judged=m.judged.without_bounds()) for m in kept]
    alone = {"time"} if turns is None or _allocates(turns) else {"time", "cpu"}
    holds = next((m for m in kept if _holds(m, kept, alone, is_busy=is_busy)), None)
    first = holds or (kept[0] if is_busy or few else _narrower(kept))
    verdict = first.verdict
    if (few and not first.moved) or (holds is None and verdict in _CHANGED):
        verdict = "unknown"
    units = () if turns is None else units_in_turns(turns, first.id, first.same_within)
    rewritten = any(unit.rewritten for unit in units)
    # The mean is of all units, whatever they do.
    verdict, contrary = _of_units(units, first, "unknown" if rewritten else verdict)
    needs = ""
    if contrary:
        verdict = "unknown"
    elif verdict == "unknown" and not rewritten:
        # Of several benchmarks, the table has the figure of the headline.
        if not units:
            undecided = [m for m in kept if m.verdict != "same"] or kept
            first = min(undecided, key=lambda m: m.judged.width)
        needs = _rounds(first, units)
        if few:
            needs = _TOO_FEW
        elif is_busy and first.moved:
            needs = _while_busy(first, kept)
        elif _alone(kept):
            needs = _CPU_ALONE
    ordered = (first, *(m for m in kept if m is not first))
    counted = () if turns is None else tuple(_counted(turns))
    return Outcome(
        verdict,
        ordered,
        contrary,
        needs=needs,
        counted=counted,
        units=units,
    )


def _compared(comparison: Comparison) -> Compared:
    """Return what profiles compare, of which nothing measures speed."""
    cpu = comparison.cpu
    if cpu is not None and cpu.normalization.mode == "composition":
        return "shares"
    if cpu is None and any(one.of_goroutines for one in _per_op(comparison)):
        return "goroutines"
    if cpu is None and any(is_counted(one.new.profile) for one in comparison.profiles):
        return "counts"
    return "ops" if _are_known(comparison) else ""


def _per_op(comparison: Comparison) -> list[ProfileDiff]:
    return [d for d in comparison.profiles if d.normalization.mode == "per_work"]


def _are_known(comparison: Comparison) -> bool:
    """Return whether operations are known, though a snapshot has no cost per op."""
    of_snapshot = (
        comparison.cpu is None
        and comparison.work is not None
        and comparison.loads is None
        and any(is_snapshot(one.sample_type) for one in comparison.profiles)
    )
    return of_snapshot or bool(_per_op(comparison))


def _basis_of(comparison: Comparison, compared: Compared) -> str:
    """Return what would show the cost per op, which nothing does."""
    if compared == "goroutines":
        return ""
    known = _are_known(comparison)
    if compared == "counts":
        return _TIMES.format("" if known else " with --work BASE:NEW")
    if known:
        return _SPEED
    if comparison.cpu is None:
        return _NOTHING if comparison.loads is None else _PACED
    return _WORK_OF_FLEETS if comparison.of_fleets else _WORK


def _allocates(turns: Turns) -> bool:
    """Return whether ops of either side allocate, or may."""
    space = turns.allocated.get("alloc_space")
    return space is None or any(float(side.max()) >= _BYTE for side in space)


def _counted(turns: Turns) -> Iterator[Counted]:
    """Yield allocations per op; of several benchmarks, the mean without zeros."""
    for kind, unit in ALLOCATED.items():
        sides = turns.allocated.get(kind)
        if sides is None:
            continue
        if not turns.several:
            base, new = (float(side[0]) for side in sides)
        elif all((side > 0).all() for side in sides):
            # What varies from turn to turn changed by nothing that is known.
            alike = np.where(turns.varies[kind], sides[0], sides[1])
            base, new, whole = (
                float(np.exp(np.log(side).mean()))
                for side in (sides[0], alike, sides[1])
            )
            # A reader gets another mean from the table: it says enough.
            if not turns.alike(kind) and abs(whole - new) > MINOR * base:
                continue
        else:
            continue
        exact = turns.counts_exactly(kind)
        yield Counted(unit, base, new, noise=turns.alike(kind), exact=exact)


def _holds(
    measure: Measure, measures: Sequence[Measure], alone: set[str], *, is_busy: bool
) -> bool:
    """Return whether a significant change of a figure decides.

    Two figures give an unchanged build two chances of a false alarm: either the other
    one must agree, or a figure that may decide `alone` must be significant at 99.9%.
    That is time/op, and CPU/op of ops that allocate nothing: otherwise idle Ps run GC
    workers. A busy machine shares caches too, so it takes both.
    """
    if not measure.moved:
        return False
    agreed = _agreed(measure, measures)
    if is_busy:
        return agreed and measure.beyond_chance
    return agreed or (measure.id in alone and measure.beyond_chance)


def _while_busy(first: Measure, measures: Sequence[Measure]) -> str:
    """Return why a significant change gives no verdict on a busy machine."""
    other = next((m for m in measures if m is not first), None)
    if other is None:
        return f"{_BUSY} both CPU/op and time/op, and one is not known: {_LONGER}"
    noun, others = first.cost.noun, other.cost.noun
    missing = []
    if not first.beyond_chance:
        missing.append(f"{noun} does not reach that")
    if not _agreed(first, measures):
        missing.append(f"{others} does not agree")
    rule = f"{noun} to change at {BEYOND_CONFIDENCE}% and {others} to agree"
    return f"{_BUSY} {rule}, but {' and '.join(missing)}: {_LONGER}"


def _alone(measures: Sequence[Measure]) -> bool:
    """Return whether CPU/op changed at 99.9%, which time/op did not confirm."""
    by_id = {measure.id: measure for measure in measures}
    cpu, time = by_id.get("cpu"), by_id.get("time")
    if cpu is None or not cpu.moved or not cpu.beyond_chance:
        return False
    return time is None or not time.moved


def _agreed(first: Measure, measures: Sequence[Measure]) -> bool:
    """Return whether another figure changed by at least `_ALSO` of `first`'s change.

    A figure whose 90% interval includes 1 does not count: on a busy machine, time
    changes the same way every other time, by any amount.
    """
    moved = log(first.judged.ratio)
    return any(
        log(m.judged.ratio) / moved >= _ALSO
        and not m.judged.narrow[0] <= 1 <= m.judged.narrow[1]
        for m in measures
        if m is not first
    )


def _narrower(measures: Sequence[Measure]) -> Measure:
    """Return the first figure, or if that is open, the one that is known best."""
    first = measures[0]
    if first.verdict != "unknown":
        return first
    return min(measures, key=lambda measure: measure.judged.width)


def _agree(measures: Sequence[Measure]) -> bool:
    """Return whether time and CPU changed the same way, so far that few turns show it.

    Other programs may take most of one turn's time, and a process that waits has none.
    """
    ways = {m.judged.ratio > 1 for m in measures if m.moved}
    both = {m.id for m in measures if m.moved} == {"time", "cpu"}
    return both and len(ways) == 1


def _rounds(measure: Measure, units: Sequence[Unit] = ()) -> str:
    """Return how much longer to measure to decide, given how much turns differ.

    Of several benchmarks whose mean changed, the one is named that needs least: the
    mean has those in it that do not run what changed.
    """
    by = measure.judged
    if not is_bounded(*by.bounds):
        return _TOO_FEW
    same = log(1 + measure.same_within)
    # A figure that changed at 99% lacks 99.9%.
    ratio, low, high = by.ratio, *(measure.widest if measure.moved else by.bounds)
    first = None
    if not measure.moved and abs(log(ratio)) > same:
        first = _nearest(units, same)
    if first is not None:
        ratio, low, high = first.cost.ratio, first.cost.low, first.cost.high
    moved = abs(log(ratio))
    times = times_as_many(max(log(high / ratio), log(ratio / low)), max(moved, same))
    if times > _LONGEST and min(measure.runs) < SEVERAL * TURNS_TOGETHER:
        # Turns of fewer layouts do not show how much they vary.
        return _TOO_FEW
    seen = f"to show that it is the same within {100 * measure.same_within:g}%"
    if moved > same:
        where = f" in {first.name}" if first is not None else ""
        seen = f"to show a change of {rounded(100 * abs(ratio - 1), 2)}%{where}"
    if times > _LONGEST:
        return f"{seen}, use a quieter machine: runs vary too much on this one"
    longer = f"measure about {rounded(max(times, 1.1), 2)}× as long (--time)"
    if measure.moved:
        return f"one figure alone decides at {BEYOND_CONFIDENCE}%: {longer}"
    return f"{seen}, {longer}"


def _nearest(units: Sequence[Unit], same: float) -> Unit | None:
    """Return the unit whose change is largest next to its interval, None for none.

    One that allocates otherwise runs what changed: it comes before others.
    """
    found = [
        (
            _allocates_otherwise(unit),
            abs(log(cost.ratio)) / log(cost.high / cost.low),
            unit,
        )
        for unit in units
        for cost in [unit.cost]
        if not unit.rewritten
        and is_bounded(cost.low, cost.high)
        and cost.low < cost.high
        and abs(log(cost.ratio)) > same
    ]
    return max(found, key=lambda one: one[:2])[2] if found else None


def _allocates_otherwise(unit: Unit) -> bool:
    """Return whether a benchmark's counts of bytes or objects per op differ."""
    return any(unit.differing(count) is not None for count in ALLOCATED.values())


def _together(
    comparison: Comparison,
    benchmarks: Timed | None,
    verdict: Verdict,
    measures: tuple[Measure, ...],
) -> Together | None:
    """Return how all benchmarks changed if the machine may be the cause, or None.

    A machine that is busy or throttled under one side slows all benchmarks by similar
    factors and leaves allocations alone; interleaved runs would share it. If CPU/op
    changed as well, other processes were not the cause.
    """
    first = measures[0]
    if benchmarks is None or first.id != "time" or verdict not in _CHANGED:
        return None
    logs = [log(ratio.ratio) for ratio in benchmarks.each.values()]
    if first.in_turns or len(logs) < SEVERAL:
        return None
    cpu = next((m for m in measures if m.id == "cpu"), None)
    middle = log(first.judged.ratio)
    if cpu is not None and log(cpu.judged.ratio) / middle > MOST:
        return None
    spread = sqrt(sum((one - middle) ** 2 for one in logs) / (len(logs) - 1))
    if spread > _ALIKE or min(one / middle for one in logs) < MOST:
        return None
    rows = _allocations(comparison.benchmarks, benchmarks)
    if any(map(_changed, rows)):
        return None
    ratios = [ratio.ratio for ratio in benchmarks.each.values()]
    counted = {row.full_name for row in rows if tidy(row.unit).unit == "allocs/op"}
    alike = counted == benchmarks.each.keys()
    return Together(len(ratios), min(ratios), max(ratios), alike)


def _allocations(diff: BenchmarkDiff | None, benchmarks: Timed) -> list[BenchmarkRow]:
    rows = () if diff is None else diff.rows
    return [
        row
        for row in rows
        if tidy(row.unit).unit in ALLOCATED.values()
        and row.full_name in benchmarks.each
        and row.change is not None
    ]


def _changed(row: BenchmarkRow) -> bool:
    """Return whether allocations changed significantly, by more than set-up explains.

    One-time allocations are spread over fewer ops when each takes longer.
    """
    ratio = row.ratio
    near = ratio is not None and abs(ratio - 1) <= SAME_WITHIN
    by_chance = row.change is not None and row.change.noise is True
    return not (near or by_chance)


def machine_moved_time(comparison: Comparison) -> bool:
    """Return whether a busy machine explains the change in time per op."""
    diff = comparison.cpu
    if diff is None or comparison.of_fleets or busy(comparison) is None:
        return False
    figures = list(measures(comparison))
    clock = next((m for m in figures if m.cost.clock), None)
    if clock is None or not _code_alike(comparison, scaled_alike(diff)):
        return False
    return _machine(comparison, clock, figures)


def _more_runs(measure: Measure, noun: Literal["runs", "hosts"]) -> str:
    """Return how many more runs it takes to decide, given how much runs differ.

    Intervals narrow with the square root of runs. The target half-width is the observed
    change, or `same_within` if the change is smaller.
    """
    if min(measure.runs) <= 1:
        return _MORE_RUNS if noun == "runs" else "compare more hosts of each build"
    moved, same = abs(log(measure.judged.ratio)), log(1 + measure.same_within)
    if moved < same:
        return _wanted(measure, measure.judged.narrow, same, noun)
    return _wanted(measure, measure.judged.bounds, moved, noun)


def _surer(measure: Measure, noun: Literal["runs", "hosts"]) -> str:
    """Return what it takes for a significant second figure to decide alone."""
    wanted = _wanted(measure, measure.judged.wide, abs(log(measure.judged.ratio)), noun)
    return (
        f"{measure.cost.figure} changed, but no other figure did, and one figure alone "
        f"needs 99%: {wanted}"
    )


def _wanted(
    measure: Measure,
    bounds: tuple[float, float],
    goal: float,
    noun: Literal["runs", "hosts"],
) -> str:
    """Return how many runs it takes for an interval's farther bound to reach `goal`."""
    (low, high), ratio = bounds, measure.judged.ratio
    reach = log(high / ratio)
    if low > 0:
        reach = max(reach, log(ratio / low))
    times = times_as_many(reach, goal)
    wanted = wanted_runs(min(measure.runs), times)
    turns = ", in turns" if noun == "runs" else ""
    if wanted is None:
        return f"{noun} differ too much: it takes over {MOST_RUNS} per side{turns}"
    return f"to decide, compare about {wanted} {noun} per side{turns}"


def _factor(
    diff: ProfileDiff, alike: ScaledAlike, figures: list[Measure]
) -> float | None:
    """Return the factor that all groups' CPU per second scaled by, or None.

    None if a function scaled differently, if samples do not show the factor for several
    groups (most code is in one), or if another figure explains it: the operation count,
    or cost relative to unchanged code.
    """
    if not (alike.shown and alike.several):
        return None
    if any(m.id in _COSTS or (m.id == "control" and m.moved) for m in figures):
        return None
    moved = _changed_together(diff, alike)
    return None if moved is None else moved[0]


def _rate(diff: ProfileDiff, alike: ScaledAlike) -> tuple[float, float, float] | None:
    """Return the ratio of CPU per second with its 95% interval: (ratio, low, high).

    None if a group's or function's share changed significantly, or if the comparison is
    not one of shares.
    """
    timed = all(diff.spans_ns)
    if not timed or diff.normalization.mode != "composition":
        return None
    if not all(group.noise for group in judged_groups(diff)):
        return None
    return _changed_together(diff, alike)


def _changed_together(
    diff: ProfileDiff, alike: ScaledAlike
) -> tuple[float, float, float] | None:
    """Return the ratio of totals with its bounds, per second if durations are known.

    None if it is not significant, or if a group or function changed by another factor.
    """
    base, new = diff.spans_ns
    seconds = base / new if base and new else 1.0
    ratio, low, high = (r * seconds for r in (alike.ratio, alike.low, alike.high))
    if not alike.alike or abs(log(ratio)) <= log(_WORTH) or low <= 1 <= high:
        return None
    if diff.normalization.mode in ("composition", "about"):
        judged = diff.table("functions").judge("cum")
        least = _OWN * diff.normalization.larger(*diff.totals)
        if judged is not None:
            large = np.abs(judged.delta) >= least
            if (large & ~(judged.noise & judged.known)).any():
                return None
    return ratio, low, high


def _code_alike(comparison: Comparison, alike: ScaledAlike | None) -> bool:
    """Return whether all groups changed by one factor, apart from machine effects."""
    return alike is not None and (alike.alike or scheduling_alone(comparison))


def _machine(comparison: Comparison, first: Measure, figures: list[Measure]) -> bool:
    """Return whether other load on the machine explains the change in time as well.

    CPU/op is then the same. If there is a trace, it shows the time that ops wait inside
    the program, so the machine is not blamed.
    """
    cpu = next((m for m in figures if m.id == "cpu"), None)
    if cpu is None or not first.cost.clock:
        return False
    if cpu.moved or comparison.trace is not None:
        return False
    moved = abs(log(first.judged.ratio))
    return moved < log(_SLOWED) and abs(log(cpu.judged.ratio)) < moved / 2


def _decided(speeds: list[Measure]) -> tuple[Measure, Verdict]:
    """Return the figure that decides, and its verdict.

    CPU/op decides if time/op does not. Cost relative to unchanged code replaces figures
    with wider intervals. Neither decides against the first figure's direction: a
    program can wait less and compute more.

    Later figures need 99% where runs show how much they differ, since each further look
    can raise a false alarm (Wiens 2003, Pharmaceutical Statistics 2(3)). In four sets
    of 24 runs of one build each, 5.4% of 400 splits gave one with 95% for all figures
    (4.5% for 3 + 3 to 6.6% for 10 + 10), and 4.5% with 99% for later ones. The spread
    assumed for one run a side is wide enough for all figures.
    """
    first = speeds[0]
    if first.moved:
        return first, first.verdict
    for measure in _secondary(speeds):
        moved = measure.moved
        if moved and _sure(measure) and _point_alike(first, measure):
            return measure, measure.verdict
        if measure.id == "control" and not moved:
            return measure, measure.verdict
    return first, first.verdict


def _tightest(first: Measure, speeds: list[Measure]) -> Measure:
    """Return the narrowest of `first` and the undecided figures that contradict it."""
    contrary = [
        m
        for m in speeds
        if m.verdict == first.verdict == "unknown" and contradict(first, m)
    ]
    # With one run a side, intervals are equally wide except for rounding.
    return min((first, *contrary), key=lambda measure: round(measure.judged.width, 6))


def _secondary(speeds: list[Measure]) -> Iterator[Measure]:
    """Yield the figures that may decide if the first one shows no change.

    On a busy machine with the same CPU/op, those are the wall-clock figures.
    """
    first = speeds[0]
    for measure in speeds[1:]:
        if first.verdict == "same":
            if first.id == "cpu" and measure.cost.clock:
                yield measure
        elif measure.id != "control" or measure.judged.width < first.judged.width:
            yield measure


def _sure(measure: Measure) -> bool:
    """Return whether a second figure is significant enough to decide alone."""
    return measure.judged.sure or max(measure.runs) <= 1


def _unsure(speeds: list[Measure]) -> Measure | None:
    """Return a changed figure that would decide if it ranked first, or None."""
    for measure in _secondary(speeds):
        if measure.moved and _point_alike(speeds[0], measure):
            return measure
    return None


def _point_alike(first: Measure, second: Measure) -> bool:
    """Return whether both figures point the same way, or one is about unchanged."""
    ways = first.slowdown, second.slowdown
    return ways[0] * ways[1] > 0 or min(map(abs, ways)) < log(1 + first.same_within)
