"""Which hunks change code: more than comments, line breaks or the order of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pprofdiff.analysis.source.aligned import ignoring_space
from pprofdiff.analysis.source.imports import imports_in, imports_of, is_import
from pprofdiff.analysis.source.text import WORD, code_lines, code_of, plain_lines
from pprofdiff.model.source import Hunk, SourceText

# What decides whether the lines that follow run.
_JUMP = re.compile(r"\b(?:return|break|continue|goto|panic)\b")
# Files that go/build has for some systems only: by name ("go tool dist list"), or tag.
_SYSTEM = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|"
    r"plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips|mips64|mips64le|"
    r"mipsle|ppc64|ppc64le|riscv64|s390x|wasm)\.\w+\Z"
)
_TAGGED = re.compile(r"//go:build |//\s*\+build\s")


def says_more(hunk: Hunk, base: SourceText, new: SourceText) -> bool:
    """Return whether a hunk changes more than comments, blank lines and line breaks."""
    old, now = codes(hunk, base, new)
    return old != now


def only_imports(hunk: Hunk, base: SourceText, new: SourceText) -> bool:
    """Return whether a hunk changes nothing but which packages a file names.

    Code that uses a name differs elsewhere. Imports for side effects or without a name
    of their own may change behavior unseen, as may one package that replaces another
    under its name.
    """
    if not _of_imports(hunk, base, new):
        return False
    sides = [
        imports_in(code_lines(text, lines))
        for text, lines in zip((base, new), hunk.sides, strict=True)
    ]
    names = {name for side in sides for name, _ in side}
    before, after = ({path for _, path in side} for side in sides)
    if before == after:
        return "." not in names
    if {"_", "."} & names:
        return False
    # The one that replaces another may stand elsewhere in the declaration.
    old, now = imports_of(base), imports_of(new)
    lost, added = ({name for name, _ in one} for one in (old - now, now - old))
    return not any((a in b or b in a) and {a, b} & names for a in lost for b in added)


def _of_imports(hunk: Hunk, base: SourceText, new: SourceText) -> bool:
    """Return whether all code of a hunk is of import declarations."""
    return all(
        is_import(code)
        for text, lines in zip((base, new), hunk.sides, strict=True)
        for code in code_lines(text, lines)
    )


def is_constrained(text: SourceText) -> bool:
    """Return whether a file is built only for some systems, or with some tags."""
    if _SYSTEM.search(text.path):
        return True
    for line in text.lines:
        if _TAGGED.match(line):
            return True
        if line.startswith("package "):
            break
    return False


def codes(hunk: Hunk, base: SourceText, new: SourceText) -> tuple[str, str]:
    """Return the code of a hunk in base and in new, without comments and space.

    Directives (``//go:``) are code.
    """
    old, now = hunk.sides
    return code_of(plain_lines(base, old)), code_of(plain_lines(new, now))


def code_changes(
    hunks: Sequence[Hunk], base: SourceText, new: SourceText
) -> list[Hunk]:
    """Return what changes the code of a function, without hunks that only moved in it.

    Space counts for nothing: lines that are only indented otherwise are unchanged.
    First and last lines that differ in nothing but space are none of a hunk, and braces
    alone are none: they show in the lines whose block they begin or end. If nothing
    else changed, each move is one hunk, with the same code on both sides. Code that
    leaves the function or a loop is more than moved: other lines run.
    """
    hunks = ignoring_space(hunks, base, new)
    trimmed = (without_space(hunk, base, new) for hunk in hunks)
    hunks = [hunk for hunk in trimmed if says_more(hunk, base, new)]
    hunks = _joined(hunks, base, new)
    pairs = list(_moved(hunks, base, new))
    alone = {hunk for pair in pairs for hunk in pair}
    rest = [hunk for hunk in hunks if hunk not in alone]
    return rest or [
        Hunk(gone.base_start, gone.base_count, came.new_start, came.new_count)
        for gone, came in pairs
    ]


def _joined(hunks: Sequence[Hunk], base: SourceText, new: SourceText) -> list[Hunk]:
    """Return hunks; removed lines with no code up to replaced ones are one with these.

    A blank line that both sides have is no reason to call a part removed.
    """
    joined = list[Hunk]()
    for hunk in hunks:
        last = joined[-1] if joined else None
        if last is None or last.new_count or not (hunk.base_count and hunk.new_count):
            joined.append(hunk)
            continue
        # A side without lines is numbered by the line before them.
        gaps = (
            range(last.base_start + last.base_count, hunk.base_start),
            range(last.new_start + 1, hunk.new_start),
        )
        pairs = zip((base, new), gaps, strict=True)
        if any(code_of(plain_lines(text, gap)) for text, gap in pairs):
            joined.append(hunk)
            continue
        whole = hunk.base_start + hunk.base_count - last.base_start
        joined[-1] = Hunk(last.base_start, whole, hunk.new_start, hunk.new_count)
    return joined


def without_space(hunk: Hunk, base: SourceText, new: SourceText) -> Hunk:
    """Return a hunk without first and last lines that differ in nothing but space.

    Nor has it first and last lines without code, or braces before its first word.
    """
    old, now = (
        [code_of([line]) for line in plain_lines(text, lines)]
        for text, lines in zip((base, new), hunk.sides, strict=True)
    )
    first = _alike(old, now)
    last = _alike(old[first:][::-1], now[first:][::-1])
    starts = hunk.base_start, hunk.new_start
    sides = [(lines, range(first, len(lines) - last)) for lines in (old, now)]
    parts = []
    for start, (lines, span) in zip(starts, sides, strict=True):
        begin = next((i for i in span if WORD.search(lines[i])), span.stop)
        end = next((i + 1 for i in reversed(span) if lines[i]), begin)
        count = max(end - begin, 0)
        # Without lines, a start is the line before.
        parts += [start + begin - (bool(lines) and not count), count]
    return Hunk(*parts)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _moved(
    hunks: Sequence[Hunk], base: SourceText, new: SourceText
) -> Iterator[tuple[Hunk, Hunk]]:
    """Yield (removed, added) hunks with the same code, each once, but for jumps."""
    added = [
        (hunk, code)
        for hunk in hunks
        for old, code in [codes(hunk, base, new)]
        if code and not old and not _jumps(hunk, new)
    ]
    for hunk in hunks:
        old, now = codes(hunk, base, new)
        same = next((one for one in added if one[1] == old and not now), None)
        if same is not None:
            added.remove(same)
            yield hunk, same[0]


def _jumps(hunk: Hunk, new: SourceText) -> bool:
    """Return whether a hunk's lines in new decide which lines run after them."""
    return any(_JUMP.search(line) for line in plain_lines(new, hunk.sides[1]))
