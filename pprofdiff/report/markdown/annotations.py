"""The verdict as workflow commands, which GitHub Actions shows beside the code.

What they are made of: docs.github.com, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.report.markdown.checkout import repository_path
from pprofdiff.units import printable

__all__ = ["commands"]

_LEVELS = {"fail": "error", "cannot tell": "warning", "no data": "warning"}
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
    elif path := repository_path(ruling.file, ruling.what):
        properties["file"] = path
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


def _in_repository(path: str) -> bool:
    """Return whether the repository checked out has a file of this path."""
    root = os.environ.get("GITHUB_WORKSPACE", "")
    return os.path.isfile(os.path.join(root, path))
