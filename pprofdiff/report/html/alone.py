"""The flame graph as a page of its own, for an iframe in a notebook."""

from __future__ import annotations

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.report.html.flame import embedded, packed
from pprofdiff.report.html.shell import shell, template
from pprofdiff.units import printable

__all__ = ["flame_page"]

# Bytes of the tree at most: a notebook holds several.
_CAP = 20_000


def flame_page(diff: ProfileDiff, budget: int = 1_500) -> str:
    """Return a page that holds one comparison's flame graph and asks for nothing.

    Of the tree it has the `budget` heaviest functions at most.
    """
    text: str = template("flame.html.j2").render(
        **shell(notebook=True),
        labels=[printable(side.label) for side in (diff.base, diff.new)],
        name=printable(diff.name),
        flames=[embedded(packed(diff, budget=budget, cap=_CAP))],
    )
    return text.lstrip() + "\n"
