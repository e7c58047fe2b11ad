"""Whether a root function's goroutines belong to the runtime, or to tracing."""

from __future__ import annotations

__all__ = ["is_system", "is_tracing"]

# Started by trace.Start, flight recorders and the runtime to write the trace, and by
# pprof.StartCPUProfile to write a profile.
_TRACING = (
    "runtime/trace.",
    "golang.org/x/exp/trace.",
    "runtime.(*traceAdvancerState).",
    "runtime.traceStartReadCPU.",
    "runtime/pprof.profileWriter",
)


def is_system(name: str) -> bool:
    """Return whether goroutines of a root function belong to the runtime.

    Like Go (internal/trace/summary.go), this includes an unknown root function.
    """
    return not name or (name.startswith("runtime.") and name != "runtime.main")


def is_tracing(name: str) -> bool:
    """Return whether goroutines of a root function exist only to write the trace."""
    return name.startswith(_TRACING)
