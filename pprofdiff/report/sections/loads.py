"""The section on load generators: rate, failures and latencies in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff, BenchmarkRow
from pprofdiff.analysis.benchmarks.loads import FAILED, MEAN, RATE
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_TEST
from pprofdiff.model.benchmarks import LoadSummary
from pprofdiff.model.side import Capture
from pprofdiff.report.model import Input, ReportModel, Scope
from pprofdiff.report.rows import (
    Cell,
    Column,
    Mark,
    Row,
    Section,
    SectionPart,
    Sentence,
    Table,
    Tile,
    name_column,
    sides,
)
from pprofdiff.report.sections.benchmarks import tone_of
from pprofdiff.report.sections.changes import change
from pprofdiff.units import many, rounded, scale_for

_NAMES = {RATE: "requests per second", FAILED: "failed", MEAN: "mean latency"}
# Rows of a short table: latencies in the middle, and of the slow requests.
_QUANTILES = ("p50", "p95", "p99")


def load_inputs(captures: Iterable[Capture[LoadSummary]]) -> Iterator[Input]:
    """Yield each load generator's summary with its tool, loop and rate."""
    for capture in captures:
        load = capture.content
        rate, seconds = load.per_second, load.seconds
        words = [f"{rounded(rate)} per second"] if rate is not None else []
        words += [f"{load.loop} loop"] if load.loop else []
        if load.connections:
            words.append(many(load.connections, "connection"))
        yield Input(
            capture.path,
            load.tool,
            duration_ns=None if seconds is None else round(seconds * 1e9),
            amount=", ".join(words),
            counts={} if rate is None else {"per_second": rate},
        )


def load_sections(
    diff: BenchmarkDiff, report: ReportModel, scope: Scope
) -> Iterator[Section]:
    """Yield the section on load generators; all rows unless the report is short."""
    labels = report.labels
    several = any(s and s.n > 1 for row in diff.rows for s in (row.base, row.new))
    yield Section(
        kind="load",
        id="load",
        title="load",
        measure="medians of runs" if several else "one run per side",
        short="load",
        compared=diff,
        build=lambda: _parts(diff.rows, labels, scope.rows),
        short_parts=lambda _rows, _: _parts(_few(diff), labels, None),
        instead=_sentence(diff),
    )


def load_tiles(section: Section) -> Iterator[Tile]:
    """Yield the rate and its change."""
    for row in section.compared.rows:
        if row.name == RATE and row.base is not None and row.new is not None:
            base, new = _texts(row)
            yield Tile("load", f"{base.text} → {new.text} req/s", _delta(row))


def _few(diff: BenchmarkDiff) -> list[BenchmarkRow]:
    """Return what a short report shows: failures if any, the mean without quantiles."""
    latencies = {row.name for row in diff.rows}.intersection(_QUANTILES) or {MEAN}
    return [
        row
        for row in diff.rows
        if row.name in (RATE, FAILED, *latencies)
        and (row.name != FAILED or any(s and s.median for s in (row.base, row.new)))
    ]


def _sentence(diff: BenchmarkDiff) -> str:
    words = []
    for row in _few(diff):
        if row.base is not None and row.new is not None:
            base, new = _texts(row)
            name, after = f"{_NAMES.get(row.name, row.name)} ", new.label
            if row.name == RATE:
                name, after = "", f"{new.text} req/s"
            words.append(f"{name}{base.text} → {after}")
    return f"{'; '.join(words) or 'no figure is on both sides'}."


def _parts(
    rows: Sequence[BenchmarkRow], labels: tuple[str, str], most: int | None
) -> Iterator[SectionPart]:
    shown = list(rows) if most is None else list(rows)[:most]
    columns = (
        *sides(labels),
        Column("Δ", "delta"),
        Column("", "test", "<"),
        name_column("of requests"),
    )
    yield Table("load", columns, tuple(_row(row) for row in shown), total=len(rows))
    if any(row.change is not None and not _tested(row) for row in shown):
        yield Sentence(
            f"Not tested: that takes {SAMPLES_FOR_TEST} runs per side, a folder each.",
            "legend",
        )


def _row(row: BenchmarkRow) -> Row:
    name = _NAMES.get(row.name, f"{row.name} latency")
    test = f"p={row.p:.3f}" if _tested(row) else ""
    cells = (*_texts(row), _delta(row), Cell(test, row.p, tone="faint"), Cell(name))
    return Row(row.name, "figure", cells)


def _tested(row: BenchmarkRow) -> bool:
    return row.change is not None and row.change.noise is not None


def _texts(row: BenchmarkRow) -> tuple[Cell, Cell]:
    values = [None if side is None else side.median for side in (row.base, row.new)]
    known = [value for value in values if value is not None]
    if row.unit == "sec":
        scale = scale_for([value * 1e9 for value in known], "ns")
        digits = scale.with_two_digits(min((v for v in known if v), default=0.0) * 1e9)
        texts = ["" if v is None else digits.number(v * 1e9) for v in values]
        unit = scale.unit
    else:
        texts = ["" if v is None else rounded(v) for v in values]
        unit = "%" if row.unit == "%" else ""
    base, new = (
        Cell(text, value, row.unit, suffix=unit if text else "")
        for text, value in zip(texts, values, strict=True)
    )
    return base, new


def _delta(row: BenchmarkRow) -> Cell:
    if row.delta is None:
        # The summary lacks it: that is no change.
        return Cell("")
    ratio = row.ratio
    text = "from 0" if ratio is None else "−100%" if ratio == 0 else change(ratio)
    if not row.delta:
        return Cell("", 0.0, row.unit)
    if not row.significant:
        return Cell(text, row.delta, row.unit, "noise" if _tested(row) else "")
    mark: Mark = "more" if row.delta > 0 else "less"
    return Cell(text, row.delta, row.unit, mark, tone_of(row))
