"""Read, fetch and decode both sides."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from msgspec import Struct

from pprofdiff.errors import FormatError
from pprofdiff.inputs.model import (
    DEFAULT_OPTIONS,
    Input,
    ReadOptions,
    SideInputs,
    Skipped,
    not_read,
)
from pprofdiff.inputs.reading import is_pgo, read, read_sides
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.model.side import Capture, Side
from pprofdiff.parallel import both
from pprofdiff.units import first_few

_ALL = frozenset(KINDS)
# Inputs from this size on are condensed: a trace's rows take ten times as much.
_LARGE = 4 << 20
# How many of a folder's skipped entries to name per reason.
_NAMED = 5


class Loaded(Struct, frozen=True, eq=False):
    """Two sides as read, `base` None without arguments.

    `notes` name files of unsupported kinds, one line per side; `unread` has a line for
    each damaged or unreadable file in a folder.
    """

    base: Side | None
    new: Side
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Decoded(Struct, frozen=True, eq=False):
    """One side as read, and a line for each file that could not be read."""

    side: Side
    unread: tuple[str, ...] = ()


def load_sides(
    base: Sequence[str],
    new: Sequence[str],
    options: ReadOptions = DEFAULT_OPTIONS,
    kinds: Collection[KindId] = _ALL,
) -> Loaded:
    """Read and decode the arguments of both sides; `base` may be empty.

    Arguments are those of `read_sides`. Inputs of other `kinds` are recognised but not
    decoded. Raises what `read_sides` raises, and FormatError if an input given directly
    is damaged, or no input of a side is intact.
    """
    if base:
        named = read_sides(base, new, options)
    else:
        named = (SideInputs(None, ()), read(new, options))
    if options.anonymous:
        from pprofdiff.inputs.redaction import without_places

        named = without_places(named[0]), without_places(named[1])
    elif options.within:
        from pprofdiff.inputs.redaction import from_within

        within = options.within
        named = from_within(named[0], within), from_within(named[1], within)
    # Two traces at once take twice the memory, and hardly less time.
    size = sum(
        len(one.data) for side in named for one in side.inputs if one.kind != "trace"
    )
    turn = Lock()
    # Nothing here holds an input, so that its bytes are freed when it is decoded.
    sides = ("base", [named[0]]), ("new", [named[1]])
    skipped = tuple(side._replace(inputs=()) for side in named)
    del named
    first, second = both(
        lambda side: decoded(side[1].pop(), side[0], options, kinds, turn),
        *sides,
        size=size,
    )
    old, current = first.side, second.side
    if options.anonymous:
        from pprofdiff.inputs.trimpath import without_paths

        old, current = without_paths(old), without_paths(current)
    unread = (*first.unread, *second.unread)
    left = map(_less_programs, skipped, (first.side, second.side))
    return Loaded(old if base else None, current, tuple(_unused(left)), unread)


def _less_programs(named: SideInputs, side: Side) -> SideInputs:
    """Return what was left out, less the programs that gave the build settings."""
    if not side.settings or not named.skipped:
        return named
    from pprofdiff.inputs.buildinfo import program_next_to

    programs = {
        program_next_to(capture.path, capture.content.mappings[0])
        for capture in side.of("profile")
        if capture.content.mappings
    }
    kept = tuple(one for one in named.skipped if one.path not in programs)
    return named._replace(skipped=kept)


def decoded(
    named: SideInputs,
    word: str,
    options: ReadOptions = DEFAULT_OPTIONS,
    kinds: Collection[KindId] = _ALL,
    turn: Lock | None = None,
) -> Decoded:
    """Return the side made of the inputs; `word` labels it unless they do.

    Large inputs that `options` condense are decoded while `turn` is held. Raises
    FormatError for an input that is damaged or too large, unless it is in a folder with
    intact files.
    """
    label = named.label or word
    lost = [entry for entry in named.skipped if entry.unread]
    captures = []
    inputs = list(reversed(named.inputs))
    del named
    while inputs:
        one = inputs.pop()
        if one.kind not in kinds:
            continue
        try:
            content = _content(one, options, turn)
        except FormatError as error:
            if not one.of_folder:
                raise
            lost.append(not_read(one.path, error))
            continue
        of_run = one.run or 0, one.run is not None
        captures.append(
            Capture(one.path, one.kind, content, *of_run, one.saved_to, one.unit)
        )
    unread = _in_lines(sorted(lost), label)
    if unread and not captures:
        raise FormatError("; ".join(unread))
    settings = _settings(captures)
    return Decoded(Side(label, tuple(captures), settings=settings), unread)


def _settings(captures: Sequence[Capture[Any]]) -> Mapping[str, str]:
    for capture in captures:
        if capture.kind == "profile" and capture.content.mappings:
            from pprofdiff.inputs.buildinfo import build_settings

            return build_settings(capture.content.mappings[0], capture.path)
    return {}


def _content(one: Input, options: ReadOptions, turn: Lock | None) -> Any:  # noqa: ANN401 - see `kinds`
    kind = KINDS[one.kind]
    large = bool(kind.condense) and len(one.data) >= _LARGE
    if turn is None or options.condense == "no" or not large:
        return _whole(one, options)
    with turn:
        content = _whole(one, options)
        resolve(kind.condense)(content, full=options.condense == "full")
        return content


def _whole(one: Input, options: ReadOptions) -> Any:  # noqa: ANN401 - likewise
    kind = KINDS[one.kind]
    if kind.is_text:
        return one.scanned
    options.progress(f"reading {one.path}")
    decode, limit = resolve(kind.decode), options.max_size
    # No name and no tuple here holds the bytes, so that a loader can free them.
    if kind.slow:
        return decode(one.decompressed(limit), one.path, options.progress)
    return decode(one.decompressed(limit), one.path)


def _unused(named: Iterable[SideInputs]) -> list[str]:
    """Return lines on what is not compared, by reason: one per side or one for both."""
    sides: dict[tuple[str, str], list[str]] = {}
    for side, word in zip(named, ("base", "new"), strict=True):
        counts: dict[str, Counter[str]] = {}
        for entry in side.skipped:
            if not entry.unread:
                name = os.path.basename(entry.path)
                why = "profile for go build -pgo" if is_pgo(name) else "unknown format"
                why = "folder" if os.path.isdir(entry.path) else why
                counts.setdefault(why, Counter())[name] += 1
        for why, names in counts.items():
            sides.setdefault((why, _listed(names)), []).append(side.label or word)
    return [
        f"{' and '.join(labels)}: not used, {why}: {names}"
        for (why, names), labels in sides.items()
    ]


def _listed(counts: Counter[str]) -> str:
    names = [
        name if count == 1 else f"{name} ({count} files)"
        for name, count in sorted(counts.items())
    ]
    return first_few(names, _NAMED)


def _in_lines(unread: Sequence[Skipped], label: str) -> tuple[str, ...]:
    lines = [f"{label}: {entry.reason}" for entry in unread[:_NAMED]]
    rest = len(unread) - _NAMED
    if rest > 0:
        noun = "file is" if rest == 1 else "files are"
        lines.append(f"{label}: {rest:,} more {noun} damaged or cannot be read")
    return tuple(lines)
