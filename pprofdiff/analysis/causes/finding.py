"""What rules return: a sentence, its evidence, and the samples that it covers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.causes.wording import Span, read
from pprofdiff.analysis.judge.judgement import Mark
from pprofdiff.analysis.policy import MAJOR, MINOR
from pprofdiff.analysis.profiles.groups import JudgedSum

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.analysis.source.model import SourceOfFinding

Severity = Literal["info", "minor", "major"]
Direction = Literal["worse", "better", "neutral"]

SEVERITIES: tuple[Severity, ...] = ("info", "minor", "major")
DIRECTIONS: tuple[Direction, ...] = ("worse", "better", "neutral")


def severity_of(share: float) -> Severity:
    """Return how severe a change is, from its share of the larger side's total."""
    if share >= MAJOR:
        return "major"
    return "minor" if share >= MINOR else "info"


CHANGED_ALONE = "changed-alone"
"""The id of the finding on what changed where no cause is known."""


ALLOCS = "allocs profile"
"""The source of facts about what a function allocates."""


OF_CPU = "cpu profile"
"""The source of facts about CPU time that samples show."""


class Fact(NamedTuple):
    """One piece of evidence: what, from which input and field, base and new.

    A value is None where its side does not have it.
    """

    what: str
    source: str
    base: float | None
    new: float | None
    unit: str


class Claim(Struct, frozen=True, eq=False):
    """Which samples of the CPU profiles a finding covers: bool, one per sample."""

    base: NDArray[np.bool_]
    new: NDArray[np.bool_]

    @property
    def sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The samples of base and of new."""
        return self.base, self.new

    def plus(self, other: Claim) -> Claim:
        """Return the samples of either claim."""
        return Claim(self.base | other.base, self.new | other.new)

    def plus_all(self, others: Iterable[Claim]) -> Claim:
        """Return the samples of any of the claims."""
        return reduce(Claim.plus, others, self)

    def within(self, other: Claim) -> Claim:
        """Return the samples of both claims."""
        return Claim(self.base & other.base, self.new & other.new)

    def without(self, other: Claim) -> Claim:
        """Return the samples that are not in `other`."""
        return Claim(self.base & ~other.base, self.new & ~other.new)


class Finding(NamedTuple):
    """One thing that changed, and why.

    `id` is stable; `title` is one short sentence, `text` the numbers behind it and
    `advice` what to do, "" for nothing. `severity` is at least its consequences'.
    `parent` is the id of the finding that this one follows from, None for a cause.
    `explains` is the scaled CPU delta of `claim` and of its consequences' claims: no
    sample counts for two causes. `own` is the part that the finding's own sentence
    covers, without its consequences. `mark` is the tables' mark of `own`, or of
    `explains` without it, None for fewer samples than a row needs. `shared` says that
    earlier causes, or its parent, claim a part of what its own numbers show; `several`
    that it follows from other causes as well as from its parent; `inside` that most CPU
    of its functions is claimed by earlier causes. `weight` is what a finding without a
    claim explains of its own measure, from 0 to 1; with a claim it breaks ties. `sure`
    says that its severity rests on other evidence than its claim's CPU, which may be
    within noise; `timed` that its text has that CPU. `rises` is the direction of its
    numbers where `direction` does not give it. `names` are the functions it is about,
    from which others may follow; `functions` are those it names that cause no others.
    `source` are the changed lines behind it, None if unknown.
    `unit` names the unit of work that its numbers are for, "" for the whole program;
    `also` the others that its text ends with, `with_units` those whose amounts it has.
    `of_unit` are the samples of that unit's own profiles which a `claim` would have.
    `label` is the label key and value, such as ``endpoint`` and ``/search``, that its
    code runs under; "" for none or several. `line` is where a function that its title
    begins with costs most, as ``main.go:57``. `amount` is base and new as its title
    ends with them, `counted` what its functions allocate, if its text says that.
    `spans` are the numbers that its sentences print.
    """

    id: str
    title: str
    text: str
    evidence: tuple[Fact, ...]
    advice: str = ""
    severity: Severity = "info"
    direction: Direction = "neutral"
    claim: Claim | None = None
    explains: float | None = None
    own: float | None = None
    mark: Mark | None = None
    shared: bool = False
    several: bool = False
    inside: bool = False
    parent: str | None = None
    weight: float = 0.0
    sure: bool = False
    timed: bool = False
    rises: bool | None = None
    names: frozenset[str] = frozenset()
    functions: tuple[str, ...] = ()
    source: SourceOfFinding | None = None
    unit: str = ""
    also: tuple[str, ...] = ()
    with_units: tuple[str, ...] = ()
    of_unit: Claim | None = None
    label: tuple[str, str] = ("", "")
    line: str = ""
    amount: str = ""
    counted: str = ""
    spans: tuple[Span, ...] = ()

    @property
    def site(self) -> Fact | None:
        """The bytes of the allocation site that it is about, None for none."""
        first = self.evidence[0] if self.evidence else None
        return first if first is not None and first.source == ALLOCS else None

    @property
    def said_of(self) -> tuple[str, str]:
        """The title as the name of its unit, with a colon, and the rest."""
        unit = f"{self.unit}: "
        if self.unit and self.title.startswith(unit):
            return unit, self.title.removeprefix(unit)
        return "", self.title


def with_spans(finding: Finding) -> Finding:
    """Return the finding with plain sentences, and their numbers as `spans`."""
    title, of_title = read(finding.title)
    text, of_text = read(finding.text)
    advice, of_advice = read(finding.advice)
    # Its numbers are those of the text.
    counted, _ = read(finding.counted)
    return finding._replace(
        title=title,
        text=text,
        advice=advice,
        counted=counted,
        spans=(*finding.spans, *of_title, *of_text, *of_advice),
    )


def only_counted(findings: Sequence[Finding]) -> bool:
    """Return whether all causes are allocation sites without CPU; False for none."""
    causes = [one for one in findings if one.severity != "info"]
    return bool(causes) and all(one.site and not one.timed for one in causes)


class Explained(NamedTuple):
    """How much of the CPU profiles' delta the findings explain, in scaled values.

    `left` are the groups whose unexplained part is significant, largest first. `quiet`
    says that no unexplained part is: the total, each group, each function.
    """

    total: float
    explained: float
    left: tuple[JudgedSum, ...]
    quiet: bool = True


class Findings(NamedTuple):
    """All findings, and how much of the CPU they explain, None without CPU profiles.

    Each cause, ordered by what it explains, precedes its consequences.
    """

    found: tuple[Finding, ...]
    explained: Explained | None

    @property
    def causes(self) -> tuple[Finding, ...]:
        """The findings that follow from no other one."""
        return tuple(finding for finding in self.found if finding.parent is None)

    @property
    def numbered(self) -> tuple[Finding, ...]:
        """The causes above info, which reports number."""
        return tuple(one for one in self.causes if one.severity != "info")

    def consequences(self, id_: str) -> tuple[Finding, ...]:
        """Return what follows from a finding, directly or through another one."""
        below, wanted = [], {id_}
        for finding in self.found:
            if finding.parent in wanted:
                wanted.add(finding.id)
                below.append(finding)
        return tuple(below)


def findings_frame(findings: Findings) -> pd.DataFrame:
    """Return one row per finding, in order, with the columns of `Reported.findings`."""
    import pandas as pd

    rows = findings.found
    explains = [float("nan") if f.explains is None else f.explains for f in rows]
    return pd.DataFrame(
        {
            "id": [f.id for f in rows],
            "severity": pd.Categorical([f.severity for f in rows], SEVERITIES),
            "direction": pd.Categorical([f.direction for f in rows], DIRECTIONS),
            "title": [f.title for f in rows],
            "text": [f.text for f in rows],
            "advice": [f.advice for f in rows],
            "explains": pd.Series(explains, dtype="float64"),
            "unit": [f.unit or " ".join(f.label).strip() for f in rows],
        }
    )


def evidence_frame(findings: Findings) -> pd.DataFrame:
    """Return one row per fact, in the findings' order."""
    import pandas as pd

    rows = [(f.id, *fact) for f in findings.found for fact in f.evidence]
    frame = pd.DataFrame(rows, columns=["finding", *Fact._fields])
    return frame.astype({"base": "float64", "new": "float64"})
