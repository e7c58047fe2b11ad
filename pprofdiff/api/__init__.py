"""The API for notebooks and scripts: `load`, `diff`, `compare`, `fleet`, `bisect` ….

Objects are immutable: every method returns a new one.
"""

from __future__ import annotations

from pprofdiff.api.benchmarks import Benchmarks as Benchmarks
from pprofdiff.api.benchmarks import BenchmarksDiff as BenchmarksDiff
from pprofdiff.api.benchmarks import LoadsDiff as LoadsDiff
from pprofdiff.api.benchmarks import LoadSummary as LoadSummary
from pprofdiff.api.bisection import Bisection as Bisection
from pprofdiff.api.bisection import bisect as bisect
from pprofdiff.api.builds import Builds as Builds
from pprofdiff.api.calls import compare as compare
from pprofdiff.api.calls import diff as diff
from pprofdiff.api.calls import load as load
from pprofdiff.api.calls import load_many as load_many
from pprofdiff.api.comparison import Comparison as Comparison
from pprofdiff.api.fleets import FleetComparison as FleetComparison
from pprofdiff.api.fleets import FleetSeries as FleetSeries
from pprofdiff.api.fleets import ddf as ddf
from pprofdiff.api.fleets import fleet as fleet
from pprofdiff.api.gclogs import GCLog as GCLog
from pprofdiff.api.gclogs import GCLogDiff as GCLogDiff
from pprofdiff.api.profiles import Diff as Diff
from pprofdiff.api.profiles import Profile as Profile
from pprofdiff.api.profiles import Summary as Summary
from pprofdiff.api.traces import Trace as Trace
from pprofdiff.api.traces import TraceDiff as TraceDiff
