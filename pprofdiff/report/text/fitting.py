"""Text that fits a width: wrapped at spaces, names cut, numbers never."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from unicodedata import combining, east_asian_width

_ELLIPSIS = "…"
_NUMBER = frozenset("0123456789.,")
# Names in titles are not cut below this, which distinguishes most functions.
_ENOUGH = 30
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ0-9])")
_CLAUSE = re.compile(r"(?<=[;,])\s+")
_WORD = re.compile(r"\s+")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
# A word, or a number and its unit: lines do not break between them.
_UNIT = r"(?:%|pp|[nµm]?s|[kMGTP]?B|cores)(?:/op|/s)?"
_TOKEN = re.compile(rf"\s*\S*\d {_UNIT}(?![\w/])\S*|\s*\S+")
# A cut text must not end in a number without its unit or an open parenthesis.
_DANGLING = re.compile(r"(?:[\d→]|\d[^\s;,)]*|\([^\s)]*) …$")


def columns(text: str) -> int:
    """Return how many terminal columns a text takes; East Asian letters take 2."""
    return len(text) + sum(_columns(char) - 1 for char in _FOREIGN.findall(text))


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def _fitting(chars: Iterable[str], room: int) -> int:
    count = 0
    for char in chars:
        room -= _columns(char)
        if room < 0:
            break
        count += 1
    return count


def middle_cut(text: str, room: int) -> str:
    """Return a text in `room` columns without its middle; numbers stay whole or go."""
    if columns(text) <= room:
        return text
    if room < 1:
        return ""
    kept = room - 1
    head = _fitting(text, kept // 2)
    tail = len(text) - _fitting(reversed(text), kept - kept // 2)
    while 0 < head < len(text) and text[head - 1] in _NUMBER and text[head] in _NUMBER:
        head -= 1
    while 0 < tail < len(text) and text[tail - 1] in _NUMBER and text[tail] in _NUMBER:
        tail += 1
    return f"{text[:head]}{_ELLIPSIS}{text[tail:]}"


def distinct_within(texts: Sequence[str], room: int) -> list[str]:
    """Return texts cut to `room` columns by `middle_cut`, unlike ones still unlike."""
    cut = [middle_cut(text, room) for text in texts]
    alike: dict[str, set[str]] = {}
    for short, text in zip(cut, texts, strict=True):
        alike.setdefault(short, set()).add(text)
    for i, (short, text) in enumerate(zip(cut, texts, strict=True)):
        others = sorted(alike[short])
        if len(others) > 1:
            cut[i] = _cut_before(text, _alike_up_to(others), room)
    return cut


def _alike_up_to(texts: Sequence[str]) -> int:
    together = zip(*texts, strict=False)
    return next(
        (i for i, chars in enumerate(together) if len(set(chars)) > 1),
        min(map(len, texts)),
    )


def _cut_before(text: str, place: int, room: int) -> str:
    """Return a text in `room` columns that shows `place` and what follows."""
    # A word's beginning says more than its middle: `WriteByte` rather than `teByte`.
    names = [m.start() for m in re.finditer(r"(?<=\W)\w", text[: place + 1])]
    start = max([p for p in names if place - p <= room // 3], default=place)
    head = end_cut(text[:start], max(room // 4, 1))
    return f"{head}{end_cut(text[start:], room - columns(head))}"


def end_cut(text: str, room: int) -> str:
    """Return as much of the beginning of a text as fits; no number is split."""
    if columns(text) <= room:
        return text
    end = _fitting(text, room - 1)
    while end and text[end - 1] in _NUMBER and text[end] in _NUMBER:
        end -= 1
    return f"{text[:end].rstrip()}{_ELLIPSIS}"


def broken(text: str, room: int, *, whole: bool) -> list[str]:
    """Return a text's lines of `room` columns, broken at spaces.

    A number stays with its unit. A word longer than a line continues on the next one,
    or sticks out if `whole`.
    """
    lines, line = [], ""
    for word in _TOKEN.findall(text):
        if line and columns(line) + columns(word) > room:
            lines.append(line)
            line = word.lstrip()
        else:
            line += word
        while not whole and columns(line) > room:
            end = max(_fitting(line, room), 1)
            lines.append(line[:end])
            line = line[end:]
    return [*lines, line] if line else lines


def named_short(text: str, fits: Callable[[str], bool]) -> str:
    """Return a text with long names cut, but distinct, until it fits, else as it is."""
    parts = re.split(r"(\s+)", text)
    words = list(dict.fromkeys(text.split()))
    room = max(map(columns, words), default=0)
    shorter = text
    while not fits(shorter) and room > _ENOUGH:
        # Half of the excess at a time, so that no more is cut than necessary.
        room = max(_ENOUGH, room - max(1, (room - _ENOUGH) // 2))
        long = [word for word in words if columns(word) > room]
        cut = dict(zip(long, distinct_within(long, room), strict=True))
        shorter = "".join(cut.get(part, part) for part in parts)
    return shorter if fits(shorter) else text


def clipped(text: str, fits: Callable[[str], bool]) -> str:
    """Return as many sentences as fit, or clauses, or words; no quotation is cut."""
    if fits(text):
        return text
    for between in (_SENTENCE, _CLAUSE, _WORD):
        end = "" if between is _SENTENCE else f" {_ELLIPSIS}"
        for shorter in _beginnings(text, between, end):
            quoted = shorter.count('"') % 2
            if fits(shorter) and not quoted and not _DANGLING.search(shorter):
                return shorter
    return _ELLIPSIS


def _beginnings(text: str, between: re.Pattern[str], end: str) -> Iterator[str]:
    for match in reversed(list(between.finditer(text))):
        yield f"{text[: match.start()]}{end}"
