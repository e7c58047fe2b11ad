"""Names of Go symbols: their parts, and which ones are the same function.

The linker spells a function `import/path.(*Type).Method.func1[...]`. Closures are
numbered in order of appearance, so numbers cannot be compared across builds. A closure
of an inlined function carries both names: `runtime.send.goready.func1`. Dots in the
last element of an import path are written `%2e` (package objabi).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from sys import intern

import numpy as np

from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Mask

# Symbols made up by the linker. Up to Go 1.19 these names begin like module hosts, but
# go.uber.org and go.etcd.io are hosts of packages.
_NO_PACKAGE = ("type.", "type:", "go.", "go:")
_HOST = r"go\.(?!(?:shape|itab|string|func|info|map|link|type)\.)[\w-]+(?:\.[\w-]+)*/"
_NAMES_CACHED = 1 << 16
# The package of each function is requested six times, in passes over all functions: a
# cache smaller than a program would never hit.
_PACKAGES_CACHED = 1 << 18

# The package of most symbols, up to the first dot after the last slash.
_PLAIN = re.compile(r"((?:[^/(\[]+/)*+[^/.(\[]+)\.(?!v)")
# Clones of functions that gcc makes: the name ends there, or goes on after a dot.
_CLONE = re.compile(r"\.(?:isra|constprop|part|lto_priv)\.\d+(?:[.\n]|$)")

# Other patterns are compiled on first use: most names need none.
_CLOSURE_SUFFIXES = (
    r"[.·](?:func|gowrap|deferwrap)\d+|[.·]dwrap[.·]\d+|-fm|-range\d+|\.\d+"
)
_CLOSURE = rf"(?:{_CLOSURE_SUFFIXES})+$"
_FUNCTION_LITERAL = r"\.func\d+(?:\.\d+)*$"
_CLOSURE_ENDS = (*"0123456789", "-fm")
_CLOSURE_WORD = r"_$|(?:(?:func|gowrap|deferwrap|dwrap)?\d+$)"
# A bracket, and the text up to the next one.
_BRACKET = r"([\[\]])([^\[\]]*)"
_WORD = r"\([^()]*\)|[^.()]+"
_ESCAPES = r"(?:%[0-9a-fA-F]{2})+"
# What perf's names of the kernel's functions end with.
_OF_KERNEL = "_[k]"
_MAJOR = r"v\d+\."
_NUMBERED = r"([.·](?:func|gowrap|deferwrap|dwrap[.·])|-range)\d+"
_NESTED = r"\.\d+(?=[.·-]|$)"
_PACKAGE_INIT = r"^(?:glob\.|init(?:\.\d+)?)(?=[.·-]|$)"
_MODULE_VERSION = r"@v\d[^/@]*(?=/)|@v\d+\.\d+\.\d+(?:[-+][\w+-]*)?"


def strip_type_arguments(name: str) -> str:
    """Return `name` without type arguments `[...]`, however deeply nested.

    Unbalanced brackets and array types in type symbols (`type:.eq.[4]string`) are kept.
    """
    if "[" not in name or name.startswith("[") or is_made_up(name):
        return name
    begin, end = name.index("["), name.rfind("]")
    if name.rfind("[") == begin < name.find("]") == end:
        return name[:begin] + name[end + 1 :]
    kept, depth = [name[:begin]], 0
    for bracket in re.finditer(_BRACKET, name):
        depth += 1 if bracket[1] == "[" else -1
        if depth < 0:
            return name
        if depth == 0:
            kept.append(bracket[2])
    return name if depth else "".join(kept)


def is_made_up(name: str) -> bool:
    """Return whether the linker made up the symbol `name`, which has no package."""
    return name.startswith(_NO_PACKAGE) and not re.match(_HOST, name)


def is_of_c(name: str) -> bool:
    """Return whether `name` has a dot but is C's: a clone, or the kernel's function."""
    return name.endswith(_OF_KERNEL) or _CLONE.search(name) is not None


def may_be_of_c(text: str) -> bool:
    """Return whether `is_of_c` may be true of a line of `text`."""
    return _OF_KERNEL in text or _CLONE.search(text) is not None


def is_closure(name: str) -> bool:
    """Return whether a function is a closure."""
    return re.search(_FUNCTION_LITERAL, name) is not None


def package_end(name: str) -> int:
    """Return the index of the dot before a symbol's own name, 0 without a package."""
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
    """Return the import path, unescaped and without a version, and the rest."""
    name = without_module_versions(name)
    end = package_end(name)
    return _unescaped(name[:end]), name[end + 1 :] if end else name


def without_module_versions(name: str) -> str:
    """Return a symbol without versions such as ``@v1.2.3`` in its import path."""
    return re.sub(_MODULE_VERSION, "", name) if "@v" in name else name


def _unescaped(path: str) -> str:
    """Return an import path without the linker's escapes, which are UTF-8 bytes."""
    return re.sub(_ESCAPES, _decoded, path) if "%" in path else path


def _decoded(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")


def shown(name: str) -> str:
    """Return a readable symbol: ``yaml.v3.F`` for ``yaml%2ev3.F``."""
    if "%" not in name or is_made_up(name):
        return name
    end = package_end(name)
    path = _unescaped(name[:end])
    readable = path.isprintable() and "\ufffd" not in path
    return path + name[end:] if readable else name


@lru_cache(_PACKAGES_CACHED)
def package_of(name: str) -> str:
    """Return the import path of the package that defines the symbol `name`.

    Escapes such as `%2e` are undone. Returns "" for names without a package: assembly
    (`memeqbody`), C, and symbols made up by the linker (`type:.eq.…`, `go:…`).
    """
    if is_made_up(name) or is_of_c(name):
        return ""
    plain = None if "%" in name or "@" in name else _PLAIN.match(name)
    return intern(plain[1] if plain else _split(name)[0])


def is_standard_library(package: str) -> bool:
    """Return whether the import path `package` ships with Go, by its first element."""
    first, _, _ = package.partition("/")
    return first in rules().standard_library


def versioned_folder(file: str) -> str:
    """Return the folder of a module's file with its version, "" for other files."""
    if "@v" not in file:
        return ""
    path = file.replace("\\", "/").rpartition("/")[0]
    _, mark, rest = path.partition("/pkg/mod/")
    return rest if mark else path


def normalise(name: str) -> tuple[str, ...]:
    """Return the names to look up for the symbol `name`, inner function first.

    Type arguments, ABI suffixes and closure parts are removed, and packages that moved
    get their present path. A closure that was inlined with its function yields the
    function it was written in, then those it was inlined into:
    `runtime.send.goready.func1` gives `runtime.goready`, then `runtime.send`.
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
    return name.removesuffix(".abi0").removesuffix(".abiinternal")


def _functions(names: str) -> list[str]:
    """Split a composite name into functions and methods, innermost first.

    A plain pair may be two functions or a method of a value type, which comes second.
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
    if name.startswith("runtime/internal/"):
        name = "internal/runtime/" + name.removeprefix("runtime/internal/")
    if name.startswith("internal/runtime/syscall."):
        name = "internal/runtime/syscall/linux." + name.partition(".")[2]
    return name


@lru_cache(_NAMES_CACHED)
def lookup(name: str) -> tuple[str, int]:
    """Return the name of the symbol `name` that a rule knows, and that rule.

    The rule is a position in `Rules.rules`, -1 if no rule knows the symbol. An
    innermost function with its own rule precedes one of the catch-all ``rt.other``.
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

    Functions that were renamed, split or specialised between Go releases get one name:
    `runtime.findrunnable` is `runtime.findRunnable`, every `runtime.mallocgc…` is
    `runtime.mallocgc`. Closures count as the innermost function that wrote them. Two
    functions of the same release may share a name here; see `versions.lacks`.
    """
    candidate, rule = lookup(name)
    if rule < 0:
        return name
    table = rules()
    target = table.aliases.find(candidate)
    return candidate if target < 0 else table.alias_targets[target]


def is_runtime_like(name: str) -> bool:
    """Return whether a rule knows the symbol `name` as part of the runtime.

    That includes package runtime, internal/runtime, the locks of package sync, system
    calls, timers, and assembly or C symbols that belong to them.
    """
    table = rules()
    if not table.heads.begin(name) or name in table.program:
        return False
    return lookup(name)[1] >= 0


def runtime_like(names: Sequence[str]) -> Mask:
    """Return whether `is_runtime_like` is true of each symbol (bool, one per name)."""
    mask = np.zeros(len(names), np.bool_)
    for row, name in rules().heads.matching(names):
        mask[row] = is_runtime_like(name)
    return mask


def canonical_parts(name: str) -> tuple[str, str]:
    """Return (import path, rest) of the part of a symbol that is stable across builds.

    Closure numbers, type arguments, vendor directories, versions in import paths
    (`@v1.2.3`), escapes and directories of builds outside modules are removed; closures
    of package variables count as `init`, as they do since Go 1.21. The major version of
    a module (`/v2`) stays: it is another package. The path is `""` if there is no
    package.
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
    """Return what follows a package's path; its variables' closures are in `init`."""
    if not rest.startswith(("glob.", "init")):
        return rest
    return re.sub(_PACKAGE_INIT, "init", rest)


def canonical_path(path: str) -> str:
    """Return the part of an import path that is stable across builds."""
    if path.startswith("_/"):
        path = path.rpartition("/")[2]
    # Parts of the standard library moved to internal packages, as strconv in Go 1.26.
    return path.rpartition("/vendor/")[2].removeprefix("internal/")


def canonical_user(name: str) -> str:
    """Return the part of a symbol that is stable across builds; see `canonical_parts`.

    Closures of one function may share a key, so pair exact names first.
    """
    path, rest = canonical_parts(name)
    return f"{path}.{rest}" if path else rest


def moved_key(name: str, packages: Mapping[str, str]) -> str | None:
    """Return `name` with the path that its package moved to, None if it stayed."""
    path, _ = canonical_parts(name)
    if path not in packages or is_runtime_like(name):
        return None
    return f"{packages[path]}{name[package_end(name) :]}"
