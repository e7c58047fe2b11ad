"""Compare two builds of a Go program and say why one is slower.

>>> import pprofdiff
>>> d = pprofdiff.diff("base/cpu.pb.gz", "new/cpu.pb.gz")  # doctest: +SKIP
>>> d.categories  # what the Go runtime did, as a DataFrame  # doctest: +SKIP

Names are resolved on first use, so importing this package costs almost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pprofdiff._version import __version__

if TYPE_CHECKING:
    from pprofdiff.api import (
        Benchmarks,
        BenchmarksDiff,
        Bisection,
        Builds,
        Comparison,
        Diff,
        FleetComparison,
        FleetSeries,
        GCLog,
        GCLogDiff,
        LoadsDiff,
        Profile,
        Trace,
        TraceDiff,
        bisect,
        compare,
        ddf,
        diff,
        fleet,
        load,
        load_many,
    )
    from pprofdiff.errors import (
        ClusterError,
        DamagedError,
        FetchError,
        FormatError,
        IncompatibleProfilesError,
        MeasureError,
        PprofDiffError,
        UsageError,
    )

__all__ = [
    "Benchmarks",
    "BenchmarksDiff",
    "Bisection",
    "Builds",
    "ClusterError",
    "Comparison",
    "DamagedError",
    "Diff",
    "FetchError",
    "FleetComparison",
    "FleetSeries",
    "FormatError",
    "GCLog",
    "GCLogDiff",
    "IncompatibleProfilesError",
    "LoadsDiff",
    "MeasureError",
    "PprofDiffError",
    "Profile",
    "Trace",
    "TraceDiff",
    "UsageError",
    "__version__",
    "bisect",
    "compare",
    "ddf",
    "diff",
    "fleet",
    "load",
    "load_many",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type depends on the name
    """Import a public name from its module on first use (PEP 562)."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'pprofdiff' has no attribute {name!r}")
    module = "pprofdiff.errors" if name.endswith("Error") else "pprofdiff.api"
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
