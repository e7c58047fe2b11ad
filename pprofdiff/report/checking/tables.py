"""Rows of tables against their own values, and findings against rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pprofdiff.analysis.causes.finding import Fact, Finding, Findings
from pprofdiff.report.checking.model import Contradiction, near, title_spans
from pprofdiff.report.rows import Row, Section, Table
from pprofdiff.units import scale


def of_tables(sections: Iterable[Section]) -> list[Contradiction]:
    """Return rows of tables whose mark, delta or ratio contradicts their values."""
    return [
        contradiction
        for section in sections
        for table in section.tables
        for contradiction in _of_table(table)
    ]


def of_evidence(findings: Findings, sections: Sequence[Section]) -> list[Contradiction]:
    """Return titles without evidence for their numbers, and evidence against a row.

    A pair in a title is a fact of its finding, the sum of its facts or a ratio of two,
    as a section scales them; a fact with the name of a row has the row's values. Units
    of work have scales and rows of their own, so their findings are not compared.
    """
    whole = [finding for finding in findings.found if not finding.unit]
    scales = {(1.0, 1.0), *map(_factors, sections)}
    return [
        *(c for finding in whole for c in _without_evidence(finding, scales)),
        *(c for section in sections for c in _against_rows(section, whole)),
    ]


def _of_table(table: Table) -> Iterator[Contradiction]:
    """Yield rows whose mark, delta or ratio does not fit their base and new."""
    base, new = table.place("base"), table.place("new")
    delta, ratio = table.place("delta"), table.place("ratio")
    if base < 0 or new < 0:
        return
    for row in table.rows:
        before, after = row.cells[base].value, row.cells[new].value
        if before is None or after is None:
            continue
        over = after / before if before else None
        for at, value in ((delta, after - before), (ratio, over)):
            if at < 0 or value is None:
                continue
            cell = row.cells[at]
            units = {_unit(table, row, place) for place in (base, new, at)}
            alike = at == ratio or len(units) == 1
            if cell.value is not None and alike and not near(cell.value, value):
                yield Contradiction("cell", f"{_named(table, row)}: {cell.text}")
            way = {"more": 1, "less": -1}.get(cell.mark, 0)
            if way * (after - before) < 0:
                yield Contradiction("mark", f"{_named(table, row)}: {cell.text}")


def _factors(section: Section) -> tuple[float, float]:
    """Return what scales the raw values of a section's facts."""
    by = getattr(section.compared, "normalization", None)
    return (1.0, 1.0) if by is None else by.factors


def _without_evidence(
    finding: Finding, scales: Iterable[tuple[float, float]]
) -> Iterator[Contradiction]:
    """Yield the pairs of a title that its facts do not show."""
    # The units of pprof are binary, without saying so.
    facts = [
        (fact.base or 0.0, fact.new or 0.0, fact.unit.replace("iB", "B"))
        for fact in finding.evidence
    ]
    total = sum(fact[0] for fact in facts), sum(fact[1] for fact in facts), ""
    ratios = [(a / c, b / d) for a, b, _ in facts for c, d, _ in facts if c and d]
    for span in title_spans(finding):
        if span.base is None:
            continue
        scaled = (
            (base * by[0] * unit, new * by[1] * unit)
            for base, new, unit_of in (*facts, total)
            for by in scales
            for unit in {1.0, scale(1, unit_of, span.unit)[0]}
        )
        if not any(
            near(base, span.base) and near(new, span.new)
            for base, new in (*ratios, *scaled)
        ):
            yield Contradiction(
                "a number without evidence", f"{finding.id}: {finding.title}"
            )


def _against_rows(
    section: Section, findings: Iterable[Finding]
) -> Iterator[Contradiction]:
    """Yield facts that are not what the row of their name says."""
    source = section.kind if section.diff is None else section.diff.name
    facts: dict[str, list[Fact]] = {}
    for finding in findings:
        for fact in finding.evidence:
            if fact.source.split()[0] == source:
                facts.setdefault(fact.what, []).append(fact)
    for table in section.tables:
        for row, name in _rows_of_facts(table):
            for fact in facts.get(name, ()):
                if not _says(section, table, row, fact):
                    text = f"{name}: {fact.base} → {fact.new} {fact.unit}"
                    yield Contradiction("evidence against its row", text)


def _rows_of_facts(table: Table) -> Iterator[tuple[Row, str]]:
    """Yield the rows of a table with both sides, as facts name them."""
    base, new, name = (table.place(role) for role in ("base", "new", "name"))
    if min(base, new, name) < 0:
        return
    kind = table.key.partition(".")[0]
    for row in table.rows:
        if None not in (row.cells[base].value, row.cells[new].value):
            of_function = kind in ("flat", "cum")
            yield row, f"{row.key} ({kind})" if of_function else row.cells[name].text


def _says(section: Section, table: Table, row: Row, fact: Fact) -> bool:
    values = fact.base or 0.0, fact.new or 0.0
    places = table.place("base"), table.place("new")
    sides = zip(values, _factors(section), places, strict=True)
    for value, factor, place in sides:
        unit = 1.0
        if section.diff is None:
            unit, _ = scale(1, fact.unit, _unit(table, row, place))
        if not near(value * factor * unit, row.cells[place].value or 0.0):
            return False
    return True


def _unit(table: Table, row: Row, place: int) -> str:
    return row.cells[place].unit or table.columns[place].unit


def _named(table: Table, row: Row) -> str:
    return f"{table.key} {row.key}"
