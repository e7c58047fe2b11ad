"""Who owns a sample where code moved into a callee, or back.

The same code then costs the same in another function. Samples cannot show that it is
the same, but a caller that both sides have owns its cost either way.
"""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.ledger.codes import owned
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.profiles.rows import PairedRows
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import first_in_row
from pprofdiff.model.profiles.profile import Profile


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
