"""Remove the paths of the measuring or building machine from a side."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from pprofdiff.goruntime.names import package_of
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.profiles.tables import used_strings
from pprofdiff.model.side import Capture, Side

if TYPE_CHECKING:
    from pprofdiff.model.benchmarks import Benchmarks
    from pprofdiff.model.traces.trace import Trace

_LOCAL = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|(?:.*[/\\])?\.{1,2}[/\\]")
_SEPARATOR = re.compile(r"[/\\]")
# Go without modules names a package outside GOPATH after its folder.
_FOLDER_AS_PACKAGE = re.compile(r"(?<![\w.])_/(?:[^/()\[\]{},;*\s]+/)*")


def without_paths(side: Side) -> Side:
    """Return the side with files named as ``go build -trimpath`` names them.

    A source file becomes its function's package and its base name,
    ``net/http/server.go``; a binary becomes its base name. A profile's comments and
    documentation URL are removed. Names of inputs stay: `redaction` replaced them.
    """
    return replace(side, captures=tuple(map(_anonymous, side.captures)))


def _anonymous(capture: Capture[Any]) -> Capture[Any]:
    change = KINDS[capture.kind].anonymous
    if not change:
        return capture
    return replace(capture, content=resolve(change)(capture.content))


def profile_without_paths(profile: Profile) -> Profile:
    """Return the profile without local paths, in columns and in strings."""
    functions = profile.functions
    strings = [_renamed(text) for text in profile.strings]
    places = {text: i for i, text in reversed(list(enumerate(strings)))}
    files = [
        _placed(strings[name], strings[file], places, strings)
        for name, file in zip(
            functions.name.tolist(), functions.filename.tolist(), strict=True
        )
    ]
    named = replace(
        profile,
        strings=tuple(strings),
        functions=replace(functions, filename=np.array(files, np.int32)),
    )
    used = used_strings(named).tolist()
    return replace(
        named,
        strings=tuple(t if u else "" for t, u in zip(strings, used, strict=True)),
        mappings=tuple(
            replace(one, file=_last_part(one.file)) for one in profile.mappings
        ),
        comments=(),
        doc_url="",
    )


def trace_without_paths(trace: Trace) -> Trace:
    """Return the trace without local folders in its frames' files."""
    stacks, strings = trace.stacks, [_renamed(text) for text in trace.strings]
    places = {text: i for i, text in reversed(list(enumerate(strings)))}
    pairs = stacks.function.astype(np.int64) << 32 | stacks.file.astype(np.int64)
    distinct, place = np.unique(pairs, return_inverse=True)
    files = [
        _placed(strings[pair >> 32], strings[pair & 0xFFFFFFFF], places, strings)
        for pair in distinct.tolist()
    ]
    file = np.array(files, np.int32)[place.reshape(-1)]
    stacks = replace(stacks, file=file)
    return dataclasses.replace(trace, strings=tuple(strings), stacks=stacks)


def _placed(
    function: str, file: str, places: dict[str, int], strings: list[str]
) -> int:
    """Return the position of a file's name without its folder, added if new.

    `places` are the positions of all `strings`.
    """
    if _LOCAL.match(file):
        package, last = package_of(function), _last_part(file)
        file = f"{package}/{last}" if package else last
    if file not in places:
        places[file] = len(strings)
        strings.append(file)
    return places[file]


def benchmarks_without_paths(benchmarks: Benchmarks) -> Benchmarks:
    """Return benchmarks whose configuration names no local folder."""
    return benchmarks._replace(
        results=tuple(
            result._replace(
                config=tuple(
                    (key, _last_part(text) if _LOCAL.match(text) else _renamed(text))
                    for key, text in result.config
                )
            )
            for result in benchmarks.results
        )
    )


def _last_part(path: str) -> str:
    return _SEPARATOR.split(path.rstrip("/\\"))[-1]


def _renamed(text: str) -> str:
    return _FOLDER_AS_PACKAGE.sub("", text) if "_/" in text else text
