"""GC CPU per op as JSON, split into quantity and price."""

from __future__ import annotations

from typing import Any

from pprofdiff.analysis.account.gc import GCAccount
from pprofdiff.analysis.ledger.gc_price import FACTORS, Factor

Row = dict[str, Any]


def gc_row(account: GCAccount | None) -> Row | None:
    """Return what changed GC CPU per op, None if unknown.

    ``part`` is in ns/op. The parts of ``allocated`` and ``price`` add up to ``delta``,
    those of ``places`` to ``allocated``'s, those of ``factors`` to ``price``'s.
    """
    if account is None:
        return None
    split = account.split
    base, new = split.cpu
    return {
        "unit": "ns/op",
        "base": base,
        "new": new,
        "delta": split.delta,
        "sources": {"cpu": account.source[0], "allocated": account.source[1]},
        "allocated": _factor(split.allocated),
        "price": _factor(split.price),
        "factors": [_factor(factor) for factor in split.factors],
        "places": [
            {"function": place.id, **_values(place), "unit": "bytes/op"}
            for place in sorted(split.places, key=lambda one: -abs(one.part))
        ],
    }


def _factor(factor: Factor) -> Row:
    return {"id": factor.id, **_values(factor), "unit": FACTORS[factor.id].unit}


def _values(factor: Factor) -> Row:
    return {"base": factor.base, "new": factor.new, "part": factor.part}
