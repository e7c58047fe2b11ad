"""Today's pairing of rows behind the interface that the oracle asks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from pprofdiff.analysis.profiles.granularity import (
    files_of_functions,
    pair_side_rows,
    side_rows,
)
from pprofdiff.identity.moves import package_moves
from pprofdiff.model.profiles.profile import Profile

__all__ = ["Today", "identify"]


class Today:
    """Which function of base is which of new, by names alone."""

    def __init__(self, partners: dict[str, str]) -> None:
        self.partners = partners

    def base_of(self, symbol: str) -> str | None:
        """Return the symbol of base that is the function `symbol` of new, or None."""
        return self.partners.get(symbol)


def identify(base: Sequence[Profile], new: Sequence[Profile]) -> Today:
    """Pair the functions of two sides, profile by profile of one kind."""
    files = [
        {n: f for one in side for n, f in files_of_functions(one).items()}
        for side in (base, new)
    ]
    moves = package_moves(*files)
    partners = {name: name for name in files[1] if name in files[0]}
    for old, now in zip_longest(base, new):
        if old is None or now is None:
            continue
        rows = (
            side_rows(old, "functions", moves.of_base),
            side_rows(now, "functions", moves.of_new),
        )
        pairing = pair_side_rows(*rows)
        for was, row in zip(
            pairing.base_row.tolist(), pairing.new_row.tolist(), strict=True
        ):
            if was >= 0 and row >= 0:
                partners.setdefault(rows[1].names[row], rows[0].names[was])
    return Today(partners)
