"""Find benchmarks whose code in test files differs between the sides."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from pprofdiff.analysis.source.declarations import GoFile
from pprofdiff.analysis.source.text import PHRASE, WORD, unnamed, variables_of

_MOST = 1 << 24
# Calls of *testing.B that change what is printed, not what an operation does.
_PRINTED = re.compile(
    r"^\s*\w+\.(?:ReportAllocs\(\)|Helper\(\)|SetBytes\(.*\))\s*$", re.MULTILINE
)
# A list that a loop runs over: each entry may be a benchmark of its own.
_CASES = re.compile(r"\brange \[ \] \S+ \{ ([^{}]*) \}")

# Each entry of a table may be a benchmark of its own.
_RUN = ".Run("
# Before the name of a variable or constant, unlike a function's.
_VALUE_OF = "var "

# Code of functions by their name, and by the name with the receiver's type.
_Code = dict[str, dict[str, str]]


def rewritten(base: str, new: str, names: Iterable[str]) -> list[str]:
    """Return which benchmarks, or helpers in test files, differ between two folders.

    Comments, spaces, ``b.ReportAllocs`` and the like, the names of variables and
    further entries of a list that a loop runs over do not count. A helper is named with
    the first benchmark that calls it, directly or not. A benchmark that a side lacks is
    left out.
    """
    before, after = _declared(base), _declared(new)
    found: dict[str, str] = {}
    for name in names:
        if name not in before or name not in after:
            continue
        every = dict.fromkeys((*_called(before, name), *_called(after, name)))
        parts = any(_RUN in text for text in before[name].values())
        for one in every:
            both = before.get(one, {}), after.get(one, {})
            if _differ(*both) and not (parts and _is_longer(one, *both)):
                found.setdefault(one, one if one == name else f"{one} (in {name})")
    return list(found.values())


def _differ(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether functions of one name differ.

    A method that a side lacks may be another type's than the one that is called.
    """
    names = {name for name in (*before, *after) if "." not in name}
    names.update(before.keys() & after.keys())
    return any(not _alike(before.get(name), after.get(name)) for name in names)


def _is_longer(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    tables = []
    for side in (before, after):
        code = " ".join(PHRASE.findall(side.get(_VALUE_OF + name, "")))
        entries = code.partition(" { ")[2].rpartition(" }")[0]
        tables.append(entries.removesuffix(" ,"))
    return all(tables) and _extends(*tables)


def _alike(before: str | None, after: str | None) -> bool:
    """Return whether two functions' code does the same for the benchmarks of both."""
    if before is None or after is None or before == after:
        return before == after
    codes = [" ".join(PHRASE.findall(code)) for code in (before, after)]
    lists = [_CASES.findall(code) for code in codes]
    if len(lists[0]) != len(lists[1]) or not all(map(_extends, *lists)):
        return False
    old, now = (unnamed(_CASES.sub("range [ ]", code)) for code in codes)
    return old == now


def _extends(one: str, other: str) -> bool:
    entries = set(one.split(" , ")), set(other.split(" , "))
    return entries[0] <= entries[1] or entries[1] <= entries[0]


def _declared(folder: str) -> _Code:
    """Return the code of the functions in a folder's test files, by name.

    Methods of one name are together: calls do not show which one is called. Variables
    and constants of the package are among them: benchmarks often run a table of those.
    """
    code: _Code = {}
    for file in sorted(os.listdir(folder)):
        if not file.endswith("_test.go"):
            continue
        with suppress(OSError), open(os.path.join(folder, file), "rb") as source:
            text = source.read(_MOST).decode("utf-8", "replace")
            go = GoFile(text.replace("\r\n", "\n"))
            for one in go.values:
                words = go.code(one.start, one.end).split()
                code.setdefault(one.name, {}).setdefault(
                    _VALUE_OF + one.name, " ".join(words)
                )
            for one in go.functions:
                name = one.name.rpartition(".")[2]
                words = _PRINTED.sub("", go.code(one.start, one.end)).split()
                own = code.setdefault(name, {})
                own[one.name] = " ".join([own.get(one.name, ""), *words])
    return code


def _called(code: _Code, name: str) -> Iterator[str]:
    seen, left = {name}, [name]
    while left:
        one = left.pop(0)
        yield one
        if one in code:
            text = " ".join(code[one].values())
            own = {name for body in code[one].values() for name in variables_of(body)}
            named = [
                other
                for other in WORD.findall(text)
                if other in code and other not in own
            ]
            left += [other for other in dict.fromkeys(named) if other not in seen]
            seen.update(named)
