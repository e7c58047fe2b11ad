"""Read traces of Go 1.11 to 1.21 the way Go 1.26 does: `decode.decode_v1`.

Such a trace records less than later ones. The defaults are:

- A fast system call has no end event: it takes one nanosecond.
- The thread of another goroutine's system call or wake-up is unknown (none).
- A P that its thread lost counts as not stolen.
- A goroutine that never did anything has no name.
- A P in a system call counts as running.
- A wake-up by the network poller, a timer or a system call's end is on no P.

Source: internal/trace/tracev1.go and internal/trace/internal/tracev1 of Go 1.26.
"""
