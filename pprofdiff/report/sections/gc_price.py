"""GC CPU as bytes allocated × CPU per byte: which of the two changed it, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pprofdiff.analysis.account.gc import GCAccount
from pprofdiff.analysis.causes.sites import BYTE
from pprofdiff.analysis.ledger.gc_price import FACTORS, Factor
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Row,
    RowRole,
    SectionPart,
    Sentence,
    Table,
    name_column,
    sides,
)
from pprofdiff.report.sections.named import function_cells
from pprofdiff.units import Scale, scale_for, times

# Shares of the larger of bytes and price below which parts share a row, in a short
# report too; factors below are rounding errors. Where both are about 0, all parts that
# a row cannot show in its digits are small: this share of GC CPU.
_SMALL, _BRIEF, _ROUNDING, _SHOWN = 0.005, 0.05, 1e-9, 0.005
# Maximum functions that a short report names.
_FEW = 2
_KIB = 1024

_EXACT = "GC CPU is split by logarithmic mean, so that the parts add up to its change."
_MODEL = (
    "Functions are charged for the bytes they allocate, as if each byte cost the same: "
    "a model, as marking has no caller."
)
_MEASURED = {
    ("CPU profile", "allocs"): "profiles ÷ GC log",
    ("CPU profile", "B/op"): "CPU profile, B/op ÷ GC log",
    ("CPU profile", "GC log"): "CPU profile ÷ GC log",
    ("GC log", "allocs"): "GC log ÷ allocs",
    ("GC log", "B/op"): "GC log ÷ B/op",
}


# The units of factors, and as tables show them.
_UNITS = {
    "bytes": "B",
    "bytes/op": "B/op",
    "ns": "ns",
    "ns/byte": "ns/KiB",
    "ratio": "",
}


def gc_price_parts(report: ReportModel) -> Iterator[SectionPart]:
    """Yield all factors of GC CPU, the functions that allocate, and how it is split."""
    if report.gc is not None:
        yield _table(report, report.gc)
        said = f"{_EXACT} {_MODEL}" if report.gc.split.places else _EXACT
        yield Sentence(said, "legend")


def gc_price_brief(report: ReportModel) -> Iterator[Table]:
    """Yield what changed GC CPU most, if that is a major change."""
    account = report.gc
    if account is not None and account.major and not report.comparison.measured:
        yield _table(report, account, brief=True)


def _table(report: ReportModel, account: GCAccount, *, brief: bool = False) -> Table:
    """Return the table; a brief one has only the largest functions and factors."""
    split, scale = account.split, _scale(report, account)
    larger = max(abs(split.allocated.part), abs(split.price.part))
    sites = sorted(split.places, key=lambda place: -abs(place.part))
    least = (_BRIEF if brief else _SMALL) * larger
    least = max(least, _SHOWN * max(split.cpu))
    large = [p for p in sites if p.part and abs(p.part) >= least]
    # What a process allocates at startup is 0 per op.
    large = [p for p in large if max(p.base, p.new) >= BYTE]
    large = large[:_FEW] if brief else large
    least = (_BRIEF if brief else _ROUNDING) * larger
    shown = [f for f in split.factors if abs(f.part) >= least]
    small = [p for p in sites if not brief and p not in large]
    other = [f for f in split.factors if brief and f not in shown]
    names = function_cells([place.id for place in large])
    whole = Factor("cpu", *split.cpu, split.delta)
    rows = [
        _row(whole, Cell("GC CPU"), scale, scale, level=0),
        _allocated(report, account, scale),
        *(
            _row(place, name, "B/op", scale, level=2)
            for place, name in zip(large, names, strict=True)
        ),
        *_rest("functions", small, scale),
        _factor(split.price, account, scale, level=1),
        *(_factor(factor, account, scale, level=2) for factor in shown),
        *_rest("factors", other, scale),
    ]
    return Table(
        "gc_price",
        (
            name_column(""),
            *sides(report.labels),
            Column("ratio", "ratio"),
            Column("Δ", "delta", unit=scale.unit),
        ),
        tuple(rows),
        title=f"GC CPU = bytes allocated × CPU per byte, Δ in {scale.unit}",
        indent=2,
    )


def _scale(report: ReportModel, account: GCAccount) -> Scale:
    cpu = report.comparison.cpu
    return _in(account.split.cpu, "ns/op") if cpu is None else scale_of(cpu)


def _allocated(report: ReportModel, account: GCAccount, scale: Scale) -> Row:
    """Return the row of all bytes; benchmarks count them, so a profile is named."""
    row = _factor(account.split.allocated, account, scale, level=1)
    if not report.comparison.measured or account.source[1] != "allocs":
        return row
    name, *cells = row.cells
    return replace(row, cells=(Cell(f"{name.text} (by the profile)"), *cells))


def _factor(factor: Factor, account: GCAccount, scale: Scale, *, level: int) -> Row:
    label, unit = FACTORS[factor.id]
    by = "forced cycles" if account.forced else "GOGC, limit"
    known = {
        "pace": f"{label} ({by})",
        "per_cycle": f"{label} (live heap, {by})",
        "measured": _MEASURED.get(account.source, "GC log"),
    }
    name = Cell(known.get(factor.id, label))
    return _row(factor, name, _UNITS[unit], scale, level)


def _in(values: Sequence[float], unit: str) -> Scale:
    counted, _, per = unit.partition("/")
    if per == "KiB":
        scale = scale_for([value * _KIB for value in values], counted)
        scale = scale._replace(size=scale.size / _KIB)
    else:
        scale = scale_for(values, counted) if counted else Scale(1, "", 2)
    return scale._replace(unit=f"{scale.unit}/{per}") if per else scale


def _row(
    factor: Factor, name: Cell, unit: str | Scale, scale: Scale, level: int
) -> Row:
    """Return a row with values in a unit, and its part in the unit of CPU."""
    base, new = factor.base, factor.new
    own = _in((base, new), unit) if isinstance(unit, str) else unit
    least = _ROUNDING * max(base, new)
    ratio = new / base if min(base, new) > least else None
    cells = (
        name,
        Cell(own.number(base), base),
        Cell(own.number(new), new, suffix=own.unit),
        Cell("" if ratio is None else times(ratio), ratio),
        Cell(scale.number(factor.part, signed=True), factor.part),
    )
    role: RowRole = "figure" if level else "total"
    return Row(factor.id or "no stack", role, cells, level)


def _rest(noun: str, small: Sequence[Factor], scale: Scale) -> Iterator[Row]:
    if small:
        part = sum(factor.part for factor in small)
        name = Cell(f"{len(small)} other {noun if len(small) > 1 else noun[:-1]}")
        delta = Cell(scale.number(part, signed=True), part)
        cells = (name, Cell(""), Cell(""), Cell(""), delta)
        yield Row(f"rest.{noun}", "figure", cells, 2)
