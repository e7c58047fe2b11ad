"""Listings: the source of functions in both builds, with what each line costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.source.carrying import own_movement
from pprofdiff.analysis.source.lines import side_lines
from pprofdiff.analysis.source.listing import (
    BothSides,
    Costs,
    Listing,
    ListingLine,
    Why,
    listing,
    places_of,
)
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.names import shown
from pprofdiff.report.rows import Code, CodeLine, Heading, Part, Tone
from pprofdiff.units import label, scale

if TYPE_CHECKING:
    from pprofdiff.analysis.profiles.diff import ProfileDiff
    from pprofdiff.model.source import Sources
    from pprofdiff.report.model import ReportModel

__all__ = ["listed", "most_moved"]

# Unchanged lines that are shown on each side of one that changed, or that costs.
_AROUND_CHANGE, _AROUND_COST = 2, 1
_TAB = 4
_MOST = 10
_HOW = (
    "--git BASE..NEW reads both builds' source from the repository, "
    "--source BASEDIR:NEWDIR from folders."
)
_WHY: dict[Why, str] = {
    "missing": "The source{of} is not found",
    "mismatch": "The source found{of} is not that of the profile",
    "today": "The source is that of today, for both builds",
}
_TONES: dict[str, Tone] = {"": "", "-": "better", "+": "worse"}

# How raw values of base and new, and their delta, are written.
Written = Callable[[int, int], tuple[str, str, str]]


def listed(report: ReportModel, pattern: str, sources: Sources) -> Iterator[Part]:
    """Yield the listings of all functions that match, in the values of the profile.

    They are of the first comparison that has such a function; those that moved most
    come first. Raises UsageError where none matches, or the pattern is none.
    """
    matches = matcher(pattern, "list")
    if not report.profiles:
        raise UsageError("--list is of profiles, and there is none to compare")
    for diff in report.profiles:
        both = BothSides(diff, (side_lines(diff, 0), side_lines(diff, 1)))
        found = [
            listing(sources, places_of(sources, old, now))
            for _, base, new in both.pairs()
            if any(map(matches, (*base, *new)))
            for old, now in both.parts(base, new)
        ]
        if found:
            break
    else:
        raise UsageError(f"no matches found for regexp: {pattern}")
    written = _raw(diff, found)
    yield Heading(
        f"{' → '.join(report.labels)}   {diff.title}: "
        f"{' → '.join(label(total, diff.unit) for total in diff.totals)} in all"
    )
    found.sort(key=lambda one: (-_moved(diff, one.costs), one.places.name))
    for one in found:
        yield code_of(one, written, "." if sources.given else f": {_HOW}")


def most_moved(
    diff: ProfileDiff, sources: Sources, first: Sequence[str] = ()
) -> Iterator[Code]:
    """Yield the listings of the functions whose own cost moved most, ten at most.

    Values are scaled as those of the report. A function's own cost is what is spent in
    it and in the libraries that it calls, where samples are attributed; else its flat.
    Those of `first` come first. Functions without source are left out.
    """
    both = BothSides(diff, (side_lines(diff, 0), side_lines(diff, 1)))
    names = diff.paired_functions.names
    moved = own_movement(diff)
    pairs = {row: (base, new) for row, base, new in both.pairs()}
    wanted = set(first)
    ranked = sorted(
        (row for row in pairs if moved[row] or names[row] in wanted),
        key=lambda row: (names[row] not in wanted, -abs(float(moved[row])), names[row]),
    )
    shown = 0
    for row in ranked:
        parts = list(both.parts(*pairs[row]))
        found = listing(sources, places_of(sources, *parts[0]))
        if found.why:
            continue
        shown += 1
        yield code_of(found, _scaled(diff))
        if shown == _MOST:
            return


def _scaled(diff: ProfileDiff) -> Written:
    """Return what writes values in the scale of the report."""
    scaled, by = scale_of(diff), diff.normalization

    def written(base: int, new: int) -> tuple[str, str, str]:
        old, now = by.scaled(base, new)
        delta = scaled.number(by.delta(base, new), signed=True)
        return scaled.number(old), scaled.number(now), delta

    return written


def _moved(diff: ProfileDiff, costs: Costs) -> float:
    """Return how far a function's values moved."""
    return abs(diff.normalization.delta(costs.base_cum, costs.new_cum))


def _raw(diff: ProfileDiff, found: Sequence[Listing]) -> Written:
    """Return what writes raw values as pprof does, in the unit of the smallest.

    With ``-normalize``, new is scaled to the total of base.
    """
    factor = 1.0
    if diff.normalization.mode == "share":
        factor = diff.normalization.new_factor / diff.normalization.base_factor
    values = [
        abs(value)
        for one in found
        for line in one.lines
        for value in line.costs
        if value
    ]
    least, most = min(values, default=0), max(values, default=0)
    unit = scale(least, diff.unit, "minimum")[1]
    if least * 100 < most:
        unit = scale(100 * least, diff.unit, "minimum")[1]
    unit = unit or diff.unit

    def written(base: int, new: int) -> tuple[str, str, str]:
        now = round(new * factor)
        delta = now - base
        texts = [label(value, diff.unit, unit) for value in (base, now, delta)]
        return texts[0], texts[1], f"+{texts[2]}" if delta > 0 else texts[2]

    return written


def code_of(found: Listing, written: Written, how: str = ".") -> Code:
    """Return a listing as it is drawn; unchanged lines without a cost are folded.

    `how` ends the sentence that says why there is no text, or not the one built.
    """
    rows = [_row(line, written) for line in found.lines]
    kept = _kept(found.lines)
    widths = (
        [max(4, *(len(row.cells[i]) for row in rows), 0) for i in range(6)]
        if rows
        else [4] * 6
    )
    sides = [
        f"{text:>{w}}" for text, w in zip(("base", "new", "Δ") * 2, widths, strict=True)
    ]
    half = sum(widths[:3]) + 2
    lines = [
        CodeLine(f"{'flat':>{half}}  {'cum':>{sum(widths[3:]) + 2}}"),
        CodeLine(_joined(sides)),
    ]
    skipped = 0
    for row, line, keep in zip(rows, found.lines, kept, strict=True):
        if not keep:
            skipped += 1
            continue
        if skipped:
            lines.append(_fold(skipped, sum(widths) + 6))
            skipped = 0
        cells = [f"{text:>{w}}" for text, w in zip(row.cells, widths, strict=True)]
        lines.append(
            CodeLine(
                f"{_joined(cells)}  {row.at}{row.text}".rstrip(), _TONES[line.mark]
            )
        )
    if skipped:
        lines.append(_fold(skipped, sum(widths) + 6))
    notes = (f"{_why(found)}{how}",) if found.why else ()
    return Code(found.places.name, _title(found, written), tuple(lines), notes)


def _why(found: Listing) -> str:
    """Return why a text is missing, and whose, where it is that of one build."""
    lacking = [side.extent is None for side in found.places.sides]
    whose = ""
    if any(lacking) and not all(lacking):
        whose = " for base" if lacking[0] else " for new"
    return _WHY[found.why].format(of=whose)


class _Row(NamedTuple):
    cells: tuple[str, ...]
    at: str
    text: str


def _row(line: ListingLine, written: Written) -> _Row:
    costs = line.costs
    cells = (
        *_dotted(costs.base_flat, costs.new_flat, written),
        *_dotted(costs.base_cum, costs.new_cum, written),
    )
    numbers = ["" if at is None else str(at) for at in (line.base, line.new)]
    at = f"{numbers[0]:>5} {numbers[1]:>5} {line.mark or ' '} "
    return _Row(cells, at, (line.text or "").expandtabs(_TAB))


def _dotted(base: int, new: int, written: Written) -> tuple[str, ...]:
    """Return base, new and delta, a dot for nothing."""
    texts = written(base, new)
    values = base, new, base or new
    return tuple(t if v else "." for t, v in zip(texts, values, strict=True))


def _joined(cells: Sequence[str]) -> str:
    return f"{' '.join(cells[:3])}  {' '.join(cells[3:])}"


def _fold(count: int, indent: int) -> CodeLine:
    lines = "line" if count == 1 else "lines"
    return CodeLine(f"{'':{indent}}      ⋮ {count} {lines}", "faint")


def _kept(lines: Sequence[ListingLine]) -> list[bool]:
    """Return which lines are shown: the first, what changed or costs, and around it."""
    kept = [False] * len(lines)
    for i, line in enumerate(lines):
        around = -1
        if line.mark:
            around = _AROUND_CHANGE
        elif any(line.costs):
            around = _AROUND_COST
        for near in range(max(i - around, 0), min(i + around + 1, len(lines))):
            kept[near] = True
    kept[:1] = [True] * len(kept[:1])
    for i, line in enumerate(lines):
        kept[i] = kept[i] or line.text is None
    # A fold of one line is as long as the line.
    for i in range(1, len(kept) - 1):
        kept[i] = kept[i] or (kept[i - 1] and kept[i + 1])
    return kept


def _title(found: Listing, written: Written) -> str:
    """Return the function, where it is, and what it costs in all."""
    places, costs = found.places, found.costs
    name = shown(places.name)
    where = places.path
    if places.base and places.new:
        old = places.base
        if old.lines.function != places.new.lines.function:
            name += f" (was {shown(old.lines.function)})"
        if old.path != where:
            where += f" (was {old.path})"
    elif places.absent:
        where += f", {'only in new' if places.new else 'only in base'}"
    flat = " → ".join(written(costs.base_flat, costs.new_flat)[:2])
    cum = " → ".join(written(costs.base_cum, costs.new_cum)[:2])
    return f"{name} in {where}: flat {flat}, cum {cum}"
