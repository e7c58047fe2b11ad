"""Format values with units: pprof's rules, and our own for tables.

`scale`, `label`, `percentage` and `common_unit` match what ``go tool pprof`` prints
(internal/measurement of github.com/google/pprof). `Scale` is for our reports: one unit
per column, a true minus sign, three significant digits.
"""

from __future__ import annotations

from functools import cache
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def printable(text: str) -> str:
    """Return `text` with unprintable characters escaped.

    Names from files, servers and arguments pass through here before they are printed.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


# From this ratio on, one scale would leave the smaller value without digits.
_FAR = 100
# Each family: (unit, other spellings, size in the family's base unit).
_BYTES = (
    ("B", ("b", "byte"), 1.0),
    ("kB", ("kb", "kbyte", "kilobyte"), 1024.0),
    ("MB", ("mb", "mbyte", "megabyte"), 1024.0**2),
    ("GB", ("gb", "gbyte", "gigabyte"), 1024.0**3),
    ("TB", ("tb", "tbyte", "terabyte"), 1024.0**4),
    ("PB", ("pb", "pbyte", "petabyte"), 1024.0**5),
)
# pprof uses kB for 1024 bytes. Text that does not imitate pprof uses IEC units.
_IEC = {"kB": "KiB", "MB": "MiB", "GB": "GiB", "TB": "TiB", "PB": "PiB"}
_TIME = (
    ("ns", ("ns", "nanosecond"), 1.0),
    ("us", ("μs", "us", "microsecond"), 1e3),
    ("ms", ("ms", "millisecond"), 1e6),
    ("s", ("s", "sec", "second"), 1e9),
    ("hrs", ("hour", "hr"), 3600e9),
)
_COMPUTE = (
    ("n*GCU", ("nanogcu",), 1e-9),
    ("u*GCU", ("microgcu",), 1e-6),
    ("m*GCU", ("milligcu",), 1e-3),
    ("GCU", ("gcu",), 1.0),
    ("k*GCU", ("kilogcu",), 1e3),
    ("M*GCU", ("megagcu",), 1e6),
    ("G*GCU", ("gigagcu",), 1e9),
    ("T*GCU", ("teragcu",), 1e12),
    ("P*GCU", ("petagcu",), 1e15),
)
# (family, default unit, its size), for targets that are unknown.
_FAMILIES = ((_BYTES, "B", 1.0), (_TIME, "s", 1e9), (_COMPUTE, "GCU", 1.0))
# Targets that mean "choose", and units that are not printed.
_CHOOSE = ("minimum", "auto")
_SILENT = ("count", "sample", "unit", *_CHOOSE)


@cache
def _known(unit: str) -> tuple[int, str, float] | None:
    """Return (family, canonical name, size) of a unit, None if unknown."""
    spelling = unit.lower()
    # pprof counts bytes here, so its own "μs" loses the s and is not found.
    if len(spelling.encode()) > 2:
        spelling = spelling.removesuffix("s")
    for family, (units, _, _) in enumerate(_FAMILIES):
        for name, spellings, size in units:
            if spelling in spellings:
                return family, name, size
    return None


def scale(value: int, unit: str, target: str) -> tuple[float, str]:
    """Return the value in the target unit, and the unit's name as pprof prints it.

    The target ``auto`` (or ``minimum``) picks the largest unit in which the value is at
    least 1. The name is empty for units that are not printed, such as ``count``.
    """
    if value < 0:
        scaled_value, name = scale(-value, unit, target)
        return -scaled_value, name
    known = _known(unit)
    if known is None:
        return float(value), "" if target in _SILENT else target
    units, default, default_size = _FAMILIES[known[0]]
    base = float(value) * known[2]
    if target in _CHOOSE:
        fitting = [(name, size) for name, _, size in units if base / size >= 1.0]
        name, size = fitting[-1] if fitting else (default, default_size)
        return base / size, name
    wanted = _known(target)
    if wanted is None or wanted[0] != known[0]:
        return base / default_size, default
    return base / wanted[2], wanted[1]


def label(value: int, unit: str, target: str = "auto") -> str:
    """Return the value as pprof prints it, such as ``1.50s``, ``-3kB`` or ``0``."""
    number, name = scale(value, unit, target)
    text = f"{number:.2f}".removesuffix(".00")
    return "0" if text in {"0", "-0"} else text + name


def percentage(value: int, total: int) -> str:
    """Return |value / total| as pprof prints it: unsigned, six characters wide."""
    ratio = abs(value / total) * 100 if total else 0.0
    if 99.95 <= ratio <= 100.05:
        return "  100%"
    return f"{ratio:5.2f}%" if ratio >= 1.0 else f"{ratio:5.2g}%"


def comparable(one: str, other: str) -> bool:
    """Return whether values in the two units can be converted to each other."""
    if one == other:
        return True
    first, second = _known(one), _known(other)
    return first is not None and second is not None and first[0] == second[0]


def common_unit(units: Iterable[str]) -> str:
    """Return the finest of several comparable units; the first if they tie."""
    finest, *rest = units
    for unit in rest:
        if scale(1, unit, finest)[0] < 1:
            finest = unit
    return finest


class Scale(NamedTuple):
    """How a column of numbers is written: ``value / size``, decimals, unit."""

    size: float
    unit: str
    decimals: int

    def number(self, value: float, *, signed: bool = False) -> str:
        """Return the value without its unit; `signed` also writes ``+``."""
        digits = f"{abs(value) / self.size:,.{self.decimals}f}"
        if not any(digit in "123456789" for digit in digits):
            return digits
        if value < 0:
            return f"−{digits}"
        return f"+{digits}" if signed else digits

    def nonzero(self, value: float) -> str:
        """Return `number`, or ``<0.001`` for a value that would be printed as 0."""
        text = self.number(value)
        if value <= 0 or text.strip("0."):
            return text
        return f"<{text[:-1]}1"

    def rounded(self, value: float) -> float:
        """Return the value rounded as it is printed."""
        return round(value / self.size, self.decimals) * self.size

    def with_two_digits(self, value: float) -> Scale:
        """Return this scale with enough decimals for two digits of a small value."""
        size = abs(value) / self.size
        if size == 0 or size.is_integer() or size >= 10 ** (1 - self.decimals):
            return self
        return self._replace(decimals=1 - floor(log10(size)))

    def text(self, value: float, *, signed: bool = False) -> str:
        """Return the value with its unit, such as ``+1.25 s`` or ``12,408``."""
        number = self.number(value, signed=signed)
        space = "" if not self.unit or self.unit.startswith("%") else " "
        return f"{number}{space}{self.unit}"


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """Return the scale for a column, from its largest value: three digits or more.

    Times range from ns to s (differences in hours are hard to read), bytes from B to
    PiB; other units are not scaled. Whole units get no decimals.
    """
    largest = max((abs(v) for v in values), default=0.0)
    known = _known(unit)
    size, name, whole = 1.0, "" if unit in {*_SILENT, ""} else unit, True
    if known is not None:
        units = [(n, s) for n, _, s in _FAMILIES[known[0]][0] if n != "hrs"]
        base = largest * known[2]
        name, step = next(((n, s) for n, s in reversed(units) if base >= s), units[0])
        size = step / known[2]
        whole = step == units[0][1]
        name = "µs" if name == "us" else _IEC.get(name, name)
    top = largest / size
    if whole and (known is not None or top.is_integer()):
        return Scale(size, name, 0)
    decimals = 2 if top < 10 else 1 if top < 100 else 0
    return Scale(size, name, decimals)


def arrow(base: float, new: float, unit: str) -> str:
    """Return two values in one scale, such as ``1.44 → 2.61 s``.

    Values far apart have a scale each: ``5.26 MiB → 8.1 KiB``. A far smaller one has
    two digits: ``1.5 → 193 MiB``.
    """
    low, high = sorted((abs(base), abs(new)))
    common = scale_for((base, new), unit)
    if low and high >= _FAR * low and scale_for((low,), unit).unit != common.unit:
        return f"{scaled(base, unit)} → {scaled(new, unit)}"
    before, after = (common.with_two_digits(value) for value in (base, new))
    return f"{before.number(base)} → {after.text(new)}"


def scaled(value: float, unit: str, *, signed: bool = False) -> str:
    """Return one value with its unit, in the scale that fits it."""
    return scale_for((value,), unit).text(value, signed=signed)


def percent(part: float, whole: float, *, signed: bool = False) -> str:
    """Return part/whole such as ``12.4%``, or ``–`` if the whole is 0."""
    if whole == 0:
        return "–"
    ratio = 100.0 * part / whole
    digits = f"{abs(ratio):.1f}" if abs(ratio) < 99.95 else f"{abs(ratio):,.0f}"
    if float(digits.replace(",", "")) == 0:
        return "0%" if part == 0 else "<0.1%"
    sign = "−" if ratio < 0 else "+" if signed else ""
    return f"{sign}{digits}%"


def rounded(value: float, digits: int = 4, *, padded: bool = False) -> str:
    """Return a number with `digits` significant digits: ``4,154``, ``52.48``.

    Trailing zeros are dropped unless `padded`: ``1.1`` or ``1.10``.
    """
    if value == 0:
        return "0"
    kept = float(f"{value:.{digits}g}")
    decimals = max(digits - 1 - floor(log10(abs(kept))), 0)
    text = f"{kept:,.{decimals}f}"
    if padded or not decimals:
        return text
    return text.rstrip("0").removesuffix(".")


def clipped(text: str, longest: int = 40) -> str:
    """Return a name shortened to `longest` characters, with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


SMALL = 0.01
"""Ratios below this are written as 1/n instead of in decimals."""


def first_few(words: Sequence[str], most: int) -> str:
    """Return ``a, b and 3 more``: at most `most` words, and how many others."""
    left = len(words) - most
    return ", ".join(words[:most]) + (f" and {left:,} more" if left > 0 else "")


def many(count: int, noun: str) -> str:
    """Return a count of things, such as ``1 host`` or ``1,200 hosts``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def inverse(ratio: float) -> str:
    """Return a small ratio as 1/n with two significant digits: ``1/31,000``."""
    return f"1/{float(f'{1 / ratio:.2g}'):,.0f}"


def times_the(ratio: float, noun: str) -> str:
    """Return a ratio of something: ``1.73× the CPU``, ``1/230 of the CPU``."""
    text = times(ratio)
    return f"{text} {'the' if text.endswith('×') else 'of the'} {noun}"


def times(ratio: float, *, significant: int | None = None) -> str:
    """Return a ratio as text: ``1.73×``, ``0.094×``, ``29,500×``, ``1/230``.

    It has two decimals, fewer from 10 on, two significant digits below 0.1, and is a
    fraction below `SMALL`.

    `ratio`: new ÷ base, 0 or more. `significant`: number of significant digits, for
    ratios that are multiplied.
    """
    if ratio == 0:
        return "0×"
    if ratio < SMALL:
        return inverse(ratio)
    if ratio >= 99.95:
        return f"{ratio:,.0f}×"
    if significant is not None:
        return f"{ratio:.{significant}g}×"
    if ratio >= 9.995:
        return f"{ratio:.1f}×"
    return f"{ratio:.2f}×" if ratio >= 0.095 else f"{ratio:#.2g}×"
