"""Listings: the source of functions in both builds, with the cost of each line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.sources import own_movement
from pprofdiff.analysis.lines.costs import side_lines
from pprofdiff.analysis.lines.listing import (
    BothSides,
    Listing,
    ListingLine,
    Why,
    listing,
    places_of,
)
from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.readable import short, short_before
from pprofdiff.report.rows import Code, CodeLine, Heading, Part, Tone
from pprofdiff.units import label, scale

if TYPE_CHECKING:
    from pprofdiff.analysis.profiles.diff import ProfileDiff
    from pprofdiff.model.source import Sources
    from pprofdiff.report.model import ReportModel

# Unchanged lines shown on each side of one that changed, and of one with a cost.
_AROUND_CHANGE, _AROUND_COST = 2, 1
_TAB = 4
_HEADINGS = ("base", "new", "Δ") * 2
_MOST = 10
_HOW = (
    "--git BASE..NEW reads both builds' source from the repository, "
    "--source BASEDIR:NEWDIR from folders."
)
_WHY: dict[Why, str] = {
    "missing": "The source{of} was not found",
    "mismatch": "The source found{of} is not what was profiled",
    "today": "The source is today's, for both builds",
}
_TONES: dict[str, Tone] = {"": "", "-": "better", "+": "worse"}

# Writes raw values of base and new, and their delta.
Written = Callable[[int, int], tuple[str, str, str]]


def listed(report: ReportModel, pattern: str, sources: Sources) -> Iterator[Part]:
    """Yield the listings of all functions that match, in the profile's values.

    They are from the first comparison with such a function, those that changed most
    first. Raises UsageError if nothing matches or the pattern is invalid.
    """
    matches = matcher(pattern, "list")
    if not report.profiles:
        raise UsageError("--list needs profiles, and there are none to compare")
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
    factor = _factor(diff)
    written, sums = _raw(diff, factor, _unit(diff, found)), _raw(diff, factor, "auto")
    yield Heading(
        f"{' → '.join(report.labels)}   {diff.title}: "
        f"{' → '.join(sums(*diff.totals)[:2])} in all"
    )
    found.sort(
        key=lambda one: (
            -abs(one.costs.new_cum * factor - one.costs.base_cum),
            one.places.name,
        )
    )
    how = "." if sources.given else f": {_HOW}"
    for one in found:
        yield _code(one, written, sums, how)


def most_moved(
    diff: ProfileDiff, sources: Sources, first: Sequence[str] = ()
) -> Iterator[Code]:
    """Yield the listings of at most ten functions whose own cost changed most.

    A function's own cost includes the libraries that it calls if samples are
    attributed. Functions in `first` come first, ones without source are left out.
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
        written = _scaled(diff)
        yield _code(found, written, written)
        if shown == _MOST:
            return


def _scaled(diff: ProfileDiff) -> Written:
    scaled, by = scale_of(diff), diff.normalization

    def written(base: int, new: int) -> tuple[str, str, str]:
        old, now = by.scaled(base, new)
        delta = scaled.number(by.delta(base, new), signed=True)
        return scaled.number(old), scaled.number(now), delta

    return written


def _factor(diff: ProfileDiff) -> float:
    """Return the factor that -normalize applies to new, to match base's total."""
    by = diff.normalization
    return by.new_factor / by.base_factor if by.mode == "share" else 1.0


def _unit(diff: ProfileDiff, found: Sequence[Listing]) -> str:
    """Return the unit for all lines, chosen by the smallest value as in pprof."""
    costs = (value for one in found for line in one.lines for value in line.costs)
    values = [abs(value) for value in costs if value]
    least, most = min(values, default=0), max(values, default=0)
    far = 100 if least * 100 < most else 1
    return scale(least * far, diff.unit, "minimum")[1] or diff.unit


def _raw(diff: ProfileDiff, factor: float, unit: str) -> Written:
    def written(base: int, new: int) -> tuple[str, str, str]:
        now = new if factor == 1 else round(new * factor)
        delta = now - base
        texts = [label(value, diff.unit, unit) for value in (base, now, delta)]
        return texts[0], texts[1], f"+{texts[2]}" if delta > 0 else texts[2]

    return written


def _code(found: Listing, written: Written, sums: Written, how: str = ".") -> Code:
    """Return a listing as it is drawn; unchanged lines without a cost are folded.

    `written` writes the costs of lines, `sums` the function's costs. `how` ends the
    sentence that says why source is missing or is not what was built.
    """
    rows = [_row(line, written) for line in found.lines]
    kept = _kept(found.lines)
    columns = zip(_HEADINGS, *(cells for cells, _ in rows), strict=True)
    widths = [max(map(len, column)) for column in columns]
    half = sum(widths[:3]) + 2
    lines = [
        CodeLine(f"{'flat':>{half}}  {'cum':>{sum(widths[3:]) + 2}}"),
        CodeLine(_joined(_HEADINGS, widths)),
    ]
    skipped = 0
    for (cells, source), line, keep in zip(rows, found.lines, kept, strict=True):
        if not keep:
            skipped += 1
            continue
        if skipped:
            lines.append(_fold(skipped, sum(widths) + 6))
            skipped = 0
        text = f"{_joined(cells, widths)}  {source}"
        lines.append(CodeLine(text.rstrip(), _TONES[line.mark]))
    if skipped:
        lines.append(_fold(skipped, sum(widths) + 6))
    notes = (f"{_why(found)}{how}",) if found.why else ()
    return Code(found.places.name, _title(found, sums), tuple(lines), notes)


def _why(found: Listing) -> str:
    """Return why source is missing, and for which build if the other has it."""
    lacking = [side.extent is None for side in found.places.sides]
    whose = ""
    if any(lacking) and not all(lacking):
        whose = " for base" if lacking[0] else " for new"
    return _WHY[found.why].format(of=whose)


def _row(line: ListingLine, written: Written) -> tuple[tuple[str, ...], str]:
    """Return the costs of a line, and its numbers, mark and source."""
    costs = line.costs
    cells = (
        *_dotted(costs.base_flat, costs.new_flat, written),
        *_dotted(costs.base_cum, costs.new_cum, written),
    )
    numbers = ["" if at is None else str(at) for at in (line.base, line.new)]
    text = (line.text or "").expandtabs(_TAB)
    return cells, f"{numbers[0]:>5} {numbers[1]:>5} {line.mark or ' '} {text}"


def _dotted(base: int, new: int, written: Written) -> tuple[str, ...]:
    texts = written(base, new)
    values = base, new, base or new
    return tuple(t if v else "." for t, v in zip(texts, values, strict=True))


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    words = [f"{text:>{width}}" for text, width in zip(cells, widths, strict=True)]
    return f"{' '.join(words[:3])}  {' '.join(words[3:])}"


def _fold(count: int, indent: int) -> CodeLine:
    lines = "line" if count == 1 else "lines"
    return CodeLine(f"{'':{indent}}      ⋮ {count} {lines}", "faint")


def _kept(lines: Sequence[ListingLine]) -> list[bool]:
    """Return which lines are shown: the first, what changed or costs, and around it."""
    kept = [i == 0 or line.text is None for i, line in enumerate(lines)]
    for i, line in enumerate(lines):
        around = -1
        if line.mark:
            around = _AROUND_CHANGE
        elif any(line.costs):
            around = _AROUND_COST
        for near in range(max(i - around, 0), min(i + around + 1, len(lines))):
            kept[near] = True
    # A fold of one line is as long as the line.
    for i in range(1, len(kept) - 1):
        kept[i] = kept[i] or (kept[i - 1] and kept[i + 1])
    return kept


def _title(found: Listing, sums: Written) -> str:
    places, costs = found.places, found.costs
    name = short(places.name)
    where = places.path
    if places.base and places.new:
        old = places.base
        was = old.lines.function
        if was != places.name and (before := short_before(was, places.name)):
            name += f" (was {before})"
        if old.path != where:
            where += f" (was {old.path})"
    elif places.absent:
        where += f", {'only in new' if places.new else 'only in base'}"
    flat = " → ".join(sums(costs.base_flat, costs.new_flat)[:2])
    cum = " → ".join(sums(costs.base_cum, costs.new_cum)[:2])
    return f"{name} in {where}: flat {flat}, cum {cum}"
