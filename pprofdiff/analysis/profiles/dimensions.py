"""The dimensions of a profile's ledger: functions, and Go runtime costs.

Where code moved into a callee, or back, the same code costs the same in another
function. Samples cannot show that it is the same, but a caller that both sides have
owns its cost either way (`owners_in_both`).
"""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.ledger.views import Dimension, Ledger, View
from pprofdiff.analysis.profiles.rows import PairedRows
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import first_in_row
from pprofdiff.model.profiles.profile import Profile

BACKGROUND_MARK = (
    "gc.mark.dedicated",
    "gc.mark.fractional",
    "gc.mark.idle",
    "gc.mark.bg",
)
"""Categories of marking by GC workers, which have no call site."""


def dimensions(functions: PairedRows) -> dict[str, Dimension]:
    """Return the dimensions of each sample; see `ProfileDiff.ledger`."""
    size, ends = len(functions.names), functions.ends
    if ends is None:
        raise ValueError("rows are not functions")
    leaf, owner = (_of_union(functions, name) for name in ("leaf", "owner"))
    base, new = (
        np.where(own >= 0, own, last) for own, last in zip(owner, leaf, strict=True)
    )
    found = {
        "leaf": Dimension(size, leaf),
        "owner": Dimension(size, owner),
        "place": Dimension(size, (base, new)),
    }
    known = functions.attributions
    if known is None:
        return found
    group = np.array(rules().group_rows, np.int64)
    categories = known[0].category, known[1].category
    site = _of_union(functions, "payer")
    base, new = (
        np.where(own >= 0, own, called) for own, called in zip(owner, site, strict=True)
    )
    return found | {
        "site": Dimension(size, site),
        "payer": Dimension(size, (base, new)),
        "category": Dimension(len(rules().categories), categories),
        "group": Dimension(
            len(rules().groups), (group[categories[0]], group[categories[1]])
        ),
        "leaf_kind": Dimension(
            len(rules().leaf_kinds), (known[0].leaf_kind, known[1].leaf_kind)
        ),
    }


def _of_union(functions: PairedRows, name: str) -> tuple[Column, Column]:
    ends = functions.ends or ()
    base, new = (
        np.append(rows, -1)[getattr(side, name)]
        for side, rows in zip(ends, functions.union, strict=True)
    )
    return base, new


def by_leaf(ledger: Ledger) -> View:
    """Return sums by ``leaf`` and ``place`` over the samples that have a stack."""
    return ledger.by("leaf", "place").known("leaf")


def paid_by_site(ledger: Ledger) -> View:
    """Return runtime costs by ``category``, call ``site`` and ``owner``.

    Samples in category ``user`` and those with only runtime functions are left out. The
    owner is usually the site, or -1 if the stack has no function of the program.
    """
    sums = ledger.by("category", "site", "owner").known("site")
    return sums.where(sums["category"] != rules().categories.index("user"))


def owners_in_both(
    functions: PairedRows, profiles: tuple[Profile, Profile]
) -> tuple[Column, Column]:
    """Return the innermost function of the program that both sides have, per sample.

    If no function of a stack is in both, the innermost of its side. Functions are rows
    of the union, -1 for none.
    """
    there = np.zeros((2, len(functions.names)), np.bool_)
    for here, rows in zip(there, functions.union, strict=True):
        here[rows] = True
    program = np.array(owned(functions.names), np.bool_)
    both = program & there.all(axis=0)
    sides = []
    for side, profile in enumerate(profiles):
        of_line, found = functions.of_lines[side], np.full(len(profile), -1, np.int64)
        for start, stop, frames in walk(profile):
            rows = of_line[frames.line]
            first = first_in_row(both[rows], frames.offsets)
            first = np.where(
                first >= 0, first, first_in_row(program[rows], frames.offsets)
            )
            found[start:stop] = np.append(rows, -1)[first]
        sides.append(found)
    return sides[0], sides[1]
