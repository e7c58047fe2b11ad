"""Two runs of one build, quiet and busy: no verdict, no finding, no gate that trips."""

import re
from typing import get_args

import pytest

from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.traces.wait_chains import EndKind
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import compare_paths
from pprofdiff.report.markdown import comment as markdown
from pprofdiff.report.model import judged
from pprofdiff.report.sections.findings import why
from pprofdiff.report.sections.outcome import outcome_text
from pprofdiff.units import percent
from tests.field.cases import DATA, UNCHANGED, each, report

cases = each(UNCHANGED)
RULES = (
    "total:+5%",
    "total@allocs:+5%",
    "group:gc:+5%",
    "group:gc:+2pp",
    "group:alloc:+5%",
    "group:user:+5%",
    "category:gc.mark.assist:+1pp",
    "cum:.*:+5%",
    "flat:.*:+5%",
    "package:.*:+5%",
    "bench:ns/op:+5%",
    "bench:allocs/op:+0%",
    "figure:p99_pause_us:+10%",
    *(f"wait:{kind}:+10%" for kind in get_args(EndKind)),
    "finding:major",
    "finding:minor",
)


def test_there_are_enough_of_them():
    known = [case for case in UNCHANGED if case.counts or case.rates]
    assert len(known) >= 30
    assert len(UNCHANGED) - len(known) >= 30


@pytest.mark.matrix
@cases
def test_there_is_no_verdict(case):
    outcome = report(case).outcome
    assert outcome.verdict in ("same", "unknown"), outcome.measures
    assert outcome_text(outcome).headline.startswith(
        ("No outcome", "Can't tell", "The same within")
    )
    assert outcome.contrary == ()


@cases
def test_there_is_no_finding_that_matters(case):
    got = report(case)
    loud = [(f.id, f.title) for f in got.findings.found if f.severity != "info"]
    assert loud == []
    assert why(got).warnings == ()


@pytest.mark.whole  # a rate needs all of them
@pytest.mark.slow
def test_nine_of_ten_comments_are_a_line_and_a_fold():
    """The marker, the outcome with what would show more, and one fold with the rest.

    Where chance marks a row of a table, there is more to see.
    """
    line = re.compile(r"<!-- .* -->\n\n.*: \*\*.*\*\*.*\n\n<details>")
    pages = [markdown.render(report(case)) for case in UNCHANGED]
    still = [line.match(page) and page.count("<details") == 1 for page in pages]
    assert sum(map(bool, still)) >= 0.9 * len(UNCHANGED)


@pytest.mark.matrix
@cases
def test_no_gate_trips(case):
    verdict = judged(report(case), Gate.of(RULES)).verdict
    assert len(verdict.rules) == len(RULES)
    assert not verdict.tripped, [r.text for r in verdict.tripped]


def test_equal_bytes_of_equal_work_are_no_change():
    """A byte more or less in a million is 0%, and nothing is not 'less than 0.1%'."""
    run = DATA / "unchanged" / "run1"
    got = compare_paths(run, run, Settings(work=counted((1000.0, 1000.0)))).report()
    for diff in got.profiles:
        base, new = diff.normalization.scaled(*diff.totals)
        assert base == new
        assert percent(new - base, base, signed=True) == "0%"
    assert got.account.total.delta == 0
    assert got.findings.found == ()


@pytest.mark.parametrize(("base", "new"), [("run1", "run2"), ("run2", "run1")])
def test_allocation_of_two_runs_is_of_their_whole_lives(base, new):
    """A window has other operations than a process that ran for longer."""
    sides = [DATA / "unchanged" / run for run in (base, new)]
    got = compare_paths(*sides, Settings(work=counted((1.0, 1.0)))).report()
    for diff in got.profiles:
        if not diff.is_cpu:
            assert diff.normalization.mode != "per_work"
    for rule in ("total@allocs:+5%", "cum@allocs:.*:+5%", "package@allocs:.*:+5%"):
        assert not judged(got, Gate.of([rule])).verdict.tripped
