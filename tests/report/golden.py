"""Golden files: reports as they were last looked at, named by their arguments.

``PPROFDIFF_GOLDEN=write python -m pytest tests/report`` writes them anew; every test
that wrote one is reported as skipped, so that none is renewed unseen.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"


def check(name, text):
    """Compare text with the golden file of this name, or write it if asked to."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("PPROFDIFF_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        pytest.skip(f"wrote {path.name}: look at what git diff shows")
    if not path.exists():
        pytest.fail(f"there is no {path.name}; PPROFDIFF_GOLDEN=write makes it")
    assert text.splitlines() == path.read_text("utf-8").splitlines()
