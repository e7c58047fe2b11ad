"""Merge the tables of several profiles, and remove unused table rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.model.arrays import Mask
from pprofdiff.model.csr import (
    first_places,
    offsets_of,
    take_rows,
    unique_rows,
    unique_tuples,
)
from pprofdiff.model.numbering import numbered
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Mapping,
    Profile,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = NDArray[Any]

_PAGE = 0x1000


def joined(profiles: Sequence[Profile]) -> Profile:
    """Return all samples, concatenated profile by profile, over shared tables.

    The profiles have the same sample types. The header is as after pprof's merge:
    earliest time, total duration, longest period, the first default type and URL, each
    comment once.
    """
    strings, texts = _strings(profiles)
    functions, function_of = _functions(profiles, texts)
    mappings, mapping_of, shift_of = _mappings(profiles)
    locations, location_of = _locations(profiles, function_of, mapping_of, shift_of)
    items = [
        places[p.stack_locations]
        for p, places in zip(profiles, location_of, strict=True)
    ]
    depths = [np.diff(p.stack_offsets) for p in profiles]
    return replace(
        profiles[0],
        strings=strings,
        functions=functions,
        locations=locations,
        mappings=mappings,
        stack_offsets=offsets_of(np.concatenate(depths)),
        stack_locations=np.concatenate(items),
        values=np.concatenate([p.values for p in profiles]),
        labels=_labels(profiles, texts),
        **header_of(profiles),
    )


def shared(profiles: Sequence[Profile]) -> bool:
    """Return whether profiles share their tables, stacks and labels in memory."""
    first = profiles[0]
    return all(
        p.strings is first.strings
        and p.functions is first.functions
        and p.locations is first.locations
        and p.mappings is first.mappings
        and p.stack_offsets is first.stack_offsets
        and p.stack_locations is first.stack_locations
        and p.labels is first.labels
        for p in profiles
    )


def header_of(profiles: Sequence[Profile]) -> dict[str, Any]:
    """Return the fields that describe the measurement as a whole: see `joined`."""
    times = [p.time_ns for p in profiles if p.time_ns is not None]
    defaults = [p.default_sample_type for p in profiles if p.default_sample_type]
    return {
        "time_ns": min(times, default=None),
        "duration_ns": _clamped(sum(p.duration_ns or 0 for p in profiles)) or None,
        "period": max((p.period for p in profiles if p.period), default=None),
        "default_sample_type": defaults[0] if defaults else None,
        "doc_url": next((p.doc_url for p in profiles if p.doc_url), ""),
        "comments": tuple(dict.fromkeys(c for p in profiles for c in p.comments)),
    }


def _clamped(number: int) -> int:
    return max(-(1 << 63), min(number, (1 << 63) - 1))


def _strings(profiles: Sequence[Profile]) -> tuple[tuple[str, ...], list[Array]]:
    union, (_, *places) = numbered(("",), *(p.strings for p in profiles))
    return tuple(union), places


def _split(group: Array, sizes: Sequence[int], *, none: bool = False) -> list[Array]:
    """Split `group` into int32 parts of these sizes; with `none`, -1 stays -1."""
    parts = np.split(group.astype(np.int32), np.cumsum(sizes)[:-1])
    return [np.append(part, np.int32(-1)) for part in parts] if none else parts


def _functions(
    profiles: Sequence[Profile], texts: list[Array]
) -> tuple[Functions, list[Array]]:
    tables = [p.functions for p in profiles]
    every = Functions.concatenate(
        [
            Functions(text[t.name], text[t.system_name], text[t.filename], t.start_line)
            for t, text in zip(tables, texts, strict=True)
        ]
    )
    columns = every.name, every.system_name, every.filename, every.start_line
    first, group = unique_tuples(columns)
    return every.take(first), _split(group, list(map(len, tables)), none=True)


def _mappings(
    profiles: Sequence[Profile],
) -> tuple[tuple[Mapping, ...], list[Array], list[Array]]:
    merged: dict[tuple[int, int, str], tuple[int, Mapping]] = {}
    places, shifts = [], []
    for profile in profiles:
        place, shift = [], []
        for mapping in profile.mappings:
            # In whole pages: builds differ by a few bytes, loaders by a base address.
            pages = -((mapping.limit - mapping.start) % (1 << 64) // -_PAGE)
            key = (pages, mapping.offset, mapping.build_id or mapping.file)
            at, kept = merged.setdefault(key, (len(merged), mapping))
            place.append(at)
            shift.append((kept.start - mapping.start) % (1 << 64))
        places.append(np.array([*place, -1], np.int32))
        shifts.append(np.array([*shift, 0], np.uint64))
    return tuple(m for _, m in merged.values()), places, shifts


def _locations(
    profiles: Sequence[Profile],
    function_of: list[Array],
    mapping_of: list[Array],
    shift_of: list[Array],
) -> tuple[Locations, list[Array]]:
    tables = [p.locations for p in profiles]
    address = np.concatenate(
        [t.address + s[t.mapping] for t, s in zip(tables, shift_of, strict=True)]
    )
    mapping = np.concatenate(
        [m[t.mapping] for t, m in zip(tables, mapping_of, strict=True)]
    )
    folded = np.concatenate([t.folded for t in tables])
    lines = (
        np.concatenate(
            [f[t.line_function] for t, f in zip(tables, function_of, strict=True)]
        ),
        np.concatenate([t.line_number for t in tables]),
        np.concatenate([t.line_column for t in tables]),
    )
    offsets = offsets_of(np.concatenate([np.diff(t.line_offsets) for t in tables]))
    first, group = unique_rows(offsets, lines, (address, mapping, folded))
    table = Locations(address, mapping, folded, offsets, *lines)
    return _chosen(table, first), _split(group, [len(t) for t in tables])


def _chosen(table: Locations, rows: Array) -> Locations:
    offsets, lines = take_rows(
        table.line_offsets, np.arange(len(table.line_function)), rows
    )
    return Locations(
        table.address[rows],
        table.mapping[rows],
        table.folded[rows],
        offsets,
        table.line_function[lines],
        table.line_number[lines],
        table.line_column[lines],
    )


def _labels(profiles: Sequence[Profile], texts: list[Array]) -> Labels:
    """Return all labels, except those without a value, which pprof does not see."""
    starts = offsets_of(np.array([len(p) for p in profiles])).tolist()
    own = zip([p.labels for p in profiles], texts, starts[:-1], strict=True)
    labels = Labels.concatenate(
        [
            Labels(x.sample + start, text[x.key], text[x.text], x.number, text[x.unit])
            for x, text, start in own
        ]
    )
    valued = (labels.text != 0) | (labels.number != 0) | (labels.unit != 0)
    return labels if valued.all() else labels.take(valued)


def pruned(profile: Profile) -> Profile:
    """Return the profile without the table rows that no sample uses.

    Rows are numbered in order of first use, as in pprof; the first mapping, which is
    the program itself, stays first.
    """
    used = _in_order(profile.stack_locations, len(profile.locations))
    locations = _chosen(profile.locations, used)
    owners = _in_order(locations.line_function, len(profile.functions))
    main = np.zeros(min(len(profile.mappings), 1), np.int32)
    mapped = _in_order(np.concatenate((main, locations.mapping)), len(profile.mappings))
    return replace(
        profile,
        functions=profile.functions.take(owners),
        locations=replace(
            locations,
            mapping=_places(mapped, len(profile.mappings))[locations.mapping],
            line_function=_places(owners, len(profile.functions))[
                locations.line_function
            ],
        ),
        mappings=tuple(profile.mappings[i] for i in mapped.tolist()),
        stack_locations=_places(used, len(profile.locations))[profile.stack_locations],
    )


def used_strings(profile: Profile) -> Mask:
    """Return which strings are the empty one, or of a function or label."""
    functions, labels = profile.functions, profile.labels
    used = np.zeros(len(profile.strings), np.bool_)
    used[0] = True
    for column in (
        *(functions.name, functions.system_name, functions.filename),
        *(labels.key, labels.text, labels.unit),
    ):
        used[column] = True
    return used


def with_used_strings(profile: Profile) -> Profile:
    """Return the profile without the strings that no function or label uses."""
    functions, labels = profile.functions, profile.labels
    chosen = np.flatnonzero(used_strings(profile))
    place = _places(chosen, len(profile.strings))
    return replace(
        profile,
        strings=tuple(profile.strings[i] for i in chosen.tolist()),
        functions=replace(
            functions,
            name=place[functions.name],
            system_name=place[functions.system_name],
            filename=place[functions.filename],
        ),
        labels=replace(
            labels,
            key=place[labels.key],
            text=place[labels.text],
            unit=place[labels.unit],
        ),
    )


def _in_order(items: Array, size: int) -> Array:
    """Return the ids that occur (from 0 up), in order of first appearance."""
    places = first_places(items[items >= 0] if (items < 0).any() else items, size)
    used = np.flatnonzero(places >= 0)
    return used[np.argsort(places[used])]


def _places(order: Array, size: int) -> Array:
    places = np.full(size + 1, -1, np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places
