"""The inputs as a table, what was not compared, and caveats about the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pprofdiff.goruntime.versions import disjoint, parse_go_version
from pprofdiff.kinds import KINDS
from pprofdiff.report.model import Input, ReportModel, by_kind
from pprofdiff.report.rows import Cell, Column, Row, Sentence, Table, name_column
from pprofdiff.units import scaled

_COLUMNS = (
    Column("side", "side", "<"),
    name_column("file"),
    Column("kind", "text", "<"),
    Column("Go", "text", "<"),
    Column("duration", "text"),
    Column("holds", "text"),
)


def inputs_table(
    report: ReportModel,
    *,
    copies: bool = True,
    headed: bool = False,
    folders: bool = False,
) -> Table:
    """Return one row per file, or per kind for several runs, without empty columns.

    `copies` shows where copies of fetched files are. With `folders`, the folder of a
    side's files has a row, and they are below it.
    """
    rows: list[Row] = []
    releases = _releases_shown(report)
    for side, label, given in zip(
        ("base", "new"), report.labels, report.inputs, strict=True
    ):
        entries = list(_of_runs(given))
        if not releases:
            entries = [entry._replace(go_version=None) for entry in entries]
        paths = [entry.path for entry in entries]
        folder = _common(paths) if folders and len(set(paths)) > 1 else ""
        if folder:
            words = (label, folder, *[""] * (len(_COLUMNS) - 2))
            rows.append(Row(side, "file", tuple(map(Cell, words))))
        for entry in entries:
            words = _words(label, entry, copies=copies)
            if folder:
                words = ("", words[1].removeprefix(folder), *words[2:])
            key = f"{side}:{entry.kind}:{entry.path}"
            rows.append(Row(key, "file", tuple(map(Cell, words)), int(bool(folder))))
    return Table(
        "inputs", _COLUMNS, tuple(rows), code=True, inset=True, headed=headed, indent=2
    ).without_empty()


def inputs_in_short(report: ReportModel) -> Iterator[tuple[str, str]]:
    """Yield each side's label, and where its files are and what they hold."""
    releases = _releases_shown(report)
    for label, given in zip(report.labels, report.inputs, strict=True):
        entries = [entry for entry in given if not entry.within]
        if not entries:
            continue
        versions = _versions(entries) if releases else {}
        paths = [entry.path for entry in entries]
        place = _common(paths).rstrip("/") or f"{len(paths)} files"
        if len(set(paths)) == 1:
            place = paths[0]
        words = [place, *versions]
        kinds = by_kind(entries)
        counts = {len(several) for several in kinds.values()}
        alike = len(counts) == 1 and max(counts) > 1
        if alike:
            words.append(f"{max(counts)} runs")
        parts = [
            _kind_in_words(kind, several, count=not alike)
            for kind, several in kinds.items()
        ]
        if report.comparison.of_fleets:
            yield label, "; ".join([*parts, *versions, place])
            continue
        rich = [text for text in parts if " " in text]
        plain = ", ".join(text for text in parts if " " not in text)
        yield label, "; ".join(filter(None, ["  ".join(words), *rich, plain]))


def _versions(entries: Sequence[Input]) -> dict[str, None]:
    return dict.fromkeys(e.go_version for e in entries if e.go_version)


def _releases_shown(report: ReportModel) -> bool:
    """Return whether the sides' Go releases can be shown side by side.

    They are inferred from functions with samples: for one release, `go1.24-1.26` on one
    side and `go1.25+` on the other, which reads like two.
    """
    if report.comparison.measured:
        return False
    base, new = map(_versions, report.inputs)
    return base.keys() == new.keys() or all(
        disjoint(parse_go_version(one), parse_go_version(other))
        for one in base
        for other in new
    )


def _kind_in_words(kind: str, entries: Sequence[Input], *, count: bool) -> str:
    """Return a kind with its duration and content: ``cpu 9 samples in 12.2 s``."""
    words = [f"{len(entries)} runs"] if count and len(entries) > 1 else []
    amount, length = _amount(entries), _length(entries)
    span = "" if length is None else _span(length)
    # Right after "cpu", a duration would read as CPU time.
    if span and amount.endswith("samples"):
        words.append(f"{amount} in {span}")
    else:
        words += filter(None, (span, amount))
    # "2 benchmarks" already names the kind.
    named = [] if any(kind in word for word in words) else [kind]
    return " ".join([*named, ", ".join(words)]).rstrip()


def _amount(entries: Sequence[Input]) -> str:
    """Return how much inputs of a kind hold together, "" if that does not add up."""
    if len(entries) == 1:
        return entries[0].amount
    amounts = [entry.amount.partition(" ") for entry in entries]
    words = {word for _, _, word in amounts}
    if words not in ({"samples"}, {"cycles"}):
        return ""
    total = sum(int(number.replace(",", "")) for number, _, _ in amounts)
    return f"{total:,} {words.pop()}"


def _common(paths: Sequence[str]) -> str:
    parts = [path.split("/")[:-1] for path in paths]
    common = ""
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        common += f"{names[0]}/"
    return common


def _of_runs(entries: Sequence[Input]) -> Iterator[Input]:
    """Yield one entry for all files of a kind if there are several, else each file."""
    for several in by_kind(entries).values():
        first, last = several[0], several[-1]
        path = _between(first.path, last.path)
        alone = any(entry.saved_to or entry.within for entry in several)
        if len(several) == 1 or not path or alone:
            yield from several
            continue
        size = _amount(several)
        amount = f"{len(several)} runs{f', {size}' if size else ''}"
        yield first._replace(path=path, duration_ns=_length(several), amount=amount)


def _length(entries: Sequence[Input]) -> int | None:
    """Return how long inputs last together, None unless all of them state it."""
    spans = [entry.duration_ns for entry in entries if entry.duration_ns]
    return sum(spans) if len(spans) == len(entries) else None


def _between(first: str, last: str) -> str:
    """Return names as one, `base/{1…6}/cpu.pb.gz`, "" if more than a number differs."""
    parts = re.split(r"(\d+)", first), re.split(r"(\d+)", last)
    pairs = list(zip(*parts, strict=False))
    unlike = [i for i, (one, other) in enumerate(pairs) if one != other]
    if len(parts[0]) != len(parts[1]) or len(unlike) != 1:
        return ""
    (at,) = unlike
    middle = f"{{{pairs[at][0]}…{pairs[at][1]}}}"
    return "".join([*parts[0][:at], middle, *parts[0][at + 1 :]])


def _words(label: str, entry: Input, *, copies: bool) -> tuple[str, ...]:
    span = "" if entry.duration_ns is None else _span(entry.duration_ns)
    copy = f" (copy: {entry.saved_to})" if copies and entry.saved_to else ""
    version = entry.go_version or ""
    holds = f"{entry.amount} {entry.when}".strip()
    return label, f"{entry.path}{copy}", entry.kind, version, span, holds


def _span(duration_ns: int) -> str:
    whole = duration_ns >= 1_000_000_000
    return f"{duration_ns / 1e9:.1f} s" if whole else scaled(duration_ns, "ns")


def cautions(report: ReportModel) -> Iterator[Sentence]:
    """Yield what was not compared, and what to know before trusting the rest."""
    # A kind with a single measure is that measure; all other measures are profiles.
    words = {str(k.id): k.alone for k in KINDS.values() if not k.measures}
    for what, label in report.comparison.unpaired:
        alone = words.get(what, KINDS["profile"].alone)
        thing = f"{what} {alone}".rstrip()
        article = "an" if thing[:1] in "aeio" else "a"
        yield Sentence(f"Only {label} has {article} {thing}: not compared.")
    for warning in report.warnings:
        yield Sentence(warning.text, "warning")
