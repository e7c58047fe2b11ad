"""Which side runs first in each turn."""

from __future__ import annotations

from pprofdiff.measure.sides import SideName


def order(number: int) -> tuple[SideName, SideName]:
    """Return the order of the sides in a turn, counted from 0.

    It follows the Thue-Morse sequence, so a drift that is linear or quadratic in time
    affects both sides alike (golang/go#63233).
    """
    return ("new", "base") if number.bit_count() % 2 else ("base", "new")
