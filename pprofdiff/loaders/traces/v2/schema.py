"""Event types of the trace format since Go 1.22, and their arguments.

Source: runtime/trace*.go and internal/trace/tracev2 of Go 1.22 to 1.26; newer formats
only add types.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

import numpy as np

from pprofdiff.model.arrays import Index

# The minor versions in headers: Go 1.24 wrote 1.23, Go 1.27 writes 1.26.
FORMATS = (22, 23, 25, 26)
# The thread of batches without one, as int64 (2**64 - 1 on the wire).
NO_THREAD = -1
# First type of the alloc/free experiment, whose types have the top bit set.
FIRST_EXPERIMENTAL = 128


class EventType(IntEnum):
    """The first byte of an event, or of a structural part of the file."""

    EVENT_BATCH = 1
    STACKS = 2
    STACK = 3
    STRINGS = 4
    STRING = 5
    CPU_SAMPLES = 6
    CPU_SAMPLE = 7
    FREQUENCY = 8
    PROCS_CHANGE = 9
    PROC_START = 10
    PROC_STOP = 11
    PROC_STEAL = 12
    PROC_STATUS = 13
    GO_CREATE = 14
    GO_CREATE_SYSCALL = 15
    GO_START = 16
    GO_DESTROY = 17
    GO_DESTROY_SYSCALL = 18
    GO_STOP = 19
    GO_BLOCK = 20
    GO_UNBLOCK = 21
    GO_SYSCALL_BEGIN = 22
    GO_SYSCALL_END = 23
    GO_SYSCALL_END_BLOCKED = 24
    GO_STATUS = 25
    STW_BEGIN = 26
    STW_END = 27
    GC_ACTIVE = 28
    GC_BEGIN = 29
    GC_END = 30
    SWEEP_ACTIVE = 31
    SWEEP_BEGIN = 32
    SWEEP_END = 33
    ASSIST_ACTIVE = 34
    ASSIST_BEGIN = 35
    ASSIST_END = 36
    HEAP_ALLOC = 37
    HEAP_GOAL = 38
    GO_LABEL = 39
    TASK_BEGIN = 40
    TASK_END = 41
    REGION_BEGIN = 42
    REGION_END = 43
    LOG = 44
    GO_SWITCH = 45
    GO_SWITCH_DESTROY = 46
    GO_CREATE_BLOCKED = 47
    GO_STATUS_STACK = 48
    EXPERIMENTAL_BATCH = 49
    SYNC = 50
    CLOCK_SNAPSHOT = 51
    END_OF_GENERATION = 52


class GoStatus(IntEnum):
    """The status of a goroutine in an event (internal/trace/tracev2.GoStatus)."""

    RUNNABLE = 1
    RUNNING = 2
    SYSCALL = 3
    WAITING = 4


class ProcStatus(IntEnum):
    """The status of a P in an event (internal/trace/tracev2.ProcStatus).

    SYSCALL_ABANDONED is a system call whose thread has moved on.
    """

    RUNNING = 1
    IDLE = 2
    SYSCALL = 3
    SYSCALL_ABANDONED = 4


# By first format: how many numbers follow each event type, time delta included.
_ARGUMENTS = {
    22: {9: 3, 10: 3, 11: 1, 12: 4, 13: 3, 14: 4, 15: 2, 16: 3, 17: 1, 18: 1, 19: 3}
    | {20: 3, 21: 4, 22: 3, 23: 1, 24: 1, 25: 4, 26: 3, 27: 1, 28: 2, 29: 3, 30: 2}
    | {31: 2, 32: 2, 33: 3, 34: 2, 35: 2, 36: 1, 37: 2, 38: 2, 39: 2, 40: 5, 41: 3}
    | {42: 4, 43: 4, 44: 5},
    23: {45: 3, 46: 3, 47: 4, 48: 5}
    | {128: 4, 129: 4, 130: 2, 131: 3, 132: 3, 133: 2, 134: 3, 135: 3, 136: 2},
}


@cache
def argument_counts(version: int) -> Index:
    """Return how many numbers follow each event type's byte in ``go 1.NN trace``.

    The array is int32 of shape (256,), -1 for what is not a timed event.
    """
    counts = np.full(256, -1, np.int32)
    for since, types in _ARGUMENTS.items():
        if version >= since:
            counts[list(types)] = list(types.values())
    return counts
