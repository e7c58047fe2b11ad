"""What a rule says: a sentence, its evidence, and the samples that it speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.groups import JudgedSum
from pprofdiff.analysis.stats.judgement import Mark

if TYPE_CHECKING:
    from pprofdiff.analysis.source.model import SourceOfFinding

__all__ = [
    "DIRECTIONS",
    "SEVERITIES",
    "Claim",
    "Direction",
    "Explained",
    "Fact",
    "Finding",
    "Findings",
    "Severity",
]

Severity = Literal["info", "minor", "major"]
Direction = Literal["worse", "better", "neutral"]

SEVERITIES: tuple[Severity, ...] = ("info", "minor", "major")
DIRECTIONS: tuple[Direction, ...] = ("worse", "better", "neutral")


class Fact(NamedTuple):
    """One piece of evidence: what, from which field of which input, base and new.

    None stands for what a side does not tell.
    """

    what: str
    source: str
    base: float | None
    new: float | None
    unit: str


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """Which samples of the CPU profiles a finding speaks of: bool, one a sample."""

    base: NDArray[np.bool_]
    new: NDArray[np.bool_]

    @property
    def sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The samples of base and of new."""
        return self.base, self.new

    def plus(self, other: Claim) -> Claim:
        """Return the samples of either claim."""
        return Claim(self.base | other.base, self.new | other.new)

    def within(self, other: Claim) -> Claim:
        """Return the samples of both claims."""
        return Claim(self.base & other.base, self.new & other.new)

    def without(self, other: Claim) -> Claim:
        """Return the samples that `other` does not speak of."""
        return Claim(self.base & ~other.base, self.new & ~other.new)


class Finding(NamedTuple):
    """One thing that changed, and why.

    `id` is stable; `title` is one short sentence, `text` the numbers behind it and
    `advice` what to do, "" for nothing. `severity` is ``info``, ``minor`` or
    ``major``, at least that of what follows from it, `direction` ``worse``, ``better``
    or ``neutral``. `parent` is the id of the finding that this one follows from, None
    for a cause. `explains` is the scaled delta of CPU that `claim` and the claims of
    what follows from it cover, None without one: no sample counts for two causes. `own`
    is the part of it that the finding's own sentence speaks of, without what follows
    from it, None where there is none; `mark` is what chance is to that (or to
    `explains`, where there is none), as in the tables, None for fewer samples than a
    row is judged by. `beside` tells that
    causes before it claim a part of what its own numbers tell. `weight` is what a
    finding without a claim explains of its own measure, from 0 to 1; with one it ranks
    what explains equally much. `sure` tells that its severity rests on other evidence
    than the CPU of its claim, which may be within noise. `rises` is which way its
    numbers moved where that is neither worse nor better, None where they did not.
    `names` are the functions that it is of, where others may follow from them;
    `functions` those that it names where they are no cause of others. `source` are the
    changed lines behind it, None where the source is not known. `unit` names the unit
    of work whose operations its numbers are of, "" for those of the whole program.
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
    beside: bool = False
    parent: str | None = None
    weight: float = 0.0
    sure: bool = False
    rises: bool | None = None
    names: frozenset[str] = frozenset()
    functions: tuple[str, ...] = ()
    source: SourceOfFinding | None = None
    unit: str = ""


class Explained(NamedTuple):
    """How much of the CPU profiles' delta the findings explain, in scaled values.

    `left` are the groups whose unexplained part is still beyond noise, as far as can
    be told, by falling size.
    """

    total: float
    explained: float
    left: tuple[JudgedSum, ...]


class Findings(NamedTuple):
    """All findings, and how much of the CPU they explain, None without CPU profiles.

    Causes stand in the order of what they explain, each before its consequences.
    """

    found: tuple[Finding, ...]
    explained: Explained | None

    @property
    def causes(self) -> tuple[Finding, ...]:
        """The findings that follow from no other."""
        return tuple(finding for finding in self.found if finding.parent is None)

    def consequences(self, id_: str) -> tuple[Finding, ...]:
        """Return what follows from a finding, at once or through another."""
        below, wanted = [], {id_}
        for finding in self.found:
            if finding.parent in wanted:
                wanted.add(finding.id)
                below.append(finding)
        return tuple(below)
