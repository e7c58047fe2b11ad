"""Small profiles built by hand, and hypothesis strategies for pairs of builds."""

import hypothesis
import numpy as np
from hypothesis import strategies as st

from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.work import counted
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Profile,
    ValueType,
)
from pprofdiff.model.side import Capture
from tests.examples import examples

PERIOD = 10_000_000


def given(*drawn, **named):
    """Return hypothesis's `given` with as many examples as a whole pipeline is worth."""
    few = hypothesis.settings(max_examples=examples(40), deadline=None)
    return lambda test: few(hypothesis.given(*drawn, **named)(test))


CPU = (ValueType("samples", "count"), ValueType("cpu", "nanoseconds"))

RUNTIME = (
    "runtime.mallocgc", "runtime.gcBgMarkWorker", "runtime.gcDrain", "runtime.systemstack",
    "runtime.gcDrainMarkWorkerDedicated", "runtime.gcAssistAlloc", "runtime.memmove",
    "runtime.findRunnable", "runtime.schedule", "runtime.futex", "runtime.bgsweep",
    "runtime.mapaccess1_faststr", "runtime.growslice", "runtime.mcall", "runtime.goexit",
)  # fmt: skip
USER = (
    "main.main", "main.run", "main.run.func1", "main.run.func2", "main.(*T).Do",
    "main.Map[go.shape.int]", "main.Map[go.shape.string]", "example.com/a.F",
    "example.com/a.G", "example.com/a/b.F", "fmt.Sprintf", "strings.ToLower",
)  # fmt: skip
# Stacks of the runtime, leaf first.
MARK = ("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
SCHEDULE = ("runtime.findRunnable", "runtime.schedule", "runtime.mcall")
FILES = ("/src/main.go", "/build7/main.go", "/src/a/f.go", "")


def profile(samples, *, files=FILES[:1], types=CPU, period=PERIOD, duration_ns=10**10):
    """Return a profile of (stack, value) or (stack, values) pairs.

    A stack is a sequence of frames, leaf first: a function name, or (name, file,
    line). A lone value is a number of samples of a CPU profile.
    """
    samples = [(tuple(_frame(f, files) for f in stack), v) for stack, v in samples]
    frames = list(dict.fromkeys(f for stack, _ in samples for f in stack))
    functions = list(dict.fromkeys(f[:2] for f in frames))
    strings = list(dict.fromkeys(["", *(text for f in functions for text in f)]))
    name, file = ([strings.index(f[i]) for f in functions] for i in (0, 1))
    values = [(v, v * period) if isinstance(v, int) else v for _, v in samples]
    count = len(frames)
    none = np.zeros(0, np.int32)
    return Profile(
        strings=tuple(strings),
        sample_types=types,
        functions=Functions(
            np.array(name, np.int32), np.array(name, np.int32), np.array(file, np.int32),
            np.zeros(len(functions), np.int64),
        ),
        locations=Locations(
            np.arange(count, dtype=np.uint64), np.full(count, -1, np.int32), np.zeros(count, np.bool_),
            np.arange(count + 1, dtype=np.int64),
            np.array([functions.index(f[:2]) for f in frames], np.int32),
            np.array([f[2] for f in frames], np.int64), np.zeros(count, np.int64),
        ),
        mappings=(),
        stack_offsets=offsets_of(np.array([len(s) for s, _ in samples], np.int64)),
        stack_locations=np.array([frames.index(f) for s, _ in samples for f in s], np.int32),
        values=np.array(values, np.int64).reshape(len(samples), len(types)),
        labels=Labels(np.zeros(0, np.int64), none, none, np.zeros(0, np.int64), none),
        period_type=types[-1] if period else None,
        period=period,
        duration_ns=duration_ns,
    )  # fmt: skip


def _frame(frame, files):
    return frame if isinstance(frame, tuple) else (frame, files[0], 1)


def compared(base, new, *, work=None, **how):
    """Return new minus base; `work` is the operations that both did."""
    how["work"] = None if work is None else counted(work)
    return compare(
        *(
            side(w, [Capture(f"{w}.pb.gz", "profile", p)])
            for w, p in (("base", base), ("new", new))
        ),
        **how,
    )


_FRAMES = st.tuples(
    st.sampled_from(RUNTIME + USER), st.sampled_from(FILES), st.integers(1, 3)
)
_STACKS = st.lists(_FRAMES, max_size=5)
_LENGTHS = st.sampled_from((None, 10**10, 12_300_000_001))
_COUNTS = st.one_of(st.integers(0, 400), st.integers(0, 400), st.integers(-50, 1 << 33))


def profiles(*, counts=_COUNTS):
    """Return a strategy of CPU profiles over names that builds may share."""
    samples = st.lists(st.tuples(_STACKS, counts), max_size=8)
    return st.builds(lambda s, d: profile(s, duration_ns=d), samples, _LENGTHS)


def stacks(given):
    """Return (names leaf first, value) of each sample, read without the package's sums."""
    frames, strings = given.frames(), given.strings
    functions = given.locations.line_function[frames.line].tolist()
    names = [strings[given.functions.name[f]] if f >= 0 else "" for f in functions]
    cuts = frames.offsets.tolist()
    value = given.values[:, -1].tolist()
    return [(names[a:b], v) for a, b, v in zip(cuts[:-1], cuts[1:], value, strict=True)]


def groups_of(diff):
    """Return (id, base, new) of each group of runtime categories."""
    sums = diff.ledger.every("group")
    ids = [group.id for group in rules().groups]
    return list(zip(ids, sums.base.tolist(), sums.new.tolist(), strict=True))
