"""What outcome, findings, GC account and gate say against their own numbers.

Numbers in findings carry their values (`causes.wording`), so nothing here depends on
how a sentence is worded, except for verbs of change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isfinite, log

from pprofdiff.analysis.account.gc import GCAccount
from pprofdiff.analysis.causes.finding import Finding, Findings
from pprofdiff.analysis.causes.wording import Span, alike
from pprofdiff.analysis.gate.model import Ruling
from pprofdiff.analysis.outcome.model import Outcome
from pprofdiff.report.checking.model import ROUNDING, Contradiction, title_spans

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
