"""Every constant that separates a change from noise, and the measurements behind it.

There are two questions. *Within a run*: could sampling, or the order of events, have
caused this difference? Tests answer it, at the levels below. *Between runs*: would
another run of the same build differ as much? One run per side cannot show that; a
`Prior`, measured on unchanged builds, stands in for it.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

DISPERSION = 1.25
"""Variance ÷ mean of a sample count; Poisson's is 1. Over six pairs of runs of one
build, z had a root mean square of 1.11 (flat) and 1.08 (cum)."""

LIMIT = 3.0
"""Standard deviations from which a change is significant; intervals of counts and means
reach this far on either side."""

FALSE_DISCOVERIES = 0.05
"""Share of significant rows in a table that may be wrong (Benjamini, Hochberg 1995)."""

SAMPLES_FOR_ROW = 10.0
"""Rows with fewer samples over both sides are not judged and do not count among a
table's tests: 0 against 11 samples is `LIMIT` deviations. A filter that ignores the
difference keeps the error rate (Bourgon et al. 2010, PNAS 107(21))."""

ALPHA = 0.05
"""The level of benchmark tests, as in golang.org/x/perf/benchmath."""

CONFIDENCE = 0.95
"""The confidence of a median's interval, as in golang.org/x/perf/benchmath."""

SAMPLES_FOR_INTERVAL = 6
"""The fewest values whose median has a finite interval: 1 - 2 / 2**6 = 0.97, but
1 - 2 / 2**5 = 0.94."""

SAMPLES_FOR_TEST = 4
"""The fewest values per side that can differ at `ALPHA`: 2 / C(8, 4) = 0.029, while 2 /
C(6, 3) = 0.1."""

DRAWS = 1000
"""Number of bootstrap resamples: the 2.5% tails hold 25 each."""

FEWEST_BLOCKS, MOST_BLOCKS = 5, 64
"""Blocks of durations to resample. Five allow only 126 different resamples, so fewer
are not judged; beyond 64, neighbors are drawn together, to keep their correlation."""

CYCLES_FOR_MEAN = 5
"""The fewest GC cycles that show how much cycles vary."""

EVENTS_FEW, EVENTS_CHI_SQUARE = 3, 6.63
"""A trace with fewer GC cycles shows what happened, not what is usual, unless the
counts differ by more than Poisson allows (chi-square, one degree of freedom, 1%)."""

LOAD_SURE = 1.15
"""From this factor on, beyond its own uncertainty, a ratio shared by unchanged code
means a different load."""

WAITS = 200
"""Quantiles of fewer waits say little: p99 leaves two above it."""

LONG_NS = 1_000_000_000
"""Shorter traces show moments: in ten of 0.2 s of one program, on a machine with other
work, p99 scheduling latency was 11 to 31 ms; in another program, GC took 13 to 33%."""

TOTAL_SIGMA = 0.15
"""Run-to-run deviation of the logarithm of time/op or CPU/op of one build: 12 to 17% in
six of seven sets of 24 runs of 3 s on virtual machines, quiet guests among them; 3% in
one."""

BUSY_FROM, BUSIER_FROM = 0.05, 0.1
"""If ``runtime.asyncPreempt`` has this share of CPU samples on either side, the wall
clock says less, and from the second one on little."""

BUSY_SIGMA, BUSIER_SIGMA = 0.3, 0.8
"""Deviations of the logarithm of time/op then. Pairs of runs of one build, in nine sets
of three programs, by the larger share of both: below 5%, time/op differed by 3 to 6%
from run to run, at 7 to 10% by 16%, of which this is twice, from 10% on by 37 to 61%
(83% in the worst set). CPU/op differed by 2 to 6% throughout."""

TOTAL_PRIOR = 1
"""Degrees of freedom that `TOTAL_SIGMA` counts for, in addition to the runs."""

TOTAL_FREEDOM = 4
"""From this many degrees of freedom on, three runs per side, only runs show how far
they differ. CPU/op of one build differed by 2 to 6% in seven sets of 45 to 60 runs of 3
s, where the prior would keep hiding changes of 10%."""

ROW_FREEDOM = 10
"""Degrees of freedom that the trend of all rows counts for in a row's variance. In
fourteen sets of 24 runs (flat and cum of three workloads, quiet and busy), rows
differed from the trend by hardly more than chance, except `runtime.asyncPreempt`; above
10, a few atypical rows would alarm (Smyth 2004 estimates it, some papers cap it)."""

ONE_DISPERSION, ONE_SHARED, ONE_FREEDOM = 1.5, 0.005, 30
"""How far CPU rows of one run per side differ between runs of one build: φ and c² of
`run_spread`, and the degrees of freedom they are taken to be known with. Over all pairs
of 23 or 24 runs of nine sets (three programs, about 200 samples per run, idle to
contended), `DISPERSION` alone marked a row in up to 8% (cum) and 16% (groups) of pairs;
with c² of 0.01 added, in 8%; with these three, in at most 1% (with φ of 1.25 instead,
reports of the worst set marked a cum row in 6% of 100 splits). φ was 0.9 to 1.4 (mean
of a set's rows by size; 2.9 for GC groups in the most contended set), and 0.9 to 1.1 in
eight runs of 1500 samples, where c² was below 0.003. 7% (the root of c²) is the middle
of the 0 to 16% of other sets. Allocation samples show none of it: φ 0.5 to 1.4 up to
1000 samples, per op and as shares."""

TURNS_TOGETHER = 4
"""Turns whose mean is one observation: two start with base, two with new. All have one
function layout where `measure` varies it."""

LAYOUT_SIGMA = 0.035
"""Deviation of the logarithm of time/op between function layouts of one program: root
mean square of 23 benchmarks in nine modules, each linked with eight function orders."""

FEW_TURNS = 2
"""From so many turns on a change may be larger than the machine makes one."""

FEW_SIGMA = 0.85
"""Deviation of the logarithm of a turn's ratio, where there are but a few turns. On two
processors, at loads up to 20, as many turns of one build as others of it differed by up
to (CPU/op, time/op): two turns by 2.8 and, once, 5.6 times (4,076 pairs), three by 2.9
and 3.4 (2,260), four by 1.8 and 3.1 (1,718), six by 1.8 and 2.0 (730). This reaches
4.7, 3.5, 3.0 and 2.4 times at 99%, and both figures must agree."""

TOTAL_LEAST = 0.006
"""Runs differ by at least this (deviation of the logarithm): totals of CPU profiles
were this far from what the kernel counted for the process."""

OUTLYING = 5.0
"""Deviations from the other runs' median from which a run is an outlier."""

OUTLYING_LEAST = 1.10
"""A run within this factor of the others is no outlier: one of three that is this far
off shifts the mean by 3%, hardly more than `SAME_WITHIN`."""

SERIAL_VALUES = 2
"""This many consecutive values of one process say as much about run-to-run variation as
one more run: neighbors correlate by +0.55."""

SERIAL_SPREAD = 2.0
"""Variance of runs ÷ variance of values within one, from the same correlation."""


class Prior(NamedTuple):
    """How far figures of an unchanged build may differ with one run per side.

    A change exceeds the prior if the figures differ by `ratio` or more and by `points`
    or more (absolute, in the figure's unit), or by `always` or more whatever the ratio.
    A side with fewer `events` is not judged, nor, with `long`, one below `LONG_NS`.
    """

    ratio: float
    points: float = 0.0
    always: float = inf
    events: int = 0
    long: bool = False


LATENCY_SURE = Prior(10.0, events=1000, long=True)
"""Five traces of 2 s of one program, on a machine that also did other work, had p99
scheduling latencies of 2.4 to 16 ms, and their intervals did not overlap. Below
4 ms, a time slice that the operating system gives another process, they differed by
more: 0.21 and 3.98 ms."""

SHARE = Prior(1.5, points=0.02, always=0.10)
"""Shares of a goroutine's lifetime and of capacity: two points for a small share, ten
for a large one."""

GC_SHARE_SURE = Prior(5.0, points=0.05, long=True)
"""On a machine that also did other work, 2 s traces of one program had 14 to 26% GC,
0.2 s traces 13 to 33%; a program that rarely collects had 0.6 to 2.9%."""

BLOCKED = Prior(2.0)
"""Time goroutines are blocked, per second or per op: worth a sentence."""

QUEUE = Prior(1.10)
"""Mean number of runnable goroutines waiting for a P: worth half a sentence."""

CONTENTION = Prior(2.0)
"""Time waiting for locks in mutex profiles: worth a sentence."""

CONTENTION_SURE = Prior(8.0)
"""Lock wait time differs severalfold between runs of one build."""

SINCE_START = Prior(1.25)
"""Bytes per op of a process whose operations before the load are unknown: two captures
of one build at one rate differed by a factor of 1.16."""

CROWD = Prior(2.0)
"""Mean number of goroutines waiting for locks at a time, if one or more. In three
programs with one hot lock each, over seven runs of 3 s on a machine that also did other
work, 7.1 to 8.0, 3.1 to 4.8 and 7.2 to 13 waited, while delay per op, which depends on
the machine, differed by factors of 2.1, 2.7 and 2.4."""

IN_FLIGHT = Prior(4.0)
"""What in-flight requests hold at one instant: memory and goroutines. An HTTP server
under 40, 300 and 1000 clients that pause, profiled at 32 instants, had 48 to 161, 594
to 1096 and 1138 to 3306 goroutines: factors of up to 3.4 (up to 3.1 in its heap
profiles, which have few samples). Requests come in clumps, and each client's connection
has several goroutines. Go counts goroutines without sampling, so there is no other
noise."""

GOROUTINES = IN_FLIGHT._replace(points=20)
"""With few goroutines any factor is possible: a client or timer starts some at once."""


class Spread(NamedTuple):
    """Run-to-run deviation of a figure's logarithm for one build.

    `sigma` is the standard deviation to use with one run per side. `least` is a floor
    for the deviation of runs. `sigma` counts for `freedom` degrees of freedom however
    many runs there are; below `TOTAL_FREEDOM` it counts for at least `TOTAL_PRIOR`.
    """

    sigma: float
    least: float = 0.01
    freedom: float = 0.0


# From GC logs of seven sets of 23 or 24 runs of one build, 3 s each, of three programs
# (JSON documents, texts, an HTTP server) on a two-core machine, at load averages of 1.5
# to 6 and of 5 to 20. Ranges are the deviation of the logarithm of each run's figure,
# from the set with the least to the set with the most; constants are near the most,
# since one run does not show which kind of machine it ran on. Consecutive runs are
# alike (lag-1 up to +0.8), so pairs of them differ by less.

GC_PAUSES = Spread(1.5, least=0.03)
"""Pause quantiles. p50 0.29 to 1.37, p95 0.60 to 1.29, p99 0.53 to 1.54 (root mean
square 1.20), longest 0.79 to 1.64: a pause includes the wait until every thread has
stopped, and on a shared machine one that waits for a CPU delays all. Rounding in the
log cuts off up to a tenth of a pause."""

GC_STOPS = Spread(1.1)
"""Total stop-the-world time, wall and CPU: 0.37 to 1.13; sweep termination 0.56 to
1.19."""

GC_MARKING = Spread(0.9)
"""Marking: wall time 0.28 to 0.79, assists 0.24 to 0.82, background 0.18 to 0.86; CPU
of a cycle, stops included, 0.36 to 1.06."""

GC_IDLE = Spread(2.5)
"""Idle marking, on Ps with nothing else to run: 0.39 to 3.3."""

GC_RATES = Spread(0.8)
"""Cycles and bytes allocated, per second or per log: they depend on how much the
machine gives the program, 0.17 to 0.83."""

GC_SHARES = Spread(0.6)
"""GC's share of capacity, 0.13 to 0.51, and of time marking, 0.05 to 0.62."""

GC_DURING_MARK = Spread(0.45)
"""Bytes allocated while marking: 0.08 to 0.45."""

GC_HEAP = Spread(0.12)
"""Heap sizes and bytes per cycle, of heaps of 3 to 5 MiB: 0.01 to 0.12."""

GC_WORK = Spread(0.14)
"""Cycles per op: logs of equal numbers of operations had 0.02 to 0.14."""

TRACED = Spread(0.5, least=0.03, freedom=1)
"""Rows of trace tables, ns per second. Over 12 traces of 0.5 to 0.6 s of each of two
programs (JSON documents, an HTTP server), a table's median row had a deviation of 0.02
to 1.25: a row may be a handful of events. So this spread adds to the runs' own: without
it, 3 + 3 of the 12 marked a row of a table in up to 11% of 300 splits. With it that is
2.4% on average over 22 tables, but above 5% in four (5.7 to 7.3%); 10% and 14% of
splits had a row in some table. With 5 + 5, no table had one in over 4%."""

TRACED_LEAST = 1e-3
"""A row with less than this part of a trace counts as this much, so that rows missing
from some traces have a ratio: to be marked, time has to come or go in every run. Rows
below it in every trace are not judged. At a tenth of it, three more tables exceeded 5%:
a runtime goroutine runs in one trace and not in another."""

WAITED = Spread(0.9, least=0.03, freedom=1)
"""Time that waits ended at one thing. Over 8 traces of 0.2 to 0.5 s of each of eight
programs with one planted wait, on a machine that also did other work, deviations were
0.00 to 0.77 for what was planted, and 0.11 to 1.03 for a processor."""
