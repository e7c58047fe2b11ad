"""Fleets next to ``go tool pprof -proto``, which merges the files of one side.

Hosts are unlike, and new has `PLANTED` of all CPU more
in one function that has 1.4 % of it. Each fleet is made once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.measure import ROOT, BenchmarkError, run

PLANTED = 0.005
_EACH = 10
_PROGRAM = """
import json, os, resource, sys, time
import pprofdiff

if __name__ == "__main__":
    base, new, workers = sys.argv[1:]
    began = time.perf_counter()
    compared = pprofdiff.fleet(base, new, workers=int(workers))
    text = compared.to_text()
    wall = time.perf_counter() - began
    diff = compared["cpu"]
    moved = diff.functions[~diff.functions["noise_flat"].astype(bool)]
    peaks = [
        resource.getrusage(who).ru_maxrss * 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    used = sum(os.times()[:4])
    print(json.dumps({
        "wall": wall, "cpu": used, "client": peaks[0], "worker": peaks[1],
        "profiles": int(compared.hosts["profiles"].sum()),
        "totals": diff.data.totals, "moved": moved.index.tolist(),
    }))
"""


class Measured(NamedTuple):
    """One run: profiles of both sides, seconds, CPU seconds, peak bytes, functions that moved."""

    workers: int
    profiles: int
    wall: float
    cpu: float
    client: int
    worker: int
    totals: tuple[int, int]
    moved: tuple[str, ...]


def made(folder: Path, profiles: int) -> Path:
    """Return the folder of two fleets of so many profiles a side."""
    place = folder / f"fleet-{profiles}"
    done = place / "done"
    if done.exists():
        return place
    from tests.fleets import making

    hosts = max(profiles // _EACH, 2)
    for build, first, planted in ((1, 0, 0.0), (2, hosts, PLANTED)):
        making.write(
            place / f"build={build}", range(first, first + hosts),
            count=_EACH, samples=6000, planted=planted,
        )  # fmt: skip
    done.touch()
    return place


def measured(python: str, folder: Path, profiles: int, workers: int) -> Measured:
    """Return one run of `pprofdiff.fleet`; raises BenchmarkError if it fails."""
    program = folder / "fleet.py"
    program.write_text(_PROGRAM, "utf-8")
    place = folder / f"fleet-{profiles}"
    done = subprocess.run(
        [python, str(program), f"{place}/build=1/**/*.gz", f"{place}/build=2/**/*.gz",
         str(workers)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise BenchmarkError(done.stderr.strip()[-2000:])
    got = json.loads(done.stdout.splitlines()[-1])
    return Measured(
        workers, got["profiles"], got["wall"], got["cpu"], got["client"], got["worker"],
        tuple(got["totals"]), tuple(got["moved"]),
    )  # fmt: skip


def table(python: str, pprof: str, folder: Path, sizes: list[int]) -> str:
    """Return what each size takes with 0, 1 and 2 workers, next to pprof's merge."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f"{'profiles':>9} {'program':<12} {'wall s':>7} {'CPU s':>7} {'a second':>9}"
    lines = [f"{head} {'client MB':>10} {'worker MB':>10}  moved"]
    for size in sizes:
        subprocess.run(
            [python, "-m", "tests.benchmarks.fleets", str(folder), str(size)],
            check=True, cwd=ROOT,
        )  # fmt: skip
        files = sorted(map(str, (folder / f"fleet-{size}/build=1").rglob("*.gz")))
        alone = run([pprof, "-proto", f"-output={folder}/merged.pb.gz", *files])
        lines.append(
            f"{size:>9,} {'pprof -proto':<12} {alone.wall:>7.1f} "
            f"{alone.cpu:>7.1f} "
            f"{size / alone.wall:>9.0f} {alone.peak / 1e6:>10.0f} {'':>10}  (one side)"
        )
        runs = [measured(python, folder, size, workers) for workers in (0, 1, 2)]
        for one in runs:
            if one.totals != runs[0].totals:
                raise BenchmarkError("the number of workers changes the totals")
            name = f"{one.workers} workers"
            worker = f"{one.worker / 1e6:.0f}" if one.workers else ""
            lines.append(
                f"{one.profiles:>9,} {name:<12} {one.wall:>7.1f} "
                f"{one.cpu:>7.1f} "
                f"{one.profiles / one.wall:>9.0f} {one.client / 1e6:>10.0f} "
                f"{worker:>10}  {', '.join(one.moved)}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    made(Path(sys.argv[1]), int(sys.argv[2]))
