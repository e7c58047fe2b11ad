"""Functions that moved between packages."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.wording import count, listed
from pprofdiff.analysis.policy import NAMED


def package_moved(case: Case) -> Iterator[Finding]:
    """Yield a finding where functions moved from a package of base to one of new."""
    moves = case.comparison.identity.moves.packages
    if not moves:
        return
    first, total = moves[0], sum(move.functions for move in moves)
    where = f"from {first.base} to {first.new}"
    if len(moves) > 1:
        others, more = len(moves) - 1, count(total - first.functions)
        several = "s" if others > 1 else ""
        where += f", {more} more from {count(others)} other package{several}"
    functions = f"{count(first.functions)} function{'s' if first.functions > 1 else ''}"
    also = [f"{move.base} to {move.new}" for move in moves[1 : NAMED + 1]]
    if len(moves) > NAMED + 1:
        also.append(f"{len(moves) - NAMED - 1} more")
    yield Finding(
        "package-moved",
        f"{functions} moved {where}",
        (f"Also: {listed(also)}. " if also else "")
        + "Each is compared with its namesake there.",
        tuple(
            Fact(
                f"{move.base} → {move.new}",
                "function names",
                move.functions,
                move.functions,
                "functions",
            )
            for move in moves
        ),
    )
