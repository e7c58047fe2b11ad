"""The internal control: a program's cost relative to its unchanged code.

On virtual machines CPU time per op varies by 12-14% between runs of one build, because
the host slows all code; shares of the total hardly vary. So unchanged code shows how
much work was done on how fast a machine, as reference genes do in sequencing, and no
operation count is needed.

Which code did not change is unknown. The estimate tries every *reading*: one function,
with or without its callees, or one row, changed by a factor of its own, and all other
rows share one ratio. The interval spans all readings that fit the counts about as well
as the best one. So no row is the reference just because it is large, and a chain of
calls that changed together is one vote. A plain change is removed before the others are
tried.

With several runs per side, runs show how much the cost relative to the rows varies, for
each reading, to first order. That variance is shrunk toward the expected one
(`run_spread`), and is never below the variance of counts.

The remaining assumption: apart from plain changes, one function with its callees
changed. If nearly all code is below one function, the ratio counts its calls. It counts
operations too only if code outside shares it, or if a goroutine calls the function over
and over (`Control.of_work`).
"""

from __future__ import annotations

from math import exp, inf, log
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.control.rows import ControlRows, control_rows
from pprofdiff.analysis.judge.calibration import ROW_FREEDOM
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.scaling import InferredWork, weighted_median
from pprofdiff.analysis.judge.student import reach
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.analysis.profiles.caveats import releases_apart
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Mask

Floats = NDArray[np.float64]

# Half-widths of intervals with a known deviation; 95% by default.
_REACH = reach(inf)
_QUANTILE = _REACH.of_95
# Readings count if their chi-square is this close to the best's (95%, one degree).
_AS_GOOD = 3.84
# A change is plain if chi-square falls by this: one in 2000 by chance, for about a
# hundred readings.
_PLAIN = 12.0
# Samples beyond which a row's weight no longer grows when the search starts.
_CAPPED = 200
# Variance of counts ÷ Poisson's, row by row between runs of one build. A larger one
# that rows show is used up to the limit, beyond which they do not agree.
_DISPERSION, _AGREED = 1.1, 2.0
# Run-to-run deviation (log) of a row of unchanged code, beyond counting.
_ROW_SPREAD = 0.02
# The same for what has no vote: GC and allocation; the rest of the runtime.
_MEMORY_SPREAD, _OTHER_SPREAD = 0.05, 0.30
# A reading needs this many unchanged rows, with this share of a side.
_ROWS, _PART = 5, 0.15
# Fewer rows are not enough to hold: among the six left, one misleading row is too many.
_ROWS_TO_HOLD, _MAJORITY = 8, 0.6
# An interval wider than ±25% is not worth a line.
_WIDEST = 0.5


class Control(NamedTuple):
    """The work that unchanged code shows, and the program's cost relative to it.

    `work` is new ÷ base of *raw* values; its `rows` are the number of rows that voted.
    `cost` is total_new / (work × total_base): 1.1 if an op costs 10% more at the
    machine's speed. Neither depends on how the comparison is normalized.

    `kept` is the fraction of rows on both sides that shares the ratio, `dispersion` the
    variance of their ratios ÷ the variance of counts. `reason` says for people why the
    rows do not agree well enough to report the cost, ``""`` if it `holds`. `one` means
    that nearly all rows that share the ratio are below one function: a cache in front
    of it scales them all.
    """

    work: InferredWork
    cost: Ratio
    kept: float
    dispersion: float
    one: bool
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether the rows agree well enough to report the cost."""
        return not self.reason

    @property
    def of_work(self) -> bool:
        """Whether the ratio is of operations, and known well enough to scale by it."""
        known = self.work.rows >= _ROWS_TO_HOLD and not self.one and self.agrees
        return known and log(self.work.high / self.work.low) <= _WIDEST

    @property
    def shows_work(self) -> bool:
        """Whether both the ratio and the cost can be reported."""
        return self.holds and self.of_work

    @property
    def agrees(self) -> bool:
        """Whether most rows share the ratio, as closely as their samples show."""
        return self.kept >= _MAJORITY and self.dispersion <= _AGREED


class _Readings(Struct, frozen=True, eq=False):
    """One entry per reading: fit, log ratio, and total weight of the unchanged rows."""

    chi_square: Floats
    ratio: Floats
    sums: Floats


_KNOWN: WeakKeyDictionary[ProfileDiff, Control | None] = WeakKeyDictionary()


def control(diff: ProfileDiff) -> Control | None:
    """Estimate new's cost relative to the code that did not change; cached.

    None if a sample's value is unknown, a side has no samples, or fewer than five rows
    have 40 samples over both sides.
    """
    if diff not in _KNOWN:
        _KNOWN[diff] = _control(diff)
    return _KNOWN[diff]


def keep_control(diff: ProfileDiff, scaled: ProfileDiff) -> ProfileDiff:
    """Return `scaled`, the same comparison rescaled, with the control of `diff`."""
    if diff in _KNOWN:
        _KNOWN[scaled] = _KNOWN[diff]
    return scaled


def _control(diff: ProfileDiff) -> Control | None:
    """Return the control of a comparison that is not cached."""
    model = diff.model
    if model is None or not model.sound or min(diff.totals) <= 0:
        return None
    rows = control_rows(diff, model)
    if len(rows) < _ROWS:
        return None
    estimated = _estimate(rows, _whole(diff, model))
    if estimated is None:
        return None
    reason = _doubt(estimated)
    if diff.is_cpu and releases_apart(diff.base, diff.new) is not None:
        reason = "the Go releases differ: unchanged source is compiled to other code"
    # Samples of one side may be worth more, as at a lower sampling rate.
    base, new = model.worth
    return estimated._replace(work=estimated.work.times(new / base), reason=reason)


class _Whole(Struct, frozen=True, eq=False):
    """All samples of (base, new), and their run-to-run variation beyond counting.

    `unvoted` is the variance of the log ratio of totals due to code that has no vote.
    The variance of one run times `runs`, the sum over both sides of 1 / runs, is the
    variance of a ratio of means. `by_run` holds each side's samples by run.
    """

    samples: Floats
    unvoted: float
    runs: float
    by_run: tuple[Floats, Floats] | None

    @property
    def row_spread(self) -> float:
        """The variance of an unchanged row's log ratio beyond counting."""
        return self.runs * _ROW_SPREAD**2


def _whole(diff: ProfileDiff, model: CountModel) -> _Whole:
    """Return what is known about all samples of a comparison."""
    worth = np.array(model.worth)
    totals = np.array(diff.totals) / worth
    runs = sum(1 / len(side.runs) for side in (diff.base, diff.new))
    by_run = None
    if diff.by_run is not None:
        base, new = (v.sum(axis=0) / w for v, w in zip(diff.by_run, worth, strict=True))
        by_run = base, new
    if not diff.classified:
        return _Whole(totals, 0.0, runs, by_run)
    sums = diff.ledger.every("group")
    shares = sums.base / diff.totals[0] + sums.new / diff.totals[1]
    ids = [group.id for group in rules().groups]
    groups = dict(zip(ids, shares.tolist(), strict=True))
    memory = sum(groups[g] for g in ("gc", "gc_tax", "alloc")) / 2
    other = sum(groups[g] for g in ("sched", "locks", "syscall")) / 2
    spread = (memory * _MEMORY_SPREAD) ** 2 + (other * _OTHER_SPREAD) ** 2
    return _Whole(totals, runs * spread, runs, by_run)


class _Agreement(Struct, frozen=True, eq=False):
    """The readings without plain changes; `plain` marks their rows.

    `weights` and `variance` are per row, of the log ratio, including `dispersion`.
    """

    readings: _Readings
    plain: Mask
    weights: Floats
    variance: Floats
    dispersion: float


def _estimate(rows: ControlRows, whole: _Whole) -> Control | None:
    """Return the control of these rows, whether or not it holds."""
    totals = whole.samples
    agreement = _agreement(rows, whole)
    if agreement is None:
        return None
    read, variance = agreement.readings, agreement.variance
    dispersion, plain = agreement.dispersion, agreement.plain
    beyond = (read.chi_square - read.chi_square.min()) / dispersion
    chosen = beyond <= _AS_GOOD
    ratio = read.ratio[chosen]
    changed = rows.changes.inside(np.flatnonzero(chosen))
    weights = np.where(changed, 0.0, agreement.weights) / read.sums[chosen, None]
    share = (rows.base / totals[0] + rows.new / totals[1]) / 2
    own = np.square(weights) @ variance
    of_totals = _DISPERSION * float((1 / totals).sum()) + whole.unvoted
    of_totals += whole.row_spread * float(share @ share)
    # Samples of unchanged rows count in both the ratio and the totals.
    of_cost = np.maximum(own - 2 * weights @ (share * variance) + of_totals, 0.0)
    own_reach = _QUANTILE * np.sqrt(own)
    cost_reach = _cost_reach(rows, whole, weights, of_cost)
    likely = np.exp(-beyond[chosen] / 2)
    middle = float(likely @ ratio / likely.sum())
    low, high = float((ratio - own_reach).min()), float((ratio + own_reach).max())
    log_totals = log(totals[1] / totals[0])
    sigma = (high - low) / (2 * _QUANTILE)
    cost_bounds = (
        exp(float((log_totals - ratio - cost_reach).min())),
        exp(float((log_totals - ratio + cost_reach).max())),
    )
    return Control(
        work=InferredWork(exp(middle), exp(low), exp(high), sigma, len(rows)),
        cost=_cost(exp(log_totals - middle), cost_bounds, sigma),
        kept=_kept(rows, plain),
        dispersion=dispersion,
        one=_beneath_one(rows, agreement),
    )


def _cost(cost: float, bounds: tuple[float, float], sigma: float) -> Ratio:
    """Return the cost with its intervals; `bounds` is the 95% one."""

    def as_wide(deviations: float) -> tuple[float, float]:
        part = deviations / _REACH.of_95
        low, high = (cost * (bound / cost) ** part for bound in bounds)
        return low, high

    narrow, wide = as_wide(_REACH.of_90), as_wide(_REACH.of_99)
    return Ratio(cost, *bounds, narrow, wide, sigma)


def _cost_reach(
    rows: ControlRows, whole: _Whole, weights: Floats, expected: Floats
) -> Floats:
    """Return how far the log of the cost reaches on either side, by reading.

    `expected` is its variance from counts and assumed run-to-run variation. To first
    order, a run's log cost relative to its side's is 1 minus the weighted mean over
    rows of the row's share of the run ÷ its share of the side.
    """
    if rows.by_run is None or whole.by_run is None:
        return _QUANTILE * np.sqrt(expected)
    if min(map(len, whole.by_run)) <= 1:
        return _QUANTILE * np.sqrt(expected)
    shown, freedom = np.zeros(len(weights)), 0
    for samples, totals in zip(rows.by_run, whole.by_run, strict=True):
        sampled, all_of_side = samples.sum(axis=1, keepdims=True), totals.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = samples / totals / (sampled / all_of_side)
        # A row missing on a side, or a run without samples, shows nothing.
        away = weights @ np.where(np.isfinite(parts), 1 - parts, 0.0)
        share = totals / all_of_side
        shown += np.square(away) @ np.square(share) * len(totals) / (len(totals) - 1)
        freedom += len(totals) - 1
    drawn = freedom + ROW_FREEDOM
    variance = (freedom * shown + ROW_FREEDOM * expected) / drawn
    return reach(drawn).of_95 * np.sqrt(np.maximum(variance, expected / _DISPERSION))


def _agreement(rows: ControlRows, whole: _Whole) -> _Agreement | None:
    """Remove plain changes, one after the other; None if too few rows are left."""
    totals, counts = whole.samples, rows.base + rows.new
    # Add one sample, split like the totals: a row may have none on a side.
    one = totals / totals.sum()
    logs = np.log((rows.new + one[1]) / (rows.base + one[0]))
    # Removed or added code is no reference.
    plain = np.minimum(rows.base, rows.new) < 1
    if plain.all():
        return None
    middle = weighted_median(logs[~plain], np.minimum(counts, _CAPPED)[~plain])
    while True:
        # Variance of a log ratio at the expected split of the row's samples.
        variance = (1 + exp(middle)) ** 2 / (exp(middle) * counts) + whole.row_spread
        weights = np.where(plain, 0.0, 1 / variance)
        read = _readings(rows, logs, weights)
        if read is None:
            return None
        best = int(np.argmin(read.chi_square))
        middle, least = float(read.ratio[best]), float(read.chi_square[best])
        degrees = max(int((~plain).sum()) - 2, 1)
        dispersion = max(_DISPERSION, least / degrees)
        mean = weights @ logs / weights.sum()
        gain = (float(weights @ np.square(logs - mean)) - least) / dispersion
        if gain < _PLAIN or _kept(rows, plain) < _MAJORITY:
            return _Agreement(read, plain, weights, dispersion * variance, dispersion)
        plain = plain | rows.changes.inside(np.array([best]))[0]


def _kept(rows: ControlRows, plain: Mask) -> float:
    """Return the fraction of rows on both sides that did not plainly change.

    Removed or added code says nothing about the rest.
    """
    return float((~plain[np.minimum(rows.base, rows.new) >= 1]).mean())


def _beneath_one(rows: ControlRows, agreement: _Agreement) -> bool:
    """Return whether calls of one function may be all that shares the ratio.

    If so, the rows outside it cannot bound the ratio better than by _WIDEST.
    """
    if rows.called is None:
        return False
    weights = agreement.weights
    outside = weights.sum() - rows.called.sums(weights)
    least = agreement.dispersion * (_QUANTILE / _WIDEST) ** 2
    return bool((outside < least).any())


def _readings(rows: ControlRows, logs: Floats, weights: Floats) -> _Readings | None:
    """Fit each change: one log ratio for the rows it affects, one for all others.

    Readings that leave too little have an infinite chi-square; None if all do.
    """
    changes, voting = rows.changes, weights > 0
    moving = changes.sums(voting)
    # On either side: a change may dwarf everything that did not change.
    left = np.zeros(len(changes), np.bool_)
    for side in (rows.base, rows.new):
        kept = np.where(voting, side, 0.0)
        left |= kept.sum() - changes.sums(kept) >= _PART * side.sum()
    left &= voting.sum() - moving >= _ROWS
    # Readings of removed changes are all the same: nothing else changed. They are used
    # when barely enough rows are left.
    others_too = left & (moving > 0)
    left = others_too if others_too.any() else left
    if not left.any():
        return None
    inside = changes.sums(weights)
    sums = np.where(left, weights.sum() - inside, 1.0)
    inside = np.where(left & (moving > 0), inside, 1.0)
    moved = changes.sums(weights * logs)
    others = weights @ logs - moved
    explained = np.square(others) / sums + np.square(moved) / inside
    squares = weights @ np.square(logs)
    chi_square = np.where(left, np.maximum(squares - explained, 0.0), np.inf)
    return _Readings(chi_square, others / sums, sums)


def _doubt(estimated: Control) -> str:
    """Return why the assumption may not hold, ``""`` if it does."""
    if estimated.work.rows < _ROWS_TO_HOLD:
        return f"only {estimated.work.rows} functions have 20 samples per side"
    if estimated.kept < _MAJORITY:
        return "most of the code did not change by one factor"
    if estimated.dispersion > _AGREED:
        return "unchanged code differs by more than its samples explain"
    if log(estimated.cost.high / estimated.cost.low) > _WIDEST:
        return "too few samples to see a change of 25%"
    return ""
