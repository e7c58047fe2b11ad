"""What the source says about a finding, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.finding import OF_CPU, Finding
from pprofdiff.analysis.causes.wording import listed, listed_functions
from pprofdiff.analysis.policy import GOOD_PART, LITTLE, MINOR, MUCH
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import line_words
from pprofdiff.goruntime.names import package_of, strip_type_arguments
from pprofdiff.goruntime.readable import short
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Row,
    Sentence,
    SourceNote,
    Table,
    name_column,
    prefix_of,
)
from pprofdiff.report.sections.named import function_cells
from pprofdiff.report.sections.profiles.cells import compared, compared_columns
from pprofdiff.units import first_few

if TYPE_CHECKING:
    from pprofdiff.analysis.source.model import (
        ChangedLines,
        RelatedLines,
        SourceOfFinding,
    )

# Maximum commits of one place; if more made it, the newest are shown.
_COMMITS = 3
# Maximum new functions listed with the lines that call them.
_NEW = 2
# Maximum other places listed of a function.
_PLACES = 3


def changed_parts(report: ReportModel) -> Iterator[Table | Sentence]:
    """Yield changed lines with the most effect, and functions that changed without any.

    What findings name is not repeated, but for new functions that causes name without
    their cost.
    """
    found = [f for f in report.findings.found if f.source is not None]
    named = {lines.place for finding in found for lines in _named(finding)}
    rest = [lines for lines in report.changed if lines.place not in named]
    # Of several benchmarks, causes have the lines with the cost in one of them.
    if rest and report.comparison.alone is None:
        yield _changed_table(report, rest, other=len(rest) < len(report.changed))
    said = {name for f in found if f.source for name in f.source.unchanged}
    unchanged = [name for name in report.unchanged if name not in said]
    # Per op, work outside the timer costs less the more iterations a side runs.
    outside = any(caveat.id == "outside-timer" for caveat in report.warnings)
    if unchanged and not outside and report.comparison.split is None:
        names = listed_functions(unchanged)
        yield Sentence(f"Cost changed, source did not: {names}.")


def changed_in_short(report: ReportModel) -> Iterator[Table | Sentence]:
    """Yield `changed_parts` but of measured benchmarks, whose causes name all lines."""
    if not report.comparison.measured:
        yield from changed_parts(report)


def _named(finding: Finding) -> Iterator[ChangedLines]:
    if finding.source is not None:
        yield from finding.source.lines
        for lines in finding.source.near:
            if finding.severity == "info" or not lines.added:
                yield lines


def _changed_table(
    report: ReportModel, changed: Sequence[ChangedLines], *, other: bool
) -> Table:
    """Return a table of changed lines; `other` if findings already name some."""
    diff = report.profiles[0]
    functions = function_cells([lines.function for lines in changed])
    rows = []
    for lines, function in zip(changed, functions, strict=True):
        cells = (
            *compared(diff, lines.base, lines.new, noise=False),
            Cell(f"{prefix_of(lines)}{lines.place}"),
            function,
            Cell(", ".join(c.short for c in lines.commits[:_COMMITS])),
        )
        rows.append(Row(lines.place, "changed_lines", cells))
    columns = (
        *compared_columns(diff, report.labels),
        name_column("changed lines"),
        Column("function", "text", "<"),
        Column("commit", "text", "<"),
    )
    return Table(
        "changed_lines",
        columns,
        tuple(rows),
        title=f"{'Other changed' if other else 'Changed'} lines (cum)",
        code=True,
        one_unit=True,
    )


def source_notes(report: ReportModel, finding: Finding) -> Iterator[SourceNote]:
    """Yield a sentence for each place that changed, and one on what did not change."""
    source = finding.source
    if source is None:
        return
    carrying = {one.function for one in source.lines}
    added = _added(source, finding)
    with_new = _with(added, source.own[0]) if added else ""
    # Short reports have the first note alone.
    with_new, related = _with_related(source, with_new)
    source = source._replace(related=related)
    profiles = report.profiles_of(finding)
    for i, lines in enumerate(source.lines):
        diff = profiles[source.diff]
        amount = ""
        # A function of one side has its cost in the title.
        whole = lines.added or lines.dropped
        shown = not (whole and lines.function in finding.functions)
        shown &= not _exceeds(diff, lines) and not _is_of_more(diff, finding, lines)
        shown &= _carries(diff, finding, lines)
        # Other lines of a caller are no reason for what a function allocates.
        own = finding.site is None or lines.function in finding.functions
        others = [n for n in source.near if n.function == lines.function]
        # They are not shown, so neither is what all of them cost together.
        shown &= own or lines.alone or not others
        if (lines.base or lines.new) and shown:
            amount = line_words(diff, lines.base, lines.new)
        kept = lines._replace(commits=lines.commits[:_COMMITS])
        before, now = diff.normalization.scaled(lines.base, lines.new)
        if not lines.gone and (finding.direction == "better" or before > MUCH * now):
            # What they cost now is no part of what was saved, or of what is added.
            kept = kept._replace(most="")
        near_it: list[ChangedLines] = []
        with_base = False
        if own and lines.function not in {one.function for one in source.lines[:i]}:
            near_it = others
            with_base = finding.direction == "better"
        yield SourceNote(
            _others(near_it, lines, before=with_base),
            _lead(lines),
            kept,
            amount=amount,
            several=bool(near_it),
            added=with_new,
        )
        with_new = ""
    near = [n for n in source.near if n.function not in carrying and n not in added]
    kept_of = {n.function for n in near if not n.gone}
    gone = [n for n in near if n.gone and n.function in kept_of]
    for lines, more in _by_function([n for n in near if n not in gone]):
        removed = _others([n for n in gone if n.function == lines.function], lines)
        yield SourceNote(removed, _lead(lines), lines, more, added=with_new)
        with_new = ""
    yield from _related(source.related)
    yield from _only(source.only, finding)
    if source.unchanged and (source.lines or source.near):
        named = listed_functions(source.unchanged)
        yield SourceNote(f"No line of {named} itself changed.")


def _exceeds(diff: ProfileDiff, lines: ChangedLines) -> bool:
    """Return whether lines cost more than their function: generic instances share."""
    functions = diff.paired_functions
    if strip_type_arguments(lines.function) == lines.function:
        return False
    rows = [i for i, name in enumerate(functions.names) if name == lines.function]
    base, new = (int(side[rows].sum()) for side in functions.raw("cum"))
    return lines.base > base or lines.new > new


def _carries(diff: ProfileDiff, finding: Finding, lines: ChangedLines) -> bool:
    """Return whether lines have a good part of the change that a finding is about.

    Others change what the rest of the function costs. Those with more than that are of
    more than the finding: they call what it does not count.
    """
    fact = finding.evidence[0] if finding.evidence else None
    if fact is None or fact.base is None or fact.new is None:
        return True
    part = diff.normalization.delta(lines.base, lines.new)
    if finding.site is not None:
        whole = fact.new - fact.base
        in_bytes = diff.sample_type.type == "alloc_space"
        return in_bytes and part * whole >= GOOD_PART * whole**2
    if fact.source != OF_CPU or not diff.is_cpu:
        return True
    whole = diff.normalization.delta(int(fact.base), int(fact.new))
    most = (1 + LITTLE) * whole**2
    return bool(GOOD_PART * whole**2 <= part * whole <= most)


def _is_of_more(diff: ProfileDiff, finding: Finding, lines: ChangedLines) -> bool:
    """Return whether lines have more than the site that a finding is about.

    They call others as well, or set up what operations share: that is no part of it.
    """
    fact = finding.site
    if fact is None or fact.base is None or fact.new is None:
        return False
    own = diff.normalization.scaled(lines.base, lines.new)
    whole = fact.base, fact.new
    more = abs(own[1] - own[0]) > (1 + MINOR) * abs(fact.new - fact.base)
    return more or any(
        float(f"{part:.3g}") > float(f"{all_:.3g}")
        for part, all_ in zip(own, whole, strict=True)
    )


def _related(related: Sequence[RelatedLines]) -> Iterator[SourceNote]:
    """Yield changes in functions that call unchanged ones or are called by them."""
    found: dict[tuple[str, bool], list[RelatedLines]] = {}
    for one in related:
        named = short(one.function)
        by = f" through {short(one.through)}" if one.through else ""
        by = " indirectly" if one.far else by
        calls = "called" if one.ended else "calls"
        how = f"which {calls} {named}{by}" if one.calls else f"which {named} calls{by}"
        how = f"which {named} {one.handles}" if one.handles else how
        found.setdefault((how, one.before), []).append(one)
    for (how, before), several in found.items():
        for lines, more in _by_function([one.lines for one in several]):
            lead = _lead(lines, " before the call" if before else "")
            yield SourceNote(f", {how}", lead, lines, more)


def _placed(changed: Sequence[ChangedLines], path: str) -> str:
    """Return types or functions with their lines, whose file is not repeated."""
    named = [
        f"{short(one.function)} "
        f"({one.numbers if one.path == path else one.place}{more})"
        for one, more in _by_function(changed)
    ]
    return listed(named)


def _only(only: Sequence[ChangedLines], finding: Finding) -> Iterator[SourceNote]:
    """Yield everything that differs in the functions of a package."""
    packages: dict[str, list[ChangedLines]] = {}
    for lines in only:
        packages.setdefault(package_of(lines.function), []).append(lines)
    for package, own in packages.items():
        (first, more), *others = _by_function(own)
        many = len({lines.function for lines in own})
        which = "Only function" if many == 1 else f"{many} functions"
        if len(finding.functions) == 1:
            which = f"Its code is unchanged; {which[0].lower()}{which[1:]}"
        verb = first.verb if first.added and many == 1 else "changed"
        where = f"package {package.rpartition('/')[2]}, tests aside"
        lead = f"{which} {verb} in {where}: {'removed ' if first.gone else ''}"
        rest = [
            f"{'removed ' if one.gone else ''}{one.place}{numbers} in "
            f"{short(one.function)}"
            for one, numbers in others
        ]
        yield SourceNote("".join(f"; {one}" for one in rest), lead, first, more)


def _lead(lines: ChangedLines, when: str = "") -> str:
    return f"{lines.verb.capitalize()}{when}: "


def _added(source: SourceOfFinding, finding: Finding) -> list[ChangedLines]:
    """Return new functions to list with the first changed lines, which call them."""
    first = source.own[:1]
    if not first or first[0].added or first[0].gone:
        return []
    if finding.site is not None and first[0].function not in finding.functions:
        return []
    commits = set(first[0].commits)
    new = [
        one
        for one in source.near
        if one.added
        and set(one.commits) <= commits
        and one.caller in ("", first[0].function)
    ]
    return new[:_NEW]


def _with(added: Sequence[ChangedLines], first: ChangedLines) -> str:
    """Return new functions' lines, after the `first` lines, of their caller.

    Methods of another type have it before their names.
    """
    names = [strip_type_arguments(one.function) for one in (first, *added)]
    receiver = names[0].rpartition(".")[0]
    named = []
    for one, name in zip(added, names[1:], strict=True):
        of, _, alone = name.rpartition(".")
        place = one.numbers if one.path == first.path else one.place
        named.append(f"{alone if of == receiver else short(name)} ({place})")
    return f", with the new {listed(named)}"


def _with_related(
    source: SourceOfFinding, with_new: str
) -> tuple[str, tuple[RelatedLines, ...]]:
    """Add changed types and callers to what is said with changed lines of a function.

    Returns it with the related lines that it does not name.
    """
    (first, *_) = (*source.own, None)
    if first is None:
        return with_new, source.related
    types = [
        one.lines
        for one in source.related
        if one.handles == "uses" and not source.lines
    ]
    if types:
        with_new += f", and the type {_placed(types, first.path)}"
    callers = [one.lines for one in source.related if one.calls and not one.handles]
    if callers:
        many = len({one.function for one in callers}) > 1
        word = "callers" if many else "caller"
        with_new += f", and its {word} {_placed(callers, first.path)}"
    said = {one.place for one in (*types, *callers)}
    rest = (one for one in source.related if one.lines.place not in said)
    return with_new, tuple(rest)


def _others(
    changed: Sequence[ChangedLines], carrying: ChangedLines, *, before: bool = False
) -> str:
    """Return a function's other changed lines; removed ones are numbered as in base.

    With `before`, also what they all were in base, whose cost is saved.
    """
    every = sorted((carrying, *changed), key=lambda lines: lines.start)
    was = [one.was for one in every if one.was]
    # The lines that cost something are those of base, which removed ones are too.
    of_base = before and was != [one.numbers for one in every]
    removed = [one for one in every if of_base and one.gone and not carrying.gone]
    was = sorted(
        (*was, *(one.numbers for one in removed)),
        key=lambda numbers: int(numbers.partition("-")[0]),
    )
    found = []
    # Those of the same side come first, so that "also" is next to what it adds to.
    several = sorted(
        (one for one in changed if one not in removed),
        key=lambda lines: lines.gone != carrying.gone,
    )
    for lines, more in _by_function(several):
        numbers = f"{lines.numbers}{more}"
        if lines.gone == carrying.gone:
            found.append(f"also {numbers}")
        elif lines.gone:
            found.append(f"base's {numbers} removed")
        else:
            found.append(f"changed in new: {numbers}")
    if of_base and was:
        found.append(f"in base {_few(was)}")
    return f" ({'; '.join(found)})" if found else ""


def _few(numbers: Sequence[str]) -> str:
    """Return numbers of lines; of many the first ones, and how many more there are."""
    return first_few(
        numbers, max(_PLACES, len(numbers) * (len(numbers) == _PLACES + 1))
    )


def _by_function(changed: Sequence[ChangedLines]) -> Iterator[tuple[ChangedLines, str]]:
    """Yield each function's first changed lines of a side, and its others' numbers."""
    found: dict[tuple[str, str, bool], list[ChangedLines]] = {}
    for lines in changed:
        key = lines.function, lines.path, lines.gone
        found.setdefault(key, []).append(lines)
    for own in found.values():
        first, *others = sorted(own, key=lambda lines: lines.start)
        commits = tuple(dict.fromkeys(c for lines in own for c in lines.commits))
        more = _few([lines.numbers for lines in others])
        yield first._replace(commits=commits[:_COMMITS]), more and f", {more}"
