"""On every pair: no sentence contradicts the numbers beside it."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from pprofdiff.analysis.causes.case import Case as Evidence
from pprofdiff.report.sections.findings import why
from pprofdiff.report.sections.outcome import outcome_text
from tests.field.cases import CASES, each, report

ALL = tuple(chain.from_iterable((case, case.swapped) for case in CASES))
cases = each(ALL)

NUMBER = r"[+−]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
_UNIT = r"(?: ?(?:ns|µs|ms|s|B|KiB|MiB|GiB|TiB|%)(?![A-Za-z0-9]))?"
# ``1.44 → 2.61 s``, ``5.26 MiB → 8.1 KiB``, ``3.1% → 4.0%``, not within a longer word.
PAIR = re.compile(
    rf"(?<![\w.,−+])(?P<base><?{NUMBER})(?P<base_unit>{_UNIT}) → "
    rf"(?P<new><?{NUMBER})(?P<new_unit>{_UNIT})"
)
# ``1.73×``, or ``1/31,000`` of what is far less.
RATIO = rf"(?:{NUMBER}×|1/{NUMBER})"
TIMES = rf"(?P<times>{RATIO})"
_SIZES = {
    "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9,
    "B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4,
    "%": 1, "": 1,
}  # fmt: skip


class Span:
    """What a rounded number may have been: from `low` to `high`."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    @classmethod
    def of(cls, text, unit=""):
        """Read a number as it is written: half a last digit to each side."""
        size = _SIZES[unit.strip()]
        if text.startswith("<"):
            return cls(0.0, float(text[1:]) * size)
        plain = text.replace(",", "").replace("−", "-").replace("+", "")
        mantissa, _, power = plain.partition("e")
        decimals = len(mantissa.partition(".")[2])
        half = 0.5 * 10.0 ** (int(power or 0) - decimals) * (1 + 1e-9)
        value = float(plain)
        return cls((value - half) * size, (value + half) * size)

    def over(self, other):
        """Return what this, new, may be as a multiple of the other; both positive."""
        high = self.high / other.low if other.low > 0 else float("inf")
        return Span(max(self.low, 0) / other.high, high)

    def by(self, other):
        """Return the product of two positive numbers."""
        return Span(self.low * other.low, self.high * other.high)

    def meets(self, other):
        """Return whether both may be one number."""
        return self.low <= other.high and other.low <= self.high

    def __repr__(self):
        return f"{self.low:g}..{self.high:g}"


def sides(match):
    """Return (base, new) of a pair as spans; a unit stands once where both share it."""
    new_unit = match["new_unit"]
    base_unit = match["base_unit"] or new_unit
    return Span.of(match["base"], base_unit), Span.of(match["new"], new_unit)


def way(match):
    """Return +1 where a pair rises, -1 where it falls, 0 where its digits are equal."""
    base, new = sides(match)
    if base.low == new.low:
        return 0
    return 1 if new.low > base.low else -1


def times_of(text):
    """Read a ratio; a fraction's divisor has two digits that count."""
    if not text.startswith("1/"):
        return Span.of(text.removesuffix("×"))
    divisor = float(text[2:].replace(",", ""))
    half = 0.5 * 10.0 ** (len(f"{divisor:.0f}") - 2) * (1 + 1e-9)
    return Span(1 / (divisor + half), 1 / (divisor - half))


WAYS = {"worse": 1, "better": -1, "neutral": 0}


def findings(case):
    return report(case).findings.found


def first_ratio(text):
    """Return new over base of the first pair in a text."""
    base, new = sides(PAIR.search(text))
    return new.over(base)


@pytest.mark.matrix
@cases
def test_a_factor_beside_a_pair_is_its_ratio(case):
    for finding in findings(case):
        for text in (finding.title, finding.text):
            for match in re.finditer(rf"{PAIR.pattern}[^();]{{0,12}}\({TIMES}\)", text):
                base, new = sides(match)
                assert new.over(base).meets(times_of(match["times"])), match[0]
            percent = rf"{PAIR.pattern}[^();]{{0,12}}\((?P<less>[+−]\d+(?:\.\d+)?)%\)"
            for match in re.finditer(percent, text):
                base, new = sides(match)
                less = Span.of(match["less"])
                share = Span(1 + less.low / 100, 1 + less.high / 100)
                assert new.over(base).meets(share), match[0]


@pytest.mark.matrix
@cases
def test_the_title_has_the_factor_of_its_text(case):
    """Where a title says how many times as dear, the first numbers of the text say so."""
    for finding in findings(case):
        title = rf"costs {TIMES} as much CPU|A GC cycle costs {TIMES.replace('times', 'of')}"
        match = re.search(title, finding.title)
        if match:
            told = times_of(match["times"] or match["of"])
            assert told.meets(first_ratio(finding.text)), finding


@cases
def test_how_often_gc_runs_is_the_product_of_its_factors(case):
    for finding in findings(case):
        if finding.id != "gc-frequency":
            continue
        often = times_of(re.search(rf"GC runs {TIMES}", finding.title)["times"])
        product = re.search(
            rf"GC CPU [a-z ]+ ({RATIO}) = allocation ({RATIO}) ÷ "
            rf"bytes a cycle ({RATIO}) × CPU a cycle ({RATIO})",
            finding.text,
        )
        if product is None:
            # Then the log's CPU time is not the process's, and no factor of it is told.
            text = finding.text
            assert "by the CPU profile" in text or "each taking" not in text
        else:
            cpu, allocation, cycle, each = map(times_of, product.groups())
            cycles = allocation.over(cycle)
            assert cycles.meets(often), finding
            assert cycles.by(each).meets(cpu), finding
        if " per op" not in finding.title:
            assert first_ratio(finding.text).meets(often), finding


@cases
def test_what_an_operation_allocates_is_what_the_title_says(case):
    for finding in findings(case):
        match = re.match(
            rf"Each operation allocates (?:{TIMES} the|(?P<part>[\d.]+)% (?P<way>more|fewer)) bytes",
            finding.title,
        )
        if match is None:
            continue
        ratio = first_ratio(finding.text.removeprefix("In all "))
        if match["times"]:
            told = times_of(match["times"])
        else:
            part, sign = Span.of(match["part"]), 1 if match["way"] == "more" else -1
            ends = sorted(1 + sign * end / 100 for end in (part.low, part.high))
            told = Span(*ends)
        assert told.meets(ratio), finding


@cases
def test_what_grew_grew_by_so_much(case):
    for finding in findings(case):
        match = re.match(
            rf"(?:(?:The live heap|inuse_space) (?P<verb>grew|shrank) )?{PAIR.pattern}"
            rf"(?: goroutines)?(?:, (?:by )?{TIMES})?"
            rf"(?:: (?P<more>[\d,]+) (?P<word>more|fewer))?",
            finding.title,
        )
        if match is None or finding.id not in ("heap-growth", "goroutine-growth"):
            continue
        base, new = sides(match)
        if match["verb"]:
            assert way(match) in ((0, 1) if match["verb"] == "grew" else (0, -1))
        if match["times"]:
            assert new.over(base).meets(times_of(match["times"])), finding
        if match["word"]:
            assert way(match) == (1 if match["word"] == "more" else -1), finding


_WORDS = (
    (r"\b(costs?|takes?|help|allocates?) more\b|% more (bytes|objects)", 1),
    (r"\b(costs?|takes?|help|allocates?) less\b|% fewer (bytes|objects)", -1),
    (r"\bno longer\b|\b(is|are) (all but )?gone\b|\bshrank\b|[\d,]+ fewer\b", -1),
    (r"\bnow (waits?|allocates?)\b|, (none|next to none) of|\bgrew\b|goroutines: [\d,]+ more\b", 1),
)  # fmt: skip
_RATIO = re.compile(
    rf"(?:costs|GC runs|wait|allocates) {TIMES}(?: as| the)|goroutines, {TIMES.replace('times', 'of')}"
)


def said(finding):
    """Return all ways that a title says something went: of words, pairs and factors."""
    title = finding.title
    ways = {sign for pattern, sign in _WORDS if re.search(pattern, title)}
    for match in _RATIO.finditer(title):
        number = times_of(match["times"] or match["of"])
        if not number.low <= 1 <= number.high:
            ways.add(1 if number.low > 1 else -1)
    pair = PAIR.search(title)
    id_ = re.sub(r"-\d+$", "", finding.id)
    if pair and id_ not in _NOT_A_COST:
        ways.add(way(pair))
    return ways - {0}


# Their titles have pairs of what is no cost: settings, shares of capacity, numbers.
# What is gone from a function need not be what its cost moved by.
_NOT_A_COST = {
    "gc-frequency", "gc-cycle-cost", "utilisation", "go-upgrade", "joined", "split",
}  # fmt: skip


@cases
def test_direction_words_numbers_and_what_it_explains_agree(case):
    for finding in findings(case):
        ways = said(finding)
        assert len(ways) < 2, (finding.title, ways)
        if finding.direction != "neutral":
            assert ways <= {WAYS[finding.direction]}, (finding.title, finding.direction)
            assert WAYS[finding.direction] * (finding.explains or 0) >= 0, finding
        if ways and finding.explains:
            assert (finding.explains > 0) == (ways == {1}), finding


@cases
def test_what_explains_more_is_marked_so(case):
    told = why(report(case))
    for reason in told.reasons:
        if reason.amount:
            if reason.amount[0] in "▲▼":
                assert (reason.amount[0] == "▲") == (reason.finding.explains > 0)
            assert ("+" in reason.amount) == (reason.finding.explains > 0)
            assert ("−" in reason.amount) == (reason.finding.explains < 0)


@cases
def test_the_cost_of_an_operation_goes_the_finding_s_way(case):
    """A share of a longer life falls though an operation waits for longer."""
    for finding in findings(case):
        told = re.search(rf"{PAIR.pattern} per op", finding.title)
        told = told or re.search(rf"^They wait {PAIR.pattern} per op", finding.text)
        if told and finding.direction != "neutral":
            assert way(told) in (0, WAYS[finding.direction]), finding


@cases
def test_what_is_more_is_the_sum_of_where_it_is(case):
    for finding in findings(case):
        match = re.search(
            rf"(?:holds? (?P<held>{NUMBER} (?:[KMG]i)?B)|: (?P<more>[\d,]+)) (?P<word>more|less|fewer)\b",
            finding.title,
        )
        if match is None or " others " in finding.title:
            continue
        named = [
            f for f in finding.evidence if f.what.startswith(("in use, of ", "in "))
        ]
        more = sum(f.new - f.base for f in named)
        told = (match["held"] or match["more"]).split()
        assert Span.of(*told).meets(Span(abs(more), abs(more))), finding
        assert (more > 0) == (match["word"] == "more"), finding


@cases
def test_what_is_gone_is_gone(case):
    """What a title calls gone has nothing on that side, or as good as nothing."""
    cpu = Evidence(report(case).comparison).cpu
    for finding in findings(case):
        cum = [f for f in finding.evidence if f.what.endswith(" (cum)")]
        # The first is of what the others are gone from.
        cum = cum[finding.id.startswith("joined") :]
        for pattern, side, most in (
            (r"\b(is|are) gone\b", 1, 0),
            (r", none of", 0, 0),
            (r"\ball but gone\b", 1, 0.01),
            (r", next to none of", 0, 0.01),
        ):
            if re.search(pattern, finding.title):
                whole = cpu.diff.totals[side]
                assert all((f.base, f.new)[side] <= most * whole for f in cum), finding


@cases
def test_what_is_no_longer_allocated_is_not(case):
    for finding in findings(case):
        sites = [f for f in finding.evidence if f.what.startswith("bytes for ")]
        for pattern, gone in ((r"\bno longer allocate", 1), (r"\bnow allocate", 0)):
            if re.search(pattern, finding.title):
                assert not any(fact[2 + gone] for fact in sites), finding


@cases
def test_the_headline_has_the_ratio_and_its_interval(case):
    """As ``+17% time (−9.1% to +52%)``, or ``5.36× the operations (4.1 to 7.0×)``.

    Of several benchmarks it is the one that moved most: ``Get, time/op 2.0× (…)``.
    """
    outcome = report(case).outcome
    first = outcome.headline
    headline = outcome_text(outcome).headline
    if first is None or not first.more_is:
        return
    rest = headline.partition(": ")[2]
    for first in outcome.moved[:1]:
        noun = {"time": "time/op", "cpu": "CPU/op"}[first.figure]
        _, named, rest = rest.partition(f"{first.name}, {noun} ")
        assert named, headline
    part = r"[+−]?[\d.,]+"
    inverse = re.match(r"1/([\d,]+) [^()]*\(1/([\d,]+) to 1/([\d,]+)\)", rest)
    if inverse:
        # Fractions are written with two digits.
        for number, figure in zip(
            inverse.groups(), (first.ratio, first.low, first.high), strict=True
        ):
            assert float(number.replace(",", "")) * figure == pytest.approx(1, 0.05)
        return
    same = first.verdict == "same"
    of = "90% CI " if same else ""
    percent = re.match(rf"({part})% [^()]*\({of}({part})% to ({part})%\)", rest)
    factor = re.match(rf"({part})× [^()]*\(({part})×? to ({part})×\)", rest)
    told = [Span.of(number) for number in (percent or factor).groups()]
    figures = first.ratio, *(first.narrow if same else (first.low, first.high))
    if percent:
        ratios = [Span(1 + one.low / 100, 1 + one.high / 100) for one in told]
    elif "ops/s" in rest and first.id == "time":
        ratios = [Span(1 / one.high, 1 / one.low) for one in told]
        ratios = [ratios[0], ratios[2], ratios[1]]
    else:
        ratios = told
    for ratio, figure in zip(ratios, figures, strict=True):
        assert ratio.meets(Span(figure, figure)), headline


@cases
def test_what_moved_has_two_names(case):
    for finding in findings(case):
        for came, gone in re.findall(
            r"(\S+) allocates? what (\S+) did", f"{finding.title}\n{finding.text}"
        ):
            assert came != gone, finding


@cases
def test_where_all_scaled_alike_no_finding_says_otherwise(case):
    told = report(case)
    if told.outcome.alike is None:
        return
    assert [
        f.title for f in told.findings.found if f.severity != "info" and f.claim
    ] == []
    assert "shares-moved" not in [f.id for f in told.findings.found]


@cases
def test_the_outcome_says_what_its_figures_say(case):
    outcome = report(case).outcome
    for measure in outcome.measures:
        assert measure.low <= measure.narrow[0] <= measure.ratio, measure
        assert measure.ratio <= measure.narrow[1] <= measure.high, measure
        if measure.base is not None and measure.id != "time":
            assert abs(measure.new / measure.base / measure.ratio - 1) < 1e-12
    first = outcome.headline
    if outcome.verdict != "unknown":
        assert first.verdict == outcome.verdict
    words = outcome_text(outcome)
    headline = words.headline
    if first is None or not first.more_is:
        assert outcome.verdict == "unknown"
        assert headline.startswith("No outcome: ")
        return
    begins = {"slower": "Slower", "faster": "Faster", "same": "The same", "unknown": "Can't tell"}  # fmt: skip
    assert headline.startswith(f"{begins[outcome.verdict]}")
    slower = {"slower": first.ratio > 1, "faster": first.ratio < 1}[first.more_is]
    if outcome.verdict in ("slower", "faster"):
        assert slower == (outcome.verdict == "slower"), headline
