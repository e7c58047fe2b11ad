"""The account as a table: parts that add up to the outcome's change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pprofdiff.analysis.account.model import Account, Amount, Part
from pprofdiff.analysis.policy import MUCH
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Row,
    SectionPart,
    Sentence,
    Table,
    name_column,
    sides,
)
from pprofdiff.units import Scale, scale_for

# Parts below this share of the larger side's total are shown as one.
_SMALL = 0.005
# At most so many paths are shown below a part, those with this share of it or more.
_PATHS, _PATH = 2, MUCH


def account_parts(
    report: ReportModel, most: int | None = None
) -> Iterator[SectionPart]:
    """Yield the account: a table of up to `most` parts, then what it leaves out.

    If all parts are CPU, nothing is yielded: the table of groups is the account.
    """
    account = report.account
    if account is None or all(part.id.startswith("cpu.") for part in account.parts):
        return
    yield _table(account, report.labels, most)
    yield from map(Sentence, outside_notes(account))


def of_other_ops(report: ReportModel) -> bool:
    """Return whether the account is of other operations than what else is reported.

    Measured benchmarks are traced in one run per side: what the machine did in those
    few operations differs more than the builds.
    """
    comparison = report.comparison
    trace = comparison.trace
    few = trace is not None and not trace.several
    return comparison.measured and (few or of_single_benchmarks(report))


def of_single_benchmarks(report: ReportModel) -> bool:
    """Return whether each cause is of one benchmark, or of one label's value."""
    alone = report.comparison.alone is not None
    return alone or any(one.unit for one in report.findings.numbered)


def outside_notes(account: Account) -> Iterator[str]:
    """Yield what the account leaves out, and how its total relates to the outcome."""
    if any(part.paths for part in account.parts):
        yield "A wait for another goroutine counts as what that one did meanwhile."
    if account.gaps:
        yield f"Not included: {'; '.join(account.gaps)}."
    if account.medians is not None:
        scale = account_scale(account)
        base, new = (scale.number(value) for value in account.medians)
        # Medians of benchmarks, geometric means of turns.
        yield (
            "Parts add up to the mean; outliers count less in the outcome: "
            f"{base} → {new} {scale.unit}."
        )


def _table(account: Account, labels: tuple[str, str], most: int | None) -> Table:
    scale = account_scale(account)
    rows = (
        _row(Part("total", account.of, account.total, ""), scale, level=0),
        *_rows(largest_parts(account, most), scale, paths=most is None),
    )
    return Table(
        "account",
        (
            name_column(""),
            *sides(labels, scale.unit),
            Column("Δ", "delta", unit=scale.unit),
            Column("from", "source", "<"),
        ),
        rows,
        title=f"What adds up: {account.of}, in {scale.unit}",
        one_unit=True,
        indent=2,
    )


def _rows(parts: Iterable[Part], scale: Scale, *, paths: bool) -> Iterator[Row]:
    """Yield a row per part, with `paths` also for off-CPU time that matters."""
    for part in parts:
        yield _row(part, scale, level=1)
        if not paths or not part.paths:
            continue
        least = _PATH * max(map(abs, part.amount))
        ways = sorted(part.paths, key=lambda path: -max(map(abs, path.amount)))
        for path in ways[:_PATHS]:
            if max(map(abs, path.amount)) >= least:
                yield _row(path, scale, level=2)


def account_scale(account: Account) -> Scale:
    """Return the scale of an account's amounts."""
    total = account.total
    scale = scale_for((float(total.base), float(total.new)), account.unit)
    unit = scale.unit if account.unit == "%" else f"{scale.unit}/op"
    return scale._replace(unit=unit, decimals=max(scale.decimals, 1))


def largest_parts(account: Account, most: int | None = None) -> list[Part]:
    """Return the largest changes first, at most `most`, and what is left as one."""
    total = account.total
    whole = max(abs(total.base), abs(total.new))
    large = [p for p in account.parts if max(map(abs, p.amount)) >= _SMALL * whole]
    large.sort(key=lambda part: -abs(part.amount.delta))
    large = large[:most]
    small = [p for p in account.parts if p not in large]
    if len(small) == 1:
        return [*large, *small]
    if small:
        word = "smaller" if most is None else "other"
        rest = Amount.sum(part.amount for part in small)
        large.append(Part("rest", f"{len(small)} {word} parts", rest, ""))
    return large


def _row(part: Part, scale: Scale, *, level: int) -> Row:
    base, new, delta = map(float, (*part.amount, part.amount.delta))
    cells = (
        Cell(part.label),
        Cell(scale.number(base), base),
        Cell(scale.number(new), new),
        Cell(scale.number(delta, signed=True), delta),
        Cell(part.source, tone="faint"),
    )
    return Row(part.id, "figure" if level else "total", cells, level)
