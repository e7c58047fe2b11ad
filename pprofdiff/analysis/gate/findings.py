"""Rules on findings: none may be worse at or above a severity."""

from __future__ import annotations

from pprofdiff.analysis.causes.finding import SEVERITIES
from pprofdiff.analysis.gate.measures import Asked, Figure, Judged, Kind, Measured
from pprofdiff.units import Scale

__all__ = ["FINDING"]

# Informational findings may appear between runs of one build.
_WEIGHTS = SEVERITIES[1:]


def _check(asked: Asked) -> None:
    """Reject an unknown severity."""
    if asked.subject not in _WEIGHTS:
        raise asked.wrong(
            f"there is no severity {asked.subject}; there are: {', '.join(_WEIGHTS)}"
        )


def _findings(asked: Asked, judged: Judged) -> Measured:
    """Count the findings that are worse, of this severity or higher."""
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
        else "no finding that got worse"
    )
    return [
        Figure(
            "", 0, len(titles), "findings", Scale(1, "", 0), noise=False, words=words
        )
    ]


FINDING = Kind(_check, _findings)
