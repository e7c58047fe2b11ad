"""Pairs of kept traces in which goroutines wait for each other, compared."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pprofdiff.api import diff

FIELD = Path(__file__).parents[1] / "field" / "pairs"
PAIRS = ("third-edge-one-lock", "network-wait-gone-chi", "sync-added-badger")


@cache
def trace_pair(name):
    """Return the traces of a pair of the field test compared."""
    return diff(*(FIELD / name / side / "trace.out" for side in ("base", "new"))).data
