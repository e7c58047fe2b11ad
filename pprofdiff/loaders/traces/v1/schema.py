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


E = V1Type
# How many numbers follow the time delta; a stack and a string have more than this.
ARGUMENTS: dict[V1Type, int] = dict.fromkeys(E, 1) | {
    **dict.fromkeys((E.PROC_STOP, E.GC_DONE, E.STW_DONE, E.GO_END, E.GO_SYSBLOCK), 0),
    **dict.fromkeys((E.FUTILE_WAKEUP, E.ASSIST_DONE), 0),
    **dict.fromkeys((E.BATCH, E.STRING, E.STACK, E.GOMAXPROCS, E.GC_START), 2),
    **dict.fromkeys((E.SWEEP_DONE, E.GO_START, E.TASK_END), 2),
    **dict.fromkeys((E.GO_UNBLOCK_LOCAL, E.GO_SYSEXIT_LOCAL), 2),
    **dict.fromkeys((E.GO_CREATE, E.GO_UNBLOCK, E.GO_SYSEXIT, E.GO_START_LABEL), 3),
    **dict.fromkeys((E.TASK_CREATE, E.REGION, E.CPU_SAMPLE), 4),
    E.LOG: 3,
}


STARTS = (E.GO_START, E.GO_START_LOCAL, E.GO_START_LABEL)
UNBLOCKS = (E.GO_UNBLOCK, E.GO_UNBLOCK_LOCAL)
EXITS = (E.GO_SYSEXIT, E.GO_SYSEXIT_LOCAL)
# Why a goroutine waits or stops, as worded by Go 1.22 and later.
REASONS: dict[V1Type, str] = {
    E.GO_STOP: "forever",
    E.GO_SCHED: "runtime.Gosched",
    E.GO_PREEMPT: "preempted",
    E.GO_SLEEP: "sleep",
    E.GO_BLOCK: "",
    E.GO_BLOCK_SEND: "chan send",
    E.GO_BLOCK_RECV: "chan receive",
    E.GO_BLOCK_SELECT: "select",
    E.GO_BLOCK_SYNC: "sync",
    E.GO_BLOCK_COND: "sync.(*Cond).Wait",
    E.GO_BLOCK_NET: "network",
    E.GO_BLOCK_GC: "GC mark assist wait for work",
}
_YIELDS = (E.GO_SCHED, E.GO_PREEMPT)
BLOCKS = tuple(k for k in REASONS if k not in (*_YIELDS, E.GO_STOP))
# Events that take a goroutine off its P.
STOPS = (*REASONS, E.GO_END, E.GO_SYSBLOCK)
# The 1-based argument that is the stack, 0 for none.
STACK_AT = np.zeros(64, np.int64)
STACK_AT[[*REASONS, E.GO_SYSCALL, E.SWEEP_START, E.ASSIST_START]] = 1
STACK_AT[[E.GOMAXPROCS, E.GC_START, E.GO_UNBLOCK_LOCAL, E.TASK_END]] = 2
STACK_AT[[E.GO_CREATE, E.GO_UNBLOCK, E.LOG]] = 3
STACK_AT[[E.TASK_CREATE, E.REGION, E.CPU_SAMPLE]] = 4


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
