"""What an execution trace says: times of goroutines, states by stack, Go's exports.

Everything here goes from a `model.traces.trace.Trace` to numbers that can be
compared; `compare` sets two of them beside each other.
"""
