"""Allocations of a function next to those that benchmarks count."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.sites import (
    Allocated,
    Site,
    against_all,
    instances_together,
    is_part_of_blocks,
    within,
)
from pprofdiff.analysis.causes.wording import read


@pytest.mark.parametrize(
    ("own", "counted"),
    [((25.6, 16.0), (25.0, 16.0)), ((25.6, 17.2), (25.0, 17.0)), ((8.0, 8.0), (8, 8))],
)
def test_the_only_site_has_the_bytes_that_benchmarks_print(own, counted):
    """They cut off the fraction of each side."""
    site = Site("p.F", 0, own, (4.0, 1.0), exact=True, missing=0.0, held=own)
    totals = Allocated(counted, (4.0, 1.0))
    assert within(totals, site).space == counted


def site(name, space, objects=(9.0, 9.0), missing=0.0):
    """Return a site whose objects are not known exactly."""
    return Site(name, 0, space, objects, exact=False, missing=missing)


def test_instances_that_go_both_ways_are_one_function():
    sites = [
        site("p.Get[go.shape.int]", (344.0, 120.0), (4.0, 3.0)),
        site("p.Fill", (0.0, 64.0)),
        site("p.Get[go.shape.string]", (0.0, 120.0), (0.0, 1.0)),
    ]
    whole, other = instances_together(sites)
    assert (whole.space, whole.objects) == ((344.0, 240.0), (4.0, 4.0))
    assert whole.is_of_instances
    assert other is sites[1]
    # Both less are two: each has lines of its own.
    less = [sites[0], sites[2]._replace(space=(240.0, 120.0))]
    assert instances_together(less) == less


@pytest.mark.parametrize(
    ("space", "objects", "missing", "part"),
    [
        # 41 blocks of 16 bytes, next to 662 objects that share blocks.
        ((5616.0, 4960.0), (151.0, 110.0), 662.0, True),
        # They are as many where few objects share them, and larger otherwise.
        ((5616.0, 4960.0), (151.0, 110.0), 60.0, False),
        ((5616.0, 4960.0), (151.0, 150.0), 662.0, False),
        # All of a site's is its own.
        ((656.0, 0.0), (41.0, 0.0), 662.0, False),
    ],
)
def test_a_few_of_many_tiny_blocks_are_no_change(space, objects, missing, part):
    assert is_part_of_blocks(site("p.F", space, objects, missing)) == part


@pytest.mark.parametrize(
    ("space", "said"),
    [((0.0, 54_000.0), True), ((54_000.0, 0.0), False), ((50.0, 50.0), False)],
)
def test_what_goes_against_the_total_says_so(space, said):
    totals = Allocated((156_000.0, 102_400.0), (1_023.0, 1_007.0))
    text = read(against_all(totals, site("p.New", space)))[0]
    assert text == ("That is against the total: 152 → 100 KiB/op." if said else "")
