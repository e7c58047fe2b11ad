"""Analysis of Go execution traces: goroutine times, states by stack, Go's exports.

Each module turns a `model.traces.trace.Trace` into comparable numbers; `compare`
compares two traces.
"""
