"""The most direct account that the evidence allows: of time, or else of CPU.

================================  ===============================  =====================
evidence                          account of                       parts
================================  ===============================  =====================
trace, operation count            goroutine time per op            running, off-CPU ends
one benchmark with a CPU profile  mean time per op                 CPU by group, rest
CPU profile, operation count      CPU per op                       CPU by group
CPU profile, inferred count       CPU at about equal work          CPU by group
CPU profile alone                 none; shares of CPU              CPU by group
================================  ===============================  =====================
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.account.model import Account, Amount, Bounds, Part, in_part
from pprofdiff.analysis.benchmarks.times import PROCS, is_time, measured
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import each_together, merged
from pprofdiff.analysis.outcome.figures import timed
from pprofdiff.analysis.outcome.model import Measure
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import BACKGROUND_MARK
from pprofdiff.analysis.side import of_benchmarks
from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.waited import End


_Scaled = Callable[[int, int], Amount]


def _intervals(diff: ProfileDiff, runs: Runs[NDArray[np.int64]]) -> list[Bounds | None]:
    """Return the interval of each row's delta, in the comparison's scaled unit.

    None with one run a side, and for profiles without a noise model.
    """
    several = max(len(runs.base), len(runs.new)) > 1
    judged = diff.judge_runs(runs) if several else None
    if judged is None:
        return [None] * len(runs.base[0])
    return list(zip(judged.low.tolist(), judged.high.tolist(), strict=True))


_TRACE, _CPU = "trace", "CPU profile"
_IDLE = "loops waiting for work or data"
_REST = "running, without CPU samples"
_STARTING = "while the trace starts"
# CPU that the runtime spends outside user goroutines: background workers, scheduling.
_OUTSIDE_GROUPS = {"sched"}
_OUTSIDE = {*BACKGROUND_MARK, "gc.sweep.bg", "gc.scavenge.bg"}
# CPU in what a trace shows as a system call, and so not as running. Calls that the
# runtime and raw system calls make are running.
_IN_CALLS = {"syscall", "cgo"}
# Standard deviations that sample counts may be off before CPU contradicts running time.
_DEVIATIONS = 3


def _of_trace(comparison: Comparison, trace: TraceDiff) -> Account | None:
    """Return goroutine time per op: running, and off the CPU by what held it up.

    It covers the goroutines that do the work: see `traces.workers`. Running time is
    split by the CPU profile's groups if the profile agrees with the trace. What they do
    while the trace starts is unknown, and outside.
    """
    # Imported only where there are traces.
    from pprofdiff.analysis.traces.workers import worker_rows

    roots = worker_rows(trace)
    if roots is None:
        return None
    times, scaled = trace.time.by_state(roots), _scaled_by(*trace.factors)

    def amount(state: str) -> Amount:
        view = times.get(state)
        sides = (0, 0) if view is None else (int(view.base[0]), int(view.new[0]))
        return scaled(*sides)

    calls = amount("syscall").plus(amount("syscall_block"))
    parts, outside, gaps, on_cpu = _running(comparison.cpu, amount("running"), calls)
    starting = Part("beside.starting", _STARTING, amount("unknown"), _TRACE)
    outside += [starting] if any(starting.amount) else []
    parts += _off_cpu(trace, scaled)
    shown = tuple(part for part in parts if any(part.amount))
    # GC ranges overlap with states.
    within = [
        Part(f"within.{name}", f"during {name}", scaled(base, new), _TRACE)
        for name, (base, new) in trace.within(roots).items()
        if base or new
    ]
    within += on_cpu
    return Account(
        "goroutines' time per op",
        "ns",
        shown,
        tuple(within),
        tuple(outside),
        tuple(gaps),
    )


def _idle(trace: TraceDiff) -> set[tuple[str, str]]:
    """Return at which places, (reason, function), only loops wait, for work or data.

    They do not wait for an operation: a connection's reader waits for the next request
    for as long as none comes. Who waits for what such a loop reads is elsewhere.
    """
    from pprofdiff.analysis.causes.off_cpu import lives_of, serves
    from pprofdiff.analysis.traces.movers import movers

    places = movers(trace, "blocked")
    lives = lives_of(trace, (), places)
    idle = [(p.idle and not p.own) or serves(lives, p) for p in places]
    names = [(p.reason, p.function) for p in places]
    busy = {name for name, one in zip(names, idle, strict=True) if not one}
    return {*names} - busy


def _off_cpu(trace: TraceDiff, scaled: _Scaled) -> Iterator[Part]:
    """Yield the time off the CPU by what held goroutines up."""
    from pprofdiff.analysis.traces.waited import (
        Wait,
        Waited,
        off_cpu,
        off_cpu_in_words,
        wait_in_words,
    )

    rows: dict[End, list[Waited]] = defaultdict(list)
    idle, waiting = _idle(trace), list[Waited]()
    for row in off_cpu(trace):
        some = waiting if row.wait[:2] in idle else rows[row.end]
        some.append(row)
    if waiting:
        times = Amount.sum(scaled(row.base_ns, row.new_ns) for row in waiting)
        yield Part("off.idle", _IDLE, times, _TRACE)
    for end, some in rows.items():
        paths: dict[Wait | None, Amount] = {}
        for row in some:
            wait = None if row.direct else row.wait
            more = scaled(row.base_ns, row.new_ns)
            paths[wait] = more.plus(paths.get(wait, Amount(Fraction(0), Fraction(0))))
        key = f"{end.kind}.{end.function}.{end.call}"
        yield Part(
            f"off.{key}",
            off_cpu_in_words(end),
            Amount.sum(paths.values()),
            _TRACE,
            paths=()
            if set(paths) == {None}
            else tuple(
                Part(
                    f"path.{key}" + (f".{'.'.join(wait)}" if wait else ""),
                    wait_in_words(wait) if wait else "directly",
                    amount,
                    _TRACE,
                )
                for wait, amount in paths.items()
            ),
        )


class _Running(NamedTuple):
    """Running time by CPU group, CPU of other goroutines, gaps, CPU in system calls."""

    parts: list[Part]
    outside: list[Part]
    gaps: list[str]
    calls: list[Part]


def _running(diff: ProfileDiff | None, running: Amount, calls: Amount) -> _Running:
    """Return running time by what the CPU profile has of it.

    CPU in system calls is part of `calls`, the trace's time in them: what it has more
    than that by more than chance is of calls that a trace shows as running.
    """
    whole = [Part("running", "running", running, _TRACE)]
    if diff is None or diff.normalization.mode != "per_work":
        gap = "without CPU per op, running is not split into on and off a CPU"
        return _Running(whole, [], [gap], [])
    inside, others, in_calls = _by_group(diff, _where)
    sums = Amount.sum(part.amount for part in in_calls)
    far = _reach(diff, sums)
    if sums.base > calls.base + far[0] or sums.new > calls.new + far[1]:
        inside, others, in_calls = _by_group(diff, _own_or_others)
    off = running.less(Amount.sum(part.amount for part in inside))
    reach = _reach(diff, running)
    if off.base < -reach[0] or off.new < -reach[1]:
        gap = (
            "the CPU profile has more CPU than the trace shows running: they cover "
            "different times, so running is not split"
        )
        return _Running(whole, [], [gap], [])
    parts = list(in_part(inside, others, "without workers"))
    gaps = []
    if parts != inside:
        gaps = ["CPU of the runtime's own workers"]
    # Threads without a CPU, what tracing itself takes, and chance.
    parts.append(Part("off-cpu", _REST, off, f"{_TRACE} less the {_CPU}"))
    return _Running(parts, others, gaps, in_calls)


def _by_group(
    diff: ProfileDiff, where_is: Callable[[str, str], int]
) -> tuple[list[Part], list[Part], list[Part]]:
    """Return CPU while running, of other goroutines and in system calls, by group.

    `where_is` returns which of these a category of a group is.
    """
    scaled = _scaled_by(*diff.normalization.factors)
    found: tuple[list[Part], list[Part], list[Part]] = [], [], []
    split = [
        (group, where, members)
        for group in rules().groups
        for where in range(len(found))
        if (members := [c for c in group.categories if where_is(group.id, c) == where])
    ]
    places = [[*map(rules().categories.index, members)] for *_, members in split]
    runs = each_together(diff.ledger.every("category").runs, places)
    base, new = (side.tolist() for side in merged(runs))
    for (group, where, members), old, now, bounds in zip(
        split, base, new, _intervals(diff, runs), strict=True
    ):
        amount = scaled(old, now)
        if any(amount):
            label = group.label
            if where == _CALLING:
                label = f"on-CPU: {label}"
            elif _IN_CALLS & {*group.categories} - {*members}:
                label = f"{label} (without system calls)"
            part = Part(_KEYS[where] + group.id, label, amount, _CPU, bounds)
            found[where].append(part)
    return found


_RUNNING, _OTHERS, _CALLING = range(3)
_KEYS = "cpu.", "beside.cpu.", "within.cpu."


def _where(group: str, category: str) -> int:
    """Return whether CPU of a category is of running, other goroutines or calls."""
    return _CALLING if category in _IN_CALLS else _own_or_others(group, category)


def _own_or_others(group: str, category: str) -> int:
    """Return whether CPU of a category is of running or of other goroutines."""
    outside = category in _OUTSIDE or group in _OUTSIDE_GROUPS
    return _OTHERS if outside else _RUNNING


def _reach(diff: ProfileDiff, running: Amount) -> tuple[float, float]:
    """Return how far the CPU per op of each side may be off by chance."""
    model = diff.model
    if model is None:
        return 0.0, 0.0
    steps = model.base_step, model.new_step
    base, new = (
        _DEVIATIONS * (float(abs(total)) * step) ** 0.5
        for total, step in zip(running, steps, strict=True)
    )
    return base, new


_NO_TRACE = "waiting was not measured: a trace of each side shows it by reason"
_NO_WORK = "the work is not known: these are shares, not costs"
# Root functions of goroutines that run a benchmark's operations.
_ON_THE_PATH = ("testing.(*B).launch", "testing.(*B).run1.func1")
_PARALLEL = "testing.(*B).RunParallel.func1"


def account(comparison: Comparison) -> Account | None:
    """Return the account of a comparison, or None if nothing sums to its change."""
    trace = comparison.trace
    if trace is not None and trace.rates is not None:
        return _of_trace(comparison, trace)
    diff = comparison.cpu
    if diff is None or not diff.classified:
        return None
    mode = diff.normalization.mode
    if mode == "composition":
        shares = (Fraction(100, total) for total in diff.totals)
        parts = _groups(diff, _scaled_by(*shares))
        return Account("shares of CPU", "%", parts, gaps=(_NO_WORK,))
    if mode not in ("per_work", "about"):
        return None
    scaled, about = _scaled_by(*diff.normalization.factors), mode == "about"
    benchmarks = timed(comparison)
    alone = all(map(of_benchmarks, (comparison.base, comparison.new)))
    if (
        diff.turns is None
        and not about
        and alone
        and benchmarks is not None
        and len(benchmarks.each) == 1
    ):
        benchmarked = _of_benchmark(comparison, diff, benchmarks.whole, scaled)
        if benchmarked is not None:
            return benchmarked
    # If interleaved runs show a different change in time, there is a trace.
    gaps = (_NO_TRACE,) if diff.turns is None else ()
    of = "CPU at about equal work" if about else "CPU per op"
    return Account(of, "ns", _groups(diff, scaled), gaps=gaps)


def _scaled_by(base_factor: float | Fraction, new_factor: float | Fraction) -> _Scaled:
    """Return a function that scales raw values to exact amounts."""
    by = Fraction(base_factor), Fraction(new_factor)
    return lambda base, new: Amount(base * by[0], new * by[1])


def _groups(
    diff: ProfileDiff,
    scaled: _Scaled,
    kept: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[Part, ...]:
    """Return CPU by runtime group, of all samples or of the `kept` ones (bool)."""
    ledger = diff.ledger if kept is None else diff.ledger.among(kept)
    sums = ledger.every("group")
    return tuple(
        Part(f"cpu.{group.id}", group.label, scaled(old, now), _CPU, bounds)
        for group, old, now, bounds in zip(
            rules().groups,
            sums.base.tolist(),
            sums.new.tolist(),
            _intervals(diff, sums.runs),
            strict=True,
        )
        if old or now
    )


def _of_benchmark(
    comparison: Comparison, diff: ProfileDiff, whole: Measure, scaled: _Scaled
) -> Account | None:
    """Return the account of one benchmark's time, or None if its goroutines are unseen.

    Time per op times the number of goroutines that run ops splits into their CPU and
    the rest: waiting, sleeping in system calls, other processes. Medians do not add up,
    so time is the mean of all operations, as CPU per op is.
    """
    times = [measured(side) for side in (comparison.base, comparison.new)]
    names = [name for name in times[0] if name in times[1]]
    if len(names) != 1 or whole.base is None or whole.new is None:
        return None
    means = [side[names[0]].seconds / side[names[0]].iterations for side in times]
    if not all(map(is_time, means)):
        return None
    masks = _on_the_path(diff)
    if not all(mask.any() for mask in masks):
        return None
    goroutines = [_goroutines(comparison, diff, side) for side in (0, 1)]
    time = Amount(
        *(
            Fraction(seconds) * 10**9 * count
            for seconds, count in zip(means, goroutines, strict=True)
        )
    )
    on = _groups(diff, scaled, (masks[0], masks[1]))
    rest = time.less(Amount.sum(part.amount for part in on))
    off = _groups(diff, scaled, (~masks[0], ~masks[1]))
    source = "bench.txt less the CPU profile"
    gaps = ["off-CPU time by reason, which a trace of each side shows"]
    parts = in_part(on, off, "benchmark's goroutine")
    if parts != on:
        gaps.insert(0, "CPU of other goroutines")
    medians = whole.base, whole.new
    # The headline's ratio is theirs.
    ratios = means[1] / means[0], medians[1] / medians[0]
    pairs = *zip(means, medians, strict=True), ratios
    difference = max(abs(log(mean / each)) for mean, each in pairs)
    of = "mean time per op" if difference else "time per op"
    if goroutines != [1, 1]:
        of = f"{of}, of the benchmark's goroutines"
    return Account(
        of,
        "ns",
        (*parts, Part("off-cpu", "off-CPU", rest, source)),
        outside=tuple(part._replace(id=f"beside.{part.id}") for part in off),
        gaps=tuple(gaps),
        medians=(medians[0] * 1e9 * goroutines[0], medians[1] * 1e9 * goroutines[1])
        if difference > log(1 + SAME_WITHIN)
        else None,
    )


def _on_the_path(diff: ProfileDiff) -> tuple[np.ndarray, np.ndarray]:
    """Return masks (bool) of the samples of goroutines that run a benchmark's ops."""
    names = diff.paired_functions.names
    roots = [name in _ON_THE_PATH or name == _PARALLEL for name in names]
    return diff.having(np.array(roots, np.bool_))


def _goroutines(comparison: Comparison, diff: ProfileDiff, side: int) -> int:
    """Return how many goroutines run ops: GOMAXPROCS under RunParallel, else 1."""
    profile = (diff.base, diff.new)[side].profile
    if _PARALLEL not in profile.function_names():
        return 1
    captures = (comparison.base, comparison.new)[side].of("benchmark")
    results = [result for c in captures for result in c.content.results]
    procs = [r.procs or int(dict(r.config).get(PROCS, 1)) for r in results]
    return max(procs, default=1)
