"""``python -m tests.analysis.traces.capture`` makes the traces in `planted` again.

How long goroutines run depends on what else the machine does, so that tests read traces
that are kept: one of each mode of tests/workloads/waits.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tests.conftest import DATA

PLANTED = Path(__file__).parent / "planted"


def planted(mode: str) -> Path:
    """Return the trace of a mode."""
    return PLANTED / f"{mode}.trace"


def main() -> None:
    """Write the traces of all modes that there are."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "waits"
        build = ["go", "build", "-trimpath", "-o", str(program), "./waits"]
        subprocess.run(build, cwd=DATA.parent / "workloads", check=True)
        for path in sorted(PLANTED.glob("*.trace")):
            subprocess.run([str(program), path.stem, str(path)], check=True)


if __name__ == "__main__":
    main()
