"""What went in, as a table; what was not compared, and what to know of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pprofdiff.kinds import KINDS
from pprofdiff.report.model import Input, ReportModel
from pprofdiff.report.rows import Cell, Column, Row, Sentence, Table, name_column
from pprofdiff.units import scaled

__all__ = ["cautions", "inputs_table"]

_SEVERAL = 2
_COLUMNS = (
    Column("side", "side", "<"),
    name_column("file"),
    Column("kind", "text", "<"),
    Column("Go", "text", "<"),
    Column("length", "text"),
    Column("holds", "text"),
)


def inputs_table(
    report: ReportModel, *, copies: bool = True, headed: bool = False
) -> Table:
    """Return one row a file, or of several runs one a kind, without empty columns.

    `copies` tells where copies of fetched files are; `headed` shows headings.
    """
    texts = [
        (f"{side}:{entry.kind}:{entry.path}", _words(label, entry, copies=copies))
        for side, label, entries in zip(
            ("base", "new"), report.labels, report.inputs, strict=True
        )
        for entry in _of_runs(entries)
    ]
    used = [i for i in range(len(_COLUMNS)) if any(words[i] for _, words in texts)]
    rows = tuple(
        Row(key, "file", tuple(Cell(words[i]) for i in used)) for key, words in texts
    )
    columns = tuple(_COLUMNS[i] for i in used)
    return Table("inputs", columns, rows, code=True, inset=True, headed=headed)


def _of_runs(entries: Sequence[Input]) -> Iterator[Input]:
    """Yield one entry for all files of a kind where there are several of each."""
    kinds: dict[str, list[Input]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    for several in kinds.values():
        first, last = several[0], several[-1]
        path = _between(first.path, last.path)
        if len(several) < _SEVERAL or not path or any(e.saved_to for e in several):
            yield from several
            continue
        spans = [entry.duration_ns for entry in several]
        amounts = [entry.amount.partition(" ") for entry in several]
        words = {word for _, _, word in amounts}
        amount = f"{len(several)} runs"
        if words in ({"samples"}, {"cycles"}):
            total = sum(int(number.replace(",", "")) for number, _, _ in amounts)
            amount += f", {total:,} {words.pop()}"
        yield first._replace(
            path=path,
            duration_ns=sum(span or 0 for span in spans) if all(spans) else None,
            amount=amount,
        )


def _between(first: str, last: str) -> str:
    """Return names as one, `base/{1…6}/cpu.pb.gz`, "" where more than a number differs.

    `first` and `last` are the names of the first run and of the last one.
    """
    parts = re.split(r"(\d+)", first), re.split(r"(\d+)", last)
    pairs = list(zip(*parts, strict=False))
    unlike = [i for i, (one, other) in enumerate(pairs) if one != other]
    if len(parts[0]) != len(parts[1]) or len(unlike) != 1:
        return ""
    (at,) = unlike
    middle = f"{{{pairs[at][0]}…{pairs[at][1]}}}"
    return "".join([*parts[0][:at], middle, *parts[0][at + 1 :]])


def _words(label: str, entry: Input, *, copies: bool) -> tuple[str, ...]:
    """Return a file's cells, one a column."""
    span = "" if entry.duration_ns is None else _span(entry.duration_ns)
    copy = f" (copy: {entry.saved_to})" if copies and entry.saved_to else ""
    version = entry.go_version or ""
    return label, f"{entry.path}{copy}", entry.kind, version, span, entry.amount


def _span(duration_ns: int) -> str:
    """Return a duration in seconds, in a smaller unit where it is shorter than one."""
    whole = duration_ns >= 1_000_000_000
    return f"{duration_ns / 1e9:.1f} s" if whole else scaled(duration_ns, "ns")


def cautions(report: ReportModel) -> Iterator[Sentence]:
    """Yield what was not compared, and what to know before trusting the rest."""
    # A kind that measures one thing is that measure; all other measures are profiles'.
    words: dict[str, str] = {
        kind.id: kind.alone for kind in KINDS.values() if not kind.measures
    }
    for what, label in report.comparison.lonely:
        alone = words.get(what, KINDS["profile"].alone)
        thing = f"{what} {alone}".rstrip()
        yield Sentence(f"Only {label} has a {thing}: not compared.")
    for warning in report.warnings:
        yield Sentence(warning.text, "warning")
