"""Whether a text declares a function where its profile says, and where it ends.

A listing of a text that was not built is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from pprofdiff.analysis.source.declarations import Function, GoFile
from pprofdiff.analysis.source.text import FILES
from pprofdiff.goruntime.names import package_end, strip_type_arguments
from pprofdiff.model.source import Hunk, Sources, SourceText

# Compiler-made names of unnamed code, and the words that such code begins with: a
# literal, the call of a go or defer statement, the body of a loop.
_CLOSURE = re.compile(r"[.·](?:func|gowrap|deferwrap)\d+|-range\d+")
_KEYWORDS = {"func": "func", "gowrap": "go", "deferwrap": "defer", "range": "for"}
_RECEIVER = re.compile(r"\(?\*?(\w+)\)?\Z")
_ASSEMBLY = (".s", ".S")
_SOURCES = (".go", *_ASSEMBLY)
_LINE = "//line "
# Initializes a map variable, and starts where the variable is declared.
_VARIABLE = re.compile(r"\.map\.init\.\d+\Z")
# The least share of a function's lines inside it if the text is the profile's, and if
# it declares the function on the line that the profile says.
_MOST, _STARTS = 0.8, 0.5


class Extent(NamedTuple):
    """The first and last line of a function, from 1."""

    start: int
    end: int

    def has(self, line: int) -> bool:
        """Return whether the function includes a line."""
        return self.start <= line <= self.end


def extent_of(
    lines: Sequence[str], function: str, path: str, start: int, costs: Iterable[int]
) -> Extent | None:
    """Return where a function is, or None if the text is not what was profiled.

    `start` is the line where it starts by the profile, or 0 if the profile does not
    say, as before Go 1.20; the text must then have only one declaration. `costs` are
    its lines with a cost. Most must be inside: compilers give a few instructions the
    line of the code they were made from. Where the profile says the start, another text
    seldom declares the function on that line: half of its lines may be outside.
    """
    if path.endswith(_ASSEMBLY):
        found = _assembly(lines, function, start)
    elif start > 0:
        found = _at(lines, function, start)
    else:
        found = _only(lines, function)
    if found is None:
        return None
    inside = [found.has(line) for line in costs]
    least = _STARTS if start > 0 and sum(inside) > 1 else _MOST
    return found if sum(inside) >= least * len(inside) else None


def declared(lines: Sequence[str], function: str, path: str) -> Extent | None:
    """Return where a text declares a function; None if not once, or for a closure."""
    if is_closure(function):
        return None
    return extent_of(lines, function, path, 0, ())


def has_declaration(function: str, path: str, lines: Sequence[str]) -> bool:
    """Return whether a text must declare a function if it is the one that was built.

    A package's `init`, which initializes variables, has lines in any of its files. With
    a ``//line`` directive, lines refer to the file that this one was generated from.
    """
    plain = strip_type_arguments(function)
    if plain[package_end(plain) + 1 :] == "init" or not path.endswith(_SOURCES):
        return False
    return not any(line.startswith(_LINE) for line in lines)


def is_closure(function: str) -> bool:
    """Return whether a name denotes code that has no name in the source."""
    return _last_closure(function) is not None


@lru_cache(FILES)
def go_file(lines: tuple[str, ...]) -> GoFile:
    """Return what a file declares; the last ones are kept."""
    return GoFile("\n".join(lines))


def _at(lines: Sequence[str], function: str, start: int) -> Extent | None:
    """Return the extent of what starts in a line, if that is the function."""
    if start > len(lines):
        return None
    file = go_file(tuple(lines))
    end = at = file.line_starts[start - 1]
    if _VARIABLE.search(function):
        end = file.balanced(at) if "=" in lines[start - 1] else at
        return _until(file, at, start, end)
    closure = _last_closure(function)
    if closure is None:
        # Under the names, too, that linkname renames to this one.
        linked = [f"linked.{own}" for name, own in file.linked if name == function]
        here = [one for name in (function, *linked) for one in _declared(file, name)]
        return next((Extent(start, f.last) for f in here if f.line == start), None)
    keyword = _KEYWORDS[re.sub(r"\W|\d", "", closure)]
    # Several literals in one line are indistinguishable: take the lines of all.
    for word in file.keywords(at, at + len(lines[start - 1])):
        if word[0] == keyword and word.start() >= end:
            end = file.balanced(word.end())
    return _until(file, at, start, end)


def _until(file: GoFile, at: int, start: int, end: int) -> Extent | None:
    """Return the lines from `start`, which is at an offset, to another offset after."""
    lines = file.plain.count("\n", at, end)
    return Extent(start, start + lines) if end > at else None


def _only(lines: Sequence[str], function: str) -> Extent | None:
    """Return the extent of the only declaration; for closures, of their parent's."""
    found = _declared(go_file(tuple(lines)), function)
    return Extent(found[0].line, found[0].last) if len(found) == 1 else None


def _last_closure(function: str) -> str | None:
    """Return the last part of a name that denotes unnamed code, or None."""
    rest = strip_type_arguments(function)
    rest = rest[package_end(rest) :]
    parts = _CLOSURE.findall(rest)
    return parts[-1] if parts else None


def _declared(file: GoFile, function: str) -> list[Function]:
    """Return the functions of a file that may have a name; for a closure, its parents.

    Any receiver will do if the name does not show it.
    """
    plain = strip_type_arguments(function).removesuffix("-fm")
    rest = plain[package_end(plain) + 1 :]
    closure = _CLOSURE.search(f".{rest}")
    if closure:
        rest = rest[: max(closure.start() - 1, 0)]
    words = rest.split(".")
    if words[0] == "init" and words[1:2] and words[1].isdigit():
        words = ["init"]
    if len(words) < 2:
        return [one for one in file.functions if one.name == words[0]]
    receiver = _RECEIVER.match(words[-2])
    kind, name = receiver[1] if receiver else None, words[-1]
    return [
        one
        for one in file.functions
        if one.name.partition(".")[2] == name
        and (kind is None or one.name == f"{kind}.{name}")
    ]


def _assembly(lines: Sequence[str], function: str, start: int) -> Extent | None:
    """Return the extent of a function in assembly: up to the next one."""
    plain = strip_type_arguments(function)
    for ending in (".abi0", ".abiinternal"):
        plain = plain.removesuffix(ending)
    name = re.escape(plain[package_end(plain) + 1 :] if package_end(plain) else plain)
    begins = re.compile(rf"TEXT\s+[^\s(]*(?:·|\b){name}(?:<\w*>)?\(SB\)")
    starts = [i for i, text in enumerate(lines, 1) if begins.match(text)]
    if start > 0:
        # A profile may give the line of the TEXT, or of the first instruction.
        starts = [i for i in starts if i <= start]
    if not starts or (start <= 0 and len(starts) != 1):
        return None
    first = starts[-1]
    following = (
        i for i in range(first + 1, len(lines) + 1) if lines[i - 1].startswith("TEXT")
    )
    end = next(following, len(lines) + 1) - 1
    return Extent(first, end) if start <= end else None


# The most lines to compare here: the time is quadratic in them.
_COMPARED = 20_000


def hunks_within(
    sources: Sources, base: tuple[SourceText, Extent], new: tuple[SourceText, Extent]
) -> tuple[Hunk, ...]:
    """Return the hunks within a function, in order and clipped to it.

    They are the repository's, as in a pull request. If those pair lines of the function
    with lines outside, or if it was moved as a whole, its two texts are compared alone.
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


@lru_cache(FILES)
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
