"""Traces of Go 1.11 to 1.21, as Go 1.26 reads them: `decode.decode_v1`.

Such a trace does not tell everything that later ones do. What stands in its place:

- A fast system call has no end: it takes a nanosecond.
- The thread of another goroutine's system call or wake-up is none.
- A processor that its thread lost was not stolen by anyone.
- A goroutine that never did anything has no name.
- A processor that is in a system call runs.
- A wake-up by the network poller, a timer or the end of a system call is on no
  processor.

Source: internal/trace/tracev1.go and internal/trace/internal/tracev1 of Go 1.26.
"""
