"""What a tool answers: as much of a report as a budget of tokens allows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NotRequired, TypedDict, cast

# A token is at least this many bytes of JSON; numbers and signs take more tokens than
# prose, which has about four.
_BYTES_A_TOKEN = 3

# Causes, and things that are not known, that come before any more of either.
_FEW = 3

Row = dict[str, Any]


class Cause(TypedDict):
    """One cause; its `lines` are those that changed, as ``file:first-last``."""

    title: str
    direction: str
    lines: list[str]
    text: NotRequired[str]
    source: NotRequired[list[str]]
    advice: NotRequired[str]
    follows: NotRequired[list[str]]


class Answer(TypedDict):
    """A report's answer; `left_out` counts what the budget had no room for."""

    verdict: str
    labels: dict[str, str]
    outcome: list[str]
    resources: dict[str, str]
    bisection: NotRequired[list[str]]
    gate: NotRequired[list[str]]
    causes: NotRequired[list[Cause]]
    not_known: NotRequired[list[str]]
    units: NotRequired[list[str]]
    account: NotRequired[list[str]]
    changed: NotRequired[list[str]]
    others: NotRequired[list[str]]
    left_out: NotRequired[dict[str, int]]


class Text(TypedDict):
    """Lines that the command prints; `left_out` counts those that did not fit."""

    lines: list[str]
    resources: NotRequired[dict[str, str]]
    left_out: NotRequired[dict[str, int]]


def answer_of(brief: Row, resources: Mapping[str, str], tokens: int) -> Answer:
    """Return the answer of a report (``-o x.brief.json``) in at most `tokens` tokens.

    Verdict, headline and resources are always there.
    """
    answer: Row = {name: brief[name] for name in ("verdict", "labels")}
    answer |= {"outcome": brief["outcome"][:1], "resources": dict(resources)}
    return cast("Answer", _filled(answer, _ranked(brief), tokens))


def text_of(text: str, resources: Mapping[str, str], tokens: int) -> Text:
    """Return the first lines of a text, in at most `tokens` tokens."""
    answer: Row = {"lines": []}
    if resources:
        answer["resources"] = dict(resources)
    entries = (("lines", line) for line in text.splitlines() if line)
    return cast("Text", _filled(answer, entries, tokens))


def _ranked(brief: Row) -> Iterator[tuple[str, Any]]:
    """Yield what may be added to an answer, with its field, most important first."""
    titles = ("title", "direction", "lines")
    causes, unknown = brief["causes"], brief["not_known"]
    yield from (("outcome", line) for line in brief["outcome"][1:])
    yield from (("bisection", line) for line in brief["bisection"])
    yield from (("gate", line) for line in brief["gate"])
    for few in (slice(_FEW), slice(_FEW, None)):
        yield from (("causes", {n: one[n] for n in titles}) for one in causes[few])
        yield from (("not_known", line) for line in unknown[few])
    for one in causes:
        yield "details", {n: v for n, v in one.items() if v and n not in titles}
    for name in ("units", "account", "changed", "others"):
        yield from ((name, line) for line in brief[name])


def _filled(answer: Row, entries: Iterable[tuple[str, Any]], tokens: int) -> Row:
    """Return the answer with the entries up to the first that does not fit."""
    widest = dict.fromkeys((*Answer.__annotations__, "details"), 99_999)
    room = tokens * _BYTES_A_TOKEN - _size({**answer, "left_out": widest})
    left = Counter[str]()
    detailed = iter(answer.setdefault("causes", []) if "verdict" in answer else ())
    for name, entry in entries:
        room -= _size(entry) + _size(name) * (name not in answer)
        if room < 0:
            left[name] += 1
        elif name == "details":
            next(detailed).update(entry)
        else:
            answer.setdefault(name, []).append(entry)
    return {**answer, "left_out": dict(left)} if left else answer


def _size(value: object) -> int:
    """Return how many bytes of JSON a value takes, with what separates it."""
    return len(json.dumps(value, ensure_ascii=False).encode()) + 2
