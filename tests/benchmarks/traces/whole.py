"""Everything that pprofdiff finds in one trace, from Python: a program to be measured.

    python -m tests.benchmarks.traces.whole FILE

It loads the trace and asks for what the report of two would show of it, and for the
profile that ``go tool trace -pprof=sched`` writes.
"""

from __future__ import annotations

import sys

import pprofdiff
from pprofdiff.analysis.traces.catalogue import MMU
from pprofdiff.analysis.traces.latency import by_cause
from pprofdiff.analysis.traces.mutators import mmu, utilisation
from pprofdiff.analysis.traces.side import TraceSide


def analyse(path: str) -> None:
    """Load a trace and work out all of its figures."""
    loaded = pprofdiff.load(path)
    side = TraceSide("new", path, loaded.data, 0)
    assert len(side.groups.names)
    assert side.latency.count >= 0
    by_cause(side.waits)
    assert side.collections.started >= 0
    assert side.processors.utilisation is not None
    curve = utilisation(side.trace)
    for window in MMU:
        if window <= side.wall_ns:
            mmu(curve, window)
    loaded.export("sched")


if __name__ == "__main__":
    analyse(sys.argv[1])
