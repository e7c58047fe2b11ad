"""Two small real captures that ship with the package: ``pprofdiff demo``."""

from __future__ import annotations

import json
from pathlib import Path

_SIDES = ("base", "new")


def arguments() -> list[str]:
    """Return what to type to compare the two captures per op."""
    here = Path(__file__).parent
    work = json.loads((here / "work.json").read_text())
    return [
        f"--work={':'.join(str(work[side]) for side in _SIDES)}",
        *(f"{side}={here / side}" for side in _SIDES),
    ]


def installed_in() -> str:
    """Return the folder that the package is installed in, which names may leave out."""
    return str(Path(__file__).parents[2])
