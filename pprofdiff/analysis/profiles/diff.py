"""The difference of two profiles of one kind: `compare` returns a `ProfileDiff`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Judgement, Runs
from pprofdiff.analysis.judge.run_spread import (
    ONE_RUN,
    Pairs,
    RunSpread,
    one_run,
    spread_of,
)
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.judge.totals import InTurns
from pprofdiff.analysis.ledger.codes import Attribution
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.ledger.views import Ledger, sums_by_run
from pprofdiff.analysis.normalization import choose, counted
from pprofdiff.analysis.policy import FEW_SAMPLES, SAMPLED_BYTES
from pprofdiff.analysis.profiles.caveats import comparability
from pprofdiff.analysis.profiles.dimensions import dimensions
from pprofdiff.analysis.profiles.kinds import (
    WEIGHT,
    counting_column,
    counts_of,
    is_counted,
    is_cpu,
    is_heap,
    is_of_go,
    is_of_goroutines,
    is_of_trace,
    is_snapshot,
    is_state,
    is_time_of,
    is_wall,
    kind_name,
    primary_column,
)
from pprofdiff.analysis.profiles.rows import (
    Granularity,
    PairedRows,
    SampleValues,
    pair_rows,
)
from pprofdiff.analysis.profiles.side import (
    Exposure,
    ProfileSide,
    counts_by_run,
    exposures_of,
    operations_of_both,
    shared_ratio,
)
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.analysis.work import Work
from pprofdiff.errors import IncompatibleProfilesError
from pprofdiff.identity.deciding import identify
from pprofdiff.identity.model import SAME_NAMES, Identity
from pprofdiff.model.csr import any_in_row, take_rows
from pprofdiff.model.profiles.merge import equal_samples
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.units import clipped, comparable

# Names of the sample count column: in Go and gperftools, in Node.js.
_SAMPLES = ("samples", "sample")
# Most sample types listed in the error for a missing one.
_MOST_TYPES = 8
# Modes in which a slowdown of all code alike cancels out.
_NO_TOTALS = ("composition", "share", "about")
# Cached properties with raw values only, independent of the normalization.
_UNSCALED = ("values", "_samples", "totals", "ledger")
_TIMES = ("nanoseconds", "microseconds", "milliseconds", "seconds")


class ProfileDiff(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """The difference between two sides in one sample type.

    `base_column` and `new_column` are the compared columns of each side's values. Raw
    numbers are integers in `unit`; scaled numbers are raw numbers times the factors of
    `normalization`. `identity` maps base's functions to new's. `exposures` are the
    operations in each run of a side, None if unknown. `in_turns` says whether base and
    new runs alternated, first with first; `pairs` pairs runs on the same host. `turns`
    is the cost per op in each round, measured other than by sampling. `cautious` judges
    rows as strictly as sentences, for when no verdict says that something changed.
    """

    base: ProfileSide
    new: ProfileSide
    base_column: int
    new_column: int
    normalization: Normalization
    warnings: tuple[Caveat, ...]
    identity: Identity = SAME_NAMES
    exposures: tuple[Exposure, Exposure] = (None, None)
    in_turns: bool = False
    pairs: Pairs | None = None
    turns: InTurns | None = None
    cautious: bool = False

    def __repr__(self) -> str:
        """Return a one-line summary: sample type, totals and their delta."""
        base, new = self.totals
        return (
            f"<{type(self).__name__} {self.sample_type.type}/{self.unit}: "
            f"base {base}, new {new}, delta {new - base:+d}>"
        )

    def scaled_by(self, normalization: Normalization) -> ProfileDiff:
        """Return the same diff in another scaling, reusing the sums computed so far."""
        scaled = replace(self, normalization=normalization)
        known = vars(self)
        vars(scaled).update({key: known[key] for key in _UNSCALED if key in known})
        vars(scaled)["_pairs"] = {
            granularity: rows.scaled_by(normalization, scaled.model)
            for granularity, rows in self._pairs.items()
        }
        return scaled

    @cached_property
    def name(self) -> str:
        """Go's name for this kind of profile, such as cpu, allocs or mutex."""
        return kind_name(self.new.profile)

    @property
    def title(self) -> str:
        """The name, plus the sample type if it differs: allocs (alloc_space)."""
        counted = clipped(self.sample_type.type)
        return self.name if self.name == counted else f"{self.name} ({counted})"

    @property
    def sample_type(self) -> ValueType:
        """The compared sample type."""
        return self.new.profile.sample_types[self.new_column]

    @property
    def unit(self) -> str:
        """The unit of all raw numbers."""
        return self.sample_type.unit

    @cached_property
    def values(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each side's values of the compared type: int64, one per sample."""
        base, new = self.base.profile, self.new.profile
        return base.values[:, self.base_column], new.values[:, self.new_column]

    @property
    def run_values(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each side's `values` per run: int64 of shape (samples, runs)."""
        return (
            self.base.by_run[:, :, self.base_column],
            self.new.by_run[:, :, self.new_column],
        )

    @property
    def by_run(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """`run_values`, or None with one run per side."""
        several = len(self.base.runs) > 1 or len(self.new.runs) > 1
        return self.run_values if several else None

    def runs_of(
        self, rows: tuple[NDArray[np.integer], NDArray[np.integer]], size: int
    ) -> Runs[NDArray[np.int64]]:
        """Return raw sums per run of any grouping of samples, for `judge_runs`.

        `rows` is the row of each sample of (base, new), in [0, size), or -1 for none.
        """
        return sums_by_run(self.run_values, rows, size)

    @property
    def whole(self) -> Runs[NDArray[np.int64]]:
        """The totals as one row to judge, in a single run.

        Rows by run show how a row's share varies, and a total has no share. How far
        totals vary between runs is `RunSpread.common`.
        """
        base, new = (np.array([total], np.int64) for total in self.totals)
        return Runs.single(base, new)

    @cached_property
    def _samples(self) -> tuple[SampleValues, SampleValues]:
        base, new = (
            SampleValues(side.profile, values, keys)
            for side, values, keys in zip(
                (self.base, self.new), self.run_values, self.identity.sides, strict=True
            )
        )
        return base, new

    @cached_property
    def totals(self) -> tuple[int, int]:
        """The raw sums of all values, base and new."""
        base, new = self.values
        return int(base.sum()), int(new.sum())

    def having(
        self, rows: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which samples of (base, new) have a chosen function on their stack.

        `rows` marks rows of `paired_functions`.
        """
        return self.having_on(0, rows), self.having_on(1, rows)

    def having_on(self, side: int, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which samples of one side have a chosen function; see `having`."""
        profile = (self.base, self.new)[side].profile
        lines = rows[self.paired_functions.of_lines[side]]
        located = any_in_row(lines, profile.locations.line_offsets)
        offsets, samples = profile.samples_at
        having = np.zeros(len(profile), np.bool_)
        having[take_rows(offsets, samples, np.flatnonzero(located))[1]] = True
        return having

    def walked(
        self, side: int
    ) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield (samples, functions, offsets) of stacks, one function per frame.

        Functions are rows of `paired_functions`.
        """
        of_line = self.paired_functions.of_lines[side]
        for start, stop, frames in walk((self.base, self.new)[side].profile):
            yield slice(start, stop), of_line[frames.line], frames.offsets

    @property
    def spans_ns(self) -> tuple[int | None, int | None]:
        """How long the profiles of base and new took, 0 or None if unknown."""
        return self.base.profile.duration_ns, self.new.profile.duration_ns

    @cached_property
    def model(self) -> CountModel | None:
        """The noise model; None if it is unknown what one sample is worth.

        Being `cautious` of one run a side, nothing is known of what runs differ by.
        """
        model = self._of_chance()
        if model is None or not self.cautious:
            return model
        alone = self.by_run is None and self.of_running_code
        return None if alone else model.cautious

    def _of_chance(self) -> CountModel | None:
        base = _sample_worth(self.base, self.base_column)
        new = _sample_worth(self.new, self.new_column)
        if base is None or new is None:
            return None
        model = CountModel.of((base, new), self.normalization)
        if self.normalization.mode == "about" and is_heap(self.new.profile):
            model = model._replace(since_start=not all(self.spans_ns))
        if self.by_run is None:
            running = self.of_running_code
            spread = self._spread_of_one(model) if running else ONE_RUN
            return model._replace(spread=spread)
        return model._replace(spread=self._spread((base, new)))

    def _spread_of_one(self, model: CountModel) -> RunSpread:
        """Return the spread of single runs; only times depend on the machine."""
        base, new = self.totals
        if not model.sound or min(base, new) <= 0:
            return ONE_RUN
        worth, ratio = model.worth, 1.0
        # A slowdown of all code alike does not change shares.
        if self.normalization.mode not in _NO_TOTALS:
            columns = self.base_column, self.new_column
            shared = shared_ratio(self.base, self.new, columns, worth)
            # With too few functions, assume all of the total's change.
            ratio = shared or new * worth[0] / (base * worth[1])
            ratio *= model.new_step / model.base_step
        return one_run((base / worth[0], new / worth[1]), ratio)

    def _spread(self, worth: tuple[float, float]) -> RunSpread:
        """Return the run-to-run spread; `worth` is one sample's raw value per side."""
        shares = self.normalization.mode in _NO_TOTALS
        functions = None
        if self.pairs is not None:
            names = (s.profile.function_names() for s in (self.base, self.new))
            functions = [name for side in names for name in side]
        sides = [
            counts_by_run(*of, step, exposure, functions)
            for of, step, exposure in zip(
                ((self.base, self.base_column), (self.new, self.new_column)),
                worth,
                self.exposures,
                strict=True,
            )
        ]
        return spread_of(
            sides, totals=not shares, in_turns=self.in_turns, pairs=self.pairs
        )

    @cached_property
    def is_cpu(self) -> bool:
        """Whether samples are CPU time."""
        return is_cpu(self.new.profile) and not is_time_of("wall", self.sample_type)

    @cached_property
    def is_wall(self) -> bool:
        """Whether samples are a thread's wall time."""
        return is_wall(self.new.profile) and not self.is_cpu

    @cached_property
    def of_goroutines(self) -> bool:
        """Whether samples are all goroutines' time, running or not."""
        return is_of_goroutines(self.new.profile)

    @property
    def has_every_object(self) -> bool:
        """Whether these are allocs profiles of every object: exact counts."""
        sides = self.base.profile, self.new.profile
        return _have_every_object(*sides, self.sample_type)

    @cached_property
    def of_running_code(self) -> bool:
        """Whether samples are of running code: CPU or wall time, or only counted."""
        counted = is_counted(self.new.profile) and not self.of_goroutines
        return self.is_cpu or self.is_wall or counted

    @property
    def classified(self) -> bool:
        """Whether stacks are attributed: running code, and goroutine states."""
        return self.of_running_code or is_state(self.new.profile)

    @cached_property
    def grouped(self) -> bool:
        """Whether Go runtime groups apply: false for profiles of other producers."""
        return self.classified and any(
            is_of_go(side.profile) for side in (self.base, self.new)
        )

    def judge_runs(self, runs: Runs[NDArray[np.int64]]) -> Judgement | None:
        """Judge raw sums of `runs_of` together; None without a noise model."""
        return None if self.model is None else self.model.rows(runs)

    @property
    def paired_functions(self) -> PairedRows:
        """The functions of both sides, paired."""
        return self._paired("functions")

    @cached_property
    def _pairs(self) -> dict[Granularity, PairedRows]:
        return {}

    def _paired(self, granularity: Granularity) -> PairedRows:
        if granularity not in self._pairs:
            self._pairs[granularity] = pair_rows(
                *self._samples,
                granularity,
                self.normalization,
                self.model,
                classified=self.classified and granularity == "functions",
            )
        return self._pairs[granularity]

    def table(
        self, granularity: Granularity | Literal["stacks"] = "functions"
    ) -> Table:
        """Return the table of functions, lines, files, packages or stacks."""
        if granularity == "stacks":
            return self._stacks
        return self._paired(granularity).table

    @cached_property
    def _stacks(self) -> Table:
        from pprofdiff.analysis.profiles.rows import stack_table

        return stack_table(
            self.paired_functions, *self._samples, self.normalization, self.model
        )

    @property
    def attributions(self) -> tuple[Attribution, Attribution] | None:
        """The attribution of each side's samples; None unless `classified`."""
        return self.paired_functions.attributions

    @cached_property
    def ledger(self) -> Ledger:
        """The dimensions of each sample, and all sums over them.

        Dimensions are ``leaf``, ``owner`` and ``place``; if samples are `classified`,
        also ``site``, ``payer``, ``category``, ``group`` and ``leaf_kind``. Functions
        are rows of `paired_functions`, the others index the tables of
        `goruntime.rules`. ``place`` is the function that a sample counts towards: the
        owner, or the leaf if there is none. ``site`` is the call site; ``payer`` is the
        owner, or the site if there is none.
        """
        return Ledger(self.run_values, dimensions(self.paired_functions))


def compare(  # noqa: PLR0913 - the options of a comparison, by keyword
    base: ProfileSide,
    new: ProfileSide,
    *,
    sample_type: str | int | None = None,
    normalize: bool = False,
    work: Work | None = None,
    identity: Identity | None = None,
    of_fleets: bool = False,
    in_turns: bool = False,
    pairs: Pairs | None = None,
) -> ProfileDiff:
    """Subtract base from new in one sample type.

    `sample_type` is as `Profile.sample_index` reads it in new, by default the one of
    `primary_column`. `normalize` scales new to the total of base, like pprof's
    ``-normalize``; `work` compares per op. Without `identity`, it is inferred from
    these two profiles. `of_fleets` means that runs are hosts. Raises UsageError if
    new has no such sample type, or both `normalize` and `work` are given;
    IncompatibleProfilesError if base lacks the sample type in the same unit.
    """
    if sample_type in (None, ""):
        new_column = primary_column(new.profile)
    else:
        new_column = new.profile.sample_index(sample_type)
    compared = new.profile.sample_types[new_column]
    base_column = _column_of(base, compared)
    totals = (
        int(base.profile.values[:, base_column].sum()),
        int(new.profile.values[:, new_column].sum()),
    )
    counts = counts_of(new.profile, compared)
    of_type = None if work is None else work.of(compared.type)
    if of_type is not None and is_of_trace(new.profile):
        # It covers the trace, not the time since process start.
        of_type = of_type._replace(ages=(None, None))
    operations = operations_of_both(base, new)
    if operations is not None and counts == "cost" and not normalize:
        # Otherwise values are sampled, and may exceed what benchmarks count.
        exact = _have_every_object(base.profile, new.profile, compared)
        few = (
            _has_few(totals[0], base, base_column),
            _has_few(totals[1], new, new_column),
        )
        normalization = counted(totals, operations, of_type, exact=exact, few=few)
    else:
        normalization = choose(
            totals=totals,
            durations_ns=(base.profile.duration_ns, new.profile.duration_ns),
            work=of_type,
            share=normalize,
            counts=counts,
            of_fleets=of_fleets,
        )
    caveats = comparability(base, new, work, normalization)
    if identity is None:
        identity = identify([base.profile], [new.profile])
    return ProfileDiff(
        base,
        new,
        base_column,
        new_column,
        normalization,
        caveats,
        identity,
        exposures_of(work, base, new),
        in_turns,
        pairs,
        None if work is None else work.turns.get(compared.type),
    )


def _column_of(side: ProfileSide, sample_type: ValueType) -> int:
    """Return the column of a sample type in a side's values."""
    if sample_type in side.profile.sample_types:
        return side.profile.sample_types.index(sample_type)
    if is_counted(side.profile) and WEIGHT in (
        sample_type.type,
        side.profile.sample_types[0].type,
    ):
        return 0
    known = ", ".join(map(_words, side.profile.sample_types[:_MOST_TYPES]))
    raise IncompatibleProfilesError(
        f"{side.runs[0].path} has no {_words(sample_type)} as the "
        f"other side has; it has: {known or 'no values'}; give two profiles of one kind"
    )


def _words(kind: ValueType) -> str:
    """Return a sample type as text: ``cpu/nanoseconds``."""
    return f"{clipped(kind.type)}/{clipped(kind.unit)}"


def _have_every_object(base: Profile, new: Profile, compared: ValueType) -> bool:
    return base.period == new.period == 1 and compared.type.startswith("alloc_")


def _has_few(total: int, side: ProfileSide, column: int) -> bool:
    """Return whether a side's total is that of few samples."""
    worth = _sample_worth(side, column)
    return worth is not None and total < FEW_SAMPLES * worth


def _sample_worth(side: ProfileSide, column: int) -> float | None:
    """Return what one sample adds to a column, None if unknown."""
    profile = side.profile
    counted, sampled = profile.sample_types[column], profile.period_type
    rate = profile.period if sampled is not None else None
    held = _of_memory(counted) and not rate
    if counted.type == WEIGHT or held:
        # Every stack has a sample, so samples are worth no more than the least.
        values = profile.values[:, column]
        most = SAMPLED_BYTES if held else np.iinfo(np.int64).max
        return float(values[values > 0].min(initial=most))
    if counted.type in _SAMPLES or is_counted(profile):
        return 1.0
    if profile.period and sampled is not None and sampled.unit == counted.unit:
        if sampled.type.casefold() in ("cpu", "space"):
            return float(profile.period)
        # Other producers sample other clocks, such as wall time.
        same = sampled.type == counted.type and counted.unit in _TIMES
        # libdatadog's period is 1 ns, and its clocks are exact.
        if (
            same
            and profile.period > 1
            and not (profile.values[:, column] % profile.period).any()
        ):
            return float(profile.period)
    return _mean_worth(side, column) if counted.unit in _TIMES else None


def _of_memory(counted: ValueType) -> bool:
    """Return whether a sample type is bytes in use at one moment."""
    return is_snapshot(counted) and comparable(counted.unit, "bytes")


def _mean_worth(side: ProfileSide, column: int) -> float | None:
    """Return a column's mean value per sample; None if nothing counts samples."""
    profile = side.profile
    counted = counting_column(profile, column)
    if counted is None:
        count = _taken_one_by_one(side, profile.sample_types[column])
    else:
        count = int(np.abs(profile.values[:, counted]).sum())
    total = int(np.abs(profile.values[:, column]).sum())
    return total / count if count and total else None


def _taken_one_by_one(side: ProfileSide, counted: ValueType) -> int:
    """Return how many samples of a clock were written one by one, 0 if none were.

    rbspy writes each, with the time since the last one; a producer that adds samples up
    writes a stack once.
    """
    if not any(is_time_of(clock, counted) for clock in ("cpu", "wall")):
        return 0
    profiles = [run.content for run in side.runs]
    apart = all(len(equal_samples(one)[0]) < len(one) for one in profiles)
    return sum(map(len, profiles)) if apart else 0


def cpu_of(diffs: Iterable[ProfileDiff]) -> ProfileDiff | None:
    """Return the CPU profile comparison; None unless both sides have samples."""
    return next((d for d in diffs if d.is_cpu and min(d.totals) > 0), None)


def of_type(diffs: Iterable[ProfileDiff], sample_type: str) -> ProfileDiff | None:
    """Return the comparison of a sample type, such as ``alloc_space``, or None."""
    return next((d for d in diffs if d.sample_type.type == sample_type), None)
