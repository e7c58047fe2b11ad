"""Benchmarks whose own code is not the same on both sides: they may do other work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress

__all__ = ["rewritten"]

# As gofmt writes it, a function's closing brace begins a line.
_FUNCTION = re.compile(rb"^func (Benchmark\w*)\(.*?^\}", re.MULTILINE | re.DOTALL)
_MOST = 1 << 24


def rewritten(base: str, new: str, names: Iterable[str]) -> list[str]:
    """Return which benchmarks' texts differ between a package's folders.

    What they call is not compared. One whose text is not found, as of code that no
    gofmt has seen, is not told.
    """
    before, after = _functions(base), _functions(new)
    return [
        name
        for name in names
        if name in before and name in after and before[name] != after[name]
    ]


def _functions(folder: str) -> dict[str, bytes]:
    """Return the text of each benchmark of a folder's tests."""
    texts = {}
    for file in sorted(os.listdir(folder)):
        if file.endswith("_test.go"):
            with suppress(OSError), open(os.path.join(folder, file), "rb") as source:
                for found in _FUNCTION.finditer(source.read(_MOST)):
                    texts[found[1].decode()] = found[0]
    return texts
