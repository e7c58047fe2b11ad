"""Pairs given by the user: base's OLD is new's NEW, by name or pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pprofdiff.errors import UsageError
from pprofdiff.goruntime.readable import short


def given_pairs(
    rules: Iterable[tuple[str, str]], base: Sequence[str], new: Sequence[str]
) -> dict[str, str]:
    """Return new's names of the functions of base that rules, (base, new), name.

    A name is a symbol, or its short form in reports if that is unambiguous. With a `*`
    on both sides a rule covers all functions whose names differ accordingly. Raises
    UsageError if a rule names no function, or is ambiguous.
    """
    pairs: dict[str, str] = {}
    for old, now in rules:
        if "*" in old:
            found = dict(_matching(old, now, base, set(new)))
        else:
            found = {_named(old, base, "base"): _named(now, new, "new")}
        if not found:
            raise UsageError(f"{old}={now}: no function of base has its name in new")
        pairs |= found
    return pairs


def _matching(
    old: str, now: str, base: Sequence[str], new: set[str]
) -> Iterator[tuple[str, str]]:
    if old.count("*") != 1 or now.count("*") != 1:
        raise UsageError(f"{old}={now}: write one * on each side, or none")
    pattern = re.compile("(.*)".join(map(re.escape, old.split("*"))), re.DOTALL)
    for name in base:
        match = pattern.fullmatch(name)
        if match and (other := now.replace("*", match[1])) in new:
            yield name, other


def _named(name: str, symbols: Sequence[str], side: str) -> str:
    if name in symbols:
        return name
    alike = [s for s in symbols if name in (short(s), s.rpartition("/")[2])]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise UsageError(
            f"{name}: {side} has {len(alike)} such functions, as {alike[0]} and "
            f"{alike[1]}: write one of them"
        )
    raise UsageError(f"{name}: {side} has no such function in its stacks")
