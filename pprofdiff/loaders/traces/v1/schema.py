"""Event types of traces of Go 1.11 to 1.21, as tables over bytes.

Source: runtime/trace.go of those versions, and internal/trace/internal/tracev1 of Go
1.26, which still reads them. An event is a byte (low six bits: type; top two: how many
numbers follow) and numbers: a time delta, as many as `ARGUMENTS` says, and a stack if
the type has one.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

# The minor versions in headers: Go 1.18 wrote 1.11, Go 1.20 wrote 1.19.
FORMATS_V1 = (11, 19, 21)
# The top two bits of an event whose numbers follow their length in bytes.
LENGTH_PREFIXED = 3


class V1Type(IntEnum):
    """The type of an event: the low six bits of its first byte."""

    BATCH = 1
    FREQUENCY = 2
    STACK = 3
    GOMAXPROCS = 4
    PROC_START = 5
    PROC_STOP = 6
    GC_START = 7
    GC_DONE = 8
    STW_START = 9
    STW_DONE = 10
    SWEEP_START = 11
    SWEEP_DONE = 12
    GO_CREATE = 13
    GO_START = 14
    GO_END = 15
    GO_STOP = 16
    GO_SCHED = 17
    GO_PREEMPT = 18
    GO_SLEEP = 19
    GO_BLOCK = 20
    GO_UNBLOCK = 21
    GO_BLOCK_SEND = 22
    GO_BLOCK_RECV = 23
    GO_BLOCK_SELECT = 24
    GO_BLOCK_SYNC = 25
    GO_BLOCK_COND = 26
    GO_BLOCK_NET = 27
    GO_SYSCALL = 28
    GO_SYSEXIT = 29
    GO_SYSBLOCK = 30
    GO_WAITING = 31
    GO_IN_SYSCALL = 32
    HEAP_ALLOC = 33
    HEAP_GOAL = 34
    TIMER_GOROUTINE = 35
    FUTILE_WAKEUP = 36
    STRING = 37
    GO_START_LOCAL = 38
    GO_UNBLOCK_LOCAL = 39
    GO_SYSEXIT_LOCAL = 40
    GO_START_LABEL = 41
    GO_BLOCK_GC = 42
    ASSIST_START = 43
    ASSIST_DONE = 44
    TASK_CREATE = 45
    TASK_END = 46
    REGION = 47
    LOG = 48
    CPU_SAMPLE = 49


# How many numbers follow the time delta; a stack and a string have more than this.
ARGUMENTS: dict[V1Type, int] = dict.fromkeys(V1Type, 1) | {
    **dict.fromkeys(
        (V1Type.PROC_STOP, V1Type.GC_DONE, V1Type.STW_DONE, V1Type.GO_END), 0
    ),
    **dict.fromkeys((V1Type.GO_SYSBLOCK, V1Type.FUTILE_WAKEUP, V1Type.ASSIST_DONE), 0),
    **dict.fromkeys((V1Type.BATCH, V1Type.STRING, V1Type.STACK, V1Type.GOMAXPROCS), 2),
    **dict.fromkeys(
        (V1Type.GC_START, V1Type.SWEEP_DONE, V1Type.GO_START, V1Type.TASK_END), 2
    ),
    **dict.fromkeys((V1Type.GO_UNBLOCK_LOCAL, V1Type.GO_SYSEXIT_LOCAL), 2),
    **dict.fromkeys((V1Type.GO_CREATE, V1Type.GO_UNBLOCK, V1Type.GO_SYSEXIT), 3),
    **dict.fromkeys((V1Type.GO_START_LABEL, V1Type.LOG), 3),
    **dict.fromkeys((V1Type.TASK_CREATE, V1Type.REGION, V1Type.CPU_SAMPLE), 4),
}

# The 1-based argument that is the stack, 0 for none.
STACK_AT = np.zeros(64, np.int64)
for _type, _place in (
    {
        V1Type.GOMAXPROCS: 2,
        V1Type.GC_START: 2,
        V1Type.GO_CREATE: 3,
        V1Type.GO_UNBLOCK: 3,
    }
    | {
        V1Type.GO_UNBLOCK_LOCAL: 2,
        V1Type.TASK_CREATE: 4,
        V1Type.TASK_END: 2,
        V1Type.REGION: 4,
    }
    | {
        V1Type.LOG: 3,
        V1Type.CPU_SAMPLE: 4,
        V1Type.SWEEP_START: 1,
        V1Type.ASSIST_START: 1,
    }
).items():
    STACK_AT[_type] = _place

STARTS = (V1Type.GO_START, V1Type.GO_START_LOCAL, V1Type.GO_START_LABEL)
UNBLOCKS = (V1Type.GO_UNBLOCK, V1Type.GO_UNBLOCK_LOCAL)
EXITS = (V1Type.GO_SYSEXIT, V1Type.GO_SYSEXIT_LOCAL)
# Why a goroutine waits or stops, as worded by Go 1.22 and later.
REASONS: dict[V1Type, str] = {
    V1Type.GO_STOP: "forever",
    V1Type.GO_SCHED: "runtime.Gosched",
    V1Type.GO_PREEMPT: "preempted",
    V1Type.GO_SLEEP: "sleep",
    V1Type.GO_BLOCK: "",
    V1Type.GO_BLOCK_SEND: "chan send",
    V1Type.GO_BLOCK_RECV: "chan receive",
    V1Type.GO_BLOCK_SELECT: "select",
    V1Type.GO_BLOCK_SYNC: "sync",
    V1Type.GO_BLOCK_COND: "sync.(*Cond).Wait",
    V1Type.GO_BLOCK_NET: "network",
    V1Type.GO_BLOCK_GC: "GC mark assist wait for work",
}
_YIELDS = (V1Type.GO_SCHED, V1Type.GO_PREEMPT)
BLOCKS = tuple(k for k in REASONS if k not in (*_YIELDS, V1Type.GO_STOP))
# Events that take a goroutine off its P.
STOPS = (*REASONS, V1Type.GO_END, V1Type.GO_SYSBLOCK)
for _type in (*REASONS, V1Type.GO_SYSCALL):
    STACK_AT[_type] = 1


_STOPS_THE_WORLD = (
    "",
    "GC mark termination",
    "GC sweep termination",
    "write heap dump",
    "goroutine profile",
    "goroutine profile cleanup",
    "all goroutine stack trace",
    "read mem stats",
    "AllThreadsSyscall",
    "GOMAXPROCS",
    "start trace",
    "stop trace",
    "CountPagesInUse (test)",
    "ReadMetricsSlow (test)",
    "ReadMemStatsSlow (test)",
    "PageCachePagesLeaked (test)",
    "ResetDebugLog (test)",
)


def stop_reasons(version: int) -> tuple[str, ...]:
    """Return the stop-the-world reasons of format ``go 1.NN trace``, by number.

    "" is unknown. Before Go 1.21 a trace records only the GC's stops.
    """
    return _STOPS_THE_WORLD if version >= 21 else _STOPS_THE_WORLD[1:3]
