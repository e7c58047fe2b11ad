"""Side without the paths of the machine that measured or built it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.side import Side
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.profiles.profile import Mapping, Profile

if TYPE_CHECKING:
    from pprofdiff.model.benchmarks import Benchmarks
    from pprofdiff.model.traces.trace import Trace

__all__ = ["without_paths"]

_LOCAL = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|(?:.*[/\\])?\.{1,2}[/\\]")
_SEPARATOR = re.compile(r"[/\\]")
# Go without modules names a package outside GOPATH after its folder.
_FOLDER_AS_PACKAGE = re.compile(r"(?<![\w.])_/(?:[^/()\[\]{},;*\s]+/)*")


def without_paths(evidence: Side) -> Side:
    """Return the evidence with files named as ``go build -trimpath`` names them.

    A source file is its function's package and its last part, ``net/http/server.go``;
    a binary is its last part. Paths that are not of a machine stay. What else a
    profile says of itself, its comments and page, is left out. The names of inputs
    are those of `sources`.
    """
    return evidence._replace(
        runs=tuple(r._replace(profile=_profile(r.profile)) for r in evidence.runs),
        traces=tuple(t._replace(trace=_trace(t.trace)) for t in evidence.traces),
        benchmarks=tuple(
            b._replace(benchmarks=_benchmarks(b.benchmarks))
            for b in evidence.benchmarks
        ),
    )


def _profile(profile: Profile) -> Profile:
    """Return the profile without paths, in its columns as in its strings."""
    functions, labels = profile.functions, profile.labels
    strings = [_renamed(text) for text in profile.strings]
    held = {text: i for i, text in reversed(list(enumerate(strings)))}
    files = [
        _placed(strings[name], strings[file], held, strings)
        for name, file in zip(
            functions.name.tolist(), functions.filename.tolist(), strict=True
        )
    ]
    functions = replace(functions, filename=np.array(files, np.int32))
    used = np.zeros(len(strings), np.bool_)
    for column in (
        *(functions.name, functions.system_name, functions.filename),
        *(labels.key, labels.text, labels.unit),
    ):
        used[column] = True
    return replace(
        profile,
        strings=tuple(
            t if u else "" for t, u in zip(strings, used.tolist(), strict=True)
        ),
        functions=functions,
        mappings=tuple(map(_mapping, profile.mappings)),
        comments=(),
        doc_url="",
    )


def _mapping(mapping: Mapping) -> Mapping:
    return replace(mapping, file=_last_part(mapping.file))


def _trace(trace: Trace) -> Trace:
    """Return the trace with files of frames that name no folder of a machine."""
    stacks, strings = trace.stacks, [_renamed(text) for text in trace.strings]
    held = {text: i for i, text in reversed(list(enumerate(strings)))}
    pairs = stacks.function.astype(np.int64) << 32 | stacks.file.astype(np.int64)
    distinct, place = np.unique(pairs, return_inverse=True)
    files = [
        _placed(strings[pair >> 32], strings[pair & 0xFFFFFFFF], held, strings)
        for pair in distinct.tolist()
    ]
    file = np.array(files, np.int32)[place.reshape(-1)]
    return replace(trace, strings=tuple(strings), stacks=replace(stacks, file=file))


def _placed(function: str, file: str, held: dict[str, int], strings: list[str]) -> int:
    """Return the position of a file's name without its folder, added if it is new."""
    if _LOCAL.match(file):
        package, last = package_of(function), _last_part(file)
        file = f"{package}/{last}" if package else last
    if file not in held:
        held[file] = len(strings)
        strings.append(file)
    return held[file]


def _benchmarks(benchmarks: Benchmarks) -> Benchmarks:
    """Return benchmarks whose configuration names no folder."""
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
    """Return what stands after the last separator that something follows."""
    return _SEPARATOR.split(path.rstrip("/\\"))[-1]


def _renamed(text: str) -> str:
    """Return a symbol without the folder that stands for its package."""
    return _FOLDER_AS_PACKAGE.sub("", text) if "_/" in text else text
