"""Five investigations, recaptured: the diff puts each cause into the right group.

Every number is by operation done, from `work.json` beside the profiles.
"""

from __future__ import annotations

from functools import cache

import pytest

from pprofdiff.analysis.profiles.groups import judged_categories, judged_groups
from pprofdiff.report.sections.profiles.headline import headline

from .building import compared, groups_of


@pytest.fixture(scope="module")
def moved(load_capture, load_story):
    """Return a function: a story in, its CPU comparison by operation out."""

    @cache
    def of(name, kind="cpu"):
        story = load_story(name)
        base, new = (load_capture(p / f"{kind}.pb.gz") for p in (story.base, story.new))
        return compared(base, new, work=story.work)

    return of


def beyond_noise(diff):
    """Return what changed beyond noise: +1 or -1 by group."""
    return {g.id: 1 if g.delta > 0 else -1 for g in judged_groups(diff) if not g.noise}


def ratio(diff, group):
    """Return new over base of a group, by operation."""
    by = diff.normalization
    base, new = next((b, n) for g, b, n in groups_of(diff) if g == group)
    return new * by.new_factor / (base * by.base_factor)


def test_syncpool_pays_for_gc_that_runs_more_often(moved):
    diff = moved("syncpool")
    assert beyond_noise(diff) == {"gc": 1}
    assert headline(diff).startswith("GC costs")
    assert ratio(diff, "gc") > 1.5
    marks = [
        c
        for c in judged_categories(diff, "gc")
        if c.id.startswith("gc.mark") and not c.noise
    ]
    assert marks
    assert all(c.delta > 0 for c in marks)
    by_bytes = moved("syncpool", "allocs")
    base, new = by_bytes.totals
    assert new / diff_work(by_bytes)[1] < base / diff_work(by_bytes)[0]


def diff_work(diff):
    """Return the operations that both sides did."""
    return 1 / diff.normalization.base_factor, 1 / diff.normalization.new_factor


def test_rss_search_allocates_less_for_a_request(moved):
    diff = moved("rss-search")
    changed = beyond_noise(diff)
    assert changed["gc"] == changed["gc_tax"] == changed["user"] == -1
    assert ratio(diff, "alloc") < 1
    table = moved("rss-search", "allocs").table()
    delta = dict(zip(table.names, table.scaled_delta("flat").tolist(), strict=True))
    worst = min(delta, key=delta.get)
    lowering = (
        "strings.ToLower",
        "strings.(*Builder).grow",
        "strings.Map",
        "internal/bytealg.MakeNoZero",
    )
    assert worst in lowering
    callers = dict(zip(table.names, table.scaled_delta("cum").tolist(), strict=True))
    assert callers["strings.ToLower"] < 0.5 * sum(delta.values())


def test_zstd_builds_no_encoder_for_each_message(moved):
    diff = moved("zstd")
    changed = beyond_noise(diff)
    assert changed["gc"] == changed["gc_tax"] == changed["alloc"] == -1
    assert max(ratio(diff, group) for group in ("gc", "alloc")) < 0.05
    assert headline(diff).startswith("GC costs")


def test_health_check_collects_less_without_its_log(moved):
    changed = beyond_noise(moved("health-check"))
    assert changed["gc"] == -1
    assert 1 not in changed.values()


def test_node_pool_has_next_to_nothing_to_mark(moved):
    diff = moved("node-pool")
    changed = beyond_noise(diff)
    assert changed["gc"] == -1
    assert 1 not in changed.values()
    assert ratio(diff, "gc") < 0.1
    marks = [c for c in judged_categories(diff, "gc") if c.id.startswith("gc.mark")]
    assert sum(c.delta for c in marks) < 0.9 * sum(
        g.delta for g in judged_groups(diff) if g.id == "gc"
    )
