"""The first sentence on a profile, and the one below its tables on what is noise."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.ledger.views import together
from pprofdiff.analysis.policy import MAJOR
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import (
    JudgedSum,
    judged_categories,
    judged_groups,
)
from pprofdiff.analysis.profiles.scaling import change_scale_of, scale_of
from pprofdiff.analysis.profiles.tables import VALUE_COLUMNS
from pprofdiff.report.rows import Sentence
from pprofdiff.report.sections.changes import total_change
from pprofdiff.units import percent

# Categories whose name says no more than their group's.
_NO_MORE_THAN_ITS_GROUP = frozenset(("alloc", "rt.other", "user"))


def headline(diff: ProfileDiff, *, noise: bool | None) -> str:
    """Return one to three sentences: the largest change first, the total last."""
    for side, total in zip((diff.base, diff.new), diff.totals, strict=True):
        if diff.is_cpu and total == 0:
            return f"{side.label} has no samples: there is nothing to compare."
    if not diff.grouped:
        return _whole(diff, noise=noise)
    groups = judged_groups(diff)
    changed = [group for group in groups if group.noise is False]
    changed.sort(key=lambda group: -abs(group.delta))
    whole = _whole(diff, noise=noise)
    if not changed:
        if diff.model is None:
            return whole
        if any(group.noise is None for group in groups):
            return f"No group changed by more than runs of one build may. {whole}"
        return f"{_no_group(diff, groups)} {whole}".strip()
    first = f"{_change(diff, changed[0])}{_most_of_it(diff, changed[0])}."
    rest = "; ".join(_change(diff, group) for group in changed[1:3])
    more = f" {rest}." if rest else " No other group changed beyond noise."
    return f"{first}{more} {whole}".strip()


def _no_group(diff: ProfileDiff, groups: list[JudgedSum]) -> str:
    """Return that no group changed, and the category that changed anyway."""
    parts = (part for group in groups for part in judged_categories(diff, group.id))
    moved = [part for part in parts if part.noise is False]
    if not moved:
        return "No group changed beyond noise on its own."
    largest = max(moved, key=lambda part: abs(part.delta))
    return f"No group changed beyond noise on its own; {_change(diff, largest)}."


def _change(diff: ProfileDiff, group: JudgedSum) -> str:
    if diff.normalization.mode == "composition":
        return f"{group.label}: {_share(diff, group)} of the CPU"
    scale = scale_of(diff)
    base, new = map(scale.number, diff.normalization.scaled(group.base, group.new))
    word = "more" if group.delta > 0 else "less"
    amount = scale.number(abs(group.delta))
    text = f"{group.label} costs {amount} {scale.unit} {word} ({base} → {new}"
    if diff.normalization.mode != "absolute":
        text += f"; {_share(diff, group)} of the CPU"
    return f"{text})"


def _share(diff: ProfileDiff, group: JudgedSum) -> str:
    base, new = diff.totals
    return f"{percent(group.base, base)} → {percent(group.new, new)}"


def _most_of_it(diff: ProfileDiff, group: JudgedSum) -> str:
    """Return the category that makes at least half of a group's change, "" for none."""
    parts = judged_categories(diff, group.id)
    if len(parts) < 2:
        return ""
    largest = max(parts, key=lambda part: part.delta * (1 if group.delta > 0 else -1))
    if largest.delta / group.delta < 0.5 or largest.id in _NO_MORE_THAN_ITS_GROUP:
        return ""
    return f", most of it {largest.label}"


def _whole(diff: ProfileDiff, *, noise: bool | None) -> str:
    """Return the sentence about the totals, "" if shares are compared."""
    if diff.normalization.mode == "composition":
        return ""
    scale, totals = scale_of(diff), diff.totals
    base, new = diff.normalization.scaled(*totals)
    words = f"Total {scale.number(base)} → {scale.number(new)} {scale.unit}"
    if not base:
        return f"{words}."
    change = total_change(base, new)
    if noise:
        # A part of a large change may be significant although the machine shifts all.
        if change and abs(new - base) >= MAJOR * base:
            return f"{words} ({change}, not significant)."
        return f"{words}, within noise."
    return f"{words} ({change})." if change else f"{words}."


def noise_sentence(
    diff: ProfileDiff, hosts: int | None = None, *, measured: bool = False
) -> Iterator[Sentence]:
    """Yield what ``~`` means here, and the length of profile that would decide.

    For fleets, the number of hosts needed is given instead, compared with `hosts` of
    the smaller one. For benchmarks that were `measured`, the outcome says how long to
    measure.
    """
    model = diff.model
    groups = judged_groups(diff)
    within = [row for row, group in enumerate(groups) if group.noise]
    if model is None or not groups or 0 in diff.totals:
        return
    if model.spread.assumed and _some_untested(diff):
        yield Sentence(
            "A number without a mark is more than sampling noise, but runs of one "
            "build may differ by as much: take several runs per side.",
            "legend",
        )
    if measured and any(groups[row].base or groups[row].new for row in within):
        yield Sentence("within noise.", "noise")
    if measured or not within:
        return
    row = max(within, key=lambda row: abs(groups[row].delta))
    largest, runs = groups[row], together(diff.ledger.every("group").runs, [row])
    reach = float(model.reach(runs)[0])
    given = "at this length" if hosts is None else "with this many hosts"
    text = (
        f"within noise: {given} {largest.label} must change by "
        f"{change_scale_of(diff).text(reach)} to be significant"
    )
    spans = [s.profile.duration_ns for s in (diff.base, diff.new)]
    lengths = [span for span in spans if span]
    times = float(model.lengths_needed(runs)[0])
    needed = ""
    if hosts is not None:
        needed = f"about {times * hosts:,.0f} per side"
    elif len(lengths) == 2:
        needed = f"profiles of about {_span(times * max(lengths) / 1e9)}"
    if needed and 1 < times < 1000:
        delta = scale_of(diff).number(largest.delta, signed=True)
        text += f"; its {delta} would need {needed}"
    yield Sentence(f"{text}.", "noise")


def _some_untested(diff: ProfileDiff) -> bool:
    if any(group.noise is None for group in judged_groups(diff)):
        return True
    table = diff.table("functions")
    judged = (table.judge(column) for column in VALUE_COLUMNS)
    return any(one is not None and not one.known.all() for one in judged)


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
