"""Go execution traces from bytes to a `model.traces.trace.Trace`, without Go's tools.

`decode` tells the format from the header. Both readers use whole columns: no loop of
Python's runs over events. This page follows one event of Go 1.22 or later; `v1` reads
older traces by the same steps and has them in modules of the same names.

1. **Batches** (`v2.batches`). A file is generations, and a generation is batches. Each
   batch is of one thread, or structural: clock, strings, stacks, CPU samples
   (`v2.tables`). A generation stands for itself; strings, stacks and ids get indices
   that hold for the whole trace (`interning`, `id_index`).
2. **Events** (`v2.event_finder`, `v2.reading`). An event is a type byte and varints. A
   batch is read as varints at once; which of them begin an event is a chain that
   `pointer_jumping` follows. The columns of `v2.events.Events` are sorted by thread,
   and each thread's events are in order.
3. **Context** (`v2.context`). An event does not say which goroutine and processor its
   thread has. Events that take or leave one do; the others are filled in.
4. **Order** (`v2.effects`). An event has an effect on a goroutine, a processor or both.
   What moves one of these to another thread has a sequence number. So (owner, sequence
   number, row) is a sort key that needs no clock. Effects on processors come first
   (`v2.processor_states`): they tell which goroutines lost theirs in a system call
   (`v2.syscalls`). Then come those on goroutines (`v2.goroutine_states`). An id of a
   goroutine may be used again within a generation (`v2.incarnations`).
5. **States**. The effect and the state before it give the state after it, by a table;
   what the table does not allow is `damage.Damage`.
6. **Times** (`clock_order`). Clocks of threads disagree. An event is not earlier than
   what happened before it on its thread, goroutine or processor.
7. **Rows** (`v2.goroutine_rows`, `v2.row_store`). Each change of state is a row of
   `Intervals` or `ProcessorIntervals`. Events that change no state become ranges,
   tasks, regions, logs, labels and metrics (`v2.timeline`, `timeline`).
8. `v2.generation_reader` does steps 1 and 2 for one generation after another; of a
   large file, a second thread does so, one generation ahead. `v2.recorder` does steps 3
   to 7 and remembers what goes on from one to the next. `v2.decode` puts the rows of
   all generations together, by owner, in the memory that they were written to; what
   reading a large file leaves unused goes back to the system.

Damage in a generation ends reading; the generations before it are the trace. Older
formats have one sequence of events for the whole file, and end at the damage.
"""

from __future__ import annotations

from collections.abc import Callable

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces.header import version_of
from pprofdiff.loaders.traces.v1.decode import decode_v1
from pprofdiff.loaders.traces.v1.schema import FORMATS_V1
from pprofdiff.loaders.traces.v2.decode import decode_v2
from pprofdiff.loaders.traces.v2.schema import FORMATS
from pprofdiff.model.traces.trace import Trace

__all__ = ["decode"]


def decode(
    data: bytes, name: str = "trace", say: Callable[[str], None] | None = None
) -> Trace:
    """Return the execution trace in these bytes.

    A file that is cut off or damaged gives what comes before the damage; then
    `Trace.missing` says how much of the file that is, and why.

    Parameters
    ----------
    data : bytes
        The whole file.
    name : str
        The file as the user knows it, for messages.
    say : callable, optional
        Is told from time to time, in a line of text, how far reading has come.

    Raises
    ------
    FormatError
        Nothing of the file can be read. The text is one line that names the file.

    """
    version = version_of(data)
    if version is None:
        raise FormatError(f"{name}: not a Go execution trace")
    if version in FORMATS_V1:
        return decode_v1(data, version, name, say)
    if version not in FORMATS:
        known = ", ".join(f"1.{v}" for v in (*FORMATS_V1, *FORMATS))
        raise FormatError(
            f"{name}: a trace of format 1.{version}, which is none of {known}"
        )
    return decode_v2(data, version, name, say)
