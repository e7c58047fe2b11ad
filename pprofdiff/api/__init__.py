"""The API for notebooks and scripts: `load`, `diff`, `compare`, `fleet`, `bisect` ….

Objects are immutable: every method returns a new one.
"""

from __future__ import annotations

from pprofdiff.api.benchmarks import (
    Benchmarks,
    BenchmarksDiff,
    LoadsDiff,
    LoadSummary,
)
from pprofdiff.api.bisection import Bisection, bisect
from pprofdiff.api.builds import Builds
from pprofdiff.api.calls import compare, diff, load, load_many
from pprofdiff.api.comparison import Comparison
from pprofdiff.api.fleetddf import ddf
from pprofdiff.api.fleets import FleetComparison, fleet
from pprofdiff.api.gclogs import GCLog, GCLogDiff
from pprofdiff.api.profiles import Diff, Profile, Summary
from pprofdiff.api.series import FleetSeries
from pprofdiff.api.traces import Trace, TraceDiff

__all__ = [
    "Benchmarks",
    "BenchmarksDiff",
    "Bisection",
    "Builds",
    "Comparison",
    "Diff",
    "FleetComparison",
    "FleetSeries",
    "GCLog",
    "GCLogDiff",
    "LoadSummary",
    "LoadsDiff",
    "Profile",
    "Summary",
    "Trace",
    "TraceDiff",
    "bisect",
    "compare",
    "ddf",
    "diff",
    "fleet",
    "load",
    "load_many",
]
