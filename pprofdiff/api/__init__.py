"""What a notebook or script uses: `load`, `diff`, `compare`, `fleet` and `load_many`.

`calls` has these; `profiles`, `gclogs`, `benchmarks` and `traces` have what `load` and
`diff` return of a kind, `comparison` and `builds` what `compare` and `load_many`
return; `fleets` and `series` have both of many hosts, `fleetddf` what Dask has of
them. What all loaded inputs share is in `loaded`, what all comparisons can do in
`reported`. Nothing is changed in place: every method returns something new.
"""

from __future__ import annotations

from pprofdiff.api.benchmarks import Benchmarks, BenchmarksDiff, LoadSummary
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
    "Builds",
    "Comparison",
    "Diff",
    "FleetComparison",
    "FleetSeries",
    "GCLog",
    "GCLogDiff",
    "LoadSummary",
    "Profile",
    "Summary",
    "Trace",
    "TraceDiff",
    "compare",
    "ddf",
    "diff",
    "fleet",
    "load",
    "load_many",
]
