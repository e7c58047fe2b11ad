"""Names of Go symbols: what they are made of, and which are the same function.

The linker spells a function `import/path.(*Type).Method.func1[...]`. Closures
are numbered in order of appearance, so a number says nothing across builds. A
closure of an inlined function carries both names: `runtime.send.goready.func1`.
Dots in the last element of an import path are written `%2e` (package objabi).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType

from pprofdiff.goruntime.rules import rules

__all__ = [
    "alias",
    "canonical_parts",
    "canonical_path",
    "canonical_user",
    "is_made_up",
    "is_runtime_like",
    "is_standard_library",
    "lookup",
    "moved_key",
    "normalise",
    "package_end",
    "package_of",
    "shown",
    "strip_type_arguments",
    "under_init",
    "without_module_versions",
]

# What the linker makes up; up to Go 1.19 such names begin as modules' hosts do, and
# those of go.uber.org or go.etcd.io are packages.
_NO_PACKAGE = ("type.", "type:", "go.", "go:")
_HOST = r"go\.(?!(?:shape|itab|string|func|info|map|link|type)\.)[\w-]+(?:\.[\w-]+)*/"
_NAMES_CACHED = 1 << 16
# Of each function the package is asked for six times, one function after the other: a
# cache that holds fewer than a program has would never have the one that is asked for.
_PACKAGES_CACHED = 1 << 18
_STAY: Mapping[str, str] = MappingProxyType({})

# Patterns are compiled when a name first needs one: most names need none.
_CLOSURE_SUFFIXES = (
    r"[.·](?:func|gowrap|deferwrap)\d+|[.·]dwrap[.·]\d+|-fm|-range\d+|\.\d+"
)
_CLOSURE = rf"(?:{_CLOSURE_SUFFIXES})+$"
_CLOSURE_ENDS = (*"0123456789", "-fm")
_CLOSURE_WORD = r"_$|(?:(?:func|gowrap|deferwrap|dwrap)?\d+$)"
# A bracket, and what stands between it and the next one.
_BRACKET = r"([\[\]])([^\[\]]*)"
_WORD = r"\([^()]*\)|[^.()]+"
_ESCAPES = r"(?:%[0-9a-fA-F]{2})+"
# The package of most symbols, up to the first dot after the last slash.
_PLAIN = r"((?:[^/(\[]+/)*+[^/.(\[]+)\.(?!v)"
_MAJOR = r"v\d+\."
_NUMBERED = r"([.·](?:func|gowrap|deferwrap|dwrap[.·])|-range)\d+"
_NESTED = r"\.\d+(?=[.·-]|$)"
_PACKAGE_INIT = r"^(?:glob\.|init(?:\.\d+)?)(?=[.·-]|$)"
_MODULE_VERSION = r"@v\d[^/@]*(?=/)|@v\d+\.\d+\.\d+(?:[-+][\w+-]*)?"


def strip_type_arguments(name: str) -> str:
    """Return `name` without its type arguments `[...]`, however deeply nested.

    Brackets that are not balanced are kept, as are those of array types inside
    the symbols of types (`type:.eq.[4]string`).
    """
    if "[" not in name or name.startswith("[") or is_made_up(name):
        return name
    kept, depth = [name[: name.index("[")]], 0
    for bracket in re.finditer(_BRACKET, name):
        depth += 1 if bracket[1] == "[" else -1
        if depth < 0:
            return name
        if depth == 0:
            kept.append(bracket[2])
    return name if depth else "".join(kept)


def is_made_up(name: str) -> bool:
    """Tell whether the linker made up the symbol `name`, which is of no package."""
    return name.startswith(_NO_PACKAGE) and not re.match(_HOST, name)


def package_end(name: str) -> int:
    """Return where the package path ends in the symbol `name`, 0 if it has none.

    At that index stands the dot before what the package defines.
    """
    limit = name.find("(")
    if limit < 0:
        limit = len(name)
    bracket = name.find("[", 0, limit)
    if bracket >= 0:
        limit = bracket
    slash = name.rfind("/", 0, limit)
    dot = name.find(".", slash + 1, limit)
    if dot < 0 or (slash < 0 and dot == 0):
        return 0
    if slash >= 0 and name.startswith("v", dot + 1):
        major = re.match(_MAJOR, name[dot + 1 :])
        return dot + major.end() if major else dot
    return dot


def _split(name: str) -> tuple[str, str]:
    """Return the import path, unescaped and without a version, and what follows."""
    name = without_module_versions(name)
    end = package_end(name)
    return _unescaped(name[:end]), name[end + 1 :] if end else name


def without_module_versions(name: str) -> str:
    """Return a symbol without the versions ``@v1.2.3`` in its import path."""
    return re.sub(_MODULE_VERSION, "", name) if "@v" in name else name


def _unescaped(path: str) -> str:
    """Return an import path without the linker's escapes, which are bytes of UTF-8."""
    return re.sub(_ESCAPES, _decoded, path) if "%" in path else path


def _decoded(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")


def shown(name: str) -> str:
    """Return a symbol as people read it: ``yaml.v3.F`` for ``yaml%2ev3.F``.

    The linker escapes what may not stand in the last element of an import path.
    """
    if "%" not in name or is_made_up(name):
        return name
    end = package_end(name)
    path = _unescaped(name[:end])
    readable = path.isprintable() and "\ufffd" not in path
    return path + name[end:] if readable else name


@lru_cache(_PACKAGES_CACHED)
def package_of(name: str) -> str:
    """Return the import path of the package that defines the symbol `name`.

    `%2e` and other escapes of the linker are undone; `gopkg.in/yaml.v3.F` is
    understood with and without them. Names with no package give "": assembly
    (`memeqbody`), C, and what the linker makes up (`type:.eq.…`, `go:…`).
    """
    if is_made_up(name):
        return ""
    plain = None if "%" in name or "@" in name else re.match(_PLAIN, name)
    return intern(plain[1] if plain else _split(name)[0])


def is_standard_library(package: str) -> bool:
    """Tell whether `package`, an import path, ships with Go.

    The first element of the path decides; import paths of modules have a dot
    there unless somebody chose a name of the standard library's.
    """
    first, _, _ = package.partition("/")
    return first in rules().standard_library


def normalise(name: str) -> tuple[str, ...]:
    """Return the names to look up for the symbol `name`, inner function first.

    Type arguments, ABI suffixes and closure parts are gone, and packages that
    moved have their present path. A closure that the inliner moved gives the
    function it was written in, then the functions it was inlined into:
    `runtime.send.goready.func1` is `runtime.goready`, then `runtime.send`.
    """
    plain = _moved(_without_abi(strip_type_arguments(name)))
    end = package_end(plain)
    if end == 0:
        return (plain,)
    package, rest = plain[:end], plain[end + 1 :]
    if not rest.endswith(_CLOSURE_ENDS):
        return (plain,)
    closure = re.search(_CLOSURE, rest[1:])
    if closure is None:
        return (plain,)
    functions = _functions(rest[: closure.start() + 1])
    return tuple(f"{package}.{function}" for function in functions) or (plain,)


def _without_abi(name: str) -> str:
    """Return the name without the mark of its calling convention."""
    return name.removesuffix(".abi0").removesuffix(".abiinternal")


def _functions(names: str) -> list[str]:
    """Split a composite name into functions and methods, innermost first.

    A plain pair may be two functions or a method of a value type: the reading as
    a method comes after the one as a function.
    """
    tokens = [
        token
        for token in re.findall(_WORD, names)
        if not re.match(_CLOSURE_WORD, token)
    ]
    functions: list[str] = []
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        owner = tokens[position - 1] if position else ""
        if token.startswith("("):
            continue
        if not owner.startswith("("):
            functions.append(token)
        if owner:
            functions.append(f"{owner}.{token}")
    return list(dict.fromkeys(functions))


def _moved(name: str) -> str:
    """Return the name under the path that its package has in newer releases of Go."""
    if name.startswith("runtime/internal/"):
        name = "internal/runtime/" + name.removeprefix("runtime/internal/")
    if name.startswith("internal/runtime/syscall."):
        name = "internal/runtime/syscall/linux." + name.partition(".")[2]
    return name


@lru_cache(_NAMES_CACHED)
def lookup(name: str) -> tuple[str, int]:
    """Return which of the names of the symbol `name` a rule knows, and that rule.

    The rule is a position in `Rules.rules`, -1 if no rule knows the symbol. Of the
    names that `normalise` gives, the innermost function with a rule of its own comes
    before one that only the catch-all rule ``rt.other`` knows.
    """
    table = rules()
    candidates = normalise(name)
    fallback = -1
    for candidate in candidates:
        if table.transparent.find(candidate) >= 0:
            return candidate, -1
        rule = table.rule_table.find(candidate)
        if rule >= 0 and rule != table.catch_all:
            return candidate, rule
        fallback = max(fallback, rule)
    return candidates[-1 if fallback < 0 else 0], fallback


def alias(name: str) -> str:
    """Return the present name of the runtime function `name`.

    Functions that were renamed, split or specialised between Go releases get one
    name, so that builds by two releases can be compared: `runtime.findrunnable`
    is `runtime.findRunnable`, every `runtime.mallocgc…` is `runtime.mallocgc`.
    Closures count as the innermost function that wrote them. Names that no rule
    knows come back as they are. Two functions that one release has both may have one
    name here: `pprofdiff.goruntime.versions.lacks` tells which release has a name.
    """
    candidate, rule = lookup(name)
    if rule < 0:
        return name
    table = rules()
    target = table.aliases.find(candidate)
    return candidate if target < 0 else table.alias_targets[target]


def is_runtime_like(name: str) -> bool:
    """Tell whether some rule knows the symbol `name`: the runtime and its circle.

    That is package runtime, internal/runtime, the locks of package sync, system
    calls, timers, and assembly or C symbols that belong to them. Everything else
    is the program's, the rest of the standard library included.
    """
    table = rules()
    if not table.heads.begin(name) or name in table.program:
        return False
    return lookup(name)[1] >= 0


def canonical_parts(name: str) -> tuple[str, str]:
    """Return (import path, rest) of what stays of a symbol from build to build.

    Numbers of closures, type arguments, vendor directories, versions in import
    paths (`@v1.2.3`), escapes and directories of builds outside modules are
    gone; closures of package variables count as `init`, as they do since Go 1.21.
    The major version of a module (`/v2`) stays: it is another package. The path is
    `""` where the symbol is of no package.
    """
    plain = _without_abi(strip_type_arguments(name))
    if is_made_up(plain):
        return "", plain
    path, rest = _split(plain)
    if not path:
        return "", plain
    path = canonical_path(path)
    rest = re.sub(_NUMBERED, r"\1", under_init(rest))
    return path, re.sub(_NESTED, ".func", rest)


def under_init(rest: str) -> str:
    """Return what follows a package's path, closures of package variables as `init`'s.

    They are so since Go 1.21; before, they were of ``glob.``.
    """
    if not rest.startswith(("glob.", "init")):
        return rest
    return re.sub(_PACKAGE_INIT, "init", rest)


def canonical_path(path: str) -> str:
    """Return what stays of an import path from one build to the next."""
    if path.startswith("_/"):
        path = path.rpartition("/")[2]
    # Parts of the standard library moved to internal packages, as strconv in Go 1.26.
    return path.rpartition("/vendor/")[2].removeprefix("internal/")


def canonical_user(name: str, packages: Mapping[str, str] = _STAY) -> str:
    """Return what stays of a symbol from one build to the next, see `canonical_parts`.

    `packages` gives the import path to which each package moved that did. Closures of
    one function may share a key, so pair exact names first.
    """
    path, rest = canonical_parts(name)
    return f"{packages.get(path, path)}.{rest}" if path else rest


def moved_key(name: str, packages: Mapping[str, str]) -> str | None:
    """Return `name` under the path that its package moved to, None for others.

    Closures keep their numbers, and all their type arguments.
    """
    path, _ = canonical_parts(name)
    if path not in packages or is_runtime_like(name):
        return None
    return f"{packages[path]}{name[package_end(name) :]}"
