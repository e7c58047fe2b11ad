"""The changed lines behind a finding, in a history with one culprit."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.findings.rules import find
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.source.carrying import with_source
from pprofdiff.analysis.work import counted
from pprofdiff.inputs.model import ReadOptions
from pprofdiff.inputs.sides import load_sides
from pprofdiff.inputs.sources.lookup import sources_of

pytestmark = pytest.mark.go


def first(planted, span, base=None, new=None):
    """Return the first finding with its source."""
    loaded = load_sides(
        (str(base or planted.base),), (str(new or planted.new),), ReadOptions()
    )
    work = Settings(work=counted((40_000, 40_000)))
    comparison = compare_sides(loaded.base, loaded.new, work)
    sources = sources_of(span, str(planted.repo.folder), "")
    return with_source(comparison, find(comparison), sources).findings.found[0]


def test_the_lines_and_the_commit_of_a_planted_regression(planted_repo):
    finding = first(planted_repo, "..".join(planted_repo.refs))
    assert finding.id == "dearer"
    lines, *others = finding.source.lines
    assert others == []
    assert lines.place == "store/price.go:17-19"
    assert lines.function == "example.com/shop/store.Price"
    assert [commit.id for commit in lines.commits] == [planted_repo.culprit]
    assert lines.commits[0].subject == "store: price twice, to be sure"
    assert lines.base == 0 < lines.new
    assert finding.source.unchanged == ()
    # Its hunk is the one that git prints of the file.
    told = planted_repo.repo.run("diff", "-U0", *planted_repo.refs, "--", "store")
    assert "@@ -14,0 +17,3 @@" in told


def test_the_other_way_round_the_lines_are_gone(planted_repo):
    span = "..".join(reversed(planted_repo.refs))
    finding = first(planted_repo, span, planted_repo.new, planted_repo.base)
    assert finding.id == "cheaper"
    (lines,) = finding.source.lines
    assert lines.gone
    assert lines.place == "store/price.go:17-19"
    assert lines.new == 0 < lines.base


def test_a_function_without_a_changed_line(planted_repo):
    """With one ref for both builds nothing changed: it is said, and nothing else."""
    ref = planted_repo.refs[1]
    # The base's lines are those of other text: nothing may be said of it.
    assert first(planted_repo, f"{ref}..{ref}").source is None
    finding = first(planted_repo, f"{ref}..{ref}", planted_repo.faster)
    assert finding.source.lines == ()
    assert finding.source.unchanged == ("example.com/shop/store.Price",)
