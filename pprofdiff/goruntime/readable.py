"""Readable names of Go functions: short, and still distinct.

``github.com/x/lru/v2.(*Cache[go.shape.int,go.shape.*uint8]).Add`` is shown as
``lru.(*Cache[int,*…]).Add``. JSON, CSV and data frames keep the symbol.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial

from pprofdiff.goruntime.names import (
    is_made_up,
    is_standard_library,
    package_end,
    shown,
    strip_type_arguments,
    without_module_versions,
)

_NAMES_CACHED = 1 << 16
# Longer type arguments do not help to distinguish functions.
_LONG = 16
_VERSION = re.compile(r"v\d+")
# Major versions that gopkg.in serves: https://labix.org/gopkg.in.
_IN_GOPKG = re.compile(r"(gopkg\.in/(?:[^/]+/)?[^/]+)\.v\d+$")
# Compiler-generated comparisons and hashes of types: `type:.eq.` since Go 1.20.
_OF_TYPE = re.compile(r"type[.:]\.(?:eq|hash)\.")
# Folders of the standard library that are not packages themselves.
_FOLDERS = {
    *("archive", "compress", "container", "database", "debug", "encoding", "go"),
    *("index", "internal", "text"),
}
_SHAPE = "go.shape."
# Up to Go 1.20 a shape ends with the position of its type parameter.
_POSITION = r"(?<=[a-z0-9})])_\d+$"
_HEADS = ("chan<- ", "<-chan ", "chan ", "*", "[]", "...")
_ARRAY = r"\[\d+\]"
_POINTERS = r"(?:\*|\[\d*\])+"
_METHOD = r"(?:^|; )(\w+)\("
_LEFT_OUT = "…"
_INLINED_CLOSURE = re.compile(r"(Benchmark\w*(?:\.func\d+)*)\.((?!func\d)[^\W\d].*)")
# Of template arguments, not of operators.
_BRACKET = re.compile(r"(?<!operator)(?<!operator<)<|(?<!operator)(?<![->])>|(?<=>)>")

HELD = {
    "runtime.malg": "goroutine descriptors",
    "runtime.allgadd": "the list of all goroutines",
    "runtime.allocm": "thread descriptors",
    "runtime.makeProfStackFP": "buffers for stacks of profiles, one per thread",
    "runtime.acquireSudog": "descriptors of waits for channels and locks",
}
"""What functions of the runtime allocate in stacks without a caller (proc.go)."""


@lru_cache(_NAMES_CACHED)
def short(name: str) -> str:
    """Return a function's readable name: ``lru.(*Cache[int,…]).Add``.

    The import path is shortened to its last element that is not a major version:
    ``lru`` for ``x/lru/v2``, ``yaml`` for ``gopkg.in/yaml.v3``; escapes are undone.
    ``*…`` is any pointer, as all pointers share one shape. The runtime's ``[...]``
    becomes ``[…]``. Of names that are not Go's, long template arguments are left out.
    """
    return _spelled(name, _qualifier, _argument)


def inlined_closure(name: str) -> tuple[str, str]:
    """Return a function's readable name, and the benchmark that has it inlined, or "".

    The closure of a function inlined into a benchmark is named after both:
    ``store.BenchmarkGet.Get.func1``.
    """
    readable = short(name)
    package, _, rest = readable.partition(".")
    found = _INLINED_CLOSURE.fullmatch(rest)
    return (f"{package}.{found[2]}", found[1]) if found else (readable, "")


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return readable names, distinct for distinct symbols.

    Each is `short`, unless several would be equal: these get as much of their path or
    type arguments as needed.
    """
    whole = list(names)
    known = {name: short(name) for name in whole}
    _disambiguate(known)
    return [known[name] for name in whole]


def with_path(name: str) -> str:
    """Return a function's name with its full import path, arguments as in `short`."""
    return _spelled(name, str, _argument)


def short_before(before: str, now: str) -> str:
    """Return the part of a function's name in base that differs from new.

    That is part of the path (``simplelru``; ``v0/v1`` if new has a major version), else
    of the function (``findrunnable``, ``*Cache``, ``[int]``, ``func2``); if both
    differ, the short name. It is ``""`` if both look the same, such as ``F[…]`` and
    ``F[int]``.
    """
    (old_path, old), (path, new) = _parts(before), _parts(now)
    if strip_type_arguments(old) == strip_type_arguments(new) and old_path != path:
        return path_before(old_path, path) if old_path else short(before)
    if old_path != path:
        one, other = short(before), short(now)
        return one if one != other else distinct_names((before, now))[0]
    words = _words(_with_arguments(old, _argument))
    others = _words(_with_arguments(new, _argument))
    if len(words) == len(others) and all(map(_alike, words, others)):
        return ""
    _, middle, trail = _middle(words, others)
    if not middle or not _middle(others, words)[1]:
        # A method is now a function, or was one: its type alone is no name.
        return short(before)
    # The number of a closure within a closure says nothing by itself.
    inner = trail if all(map(str.isdigit, trail)) else ()
    own = ".".join((*middle, *inner))
    bare = strip_type_arguments(own)
    if bare != own and bare == strip_type_arguments(
        ".".join(_middle(others, words)[1])
    ):
        return own[own.index("[") :]
    return own or short(before)


def path_before(before: str, now: str) -> str:
    """Return the part of a path in base that differs from new, never ``""``.

    For ``a/lru/simple`` and ``a/lru/v2`` that is ``simple``. If the ends are equal, the
    last differing element precedes the end: ``old/zstd``, ``old/…/zstd``. Paths of the
    standard library are returned whole.
    """
    if is_standard_library(before):
        return before
    own, others = before.split("/"), now.split("/")
    lead, middle, trail = _middle(own, others)
    if middle and all(map(_VERSION.fullmatch, middle)):
        return "/".join(middle)
    if middle:
        left_out = [_LEFT_OUT] if len(trail) > 1 else []
        return "/".join([_last(1)("/".join(middle)), *left_out, *trail[-1:]])
    added = others[len(lead) : len(others) - len(trail)]
    if added and all(map(_VERSION.fullmatch, added)):
        return "v0/v1"
    return before


def _middle(
    own: Sequence[str], others: Sequence[str]
) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return the common start of two lists, own's differing part, the common end."""
    most = min(len(own), len(others))
    lead = 0
    while lead < most and own[lead] == others[lead]:
        lead += 1
    trail = 0
    while trail < most - lead and own[-1 - trail] == others[-1 - trail]:
        trail += 1
    end = len(own) - trail
    return own[:lead], own[lead:end], own[end:]


def _alike(one: str, other: str) -> bool:
    """Return whether words are equal, apart from arguments that one of them elides."""
    if one == other:
        return True
    return (
        f"[{_LEFT_OUT}]" in one + other
        and strip_type_arguments(one) == strip_type_arguments(other) != one
    )


def _words(rest: str) -> list[str]:
    words, start, depth = [], 0, 0
    for at, char in enumerate(rest):
        depth += (char in "[{(") - (char in "]})")
        if char == "." and depth <= 0:
            words.append(rest[start:at])
            start = at + 1
    words.append(rest[start:])
    return [w[1:-1] if w.startswith("(*") and w.endswith(")") else w for w in words]


def _disambiguate(known: dict[str, str]) -> None:
    for group in [group for group in _groups(known) if len(group) > 1]:
        left = group
        for spell in _lengths(group):
            known.update((name, spell(name)) for name in left)
            left = [n for g in _groups(known, left) if len(g) > 1 for n in g]
            if not left:
                break
    # A longer name may equal another's short one.
    while True:
        again = [n for g in _groups(known) if len(g) > 1 for n in g if known[n] != n]
        if not again:
            return
        known.update((name, name) for name in again)


def _groups(
    known: dict[str, str], names: Iterable[str] | None = None
) -> Iterable[list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in known if names is None else names:
        groups[known[name]].append(name)
    return groups.values()


def _lengths(names: Sequence[str]) -> Iterator[Callable[[str], str]]:
    """Yield ways to spell names, from the shortest to the complete one."""
    longest = max(_parts(name)[0].count("/") for name in names) + 1
    for count in range(1, longest + 1):
        yield partial(_spelled, qualifier=_last(count), argument=_argument)
    yield partial(_spelled, qualifier=_qualifier, argument=_whole_argument)
    yield partial(_spelled, qualifier=_last(longest), argument=_whole_argument)
    yield shown
    yield lambda name: name


def _spelled(
    name: str, qualifier: Callable[[str], str], argument: Callable[[str], str]
) -> str:
    made = _OF_TYPE.match(name)
    if made is not None:
        return made[0] + _of_type(name[made.end() :], qualifier, argument)
    path, rest = _parts(name)
    if not path:
        return _with_short_templates(rest)
    return f"{qualifier(path)}.{_with_arguments(rest, argument)}"


def _with_short_templates(name: str) -> str:
    """Return a name of C++ or Rust, whose long template arguments are left out."""
    parts, end, depth, begin = [""], 0, 0, 0
    for bracket in _BRACKET.finditer(name):
        at = bracket.start()
        depth += 1 if bracket[0] == "<" else -1
        if bracket[0] == "<" and depth == 1:
            begin = at + 1
        elif not depth and at - begin > _LONG and name[begin - 2 : begin - 1].isalnum():
            parts.append(f"{name[end:begin]}{_LEFT_OUT}")
            end = at
    return name if depth else "".join([*parts, name[end:]])


def _parts(name: str) -> tuple[str, str]:
    """Return the import path, unescaped, and what follows its dot; "" without path."""
    if is_made_up(name):
        return "", name
    plain = shown(without_module_versions(name))
    end = package_end(plain)
    # In a Go name both the path and the rest are non-empty.
    if not end or not plain[end + 1 :] or plain[end - 1] == "/":
        return "", name
    return plain[:end], plain[end + 1 :]


def _qualifier(path: str) -> str:
    """Return a path's last element that is not a major version.

    An element that looks like a Go package keeps those before it: ``x/net/html``.
    """
    gopkg = _IN_GOPKG.match(path)
    head, _, last = (gopkg[1] if gopkg else path).rpartition("/")
    if head and _VERSION.fullmatch(last):
        head, _, last = head.rpartition("/")
    if is_standard_library(path):
        return last
    while head and is_standard_library(last) and last not in _FOLDERS:
        head, _, before = head.rpartition("/")
        if not _VERSION.fullmatch(before):
            last = f"{before}/{last}"
    return last


def _last(count: int) -> Callable[[str], str]:
    """Return a function that keeps `count` elements of a path, without versions."""

    def kept(path: str) -> str:
        if is_standard_library(path):
            return path
        elements = path.split("/")
        at, left = len(elements), count
        while at and left:
            at -= 1
            left -= not (at and _VERSION.fullmatch(elements[at]))
        return "/".join(elements[at:])

    return kept


def _with_arguments(rest: str, argument: Callable[[str], str]) -> str:
    done: list[str] = []
    begin = rest.find("[")
    at = 0
    while begin >= 0:
        end, parts = _arguments(rest, begin)
        if end < 0:
            break
        done += (rest[at:begin], "[", ",".join(map(argument, parts)), "]")
        at = end
        begin = rest.find("[", at)
    return "".join(done) + rest[at:]


def _arguments(text: str, begin: int) -> tuple[int, list[str]]:
    """Return where the bracket at `begin` closes, or -1, and its arguments."""
    depth, start = 0, begin + 1
    parts: list[str] = []
    for at in range(begin, len(text)):
        char = text[at]
        depth += (char in "[{(") - (char in "]})")
        if (char == "," and depth == 1) or depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
        if depth == 0:
            return at + 1, parts
    return -1, []


def _argument(text: str) -> str:
    if text == "...":
        return _LEFT_OUT
    written = _of_type(text, _qualifier, _argument)
    if len(written) > _LONG:
        written = _of_type(text, _qualifier, lambda _: _LEFT_OUT)
    if len(written) <= _LONG:
        return written
    pointers = re.match(_POINTERS, written)
    return f"{pointers[0] if pointers else ''}{_LEFT_OUT}"


def _whole_argument(text: str) -> str:
    """Return a type argument as the compiler writes it, without the shape prefix."""
    return _LEFT_OUT if text == "..." else text.removeprefix(_SHAPE)


def _of_type(
    text: str, qualifier: Callable[[str], str], argument: Callable[[str], str]
) -> str:
    if text.startswith(_SHAPE):
        text = re.sub(_POSITION, "", text.removeprefix(_SHAPE))
        if text.startswith("*"):
            return f"*{_LEFT_OUT}"
    array = re.match(_ARRAY, text)
    for head in (array[0],) if array else _HEADS:
        if text.startswith(head):
            return head + _of_type(text[len(head) :], qualifier, argument)
    if text.startswith("map["):
        end, parts = _arguments(text, 3)
        if end < 0 or len(parts) != 1:
            return text
        value = _of_type(text[end:], qualifier, argument)
        return f"map[{_of_type(parts[0], qualifier, argument)}]{value}"
    if text.startswith(("struct {", "func(", "interface {")):
        return _literal(text)
    return _spelled(text, qualifier, argument) if package_end(text) else text


def _literal(text: str) -> str:
    """Return a short form of a type literal: interfaces by methods, others by kind."""
    if text == "interface {}":
        return "any"
    if text == "struct {}":
        return "struct{}"
    if text.startswith("func("):
        return f"func({_LEFT_OUT})"
    if text.startswith("struct "):
        return f"struct{{{_LEFT_OUT}}}"
    methods = ",".join(re.findall(_METHOD, text[len("interface { ") :]))
    written = f"interface{{{methods}}}"
    return written if methods and len(written) <= _LONG else f"interface{{{_LEFT_OUT}}}"
