"""Filters samples and frames by name and tag, like ``go tool pprof``.

Filters apply in pprof's order: focus, ignore, hide and show on the original profile,
then show_from on the result, then tagfocus and tagignore. A location matches if the
pattern is found in a function's name, its file, or the mapped file. Each distinct
function is matched once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.analysis.profiles.tags import number_units, tag_test
from pprofdiff.model.csr import count_in_row, expand, last_in_row, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pprofdiff.model.profiles.profile import Locations, Profile

__all__ = [
    "NO_FILTERS",
    "Filtered",
    "Filters",
    "cut_stacks",
    "filtered",
    "keep_lines",
    "lines_present",
]


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of samples and frames, named as in ``go tool pprof``.

    Each is a regular expression, "" for none. `focus` keeps stacks with a matching
    frame, `ignore` drops them. `hide` drops matching frames, `show` keeps only those,
    `show_from` drops everything above the first. `tagfocus` keeps and `tagignore` drops
    samples by label; for numeric labels they may be ranges.
    """

    focus: str = ""
    ignore: str = ""
    hide: str = ""
    show: str = ""
    show_from: str = ""
    tagfocus: str = ""
    tagignore: str = ""

    def __bool__(self) -> bool:
        """Return whether any filter is set."""
        return any(getattr(self, name) for name in _FILTERS)

    @property
    def active(self) -> tuple[str, ...]:
        """The filters that are set, in pprof's order, such as ``focus=json``."""
        pairs = ((name, getattr(self, name)) for name in _FILTERS)
        return tuple(f"{name}={value}" for name, value in pairs if value)


NO_FILTERS = Filters()

_FILTERS = tuple(field.name for field in fields(Filters))


class Filtered(NamedTuple):
    """A filtered profile, and warnings for the user."""

    profile: Profile
    warnings: tuple[str, ...]


def filtered(profile: Profile, filters: Filters) -> Filtered:
    """Return the profile with all filters applied.

    Raises UsageError for an invalid pattern. Warns about each filter that matched
    nothing and each tag filter that was read as a range of numbers.
    """
    notes: list[str] = []
    matched: dict[str, bool] = {}
    units = number_units(profile)
    profile = _by_name(profile, filters, matched)
    profile = _shown_from(profile, filters, matched)
    kept = np.ones(len(profile), np.bool_)
    for name, wanted in (("tagfocus", True), ("tagignore", False)):
        if value := getattr(filters, name):
            hits = tag_test(name, value, units, notes)(profile)
            matched[name] = bool(hits.any())
            kept &= hits == wanted
    if not kept.all():
        profile = profile.take(np.flatnonzero(kept))
    notes += [
        f"{name}={getattr(filters, name)} matched no samples"
        for name in _FILTERS
        if not matched.get(name, True)
    ]
    return Filtered(profile, tuple(notes))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Hits:
    """Where one pattern matches, as bool arrays.

    `line`: the function's name or file; `binary`: the file mapped at the location;
    `location`: either of them.
    """

    line: NDArray[np.bool_]
    binary: NDArray[np.bool_]
    location: NDArray[np.bool_]


def _hits(profile: Profile, option: str, pattern: str) -> _Hits:
    """Match a pattern against all functions and mapped files."""
    matches = matcher(pattern, option)
    strings, functions, locations = (
        profile.strings,
        profile.functions,
        profile.locations,
    )
    texts = set(functions.name.tolist()) | set(functions.filename.tolist())
    hit = np.zeros(len(strings), np.bool_)
    hit[[i for i in texts if matches(strings[i])]] = True
    function = np.append(hit[functions.name] | hit[functions.filename], False)
    mapping = np.array([*(matches(m.file) for m in profile.mappings), False])
    line = function[locations.line_function]
    binary = mapping[locations.mapping]
    any_line = count_in_row(line, locations.line_offsets) > 0
    return _Hits(line, binary, any_line | binary)


def lines_present(locations: Locations) -> NDArray[np.bool_]:
    """Return which lines (bool) are in the file, as opposed to placeholders."""
    counts = np.diff(locations.line_offsets)
    placeholder = (locations.line_function < 0) & (locations.line_number == 0)
    present: NDArray[np.bool_] = ~(placeholder & np.repeat(counts == 1, counts))
    return present


def _by_name(profile: Profile, filters: Filters, matched: dict[str, bool]) -> Profile:
    """Apply focus, ignore, hide and show; record in `matched` which ones matched."""
    hits = {
        name: _hits(profile, name, getattr(filters, name))
        for name in _FILTERS[:4]
        if getattr(filters, name)
    }
    if not hits:
        return profile
    everywhere = np.ones(len(profile.locations), np.bool_)
    ignored = hits["ignore"].location if "ignore" in hits else ~everywhere
    focused = hits["focus"].location if "focus" in hits else everywhere
    focused = focused & ~ignored
    if "focus" in hits:
        matched["focus"] = bool(focused.any())
    matched["ignore"] = "ignore" not in hits or bool(ignored.any())
    offsets, items = profile.stack_offsets, profile.stack_locations
    kept = count_in_row(focused[items], offsets) > 0
    if ignored.any():
        kept &= count_in_row(ignored[items], offsets) == 0
    visible = _visible(profile, hits, matched)
    locations = keep_lines(profile.locations, visible)
    shown = count_in_row(visible, profile.locations.line_offsets) > 0
    profile = replace(profile, locations=locations)
    if not shown.all():
        profile = _without(profile, ~shown)
        kept &= np.diff(profile.stack_offsets) > 0
    return profile if kept.all() else profile.take(np.flatnonzero(kept))


def _visible(
    profile: Profile, hits: dict[str, _Hits], matched: dict[str, bool]
) -> NDArray[np.bool_]:
    """Return which lines (bool) remain after hide and show."""
    locations = profile.locations
    counts = np.diff(locations.line_offsets)
    visible = np.ones(len(locations.line_function), np.bool_)
    if "hide" in hits:
        hide = hits["hide"]
        visible &= ~(hide.line | np.repeat(hide.binary, counts))
        matched["hide"] = bool(hide.location.any())
    if "show" in hits:
        show = hits["show"]
        nameless = locations.line_function < 0
        visible &= show.line | np.repeat(show.binary, counts) | nameless
        visible &= lines_present(locations)
        matched["show"] = bool(visible.any())
    return visible


def keep_lines(locations: Locations, kept: NDArray[np.bool_]) -> Locations:
    """Return locations with only the kept lines; empty ones get a placeholder."""
    counts = count_in_row(kept, locations.line_offsets)
    if kept.all():
        return locations
    empty = np.flatnonzero(counts == 0)
    chosen = kept.copy()
    chosen[locations.line_offsets[:-1][empty]] = True
    blank = ~kept[chosen]
    return replace(
        locations,
        line_offsets=offsets_of(np.maximum(counts, 1)),
        line_function=np.where(blank, np.int32(-1), locations.line_function[chosen]),
        line_number=np.where(blank, 0, locations.line_number[chosen]),
        line_column=np.where(blank, 0, locations.line_column[chosen]),
    )


def _without(profile: Profile, hidden: NDArray[np.bool_]) -> Profile:
    """Return the profile with hidden locations removed from all stacks."""
    kept = ~hidden[profile.stack_locations]
    return replace(
        profile,
        stack_offsets=offsets_of(count_in_row(kept, profile.stack_offsets)),
        stack_locations=profile.stack_locations[kept],
    )


def cut_stacks(
    profile: Profile, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> Profile:
    """Return the profile with stack i cut to items ``starts[i]:stops[i]``."""
    counts = stops - starts
    return replace(
        profile,
        stack_offsets=offsets_of(counts),
        stack_locations=profile.stack_locations[expand(starts, counts)],
    )


def _shown_from(
    profile: Profile, filters: Filters, matched: dict[str, bool]
) -> Profile:
    """Cut everything above the frame nearest the root that show_from matches."""
    if not filters.show_from:
        return profile
    hits = _hits(profile, "show_from", filters.show_from)
    matched["show_from"] = bool(hits.location.any())
    offsets = profile.locations.line_offsets
    last = np.where(
        hits.binary | ~hits.location, offsets[1:] - 1, last_in_row(hits.line, offsets)
    )
    lines = np.arange(len(hits.line)) <= np.repeat(last, np.diff(offsets))
    profile = replace(profile, locations=keep_lines(profile.locations, lines))
    top = last_in_row(hits.location[profile.stack_locations], profile.stack_offsets)
    kept = np.flatnonzero(top >= 0)
    profile = cut_stacks(
        profile,
        profile.stack_offsets[:-1],
        np.where(top >= 0, top + 1, profile.stack_offsets[:-1]),
    )
    return profile.take(kept)
