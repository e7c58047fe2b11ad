"""Whether a report contradicts itself: sentences, evidence, sums, marks.

The tests check every report that they make; ``PPROFDIFF_CHECK=1`` checks any. Numbers
in findings carry their values (`causes.wording`), so nothing here depends on how a
sentence is worded, except for verbs of change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isclose, isfinite, log
from typing import NamedTuple

from pprofdiff.analysis.account.gc import GCAccount
from pprofdiff.analysis.causes.finding import Fact, Finding, Findings
from pprofdiff.analysis.causes.wording import Span, alike
from pprofdiff.analysis.gate.model import Ruling
from pprofdiff.analysis.outcome.model import Outcome
from pprofdiff.errors import ContradictionError
from pprofdiff.report.rows import Row, Section, Table
from pprofdiff.units import scale

ROUNDING = 1e-6
"""Sums in floating point are off by less, relative to their parts."""


class Contradiction(NamedTuple):
    """One contradiction: what is checked, and the sentence or row with its numbers."""

    check: str
    text: str

    def __str__(self) -> str:
        """Return both on one line."""
        return f"{self.check}: {self.text}"


def check(found: Sequence[Contradiction]) -> None:
    """Raise ContradictionError for any contradictions."""
    if found:
        raise ContradictionError("; ".join(map(str, found)))


def title_spans(finding: Finding) -> list[Span]:
    """Return the numbers of a title: those that come first."""
    found, at = [], 0
    for span in finding.spans:
        at = finding.title.find(span.text, at)
        if at < 0:
            break
        found.append(span)
        at += len(span.text)
    return found


def near(one: float, other: float) -> bool:
    """Return whether two numbers are equal but for rounding."""
    return isclose(one, other, rel_tol=ROUNDING, abs_tol=1e-9)


# Words around a number that is no figure: a release, what is left of a list, a constant
# of the runtime.
_BEFORE, _AFTER, _LEFT = {"Go", "→"}, {"frames"}, {"more", "other", "others"}
_RISES = re.compile(
    r"\b(grew|rose|(costs?|uses?|help|allocates?|takes?) more|% more)\b"
)
_FALLS = re.compile(
    r"\b(shrank|fell|(costs?|uses?|help|allocates?|takes?) less|% (fewer|less))\b"
    r"|\b(no longer|stopped allocating)\b|\b(is|are) gone\b"
)
_SIGNS = {"worse": 1, "better": -1, "neutral": 0}
# Numbers of a title about something else than what the finding's cost is: settings,
# shares of capacity, and what is inside a function.
_NOT_A_COST = (
    *("gc-frequency", "gc-pace", "gc-limit", "gc-forced", "gc-timer"),
    *("utilisation", "go-upgrade"),
)


def contradictions(
    outcome: Outcome,
    findings: Findings,
    gc: GCAccount | None = None,
    rulings: Sequence[Ruling] = (),
) -> list[Contradiction]:
    """Return what contradicts itself in a report's parts."""
    return [
        *_of_outcome(outcome),
        *_of_gc(gc),
        *(c for finding in findings.found for c in _of_finding(finding)),
        *_of_findings(findings),
        *_of_gate(rulings),
    ]


def _of_outcome(outcome: Outcome) -> Iterator[Contradiction]:
    """Yield figures outside their interval, and verdicts that they do not support."""
    for measure in outcome.measures:
        by, (low, high) = measure.judged, measure.judged.narrow
        if not by.low <= low <= by.ratio <= high <= by.high:
            bounds = by.low, low, by.ratio, high, by.high
            yield Contradiction("interval", f"{measure.cost.figure} {bounds}")
    first = outcome.headline
    if first is None or not first.cost.more_is:
        if outcome.verdict != "unknown":
            yield Contradiction("verdict without a figure", outcome.verdict)
        return
    whole = f"{outcome.verdict}, {first.cost.figure} {first.judged.ratio}"
    slower = (first.judged.ratio > 1) == (first.cost.more_is == "slower")
    if outcome.verdict in ("slower", "faster"):
        if slower != (outcome.verdict == "slower") and not outcome.moved:
            yield Contradiction("verdict against its figure", whole)
        # With several units of work, the verdict is about the changed ones.
        if first.verdict != outcome.verdict and not outcome.moved:
            yield Contradiction("verdict against its interval", whole)


def _of_gc(gc: GCAccount | None) -> Iterator[Contradiction]:
    """Yield the parts of GC CPU that do not add up."""
    if gc is None:
        return
    split = gc.split
    for what, whole, parts in (
        ("GC CPU", split.delta, (split.allocated, split.price)),
        ("bytes allocated", split.allocated.part, split.places),
        ("CPU per byte", split.price.part, split.factors),
    ):
        total = sum(part.part for part in parts)
        # Parts may cancel, so they are as exact as the whole change is.
        size = abs(split.delta) + sum(abs(part.part) for part in parts)
        off = ROUNDING * (1 + size)
        if parts and abs(total - whole) > off:
            yield Contradiction("a sum", f"{what}: {total} of {whole}")


def _of_finding(finding: Finding) -> Iterator[Contradiction]:
    """Yield what one finding says against its own numbers."""
    whole = f"{finding.id}: {finding.title}"
    if typed := _typed(finding):
        yield Contradiction("a number without a value", f"{whole}: {typed}")
    spans = title_spans(finding)
    if any(span.base is not None and alike(span.text) for span in spans):
        yield Contradiction("no change", whole)
    ways = _ways(finding, spans)
    if len(ways) > 1:
        yield Contradiction("verb against number", whole)
    sign = _SIGNS[finding.direction]
    if sign and ways and ways != {sign}:
        yield Contradiction("direction", f"{whole} is {finding.direction}")
    explains = finding.explains or 0.0
    if explains and ways and finding.unit == "" and ways != {1 if explains > 0 else -1}:
        yield Contradiction("what it explains", f"{whole}: {explains}")
    # A finding that shares samples with others is judged by all of them.
    judged = not (finding.shared or finding.sure or finding.severity == "info")
    if judged and finding.mark == "noise":
        yield Contradiction("within noise", whole)
    yield from _ratios(finding, spans)
    if not _is_gone(finding):
        yield Contradiction("gone", whole)


def _typed(finding: Finding) -> str:
    """Return the first number of the sentences that has no values, "" without one."""
    text = f"{finding.title} {finding.text}"
    for span in sorted(finding.spans, key=lambda span: -len(span.text)):
        # Not a digit of a line's number, as in "4 functions changed: f.go:104".
        text = re.sub(rf"(?<![\w.:-]){re.escape(span.text)}(?!\w)", " ", text)
    for name in sorted((*finding.names, *finding.functions), key=len, reverse=True):
        text = text.replace(name, " ")
    words = ["", *text.split(), ""]
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        # Names of functions, files and settings have letters.
        number = any(c.isdigit() for c in word) and not any(c.isalpha() for c in word)
        rest = before == "and" and after.rstrip(".:;,") in _LEFT
        if number and not rest and before not in _BEFORE and after not in _AFTER:
            return word
    return ""


def _ways(finding: Finding, spans: list[Span]) -> set[int]:
    """Return the ways that a title says something went: 1 for up, -1 for down."""
    ways = set[int]()
    if finding.id.startswith(_NOT_A_COST):
        return ways
    if _RISES.search(finding.title):
        ways.add(1)
    if _FALLS.search(finding.title):
        ways.add(-1)
    for span in spans[:1]:
        base = 1.0 if span.kind == "ratio" else span.base
        if base is not None and span.kind != "share" and span.new != base:
            ways.add(1 if span.new > base else -1)
    return ways


def _ratios(finding: Finding, spans: list[Span]) -> Iterator[Contradiction]:
    """Yield a ratio of a title that does not fit the pair next to it."""
    for one, other in pairwise(spans):
        pair, ratio = (one, other) if one.kind == "pair" else (other, one)
        if (pair.kind, ratio.kind) != ("pair", "ratio") or not pair.base:
            continue
        if finding.id.startswith(("place", "heap-growth")):
            far = pair.new / pair.base
            if far > 0 < ratio.new and abs(log(far / ratio.new)) > ROUNDING:
                yield Contradiction("ratio of a pair", f"{finding.id}: {finding.title}")


def _is_gone(finding: Finding) -> bool:
    """Return whether nothing is left of what a finding says is new, or gone.

    The first of its evidence is the amount in its title.
    """
    title, (first, *_) = finding.title, finding.evidence or (None,)
    if not finding.id.startswith("place") or first is None:
        return True
    return not (" no longer take" in title and first.new) and not (
        " now take" in title and first.base
    )


def _of_findings(findings: Findings) -> Iterator[Contradiction]:
    """Yield facts with two values, and causes that do not add up."""
    known: dict[tuple[str, ...], tuple[float | None, float | None]] = {}
    for finding in findings.found:
        for fact in finding.evidence:
            key = finding.unit, fact.what, fact.source, fact.unit
            values = known.setdefault(key, (fact.base, fact.new))
            if values != (fact.base, fact.new):
                yield Contradiction(
                    "two values", f"{fact.what}: {values} and {(fact.base, fact.new)}"
                )
    if findings.explained is None:
        return
    ids = {finding.id for finding in findings.found}
    causes = [f for f in findings.found if f.parent not in ids and f.explains]
    total = sum(f.explains or 0.0 for f in causes if f.severity != "info")
    every = sum(f.explains or 0.0 for f in causes)
    whole = findings.explained.explained
    size = sum(abs(f.explains or 0.0) for f in causes) + abs(whole)
    if (
        isfinite(whole)
        and min(abs(total - whole), abs(every - whole)) > ROUNDING * size
    ):
        yield Contradiction("causes", f"together {total} or {every}, said {whole}")


def _of_gate(rulings: Sequence[Ruling]) -> Iterator[Contradiction]:
    """Yield rulings that pass although all of their interval is beyond the limit."""
    for ruling in rulings:
        low, high, allowed = ruling.low, ruling.high, ruling.allowed
        if low is None or high is None or allowed is None or ruling.noise is not False:
            continue
        # Where less is worse, what is allowed is a decrease.
        worse = -high if ruling.limit.startswith(("-", "−")) else low
        if ruling.outcome == "pass" and worse > allowed:
            yield Contradiction("gate", ruling.text)


def of_tables(sections: Iterable[Section]) -> list[Contradiction]:
    """Return rows of tables whose mark, delta or ratio contradicts their values."""
    return [
        contradiction
        for section in sections
        for table in section.tables
        for contradiction in _of_table(table)
    ]


def of_evidence(findings: Findings, sections: Sequence[Section]) -> list[Contradiction]:
    """Return titles without evidence for their numbers, and evidence against a row.

    A pair in a title is a fact of its finding, the sum of its facts or a ratio of two,
    as a section scales them; a fact with the name of a row has the row's values. Units
    of work have scales and rows of their own, so their findings are not compared.
    """
    whole = [finding for finding in findings.found if not finding.unit]
    scales = {(1.0, 1.0), *map(_factors, sections)}
    return [
        *(c for finding in whole for c in _without_evidence(finding, scales)),
        *(c for section in sections for c in _against_rows(section, whole)),
    ]


def _of_table(table: Table) -> Iterator[Contradiction]:
    """Yield rows whose mark, delta or ratio does not fit their base and new."""
    base, new = table.place("base"), table.place("new")
    delta, ratio = table.place("delta"), table.place("ratio")
    if base < 0 or new < 0:
        return
    for row in table.rows:
        before, after = row.cells[base].value, row.cells[new].value
        if before is None or after is None:
            continue
        over = after / before if before else None
        for at, value in ((delta, after - before), (ratio, over)):
            if at < 0 or value is None:
                continue
            cell = row.cells[at]
            units = {_unit(table, row, place) for place in (base, new, at)}
            alike = at == ratio or len(units) == 1
            if cell.value is not None and alike and not near(cell.value, value):
                yield Contradiction("cell", f"{_named(table, row)}: {cell.text}")
            way = {"more": 1, "less": -1}.get(cell.mark, 0)
            if way * (after - before) < 0:
                yield Contradiction("mark", f"{_named(table, row)}: {cell.text}")


def _factors(section: Section) -> tuple[float, float]:
    """Return what scales the raw values of a section's facts."""
    by = getattr(section.compared, "normalization", None)
    return (1.0, 1.0) if by is None else by.factors


def _without_evidence(
    finding: Finding, scales: Iterable[tuple[float, float]]
) -> Iterator[Contradiction]:
    """Yield the pairs of a title that its facts do not show."""
    # The units of pprof are binary, without saying so.
    facts = [
        (fact.base or 0.0, fact.new or 0.0, fact.unit.replace("iB", "B"))
        for fact in finding.evidence
    ]
    total = sum(fact[0] for fact in facts), sum(fact[1] for fact in facts), ""
    ratios = [(a / c, b / d) for a, b, _ in facts for c, d, _ in facts if c and d]
    for span in title_spans(finding):
        if span.base is None:
            continue
        scaled = (
            (base * by[0] * unit, new * by[1] * unit)
            for base, new, unit_of in (*facts, total)
            for by in scales
            for unit in {1.0, scale(1, unit_of, span.unit)[0]}
        )
        if not any(
            near(base, span.base) and near(new, span.new)
            for base, new in (*ratios, *scaled)
        ):
            yield Contradiction(
                "a number without evidence", f"{finding.id}: {finding.title}"
            )


def _against_rows(
    section: Section, findings: Iterable[Finding]
) -> Iterator[Contradiction]:
    """Yield facts that are not what the row of their name says."""
    source = section.kind if section.diff is None else section.diff.name
    facts: dict[str, list[Fact]] = {}
    for finding in findings:
        for fact in finding.evidence:
            if fact.source.split()[0] == source:
                facts.setdefault(fact.what, []).append(fact)
    for table in section.tables:
        for row, name in _rows_of_facts(table):
            for fact in facts.get(name, ()):
                if not _says(section, table, row, fact):
                    text = f"{name}: {fact.base} → {fact.new} {fact.unit}"
                    yield Contradiction("evidence against its row", text)


def _rows_of_facts(table: Table) -> Iterator[tuple[Row, str]]:
    """Yield the rows of a table with both sides, as facts name them."""
    base, new, name = (table.place(role) for role in ("base", "new", "name"))
    if min(base, new, name) < 0:
        return
    kind = table.key.partition(".")[0]
    for row in table.rows:
        if None not in (row.cells[base].value, row.cells[new].value):
            of_function = kind in ("flat", "cum")
            yield row, f"{row.key} ({kind})" if of_function else row.cells[name].text


def _says(section: Section, table: Table, row: Row, fact: Fact) -> bool:
    values = fact.base or 0.0, fact.new or 0.0
    places = table.place("base"), table.place("new")
    sides = zip(values, _factors(section), places, strict=True)
    for value, factor, place in sides:
        unit = 1.0
        if section.diff is None:
            unit, _ = scale(1, fact.unit, _unit(table, row, place))
        if not near(value * factor * unit, row.cells[place].value or 0.0):
            return False
    return True


def _unit(table: Table, row: Row, place: int) -> str:
    return row.cells[place].unit or table.columns[place].unit


def _named(table: Table, row: Row) -> str:
    return f"{table.key} {row.key}"
