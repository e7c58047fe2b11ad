"""Two small real captures that ship with the package: ``pprofdiff demo``."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["arguments"]


def arguments() -> list[str]:
    """Return what to type to compare the two captures, by operation done."""
    here = Path(__file__).parent
    sides = here / "base", here / "new"
    work = [json.loads((s / "work.json").read_text())["operations"] for s in sides]
    return [f"--work={work[0]}:{work[1]}", f"base={sides[0]}", f"new={sides[1]}"]
