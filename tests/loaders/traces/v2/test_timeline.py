"""Events of the whole program at one time: the order that Go's own reader has."""

from __future__ import annotations

import pytest

from pprofdiff.loaders.traces import decode
from tests.loaders.traces import parsed
from tests.loaders.traces.ours import Plain
from tests.traces import oracle

pytestmark = pytest.mark.go

NOBODY = 2**64 - 1
TABLES = (
    (NOBODY, "Frequency freq=15625000"),
    (NOBODY, "Stacks"),
    (NOBODY, 'Strings\nString id=1\n\tdata="one"\nString id=2\n\tdata="two"'),
)
# The first generation ends long after all clocks of the second one: their times become
# its begin. There the goroutine goes from thread 7 to thread 3 within a task.
LATE = (
    *TABLES,
    (7, """ProcStatus dt=1 p=0 pstatus=1
        GoStatus dt=1 g=1 m=7 gstatus=2
        HeapAlloc dt=1000000 heapalloc_value=1"""),
)  # fmt: skip
MOVES = (
    *TABLES,
    (7, """ProcStatus dt=1 p=0 pstatus=1
        GoStatus dt=1 g=1 m=7 gstatus=2
        UserTaskBegin dt=1 task=1 parent_task=0 name_string=1 stack=0
        UserLog dt=1 task=1 key_string=1 value_string=1 stack=0
        GCBegin dt=1 gc_seq=1 stack=0
        GoStop dt=1 reason_string=1 stack=0
        ProcStop dt=1"""),
    (3, """ProcStart dt=100 p=0 p_seq=1
        GoStart dt=1 g=1 g_seq=1
        GCEnd dt=1 gc_seq=2
        UserLog dt=1 task=1 key_string=1 value_string=2 stack=0
        UserTaskEnd dt=1 task=1 stack=0"""),
)  # fmt: skip


@pytest.fixture(name="both", scope="module")
def _both(tmp_path_factory):
    """Return our trace and Go's events."""
    text = "Trace Go1.22\n"
    for number, batches in enumerate((LATE, MOVES), 1):
        for thread, events in batches:
            size = len(oracle.encoded(f"Trace Go1.22\n{events}")) - 16
            head = f"EventBatch gen={number} m={thread} time=0 size={size}"
            text += f"{head}\n{events}\n"
    path = tmp_path_factory.mktemp("timeline") / "late.trace"
    path.write_bytes(oracle.encoded(text))
    events, fault = parsed.events_of(path)
    assert not fault
    trace = decode(path.read_bytes())
    assert trace.missing is None
    return Plain(trace), events


def test_a_task_ends_after_its_begin(both):
    ours, events = both
    tasks = ours.trace.tasks
    assert len(tasks) == 1
    assert tasks.start_ns[0] == tasks.end_ns[0] == ours.trace.syncs[1].time_ns
    parsed.assert_same({1: ours.tasks()}, {1: parsed.tasks(events)})


def test_logs_of_a_goroutine_are_in_its_order(both):
    ours, events = both
    texts = ours.trace.logs.text.tolist()
    assert [ours.trace.strings[text] for text in texts] == ["one", "two"]
    parsed.assert_same({1: ours.logs()}, {1: parsed.logs(events)})


def test_a_mark_phase_ends_after_its_begin(both):
    ours, events = both
    assert (ours.trace.ranges.end_ns >= 0).all()
    parsed.assert_same(ours.ranges(), parsed.ranges(events))
