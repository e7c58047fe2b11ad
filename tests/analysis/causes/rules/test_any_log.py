"""Whatever a GC log says, findings are sentences with numbers, and none is of chance."""

from __future__ import annotations

import re
from math import isfinite

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted, rated
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Capture
from tests.analysis.building import given
from tests.analysis.gclogs.cycles import run_of, runs
from tests.analysis.growing import comparison

WORKS = st.sampled_from((None, rated((5.0, 7.0)), counted((5, 7))))
# Collections that are alike, so that what differs between sides is beyond chance.
SHAPES = st.fixed_dictionaries(
    {
        "heap_start_mb": st.integers(0, 300),
        "heap_end_mb": st.integers(0, 300),
        "heap_live_mb": st.integers(0, 300),
        "goal_mb": st.integers(0, 600),
        "background_cpu_us": st.integers(0, 10**6),
        "assist_cpu_us": st.integers(0, 10**6),
        "forced": st.booleans(),
    }
)


def found(base, new, work=None):
    """Return the findings of two logs, given as rows of `run_of`."""
    logs = (Capture("log", "gctrace", GCLog((run_of(rows),))) for rows in (base, new))
    return find(comparison(*logs, settings=Settings(work=work))).found


def steady(shape, wait):
    """Return ten collections of a shape, `wait` ms apart."""
    return [{**shape, "start_ms": 1000 + i * wait + i % 2} for i in range(10)]


def checked(findings):
    """Check what holds for every finding."""
    for finding in findings:
        assert finding.severity in ("info", "minor", "major")
        assert finding.direction in ("worse", "better", "neutral")
        assert finding.evidence
        words = f"{finding.title} {finding.text} {finding.advice}"
        assert re.search(r"\d", words)
        assert not re.search(r"\b(nan|inf|None)\b", words)
        for fact in finding.evidence:
            assert all(v is None or isfinite(v) for v in (fact.base, fact.new))


@pytest.mark.slow
@given(runs(), runs(), WORKS)
def test_any_two_logs(base, new, work):
    checked(found(base, new, work))


@given(SHAPES, SHAPES, st.integers(1, 2000), st.integers(1, 2000), WORKS)
def test_any_two_steady_logs(base, new, old_wait, wait, work):
    checked(found(steady(base, old_wait), steady(new, wait), work))


@pytest.mark.slow
@given(runs())
def test_a_log_and_itself(rows):
    assert all(f.severity == "info" for f in found(rows, rows))
