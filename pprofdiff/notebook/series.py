"""A fleet step by step as a card: changes, and the functions that changed most."""

from __future__ import annotations

from pprofdiff.notebook import ROWS, Card
from pprofdiff.report.rows import Sentence, tables_of
from pprofdiff.report.series.model import SeriesReport
from pprofdiff.report.series.sentences import (
    headline,
    kind_tables,
    over_words,
    step_sentences,
)
from pprofdiff.units import printable


def series_card(report: SeriesReport) -> Card:
    """Return the headline, each step that changed, and the first kind's functions."""
    series = report.judged.series
    kind = report.judged.kinds[0]
    tables = tables_of(kind_tables(report, kind, most=ROWS))
    warnings = [Sentence(one.text).text for one in report.warnings]
    return Card(
        labels=(series.steps[0].name, series.steps[-1].name),
        kind=kind.measured.kind,
        lead=headline(report),
        table=tables[-1],
        below=" ".join([over_words(series), *warnings]),
        findings=tuple((0, printable(words)) for words in step_sentences(report)),
    )
