"""Decode Go execution traces into a `model.traces.trace.Trace`, without Go's tools.

`decode` picks the reader from the header. Both readers work on whole columns: no Python
loop runs over events. The steps below follow an event of Go 1.22 or later; `v1` reads
older traces in the same steps.

1. **Batches** (`v2.batches`). A file is a sequence of generations, each a sequence of
   batches. A batch belongs to one thread, or is structural: clock, strings, stacks, CPU
   samples (`v2.tables`). A generation is self-contained; strings, stacks and ids get
   indices valid for the whole trace (`id_index`).
2. **Events** (`v2.events`, `v2.reading`). An event is a type byte and varints. A
   batch is decoded into varints at once; `varints` then follows the chain of
   those that begin an event. The columns of `v2.events.Events` are sorted by thread,
   and each thread's events are in order.
3. **Context** (`v2.context`). An event does not name the goroutine and P of its thread.
   Events that acquire or release one do; the others are filled in.
4. **Order** (`v2.effects`). An event affects a goroutine, a P or both. An event that
   moves one to another thread has a sequence number, so (owner, sequence number, row)
   is a sort key that needs no clock. Effects on Ps come first (`v2.processor_states`):
   they show which goroutines lost theirs in a system call. Then come
   those on goroutines (`v2.goroutine_states`). A goroutine id may be reused within a
   generation.
5. **States**. A table maps an effect and the state before it to the state after it;
   what the table does not allow is `damage.Damage`.
6. **Times** (`clock_order`). Thread clocks disagree. No event is earlier than what
   happened before it on its thread, goroutine or P.
7. **Rows** (`v2.goroutine_rows`). Each change of state is a row of
   `Intervals` or `ProcessorIntervals`. Events that change no state become ranges,
   tasks, regions, logs, labels and metrics (`v2.timeline`, `timeline`).
8. `v2.reading` does steps 1 and 2 for each generation; for a large file, a second
   thread runs one generation ahead. `v2.decode` does steps 3 to 7, carries state from
   one generation to the next, and sorts all rows by owner, in place; memory that
   reading a large file leaves unused goes back to the operating system.

Damage in a generation ends reading; the generations before it form the trace. Older
formats have one sequence of events for the whole file, which ends at the damage.
"""

from __future__ import annotations

from collections.abc import Callable

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces.before_tracing import from_start, with_earlier_waits
from pprofdiff.loaders.traces.damage import version_of
from pprofdiff.loaders.traces.v1.decode import decode_v1
from pprofdiff.loaders.traces.v1.schema import FORMATS_V1
from pprofdiff.loaders.traces.v2.decode import decode_v2
from pprofdiff.loaders.traces.v2.schema import FORMATS
from pprofdiff.model.traces.trace import Trace


def read(
    data: bytes, name: str = "trace", say: Callable[[str], None] | None = None
) -> Trace:
    """Return `decode`'s trace, with what is known of waits that began before it.

    Time before tracing started is in no state.
    """
    return with_earlier_waits(from_start(decode(data, name, say)))


def decode(
    data: bytes, name: str = "trace", say: Callable[[str], None] | None = None
) -> Trace:
    """Return the execution trace in the bytes of a file called `name`.

    A truncated or damaged file yields what precedes the damage; `Trace.missing` then
    says how much of the file that is, and why. `say` is called from time to time with
    a line about progress. Raises FormatError if nothing in the file can be read.
    """
    version = version_of(data)
    if version is None:
        raise FormatError(f"{name}: not a Go execution trace")
    if version in FORMATS_V1:
        return decode_v1(data, version, name, say)
    if version not in FORMATS:
        known = ", ".join(f"1.{v}" for v in (*FORMATS_V1, *FORMATS))
        raise FormatError(
            f"{name}: a trace of format 1.{version}; the formats read are {known}"
        )
    return decode_v2(data, version, name, say)
