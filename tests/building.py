"""Profiles written by hand in tests, and what a profile says, free of its numbering."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Mapping,
    Profile,
    ValueType,
)

MAIN = Mapping(0x400000, 0x600000, 0, "/bin/app", "a1b2c3d4", True, True, True, True)
CPU = (ValueType("samples", "count"), ValueType("cpu", "nanoseconds"))
MS = 1_000_000


class Frame(NamedTuple):
    """A line of a function; an empty `function` and line 0 is no line at all."""

    function: str
    file: str = ""
    line: int = 0
    start: int = 0
    column: int = 0
    system: str | None = None


class Place(NamedTuple):
    """A location: its frames, innermost inlined first; `mapping` -1 for none."""

    frames: tuple[Frame, ...]
    address: int
    mapping: int = 0
    folded: bool = False


class Sample(NamedTuple):
    """A stack of places, leaf first, with values and labels (key, text or (n, unit))."""

    stack: tuple[Place, ...]
    values: tuple[int, ...]
    labels: tuple[tuple[str, str | tuple[int, str]], ...] = ()


def parsed(stack: str) -> tuple[Place, ...]:
    """Return ``main;mid;rec>h``, root first, ``>`` before what is inlined, as places.

    A function may be followed by ``@file`` and that by ``:line``. Equal text is at
    equal addresses in all profiles, as in one build.
    """
    return tuple(_place(text) for text in reversed(stack.split(";")) if text)


def _place(text: str) -> Place:
    frames = []
    for part in reversed(text.split(">")):
        name, _, where = part.partition("@")
        file, _, line = where.rpartition(":") if ":" in where else (where, "", "0")
        frames.append(Frame(name, file, int(line)))
    return Place(tuple(frames), 0x400000 + zlib.crc32(text.encode()) % 0x100000)


def cpu(times: dict[str, int], **header: Any) -> Profile:
    """Return a CPU profile of stacks (see `parsed`) with their milliseconds."""
    rows = [Sample(parsed(s), (ms // 10, ms * MS)) for s, ms in times.items()]
    return built(rows, CPU, **header)


def built(
    samples: Iterable[Sample],
    types: Sequence[ValueType] = CPU,
    mappings: Sequence[Mapping] = (MAIN,),
    **header: Any,
) -> Profile:
    """Return the profile with these samples; equal places share one location."""
    samples = list(samples)
    strings: dict[str, int] = {"": 0}
    functions: dict[tuple[int, ...], int] = {}
    places: dict[Place, int] = {}

    def text(string: str) -> int:
        return strings.setdefault(string, len(strings))

    def function(frame: Frame) -> int:
        if not frame.function and not frame.line and not frame.file and not frame.start:
            return -1
        system = frame.function if frame.system is None else frame.system
        key = (text(frame.function), text(system), text(frame.file), frame.start)
        return functions.setdefault(key, len(functions))

    stacks = [[places.setdefault(p, len(places)) for p in s.stack] for s in samples]
    lines = [(function(f), f.line, f.column) for p in places for f in p.frames]
    labels = [
        (i, text(key), text(v) if isinstance(v, str) else 0,
         0 if isinstance(v, str) else v[0], 0 if isinstance(v, str) else text(v[1]))
        for i, s in enumerate(samples)
        for key, v in s.labels
    ]  # fmt: skip
    header.setdefault("period_type", ValueType("cpu", "nanoseconds"))
    header.setdefault("period", 10 * MS)
    table = np.array(list(functions), np.int64).reshape(-1, 4)
    line_table = np.array(lines, np.int64).reshape(-1, 3)
    label_table = np.array(labels, np.int64).reshape(-1, 5)
    return Profile(
        strings=tuple(strings),
        sample_types=tuple(types),
        functions=Functions(
            *(table[:, i].astype(np.int32) for i in range(3)), table[:, 3]
        ),
        locations=Locations(
            np.array([p.address for p in places], np.uint64),
            np.array([p.mapping for p in places], np.int32),
            np.array([p.folded for p in places], np.bool_),
            offsets_of(np.array([len(p.frames) for p in places], np.int64)),
            line_table[:, 0].astype(np.int32), line_table[:, 1], line_table[:, 2],
        ),
        mappings=tuple(mappings),
        stack_offsets=offsets_of(np.array([len(s) for s in stacks], np.int64)),
        stack_locations=np.array([i for s in stacks for i in s], np.int32),
        values=np.array([s.values for s in samples], np.int64).reshape(-1, len(types)),
        labels=Labels(
            label_table[:, 0], label_table[:, 1].astype(np.int32),
            label_table[:, 2].astype(np.int32), label_table[:, 3],
            label_table[:, 4].astype(np.int32),
        ),
        **header,
    )  # fmt: skip


def said(profile: Profile) -> dict[Any, tuple[int, ...]]:
    """Return the values by stack and labels, written out; equal samples are added."""
    strings, functions, locations = (
        profile.strings,
        profile.functions,
        profile.locations,
    )
    lines = [
        (
            (strings[functions.name[f]], strings[functions.system_name[f]],
             strings[functions.filename[f]], int(functions.start_line[f])) if f >= 0 else None,
            int(n), int(c),
        )
        for f, n, c in zip(
            locations.line_function, locations.line_number, locations.line_column, strict=True
        )
    ]  # fmt: skip
    at = locations.line_offsets.tolist()
    binaries = [m.build_id or m.file for m in profile.mappings] + [None]
    starts = [m.start for m in profile.mappings] + [0]
    places = [
        (int(locations.address[i]) - starts[locations.mapping[i]],
         binaries[locations.mapping[i]], bool(locations.folded[i]),
         tuple(lines[at[i] : at[i + 1]]))
        for i in range(len(locations))
    ]  # fmt: skip
    labels: list[list[Any]] = [[] for _ in range(len(profile))]
    for i, key, text, number, unit in zip(
        profile.labels.sample, profile.labels.key, profile.labels.text,
        profile.labels.number, profile.labels.unit, strict=True,
    ):  # fmt: skip
        if text or number or unit:
            value = strings[text] if text else (int(number), strings[unit])
            labels[i].append((text == 0, strings[key], value))
    result: dict[Any, tuple[int, ...]] = {}
    offsets = profile.stack_offsets.tolist()
    for i in range(len(profile)):
        stack = tuple(
            places[x] for x in profile.stack_locations[offsets[i] : offsets[i + 1]]
        )
        key = (stack, tuple(sorted(labels[i], key=lambda x: x[:2])))
        older = result.get(key, (0,) * profile.values.shape[1])
        new = profile.values[i].tolist()
        result[key] = tuple(a + b for a, b in zip(older, new, strict=True))
    return {key: values for key, values in result.items() if any(values)}
