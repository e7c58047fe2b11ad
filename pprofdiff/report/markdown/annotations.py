"""The verdict as workflow commands, which GitHub Actions shows beside the code.

What they are made of: docs.github.com, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.goruntime.names import is_standard_library, package_of
from pprofdiff.units import printable

__all__ = ["commands"]

_LEVELS = {"fail": "error", "cannot tell": "warning", "no data": "warning"}
# A module of another project: its files are not in this one's tree.
_OTHER_MODULE = re.compile(r"@v\d")
_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_MOST_OF_MODULE = 1 << 16
_DEEPEST = 64
# GitHub shows no more of a message.
_LONGEST = 4_000


def commands(verdict: Verdict, changed: Sequence[ChangedLines] = ()) -> list[str]:
    """Return ``::error`` for each rule that tripped, ``::warning`` for what is unsure.

    What could not be read is an ``::error`` too.

    A rule on a function names its source file, where that is in the working
    directory; its path is from the repository, as GitHub wants it. Where lines of it
    are among those that `changed`, they are named instead.
    """
    # The first of a function carries most.
    places = {one.function: one for one in reversed(changed) if not one.gone}
    unread = [
        f"::error title=pprofdiff::{_escaped(printable(line)[:_LONGEST])}"
        for line in verdict.unread
    ]
    return unread + [
        _command(_LEVELS[ruling.outcome], ruling, places.get(ruling.what))
        for ruling in verdict.rules
        if ruling.outcome in _LEVELS
    ]


def _command(level: str, ruling: Ruling, changed: ChangedLines | None) -> str:
    """Return one line that the runner understands."""
    properties = {"title": f"pprofdiff {ruling.rule}"}
    if changed is not None and _in_repository(changed.path):
        properties["file"] = changed.path
        properties["line"] = str(changed.start)
        properties["endLine"] = str(changed.end)
    elif path := _in_tree(ruling.file, ruling.what):
        properties["file"] = _from_repository(path)
        if ruling.line:
            properties["line"] = str(ruling.line)
    told = ",".join(
        f"{name}={_escaped(printable(value), in_property=True)}"
        for name, value in properties.items()
    )
    limit = f"; limit {ruling.limit}" if ruling.limit else ""
    needs = f"; {ruling.needs}" if ruling.needs else ""
    message = printable(f"{ruling.measured}{limit}{needs}")[:_LONGEST]
    return f"::{level} {told}::{_escaped(message)}"


def _escaped(text: str, *, in_property: bool = False) -> str:
    """Return a text that can neither end a command nor begin another."""
    marks = "%\r\n:," if in_property else "%\r\n"
    return "".join(f"%{ord(c):02X}" if c in marks else c for c in text)


def _in_tree(file: str, function: str) -> str:
    """Return the longest tail of a path that is a file of the working directory.

    Go's own files and those of other modules are not: `server.go` here is not the one
    of net/http.
    """
    if _OTHER_MODULE.search(file) or not _may_be_ours(package_of(function)):
        return ""
    parts = [part for part in re.split(r"[/\\]", file) if part][-_DEEPEST:]
    if ".." in parts:
        return ""
    tails = (os.path.join(*parts[start:]) for start in range(len(parts)))
    return next(filter(os.path.isfile, tails), "")


def _may_be_ours(package: str) -> bool:
    """Return whether a package may be of the working directory's module."""
    if is_standard_library(package):
        return False
    try:
        with open("go.mod", encoding="utf-8", errors="replace") as file:
            told = _MODULE.search(file.read(_MOST_OF_MODULE))
    except OSError:
        told = None
    module, named = told[1] if told else "", package.removesuffix("_test")
    return not module or named in ("main", module) or named.startswith(f"{module}/")


def _in_repository(path: str) -> bool:
    """Return whether the repository checked out has a file of this path."""
    root = os.environ.get("GITHUB_WORKSPACE", "")
    return os.path.isfile(os.path.join(root, path))


def _from_repository(path: str) -> str:
    """Return a path of the working directory as one of the repository checked out."""
    root = os.environ.get("GITHUB_WORKSPACE", "")
    if not root:
        return path
    rooted = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    return path if rooted.startswith("..") else rooted
