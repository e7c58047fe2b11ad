"""The command line with short rounds: what benchmarks of tests cost is hidden from nobody."""

from __future__ import annotations

import sys
from pathlib import Path

from pprofdiff.cli.main import main
from pprofdiff.measure import gotest, planning

# Turns of a round take a fifth of the time, and samples of all rounds a third.
ROUND_S, _SAMPLED_S = 0.6, 1.0
# The words that start it.
PROGRAM = (sys.executable, "-W", "error", str(Path(__file__)))

if __name__ == "__main__":
    planning._ROUND_S, gotest._SAMPLED_S = ROUND_S, _SAMPLED_S
    sys.exit(main())
