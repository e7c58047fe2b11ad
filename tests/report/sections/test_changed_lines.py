"""Changed lines that moved and that no finding names are reported in a table."""

from __future__ import annotations

import json
import re

import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.inputs.sources.lookup import sources_of
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.html.page import render as page
from pprofdiff.report.json.document import render as document
from pprofdiff.report.markdown.comment import render as comment
from pprofdiff.report.model import report_of
from pprofdiff.report.text.lines import render as text
from pprofdiff.report.text.report import report_parts
from tests.building import CPU, MS, Frame, Place, Sample, built
from tests.repository import repository

OLD = "package m\n\nfunc F() {\n	first()\n	second()\n}\n"
NEW = "package m\n\nfunc F() {\n	first()\n	check()\n	second()\n}\n"


def samples(lines, each):
    """Return samples of F by line, each of which costs so much."""
    return [
        Sample((Place((Frame("m.F", "/b/m/f.go", int(line[1:]), 3),), 100 + i),), (n, n * each))
        for i, (line, n) in enumerate(lines.items())
    ]  # fmt: skip


def profile(**lines):
    """Return a profile of F with so many samples by line."""
    return built(samples(lines, 10 * MS), CPU, duration_ns=10**11)


@pytest.fixture(scope="module")
def refs(tmp_path_factory):
    """Return a repository whose last commit adds a line to F, and both its refs."""
    repo = repository(tmp_path_factory.mktemp("changed") / "repo")
    base = repo.commit("begin", {"go.mod": "module m\n", "f.go": OLD})
    new = repo.commit("check | `first`", {"f.go": NEW})
    return repo, base, new


def reported(refs, base, new):
    """Return the report on two profiles of both refs, of known work."""
    repo, *span = refs
    sides = [
        Side(label, (Capture(f"{label}.pb.gz", "profile", side),))
        for label, side in (("base", base), ("new", new))
    ]
    comparison = compare_sides(*sides, Settings(work=counted((1000, 1000))))
    sources = sources_of("..".join(span), str(repo.folder), "")
    return report_of(comparison, sources=sources)


def test_lines_that_no_finding_names(refs):
    """A line more costs 4 %: no finding, and beyond noise by itself."""
    report = reported(
        refs, profile(_4=2000, _5=2000), profile(_4=2000, _5=160, _6=2000)
    )
    assert not any(f.source and f.source.lines for f in report.findings.found)
    written = text(report_parts(report))
    assert "Changed lines (cum)" in written
    row = next(line for line in written.splitlines() if "f.go:5" in line)
    assert row.split()[:4] == ["0.00", "1.60", "▲", "+1.60"]
    assert row.split()[4:] == ["f.go:5", "m.F", refs[2][:9]]
    (lines,) = json.loads(document(report))["changed_lines"]
    assert (lines["base"], lines["new"]) == (0, 160 * 10 * MS)
    (row,) = re.findall(r"^\| 0\.00.*", comment(report), re.MULTILINE)
    assert row.replace("`", "").endswith(f" | f.go:5 | m.F | {refs[2][:9]} |")
    assert "f.go:5" in page(report)


def test_lines_within_noise_are_not_reported(refs):
    report = reported(refs, profile(_4=2000, _5=2000), profile(_4=2000, _5=4, _6=2000))
    assert report.changed == ()
    assert "f.go:5" not in text(report_parts(report))


def test_what_moved_without_a_changed_line_is_named_once(refs):
    """A finding names the function: it is not named again below."""
    repo, _, new = refs
    report = reported((repo, new, new), profile(_4=2000), profile(_4=4000))
    assert report.unchanged == ("m.F",)
    assert "m.F uses 2.00× the CPU" in text(report_parts(report))
    # By 15 % only, no finding names it.
    report = reported((repo, new, new), profile(_4=4000), profile(_4=4600))
    assert not any(f.source for f in report.findings.found)
    for write in (comment, page, lambda one: text(report_parts(one))):
        assert "Cost changed, source did not: " in write(report)
    assert json.loads(document(report))["unchanged_functions"] == ["m.F"]


def test_unchanged_builds_have_no_changed_lines(refs):
    """Lines of one text that moved are no changed lines, however much they moved."""
    repo, _, new = refs
    sides = profile(_4=2000, _5=160), profile(_4=2000, _5=4000)
    report = reported((repo, new, new), *sides)
    assert report.changed == ()
    source = report.findings.found[0].source
    assert (source.lines, source.near, source.unchanged) == ((), (), ("m.F",))
    # Nothing is known of why: no sentence says so.
    assert "No line of" not in text(report_parts(report))


SPACE = (ValueType("inuse_objects", "count"), ValueType("inuse_space", "bytes"))


def held(**lines):
    """Return a heap profile of F, which holds so many megabytes by line."""
    space = ValueType("space", "bytes")
    return built(samples(lines, 1 << 20), SPACE, period_type=space, period=512 << 10)


def test_a_heap_that_grew_names_its_lines(refs):
    """A finding without samples of the CPU: its functions' lines in the heap count."""
    report = reported(refs, held(_4=60, _5=60), held(_4=60, _5=200, _6=60))
    finding = next(f for f in report.findings.found if f.id.startswith("heap"))
    (lines,) = finding.source.lines
    assert lines.place == "f.go:5"
    assert (lines.base, lines.new) == (0, 200 << 20)
    assert "Changed: f.go:5 in m.F, cum 0.0 → 200.0 MiB; " in " ".join(
        text(report_parts(report)).split()
    )


def test_a_line_that_saves_more_than_it_costs_is_no_loss(refs):
    """A check costs something itself: the finding names it, and no table with a ▲."""
    report = reported(refs, profile(_4=3000, _5=3000), profile(_4=600, _5=300, _6=300))
    assert report.changed
    source = report.findings.found[0].source
    assert (source.lines, [one.place for one in source.near]) == ((), ["f.go:5"])
    written = text(report_parts(report))
    assert written.count("f.go:5") == 1
    assert "hanged lines" not in written
    assert json.loads(document(report))["changed_lines"]
