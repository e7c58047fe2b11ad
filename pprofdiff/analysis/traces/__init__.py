"""Analysis of Go execution traces: goroutine times, states by stack, Go's exports."""
