"""List the objects that arguments name, in any store that fsspec supports."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pprofdiff.errors import FetchError, UsageError
from pprofdiff.inputs.decompression import size_text
from pprofdiff.inputs.places import common_label, in_folder, is_label, without_login
from pprofdiff.units import printable

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::?//|[A-Za-z][A-Za-z0-9+.-]*::")
_MAGIC = re.compile(r"[*?\[]")
_STDIN = "@-"
# The longest list of object names to read: enough for two million.
_LONGEST_LIST = 1 << 28


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects of one store: an fsspec file system, and sorted paths in it."""

    store: Any
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The objects of one side's arguments; `place` is the name shown."""

    label: str | None
    place: str
    objects: tuple[Objects, ...]

    def __len__(self) -> int:
        return sum(len(one.paths) for one in self.objects)


def read_once(arguments: Iterable[str]) -> None:
    """Raise UsageError if names would be read from standard input twice."""
    if sum(argument == _STDIN for argument in arguments) > 1:
        raise UsageError(f"{_STDIN}: standard input can be read only once")


def paths_of(sources: Iterable[Source]) -> Iterator[str]:
    """Yield the names of all objects."""
    return (path for source in sources for one in source.objects for path in one.paths)


def source_of(arguments: tuple[str, ...], word: str) -> Source:
    """Return the objects that one side's arguments name, without duplicates.

    An argument is a URL or a path, optionally with ``*``, ``**``, ``?`` and ``[…]``, a
    folder (everything in it), ``@FILE``, whose lines are names, or ``@-``, names on
    standard input; each may follow ``label=``. `word` names the side in errors.

    Raises FetchError: nothing is found, or the store cannot be listed. Raises
    UsageError: a store's library is not installed, or the scheme is unknown.
    """
    labels: list[str | None] = []
    places: list[str] = []
    stores: dict[int, tuple[Any, set[str]]] = {}
    for argument in arguments:
        label, target = _labelled(argument)
        labels.append(label)
        places.append(printable(without_login(target)))
        for store, paths in _listed(target):
            stores.setdefault(id(store), (store, set()))[1].update(paths)
    label = common_label(labels)
    objects = tuple(
        Objects(store, tuple(sorted(paths)))
        for store, paths in stores.values()
        if paths
    )
    place = ", ".join(places)
    if not objects:
        raise FetchError(f"{place}: no object of {word} has such a name")
    return Source(label, place, objects)


def _labelled(argument: str) -> tuple[str | None, str]:
    """Return (label, target) of an argument; a path containing ``=`` has no label."""
    label, equals, rest = argument.partition("=")
    plain = equals and rest and is_label(label) and not in_folder(label)
    plain = plain and not re.search(r"[@*?\[]", label)
    if not plain or os.path.exists(argument) or _SCHEME.match(argument):
        return None, argument
    named = _SCHEME.match(rest) or rest.startswith(("@", "/", ".")) or _there(rest)
    return (label, rest) if named else (None, argument)


def _there(path: str) -> bool:
    """Return whether a local path, or the folder where its pattern starts, exists."""
    before = _MAGIC.split(path, maxsplit=1)[0]
    return os.path.exists(before if before == path else os.path.dirname(before) or ".")


def _listed(target: str) -> Iterator[tuple[Any, list[str]]]:
    if target.startswith("@") and not os.path.exists(target):
        yield from _of_list(target)
        return
    store, path = _opened(target)
    try:
        if _MAGIC.search(path) and not _is_file(store, path):
            names = store.glob(path, detail=True)
            files = [n for n, about in names.items() if about["type"] == "file"]
            # A pattern that matches only folders means everything in them.
            yield store, files or [n for folder in names for n in store.find(folder)]
        elif _is_file(store, path):
            yield store, [path]
        else:
            yield store, store.find(path)
    except FileNotFoundError:
        return
    except Exception as error:  # noqa: BLE001 - each store has its own errors
        raise FetchError(f"{_shown(target)}: {_reason(error)}") from None


def _is_file(store: Any, path: str) -> bool:  # noqa: ANN401 - an fsspec store
    """Return whether an object has exactly this name; for a pattern, only locally."""
    if _MAGIC.search(path):
        return os.path.isfile(path) and "file" in _protocols(store)
    return bool(store.isfile(path))


def _protocols(store: Any) -> tuple[str, ...]:  # noqa: ANN401 - likewise
    names = store.protocol
    return (names,) if isinstance(names, str) else tuple(names)


def _of_list(target: str) -> Iterator[tuple[Any, list[str]]]:
    name = target[1:]
    if not name:
        raise UsageError("@ names no list: give @FILE, or @- for standard input")
    try:
        if name == "-":
            text = sys.stdin.buffer.read(_LONGEST_LIST + 1)
        else:
            with open(name, "rb") as file:
                text = file.read(_LONGEST_LIST + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FetchError(f"{printable(name)}: {reason}") from None
    if len(text) > _LONGEST_LIST:
        raise FetchError(
            f"@{printable(name)}: holds more than {size_text(_LONGEST_LIST)}; give a "
            "list of names, one per line"
        )
    stores: dict[int, tuple[Any, list[str]]] = {}
    for line in text.splitlines():
        named = line.decode("utf-8", "surrogateescape").strip()
        if named:
            store, path = _opened(named)
            stores.setdefault(id(store), (store, []))[1].append(path)
    yield from stores.values()


def _opened(target: str) -> tuple[Any, str]:
    """Return (store, path within it); raises UsageError."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise UsageError(
            "many profiles at once need more: pip install 'pprofdiff[fleet]'"
        ) from None
    try:
        store, path = url_to_fs(target)
    except ImportError as error:
        raise UsageError(f"{_shown(target)}: {_reason(error)}") from None
    except FileNotFoundError:
        raise FetchError(f"{_shown(target)}: no such file") from None
    except Exception as error:  # noqa: BLE001 - each store has its own errors
        raise UsageError(f"{_shown(target)}: {_reason(error)}") from None
    return store, path


def _shown(target: str) -> str:
    return printable(without_login(target))


def _reason(error: Exception) -> str:
    """Return the first line of a library's error message."""
    lines = str(error).strip().splitlines()
    return printable(lines[0].rstrip(" :")) if lines else type(error).__name__
