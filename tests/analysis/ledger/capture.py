"""``python -m tests.analysis.ledger.capture`` measures the planted package again.

Runs of `base`, `new` and `again` (base once more) stand next to each other in time. Each
has what ``go test -bench . -benchmem -cpuprofile -memprofile`` writes, and in
`executed.txt` how often each benchmark ran, which go test does not say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.traces.toolchains import environment

CAPTURES = Path(__file__).parent / "captures"
PACKAGE = Path(__file__).parents[2] / "workloads" / "codec"
RUNS = 5
# What each side is built with.
SIDES = {"base": (), "new": ("-tags", "planted"), "again": ()}
# Profiles name the path of the program: one that says nothing of the machine.
BIN = Path("/dev/shm/workloads")  # noqa: S108 - no secret, and one user


def main() -> None:
    """Build both sides, and measure them in turns."""
    shutil.rmtree(CAPTURES, ignore_errors=True)
    BIN.mkdir(parents=True, exist_ok=True)
    programs = {side: BIN / f"codec-{side}.test" for side in SIDES}
    for side, tags in SIDES.items():
        command = ["go", "test", "-c", "-trimpath", *tags, "-o", str(programs[side])]
        subprocess.run([*command, "."], cwd=PACKAGE, check=True)
    for run in range(1, RUNS + 1):
        for side, program in programs.items():
            folder = CAPTURES / side / f"r{run}"
            folder.mkdir(parents=True)
            flags = "bench=. run=^$ benchtime=500ms benchmem=true cpuprofile=cpu.pb.gz"
            command = [str(program), *(f"-test.{flag}" for flag in flags.split())]
            command.append("-test.memprofile=allocs.pb.gz")
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment() | {"EXECUTED": "executed.txt"},
                check=True,
                capture_output=True,
            )
            (folder / "bench.txt").write_bytes(done.stdout)
    for program in programs.values():
        os.unlink(program)


if __name__ == "__main__":
    main()
