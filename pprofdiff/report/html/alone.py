"""The flame graph as a standalone page, for an iframe in a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.frames import numbered
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.report.html.chains import VIEW, packed_chains
from pprofdiff.report.html.flame import packed
from pprofdiff.report.html.packing import embedded
from pprofdiff.report.html.shell import shell, template
from pprofdiff.units import printable

# Maximum bytes of the tree: a notebook holds several.
_CAP = 20_000


def flame_page(
    diff: ProfileDiff | TraceDiff, budget: int = 1_500, causes: Sequence[Finding] = ()
) -> str:
    """Return a self-contained page with one comparison's flame graph; of traces, waits.

    `budget` limits its functions. Functions of `causes` have their numbers.
    """
    if isinstance(diff, TraceDiff):
        name, flame = VIEW, packed_chains(diff, budget=budget)
    else:
        name = diff.name
        flame = packed(diff, budget=budget, cap=_CAP, causes=numbered(causes))
    text: str = template("flame.html.j2").render(
        **shell(notebook=True),
        labels=[printable(side.label) for side in (diff.base, diff.new)],
        name=printable(name),
        flames=[embedded(flame)],
    )
    return text.lstrip() + "\n"
