"""The picture of a report: of several benchmarks, that of its first cause."""

from pprofdiff.report.image import render
from pprofdiff.report.model import report_of
from tests.analysis.measuring import Unit, compared, path


def test_the_benchmark_of_the_first_cause_is_drawn():
    """Its title and the plots have the same amounts."""

    def side(cost):
        return [
            Unit({path("F", bench=name): n, path("Rest", bench=name): 300}, name=name)
            for name, n in (("A", cost), ("B", 300))
        ]

    report = report_of(compared(side(300), side(900)))
    (cause,) = report.findings.causes
    drawn = render(report, "svg").decode()
    assert cause.title in drawn
    assert "BenchmarkA" in drawn
    assert "BenchmarkB" not in drawn
