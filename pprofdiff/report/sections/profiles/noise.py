"""The sentence below a profile's tables: how small a change can be seen."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.ledger.views import together
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.profiles.scaling import change_scale_of, scale_of
from pprofdiff.analysis.profiles.tables import VALUE_COLUMNS
from pprofdiff.report.rows import Sentence


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
