"""Allocations of a function next to those that benchmarks count."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.sites import Allocated, Site, within


@pytest.mark.parametrize(
    ("own", "counted"),
    [((25.6, 16.0), (25.0, 16.0)), ((25.6, 17.2), (25.0, 17.0)), ((8.0, 8.0), (8, 8))],
)
def test_the_only_site_has_the_bytes_that_benchmarks_print(own, counted):
    """They cut off the fraction of each side."""
    site = Site("p.F", 0, own, (4.0, 1.0), exact=True, missing=0.0, held=own)
    totals = Allocated(counted, (4.0, 1.0))
    assert within(totals, site).space == counted
