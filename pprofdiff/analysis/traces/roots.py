"""Whether goroutines of a root function are the runtime's, or the trace's own."""

from __future__ import annotations

__all__ = ["is_system", "is_tracing"]

# Started by trace.Start, flight recorders and the runtime to write the trace, and by
# pprof.StartCPUProfile to write a profile meanwhile.
_TRACING = (
    "runtime/trace.",
    "golang.org/x/exp/trace.",
    "runtime.(*traceAdvancerState).",
    "runtime.traceStartReadCPU.",
    "runtime/pprof.profileWriter",
)


def is_system(name: str) -> bool:
    """Tell whether goroutines of a root function are the runtime's.

    As Go does (internal/trace/summary.go): those of an unknown function are, too.
    """
    return not name or (name.startswith("runtime.") and name != "runtime.main")


def is_tracing(name: str) -> bool:
    """Tell whether goroutines of a root function are there only to write the trace."""
    return name.startswith(_TRACING)
