"""What triggered each GC cycle: the heap, the program, or the two-minute timer."""

from __future__ import annotations

from collections import Counter

from pprofdiff.analysis.traces.interval_rows import ranges_of
from pprofdiff.model.traces.timeline import RangeKind
from pprofdiff.model.traces.trace import Trace

__all__ = ["HEAP", "TIMER", "UNKNOWN", "triggers"]

HEAP = "the heap at its goal"
TIMER = "two minutes without a cycle"
UNKNOWN = "unknown"
_BY_PROGRAM = "runtime.GC"
_BY_TIMER = "runtime.forcegchelper"
_RUNTIME = ("runtime.", "runtime/debug.")


def triggers(trace: Trace) -> dict[str, int]:
    """Return the number of GC cycles by cause, most frequent first.

    A cause is `HEAP`, `TIMER` (``runtime.forcegchelper``), "runtime.GC in" and the
    calling function, or `UNKNOWN`; it follows from the stack that began the cycle
    (``gcStart`` in runtime/mgc.go).
    """
    marking, _ = ranges_of(trace, RangeKind.GC_MARK)
    stacks = Counter(marking.stack[marking.seen].tolist())
    causes: Counter[str] = Counter()
    for stack, count in stacks.items():
        causes[_cause(trace, stack)] += count
    return dict(causes.most_common())


def _cause(trace: Trace, stack: int) -> str:
    """Return the cause shown by a stack that began a cycle."""
    stacks = trace.stacks
    frames = stacks.frame[stacks.offsets[stack] : stacks.offsets[stack + 1]]
    names = [trace.strings[name] for name in stacks.function[frames].tolist()]
    if not names:
        return UNKNOWN
    if _BY_TIMER in names:
        return TIMER
    if _BY_PROGRAM not in names:
        return HEAP
    above = names[names.index(_BY_PROGRAM) + 1 :]
    caller = next((name for name in above if not name.startswith(_RUNTIME)), "")
    return f"{_BY_PROGRAM} in {caller}" if caller else _BY_PROGRAM
