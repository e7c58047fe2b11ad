"""Rules on profiles: functions, packages, groups, categories and the total."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Measured,
    Missing,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.granularity import Granularity
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tables import ValueColumn
from pprofdiff.analysis.profiles.totals import total_noise
from pprofdiff.analysis.stats.calibration import GOROUTINES
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.analysis.stats.judge import Judge, beyond_runs
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.units import Scale

__all__ = ["CATEGORY", "CUM", "FLAT", "GROUP", "PACKAGE", "TOTAL"]

Column = NDArray[np.int64]

# How sides are compared where both totals are the same number whatever was measured.
_SHARES = "composition", "share"


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows that are judged together: names, and raw int64 columns."""

    names: Sequence[str]
    base: Column
    new: Column


def _flat(asked: Asked, judged: Judged) -> Measured:
    """Measure each function that matches by its own cost."""
    return _named(asked, judged, "functions", "flat")


def _cum(asked: Asked, judged: Judged) -> Measured:
    """Measure each function that matches with its callees."""
    return _named(asked, judged, "functions", "cum")


def _packages(asked: Asked, judged: Judged) -> Measured:
    """Measure each package that matches with its callees."""
    return _named(asked, judged, "packages", "cum")


def _groups(asked: Asked, judged: Judged) -> Measured:
    """Measure a group of runtime categories, judged together with the others."""

    def rows(diff: ProfileDiff) -> _Rows | None:
        sums = diff.category_sums
        if sums is None:
            return None
        ids, base, new = zip(*sums.groups(), strict=True)
        return _Rows(ids, np.array(base, np.int64), np.array(new, np.int64))

    return _of_runtime(asked, judged, rows)


def _categories(asked: Asked, judged: Judged) -> Measured:
    """Measure a runtime category, judged together with the others."""

    def rows(diff: ProfileDiff) -> _Rows | None:
        sums = diff.category_sums
        return None if sums is None else _Rows(sums.ids, sums.base, sums.new)

    return _of_runtime(asked, judged, rows)


def _total(asked: Asked, judged: Judged) -> Measured:
    """Measure all of a profile."""
    diff = _profile(asked, judged)
    if isinstance(diff, Missing):
        return diff
    base, new = (np.array([side], np.int64) for side in diff.totals)
    figures = _figures(asked, diff, _Rows((f"all of {diff.name}",), base, new), [0])
    if isinstance(figures, Missing):
        return figures
    if diff.normalization.mode in _SHARES:
        return _only_shares(diff)
    if diff.model is None:
        return figures
    return [figure._replace(noise=total_noise(diff)) for figure in figures]


def _named(
    asked: Asked, judged: Judged, granularity: Granularity, column: ValueColumn
) -> Measured:
    """Measure the rows of a table whose name, on either side, the pattern matches."""
    matches = _pattern(asked)
    diff = _profile(asked, judged)
    if isinstance(diff, Missing):
        return diff
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
        return Missing(f"no {noun} on either side of {diff.name} matches")
    figures = _figures(asked, diff, _Rows(table.names, *table.raw(column)), matching)
    if granularity != "functions" or isinstance(figures, Missing):
        return figures
    begins = _first_lines(diff.new.profile)
    return [
        figure._replace(file=file, line=begins.get((figure.what, file), 0))
        for figure, file in zip(
            figures, (table.files[i] for i in matching), strict=True
        )
    ]


def _first_lines(profile: Profile) -> dict[tuple[str, str], int]:
    """Return the line at which each (function, file) begins, where the file says."""
    strings, functions = profile.strings, profile.functions
    begins = np.flatnonzero(functions.start_line > 0)
    columns = (functions.name, functions.filename, functions.start_line)
    return {
        (strings[name], strings[file]): line
        for name, file, line in zip(*(c[begins].tolist() for c in columns), strict=True)
    }


def _of_runtime(
    asked: Asked,
    judged: Judged,
    rows: Callable[[ProfileDiff], _Rows | None],
) -> Measured:
    """Measure the row whose id the rule names."""
    diff = _profile(asked, judged)
    if isinstance(diff, Missing):
        return diff
    sums = rows(diff)
    if sums is None:
        return Missing(f"{diff.name} has no runtime {asked.kind}: that takes CPU time")
    return _figures(asked, diff, sums, [list(sums.names).index(asked.subject)])


def _profile(asked: Asked, judged: Judged) -> ProfileDiff | Missing:
    """Return the comparison that a rule is on: that after ``@``, else cpu or the only.

    Its name is that of the profile or of its sample type.
    """
    profiles = judged.comparison.profiles
    names = tuple(dict.fromkeys(diff.name for diff in profiles))
    if asked.source:
        for diff in profiles:
            if asked.source in (diff.name, diff.sample_type.type):
                return diff
        others = f"there are: {', '.join(names)}" if names else "there is no profile"
        return Missing(f"no {asked.source} profile is compared; {others}")
    for diff in profiles:
        if diff.is_cpu or len(names) == 1:
            return diff
    if not profiles:
        return Missing("no profile is compared")
    return Missing(
        f"which profile? type {asked.kind}@{names[0]}:…; there are: {', '.join(names)}"
    )


def _figures(
    asked: Asked, diff: ProfileDiff, rows: _Rows, chosen: list[int]
) -> Measured:
    """Return the chosen rows as the limit has them; all rows are judged together."""
    names, base, new = rows.names, rows.base, rows.new
    if 0 in diff.totals:
        label = diff.base.label if diff.totals[0] == 0 else diff.new.label
        return Missing(f"{label} has no samples of {diff.name}")
    by, model = diff.normalization, diff.model
    if asked.limit.unit == "pp":
        by = by.of_shares(diff.totals)
        model = None if model is None else model.of_shares(diff.totals)
        scale, unit = Scale(1, "% of the total", 1), "pp"
    else:
        scale, unit = scale_of(diff), diff.unit
        if not asked.limit.relative and not asked.limit.fits(unit):
            raise asked.wrong(
                f"{diff.sample_type.type} is in {unit}; a limit is {_example(diff)}"
            )
        if by.mode == "composition":
            if not asked.limit.relative:
                return _only_shares(diff)
            unit = "%"
    noise = _noise(diff, model, rows)
    scaled = [by.scaled(int(base[i]), int(new[i])) for i in chosen]
    return [
        Figure(
            what=names[i],
            base=sides[0],
            new=sides[1],
            unit=unit,
            scale=scale,
            noise=noise(i),
            unsure=f"no sample count tells how far {diff.sample_type.type} may move "
            "by chance",
        )
        for i, sides in zip(chosen, scaled, strict=True)
    ]


def _only_shares(diff: ProfileDiff) -> Missing:
    """Return why nothing is known of a profile's amounts."""
    reason = diff.normalization.reason
    return Missing(f"only shares of {diff.name} are compared ({reason})")


def _noise(
    diff: ProfileDiff, model: CountModel | None, rows: _Rows
) -> Callable[[int], bool | None]:
    """Return a function that tells whether a row's change may be chance, or None.

    Go counts every goroutine and samples none: what chance does there is what comes and
    goes from one instant to the next.
    """
    if model is not None:
        judged = Judge(model).rows(Runs.single(rows.base, rows.new))
        return lambda row: judged.change(row).noise
    if diff.sample_type.type == "goroutine":
        return lambda row: (
            not beyond_runs(GOROUTINES, int(rows.base[row]), int(rows.new[row]))
        )
    return lambda _row: None


def _example(diff: ProfileDiff) -> str:
    """Return limits that fit a profile."""
    unit = {"nanoseconds": "+5% or +50ms", "bytes": "+5% or +2MB"}
    return unit.get(diff.unit, "+5% or +100")


def _pattern(asked: Asked) -> Matches:
    """Return what the rule's pattern matches; raises UsageError for a wrong one."""
    return matcher(asked.subject, f"--fail-on {asked.text}")


def _no_points(asked: Asked) -> None:
    if asked.limit.unit == "pp":
        raise asked.wrong("the total is all of it and has no points; type total:+5%")


def _known(ids: Callable[[], Sequence[str]]) -> Callable[[Asked], None]:
    """Return a check that the subject is one of these ids."""

    def check(asked: Asked) -> None:
        if asked.subject not in ids():
            raise asked.wrong(
                f"there is no {asked.kind} {asked.subject}; there are: "
                f"{', '.join(ids())}"
            )

    return check


FLAT = Kind(_pattern, _flat)
CUM = Kind(_pattern, _cum)
PACKAGE = Kind(_pattern, _packages)
GROUP = Kind(_known(lambda: [group.id for group in rules().groups]), _groups)
CATEGORY = Kind(_known(lambda: rules().categories), _categories)
TOTAL = Kind(_no_points, _total)
