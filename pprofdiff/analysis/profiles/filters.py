"""Filters samples and frames by name and tag, like ``go tool pprof``.

Filters apply in pprof's order: focus, ignore, hide and show on the original profile,
then show_from on the result, then tagfocus and tagignore. A location matches if the
pattern is found in a function's name, its file, or the mapped file.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.errors import UsageError
from pprofdiff.model.csr import (
    count_in_row,
    expand,
    last_in_row,
    offsets_of,
    unique_tuples,
)
from pprofdiff.units import scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pprofdiff.model.profiles.profile import Labels, Locations, Profile

    Test = Callable[[Profile], NDArray[np.bool_]]
    InRange = Callable[[int, str], bool]

_NUMBER = re.compile(r"([+-]?[0-9]+)([A-Za-z]+)?")
_BYTES = ("alignment", "request")


def number_units(profile: Profile) -> dict[str, str]:
    """Return the unit of each numeric label key: the first that a sample gives.

    Else it is bytes for ``alignment`` and ``request``, and the key for others.
    """
    labels, strings = profile.labels, profile.strings
    rows = np.flatnonzero(_numeric(labels))
    units: dict[str, str] = {}
    keys = {strings[i] for i in np.unique(labels.key[rows]).tolist()}
    rows = rows[labels.unit[rows] != 0]
    first, _ = unique_tuples((labels.key[rows], labels.unit[rows]))
    for row in rows[first].tolist():
        if unit := strings[labels.unit[row]]:
            units.setdefault(strings[labels.key[row]], unit)
    for key in keys - set(units):
        units[key] = "bytes" if key in _BYTES else key
    return units


def _tag_test(option: str, value: str, units: dict[str, str], notes: list[str]) -> Test:
    """Return the test for a ``-tagfocus`` or ``-tagignore`` option.

    The test takes a profile and returns which of its samples pass (bool). `value` is
    what to look for, after ``KEY=`` to restrict it to one key. A range of numbers such
    as ``32kb``, ``:64kb``, ``4mb:`` or ``12kb:64mb`` applies to numeric labels, in
    `units`, and adds a line to `notes`. Anything else is comma-separated regular
    expressions for text labels: all of them must match ``KEY:VALUE`` or, with a key,
    any of them the value. Raises UsageError if a pattern is invalid or a number does
    not fit in 64 bits.
    """
    wanted, separator, rest = value.partition("=")
    key, spelled = (wanted, rest) if separator else (None, value)
    in_range = _range(option, spelled)
    if in_range is not None:
        notes.append(f"{option}={value} is a range of numbers, not a pattern")
        return partial(_has_number, key=key, in_range=in_range, units=units)
    patterns = [matcher(pattern, option) for pattern in spelled.split(",")]
    return partial(_has_texts, key=key, patterns=patterns)


def _has_texts(
    profile: Profile, *, key: str | None, patterns: list[Matches]
) -> NDArray[np.bool_]:
    strings, labels = profile.strings, profile.labels

    def holds(row: int, matches: Matches) -> bool:
        name, text = strings[labels.key[row]], strings[labels.text[row]]
        if key is None:
            return matches(f"{name}:{text}")
        return name == key and matches(text)

    rows = np.flatnonzero(labels.text != 0)
    marks = [
        _marked(profile, rows, labels.text, partial(holds, matches=matches))
        for matches in patterns
    ]
    combine = np.logical_and if key is None else np.logical_or
    combined: NDArray[np.bool_] = combine.reduce(marks, axis=0)
    return combined


def _has_number(
    profile: Profile, *, key: str | None, in_range: InRange, units: dict[str, str]
) -> NDArray[np.bool_]:
    strings, labels = profile.strings, profile.labels

    def holds(row: int) -> bool:
        name = strings[labels.key[row]]
        known = key is None or name == key
        return known and in_range(int(labels.number[row]), units.get(name, ""))

    rows = np.flatnonzero(_numeric(labels))
    return _marked(profile, rows, labels.number, holds)


def _numeric(labels: Labels) -> NDArray[np.bool_]:
    """Return which labels are numeric; those without any value are not."""
    valued = (labels.number != 0) | (labels.unit != 0)
    numeric: NDArray[np.bool_] = valued & (labels.text == 0)
    return numeric


def _marked(
    profile: Profile,
    rows: NDArray[np.int64],
    column: NDArray[np.int64] | NDArray[np.int32],
    holds: Callable[[int], bool],
) -> NDArray[np.bool_]:
    """Return which samples have a label that holds, testing equal labels once."""
    labels = profile.labels
    first, group = unique_tuples((labels.key[rows], column[rows]))
    holding = np.array([holds(row) for row in rows[first].tolist()], np.bool_)
    marked = np.zeros(len(profile), np.bool_)
    marked[labels.sample[rows[holding[group]]]] = True
    return marked


def _range(option: str, text: str) -> InRange | None:
    numbers = list(_NUMBER.finditer(text))[:2]
    if not numbers:
        return None
    first, last = numbers[0], numbers[-1]
    if any(not -(1 << 63) <= int(m[1]) < 1 << 63 for m in numbers):
        raise UsageError(f"{option}: {text!r} is out of the range of 64-bit numbers")
    low, unit = scale(int(first[1]), first[2] or "", first[2] or "")
    high = low
    if len(numbers) == 2:
        high, other = scale(int(last[1]), last[2] or "", unit)
        if text != f"{first[0]}:{last[0]}" or unit != other:
            return None
    elif text == f"{first[0]}:":
        high = math.inf
    elif text == f":{first[0]}":
        low = -math.inf
    elif text != first[0]:
        return None

    def in_range(value: int, its_unit: str) -> bool:
        number, name = scale(value, its_unit, unit)
        return name == unit and low <= number <= high

    return in_range


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
        return any(getattr(self, name) for name in _FILTERS)

    @property
    def active(self) -> tuple[str, ...]:
        """The filters that are set, in pprof's order, such as ``focus=json``."""
        pairs = ((name, getattr(self, name)) for name in _FILTERS)
        return tuple(f"{name}={value}" for name, value in pairs if value)


NO_FILTERS = Filters()

_FILTERS = tuple(field.name for field in fields(Filters))


class _Filtered(NamedTuple):
    profile: Profile
    warnings: tuple[str, ...]


def filtered(profile: Profile, filters: Filters) -> _Filtered:
    """Return the profile with all filters applied.

    Raises UsageError for an invalid pattern. Warns about each filter that matched
    nothing and each tag filter read as a range of numbers.
    """
    notes: list[str] = []
    matched: dict[str, bool] = {}
    units = number_units(profile)
    profile = _by_name(profile, filters, matched)
    profile = _shown_from(profile, filters, matched)
    kept = np.ones(len(profile), np.bool_)
    for name, wanted in (("tagfocus", True), ("tagignore", False)):
        if value := getattr(filters, name):
            hits = _tag_test(name, value, units, notes)(profile)
            matched[name] = bool(hits.any())
            kept &= hits == wanted
    if not kept.all():
        profile = profile.take(np.flatnonzero(kept))
    notes += [
        f"{name}={getattr(filters, name)} matched no samples"
        for name in _FILTERS
        if not matched.get(name, True)
    ]
    return _Filtered(profile, tuple(notes))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Hits:
    """Where one pattern matches, as bool arrays.

    `line`: the function's name or file; `binary`: the mapped file; `location`: either.
    """

    line: NDArray[np.bool_]
    binary: NDArray[np.bool_]
    location: NDArray[np.bool_]


def _hits(profile: Profile, option: str, pattern: str) -> _Hits:
    matches = matcher(pattern, option)
    strings, functions = profile.strings, profile.functions
    locations = profile.locations
    texts = set(functions.name.tolist()) | set(functions.filename.tolist())
    hit = np.zeros(len(strings), np.bool_)
    hit[[i for i in texts if matches(strings[i])]] = True
    function = np.append(hit[functions.name] | hit[functions.filename], False)
    mapping = np.array([*(matches(m.file) for m in profile.mappings), False])
    line = function[locations.line_function]
    binary = mapping[locations.mapping]
    any_line = count_in_row(line, locations.line_offsets) > 0
    return _Hits(line, binary, any_line | binary)


def _lines_present(locations: Locations) -> NDArray[np.bool_]:
    """Return which lines (bool) are in the file, as opposed to placeholders."""
    counts = np.diff(locations.line_offsets)
    placeholder = (locations.line_function < 0) & (locations.line_number == 0)
    present: NDArray[np.bool_] = ~(placeholder & np.repeat(counts == 1, counts))
    return present


def _by_name(profile: Profile, filters: Filters, matched: dict[str, bool]) -> Profile:
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
    locations = _keep_lines(profile.locations, visible)
    shown = count_in_row(visible, profile.locations.line_offsets) > 0
    profile = replace(profile, locations=locations)
    if not shown.all():
        profile = _without(profile, ~shown)
        kept &= np.diff(profile.stack_offsets) > 0
    return profile if kept.all() else profile.take(np.flatnonzero(kept))


def _visible(
    profile: Profile, hits: dict[str, _Hits], matched: dict[str, bool]
) -> NDArray[np.bool_]:
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
        visible &= _lines_present(locations)
        matched["show"] = bool(visible.any())
    return visible


def _keep_lines(locations: Locations, kept: NDArray[np.bool_]) -> Locations:
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
    kept = ~hidden[profile.stack_locations]
    return replace(
        profile,
        stack_offsets=offsets_of(count_in_row(kept, profile.stack_offsets)),
        stack_locations=profile.stack_locations[kept],
    )


def _cut_stacks(
    profile: Profile, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> Profile:
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
    profile = replace(profile, locations=_keep_lines(profile.locations, lines))
    top = last_in_row(hits.location[profile.stack_locations], profile.stack_offsets)
    kept = np.flatnonzero(top >= 0)
    profile = _cut_stacks(
        profile,
        profile.stack_offsets[:-1],
        np.where(top >= 0, top + 1, profile.stack_offsets[:-1]),
    )
    return profile.take(kept)


_PARENTHESIS = re.compile(r"\(anonymous namespace\)|operator\(\)|\(")


def pruned_frames(profile: Profile) -> Profile:
    """Return the profile without the frames that its ``drop_frames`` matches.

    As ``go tool pprof`` on loading a profile (profile/prune.go of
    github.com/google/pprof): a dropped frame is removed with all frames below it,
    except at the root or if ``keep_frames`` matches. An invalid pattern drops nothing.
    Raises UsageError for one that takes too long.
    """
    if not profile.drop_frames:
        return profile
    try:
        drop = matcher(f"^({profile.drop_frames})$", "drop_frames of a profile")
        keep: Matches = _never
        if profile.keep_frames:
            keep = matcher(f"^({profile.keep_frames})$", "keep_frames of a profile")
    except UsageError:
        return profile
    return _pruned(profile, _dropped_lines(profile, drop, keep))


def _never(_: str) -> bool:
    return False


def _simple(name: str) -> str:
    """Return the name without its argument list, as pprof simplifies it."""
    name = name.removeprefix(".")
    for parenthesis in _PARENTHESIS.finditer(name):
        if parenthesis[0] == "(":
            return name[: parenthesis.start()]
    return name


def _dropped_lines(profile: Profile, drop: Matches, keep: Matches) -> NDArray[np.bool_]:
    strings, names = profile.strings, profile.functions.name
    dropped = np.zeros(len(strings), np.bool_)
    for i in set(names.tolist()):
        simple = _simple(strings[i])
        dropped[i] = bool(strings[i]) and drop(simple) and not keep(simple)
    return np.append(dropped[names], False)[profile.locations.line_function]


def _pruned(profile: Profile, dropped: NDArray[np.bool_]) -> Profile:
    offsets = profile.locations.line_offsets
    last = last_in_row(dropped, offsets)
    beneath = last >= 0
    whole = last == offsets[1:] - 1
    shortest = np.where(beneath & ~whole, last, offsets[:-1] - 1)
    lines = np.arange(len(dropped)) > np.repeat(shortest, np.diff(offsets))
    cut = beneath[profile.stack_locations]
    starts = profile.stack_offsets[:-1]
    user = last_in_row(~cut, profile.stack_offsets)
    cuts = np.append(np.flatnonzero(cut), -1)
    hit = cuts[np.searchsorted(cuts[:-1], user) - 1]
    pruned = (user >= 0) & (hit >= starts)
    gone = (
        whole[profile.stack_locations[np.where(pruned, hit, 0)]] if len(cut) else pruned
    )
    profile = replace(profile, locations=_keep_lines(profile.locations, lines))
    return _cut_stacks(
        profile, np.where(pruned, hit + gone, starts), profile.stack_offsets[1:]
    )
