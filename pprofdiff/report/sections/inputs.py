"""What went in, as a table; what was not compared, and what to know of the rest."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.report.model import Input, ReportModel
from pprofdiff.report.rows import Cell, Column, Row, Sentence, Table, name_column
from pprofdiff.units import scaled

__all__ = ["cautions", "inputs_table"]

_COLUMNS = (
    Column("side", "side", "<"),
    name_column("file"),
    Column("kind", "text", "<"),
    Column("Go", "text", "<"),
    Column("length", "text"),
    Column("holds", "text"),
)
# What a kind of input is called; every other one is a profile.
_NOUNS = {"gctrace": " log", "benchmark": " output", "load": " summary"}


def inputs_table(
    report: ReportModel, *, copies: bool = True, headed: bool = False
) -> Table:
    """Return one row a file, without columns that are empty.

    `copies` tells where copies of fetched files are; `headed` shows headings.
    """
    texts = [
        (f"{side}:{entry.kind}:{entry.path}", _words(label, entry, copies=copies))
        for side, label, entries in zip(
            ("base", "new"), report.labels, report.inputs, strict=True
        )
        for entry in entries
    ]
    used = [i for i in range(len(_COLUMNS)) if any(words[i] for _, words in texts)]
    rows = tuple(
        Row(key, "file", tuple(Cell(words[i]) for i in used)) for key, words in texts
    )
    columns = tuple(_COLUMNS[i] for i in used)
    return Table("inputs", columns, rows, code=True, inset=True, headed=headed)


def _words(label: str, entry: Input, *, copies: bool) -> tuple[str, ...]:
    """Return a file's cells, one a column."""
    span = "" if entry.duration_ns is None else _span(entry.duration_ns)
    copy = f" (copy: {entry.saved_to})" if copies and entry.saved_to else ""
    version = entry.go_version or ""
    return label, f"{entry.path}{copy}", entry.kind, version, span, _amount(entry)


def _span(duration_ns: int) -> str:
    """Return a duration in seconds, in a smaller unit where it is shorter than one."""
    whole = duration_ns >= 1_000_000_000
    return f"{duration_ns / 1e9:.1f} s" if whole else scaled(duration_ns, "ns")


def _amount(entry: Input) -> str:
    """Return how much is in an input, where that says something."""
    if entry.kind == "cpu":
        return f"{entry.samples:,} samples"
    if entry.cycles is not None:
        whole = entry.cycles == entry.expected
        return f"{entry.cycles:,}{'' if whole else f' of {entry.expected:,}'} cycles"
    if entry.events is not None:
        return f"{entry.events:,} events"
    if entry.results is not None:
        return f"{entry.results:,} benchmark{'' if entry.results == 1 else 's'}"
    return "" if entry.per_second is None else f"{entry.per_second:,.6g} a second"


def cautions(report: ReportModel) -> Iterator[Sentence]:
    """Yield what was not compared, and what to know before trusting the rest."""
    for kind, label in report.comparison.lonely:
        what = _NOUNS.get(kind, " profile")
        yield Sentence(f"Only {label} has a {kind}{what}: not compared.")
    for warning in report.warnings:
        yield Sentence(warning.text, "warning")
