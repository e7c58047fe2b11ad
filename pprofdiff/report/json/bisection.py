"""A search for a commit, as rows of the JSON report."""

from __future__ import annotations

from math import exp

from pprofdiff.analysis.bisection.result import Bisection, Curve
from pprofdiff.report.json import Row


def search_row(found: Bisection) -> Row:
    """Return what was searched, each figure's steps, and the measured commits."""
    return {
        "good": found.ends[0],
        "bad": found.ends[1],
        "commits": len(found.commits) - 1,
        "built": found.built,
        "stopped": found.stopped or None,
        "culprits": [
            found.commits[commit]._asdict()
            for step in found.steps
            for commit in step.commits
        ],
        "skipped": [
            {"commit": found.commits[one.commit].id, "reason": one.reason}
            for one in found.skipped
        ],
        "curves": [_curve(found, curve) for curve in found.curves],
    }


def _curve(found: Bisection, curve: Curve) -> Row:
    ids = [commit.id for commit in found.commits]
    over = curve.conclusion
    return {
        "name": curve.name,
        "figure": curve.figure or None,
        "ending": over.ending,
        "probability": over.chance,
        "steps": [
            {
                "commits": [ids[commit] for commit in step.commits],
                "probability": step.chance,
                "ratio": exp(step.size),
                "log_sigma": step.sigma,
            }
            for step in over.steps
        ],
        "measured": [
            {**point._asdict(), "commit": ids[point.commit]} for point in curve.points
        ],
    }
