"""Parts of a report as the page's template draws them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial
from math import inf, isfinite
from typing import NamedTuple

from msgspec.structs import replace

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.plots.axes import shortened
from pprofdiff.report.rows import (
    LEADS,
    STYLES,
    Cell,
    Column,
    Footnotes,
    Reason,
    Row,
    Section,
    SectionPart,
    Sentence,
    SourceNote,
    Table,
    pieces,
    written,
)
from pprofdiff.report.sections import tiles
from pprofdiff.report.sections.changes import capitalized
from pprofdiff.units import printable

# A table of more than _SEEN + _SPARE rows shows _SEEN of them at first.
_SEEN = 10
_SPARE = 3
# Longer names are folded behind their beginning.
_LONG = 300
# Longer names lose their middle in tooltips; JSON has them in full.
_HOVERED = 1000
# Length of the longest bar, in pixels.
_BAR = 88.0


class Heading(NamedTuple):
    """A column's text, its unit or "", and whether it is numeric and sortable."""

    text: str
    unit: str
    numbers: bool
    sortable: bool

    @property
    def label(self) -> str:
        """Text and unit, as shown before a value where rows are cards."""
        return f"{self.text} {self.unit}".strip()


class Square(NamedTuple):
    """One cell: text, the words after it, CSS class, and sort value ("" for none).

    `head` is true if it names the row; `start` is the visible beginning of a long name.
    """

    text: str
    aside: str
    style: str
    value: str
    head: bool
    level: int
    start: str
    full: str


class Line(NamedTuple):
    """A row; `whole` is true if it sums up others.

    `bars` are the widths of base above new in pixels, None without bars.
    """

    squares: tuple[Square, ...]
    whole: bool
    bars: tuple[str, str] | None


class Place(NamedTuple):
    """Words, then lines of a function's source, linked if the page lists it."""

    before: str
    lines: str
    function: str


class Paragraph(NamedTuple):
    """Text after its lead and source location, with a CSS class.

    Its names link first to the flame graph whose address begins with `view`.
    """

    text: str
    lead: str = ""
    style: str = ""
    view: str = ""
    place: Place | None = None


class Text(NamedTuple):
    """Paragraphs that belong together."""

    paragraphs: tuple[Paragraph, ...]
    kind: str = "text"
    title: str = ""


class Lines(NamedTuple):
    """Preformatted lines."""

    text: str
    kind: str = "lines"
    title: str = ""


class DrawnTable(NamedTuple):
    """A table below its title.

    `moved` is the number of rows marked as changed, `most` the one that changed
    most. The first `seen` rows are visible until the reader asks for more. If `barred`,
    bars stand before the column at `place`.
    """

    key: str
    title: str
    headings: tuple[Heading, ...]
    rows: tuple[Line, ...]
    seen: int
    barred: bool
    place: int
    code: bool
    moved: int
    most: str
    kind: str = "table"

    @property
    def named(self) -> str:
        """The title, or else the heading of the column of names."""
        names = (heading.text for heading in self.headings if not heading.numbers)
        return self.title or next(names, "")

    @property
    def headed(self) -> bool:
        """Whether any column has a heading."""
        return any(heading.text for heading in self.headings)


Drawn = Text | Lines | DrawnTable


def drawn(parts: Iterable[SectionPart | Reason]) -> list[Drawn]:
    """Return parts as the template draws them."""
    return [_drawn(part) for part in parts]


def _drawn(part: SectionPart | Reason) -> Drawn:
    match part:
        case Table():
            return _table(part)
        case Footnotes():
            return Lines("\n".join(printable(f"{n.mark} {n.text}") for n in part.notes))
        case Reason():
            style, view = part.style, view_of(part)
            title = Paragraph(printable(part.title), part.lead, style, view)
            return Text((title, *reason_text(part, advice="faint")))
        case Sentence():
            text = printable(part.text).strip()
            lead = LEADS.get(part.role, "")
            return Text((Paragraph(text, lead, STYLES[part.role]),))


def reason_text(reason: Reason, *, advice: str = "") -> tuple[Paragraph, ...]:
    """Return what is below a finding's title; `advice` is the class of its advice."""
    finding, view = reason.finding, view_of(reason)
    below = []
    if finding.text:
        below.append(Paragraph(printable(finding.text).strip(), view=view))
    below += (_note(note, view) for note in reason.notes)
    if finding.advice:
        below.append(Paragraph(printable(finding.advice).strip(), "→", advice, view))
    return tuple(below)


def _note(note: SourceNote, view: str) -> Paragraph:
    """Return a note on the source, with its location as a link of its own."""
    if note.lines is None:
        return Paragraph(printable(note.text), view=view)
    rest = note.text.removeprefix(f"{note.lead}{note.place}")
    if not note.located:
        # The title has the location, but no link.
        rest = f"; {note.text}" if note.adds else "."
    named = Place(printable(note.lead), printable(note.place), note.lines.function)
    return Paragraph(printable(rest), view=view, place=named)


def view_of(reason: Reason) -> str:
    """Return the address of a finding's flame graph, as `flame.address` has it."""
    unit, profile = reason.finding.unit, profile_of(reason.finding)
    return f"{unit}/{profile}" if unit and profile else profile


def profile_of(finding: Finding) -> str:
    """Return the profile that shows a finding: ``heap/inuse_space``, ``cpu``, ""."""
    for fact in finding.evidence:
        kind, found, sample_type = fact.source.partition(" profile")
        if found:
            return f"{kind}/{sample_type.strip()}".removesuffix("/")
    return ""


def _table(table: Table) -> DrawnTable:
    most = most_changed(table)
    table = _with_units(table)
    flat = not any(row.strong for row in table.rows)
    headings = tuple(
        Heading(
            column.text if table.headed else "",
            column.unit,
            column.align == ">",
            flat and len(table.rows) > 1 and _sortable(table, i),
        )
        for i, column in enumerate(table.columns)
    )
    bars = _bars(table)
    rows = []
    for row, bar in zip(table.rows, bars or [None] * len(table.rows), strict=True):
        squares = map(partial(_square, table, row), row.cells, table.columns)
        rows.append(Line(tuple(squares), row.strong, bar))
    many = any(h.sortable for h in headings) and len(rows) > _SEEN + _SPARE
    return DrawnTable(
        key=table.key,
        title=table.heading,
        headings=headings,
        rows=tuple(rows),
        seen=_SEEN if many else len(rows),
        barred=bool(bars),
        place=table.names or len(headings),
        code=table.code,
        moved=sum(map(has_changed, table.rows)),
        most=most,
    )


def _with_units(table: Table) -> Table:
    """Return a table with its units in the headings, or in a column of their own."""
    base, new = table.place("base"), table.place("new")
    # 0 on both sides is the same in any unit.
    units = {
        row.cells[new].suffix
        for row in table.rows
        if not row.cells[base].value == row.cells[new].value == 0
    }
    if new < 0 or not any(units):
        return table
    columns, rows = list(table.columns), []
    if len(units) == 1:
        (unit,) = units
        sides = ("base", "new", "delta")
        columns = [replace(c, unit=unit) if c.role in sides else c for c in columns]
    else:
        columns.insert(new + 1, Column("", "text", "<"))
    for row in table.rows:
        cells, suffix = list(row.cells), row.cells[new].suffix
        cells[new] = replace(cells[new], suffix="")
        if len(units) > 1:
            cells.insert(new + 1, Cell(suffix, tone="faint"))
        rows.append(replace(row, cells=tuple(cells)))
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def _sortable(table: Table, column: int) -> bool:
    """Return whether a column can be sorted by: all numbers, or names next to some."""
    if not table.one_unit:
        return False
    if column == table.names:
        return any(cell.value is not None for row in table.rows for cell in row.cells)
    return all(row.cells[column].value is not None for row in table.rows)


def _square(table: Table, row: Row, cell: Cell, column: Column) -> Square:
    head = column.role == "name"
    text, value = written(cell, column).strip(), ""
    if table.one_unit and cell.value is not None:
        # As a script reads numbers.
        value = f"{cell.value:.9g}" if isfinite(cell.value) else "Infinity"
    return Square(
        text=text,
        aside=cell.detail,
        style=cell.tone,
        value=value,
        head=head,
        level=row.level if head else 0,
        start=text[: _LONG // 2] if len(text) > _LONG else "",
        full=shortened(cell.full, _HOVERED),
    )


def _bars(table: Table) -> list[tuple[str, str] | None]:
    """Return bars of each row but totals, [] if rows do not compare."""
    places = table.place("base"), table.place("new")
    if not table.one_unit or -1 in places:
        return []
    pairs: list[tuple[float, float] | None] = []
    for row in table.rows:
        base, new = (row.cells[i].value for i in places)
        if base is None or new is None:
            return []
        pairs.append(None if row.role == "total" else (abs(base), abs(new)))
    largest = max((max(pair) for pair in pairs if pair), default=0.0)
    if not largest:
        return []
    size = _BAR / largest
    return [
        pair and (f"{size * pair[0]:.1f}", f"{size * pair[1]:.1f}") for pair in pairs
    ]


class Chunk(NamedTuple):
    """Parts that belong to one table, and whether they are visible at first.

    `key` is the table's, "" if an earlier chunk has the same. If hidden, the parts are
    named by `title`, and `note` says what they contain.
    """

    key: str
    title: str
    note: str
    blocks: tuple[Drawn, ...]
    shown: bool


def split(parts: Sequence[Drawn], *, shown: Container[str], title: str) -> list[Chunk]:
    """Return parts in chunks; those without a table or of a `shown` key are visible."""
    keys: set[str] = set()
    made = []
    for blocks in pieces(parts, DrawnTable):
        chunk = _chunk(tuple(blocks), shown, title)
        made.append(chunk._replace(key="") if chunk.key in keys else chunk)
        keys.add(chunk.key)
    return made


def _chunk(blocks: tuple[Drawn, ...], shown: Container[str], title: str) -> Chunk:
    table = next((block for block in blocks if isinstance(block, DrawnTable)), None)
    if table is None:
        return Chunk("", title, "", blocks, shown=True)
    many = len(table.rows)
    rows = f"{many} row{'' if many == 1 else 's'}"
    note = f"{rows}, {table.moved} marked" if table.moved else rows
    if table.most and many > 1:
        note += f"; changed most: {table.most}"
    named = capitalized(table.named or title)
    return Chunk(table.key, named, note, blocks, table.key in shown)


# A line has room for this much of a name next to two values.
_NAME = 60
# Who pays for the runtime's work, and whose goroutines wait for a P.
_TABLES = ("payers", "goroutines.runnable")


def most_changed(table: Table) -> str:
    """Return the marked row that changed most, as ``json.Marshal 12.43 → 0 %``, or "".

    Rows are ranked by delta if all deltas have the same unit, else by ratio.
    """
    rows = [row for row in table.rows if not row.strong and has_changed(row)]
    delta, ratio = table.place("delta"), table.place("ratio")
    units = {row.cells[delta].unit for row in rows} if delta >= 0 else set()
    if len(units) == 1:
        rows.sort(key=lambda row: -abs(row.cells[delta].value or 0.0))
    elif ratio >= 0:
        rows.sort(key=lambda row: -_factor(row.cells[ratio].value))
    else:
        rows = []
    return _words(table, rows[0]) if rows else ""


def largest(table: Table) -> str:
    """Return the row with the largest value on either side, formatted the same way."""
    sides = [table.place(role) for role in ("base", "new")]

    def size(row: Row) -> float:
        return max(abs(row.cells[side].value or 0.0) for side in sides)

    rows = [row for row in table.rows if not row.strong]
    return _words(table, max(rows, key=size)) if rows and min(sides) >= 0 else ""


def _words(table: Table, row: Row) -> str:
    """Return a row as ``name base → new unit``, "" if it lacks one of these."""
    name, base, new = (table.place(role) for role in ("name", "base", "new"))
    if min(name, base, new) < 0:
        return ""
    cells = row.cells
    values = f"{cells[base].text} → {cells[new].label} {table.columns[new].unit}"
    return f"{shortened(cells[name].text, _NAME)} {values}".rstrip()


def has_changed(row: Row) -> bool:
    """Return whether any value in a row changed significantly."""
    return any(cell.mark in ("more", "less") for cell in row.cells)


def _factor(ratio: float | None) -> float:
    if ratio is None:
        return 0.0
    return max(ratio, 1 / ratio) if ratio > 0 else inf


class Asked(NamedTuple):
    """A table's title, its place on the page, and what it shows in one line.

    `lead` states the section's totals. `names` names rows, which are looked up first in
    the flame graph whose address begins with `view`.
    """

    lead: str
    title: str
    anchor: str
    names: str
    view: str


def asked(sections: Sequence[Section], anchors: Iterable[str]) -> Iterator[Asked]:
    """Yield who pays for GC and who waits for a P, from sections with such tables."""
    for section, anchor in zip(sections, anchors, strict=True):
        for table in section.tables:
            if table.key in _TABLES and table.rows:
                most, changed = largest(table), most_changed(table)
                names = f"largest: {most}"
                if most == changed:
                    names = f"largest, and changed most: {most}"
                elif changed:
                    names += f"; changed most: {changed}"
                yield Asked(
                    lead=_totals(section) if section.diff is None else "",
                    title=table.heading,
                    anchor=f"{anchor}-{table.key}",
                    names=names,
                    view="" if section.diff is None else section.diff.name,
                )


def _totals(section: Section) -> str:
    return " ".join(
        f"{capitalized(one.name)} {one.values} ({one.change.signed})."
        for one in tiles(section)
    )
