"""Goroutine leak profiles: built by hand, and one of a program that leaks every way.

``python -m tests.analysis.leaking`` makes the program's again, with Go 1.26.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from pprofdiff.model.profiles.profile import ValueType
from tests.analysis.growing import CAPTURES, goroutines

PROGRAM = Path(__file__).parents[1] / "workloads" / "leaks"
LEAKED = CAPTURES / "leaked"

_DUMPED = re.compile(
    r"goroutine \d+ \[([^\]]*) \(leaked\)[^\]]*\]:\n(.*?)\n\n", re.DOTALL
)
_FRAME = re.compile(r"(main\..*)\(.*\)\n\t.*/(main\.go:\d+)")


def leaks(places):
    """Return a goroutine leak profile: {stack: number}."""
    types = (ValueType("goroutineleak", "count"),)
    return replace(goroutines(places), sample_types=types, period_type=types[0])


def dumped():
    """Return how many goroutines wait by (function, why, line), as Go's dump says."""
    text = f"{(LEAKED / 'goroutineleak.txt').read_text('utf-8')}\n\n"
    found: Counter[tuple[str, str, str]] = Counter()
    for why, stack in _DUMPED.findall(text):
        function, line = _FRAME.search(stack).groups()
        found[function, why, line] += 1
    return found


def main():
    """Make the profile and the dump again."""
    env = dict(os.environ, GOEXPERIMENT="goroutineleakprofile")
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "leaks"
        build = ["go", "build", "-trimpath", "-o", str(program), "."]
        subprocess.run(build, cwd=PROGRAM, env=env, check=True)
        LEAKED.mkdir(parents=True, exist_ok=True)
        subprocess.run([program, str(LEAKED)], check=True)


if __name__ == "__main__":
    main()
