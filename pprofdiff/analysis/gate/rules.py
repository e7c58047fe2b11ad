"""The rules of ``--fail-on``, ``KIND[@PROFILE]:SUBJECT:LIMIT``, and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pprofdiff.analysis.causes.finding import SEVERITIES
from pprofdiff.analysis.gate.benchmarks import BENCH, LOAD, UNIT
from pprofdiff.analysis.gate.figures import FIGURE
from pprofdiff.analysis.gate.forms import RULES, RuleForm
from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Limit,
    parse_limit,
)
from pprofdiff.analysis.gate.profiles import CATEGORY, CUM, FLAT, GROUP, PACKAGE, TOTAL
from pprofdiff.analysis.gate.waits import WAIT
from pprofdiff.errors import UsageError
from pprofdiff.units import Scale

# Informational findings may appear between runs of one build.
_WEIGHTS = SEVERITIES[1:]


def _check(asked: Asked) -> None:
    """Reject an unknown severity."""
    if asked.subject not in _WEIGHTS:
        raise asked.wrong(
            f"there is no severity {asked.subject}; there are: {', '.join(_WEIGHTS)}"
        )


def _findings(asked: Asked, judged: Judged) -> list[Figure]:
    """Count the findings that are worse, of this severity or higher."""
    counted = _WEIGHTS[_WEIGHTS.index(asked.subject) :]
    titles = [
        finding.title
        for finding in judged.findings.found
        if finding.direction == "worse" and finding.severity in counted
    ]
    noun = "finding" if len(titles) == 1 else "findings"
    words = "no finding that got worse"
    if titles:
        words = f"{len(titles)} {noun}: {'; '.join(titles)}"
    plain = Scale(1, "", 0)
    return [Figure("", 0, len(titles), "findings", plain, noise=False, words=words)]


_FINDING = Kind(_check, _findings)


KINDS: dict[str, Kind] = {
    "cum": CUM,
    "flat": FLAT,
    "package": PACKAGE,
    "group": GROUP,
    "category": CATEGORY,
    "total": TOTAL,
    "bench": BENCH,
    "unit": UNIT,
    "load": LOAD,
    "figure": FIGURE,
    "wait": WAIT,
    "finding": _FINDING,
}

_FORMS = {form.kind: form for form in RULES}
# A single finding trips the rule.
_NONE = Limit(1, Decimal(0), "")


@dataclass(frozen=True, slots=True)
class Gate:
    """The rules to judge; if `strict`, noise and a lack of data fail them."""

    rules: tuple[Asked, ...] = ()
    strict: bool = False

    @classmethod
    def of(
        cls, texts: Sequence[str], *, strict: bool = False, typed: str = "--fail-on"
    ) -> Gate:
        """Return the gate for some rules; raises UsageError saying what to type."""
        return cls(tuple(parse_rule(text, typed) for text in texts), strict)


def parse_rule(text: str, typed: str = "--fail-on") -> Asked:
    """Return the parsed rule; raises UsageError with a valid example.

    The kind ends at the first colon and the limit begins after the last, so a pattern
    may contain colons.
    """
    head, _, rest = text.partition(":")
    kind, at, source = head.partition("@")
    form = _FORMS.get(kind)
    if form is None:
        raise UsageError(
            f"{typed} {text}: there is no rule {kind or 'without a kind'}; there "
            f"are: {', '.join(_FORMS)}; such as {RULES[0].example}"
        )
    if at and (not source or not form.source):
        why = "a profile's name follows @" if form.source else f"{kind} takes no @"
        raise _wrong(f"{typed} {text}", form, why)
    subject, given = _parts(f"{typed} {text}", form, rest)
    limit = _limit(f"{typed} {text}", form, given)
    asked = Asked(text, kind, source, subject, limit, typed)
    KINDS[kind].check(asked)
    return asked


def _parts(named: str, form: RuleForm, rest: str) -> tuple[str, str]:
    """Return a rule's subject and limit, "" for those its kind lacks."""
    if not form.limited:
        subject, given = rest, ""
    elif not form.subject:
        subject, given = "", rest
    else:
        subject, _, given = rest.rpartition(":")
    if form.subject and not subject:
        raise _wrong(named, form, f"{form.subject} or its limit is missing")
    return subject, given


def _limit(named: str, form: RuleForm, given: str) -> Limit:
    """Return the limit, with a sign that the kind allows."""
    if not form.limited:
        return _NONE
    try:
        limit = parse_limit(given)
    except ValueError as error:
        raise _wrong(named, form, str(error)) from None
    if not limit.sign and not form.ceiling:
        raise _wrong(named, form, f"the limit {given} has no sign")
    if limit.sign < 0 and not form.less:
        raise _wrong(named, form, f"less is better: the limit is +{str(limit)[1:]}")
    return limit


def _wrong(named: str, form: RuleForm, why: str) -> UsageError:
    return UsageError(
        f"{named}: {why}; {form.kind} rules are {form.form}, such as {form.example}"
    )
