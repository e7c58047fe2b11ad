"""Make the runs: ``python -m tests.calibration.capture [FOLDER] [--runs 24] …``.

Of each workload, on a machine that does nothing else of ours (quiet) and with two busy
loops next to it (busy): RUNS runs of one build, and half as many of each planted build,
in which one function costs so many per cent of the run's CPU more. The runs of all
builds alternate: blocks of two unchanged runs and one of each planted build, in an
order that a fixed seed shuffles. A run is a process of its own and a folder
``WORKLOAD/CONDITION/BUILD/NUMBER`` with cpu.pb.gz, allocs.pb.gz, bench.txt, gctrace.log
and run.json (when, how long, load averages before and after).

What is there is not made again, so that an interrupted call is continued by the same
call; after a change of `programs`, give another folder. Nothing of it is committed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from pprofdiff.analysis.profiles.single import profile_sums
from pprofdiff.api import load
from tests.calibration.workloads import CONDITIONS, WORKLOADS, Workload

CACHE = Path.home() / ".cache" / "pprofdiff-calibration"
SIZES = (1, 2, 5, 10)
UNCHANGED = "unchanged"
# It ends by itself where this process was killed.
_BUSY = "while kill -0 $PPID; do i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done; done"
# A run's CPU, which says how many samples it has: 100 a second.
_SECONDS = 2.0
# Pilot runs of each build, and what part of the CPU the spinning one should add: so
# much that it is measured well, so little that all else is as it was.
_PILOTS, _LARGE = 4, 0.3


@dataclass(frozen=True)
class Plan:
    """What a pilot decides: operations a run, and rounds for one per cent more CPU."""

    operations: int
    spins: float
    pilot: int

    def rounds(self, build: str) -> int:
        """Return the rounds of a build, such as ``+5``."""
        if build == "pilot":
            return self.pilot
        return 0 if build == UNCHANGED else round(self.spins * float(build))


def cpu_share(paths: Sequence[Path], function: str) -> tuple[float, int]:
    """Return a function's share of all the CPU profiles, and their samples.

    With what the runtime puts in its place in a sample, runtime.asyncPreempt.
    """
    whole = own = 0
    for path in paths:
        sums = profile_sums(load(path).data, "cpu")
        whole += sums.total
        own += (
            int(sums.cum[sums.names.index(function)]) if function in sums.names else 0
        )
    return own / whole, whole // 10_000_000


def added(before: float, after: float) -> float:
    """Return the part of the CPU that was added, where a share became `after`."""
    return (after - before) / (1 - after)


@contextmanager
def competing(count: int) -> Iterator[None]:
    """Have so many busy processes run meanwhile."""
    busy = [subprocess.Popen(["sh", "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def measure(
    workload: Workload, place: Path, out: Path, rounds: int, operations: int
) -> None:
    """Run a build once, unless that was done; half a run leaves nothing."""
    if (out / "run.json").exists():
        return
    binary = place / "bin" / f"{workload.package}-{rounds}"
    if not binary.exists():
        binary.parent.mkdir(exist_ok=True)
        workload.build(rounds, binary)
    making = place / "making"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    before, begin = os.getloadavg(), time.time()
    workload.run(binary, place / "input", operations, making)
    got = {
        "start": begin,
        "seconds": time.time() - begin,
        "load_before": before,
        "load_after": os.getloadavg(),
        "rounds": rounds,
        "operations": operations,
    }
    (making / "run.json").write_text(json.dumps(got), "utf-8")
    out.parent.mkdir(parents=True, exist_ok=True)
    making.rename(out)


def plan(workload: Workload, place: Path, seconds: float = _SECONDS) -> Plan:
    """Return the workload's plan, made by pilot runs where there is none yet.

    A run is to take so many seconds of CPU.
    """
    path = place / "plan.json"
    if path.exists():
        return Plan(**json.loads(path.read_text("utf-8")))
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "input").exists():
        workload.input(place / "input")
    pilots = place / "pilot"

    def share(rounds: int, operations: int, name: str) -> tuple[float, int]:
        runs = [pilots / name / f"{number}" for number in range(_PILOTS)]
        for run in runs:
            measure(workload, place, run, rounds, operations)
        return cpu_share([run / "cpu.pb.gz" for run in runs], workload.planted)

    _, samples = share(0, workload.pilot, "first")
    operations = round(workload.pilot * _PILOTS * seconds * 100 / samples)
    before, _ = share(0, operations, UNCHANGED)
    after, _ = share(workload.trial, operations, "trial")
    rounds = round(workload.trial * _LARGE / max(added(before, after), 0.02))
    after, _ = share(rounds, operations, "pilot")
    made = Plan(operations, rounds / (100 * added(before, after)), rounds)
    path.write_text(json.dumps(asdict(made)), "utf-8")
    return made


def order(runs: int, sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield (build, number) in the order in which they are run.

    It is the same for any sizes, but for those that are left out.
    """
    shuffled = random.Random(15)
    for block in range(runs // 2):
        builds = [(UNCHANGED, 2 * block), (UNCHANGED, 2 * block + 1)]
        builds += [(f"+{size}", block) for size in SIZES]
        shuffled.shuffle(builds)
        kept = {UNCHANGED, *(f"+{size}" for size in sizes)}
        yield from (build for build in builds if build[0] in kept)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the runs that are not there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=CACHE)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS))
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS))
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="CPU of a run")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    asked = parser.parse_args(arguments)
    until = time.monotonic() + 60 * asked.minutes
    for condition in asked.conditions:
        for name in asked.workloads:
            place, workload = asked.folder / name, WORKLOADS[name]
            planned = plan(workload, place, asked.seconds)
            print(f"{name}, {condition}: {planned}", flush=True)
            with competing(CONDITIONS[condition]):
                for build, number in order(asked.runs, asked.sizes):
                    if time.monotonic() > until:
                        return
                    out = place / condition / build / f"{number:02d}"
                    rounds = planned.rounds(build)
                    measure(workload, place, out, rounds, planned.operations)


if __name__ == "__main__":
    main()
