"""What an execution trace says: times of goroutines, states by stack, Go's exports.

Everything here goes from a `model.trace.Trace` to numbers that can be compared; how two
of them differ is told elsewhere.
"""
