"""Find benchmarks whose own code differs between the sides: they may do other work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pprofdiff.analysis.source.extents import declared

_MOST = 1 << 24

_Files = dict[str, list[str]]


def rewritten(base: str, new: str, names: Iterable[str]) -> list[str]:
    """Return which benchmarks' source text differs between two package folders.

    Their callees are not compared. A benchmark whose source is not found is left out.
    """
    before, after = _tests(base), _tests(new)
    rewritten_names = []
    for name in names:
        texts = _text(before, name), _text(after, name)
        if None not in texts and texts[0] != texts[1]:
            rewritten_names.append(name)
    return rewritten_names


def _tests(folder: str) -> _Files:
    """Return the lines of a folder's test files, by file name."""
    files: _Files = {}
    for file in sorted(os.listdir(folder)):
        if file.endswith("_test.go"):
            with suppress(OSError), open(os.path.join(folder, file), "rb") as source:
                text = source.read(_MOST).decode("utf-8", "replace")
                files[file] = text.splitlines()
    return files


def _text(files: _Files, name: str) -> Sequence[str] | None:
    """Return a benchmark's lines, None if no file declares it."""
    for file, lines in files.items():
        extent = declared(lines, f"main.{name}", file)
        if extent is not None:
            return lines[extent.start - 1 : extent.end]
    return None
