"""Units of work in words and as a table: what an op of each benchmark costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.figures.costs import COSTS, CPU
from pprofdiff.analysis.ledger.units import REST
from pprofdiff.analysis.outcome.model import (
    Counted,
    LabelUnits,
    Unit,
    is_bounded,
    is_judged,
)
from pprofdiff.analysis.profiles.groups import judged_sums
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Row,
    Section,
    Table,
    Tone,
    name_column,
    sides,
)
from pprofdiff.report.sections.changes import bounds, change, counts, number, seconds
from pprofdiff.report.sections.profiles.cells import (
    compared,
    compared_columns,
    ratio_cell,
    share_cells,
    share_columns,
)
from pprofdiff.units import first_few, percent, printable

# From this factor on, two values have their own units.
_FAR = 100
# Maximum units of a label named in a sentence.
_NAMED = 2
_BOTH = 2
_ROOM = 5
ROWS = 8
"""Maximum rows of the table of units in a short report."""
_TONES: dict[str, Tone] = {"slower": "worse", "faster": "better"}


def unit_headline(units: Sequence[Unit], moved: Sequence[Unit]) -> str:
    """Return how many units got slower or faster, and the worst by name, or ""."""
    if not moved:
        return ""
    slower = [unit for unit in moved if unit.verdict == "slower"]
    faster = [unit for unit in moved if unit.verdict == "faster"]
    title = _moved_words(slower or faster, units)
    if slower and faster:
        title = f"{len(slower)} of {len(units)} benchmarks slower{_named(slower)}"
        title += f"; {len(faster)} faster{_named(faster)}"
    if other := sum(unit.rewritten for unit in units):
        title += f"; {_others(other)} written differently"
    left = [unit for unit in units if not (unit.moved or unit.rewritten)]
    if left and not any(is_judged(one.cost.low, one.cost.high) for one in left):
        title += f"; too few rounds to judge {_others(len(left))}"
    elif left:
        same = all(unit.verdict == "same" for unit in left)
        what, apart = "unchanged" if same else "within noise", _in_other_figure(left)
        if apart or not same:
            what += f" in {COSTS[left[0].figure].noun}"
        title += f"; {_others(len(left))} {what}{apart}"
    return title


def _in_other_figure(left: Sequence[Unit]) -> str:
    """Return a phrase on units whose other figure changed alone, "" without any."""
    found = [(unit, unit.other) for unit in left if unit.other is not None]
    if not found:
        return ""
    noun = COSTS["time" if found[0][0].figure == CPU.id else CPU.id].noun
    said = [
        f"{f'{unit.name}: ' if len(left) > 1 else ''}{noun} {change(other.ratio)}"
        for unit, other in found
    ]
    return f" ({first_few(said, _NAMED)})"


def _moved_words(moved: Sequence[Unit], units: Sequence[Unit]) -> str:
    """Return the units that changed in one direction: one by name, several counted."""
    if len(moved) == 1:
        return _change(moved[0])
    many = f"{len(moved)} of {len(units)}"
    if len(moved) == len(units):
        many = "both" if len(moved) == _BOTH else f"all {len(moved)}"
    return f"{many} benchmarks; largest: {_change(moved[0])}"


def _others(left: int) -> str:
    return "the other one" if left == 1 else f"{left} others"


def _named(moved: Sequence[Unit]) -> str:
    """Return a phrase on the unit that changed most, after a count of units."""
    which = "" if len(moved) == 1 else ", largest"
    return f"{which}: {_change(moved[0])}"


def _change(unit: Unit) -> str:
    noun = COSTS[unit.figure].noun
    return f"{unit.name}, {noun} {change(unit.cost.ratio)} ({_bounds(unit)})"


def _bounds(unit: Unit) -> str:
    """Return a unit's bounds, unless they exclude 1 and the unit did not change."""
    cost = unit.cost
    if unit.rewritten:
        return "written differently"
    if not unit.moved and not cost.low <= 1 <= cost.high:
        return "not significant"
    return bounds(cost.ratio, cost.low, cost.high)


def label_sentence(by: LabelUnits) -> str:
    """Return which units of a label cost more or less, "" if none does."""
    moved = by.moved
    if not moved:
        return ""
    words = []
    for unit in moved[:_NAMED]:
        noun = f" {CPU.noun}" if unit.figure == CPU.id else ""
        times = f"{seconds(unit.cost.base, unit.cost.new)}{noun}"
        running = f" (running {seconds(*unit.running_s)})" if unit.running_s else ""
        words.append(f"{unit.name} {times}, {change(unit.cost.ratio)}{running}")
    if len(moved) > _NAMED:
        words.append(f"{len(moved) - _NAMED} more changed")
    left = len(by.units) - len(moved)
    if left:
        words.append(f"{_others(left)} within noise")
    return f"By {by.key}: {'; '.join(words)}."


def covered_by_units(report: ReportModel, section: Section) -> bool:
    """Return whether the table of units says all that a section has in short."""
    if section.kind != "benchmark" or not report.outcome.units:
        return False
    diff = section.compared
    if diff.only("base") or diff.only("new") or diff.differences or any(diff.torn):
        return False
    return all(table.unit in ("sec/op", *ALLOCATED.values()) for table in diff.tables)


def unit_parts(
    report: ReportModel, most: int | None = None, *, brief: bool = False
) -> Iterator[Table]:
    """Yield the table of units, those that changed first, or the table by label.

    At most `most` rows are separate. A `brief` table fits a screen: it omits the CPU of
    units that are judged by time.
    """
    outcome = report.outcome
    if not outcome.units:
        yield from _label_parts(report, most)
        return
    ordered = [*outcome.moved, *(unit for unit in outcome.units if not unit.moved)]
    # If there is room for several, one more row is better than one left out.
    room = None if most is None else most + (most >= _ROOM)
    shown = ordered[:most] if room is not None and len(ordered) > room else ordered
    columns = [name_column("benchmark"), *sides(report.labels)]
    figures = {unit.figure for unit in shown}
    noun = COSTS[shown[0].figure].noun if len(figures) == 1 else "per op"
    columns += [Column(noun, "delta"), Column("", "interval", "<")]
    counted = [name for name in ALLOCATED.values() if any(_of(u, name) for u in shown)]
    columns += [Column(name, "text") for name in counted]
    has_cpu = not brief and figures == {"time"} and any(u.cpu_seconds for u in shown)
    if has_cpu:
        columns.append(Column(f"{CPU.noun}, about", "text"))
    rows = [
        _row(unit, counted, has_cpu=has_cpu, mixed=len(figures) > 1) for unit in shown
    ]
    if outcome.rest is not None:
        rows.append(_rest(outcome.rest, len(columns)))
    rate = 100 - (95 if outcome.headline is None else outcome.headline.confidence)
    yield Table(
        "units",
        tuple(columns),
        tuple(rows),
        title=f"Benchmarks, judged together (false discovery rate {rate}%)",
        total=len(ordered) if len(ordered) > len(shown) else 0,
        code=True,
    )


def _label_parts(report: ReportModel, most: int | None) -> Iterator[Table]:
    """Yield the table of a label's values, significant changes first.

    With `most`, at most that many rows are shown, and none if no value changed
    significantly and the user did not ask.
    """
    comparison = report.comparison
    diff, by_label = comparison.cpu, comparison.by_label
    if diff is None or by_label is None:
        return
    names = [(printable(value), "") for value in by_label.values]
    sums = judged_sums(diff, names, by_label.runs)
    moved = any(one.noise is False for one in sums)
    if most is not None and not comparison.by and not moved:
        return
    sums.sort(key=lambda one: (one.noise is not False, -abs(one.delta)))
    rows = []
    for one in sums[:most]:
        shown = Cell(one.id) if one.id else Cell(f"no {by_label.key}", tone="faint")
        cells = (
            shown,
            *compared(diff, one.base, one.new, noise=one.noise),
            ratio_cell(diff, one.base, one.new),
            *share_cells(diff, one.base, one.new),
        )
        rows.append(Row(one.id, "figure", cells))
    columns = (
        name_column(printable(by_label.key)),
        *compared_columns(diff, report.labels),
        Column("ratio", "ratio"),
        *share_columns(diff),
    )
    yield Table(
        "labels",
        columns,
        tuple(rows),
        title=f"{diff.title} by {printable(by_label.key)}, in {scale_of(diff).unit}",
        total=len(sums) if len(sums) > len(rows) else 0,
        one_unit=True,
        code=True,
    )


def _row(unit: Unit, counted: Sequence[str], *, has_cpu: bool, mixed: bool) -> Row:
    cost, tone = unit.cost, _TONES.get(unit.verdict, "")
    mark = "noise" if cost.mark == "unknown" else cost.mark
    # Without an interval, nothing says that the change is noise.
    known = is_bounded(cost.low, cost.high) and not unit.rewritten
    cells = [Cell(unit.name)]
    for value, text in zip(cost[:2], _times(*cost[:2]), strict=True):
        cells.append(Cell(text, value, "s"))
    of = f"{unit.figure.replace('cpu', 'CPU')} " if mixed else ""
    cells += [
        Cell(change(cost.ratio), cost.ratio, mark=mark if known else "", tone=tone),
        Cell(f"{of}({_bounds(unit)})", tone="faint"),
    ]
    for name in counted:
        one = _of(unit, name)
        moved = one is not None and one.noise and counts(one) != number(one, one.base)
        cells.append(Cell("" if one is None else f"{'~ ' * moved}{counts(one)}"))
    if has_cpu:
        both = unit.cpu_seconds
        cells.append(Cell(seconds(*both) if both else ""))
    return Row(unit.name, "benchmark", tuple(cells))


def _rest(shares: tuple[float, float], width: int) -> Row:
    words = " → ".join(percent(share, 1) for share in shares)
    cells = [Cell("") for _ in range(width)]
    cells[0] = Cell(REST, tone="faint")
    cells[4] = Cell(f"{words} of CPU", tone="faint")
    return Row("rest", "figure", tuple(cells))


def _times(*pair: float) -> tuple[str, str]:
    far = max(pair) >= _FAR * min(pair)
    base, new = (
        seconds(*((own, own) if far else pair)).partition(" → ")[::2] for own in pair
    )
    scale = base[1].rpartition(" ")[2]
    return f"{base[0]} {scale}", new[1]


def _of(unit: Unit, name: str) -> Counted | None:
    return next((one for one in unit.counted if one.unit == name), None)
