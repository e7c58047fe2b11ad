"""Rules on profiles: functions, packages, groups, categories and the total."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pprofdiff.analysis.busy import SCHEDULING, scheduling_alone
from pprofdiff.analysis.control.totals import (
    TotalRatio,
    ratio_about,
    ratio_of_totals,
)
from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Limit,
    NoDataError,
    delta_bounds,
)
from pprofdiff.analysis.judge.calibration import GOROUTINES
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judge import change_by_prior
from pprofdiff.analysis.judge.judgement import Observed, Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.analysis.profiles.rows import Granularity, first_lines
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tables import STOPPED, ValueColumn
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.units import Scale

Bounds = tuple[float, float]

# Modes in which both totals are the same number, regardless of what was measured.
_SHARES = "composition", "share"


def _total(asked: Asked, judged: Judged) -> list[Figure]:
    diff = _profile(asked, judged)
    figures = _figures(asked, diff, [f"all of {diff.name}"], diff.whole, [0])
    if diff.normalization.mode in _SHARES:
        raise _only_shares(diff)
    total = ratio_of_totals(diff) or ratio_about(diff)
    if total is None:
        return figures
    return [_with_ratio(figure, total) for figure in figures]


def _with_ratio(figure: Figure, total: TotalRatio) -> Figure:
    ratio, (base, new) = total.ratio, total.means
    return figure._replace(
        base=base,
        new=new,
        noise=ratio.low <= 1 <= ratio.high,
        bounds=delta_bounds(base, *ratio.bounds),
        by_ratio=True,
        runs=min(total.runs) if total.by_run else 1,
    )


def _named(
    asked: Asked, judged: Judged, granularity: Granularity, column: ValueColumn
) -> list[Figure]:
    """Measure the table rows whose name, on either side, matches the pattern."""
    matches = _pattern(asked)
    diff = _profile(asked, judged)
    table = diff.table(granularity)
    matching = [
        row
        for row, (name, older) in enumerate(
            zip(table.names, table.base_names, strict=True)
        )
        if matches(name) or (older is not None and matches(older))
    ]
    if not matching:
        noun = granularity.removesuffix("s")
        raise NoDataError(f"no {noun} on either side of {diff.name} matches")
    figures = _figures(asked, diff, table.names, table.runs(column), matching)
    if diff.is_cpu and scheduling_alone(judged.comparison):
        # A busy machine makes the runtime schedule more, regardless of the build.
        figures = [
            figure._replace(noise=True, bounds=None)
            if is_runtime_like(figure.what)
            else figure
            for figure in figures
        ]
    if granularity != "functions":
        return figures
    begins = first_lines(diff.new.profile)
    return [
        figure._replace(file=file, line=begins.get((figure.what, file), 0))
        for figure, file in zip(
            figures, (table.files[i] for i in matching), strict=True
        )
    ]


def _of_runtime(asked: Asked, judged: Judged) -> list[Figure]:
    """Measure a group or category of the runtime, judged together with the others."""
    diff = _profile(asked, judged)
    if not diff.classified:
        raise NoDataError(
            f"{diff.name} has no runtime {asked.kind}: that takes CPU time"
        )
    ids = _ids(asked)
    runs = diff.ledger.every(asked.kind).runs
    figures = _figures(asked, diff, ids, runs, [ids.index(asked.subject)])
    scheduled = asked.subject.partition(".")[0] in SCHEDULING
    if scheduled and diff.is_cpu and scheduling_alone(judged.comparison):
        return [figure._replace(noise=True, bounds=None) for figure in figures]
    return figures


def _profile(asked: Asked, judged: Judged) -> ProfileDiff:
    """Return the comparison that ``@`` names, else CPU, else the only one."""
    profiles = judged.comparison.profiles
    names = tuple(dict.fromkeys(diff.name for diff in profiles))
    if asked.source:
        for diff in profiles:
            if asked.source in (diff.name, diff.sample_type.type):
                return diff
        others = f"there are: {', '.join(names)}" if names else "there is no profile"
        raise NoDataError(f"no {asked.source} profile is compared; {others}")
    for diff in profiles:
        if diff.is_cpu or len(names) == 1:
            return diff
    if not profiles:
        raise NoDataError("no profile is compared")
    raise NoDataError(
        f"which profile? type {asked.kind}@{names[0]}:…; there are: {', '.join(names)}"
    )


def _figures(
    asked: Asked,
    diff: ProfileDiff,
    names: Sequence[str],
    runs: Runs[Column],
    chosen: list[int],
) -> list[Figure]:
    """Return the chosen rows in the limit's unit; all rows are judged together."""
    base, new = merged(runs)
    if 0 in diff.totals and diff.sample_type.type != _LEAKED:
        label = diff.base.label if diff.totals[0] == 0 else diff.new.label
        raise NoDataError(f"{label} has no samples of {diff.name}")
    by, model = diff.normalization, diff.model
    if asked.limit.unit == "pp":
        by = by.of_shares(diff.totals)
        model = None if model is None else model.of_shares(diff.totals)
        scale, unit = Scale(1, "% of the total", 1), "pp"
    else:
        scale, unit = scale_of(diff), diff.unit
        if not asked.limit.relative and not asked.limit.fits(unit):
            raise asked.wrong(
                f"{diff.sample_type.type} is in {unit}; a limit is +5% or "
                + {"nanoseconds": "+50ms", "bytes": "+2MiB"}.get(unit, "+100")
            )
        if by.mode == "composition":
            if not asked.limit.relative:
                raise _only_shares(diff)
            unit = "%"
    chances = _chances(diff, model, names, runs, asked.limit)
    scaled = [by.scaled(int(base[i]), int(new[i])) for i in chosen]
    return [
        Figure(
            what=names[i],
            base=sides[0],
            new=sides[1],
            unit=unit,
            scale=scale,
            noise=chances[i][0],
            bounds=chances[i][1],
            runs=0 if model is None else min(model.spread.runs),
            assumed=model is not None and model.spread.assumed,
            unsure="the sample count does not show how far "
            f"{diff.sample_type.type} moves by chance",
        )
        for i, sides in zip(chosen, scaled, strict=True)
    ]


def _only_shares(diff: ProfileDiff) -> NoDataError:
    reason = diff.normalization.reason
    return NoDataError(f"only shares of {diff.name} are compared ({reason})")


_LEAKED = "goroutineleak"
_Chance = tuple[bool | None, Bounds | None]


def _chances(
    diff: ProfileDiff,
    model: CountModel | None,
    names: Sequence[str],
    runs: Runs[Column],
    limit: Limit,
) -> list[_Chance]:
    """Return each row's noise, and the interval of its change for a limit.

    Samples of goroutines stopped by a preemption signal show how busy the machine is:
    they are noise. For values that are not samples, such as time waited for locks, no
    model says how far runs vary: noise and interval are unknown.
    """
    if model is not None:
        low, high = (
            model.against(runs, share=float(limit.amount / 100))
            if limit.relative
            else model.against(runs, amount=limit.allowed(0.0, diff.unit))
        )
        rows = zip(
            names, model.rows(runs).chance, low.tolist(), high.tolist(), strict=True
        )
        return [
            (True, None) if name == STOPPED else (noise, (below, above))
            for name, noise, below, above in rows
        ]
    if diff.sample_type.type not in ("goroutine", _LEAKED):
        return [(None, None)] * len(names)
    # Go counts every goroutine and samples none; their shares have no interval.
    # One that is leaked is proved to be, where the other side has none.
    counted = limit.unit != "pp" and diff.normalization.mode == "absolute"
    chances: list[_Chance] = []
    for base, new in zip(*(side.tolist() for side in merged(runs)), strict=True):
        if diff.sample_type.type == _LEAKED and 0 in (base, new):
            exact = float(new - base)
            chances.append((base == new, (exact, exact) if counted else None))
            continue
        change = change_by_prior(GOROUTINES, Observed(base), Observed(new))
        bounds = None
        if counted and change.low is not None and change.high is not None:
            bounds = change.low, change.high
        chances.append((not change.significant, bounds))
    return chances


def _pattern(asked: Asked) -> Matches:
    """Return the matcher of the rule's pattern; raises UsageError for a bad one."""
    return matcher(asked.subject, asked.named)


def _no_points(asked: Asked) -> None:
    if asked.limit.unit == "pp":
        raise asked.wrong(
            "the total is always 100%, so a limit in pp does not apply; type total:+5%"
        )


def _ids(asked: Asked) -> Sequence[str]:
    known = rules()
    return [g.id for g in known.groups] if asked.kind == "group" else known.categories


def _known(asked: Asked) -> None:
    """Reject a subject that is no group, or no category."""
    if asked.subject not in _ids(asked):
        raise asked.wrong(
            f"there is no {asked.kind} {asked.subject}; there are: "
            f"{', '.join(_ids(asked))}"
        )


FLAT = Kind(_pattern, partial(_named, granularity="functions", column="flat"))
CUM = Kind(_pattern, partial(_named, granularity="functions", column="cum"))
PACKAGE = Kind(_pattern, partial(_named, granularity="packages", column="cum"))
GROUP = CATEGORY = Kind(_known, _of_runtime)
TOTAL = Kind(_no_points, _total)
