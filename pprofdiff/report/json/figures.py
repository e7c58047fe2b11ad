"""What a figure's declaration says, in JSON."""

from __future__ import annotations

from typing import Any

from pprofdiff.analysis.figures.figure import Figure


def declaration(figure: Figure[Any]) -> dict[str, Any]:
    """Return the id, label and unit of a figure, and which way is worse, or None."""
    return {
        "id": figure.key,
        "label": figure.label,
        "unit": figure.unit,
        "worse_if": figure.worse or None,
    }
