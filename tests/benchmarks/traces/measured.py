"""Traces read by pprofdiff, go tool trace and Go's bare summary, in turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.benchmarks.measure import ROOT, BenchmarkError, compared
from tests.benchmarks.traces.table import TraceRow


def measured(
    python: str,
    command: list[str],
    inputs: Path,
    sizes: list[str],
    workloads: list[str],
    rounds: int,
) -> list[TraceRow]:
    """Return a row for each workload and size; traces are made if need be.

    `sizes` are megabytes; `command` is pprofdiff, with {base} and {new} for its files.
    Whatever imports numpy or builds Go programs runs in a process of its own.
    """
    trace = _said(["go", "tool", "-n", "trace"])[0]
    bare = _said([python, "-m", "tests.benchmarks.traces.bare"])[0]
    module = "tests.benchmarks.traces"
    rows = []
    for workload in workloads:
        for size in sizes:
            make = [python, "-m", f"{module}.files", str(inputs), workload, size]
            base, new = _said(make)
            commands = [
                [trace, "-pprof=sched", base],
                [trace, "-pprof=sched", new],
                [bare, "bare", new],
                [python, "-m", f"{module}.whole", new],
                [word.format(base=base, new=new) for word in command],
            ]
            sizes_mb = [Path(path).stat().st_size / 1e6 for path in (base, new)]
            name = f"{workload}, {sizes_mb[0]:.2g} and {sizes_mb[1]:.2g} MB"
            row = TraceRow(name, compared(commands, rounds))
            rows.append(row)
            print(f"{name}: {row.ratios()}", file=sys.stderr, flush=True)
    return rows


def _said(command: list[str]) -> list[str]:
    """Return the lines that a program prints; raises BenchmarkError if it fails."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchmarkError(f"failed: {' '.join(command)}") from error
    return done.stdout.splitlines()
