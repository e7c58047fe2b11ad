"""The outcome in words: whether new is slower, by how much, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pprofdiff.analysis.busy import sigma_if
from pprofdiff.analysis.figures.costs import COSTS, CPU, TIME
from pprofdiff.analysis.judge.calibration import TOTAL_SIGMA
from pprofdiff.analysis.outcome.model import (
    ALIKE,
    BEYOND_CONFIDENCE,
    Compared,
    Counted,
    Measure,
    Outcome,
    Together,
    contradict,
    is_bounded,
    is_judged,
)
from pprofdiff.report.rows import Sentence
from pprofdiff.report.sections.changes import (
    MANY,
    bounds,
    capitalized,
    change,
    counts,
    counts_and_change,
    number,
    percent_change,
    seconds,
    span,
)
from pprofdiff.report.sections.units import ROWS, label_sentence, unit_headline
from pprofdiff.units import SMALL, first_few, percent, times, times_the

_VERDICTS = {
    "slower": "Slower",
    "faster": "Faster",
    "same": "The same within {}",
    "unknown": "Can't tell",
}
_NO_SPEED: dict[Compared, str] = {
    "": "operation count unknown",
    "ops": "speed was not measured",
    "shares": "shares of CPU are compared, not costs",
    "counts": "counts are compared, not time",
    "goroutines": "goroutines are added up, also idle ones",
}
_OTHERS = 2
# How often a map or slice grows in a run depends on its iterations.
_WITHIN = " (within the spread of runs)"
# Maximum units named in a sentence of counts.
_NAMED = 3
# This many benchmarks are "both".
_BOTH = 2
_NONE = ("0 B", "0", "0.00")


class OutcomeText(NamedTuple):
    """The first sentence of a report, and its caveats."""

    headline: str
    below: tuple[Sentence, ...] = ()


def outcome_text(outcome: Outcome) -> OutcomeText:
    """Return the outcome as sentences."""
    headline, below = _answer(outcome)
    if outcome.builds:
        below.insert(0, f"The builds differ: {'; '.join(outcome.builds)}.")
    if outcome.needs:
        below.append(f"{capitalized(outcome.needs)}.")
    return OutcomeText(f"{headline}.", tuple(map(Sentence, below)))


def _answer(outcome: Outcome) -> tuple[str, list[str]]:
    """Return the verdict without a full stop, and sentences on what it is based on."""
    first = outcome.headline
    if first is None:
        headline = f"No outcome: {_NO_SPEED[outcome.compared]}"
    elif not first.cost.more_is:
        headline = f"No outcome: {_amount(first)}"
    elif outcome.units:
        return _units_text(outcome, first)
    else:
        headline = f"{_verdict(outcome, first)}: {', '.join(_figures(outcome, first))}"
    below = list(_below(outcome, first)) if first is None or not first.of_turns else []
    if outcome.by_label is not None and (by_label := label_sentence(outcome.by_label)):
        below.insert(0, by_label)
    return headline, below


_COUNTS = "B/op", "allocs/op"
_ABOUT = (
    "CPU/op of a benchmark is its own samples by about the iterations that it ran; "
    "GC workers and the scheduler are in none."
)


def _verdict(outcome: Outcome, first: Measure) -> str:
    return _VERDICTS[outcome.verdict].format(f"{100 * first.same_within:g}%")


def _figures(outcome: Outcome, first: Measure) -> list[str]:
    """Return the overall metrics, the first with its interval."""
    if not first.of_turns:
        others = (f"{_amount(m)}{_doubt(first, m)}" for m in _others(outcome, first))
        return [_with_interval(first), *others]
    return [*_of_all_turns(outcome, first), *_counts(outcome)]


def _of_all_turns(outcome: Outcome, first: Measure) -> list[str]:
    """Return the metrics of interleaved rounds.

    Of several benchmarks, a mean without an interval says less than the table.
    """
    # A mean of several benchmarks' costs is no benchmark's cost.
    single = not outcome.units
    shown = []
    for one in (first, *(other for other in outcome.measures if other is not first)):
        if not single and not is_judged(*one.judged.bounds):
            continue
        if one is first:
            shown.append(_of_turns(first, values=single, decided=outcome.decided))
        else:
            said = f"{one.cost.noun} {change(one.judged.ratio)}"
            shown.append(f"{said}{_chance(outcome, first, one)}")
    return shown


def _counts(outcome: Outcome, mean: str = "") -> list[str]:
    """Return the counts per op: as means, or in how many benchmarks they changed.

    `mean` precedes each mean.
    """
    both, said = _counted_both_ways(outcome)
    exact = outcome.verdict == "unknown" and not outcome.contrary
    means = [
        text if text.endswith("unchanged") else f"{mean}{text}"
        for one in outcome.counted
        for text in [_count(one, values=not outcome.units, exact=exact)]
        # A count that is 0 on both sides is not shown.
        if counts(one) not in _NONE and one.unit not in both
    ]
    return [*said, *means, *_without_mean(outcome)]


def _without_mean(outcome: Outcome) -> list[str]:
    """Return in how many benchmarks a count without a mean changed, one way."""
    found: dict[tuple[bool, int], list[str]] = {}
    with_mean = {one.unit for one in outcome.counted}
    for count in _COUNTS:
        ways = _ways(outcome, count)
        if count not in with_mean and len(set(ways)) == 1:
            found.setdefault((ways[0], len(ways)), []).append(count)
    many = len(outcome.units)
    return [
        f"{'more' if more else 'fewer'} {' and '.join(names)} in "
        f"{_every(many) if some == many else f'{some} of {many}'}"
        for (more, some), names in found.items()
    ]


def _ways(outcome: Outcome, count: str) -> list[bool]:
    """Return whether benchmarks whose counts differ have more, for each of them."""
    return [
        one.new > one.base
        for unit in outcome.units
        if (one := unit.differing(count)) and counts(one) != number(one, one.base)
    ]


def _counted_both_ways(outcome: Outcome) -> tuple[set[str], list[str]]:
    """Return which counts some benchmarks have more of and some less, and the words.

    A mean of both describes none of them.
    """
    found: dict[tuple[int, int], list[str]] = {}
    for count in _COUNTS:
        ways = _ways(outcome, count)
        more, fewer = ways.count(True), ways.count(False)
        if more and fewer:
            found.setdefault((more, fewer), []).append(count)
    many = len(outcome.units)
    said = [
        f"more {' and '.join(names)} in {more} and fewer in {fewer} of {many}"
        for (more, fewer), names in found.items()
    ]
    return {name for names in found.values() for name in names}, said


def _every(many: int) -> str:
    return "both" if many == _BOTH else f"all {many}"


def _units_text(outcome: Outcome, first: Measure) -> tuple[str, list[str]]:
    """Return the outcome of several units of work: which changed, then their mean."""
    many, figures = len(outcome.units), ", ".join(_figures(outcome, first))
    timed = not first.of_turns or bool(_of_all_turns(outcome, first))
    # Without one of time, each mean is named as one.
    counted = ", ".join(_counts(outcome, mean="geomean "))
    means = _counts(outcome)
    every = _every(many)
    # Time is a geometric mean; with interleaved rounds, all metrics are.
    shown = {measure.id for measure in (first, *_others(outcome, first))}
    mean, of_all = "together", f"{every} benchmarks together"
    if first.of_turns or shown == {"time"}:
        mean, of_all = "geomean", f"geomean of {every} benchmarks"
    moved, verdict = outcome.moved, _verdict(outcome, first)
    below = []
    # One that is written differently is no part of a mean.
    mixed = any(unit.rewritten for unit in outcome.units)
    if moved:
        if outcome.contrary:
            verdict = "Both ways"
        headline = f"{verdict}: {unit_headline(outcome.units, moved)}"
        only_means = timed or all(one.partition(" ")[0] in _COUNTS for one in means)
        said = f"{of_all}: {figures}" if only_means and figures else counted
        below += [] if mixed or not said else [f"{capitalized(said)}."]
    elif outcome.verdict == "unknown":
        headline = f"{verdict}: {_none_changed(outcome, first)}"
        # No mean describes what goes both ways, of time neither.
        alone = not timed or (first.of_turns and _counted_both_ways(outcome)[0])
        said = counted if alone else f"{mean} {figures}"
        headline += "" if mixed or not said else f"; {said}"
        # The table has them, unless it leaves out rows.
        below += _allocating(outcome) if many > ROWS else []
    else:
        headline = f"{verdict}, {of_all}: {figures}"
        below += _alone(outcome) if outcome.verdict != "same" else []
    if not first.of_turns:
        below += _below(outcome, first)
        if any(unit.figure == "cpu" for unit in outcome.units):
            below.append(_ABOUT)
    return headline, below


def _none_changed(outcome: Outcome, first: Measure) -> str:
    """Return that no benchmark changed, or could be judged."""
    many = len(outcome.units)
    if first.of_turns and not is_judged(*first.judged.bounds):
        each = "either benchmark" if many == _BOTH else f"any of {many} benchmarks"
        return f"too few rounds to judge {each}"
    none = "neither benchmark" if many == _BOTH else f"none of {many} benchmarks"
    known = {measure.id for measure in outcome.measures}
    nouns = [cost.noun for cost in (TIME, CPU) if cost.id in known]
    what = f" {' or '.join(nouns)}" if first.of_turns else ""
    return f"{none} changed{what} significantly"


def _alone(outcome: Outcome) -> list[str]:
    """Return that no unit changed in the metric of the verdict, if none did."""
    counted = [one for unit in outcome.units for one in unit.counted]
    if any(not one.noise and counts(one) != number(one, one.base) for one in counted):
        return []
    (figure, *others) = {unit.figure for unit in outcome.units}
    what = "per op" if others else f"in {COSTS[figure].noun}"
    return [f"None of them changed significantly {what} on its own."]


def _allocating(outcome: Outcome) -> list[str]:
    sentences = []
    for word, more in (("More", True), ("Fewer", False)):
        names = [
            f"{unit.name} {counts(one)}"
            for unit in outcome.allocating
            if (one := unit.objects) and (one.new > one.base) == more
        ]
        if names:
            sentences.append(f"{word} allocs/op: {first_few(names, _NAMED)}.")
    return sentences


def _of_turns(measure: Measure, *, values: bool, decided: bool) -> str:
    """Return a metric as ``time/op 71.1 → 14.2 ns, −80% (99% CI …)``."""
    both = ""
    if measure.base is not None and measure.new is not None and values:
        both = f" {seconds(measure.base, measure.new)},"
    text = f"{measure.cost.noun}{both} {change(measure.judged.ratio)}"
    if not is_judged(*measure.judged.bounds):
        # Of several benchmarks, the headline has said so.
        return f"{text} (too few rounds for an interval)" if values else text
    if not is_bounded(*measure.judged.bounds):
        return f"{text} (interval too wide)"
    confidence, low, high = _interval(measure, decided=decided)
    return f"{text} ({confidence:g}% CI {bounds(measure.judged.ratio, low, high)})"


def _chance(outcome: Outcome, first: Measure, measure: Measure) -> str:
    """Return that a metric may be unchanged or has too few rounds, if not said yet."""
    if not is_judged(*measure.judged.bounds):
        said = outcome.units and not is_judged(*first.judged.bounds)
        return "" if said else " (too few rounds)"
    sure = measure.judged.low > 1 or measure.judged.high < 1
    return "" if sure and outcome.decided else " (not significant)"


def _doubt(first: Measure, measure: Measure) -> str:
    """Return that a metric next to one that changed may be unchanged, or ""."""
    alone = first.moved and measure.verdict == "unknown" and measure.cost.more_is
    return " (not significant)" if alone and min(measure.runs) > 1 else ""


def _interval(measure: Measure, *, decided: bool) -> tuple[float, float, float]:
    """Return the interval that a verdict is based on: its percent, and its bounds.

    Without a verdict, it is the one in which the figure may not have changed.
    """
    if measure.verdict == "same":
        return 90, *measure.judged.narrow
    if measure.of_turns and measure.moved and not decided and not measure.beyond_chance:
        return BEYOND_CONFIDENCE, *measure.widest
    return measure.confidence, *measure.judged.bounds


def _count(counted: Counted, *, values: bool, exact: bool) -> str:
    """Return an exact count: ``B/op 9.14 → 7.27 KiB (−20%)``, ``allocs/op −82%``.

    Next to a time that is open, it has to say that it is `exact`.
    """
    base, new, exact = counted.base, counted.new, exact and counted.exact
    alike = bool(new) and abs(base / new - 1) < ALIKE
    if base == new or (alike and number(counted, base) == number(counted, new)):
        value = f" {number(counted, base)}" if values else ""
        return f"{counted.unit}{value} unchanged"
    if not values and base and new:
        doubt = _WITHIN if counted.noise else " (exact)" if exact else ""
        return f"{counted.unit} {change(new / base)}{doubt}"
    if counted.noise:
        return f"{counted.unit} {counts(counted)}{_WITHIN}"
    text = f"{counted.unit} {counts_and_change(counted)}"
    if not exact:
        return text
    return f"{text[:-1]}, exact)" if text.endswith(")") else f"{text} (exact)"


def _below(outcome: Outcome, first: Measure | None) -> Iterator[str]:
    """Yield what the headline is based on, and what to know about it."""
    if first is not None and first.cost.more_is:
        yield _basis(first, busy=outcome.busy is not None)
    if outcome.busy is not None:
        differs = f"{sigma_if(outcome.busy):.0%}"
        yield (
            f"The machine was busy: up to {percent(outcome.busy, 1)} of a side's "
            "samples are in runtime.asyncPreempt, where a signal stops goroutines. "
            f"There, time/op of one build differs by up to {differs}; CPU/op does not."
        )
    if first is not None:
        yield from _both_ways(outcome, first)
    if outcome.together is not None:
        yield _together(outcome.together)
    if outcome.alike is not None:
        yield (
            f"All groups of the CPU profile scaled alike ({times(outcome.alike)}): "
            "the machine gave more or less, or the work differed."
        )
    if outcome.cpu_a_second is not None:
        yield _a_second(*outcome.cpu_a_second)


def _together(moved: Together) -> str:
    low, high, verb = moved.low, moved.high, "slowed"
    doing = "a busy or throttled machine has the same effect"
    if high < 1:
        low, high, verb = 1 / high, 1 / low, "sped up"
        doing = "a machine that was busy or throttled during base has the same effect"
    span = times(high)
    if times(low) != span:
        span = f"{times(low).removesuffix('×')} to {span}"
    before = " and allocate as before" if moved.allocate_alike else ""
    return (
        f"All {moved.benchmarks} benchmarks {verb} alike ({span}){before}: {doing}. "
        "Measure in turns to separate them: pprofdiff measure."
    )


def _a_second(factor: float, low: float, high: float) -> str:
    way = "more" if factor > 1 else "less"
    return (
        f"The program took {times_the(factor, 'CPU')} per second "
        f"({span(factor, low, high)}), and no group's share changed beyond noise: "
        f"the program did {way} work, an op cost {way}, or the machine differed."
    )


def _both_ways(outcome: Outcome, first: Measure) -> Iterator[str]:
    if first.verdict not in ("slower", "faster"):
        return
    for measure in _others(outcome, first):
        if contradict(first, measure) and measure.verdict in ("slower", "faster"):
            yield (
                f"{capitalized(first.cost.noun)} and {measure.cost.noun} changed in "
                "opposite ways, both significantly."
            )


def _others(outcome: Outcome, first: Measure) -> list[Measure]:
    others = (m for m in outcome.measures if m is not first)
    return [m for m in others if _adds(m, first)][:_OTHERS]


def _adds(measure: Measure, first: Measure) -> bool:
    """Return whether a metric is shown next to the first one, without its interval.

    One that may be unchanged and points the other way is left out if it is an estimate,
    or if the first one may be unchanged as well.
    """
    if measure.verdict == "unknown" and contradict(first, measure):
        return not measure.cost.estimate and first.verdict != "unknown"
    return measure.id != "task"


def _with_interval(measure: Measure) -> str:
    """Return a metric with its interval, 95% unless stated, in the metric's form."""
    confidence, low, high = _interval(measure, decided=True)
    if low > 0 and not is_bounded(low, high):
        return f"{_amount(measure)} (too few runs for an interval)"
    ratio = measure.judged.ratio
    bounds = f"{percent_change(low)} to {percent_change(high)}"
    if ratio >= MANY or _fewer(measure, ratio) or low <= 0:
        bounds = span(ratio, low, high)
    of = "" if confidence == measure.confidence else f"{confidence:g}% CI "
    return f"{_amount(measure)} ({of}{bounds})"


def _amount(measure: Measure) -> str:
    noun, about = measure.cost.noun, "about " if measure.id == "about" else ""
    ratio = measure.judged.ratio
    if ratio >= MANY or _fewer(measure, ratio):
        return f"{about}{times_the(ratio, noun)}"
    return f"{about}{percent_change(ratio)} {noun}"


def _fewer(measure: Measure, ratio: float) -> bool:
    """Return whether a decrease reads better as a factor: percent end at -100."""
    return ratio <= (1 / MANY if measure.cost.more_is == "faster" else SMALL)


def _basis(measure: Measure, *, busy: bool) -> str:
    base, new = measure.runs
    if measure.id == "control":
        return f"From {measure.source}: a slowdown of the whole machine cancels out."
    if (base, new) == (1, 1):
        differ = f"; runs of one build differ by {TOTAL_SIGMA:.0%} on shared machines"
        if busy and measure.id != "cpu":
            differ = ""
        return f"From {measure.source}, one run per side{differ}."
    runs = f"{base} and {new} runs"
    if measure.in_turns:
        runs = f"{base} runs per side in turns, compared in pairs"
    return f"From {measure.source}, {runs}."
