"""The checker finds contradictions that are planted in a report without any."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.causes.finding import Fact
from pprofdiff.analysis.causes.wording import Span
from pprofdiff.analysis.gate.model import Ruling
from pprofdiff.api import compare
from pprofdiff.errors import ContradictionError
from pprofdiff.report.checking import check, contradictions, of_evidence, of_tables
from pprofdiff.report.model import Scope
from pprofdiff.report.sections import sections
from tests.conftest import DATA


@pytest.fixture(scope="module")
def planted_report():
    """Return a report with an outcome, causes and a split of GC CPU."""
    pair = DATA / "syncpool" / "base", DATA / "syncpool" / "new"
    return compare(*pair, work=(1000, 1000)).report()


def found(report, **parts):
    """Return what the checker finds in a report's parts."""
    return {
        one.check
        for one in contradictions(report.outcome, report.findings, report.gc, **parts)
    }


def with_cause(report, **fields):
    """Return a report whose first finding with an amount has other fields."""
    some = [f for f in report.findings.found if f.explains and f.parent is None]
    every = [f._replace(**fields) if f is some[0] else f for f in report.findings.found]
    return report._replace(findings=report.findings._replace(found=tuple(every)))


def rising(text="1.0 → 2.0 s", base=1.0, new=2.0):
    return {
        "title": f"main.f costs {text}",
        "text": "",
        "spans": (Span(text, "pair", base, new, "s"),),
    }


UP = {
    "direction": "worse",
    "explains": 1.0,
    "evidence": (),
    "id": "place",
    "sure": True,
}
FINDINGS = {
    "a digit typed by hand": ({"title": "main.f costs 17 more"}, "a number without a value"),
    "base is new": (UP | rising("2 of 8 → 2 of 8", 0.25, 0.25), "no change"),
    "a verb against its number": (UP | rising() | {"title": "main.f costs less: 1.0 → 2.0 s"}, "verb against number"),
    "a direction against its number": (UP | rising() | {"direction": "better"}, "direction"),
    "an amount against its number": (UP | rising() | {"explains": -1.0, "direction": "neutral"}, "what it explains"),
    "a cause within noise": (UP | {"mark": "noise", "severity": "major", "sure": False, "shared": False}, "within noise"),
    "a ratio that is not its pair's": (
        {"id": "place", "title": "main.f uses 3.00× the CPU: 1.0 → 2.0 s", "text": "", "explains": 1.0, "direction": "worse",
         "spans": (Span("3.00×", "ratio", None, 3.0, ""), Span("1.0 → 2.0 s", "pair", 1.0, 2.0, "s"))},
        "ratio of a pair",
    ),
    "gone, and not": ({"id": "place", "title": "main.f no longer takes CPU", "text": "", "spans": (), "explains": -1.0, "direction": "better",
         "evidence": (Fact("main.f", "cpu profile", 10, 3, "ns"),)}, "gone"),
    "causes that do not add up": ({"explains": 1e15, "severity": "major", "title": "main.f", "text": "", "spans": (), "direction": "neutral"}, "causes"),
}  # fmt: skip


def test_a_report_contradicts_nothing(planted_report):
    assert found(planted_report) == set()
    assert of_tables(sections(planted_report, Scope(full=True))) == []
    assert planted_report.outcome.headline is not None
    assert planted_report.gc is not None


@pytest.mark.parametrize("name", FINDINGS)
def test_what_is_planted_in_a_finding_is_found(planted_report, name):
    fields, kind = FINDINGS[name]
    planted = with_cause(planted_report, **fields)
    assert kind in found(planted)
    with pytest.raises(ContradictionError, match=kind):
        check(contradictions(planted.outcome, planted.findings, None))


def test_titles_and_rows_are_compared_with_evidence(planted_report):
    def against(report):
        return {one.check for one in of_evidence(report.findings, shown)}

    shown = tuple(sections(planted_report, Scope(full=True)))
    assert against(planted_report) == set()
    planted = with_cause(planted_report, **rising("123 → 456 s", 123.0, 456.0))
    assert "a number without evidence" in against(planted)
    rows = [fact for f in planted_report.findings.found for fact in f.evidence]
    cycles = next(fact for fact in rows if fact.what == "cycles per second")
    other = cycles._replace(new=cycles.new * 1.01)
    planted = with_cause(planted_report, title="", evidence=(other,))
    assert "evidence against its row" in against(planted)


def test_one_fact_with_two_values_is_found(planted_report):
    findings = planted_report.findings
    some = [
        finding._replace(evidence=(Fact("live heap", "gctrace H2", value, 2.0, "MiB"),))
        for finding, value in zip(findings.found, (1.0, 1.5), strict=False)
    ]
    findings = findings._replace(found=tuple(some))
    assert "two values" in found(planted_report._replace(findings=findings))


def test_figures_against_their_outcome_are_found(planted_report):
    first = planted_report.outcome.headline
    ratio = first.judged.ratio
    for change, more_is, verdict, kind in (
        ({"low": ratio * 2, "high": ratio * 3}, first.cost.more_is, planted_report.outcome.verdict, "interval"),
        ({"ratio": 0.5, "low": 0.4, "high": 0.6, "narrow": (0.45, 0.55)}, "slower", "slower", "verdict against its figure"),
        ({"ratio": 1.5, "low": 0.4, "high": 2.6, "narrow": (0.45, 2.55)}, "slower", "slower", "verdict against its interval"),
        ({}, "", "slower", "verdict without a figure"),
    ):  # fmt: skip
        one = first._replace(
            judged=first.judged._replace(**change),
            cost=first.cost._replace(more_is=more_is),
        )
        outcome = replace(planted_report.outcome, verdict=verdict, measures=(one,))
        assert kind in found(planted_report._replace(outcome=outcome))


def test_sums_of_gc_that_do_not_close_are_found(planted_report):
    gc, price = planted_report.gc, planted_report.gc.split.price
    off = gc.split._replace(price=price._replace(part=price.part * 2 + 1e3))
    assert "a sum" in found(planted_report._replace(gc=gc._replace(split=off)))


def test_a_ruling_beyond_its_limit_that_passes_is_found(planted_report):
    words = "total:+5%", "pass", "total", "+9%", "+5%"
    ruling = Ruling(*words, noise=False, low=6.0, high=12.0, allowed=5.0)
    assert "gate" in found(planted_report, rulings=(ruling,))


@pytest.mark.parametrize(("role", "kind"), [("delta", "cell"), ("mark", "mark")])
def test_rows_against_their_values_are_found(planted_report, role, kind):
    section = next(iter(sections(planted_report, Scope(full=True))))
    table = next(
        t for t in section.tables if t.place("delta") >= 0 and t.place("base") >= 0
    )
    at = table.place("delta")

    def planted(row):
        cells = list(row.cells)
        if role == "delta":
            cells[at] = replace(cells[at], value=(cells[at].value or 0.0) + 1e6)
        else:
            places = (table.place(side) for side in ("base", "new"))
            base, new = (cells[place].value or 0.0 for place in places)
            cells[at] = replace(cells[at], mark="less" if new >= base else "more")
        return replace(row, cells=tuple(cells))

    off = replace(table, rows=tuple(map(planted, table.rows)))

    shown = SimpleNamespace(tables=[off])
    assert kind in {one.check for one in of_tables([shown])}
