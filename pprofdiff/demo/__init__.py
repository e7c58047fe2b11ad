"""Two small real captures that ship with the package: ``pprofdiff demo``."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["arguments"]


def arguments() -> list[str]:
    """Return what to type to compare the two captures, by operation done."""
    here = Path(__file__).parent
    work = [
        json.loads((here / side / "work.json").read_text())["operations"]
        for side in ("base", "new")
    ]
    return [
        f"--work={work[0]}:{work[1]}",
        f"base={here / 'base'}",
        f"new={here / 'new'}",
    ]
