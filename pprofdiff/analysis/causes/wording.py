"""Names and numbers in findings' sentences; numbers keep the values that they print.

Rules format numbers with these functions. The text carries its values along, between
private-use characters, until `read` takes them out, into `Finding.spans`. So reports
are checked without parsing English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from pprofdiff import units
from pprofdiff.analysis.policy import NAMED
from pprofdiff.analysis.profiles import scaling
from pprofdiff.goruntime.readable import distinct_names

if TYPE_CHECKING:
    from pprofdiff.analysis.profiles.diff import ProfileDiff

_Kind = Literal["pair", "ratio", "share", "amount"]
"""``pair``: both sides; ``ratio``: new ÷ base; ``share``: a part of a whole, of one
side; ``amount``: a number of one side, or a difference."""

# From this factor on, times reads better than percent.
_DOUBLE = 2
_OPEN, _VALUES, _CLOSE = "\ue000", "\ue001", "\ue002"
_NUMBER = re.compile(
    f"{_OPEN}(pair|ratio|share|amount)"
    rf"\|([^|]*)\|([^|]*)\|([^|{_VALUES}]*){_VALUES}([^{_OPEN}{_CLOSE}]*){_CLOSE}"
)


class Span(NamedTuple):
    """A number in a sentence: how it is printed, and its values.

    `base` is None for a number of one side. A share is a fraction.
    """

    text: str
    kind: _Kind
    base: float | None
    new: float
    unit: str


def numeral(
    text: str, kind: _Kind, new: float, base: float | None = None, unit: str = ""
) -> str:
    """Return a number's text with its values, which `read` takes out again."""
    if not unit.isprintable() or "|" in unit:
        unit = ""
    known = "" if base is None else repr(float(base))
    return f"{_OPEN}{kind}|{known}|{float(new)!r}|{unit}{_VALUES}{text}{_CLOSE}"


def read(sentence: str) -> tuple[str, tuple[Span, ...]]:
    """Return a sentence as people read it, and its numbers in their order."""
    spans: list[Span] = []

    def take(match: re.Match[str]) -> str:
        kind, base, new, unit, text = match.groups()
        known = float(base) if base else None
        spans.append(Span(text, cast("_Kind", kind), known, float(new), unit))
        return text

    return _NUMBER.sub(take, sentence), tuple(spans)


def alike(text: str) -> bool:
    """Return whether a pair's text has both values alike: ``1.0 → 1.0 s``."""
    base, arrow_, new = text.partition(" → ")
    return bool(arrow_) and (base == new or new.startswith(f"{base} "))


def _once(text: str) -> str:
    """Return a pair's text, with values that are printed alike printed once."""
    return text.partition(" → ")[2] if alike(text) else text


def arrow(base: float, new: float, unit: str) -> str:
    """Return two values in one scale, such as ``1.44 → 2.61 s``; equal ones once."""
    return numeral(_once(units.arrow(base, new, unit)), "pair", new, base, unit)


def words(diff: ProfileDiff, base: float, new: float) -> str:
    """Return raw values of a profile as ``base → new unit``, in the report's scale."""
    scaled = diff.normalization.scaled(base, new)
    return numeral(scaling.words(diff, base, new), "pair", scaled[1], scaled[0])


def counts(base: int, new: int) -> str:
    """Return two counts, such as ``1,200 → 8``."""
    return numeral(f"{base:,} → {new:,}", "pair", new, base)


def fixed(base: float, new: float, decimals: int) -> str:
    """Return two values with these decimals, as ``1.25 → 3.50``; equal ones once."""
    text = _once(f"{base:.{decimals}f} → {new:.{decimals}f}")
    return numeral(text, "pair", new, base)


def share_pair(base: float, new: float) -> str:
    """Return two fractions, such as ``11.0% → 21.1%``."""
    return points((base, 1), (new, 1))


def points(base: tuple[float, float], new: tuple[float, float]) -> str:
    """Return (part, whole) of both sides as shares, such as ``11.0% → 21.1%``."""
    text = f"{units.percent(*base)} → {units.percent(*new)}"
    before, after = (part / whole if whole else 0.0 for part, whole in (base, new))
    return numeral(text, "pair", after, before, "%")


def percent(part: float, whole: float = 1, *, signed: bool = False) -> str:
    """Return a part of a whole, such as ``21.1%``."""
    text = units.percent(part, whole, signed=signed)
    return numeral(text, "share", part / whole if whole else 0.0)


def times(ratio: float) -> str:
    """Return new ÷ base, such as ``1.73×``."""
    return numeral(units.times(ratio), "ratio", ratio)


def times_the(ratio: float, noun: str) -> str:
    """Return new ÷ base of a cost: ``1.73× the CPU``, ``1/230 of the CPU``."""
    return numeral(units.times_the(ratio, noun), "ratio", ratio)


def factor(ratio: float, noun: str) -> str:
    """Return a ratio as ``4.04× the CPU``, ``12% less CPU`` or ``12% fewer bytes``."""
    if round(ratio, 2) >= _DOUBLE:
        return times_the(ratio, noun)
    change = units.percent(abs(ratio - 1), 1)
    if change == "100%" and ratio:
        # Next to nothing is left, which is not none.
        change = "over 99.9%"
    elif 10 <= float(change.strip("<%")) < 99:
        change = f"{abs(ratio - 1):.0%}"
    word = "more" if ratio > 1 else "fewer" if noun.endswith("s") else "less"
    return numeral(f"{change} {word} {noun}", "ratio", ratio)


def amount(value: float, unit: str, *, signed: bool = False) -> str:
    """Return one value in a scale that fits, such as ``164 MiB``."""
    text = units.scaled(value, unit, signed=signed)
    return numeral(text, "amount", value, unit=unit)


def count(number: float) -> str:
    """Return a count, such as ``1,200``."""
    return numeral(f"{number:,}", "amount", number)


def listed_functions(names: Sequence[str]) -> str:
    """Return functions as one list in which no two read the same, see `short`."""
    return listed(distinct_names(names))


def also_in_units(names: Sequence[str]) -> str:
    """Return a sentence, after a space, on the other units of a cause; "" for none."""
    if not names:
        return ""
    return f" Also in {listed([*names[:NAMED], *others(len(names) - NAMED)])}."


def others(rest: int) -> list[str]:
    """Return the last of a list for as many more: ``2 others``, nothing for none."""
    return [f"{rest} other{'s' if rest > 1 else ''}"] if rest > 0 else []


def first_functions(names: Sequence[str]) -> str:
    """Return the first functions as a list, and how many others there are."""
    return listed([*distinct_names(names[:NAMED]), *others(len(names) - NAMED)])


def joined(sentences: Sequence[str]) -> str:
    """Return sentences as one text, each with a full stop."""
    return " ".join(f"{sentence}." for sentence in sentences)


def listed(words: Sequence[str]) -> str:
    """Return words as one list, such as ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
