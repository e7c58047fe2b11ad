"""Caveats on comparing two profiles: Go versions, sampling, durations, lifetime."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.policy import CLEARLY, MAJOR
from pprofdiff.analysis.profiles.kinds import (
    WEIGHT,
    is_counted,
    is_cpu,
    is_of_go,
    is_of_trace,
    is_wall,
    kind_name,
    primary_column,
)
from pprofdiff.analysis.profiles.own_code import named
from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.analysis.side import runs_benchmarks
from pprofdiff.analysis.work import Work
from pprofdiff.goruntime.versions import (
    Span,
    disjoint,
    format_go_version,
    infer_go_version,
    number,
)
from pprofdiff.model.csr import any_in_row
from pprofdiff.model.profiles.merge import is_diff
from pprofdiff.model.profiles.profile import Profile

_FEW_SAMPLES = 500
_SHORT_S = 5.0
_UNLIKE = 0.10


def go_version(*profiles: Profile) -> str | None:
    """Return the Go releases that have the profiles' runtime functions: go1.21-1.22.

    None if the names are inconclusive or contradict each other.
    """
    names = list(chain.from_iterable(map(Profile.function_names, profiles)))
    return format_go_version(*infer_go_version(names)) or None


def comparability(
    base: ProfileSide,
    new: ProfileSide,
    work: Work | None,
    normalization: Normalization,
) -> tuple[Caveat, ...]:
    """Return what to know about two sides before trusting their difference."""
    return (
        *_inputs(base, new),
        *_nameless(base, new),
        *_versions(base, new),
        *_sampling(base, new),
        *_lengths(base, new, normalization),
        *_unequal_totals(base, new, normalization),
        *_since_start(new, work, normalization),
        *_wakers(new),
    )


def _inputs(base: ProfileSide, new: ProfileSide) -> Iterator[Caveat]:
    for side in (base, new):
        if is_diff(side.profile):
            yield Caveat(
                "diffed-input",
                f"{side.label} already is a diff (it has pprof::base samples): "
                "its values are differences",
            )
        if len(side.runs) > 1:
            yield Caveat(
                "merged-input",
                f"{side.label} is {len(side.runs)} profiles added up; "
                "tables have their sums, the outcome compares run by run",
            )
        yield from _of_one_process(side)


def _of_one_process(side: ProfileSide) -> Iterator[Caveat]:
    for capture in side.runs:
        if capture.of_process > 1:
            kind = kind_name(capture.content)
            kind = "CPU" if kind == "cpu" else kind
            several = f"{capture.of_process} {kind} profiles"
            if capture.deltas:
                how = "allocations are added up, what is in use is of the latest"
            elif capture.content.duration_ns:
                how = "their windows are added up as one run"
            else:
                how = f"figures are of the latest, {capture.path}"
            text = f"{side.label}: {several} of one process; {how}"
            yield Caveat("merged-input", text)


def _nameless(base: ProfileSide, new: ProfileSide) -> Iterator[Caveat]:
    for side in (base, new):
        share = share_without_names(side.profile)
        if share >= MAJOR:
            yield Caveat(
                "no-names",
                f"{share:.0%} of {side.label}'s samples have frames without names, "
                "which are charged to their callers: build with symbols (-g, no strip)",
            )


def share_without_names(profile: Profile) -> float:
    """Return the share of values whose stacks have a frame without a function name.

    0 for Go, whose frames all have names.
    """
    if is_of_go(profile):
        return 0.0
    locations = profile.locations
    nameless = np.append(~named(profile.function_names()), True)
    of_location = any_in_row(nameless[locations.line_function], locations.line_offsets)
    met = any_in_row(of_location[profile.stack_locations], profile.stack_offsets)
    values = np.abs(profile.values[:, primary_column(profile)])
    whole = int(values.sum())
    return int(values[met].sum()) / whole if whole else 0.0


def releases_apart(base: ProfileSide, new: ProfileSide) -> tuple[Span, Span] | None:
    """Return the Go releases that could have built base and new, if disjoint."""
    base_span, new_span = base.releases, new.releases
    known = format_go_version(*base_span) and format_go_version(*new_span)
    return (base_span, new_span) if known and disjoint(base_span, new_span) else None


def _versions(base: ProfileSide, new: ProfileSide) -> Iterator[Caveat]:
    spans = releases_apart(base, new)
    if spans is None:
        return
    yield Caveat(
        "go-version",
        "runtime functions were renamed and split between the Go releases: trust the "
        "categories, not single runtime functions",
    )


def _sampling(base: ProfileSide, new: ProfileSide) -> Iterator[Caveat]:
    periods = base.profile.period, new.profile.period
    if periods[0] and periods[1] and periods[0] != periods[1]:
        yield Caveat(
            "period",
            f"sampled at different periods ({periods[0]} and {periods[1]}): values are "
            "comparable, sample counts are not",
        )
    if kind_name(new.profile) == WEIGHT:
        yield Caveat(
            "weight",
            "folded stacks have no unit, and these counts are no samples: they are "
            "weights, such as allocations, bytes, ticks or microseconds",
        )
    if not is_cpu(new.profile):
        return
    for side in (base, new):
        counted = [k.type for k in side.profile.sample_types]
        if "samples" not in counted:
            continue
        column = side.profile.values[:, counted.index("samples")]
        count = int(abs(column).sum())
        if count < _FEW_SAMPLES:
            yield Caveat(
                "few-samples",
                f"{side.label} has {count} samples; under {_FEW_SAMPLES} only large "
                "changes are significant: profile for longer",
            )


def _lengths(
    base: ProfileSide, new: ProfileSide, normalization: Normalization
) -> Iterator[Caveat]:
    spans = base.profile.duration_ns, new.profile.duration_ns
    if not spans[0] or not spans[1]:
        return
    seconds = [span / 1e9 for span in spans if span]
    # Benchmarks choose their iteration count; the cost per op is comparable.
    by_operation = normalization.mode == "per_work" and all(
        runs_benchmarks(side.profile) for side in (base, new)
    )
    if not by_operation and abs(seconds[1] / seconds[0] - 1) > _UNLIKE:
        yield Caveat(
            "duration",
            f"different durations ({seconds[0]:.1f} s and {seconds[1]:.1f} s)",
        )
    read_long = any(_may_be_before(side, "1.26") for side in (base, new))
    if is_cpu(new.profile) and min(seconds) < _SHORT_S and read_long:
        yield Caveat(
            "short",
            f"a profile of {min(seconds):.1f} s: up to Go 1.25 durations read "
            "0.1-0.2 s too long, which matters under 5 s",
        )


def _unequal_totals(
    base: ProfileSide, new: ProfileSide, normalization: Normalization
) -> Iterator[Caveat]:
    """Yield what counts without a duration add up to, which shares do not show."""
    profiles = base.profile, new.profile
    if normalization.mode == "per_work" or not all(map(is_counted, profiles)):
        return
    if any(profile.duration_ns for profile in profiles):
        return
    old, now = (int(p.values[:, primary_column(p)].sum()) for p in profiles)
    if min(old, now) > 0 and max(old, now) >= CLEARLY * min(old, now):
        yield Caveat(
            "unequal-totals",
            f"the counts add up to {old:,} → {now:,} ({now / old:.2f}×): if both sides "
            "did the same work, pass --work 1:1",
        )


def _may_be_before(side: ProfileSide, release: str) -> bool:
    first, _ = side.releases
    before = not first or number(first) < number(release)
    return before and is_of_go(side.profile)


def _wakers(new: ProfileSide) -> Iterator[Caveat]:
    """Yield whose stacks those of runnable goroutines are (cmd/trace/pprof.go)."""
    if kind_name(new.profile) == "sched":
        yield Caveat(
            "wakers",
            "sched is time runnable; its stacks show where goroutines were preempted, "
            "started or woken by others",
        )


def _since_start(
    new: ProfileSide, work: Work | None, normalization: Normalization
) -> Iterator[Caveat]:
    if work is None or normalization.mode != "per_work" or new.profile.duration_ns:
        return
    if any(counted.type in work.allocated for counted in new.profile.sample_types):
        return
    if is_counted(new.profile):
        if kind_name(new.profile) == WEIGHT:
            return
        yield Caveat(
            "sampling-rate",
            "samples per op are comparable only if both sides were sampled at one rate",
        )
        return
    if is_cpu(new.profile) or is_wall(new.profile):
        # A profiler of time starts and stops; rbspy does not write when.
        yield Caveat(
            "since-start",
            f"{kind_name(new.profile)} has no duration: values per op are right only "
            "if --work counts the operations done while profiled",
        )
        return
    covered = "trace" if is_of_trace(new.profile) else "process lifetime"
    counts = f"{kind_name(new.profile)} covers the whole {covered}"
    if work.per_second(work.seconds) is None:
        text = f"{counts}: values per op are right only if --work does too"
    else:
        text = f"{counts}; its operations = rate × process age"
    yield Caveat("since-start", text)
