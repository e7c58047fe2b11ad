"""The report as JSON, schema ``pprofdiff/1``."""

from typing import Any

from pprofdiff.analysis.judge.scaling import Normalization

Row = dict[str, Any]
"""A JSON object."""


def scaled_row(by: Normalization, base: int, new: int) -> Row:
    """Return raw values of base and new, and their delta, as tables show them."""
    old, now = by.scaled(base, new)
    return {"base_scaled": old, "new_scaled": now, "delta_scaled": by.delta(base, new)}
