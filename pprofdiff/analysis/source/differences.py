"""Differences between a function's text in base and in new."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from pprofdiff.analysis.source.extents import Extent
from pprofdiff.model.source import Hunk, Sources, SourceText

__all__ = ["differences", "hunks_within", "matched"]

# The most lines to compare here: the time is quadratic in them.
_COMPARED = 20_000
# Files to cache: each function of a file needs the differences of the whole file.
_FILES = 64


def hunks_within(
    sources: Sources, base: tuple[SourceText, Extent], new: tuple[SourceText, Extent]
) -> tuple[Hunk, ...]:
    """Return the hunks within a function, in order and clipped to it.

    They are the repository's, as in a pull request. If those pair lines of the function
    with lines outside, or with none since it moved, its two texts are compared alone.
    """
    (old, before), (now, after) = base, new
    if old.key == now.key and before == after:
        return ()
    known = sources.hunks(old, now)
    if known is not None:
        inside = [hunk for hunk in (_clipped(h, before, after) for h in known) if hunk]
        whole = matched(known, Extent(1, len(old.lines)), None)
        pairs = {i: j for i, j in whole.items() if before.has(i) or after.has(j)}
        within = all(before.has(i) and after.has(j) for i, j in pairs.items())
        if pairs and within and pairs == matched(inside, before, after):
            return tuple(inside)
    return tuple(
        Hunk(
            hunk.base_start + before.start - 1,
            hunk.base_count,
            hunk.new_start + after.start - 1,
            hunk.new_count,
        )
        for hunk in differences(
            old.lines[before.start - 1 : before.end],
            now.lines[after.start - 1 : after.end],
        )
    )


def matched(hunks: Sequence[Hunk], base: Extent, new: Extent | None) -> dict[int, int]:
    """Return the line in new of each unchanged line of base.

    `hunks` are in the order of base's lines. Lines before the first hunk are equally
    far from both starts; `new` is None for whole files.
    """
    pairs: dict[int, int] = {}
    i, j = base.start, base.start if new is None else new.start
    for hunk in hunks:
        start = hunk.base_start if hunk.base_count else hunk.base_start + 1
        pairs |= {at: at - i + j for at in range(i, start)}
        i = start + hunk.base_count
        j = (hunk.new_start if hunk.new_count else hunk.new_start + 1) + hunk.new_count
    return pairs | {at: at - i + j for at in range(i, base.end + 1)}


@lru_cache(_FILES)
def differences(base: tuple[str, ...], new: tuple[str, ...]) -> tuple[Hunk, ...]:
    """Return the hunks between two texts: one for everything if they are very long."""
    if len(base) + len(new) > _COMPARED:
        return (Hunk(min(1, len(base)), len(base), min(1, len(new)), len(new)),)
    hunks = []
    matcher = SequenceMatcher(None, base, new, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            hunks.append(Hunk(i + (j > i), j - i, k + (m > k), m - k))
    return tuple(hunks)


def _clipped(hunk: Hunk, base: Extent, new: Extent) -> Hunk | None:
    """Return the part of a hunk that is inside the function on both sides, or None."""
    parts = []
    for start, count, extent in (
        (hunk.base_start, hunk.base_count, base),
        (hunk.new_start, hunk.new_count, new),
    ):
        first = max(start, extent.start)
        inside = max(min(start + count - 1, extent.end) - first + 1, 0)
        # Without lines, a start is the line before, which may precede the function.
        at = first if inside else min(max(start, extent.start - 1), extent.end)
        parts += [at, inside]
    return Hunk(*parts) if parts[1] or parts[3] else None
