"""Rules on findings: none that is worse and weighs as much."""

from __future__ import annotations

from pprofdiff.analysis.findings.model import SEVERITIES
from pprofdiff.analysis.gate.measures import Asked, Figure, Judged, Kind, Measured
from pprofdiff.units import Scale

__all__ = ["FINDING"]

# Findings of no more than informative weight may come up between runs of one build.
_WEIGHTS = SEVERITIES[1:]


def _check(asked: Asked) -> None:
    """Refuse another severity than there is."""
    if asked.subject not in _WEIGHTS:
        raise asked.wrong(
            f"there is no severity {asked.subject}; there are: {', '.join(_WEIGHTS)}"
        )


def _findings(asked: Asked, judged: Judged) -> Measured:
    """Count the findings that are worse and of this severity or a higher one."""
    counted = _WEIGHTS[_WEIGHTS.index(asked.subject) :]
    titles = [
        finding.title
        for finding in judged.findings.found
        if finding.direction == "worse" and finding.severity in counted
    ]
    noun = "finding" if len(titles) == 1 else "findings"
    words = (
        f"{len(titles)} {noun}: {'; '.join(titles)}"
        if titles
        else "no finding that is worse"
    )
    return [
        Figure(
            "", 0, len(titles), "findings", Scale(1, "", 0), noise=False, words=words
        )
    ]


FINDING = Kind(_check, _findings)
