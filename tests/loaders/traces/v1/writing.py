"""Traces of Go 1.11 to 1.21 written by hand: the bytes of events, one by one."""

from __future__ import annotations

from pprofdiff.loaders.traces.v1.schema import ARGUMENTS
from pprofdiff.loaders.traces.v1.schema import V1Type as E
from tests.loaders.profiles.spelling import varint

UNTIMED = (E.BATCH, E.FREQUENCY, E.TIMER_GOROUTINE)


def event(kind, *numbers):
    """Return an event; `numbers` begin with the time difference where it has one."""
    assert len(numbers) == ARGUMENTS[kind] + (kind not in UNTIMED)
    spelled = b"".join(map(varint, numbers))
    if len(numbers) < 4:
        return bytes((kind | (len(numbers) - 1) << 6,)) + spelled
    return bytes((kind | 3 << 6,)) + varint(len(spelled)) + spelled


def string(name, text):
    """Return a string of the table."""
    content = text.encode()
    return bytes((E.STRING,)) + varint(name) + varint(len(content)) + content


def stack(name, *frames):
    """Return a stack of the table; frames are (pc, function, file, line)."""
    numbers = [name, len(frames), *(n for frame in frames for n in frame)]
    spelled = b"".join(map(varint, numbers))
    # Go pads this length to ten bytes.
    size = varint(len(spelled) | 1 << 63)[:-1]
    padded = bytes(b & 0x7F | 0x80 for b in size) + b"\0"
    return bytes((E.STACK | 3 << 6,)) + padded + spelled


def log(*numbers, text):
    """Return a log."""
    content = text.encode()
    return event(E.LOG, *numbers) + varint(len(content)) + content


def header(version):
    """Return a file's first bytes."""
    return f"go 1.{version} trace".encode().ljust(16, b"\0")


def small(version=21, goroutine=7, texts=("main.work", "work.go"), said="done"):
    """Return a trace of two goroutines on two processors, a tick a nanosecond.

    The second is created at 100, moves to processor 1, makes a fast call at 300 and one
    from 400 to 900 that loses its processor at 500, and ends at 1000.
    """
    function, file = texts
    return b"".join(
        (
            header(version),
            event(E.BATCH, 0, 1000),
            event(E.GO_CREATE, 0, 1, 1, 0),
            event(E.PROC_START, 1, 11),
            event(E.GO_START, 1, 1, 1),
            event(E.GOMAXPROCS, 8, 2, 0),
            string(1, function),
            event(E.GO_CREATE, 90, goroutine, 1, 1),
            event(E.HEAP_ALLOC, 20, 5 << 30),
            log(5, 0, 2, 1, text=said),
            string(2, file),
            event(E.GO_BLOCK_RECV, 75, 1),
            event(E.BATCH, 1, 1200),
            event(E.PROC_START, 5, 12),
            event(E.GO_START, 5, goroutine, 1),
            event(E.GO_SYSCALL, 90, 1),
            event(E.GO_SYSCALL, 100, 1),
            event(E.GO_SYSBLOCK, 90),
            event(E.PROC_STOP, 10),
            event(E.BATCH, 0, 1950),
            event(E.GO_SYSEXIT, 0, goroutine, 2, 1900),
            event(E.GO_START, 10, goroutine, 3),
            event(E.GO_END, 40),
            event(E.BATCH, (1 << 64) - 1, 2000),
            event(E.FREQUENCY, 1_000_000_000),
            stack(1, (77, 1, 2, 42)),
        )
    )
