"""The sentence under a profile's tables: how small a change can be seen."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.profiles.by_run import together
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.rows import Sentence

__all__ = ["noise_sentence"]


def noise_sentence(diff: ProfileDiff) -> Iterator[Sentence]:
    """Yield what ``~`` means here, and the length of profile that would tell.

    Nothing is yielded where no group is within noise, or chance has no model.
    """
    model = diff.model
    sums, groups = diff.category_sums, judged_groups(diff)
    within = [row for row, group in enumerate(groups) if group.noise]
    if model is None or sums is None or not within or 0 in diff.totals:
        return
    row = max(within, key=lambda row: abs(groups[row].delta))
    largest, runs = groups[row], together(sums.group_runs, [row])
    reach = float(model.reach(runs)[0])
    z = model.rows(runs).z
    scale = scale_of(diff)
    text = (
        f"within noise: at this length {largest.label} must move by "
        f"{scale.number(reach)} {scale.unit} to be told from chance"
    )
    spans = [s.profile.duration_ns for s in (diff.base, diff.new)]
    lengths = [span for span in spans if span]
    times = float(model.lengths_needed(z)[0])
    if len(lengths) == 2 and 1 < times < 1000:
        text += (
            f"; its {scale.number(largest.delta, signed=True)} would need profiles "
            f"of about {_span(times * max(lengths) / 1e9)}"
        )
    yield Sentence(f"{text}.", "noise")


def _span(seconds: float) -> str:
    """Return a length of time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
