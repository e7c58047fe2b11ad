"""A function in both builds as one text: what is gone, what is added, what each costs."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.source.extents import Extent
from pprofdiff.analysis.source.listing import within
from pprofdiff.model.source import Hunk

OLD, NEW = Extent(10, 20), Extent(30, 45)


@pytest.mark.parametrize(
    ("hunk", "inside"),
    [
        (Hunk(12, 2, 33, 4), Hunk(12, 2, 33, 4)),
        (Hunk(12, 0, 33, 4), Hunk(12, 0, 33, 4)),
        (Hunk(12, 2, 33, 0), Hunk(12, 2, 33, 0)),
        (Hunk(2, 2, 3, 4), None),
        (Hunk(21, 2, 46, 4), None),
        (Hunk(8, 5, 28, 3), Hunk(10, 3, 30, 1)),
        (Hunk(19, 9, 45, 1), Hunk(19, 2, 45, 1)),
        (Hunk(1, 100, 1, 100), Hunk(10, 11, 30, 16)),
        (Hunk(2, 2, 44, 9), Hunk(10, 0, 44, 2)),
    ],
)
def test_the_part_of_a_hunk_in_a_function(hunk, inside):
    found = within(hunk, OLD, NEW)
    if inside is None or inside.base_count:
        assert found == inside
    else:
        # Without lines of base, only where they would stand matters: in the function.
        assert found[1:] == inside[1:]
        assert OLD.start - 1 <= found.base_start <= OLD.end
