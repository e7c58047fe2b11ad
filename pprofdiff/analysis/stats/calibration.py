"""Every constant by which a change is told from chance, and what it rests on.

There are two questions. *Within a run*: could sampling, or the order of events, have
made this difference? Tests answer it, at the levels below. *Between runs*: would
another run of the same build differ as much? One run a side cannot show that; a
`Prior`, measured on unchanged builds, stands in for it.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

__all__ = [
    "ALPHA",
    "BLOCKED",
    "BLOCKED_SURE",
    "BUSY_FROM",
    "BUSY_SIGMA",
    "CEILING",
    "CONFIDENCE",
    "CONTENTION",
    "CONTENTION_SURE",
    "CROWD",
    "CYCLES_FOR_MEAN",
    "DISPERSION",
    "DRAWS",
    "EVENTS_CHI_SQUARE",
    "EVENTS_FEW",
    "EXPECTED_FOR_ABSENCE",
    "FALSE_DISCOVERIES",
    "FEWEST_BLOCKS",
    "GC_DURING_MARK",
    "GC_HEAP",
    "GC_IDLE",
    "GC_LIFE_SURE",
    "GC_MARKING",
    "GC_PAUSES",
    "GC_RATES",
    "GC_SHARES",
    "GC_SHARE_SURE",
    "GC_STOPS",
    "GC_WORK",
    "GOROUTINES",
    "IN_FLIGHT",
    "LATENCY",
    "LATENCY_SURE",
    "LAYOUT_SIGMA",
    "LIMIT",
    "LOAD_SURE",
    "LONG_NS",
    "MOST_BLOCKS",
    "ONE_DISPERSION",
    "ONE_FREEDOM",
    "ONE_SHARED",
    "OUTLYING",
    "OUTLYING_LEAST",
    "QUEUE",
    "ROW_FREEDOM",
    "SAMPLES_FOR_INTERVAL",
    "SAMPLES_FOR_ROW",
    "SAMPLES_FOR_TEST",
    "SERIAL_SPREAD",
    "SERIAL_VALUES",
    "SHARE",
    "SINCE_START",
    "SLICE_NS",
    "TOTAL_FREEDOM",
    "TOTAL_LEAST",
    "TOTAL_PRIOR",
    "TOTAL_SIGMA",
    "TRACED",
    "TRACED_LEAST",
    "TURNS_TOGETHER",
    "WAITS",
    "Prior",
    "Spread",
]

DISPERSION = 1.25
"""Variance of a sample count ÷ its mean. Poisson's is 1; over six pairs of runs of one
build, z had a root mean square of 1.11 (flat) and 1.08 (cum)."""

LIMIT = 3.0
"""Standard deviations from which a change is told from chance; intervals of counts
and of means reach as far on either side."""

FALSE_DISCOVERIES = 0.05
"""Of the rows of one table that are called changed, the share that may be wrong
(Benjamini and Hochberg, 1995)."""

SAMPLES_FOR_ROW = 10.0
"""Rows with fewer samples over both sides are not judged, and so do not count among the
tests that one table makes: 0 against 11 samples are `LIMIT` deviations. A filter that
does not look at the difference keeps the rate (Bourgon et al. 2010, PNAS 107(21))."""

EXPECTED_FOR_ABSENCE = 7
"""So many samples expected: none at all has a chance of exp(-7), one in a thousand."""

ALPHA = 0.05
"""The level of tests on benchmarks: that of golang.org/x/perf/benchmath."""

CONFIDENCE = 0.95
"""The confidence of a median's interval: that of golang.org/x/perf/benchmath."""

SAMPLES_FOR_INTERVAL = 6
"""The fewest values whose median has a finite interval: 1 - 2 / 2**6 = 0.97, but
1 - 2 / 2**5 = 0.94."""

SAMPLES_FOR_TEST = 4
"""The fewest values a side that can differ at `ALPHA`: 2 / C(8, 4) = 0.029, but
2 / C(6, 3) = 0.1."""

CEILING = ALPHA / 2
"""The level of one-sided tests on pauses: one end of a 95 % interval."""

DRAWS = 1000
"""How often a bootstrap draws again: its 2.5 % tails hold 25 draws each."""

FEWEST_BLOCKS, MOST_BLOCKS = 5, 64
"""Blocks of durations that are drawn again. Fewer than five have at most 126 different
draws; beyond 64, neighbours are drawn together, which keeps what hangs together."""

CYCLES_FOR_MEAN = 5
"""Fewer GC cycles than this do not show how much cycles vary."""

EVENTS_FEW, EVENTS_CHI_SQUARE = 3, 6.63
"""Of fewer GC cycles a trace shows what happened, not what is usual, unless the numbers
are further apart than Poisson counts are (chi square of one degree, 1 %)."""

LOAD_SURE = 1.15
"""A ratio that unchanged code shares means another load from this factor on, beyond its
own uncertainty."""

WAITS = 200
"""Quantiles of fewer waits than this say little: 99 % of them leaves two."""

LONG_NS = 1_000_000_000
"""Traces shorter than this show moments: of ten of 0.2 s of one program, on a machine
that did other work too, 99 % of waits were within 11 to 31 ms, and GC took 13 to 33 %
of another."""

TOTAL_SIGMA = 0.15
"""How much time or CPU an operation differs from run to run of one build, as deviation
of its logarithm: 12 to 17 % in six of seven sets of 24 runs of 3 s on virtual machines,
quiet guests among them; 3 % in one."""

BUSY_FROM, BUSY_SIGMA = 0.05, 0.8
"""From this share of CPU samples in ``runtime.asyncPreempt`` on, on either side, the
wall clock tells little; then this is the deviation of its logarithm. Pairs of runs of
one build, in nine sets of three programs, by the larger share of both: below 5 % time
an operation differed by 3 to 6 % from run to run, at 7 to 10 % by 16 %, from 10 % on by
37 to 61 % (83 % in the worst set). CPU an operation differed by 2 to 6 % throughout."""

TOTAL_PRIOR = 1
"""For how many degrees of freedom `TOTAL_SIGMA` counts beside runs that are known."""

TOTAL_FREEDOM = 4
"""From so many degrees of freedom on, three runs a side, runs show by themselves how
far they differ. CPU an operation of one build differed by 2 to 6 % in seven sets of 45
to 60 runs of 3 s, where the prior would hide changes of 10 % for long."""

ROW_FREEDOM = 10
"""For how many degrees of freedom the trend of all rows counts in a row's variance. In
fourteen sets of 24 runs (flat and cum of three workloads, quiet and busy) rows differed
from the trend by hardly more than chance, `runtime.asyncPreempt` apart; more than 10
would have a few unlike rows alarm (Smyth 2004 estimates it, some papers cap it so)."""

ONE_DISPERSION, ONE_SHARED, ONE_FREEDOM = 1.5, 0.005, 30
"""How far rows of CPU of one run a side differ between runs of one build: φ and c² of
`run_spread`, and the degrees of freedom that both are taken to be known with. Of all
pairs of 23 or 24 runs of nine sets (three programs, about 200 samples a run, idle to
contended), a row was marked in up to 8 % (cum) and 16 % (groups) by `DISPERSION` alone,
in 8 % with c² of 0.01 beside it, and in at most 1 % with these three (with φ of 1.25
among them, reports of the worst set marked a row of cum in 6 % of 100 splits). φ was
0.9 to 1.4 (mean of a set's rows by size; 2.9 of GC's groups in the most contended one),
and 0.9 to 1.1 in eight runs of 1500 samples, where c² was below 0.003. 7 % (the root of
c²) is in the middle of what other sets had, 0 to 16 %. Allocation samples have none of
it: φ 0.5 to 1.4 up to 1000 samples, by operation and as shares."""

TURNS_TOGETHER = 4
"""Turns whose mean is one observation: two begin with base, two with new. All are of
one layout of functions where `measure` varies it."""

LAYOUT_SIGMA = 0.035
"""How far time per operation differs between layouts of one program (deviation of the
logarithm): the root of the mean square of 23 benchmarks of nine modules, each linked
with eight orders of its functions."""

TOTAL_LEAST = 0.006
"""Runs differ by no less: CPU profiles' totals differed by so much from what the kernel
counted for the process (deviation of the logarithm)."""

OUTLYING = 5.0
"""How many deviations from the other runs' median a run is told as an outlier."""

OUTLYING_LEAST = 1.10
"""Runs that are less than this factor from the others are no outliers: of three runs,
one that far off moves the mean by 3 %, hardly more than `SAME_WITHIN`."""

SERIAL_VALUES = 2
"""So many values that one process measured one after the other say as much of how runs
differ as one more run: neighbours correlate by +0.55."""

SERIAL_SPREAD = 2.0
"""Variance of runs over that of values within one, from the same correlation."""


class Prior(NamedTuple):
    """How far runs of one unchanged build may be apart, where one run is known.

    A change is beyond it if the figures differ by `ratio` or more and by `points` or
    more (absolute, in the figure's unit), or by `always` or more whatever the ratio. A
    side with fewer `events` tells nothing, nor does one shorter than `LONG_NS` where
    `long` is set.
    """

    ratio: float
    points: float = 0.0
    always: float = inf
    events: int = 0
    long: bool = False


LATENCY = Prior(1.5, events=WAITS)
"""p99 of waits for a processor: worth a sentence. Runs differ by more than the chance
within each."""

LATENCY_SURE = Prior(10.0, events=1000, long=True)
"""Five traces of 2 s of one program, on a machine that did other work too, had 99 % of
waits within 2.4 to 16 ms, and their intervals did not overlap. Below `SLICE_NS` waits
differed by more."""

SLICE_NS = 4_000_000
"""A time slice that the operating system gives another process on a busy machine. Two
traces of one program, one beside other work, had 99 % of waits within 0.21 and 3.98 ms.
"""

SHARE = Prior(1.5, points=0.02, always=0.10)
"""Shares of a goroutine's life, and of capacity: two points in a small share, ten in a
large one."""

GC_LIFE_SURE = Prior(5.0, points=0.10, long=True)
"""Traces of 2 s of one program had 7 to 18 %, and 12 to 30 %, of life in GC work."""

GC_SHARE_SURE = Prior(5.0, points=0.05, long=True)
"""Traces of 2 s of one program, on a machine that did other work too, had 14 to 26 % of
GC, those of 0.2 s 13 to 33 %, and of another that hardly collects 0.6 to 2.9 %."""

BLOCKED = Prior(2.0)
"""Time that goroutines are blocked, a second or an operation: worth a sentence."""

BLOCKED_SURE = Prior(8.0, events=WAITS, long=True)
"""More than runs of one build differ by, where so many waits make up the time."""

QUEUE = Prior(1.10)
"""Goroutines that wait for a processor, on average: worth half a sentence."""

CONTENTION = Prior(2.0)
"""Time waited for locks, as mutex profiles count it: worth a sentence."""

CONTENTION_SURE = Prior(8.0)
"""Waiting for locks differs by several times between runs of one build."""

SINCE_START = Prior(1.25)
"""Bytes an operation, of a process whose operations before the load are not known: two
captures of one build by one rate were 1.16 apart."""

CROWD = Prior(2.0)
"""Goroutines that wait for locks at a time, where that is one or more on average. Three
programs with one hot lock each, seven runs of 3 s on a machine that did other work too:
7.1 to 8.0, 3.1 to 4.8 and 7.2 to 13 waited, while delay an operation, which the machine
moves, was 2.1, 2.7 and 2.4 times as long in one run as in another."""

IN_FLIGHT = Prior(4.0)
"""What requests in flight hold, at one instant: memory and goroutines. An HTTP server
under 40, 300 and 1000 clients that pause, profiled at 32 instants, had 48 to 161, 594
to 1096 and 1138 to 3306 goroutines, so factors of up to 3.4 (its heap profiles, of few
samples, up to 3.1): requests come in clumps, and each client's connection has several
goroutines. Go counts goroutines and samples none, so this is all that chance does."""

GOROUTINES = IN_FLIGHT._replace(points=20)
"""Few goroutines make any factor: a client or a timer brings some at once."""


class Spread(NamedTuple):
    """How far the logarithm of a figure differs from run to run of one build.

    `sigma` is the standard deviation that one run a side has for its own; `least` is
    the one that runs are never taken to stay below, as the log rounds its numbers.
    `freedom` is for how many degrees of freedom `sigma` counts however many runs there
    are; below `TOTAL_FREEDOM` it counts for `TOTAL_PRIOR` at least.
    """

    sigma: float
    least: float = 0.01
    freedom: float = 0.0


# GC logs of seven sets of 23 or 24 runs of one build, 3 s each, of three programs on a
# machine of two cores: JSON documents, texts and an HTTP server, beside load averages
# of 1.5 to 6 and of 5 to 20. What is given is the deviation of the logarithm of each
# run's figure, in the set where it is least and where it is most; the constant is near
# the most, since one run does not show which kind of machine it ran on. Neighbours in
# time are alike (lag-1 up to +0.8), so that pairs of them differ by less.

GC_PAUSES = Spread(1.5, least=0.03)
"""Quantiles of pauses. p50 0.29 to 1.37, p95 0.60 to 1.29, p99 0.53 to 1.54 (root mean
square 1.20), the longest 0.79 to 1.64: a pause ends when every thread has stopped, and
on a shared machine one that waits for a CPU holds up all. A log cuts off as much as a
tenth of one pause."""

GC_STOPS = Spread(1.1)
"""Stop-the-world time in all, wall and CPU: 0.37 to 1.13; sweep termination 0.56 to
1.19."""

GC_MARKING = Spread(0.9)
"""Marking: wall time 0.28 to 0.79, by assists 0.24 to 0.82, in the background 0.18 to
0.86; CPU of a cycle, with its stops, 0.36 to 1.06."""

GC_IDLE = Spread(2.5)
"""Marking by processors that have nothing else to do: 0.39 to 3.3."""

GC_RATES = Spread(0.8)
"""Cycles and bytes allocated a second, or in a log: they go by what the machine gives
the program, 0.17 to 0.83."""

GC_SHARES = Spread(0.6)
"""Share of capacity that the collector has, 0.13 to 0.51, and of time that it marks,
0.05 to 0.62."""

GC_DURING_MARK = Spread(0.45)
"""Bytes allocated while marking: 0.08 to 0.45."""

GC_HEAP = Spread(0.12)
"""Heap sizes and bytes a cycle, of heaps of 3 to 5 MiB: 0.01 to 0.12."""

GC_WORK = Spread(0.14)
"""Cycles an operation: logs of the same number of operations had 0.02 to 0.14."""

TRACED = Spread(0.5, least=0.03, freedom=1)
"""Rows of tables on traces, ns a second. Of 12 traces of 0.5 to 0.6 s of each of two
programs (JSON documents, an HTTP server), a table's middle row had a deviation of 0.02
to 1.25: a row may be a handful of events. So the spread counts beside the runs' own:
without it, 3 + 3 of the 12 had a row of a table marked in up to 11 % of 300 splits.
With it that is 2.4 % on average over 22 tables, but above 5 % in four of them (5.7 to
7.3 %); any of all tables had one in 10 and 14 % of splits. Of 5 + 5, no table had one
in more than 4 %."""

TRACED_LEAST = 1e-3
"""Less time than this part of a trace is taken for so much, so that a row that some
traces have none of has a ratio: to be marked, time has to come or go in every run. Rows
that no trace has more of are not judged. At a tenth of it, three tables more were above
5 %: a goroutine of the runtime runs in one trace and not in another."""
