"""Whole sides: files paired by kind, each pair compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.inferred_work import inferred_work
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.profiles.diff import ProfileDiff, compare
from pprofdiff.analysis.profiles.kinds import is_heap, kind_name
from pprofdiff.analysis.profiles.mark_by_allocation import (
    MarkByAllocation,
    apportion_mark,
)
from pprofdiff.analysis.profiles.side import Run, side
from pprofdiff.analysis.side import Side
from pprofdiff.analysis.work import Work
from pprofdiff.errors import UsageError

if TYPE_CHECKING:
    from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff
    from pprofdiff.analysis.gclogs.compare import GCDiff
    from pprofdiff.analysis.gclogs.window import Span
    from pprofdiff.analysis.traces.compare import TraceDiff

__all__ = ["Comparison", "compare_sides", "gc_caveats", "load_caveats"]

# The order of the report: what a reader looks for first.
_ORDER = ("cpu", "allocs", "heap", "block", "mutex", "goroutine")


class Comparison(NamedTuple):
    """Every comparison that two sides allow.

    `profiles` come most telling first; `gc`, `benchmarks` and `trace` are None where
    a side has none; `lonely` names the kinds that one side only has, as (kind, label
    of the side that has it); `work` is what values by operation rest on.
    """

    base: Side
    new: Side
    profiles: tuple[ProfileDiff, ...] = ()
    lonely: tuple[tuple[str, str], ...] = ()
    modelled: MarkByAllocation | None = None
    gc: GCDiff | None = None
    benchmarks: BenchmarkDiff | None = None
    trace: TraceDiff | None = None
    work: Work | None = None


def compare_sides(
    base: Side,
    new: Side,
    *,
    sample_type: str | None = None,
    normalize: bool = False,
    work: Work | None = None,
    spans: tuple[Span | None, Span | None] = (None, None),
) -> Comparison:
    """Pair the sides' evidence by kind and subtract each pair.

    One profile a side is a pair whatever its kind. Without `work`, that of a load
    generator or benchmark in the evidence is taken; `spans` are the windows of GC logs.
    Raises UsageError where nothing pairs.
    """
    if work is None and not normalize:
        work = inferred_work(base, new)
    pairs, lonely = _pairs(base, new)
    both = [kind for kind in base.kinds if kind in new.kinds]
    if not pairs and not {"trace", "gctrace", "benchmark"} & set(both):
        sides = (base.label, new.label)
        held = "; ".join(
            f"{label} has {listed}"
            for label in sides
            if (listed := ", ".join(kind for kind, own in lonely if own == label))
        )
        raise UsageError(f"nothing to compare: {held or 'no profiles were given'}")
    subtract = partial(compare, normalize=normalize, work=work)
    gc = _gc(base, new, spans, work) if "gctrace" in both else None
    if not pairs and gc is None and not {"trace", "benchmark"} & set(both):
        raise UsageError("; ".join(c.text for c in gc_caveats(base, new)))
    diffs = _profiles((base.label, new.label), pairs, sample_type, subtract)
    return Comparison(
        base=base,
        new=new,
        profiles=tuple(diffs),
        lonely=lonely,
        modelled=apportion_mark(diffs),
        gc=gc,
        benchmarks=_benchmarks(base, new) if "benchmark" in both else None,
        trace=_trace(base, new, work) if "trace" in both else None,
        work=work,
    )


def _profiles(
    labels: tuple[str, str],
    pairs: Sequence[tuple[list[Run], list[Run]]],
    sample_type: str | None,
    subtract: Callable[..., ProfileDiff],
) -> list[ProfileDiff]:
    """Subtract each pair of profiles; of allocations, the objects after the bytes."""
    diffs: list[ProfileDiff] = []
    refusals: list[UsageError] = []
    for old_runs, new_runs in pairs:
        old, fresh = side(labels[0], old_runs), side(labels[1], new_runs)
        try:
            first = subtract(old, fresh, sample_type=sample_type)
        except UsageError as error:
            # One kind of several may lack the sample type that was asked for.
            refusals.append(error)
            continue
        diffs.append(first)
        objects = _objects_type(first) if sample_type is None else None
        if objects is not None:
            diffs.append(subtract(old, fresh, sample_type=objects))
    if refusals and not diffs:
        raise refusals[0]
    return diffs


def load_caveats(*sides: Side) -> list[Caveat]:
    """Return which load generators had requests that failed: no work was done."""
    return [
        Caveat(
            "load-failed",
            f"{path}: {load.failed:,} of {load.requests:,} requests failed; operations "
            "a second count them too",
        )
        for side in sides
        for path, load in side.loads
        if load.failed and load.requests
    ]


def gc_caveats(base: Side, new: Side) -> list[Caveat]:
    """Return why GC logs are not compared, file by file."""
    if not base.logs and not new.logs:
        return []
    from pprofdiff.analysis.gclogs.compare import unusable

    return [*unusable(base.logs), *unusable(new.logs)]


def _gc(
    base: Side,
    new: Side,
    spans: tuple[Span | None, Span | None],
    work: Work | None,
) -> GCDiff | None:
    """Compare the GC logs; None where a side's hold no whole line."""
    from pprofdiff.analysis.gclogs.compare import compare_logs

    spent = [_cpu_seconds(side) for side in (base, new)]
    return compare_logs(
        ((base.label, base.logs), (new.label, new.logs)),
        spans,
        work,
        (spent[0], spent[1]),
    )


def _cpu_seconds(evidence: Side) -> float | None:
    """Return how long a side's CPU profiles lasted, None without."""
    spans = [
        run.profile.duration_ns
        for run in evidence.runs
        if kind_name(run.profile) == "cpu"
    ]
    known = [span for span in spans if span]
    return sum(known) / 1e9 if known and len(known) == len(spans) else None


def _trace(base: Side, new: Side, work: Work | None) -> TraceDiff:
    from pprofdiff.analysis.traces.compare import compare_traces

    return compare_traces(
        (base.label, base.traces),
        (new.label, new.traces),
        work,
        (_cpu_seconds(base), _cpu_seconds(new)),
    )


def _benchmarks(base: Side, new: Side) -> BenchmarkDiff:
    from pprofdiff.analysis.benchmarks.compare import compare_benchmarks

    return compare_benchmarks(
        [run.benchmarks for run in base.benchmarks],
        [run.benchmarks for run in new.benchmarks],
    )


def _pairs(
    base: Side, new: Side
) -> tuple[list[tuple[list[Run], list[Run]]], tuple[tuple[str, str], ...]]:
    """Return (base runs, new runs) by kind, and the kinds of one side only."""
    held = [_by_kind(base.runs), _by_kind(new.runs)]
    names = [[*held[0], *base.kinds], [*held[1], *new.kinds]]
    alone = len(base.runs) == 1 and len(new.runs) == 1
    kinds = sorted({*names[0], *names[1]}, key=_place)
    lonely = tuple(
        (kind, label)
        for kind in kinds
        for label, own, other in (
            (base.label, names[0], names[1]),
            (new.label, names[1], names[0]),
        )
        if kind in own
        and kind not in other
        and not (alone and kind in held[0] | held[1])
    )
    if alone:
        return [(list(base.runs), list(new.runs))], lonely
    both = [kind for kind in kinds if kind in held[0] and kind in held[1]]
    return [(held[0][kind], held[1][kind]) for kind in both], lonely


def _place(kind: str) -> tuple[int, str]:
    """Return where a kind stands in the report."""
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind)


def _by_kind(runs: Sequence[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(kind_name(run.profile), []).append(run)
    return groups


def _objects_type(diff: ProfileDiff) -> str | None:
    """Return the sample type that counts the objects of these bytes, or None."""
    if not is_heap(diff.new.profile) or not diff.sample_type.type.endswith("_space"):
        return None
    objects = diff.sample_type.type.replace("_space", "_objects")
    held = [{t.type for t in s.profile.sample_types} for s in (diff.base, diff.new)]
    return objects if objects in held[0] & held[1] else None
