"""The verdict as workflow commands, which GitHub Actions shows next to the code.

See docs.github.com, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.report.markdown.links import repository_path
from pprofdiff.units import printable

_LEVELS = {"fail": "error", "cannot tell": "warning", "no data": "warning"}
# GitHub shows no more of a message.
_LONGEST = 4_000


def commands(verdict: Verdict, changed: Sequence[ChangedLines] = ()) -> list[str]:
    """Return ``::error`` for each rule that tripped, ``::warning`` for undecided ones.

    Inputs that could not be read are an ``::error`` too. A rule on a function names its
    lines in `changed`, else its source file, if that is in the working directory.
    """
    # A function's first entry carries most of the cost.
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
    properties = {"title": f"pprofdiff {ruling.rule}"}
    root = os.environ.get("GITHUB_WORKSPACE", "")
    if changed is not None and os.path.isfile(os.path.join(root, changed.path)):
        properties["file"] = changed.path
        properties["line"] = str(changed.start)
        properties["endLine"] = str(changed.end)
    elif path := repository_path(ruling.file, ruling.what):
        properties["file"] = path
        if ruling.line:
            properties["line"] = str(ruling.line)
    listed = ",".join(
        f"{name}={_escaped(printable(value), in_property=True)}"
        for name, value in properties.items()
    )
    limit = f"; limit {ruling.limit}" if ruling.limit else ""
    needs = f"; {ruling.needs}" if ruling.needs else ""
    message = printable(f"{ruling.measured}{limit}{needs}")[:_LONGEST]
    return f"::{level} {listed}::{_escaped(message)}"


def _escaped(text: str, *, in_property: bool = False) -> str:
    """Return a text that cannot end a command or begin another."""
    marks = "%\r\n:," if in_property else "%\r\n"
    return "".join(f"%{ord(c):02X}" if c in marks else c for c in text)
