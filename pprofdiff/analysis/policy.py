"""The sizes from which a change matters, shared by all rules, tables and sentences.

What separates a change from noise is measured and kept in `judge.calibration`. These
are conventions: how large something must be for a reader to care.
"""

from __future__ import annotations

SAME_WITHIN = 0.02
"""The default relative difference up to which builds count as the same."""

MAJOR = 0.05
"""Share of the larger side's total from which a change is major: 5% of CPU is what a
capacity plan notices, and about what one pair of profiles can resolve."""

NOTICED = 0.02
"""Share of time from which waiting, or a function that only one side has, is worth a
sentence: below it, runs of one build differ as much."""

MINOR = 0.01
"""Share of the total from which a reader sees in a table what a sentence omits."""

SAMPLED_BYTES = 1 << 19
"""Bytes that a sample of memory is worth at most where a profile does not say: Go,
jemalloc, gperftools and V8 sample every 512 KiB or more often, and larger objects
always."""

LEAST_LIVE_MB = 4.0
"""Live heap below which gctrace's rounding to whole MiB distorts a ratio."""

MUCH = 0.1
"""Share of time or memory that is large by itself: Go's GC guide keeps 5 to 10% of
headroom below a memory limit."""

GOOD_PART = 0.25
"""A part of a change to name next to the whole: no more than four are as large."""

MOST = 0.5
"""More than this part of a change is most of it: nothing else can be as large."""

COVERS = 0.8
"""A function covers a change with this part of it: the rest is sampling noise."""

NEARLY_ALL = 0.9
"""This part is all, but for inlined and truncated stacks."""

LITTLE = 0.05
"""Less than this part of the other side counts as none."""

CLEARLY = 1.25
"""Factor from which one function or duration clearly differs: two deviations of a ratio
of 150 samples."""

SIMILAR = 1.5
"""Factor within which estimates are of similar size, and beyond which they differ."""

FEW_SAMPLES = 10
"""With fewer, a number is off by more than a third, and none where ten are expected has
a chance of exp(-10)."""

ENOUGH = 30
"""Where all of so many samples are of one kind, fewer than one in ten are of another,
with 95% confidence (rule of three)."""

SEVERAL = 3
"""Places that changed alike have a common cause; one or two may by coincidence."""

NAMED = 3
"""Names in a sentence; the rest are counted."""
