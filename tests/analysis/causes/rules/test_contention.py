"""Waits for locks: which lock it is, and whether the wait goes on elsewhere."""

from pathlib import Path

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.api.comparison import compare_paths

PAIRS = Path(__file__).parents[3] / "field" / "pairs"
pytestmark = pytest.mark.slow


def found(pair):
    sides = [PAIRS / pair / side for side in ("base", "new")]
    findings = find(compare_paths(*sides).data).found
    return next(one for one in findings if one.id == "contention")


def test_a_wait_for_channels_in_place_of_a_lock_is_no_fall():
    finding = found("lock-to-channel")
    assert "; waits for channels there: " in finding.title
    assert finding.severity == "info"
    (fact,) = [fact for fact in finding.evidence if fact.source == "block profile"]
    assert fact.base == 0 < fact.new


def test_the_mutex_in_a_read_write_lock_is_the_lock_around_it():
    assert "in sync.RWMutex" in found("third-nats-busy").title
