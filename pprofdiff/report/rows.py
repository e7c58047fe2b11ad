"""What a report consists of: sections of tables and sentences with semantic roles.

Writers lay these out and never parse text, so any label can be reworded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.gate.model import Verdict
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.names import strip_type_arguments
from pprofdiff.goruntime.readable import inlined_closure, short
from pprofdiff.kinds import KindId
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.analysis.source.model import ChangedLines
    from pprofdiff.model.source import Commit

T = TypeVar("T")

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
"""What precedes a sentence of these roles, in every writer."""

STYLES: dict[SentenceRole, Literal["", "strong", "faint", "warn"]] = {
    "plain": "",
    "outcome": "strong",
    "warning": "warn",
    "caution": "warn",
    "noise": "faint",
    "legend": "faint",
    "also": "faint",
}
"""How writers draw a sentence of these roles."""

# Rows that sum up others.
_STRONG = frozenset(("group", "total", "mean"))


class Cell(Struct, frozen=True):
    """One value or word of a row.

    `text` is the formatted value, without its mark. `value` and `unit` are the number
    behind it, None if there is no single number; an empty unit means the column's.
    `mark` says whether the value is significantly more or less than base's, or noise;
    `tone` how it is drawn. `detail` is an aside after a label, such as
    ``runtime.gcBgMarkWorker`` after GC; `remark` is part of a name, such as ``(was
    f)``; `suffix` is the unit after the text, if each row has its own; `full` is the
    full name, for a tooltip.
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
            force_setattr(self, name, printable(getattr(self, name)))

    @property
    def label(self) -> str:
        """The text with its unit and its remark."""
        text = f"{self.text}{self._unit}"
        return f"{text}  {self.remark}" if self.remark else text

    @property
    def signed(self) -> str:
        """The text after the sign of its mark."""
        sign = MARKS[self.mark]
        return f"{sign} {self.text}{self._unit}".rstrip() if sign else self.label

    @property
    def _unit(self) -> str:
        """The unit after the text, with the space before it; percent has none."""
        return f" {self.suffix}" if self.suffix and self.suffix != "%" else self.suffix


class Column(Struct, frozen=True):
    """A heading, the role of the cells below it, and their alignment.

    `unit` applies to every value in the column, "" if each row has its own. If `signs`
    is off, color alone shows the column's marks.
    """

    text: str
    role: ColumnRole
    align: Literal["<", ">"] = ">"
    unit: str = ""
    signs: bool = True

    def __post_init__(self) -> None:
        """Escape control characters: a label must not move the cursor."""
        force_setattr(self, "text", printable(self.text))


def written(cell: Cell, column: Column) -> str:
    """Return the text of a cell in its column."""
    return cell.signed if column.signs else cell.label


def name_column(text: str) -> Column:
    """Return the column that names the rows."""
    return Column(text, "name", "<")


def sides(labels: tuple[str, str], unit: str = "") -> tuple[Column, Column]:
    """Return the columns of base and new."""
    return Column(labels[0], "base", unit=unit), Column(labels[1], "new", unit=unit)


class Row(Struct, frozen=True):
    """Cells, one per column; `key` is stable and unique in the table.

    Rows of a `level` above 0 are parts of the nearest preceding row of a lower level.
    """

    key: str
    role: RowRole
    cells: tuple[Cell, ...]
    level: int = 0

    @property
    def strong(self) -> bool:
        """Whether the row sums up others."""
        return self.role in _STRONG


class Table(Struct, frozen=True, eq=False, dict=True):
    """Rows under columns; one column has the role ``name``.

    Tables of costlier and of cheaper functions share a `key`. `total` is the number of
    all rows if these are only the first, else 0. `code` says whether names come from
    the program; `one_unit` whether all values of base and new have one unit, so that
    rows compare. In plain text there are `indent` spaces per level, and if `inset`, the
    whole table is slightly indented.
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
        """The title, with how many of all rows are shown; "" without a title."""
        if self.total > len(self.rows):
            return printable(f"{self.title}: {len(self.rows)} of {self.total}")
        return printable(self.title)

    @property
    def names(self) -> int:
        """The position of the column of names."""
        return self.place("name")

    def place(self, role: ColumnRole) -> int:
        """Return the position of the first column with a role, -1 if there is none."""
        roles = [column.role for column in self.columns]
        return roles.index(role) if role in roles else -1

    def first(self, count: int) -> Table:
        """Return the table with its first rows."""
        return replace(self, rows=self.rows[:count])

    def without_empty(self) -> Table:
        """Return the table without columns that are empty in all rows."""
        used = [
            i
            for i in range(len(self.columns))
            if i == self.names or any(row.cells[i].text for row in self.rows)
        ]
        rows = (replace(r, cells=tuple(r.cells[i] for i in used)) for r in self.rows)
        columns = tuple(self.columns[i] for i in used)
        return replace(self, columns=columns, rows=tuple(rows))


class Sentence(Struct, frozen=True):
    """A paragraph; `key` says what it is about if a table could stand in its place.

    ``outcome`` says whether new is slower, ``warning`` how to read the rest,
    ``caution`` what hinders a comparison, ``noise`` how large a change must be,
    ``legend`` what words mean; ``also`` lists findings in short.
    """

    text: str
    role: SentenceRole = "plain"
    key: str = ""


class Heading(Struct, frozen=True):
    """A title above parts that have none of their own."""

    text: str


def prefix_of(lines: ChangedLines) -> str:
    """Return what precedes a location that new does not have as such: ``removed: ``."""
    if lines.verb == "removed" and not lines.dropped:
        return "lines removed: "
    return f"{lines.verb}: " if lines.verb in ("removed", "moved") else ""


class SourceNote(NamedTuple):
    """What the source says about a finding, in one sentence.

    `lead` precedes the location of changed `lines`. It is followed by `more` of their
    function, by `said`, by the `amount` of the cum of all `several` or of `lines`
    alone, and by `added` functions that they call. Without lines, `said` is the whole
    sentence. If the lines are `titled`, the finding's title has their file, function
    and commits; if they are `named`, only their function.
    """

    said: str
    lead: str = ""
    lines: ChangedLines | None = None
    more: str = ""
    amount: str = ""
    several: bool = False
    added: str = ""
    titled: bool = False
    named: bool = False

    @property
    def place(self) -> str:
        """The location as printed, "" without lines."""
        if self.lines is None:
            return ""
        return self.lines.numbers if self.titled else self.lines.place

    @property
    def after(self) -> str:
        """What follows the location, up to the commits."""
        if self.lines is None:
            return self.said
        known = self.titled or self.named
        # Lines are those of every instance of a generic function.
        function, _ = inlined_closure(strip_type_arguments(self.lines.function))
        where = "" if known else f" in {function}"
        was = f" (from {self.lines.moved_from})" if self.lines.moved_from else ""
        together = "together " if self.several and not self.lines.alone else ""
        amount = f", {together}cum {self.amount}" if self.amount else ""
        parts = [amount, self.said] if self.lines.alone else [self.said, amount]
        if self.lines.idle:
            # What costs more runs elsewhere, as by what another function left behind.
            parts.append(", without samples")
        most = f", most of it in {self.lines.most}" if self.lines.most else ""
        return f"{was}{self.more}{where}{''.join(parts)}{most}{self.added}"

    @property
    def text(self) -> str:
        """The whole sentence; a commit is its short id and its subject, if any."""
        if self.lines is None:
            return self.said
        commits = [self._named(commit) for commit in self.commits]
        where = f"{self.lead}{self.place}{self.after}"
        text = "; ".join((where, *commits) if self.located else commits)
        if commits and not self.located:
            text = f"Commit: {text}"
        return text if text.endswith(('."', '!"', '?"')) else f"{text}."

    @property
    def located(self) -> bool:
        """Whether it names lines that the title does not."""
        return self.lines is not None and not (self.titled and not self.after)

    def _named(self, commit: Commit) -> str:
        subject = f' "{commit.subject}"' if commit.subject else ""
        return f"{'' if self.titled else commit.short}{subject}".strip()

    @property
    def commits(self) -> tuple[Commit, ...]:
        """The commits to name: those that made the lines."""
        commits = () if self.lines is None else self.lines.commits
        return tuple(c for c in commits if c.subject) if self.titled else commits

    def is_of(self, title: str) -> bool:
        """Return whether a title begins with the function of the lines."""
        if self.lines is None:
            return False
        # Names that would read the same have more of their path.
        subject, name = title.partition(" ")[0], short(self.lines.function)
        return subject.rpartition("/")[2] == name.rpartition("/")[2]

    def holds(self, places: Collection[str]) -> bool:
        """Return whether its lines are among some places."""
        return self.lines is not None and self.lines.place in places

    def below(self, title: str, *, titled: bool, known: bool = False) -> SourceNote:
        """Return the note below a title with its function, with `titled` its lines."""
        amount = "" if known or self.amount in title else self.amount
        if not titled:
            return self._replace(named=True, amount=amount)
        more = self.more if amount or self.said or self.added else ""
        return self._replace(titled=True, amount=amount, more=more)

    @property
    def adds(self) -> bool:
        """Whether it says more than a title with its lines."""
        return bool(not self.titled or self.located or self.commits)

    def without_subjects(self, known: Collection[Commit]) -> SourceNote:
        """Return the note without the subjects of commits that a reader knows."""
        if self.lines is None:
            return self
        commits = tuple(
            commit._replace(subject="") if commit in known else commit
            for commit in self.commits
        )
        return self._replace(lines=self.lines._replace(commits=commits))


class Reason(NamedTuple):
    """One finding as reported, and its effect on CPU.

    `number` counts causes, from 1; it is 0 if the finding is not significant. A
    consequence has its cause's number and a `level` above 0. `amount` is the finding's
    part of the CPU profiles' delta; `notes` are what the source says about it. `lines`
    are changed lines of the function with which the title begins, `more` further ones;
    `commits` are those of its lines if no line has most of the change.
    """

    number: int
    finding: Finding
    amount: str = ""
    level: int = 0
    notes: tuple[SourceNote, ...] = ()
    lines: ChangedLines | None = None
    more: str = ""
    commits: tuple[Commit, ...] = ()

    @property
    def sentences(self) -> tuple[SourceNote, ...]:
        """The notes that say more than the title."""
        return tuple(note for note in self.notes if note.adds)

    @property
    def style(self) -> Literal["worse", "better", "strong"]:
        """How writers draw the title."""
        direction = self.finding.direction
        return "strong" if direction == "neutral" else direction

    @property
    def title(self) -> str:
        """What changed, where and how much, after the label of its code."""
        found, said = self.finding, self.finding.title
        where = [found.line] if found.line else []
        if self.lines is not None:
            where = [f"{prefix_of(self.lines)}{self.lines.place}{self.more}"]
        commits = self.commits if self.lines is None else self.lines.commits
        where += (commit.short for commit in commits)
        if where:
            unit, title = found.said_of
            subject, _, rest = title.partition(" ")
            said = f"{unit}{subject} ({', '.join(where)}) {rest}"
        if found.label[1] and not self.level:
            said = f"{' '.join(map(printable, found.label))}: {said}"
        severity = "" if found.severity == "info" else found.severity
        return f"{said}. {', '.join(filter(None, (self.amount, severity)))}".strip()

    @property
    def lead(self) -> str:
        """What precedes the title: its number, or an arrow for a consequence."""
        if self.level:
            return "   " * self.level + "↳"
        return f"{self.number}." if self.number else "-"


class Footnote(Struct, frozen=True):
    """A mark used in cells, and its meaning."""

    mark: str
    text: str


class Footnotes(Struct, frozen=True):
    """The meaning of marks in the preceding tables."""

    notes: tuple[Footnote, ...]


class CodeLine(NamedTuple):
    """One formatted line of a listing; `tone` says whether it changed."""

    text: str
    tone: Tone = ""


class Code(Struct, frozen=True):
    """A function's source with the cost of its lines, and its caveats."""

    key: str
    title: str
    lines: tuple[CodeLine, ...]
    notes: tuple[str, ...] = ()


class Rulings(NamedTuple):
    """The gate's verdict, rule by rule; `tripped` says how many rules did, in words."""

    verdict: Verdict
    tripped: str

    @property
    def summary(self) -> str:
        """The verdict in a few words, such as ``fail: 1 of 3 rules tripped``."""
        return f"{self.verdict.outcome}: {self.tripped}"


SectionPart = Table | Sentence | Footnotes
"""What a section consists of."""


def tables_of(parts: Iterable[Any]) -> list[Table]:
    """Return the tables among parts."""
    return [part for part in parts if isinstance(part, Table)]


def pieces(parts: Iterable[T], table: type = Table) -> Iterator[list[T]]:
    """Yield parts piece by piece: each of the `table`s with the text around it."""
    piece: list[T] = []
    for part in parts:
        if isinstance(part, table) and any(isinstance(one, table) for one in piece):
            yield piece
            piece = []
        piece.append(part)
    if piece:
        yield piece


Part = SectionPart | Code | Heading | Reason | Rulings
"""What a report consists of."""


class Tile(Struct, frozen=True):
    """A total at a glance: what is counted, ``base → new unit``, and how it changed."""

    name: str
    values: str
    change: Cell


class Section(Struct, frozen=True, eq=False, dict=True):
    """What a report shows of one comparison.

    `kind` is the evidence's, `id` is stable within the report. `title`,
    `measure` and `mode` are what is compared, what its numbers are, and how they were
    made comparable: ``cpu``, ``in cores``, ``CPU seconds per second; both profiles have
    a duration``. `short` is the text of links to it. `lead` is the first sentence, and
    `instead` the one that answers if there is neither a finding nor a lead. `compared`
    is the comparison itself, of the kind's own type.
    `tops` are the keys of the parts that a short answer shows; `noise` says whether the
    totals, or changes of benchmarks, may be noise. It is `unchanged` if exact counts
    elsewhere show that. With `of_units`, tables are of one benchmark each, and a total
    would be of none.

    `build` makes the parts when they are first needed. `short_parts` makes what an
    answer shows of the section if it comes first, given the maximum rows per table and
    the maximum categories of groups.
    """

    kind: KindId
    id: str
    title: str
    measure: str
    compared: Any
    build: Callable[[], Iterable[SectionPart]]
    short_parts: Callable[[int, int], Iterable[SectionPart]]
    mode: str = ""
    short: str = ""
    lead: str = ""
    contents: str = ""
    tops: tuple[str, ...] = ()
    instead: str = ""
    noise: bool | None = None
    unchanged: bool = False
    of_units: bool = False

    @cached_property
    def parts(self) -> tuple[SectionPart, ...]:
        """Tables and sentences, in reading order."""
        return tuple(self.build())

    @property
    def tables(self) -> list[Table]:
        """The parts that are tables."""
        return tables_of(self.parts)

    @property
    def heading(self) -> str:
        """What is compared, and what its numbers are."""
        return f"{self.title}, {self.measure}"

    @property
    def whole_heading(self) -> str:
        """The heading, with how numbers were made comparable."""
        return f"{self.heading} ({self.mode})" if self.mode else self.heading

    @property
    def diff(self) -> ProfileDiff | None:
        """The comparison of profiles, None for other kinds."""
        return self.compared if self.kind == "profile" else None
