"""What was named -> two sides: read, fetched, and decoded as their kinds say."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pprofdiff.inputs.model import (
    DEFAULT_OPTIONS,
    Input,
    ReadOptions,
    SideInputs,
)
from pprofdiff.inputs.reading import read, read_sides
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.model.side import Capture, Side
from pprofdiff.parallel import both

__all__ = ["Loaded", "decoded", "load_sides"]

_ALL = frozenset(KINDS)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """Two sides as they were read.

    `base` is None where nothing was named for it; `notes` say, a line each, which
    entries of folders were left out.
    """

    base: Side | None
    new: Side
    notes: tuple[str, ...] = ()


def load_sides(
    base: Sequence[str],
    new: Sequence[str],
    options: ReadOptions = DEFAULT_OPTIONS,
    kinds: Collection[KindId] = _ALL,
) -> Loaded:
    """Read and decode what was named for both sides; `base` may be empty.

    Arguments are those of `read_sides`. Inputs that are not of `kinds` are recognised
    but not decoded. Raises what `read_sides` raises, and FormatError for an input whose
    content is damaged.
    """
    if base:
        named = read_sides(base, new, options)
    else:
        named = (SideInputs(None, ()), read(new, options))
    if options.anonymous:
        from pprofdiff.inputs.redaction import without_places

        named = without_places(named[0]), without_places(named[1])
    words = "base", "new"
    notes = [note for one in zip(named, words, strict=True) for note in _unused(*one)]
    old, current = both(
        lambda one: decoded(*one, options, kinds),
        (named[0], words[0]),
        (named[1], words[1]),
        # Two traces at once take twice the memory, and hardly less time.
        size=sum(
            len(one.data)
            for side in named
            for one in side.inputs
            if one.kind != "trace"
        ),
    )
    if options.anonymous:
        from pprofdiff.inputs.trimpath import without_paths

        old, current = without_paths(old), without_paths(current)
    return Loaded(old if base else None, current, tuple(notes))


def decoded(
    named: SideInputs,
    word: str,
    options: ReadOptions = DEFAULT_OPTIONS,
    kinds: Collection[KindId] = _ALL,
) -> Side:
    """Return the side that inputs make; `word` labels it where they do not.

    Raises FormatError for an input that is damaged or decompresses to more than
    `options.max_size` bytes.
    """
    captures = (
        Capture(one.path, one.kind, _content(one, options), saved_to=one.saved_to)
        for one in named.inputs
        if one.kind in kinds
    )
    return Side(named.label or word, tuple(captures))


def _content(one: Input, options: ReadOptions) -> Any:  # noqa: ANN401 - see `kinds`
    """Return what an input decodes to."""
    kind = KINDS[one.kind]
    if kind.is_text:
        return one.scanned
    options.progress(f"reading {one.path}")
    data = one.decompressed(options.max_size)
    if kind.slow:
        return resolve(kind.decode)(data, one.path, options.progress)
    return resolve(kind.decode)(data, one.path)


def _unused(side: SideInputs, word: str) -> list[str]:
    """Return, in one line, what of a side is not compared."""
    foreign = sorted(os.path.basename(entry.path) for entry in side.skipped)
    if not foreign:
        return []
    names = ", ".join(foreign)
    label = side.label or word
    return [f"{label}: left out, of no kind that is compared: {names}"]
