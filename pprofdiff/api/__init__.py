"""What a notebook or script uses: `load`, `diff`, `compare` and `load_many`.

`calls` has these, the other modules what they return, a kind each; what all
comparisons can do is in `reported`. Nothing is changed in place: every method returns
something new.
"""

from __future__ import annotations

from pprofdiff.api.benchmarks import Benchmarks, BenchmarksDiff
from pprofdiff.api.builds import Builds
from pprofdiff.api.calls import compare, diff, load, load_many
from pprofdiff.api.comparison import Comparison
from pprofdiff.api.logs import GCLog, GCLogDiff
from pprofdiff.api.profiles import Diff, Profile, Summary
from pprofdiff.api.tracediff import TraceDiff
from pprofdiff.api.traces import Trace

__all__ = [
    "Benchmarks",
    "BenchmarksDiff",
    "Builds",
    "Comparison",
    "Diff",
    "GCLog",
    "GCLogDiff",
    "Profile",
    "Summary",
    "Trace",
    "TraceDiff",
    "compare",
    "diff",
    "load",
    "load_many",
]
