"""What a report says: sections of tables and sentences, whose rows mean something.

Sections build these, writers lay them out. A row has a stable key, a level and a role,
a column has a role, a cell has a value and a mark: no writer looks for any of that in
a text, so that every label may be reworded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pprofdiff.analysis.findings.model import Finding
from pprofdiff.analysis.gate.model import Verdict
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.kinds import KindId
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.analysis.source.model import ChangedLines
    from pprofdiff.model.source import Commit

__all__ = [
    "LEADS",
    "MARKS",
    "Cell",
    "Code",
    "CodeLine",
    "Column",
    "ColumnRole",
    "Footnote",
    "Footnotes",
    "Frame",
    "Heading",
    "Mark",
    "Part",
    "Reason",
    "Row",
    "Rulings",
    "Section",
    "SectionPart",
    "Sentence",
    "SentenceRole",
    "SourceNote",
    "Stack",
    "Step",
    "Steps",
    "Table",
    "Tile",
    "Tone",
    "name_column",
    "sides",
    "signed",
]

Mark = Literal["", "more", "less", "noise"]
Tone = Literal["", "worse", "better", "faint"]
ColumnRole = Literal[
    "name",
    "base",
    "new",
    "delta",
    "ratio",
    "share",
    "pair",
    "interval",
    "test",
    "notes",
    "source",
    "side",
    "text",
]
RowRole = Literal[
    "group",
    "category",
    "total",
    "function",
    "call_site",
    "rule",
    "renamed",
    "figure",
    "benchmark",
    "mean",
    "goroutines",
    "file",
    "changed_lines",
]
SentenceRole = Literal[
    "plain", "outcome", "warning", "caution", "noise", "legend", "also"
]

MARKS: dict[Mark, str] = {"": "", "more": "▲", "less": "▼", "noise": "~"}
"""The sign that writers put before a marked number."""

LEADS: dict[SentenceRole, str] = {"warning": "!", "noise": "~", "also": "Also:"}
"""What stands before a sentence of these roles, in every writer."""

# Rows that sum up others.
_STRONG = frozenset(("group", "total", "mean"))


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure or word of a row.

    Parameters
    ----------
    text
        The value as it is written, without its mark; control characters are escaped.
    value, unit
        The number behind the text in its unit, None where there is no single one. An
        empty unit is that of the column.
    mark
        Whether the value is more or less than the base's, beyond what chance explains,
        or noise; "" where that is not known or does not matter.
    tone
        Which way it is drawn: worse, better, faint.
    detail
        An aside behind a label, such as ``runtime.gcBgMarkWorker`` behind GC.
    remark
        What must be known of a name, such as ``(was f)``; part of the name.
    suffix
        The unit behind the text, where each row has its own.
    full
        The name in full where the text is a shorter one: what a pointer over it shows.

    """

    text: str
    value: float | None = None
    unit: str = ""
    mark: Mark = ""
    tone: Tone = ""
    detail: str = ""
    remark: str = ""
    suffix: str = ""
    full: str = ""

    def __post_init__(self) -> None:
        """Escape control characters: a name must not move the cursor."""
        for name in ("text", "detail", "remark", "full"):
            object.__setattr__(self, name, printable(getattr(self, name)))

    @property
    def label(self) -> str:
        """The text with its unit, and its remark."""
        text = f"{self.text} {self.suffix}" if self.suffix else self.text
        return f"{text}  {self.remark}" if self.remark else text


def signed(cell: Cell) -> str:
    """Return a cell's text behind the sign of its mark."""
    sign = MARKS[cell.mark]
    return f"{sign} {cell.text} {cell.suffix}".rstrip() if sign else cell.label


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, what stands below it, and how that is aligned.

    `unit` is that of every value in the column, "" where each row has its own. Where
    `signs` is off, marks of the column are drawn as colour alone.
    """

    text: str
    role: ColumnRole
    align: Literal["<", ">"] = ">"
    unit: str = ""
    signs: bool = True

    def __post_init__(self) -> None:
        """Escape control characters: a label must not move the cursor."""
        object.__setattr__(self, "text", printable(self.text))


def name_column(text: str) -> Column:
    """Return the column that says what each row is of."""
    return Column(text, "name", "<")


def sides(labels: tuple[str, str], unit: str = "") -> tuple[Column, Column]:
    """Return the columns of base and new."""
    return Column(labels[0], "base", unit=unit), Column(labels[1], "new", unit=unit)


@dataclass(frozen=True, slots=True)
class Row:
    """Cells, one a column; `key` is stable and tells the row from others of its table.

    Rows of a `level` above 0 are parts of the nearest row before of a lower level.
    """

    key: str
    role: RowRole
    cells: tuple[Cell, ...]
    level: int = 0

    @property
    def strong(self) -> bool:
        """Whether the row sums up others."""
        return self.role in _STRONG


@dataclass(frozen=True, eq=False)
class Table:
    """Rows under columns, of which one has the role ``name``.

    Parameters
    ----------
    key
        What the table is about, such as ``groups`` or ``cum``; tables of dearer and of
        cheaper functions share it.
    title
        What stands above it, "" for nothing.
    total
        How many rows there are in all, where these are the first of them; else 0.
    code
        Whether names come from the program: functions, files.
    one_unit
        Whether all values of base and new are in one unit, so that rows compare.
    indent
        How many spaces a level is, where text is all there is.
    inset
        Whether the table as a whole stands a little to the right in text.
    headed
        Whether headings are shown.

    """

    key: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""
    total: int = 0
    code: bool = False
    one_unit: bool = False
    indent: int = 4
    inset: bool = False
    headed: bool = True

    @property
    def heading(self) -> str:
        """The title, and how many of all rows these are; "" without a title."""
        if self.total > len(self.rows):
            return printable(f"{self.title}: {len(self.rows)} of {self.total}")
        return printable(self.title)

    @property
    def names(self) -> int:
        """The position of the column of names."""
        return self.place("name")

    def place(self, role: ColumnRole) -> int:
        """Return the position of the first column of a role, -1 without one."""
        roles = [column.role for column in self.columns]
        return roles.index(role) if role in roles else -1

    def first(self, count: int) -> Table:
        """Return the table with its first rows."""
        return replace(self, rows=self.rows[:count])


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph; `key` says what it is about, where a table could stand instead.

    ``outcome`` answers whether new is slower, ``warning`` tells how to read the rest,
    ``caution`` what hinders a comparison, ``noise`` how large a change must be,
    ``legend`` what words mean, ``also`` lists what is said in short.
    """

    text: str
    role: SentenceRole = "plain"
    key: str = ""


class Heading(NamedTuple):
    """A title above parts that have none of their own."""

    text: str


class SourceNote(NamedTuple):
    """What the source tells of a finding, in one sentence.

    `lead` stands before the place of changed `lines` and `said` behind it, each with
    the punctuation that it needs; without lines `said` is all.
    """

    said: str
    lead: str = ""
    lines: ChangedLines | None = None

    @property
    def text(self) -> str:
        """The whole sentence; a commit is its short id and its subject."""
        if self.lines is None:
            return self.said
        commits = "".join(
            f'; {commit.short} "{commit.subject}"' for commit in self.commits
        )
        end = "" if commits.endswith(('."', '!"', '?"')) else "."
        return f"{self.lead}{self.lines.place}{self.said}{commits}{end}"

    @property
    def commits(self) -> tuple[Commit, ...]:
        """What made the lines."""
        return () if self.lines is None else self.lines.commits


class Reason(NamedTuple):
    """One finding as the report tells it, and by how much it moves the CPU.

    `number` counts causes, from 1; it is 0 for what is not significant. A consequence
    has its cause's number and a `level` above 0. `amount` is the finding's part of the
    CPU profiles' change, "" where that cannot be told; `notes` are what the source
    tells of it.
    """

    number: int
    finding: Finding
    amount: str = ""
    level: int = 0
    notes: tuple[SourceNote, ...] = ()

    @property
    def title(self) -> str:
        """The sentence that says what changed, with its amount and severity."""
        amount = f"{self.amount}, " if self.amount else ""
        return f"{self.finding.title}. {amount}{self.finding.severity}"

    @property
    def lead(self) -> str:
        """What stands before the title: its number, or a sign that it follows."""
        if self.level:
            return "   " * self.level + "↳"
        return f"{self.number}." if self.number else "-"


class Footnote(NamedTuple):
    """A mark that stands in cells, and what it means."""

    mark: str
    text: str


class Footnotes(NamedTuple):
    """What marks in the tables before mean."""

    notes: tuple[Footnote, ...]


class CodeLine(NamedTuple):
    """One line of a listing, as it is written; `tone` says whether it changed."""

    text: str
    tone: Tone = ""


class Code(NamedTuple):
    """The source of a function with what its lines cost; `key` tells it from others.

    `notes` say what must be known of it.
    """

    key: str
    title: str
    lines: tuple[CodeLine, ...]
    notes: tuple[str, ...] = ()


class Frame(NamedTuple):
    """A function of a stack: whether it decides the category, or pays for it.

    `kind` says what a leaf does, "" for nothing in particular.
    """

    name: str
    role: Literal["", "decides", "pays"] = ""
    kind: str = ""


class Stack(NamedTuple):
    """A call stack, leaf first; `cost` and `share` as written, and why its category."""

    cost: str
    share: str
    category: str
    rule: str
    frames: tuple[Frame, ...]


class Rulings(NamedTuple):
    """The gate's verdict, rule by rule; `tripped` says in words how many rules did."""

    verdict: Verdict
    tripped: str

    @property
    def summary(self) -> str:
        """The verdict in a few words, such as ``fail: 1 of 3 rules tripped``."""
        return f"{self.verdict.outcome}: {self.tripped}"


class Step(NamedTuple):
    """A flag to type next, and what it shows."""

    flag: str
    what: str


class Steps(NamedTuple):
    """What leads on from the report."""

    steps: tuple[Step, ...]


SectionPart = Table | Sentence | Footnotes
"""What a section consists of."""

Part = SectionPart | Code | Heading | Reason | Rulings | Stack | Steps
"""What a report consists of."""


class Tile(NamedTuple):
    """A total at a glance: what is counted, ``base → new unit``, and how it changed.

    The change has the mark and tone of a cell.
    """

    name: str
    values: str
    change: Cell


@dataclass(frozen=True, eq=False)
class Section:
    """What is told of one comparison.

    Parameters
    ----------
    kind, id
        What kind of evidence it is of, and a stable name of it within the report.
    title, measure, mode
        What is compared, what its numbers are, and how they were made comparable (""
        where the measure says so): ``cpu``, ``in cores``, ``CPU seconds per second;
        both profiles have a duration``.
    short
        What a link to it says.
    unit
        The unit of its totals, "" where rows have units of their own.
    lead
        The first sentence, "" for none.
    compared
        The comparison itself, of the kind's own type.
    build
        Makes the parts; it is called when they are first asked for.
    contents
        What there is in it, in words; "" where the title says enough.
    tops
        Keys of the parts that a short answer shows.
    instead
        The sentence that answers where there is neither a finding nor a lead.
    noise
        Whether the totals are within noise, None where nothing tells.
    short_parts
        Makes what an answer shows of the section if it is the first, in up to so many
        rows a table, and of groups up to so many categories.

    """

    kind: KindId
    id: str
    title: str
    measure: str
    compared: Any
    build: Callable[[], Iterable[SectionPart]] = field(repr=False)
    mode: str = ""
    short: str = ""
    unit: str = ""
    lead: str = ""
    contents: str = ""
    tops: tuple[str, ...] = ()
    instead: str = ""
    noise: bool | None = None
    short_parts: Callable[[int, int], Iterable[SectionPart]] | None = field(
        default=None, repr=False
    )

    @cached_property
    def parts(self) -> tuple[SectionPart, ...]:
        """Tables and sentences, in the order of reading."""
        return tuple(self.build())

    @property
    def heading(self) -> str:
        """What is compared, and what its numbers are."""
        return f"{self.title}, {self.measure}"

    @property
    def diff(self) -> ProfileDiff | None:
        """The comparison of profiles, None for other kinds."""
        return self.compared if self.kind == "profile" else None
