"""Base's names for the functions that a finding names."""

from __future__ import annotations

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.wording import short
from pprofdiff.goruntime.readable import short_before
from pprofdiff.identity.model import Identity

__all__ = ["with_former_names"]

_NAMED = 2


def with_former_names(finding: Finding, identity: Identity) -> Finding:
    """Return the finding with base's names for the functions in its title.

    Only for pairs that rest on samples alone, or that the user gave: in all other pairs
    both names read the same.
    """
    clauses = []
    for name in sorted({*finding.names, *finding.functions}):
        pair = identity.pairs.get(name)
        if pair is None or short(name) not in finding.title:
            continue
        if pair.probability < 1 or pair.by == "given":
            verb = "was" if pair.by == "given" else "probably was"
            clauses.append(
                f"{short(name)} {verb} {short_before(pair.base, name)} in base"
            )
    if not clauses:
        return finding
    return finding._replace(text=f"{finding.text} {'; '.join(clauses[:_NAMED])}.")
