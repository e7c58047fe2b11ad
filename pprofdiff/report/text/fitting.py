"""Text in the room that there is: wrapped at spaces, names cut, numbers never."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from unicodedata import combining, east_asian_width

__all__ = [
    "begun",
    "broken",
    "clipped",
    "columns",
    "middle_cut",
    "named_short",
    "told_apart",
]

_ELLIPSIS = "…"
_NUMBER = frozenset("0123456789.,")
# A name of a title is not cut below this, which tells most functions from others.
_TELLING = 30
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ0-9])")
_CLAUSE = re.compile(r"(?<=[;,])\s+")
_WORD = re.compile(r"\s+")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
# A word, or a number and its unit: no line ends between them.
_UNIT = r"(?:%|points|[nµm]?s|[kMGTP]?B|cores)(?:/op|/s)?"
_TOKEN = re.compile(rf"\s*\S*\d {_UNIT}(?![\w/])\S*|\s*\S+")
# A number whose unit is left out, or a parenthesis that does not end, tells nothing.
_DANGLING = re.compile(r"(?:[\d→]|\d[^\s;,)]*|\([^\s)]*) …$")


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes; East Asian letters take 2."""
    return len(text) + sum(_columns(char) - 1 for char in _FOREIGN.findall(text))


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def _fitting(chars: Iterable[str], room: int) -> int:
    """Return how many of the first characters fit in `room` columns."""
    count = 0
    for char in chars:
        room -= _columns(char)
        if room < 0:
            break
        count += 1
    return count


def middle_cut(text: str, room: int) -> str:
    """Return a text in `room` columns: what does not fit goes from its middle.

    No number is cut: it stays whole or goes with the rest.
    """
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


def told_apart(texts: Sequence[str], room: int) -> list[str]:
    """Return texts in `room` columns as `middle_cut` does, unlike ones still unlike.

    Of those that would become alike, more goes before the place where they differ.
    """
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
    """Return how many characters all texts have in common at their beginning."""
    together = zip(*texts, strict=False)
    return next(
        (i for i, chars in enumerate(together) if len(set(chars)) > 1),
        min(map(len, texts)),
    )


def _cut_before(text: str, place: int, room: int) -> str:
    """Return a text in `room` columns of which `place` and what follows is shown."""
    # A word's beginning tells more than its middle: `(*Builder).Wri` has `WriteByte`.
    names = [m.start() for m in re.finditer(r"(?<=\W)\w", text[: place + 1])]
    start = max([p for p in names if place - p <= room // 3], default=place)
    head = begun(text[:start], max(room // 4, 1))
    return f"{head}{begun(text[start:], room - columns(head))}"


def begun(text: str, room: int) -> str:
    """Return as much of the beginning of a text as fits; no number is cut."""
    if columns(text) <= room:
        return text
    end = _fitting(text, room - 1)
    while end and text[end - 1] in _NUMBER and text[end] in _NUMBER:
        end -= 1
    return f"{text[:end].rstrip()}{_ELLIPSIS}"


def broken(text: str, room: int, *, whole: bool) -> list[str]:
    """Return a text's lines of `room` columns, broken at spaces.

    A number stays with its unit. A word that is longer than a line goes on in the next
    one, or sticks out where it is to stay `whole`.
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
    """Return a text that fits, as far as long names cut in the middle make it fit."""
    while not fits(text):
        word = max(text.split(), key=columns, default="")
        if columns(word) <= _TELLING:
            break
        # Half of what is too long at a time, so that no more goes than must.
        room = max(_TELLING, columns(word) - max(1, (columns(word) - _TELLING) // 2))
        text = text.replace(word, middle_cut(word, room))
    return text


def clipped(text: str, fits: Callable[[str], bool]) -> str:
    """Return as many whole sentences of a text as fit; else clauses, or words."""
    if fits(text):
        return text
    for between in (_SENTENCE, _CLAUSE, _WORD):
        end = "" if between is _SENTENCE else f" {_ELLIPSIS}"
        for shorter in _beginnings(text, between, end):
            if fits(shorter) and not _DANGLING.search(shorter):
                return shorter
    return _ELLIPSIS


def _beginnings(text: str, between: re.Pattern[str], end: str) -> Iterator[str]:
    """Yield what stands before each match, the longest first, with an `end`."""
    for match in reversed(list(between.finditer(text))):
        yield f"{text[: match.start()]}{end}"
