"""Changes and amounts in words, as the outcome and its tables write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pprofdiff.analysis.outcome.model import Counted, is_bounded, is_judged
from pprofdiff.report.rows import MARKS, Mark, Sentence, Table
from pprofdiff.units import (
    SMALL,
    arrow,
    inverse,
    percent,
    rounded,
    scale_for,
    scaled,
    times,
)

MANY = 2.0
"""From this ratio on, a factor reads better than a percentage."""
TENFOLD = 10.0
"""From this ratio on, a percentage is hard to read."""
LITTLE = 0.1
"""Below this ratio, whole percentages all look alike."""
_ROUNDING = 1e-9
_MORE_DIGITS = 2


def capitalized(text: str) -> str:
    """Return a text that begins with a capital letter; the rest stays as it is."""
    return f"{text[:1].upper()}{text[1:]}"


def seconds(base: float, new: float) -> str:
    """Return two times in one unit, each with three digits: ``9.67 → 2.98 ns``."""
    scale = scale_for((base * 1e9, new * 1e9), "ns")
    sides = (rounded(value * 1e9 / scale.size, 3, padded=True) for value in (base, new))
    return f"{' → '.join(sides)} {scale.unit}"


def counts(counted: Counted) -> str:
    """Return an exact count: ``9.14 → 7.27 KiB``, ``28 → 5``, ``28`` if unchanged."""
    base, new = counted.base, counted.new
    if number(counted, base) == number(counted, new):
        return number(counted, base)
    if counted.unit == "B/op":
        return arrow(base, new, "B")
    return f"{number(counted, base)} → {number(counted, new)}"


def counts_and_change(counted: Counted) -> str:
    """Return a count with its change: ``28 → 5 (−82%)``, by the figures as printed."""
    base, new = counted.base, counted.new
    text = counts(counted)
    if not base or not new or number(counted, base) == number(counted, new):
        return text
    wanted = change(new / base)
    for more in range(_MORE_DIGITS + 1):
        texts, unit = _exactly(counted, more)
        old, now = (float(one.replace(",", "")) for one in texts)
        if old and change(now / old) == wanted:
            text = f"{' → '.join(texts)}{unit}"
            break
        own = [number(counted, value) for value in (base, new)]
        if own[0].split()[1:] != own[1].split()[1:]:
            # In units of their own, both are exact enough.
            text = " → ".join(own)
            break
    return f"{text} ({wanted})"


def _exactly(counted: Counted, more: int) -> tuple[list[str], str]:
    """Return both counts in one scale with `more` digits than usual, and their unit."""
    base, new = counted.base, counted.new
    if counted.unit == "B/op":
        scale = scale_for((base, new), "B")
        scale = scale._replace(decimals=scale.decimals + more)
        return [scale.number(base), scale.number(new)], f" {scale.unit}"
    return [number(counted, value, 3 + more) for value in (base, new)], ""


def change(ratio: float) -> str:
    """Return a ratio as a percentage, from twofold or below 1/100 as a factor."""
    if ratio >= MANY or ratio < SMALL:
        return times(ratio)
    return percent_change(ratio)


def total_change(base: float, new: float) -> str:
    """Return a total's change: ``+39.8%``, ``44.4×`` from tenfold on, ``from 0``.

    Empty if there is none, or if base is negative.
    """
    if base <= 0:
        # What is less than nothing has no multiple.
        return "from 0" if new and not base else ""
    if new >= TENFOLD * base > 0:
        return times(new / base)
    return percent(new - base, base, signed=True)


def number(counted: Counted, value: float, digits: int = 3) -> str:
    """Return an exact count of bytes or objects; means of objects have `digits`."""
    if counted.unit == "B/op":
        return scaled(value, "B")
    # A mean of equal counts is that count, except for rounding.
    if value >= 1000 or abs(value - round(value)) < _ROUNDING * max(value, 1):
        return f"{value:,.0f}"
    return rounded(value, digits, padded=True)


def percent_change(ratio: float) -> str:
    """Return a ratio as a percent change, with decimals only where they matter."""
    percent = 100 * (ratio - 1)
    decimals = 1 if abs(percent) < 10 or ratio <= LITTLE else 0
    if ratio < SMALL:
        decimals = 2
    digits = f"{abs(percent):.{decimals}f}"
    sign = "" if float(digits) == 0 else "−" if percent < 0 else "+"
    return f"{sign}{digits}%"


def span(ratio: float, low: float, high: float) -> str:
    """Return two bounds in the form of the ratio between them."""
    if ratio < SMALL:
        return f"{inverse(low)} to {inverse(high)}"
    least = f"{low:.2g}" if low < SMALL else times(low).removesuffix("×")
    return f"{least} to {times(high)}"


def bounds(ratio: float, low: float, high: float) -> str:
    """Return two bounds of a ratio in the form that `change` gives it."""
    if not is_bounded(low, high):
        return "interval too wide" if is_judged(low, high) else "too few rounds"
    if ratio >= MANY or ratio < SMALL:
        return span(ratio, low, high)
    return f"{percent_change(low)} to {percent_change(high)}"


def marks_legend(tables: Iterable[Table]) -> Iterator[Sentence]:
    """Yield a sentence on the marks of changes, and on changes without one, if any."""
    seen = {mark for table in tables for mark in _marks(table)}
    signs = [MARKS[mark] for mark in ("more", "less") if mark in seen]
    words = []
    if signs:
        words.append(f"{' '.join(signs)} significant")
    if "noise" in seen:
        words.append(f"{MARKS['noise']} within noise")
    if "" in seen:
        words.append("no mark: can't tell")
    if words:
        yield Sentence(f"{capitalized('; '.join(words))}.", "legend")


def _marks(table: Table) -> Iterator[Mark]:
    """Yield the mark of each change as drawn, "" for one without a sign.

    Changes are deltas, or ratios without deltas. What changed most in a row, after its
    name, is a change too; rows of means sum up what is marked.
    """
    place = table.place("delta")
    if place < 0:
        place = table.place("ratio")
    for row in table.rows:
        if place >= 0 and row.role != "mean":
            cell = row.cells[place]
            if cell.value != 0 and (cell.mark or cell.text.strip("0.")):
                yield cell.mark if table.columns[place].signs else ""
        name = row.cells[table.names]
        if name.value:
            yield name.mark
