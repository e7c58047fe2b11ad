"""Which changed lines carry the cost that a finding is about.

A sample belongs to the changed line nearest the leaf of its stack: code called from
there did not change, and changes in its callers did not change its cost. Lines are
reported if their samples changed significantly by the finding's noise model, in the
finding's direction, and by a part of it that matters; with their cum over all samples,
as ``pprof -list`` has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import dirname
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Fact, Finding, Findings, with_spans
from pprofdiff.analysis.causes.wording import (
    alike,
    count,
    listed,
    listed_functions,
    read,
    words,
)
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.lines.costs import FunctionLines, on_stacks, side_lines
from pprofdiff.analysis.lines.listing import BothSides, Located, Places, places_of
from pprofdiff.analysis.policy import NAMED, SEVERAL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.source.code import code_changes, says_more
from pprofdiff.analysis.source.extents import differences, hunks_within
from pprofdiff.analysis.source.mentioned import Callees, Differing
from pprofdiff.analysis.source.model import (
    ChangedLines,
    RelatedLines,
    SourceOfFinding,
)
from pprofdiff.goruntime.names import (
    is_made_up,
    is_standard_library,
    package_of,
    versioned_folder,
)
from pprofdiff.model.csr import first_in_row, sums
from pprofdiff.model.source import Commit, Hunk, SourceFile, Sources, SourceText

Column = NDArray[np.int64]

# A function with less of both sides' totals has too few samples to judge its lines.
_LEAST = 0.005
# Lines are reported from this part of the finding's change.
_PART = 0.1
_RELATED = 2
_LISTED = 5


class _Changed(NamedTuple):
    """A hunk in a function, which is a row of the union of functions."""

    row: int
    places: Places
    hunk: Hunk


@dataclass(frozen=True, eq=False)
class _Carriers:
    """The changed lines of one comparison, and the samples that belong to each.

    Functions with less than `least` of the totals on both sides are left out.
    """

    diff: ProfileDiff
    sources: Sources
    least: float = _LEAST

    @cached_property
    def both(self) -> BothSides:
        """The lines of both sides."""
        return BothSides(
            self.diff, (side_lines(self.diff, 0), side_lines(self.diff, 1))
        )

    @cached_property
    def _checked(self) -> tuple[tuple[_Changed, ...], frozenset[int]]:
        """The hunks of all functions, and the functions whose text is the built one."""
        changed: list[_Changed] = []
        known = set[int]()
        for row, places in self.looked_up:
            hunks = self._hunks(places)
            if hunks is not None:
                known.add(row)
                changed += (_Changed(row, places, hunk) for hunk in hunks)
        return tuple(changed), frozenset(known)

    @cached_property
    def looked_up(self) -> tuple[tuple[int, Places], ...]:
        """The functions with enough samples, by row of the union."""
        return tuple(
            (row, places_of(self.sources, old, now))
            for row, base, new in self.both.pairs()
            for old, now in self.both.parts(base, new)
            if self._large(old, now)
        )

    @property
    def places(self) -> tuple[Places, ...]:
        """The places of the functions with enough samples."""
        return tuple(places for _, places in self.looked_up)

    def _large(self, old: FunctionLines | None, now: FunctionLines | None) -> bool:
        """Return whether a function has enough samples to judge its lines."""
        pairs = zip((old, now), self.diff.totals, strict=True)
        return any(
            lines is not None and lines.size >= self.least * abs(total)
            for lines, total in pairs
        )

    def _hunks(self, places: Places) -> list[Hunk] | None:
        """Return a function's hunks, or None if its texts are not certain.

        Go's own source may be of another release, and the working directory has one
        text for both builds.
        """
        sides = places.sides
        if not all(side.certain for side in sides):
            return None
        base, new = places.base, places.new
        if base is None or new is None:
            extent = sides[0].extent
            if extent is None or not places.absent:
                return None
            whole = extent.start, extent.end - extent.start + 1
            return [Hunk(0, 0, *whole) if base is None else Hunk(*whole, 0, 0)]
        if base.text is None or new.text is None or not base.extent or not new.extent:
            return None
        texts = base.text, new.text
        hunks = hunks_within(
            self.sources, (texts[0], base.extent), (texts[1], new.extent)
        )
        return code_changes(hunks, *texts)

    @property
    def changed(self) -> tuple[_Changed, ...]:
        """The hunks of all functions."""
        return self._checked[0]

    @property
    def known(self) -> frozenset[int]:
        """The functions whose text is that of the profile on both sides."""
        return self._checked[1]

    @cached_property
    def innermost(self) -> tuple[Column, Column]:
        """The hunk nearest the leaf of each sample, -1 for none, as (base, new)."""
        return self._innermost(0), self._innermost(1)

    def _innermost(self, side: int) -> Column:
        lines = self.both.sides[side]
        hunk_of_row = np.full(lines.rows, -1, np.int64)
        for i in range(len(self.changed)):
            hunk_of_row[self._rows_of(i, side)] = i
        profile = (self.diff.base, self.diff.new)[side].profile
        nearest = np.full(len(profile), -1, np.int64)
        if (hunk_of_row >= 0).any():
            of_line = hunk_of_row[lines.ids]
            for start, stop, frames in walk(profile):
                hunks = of_line[frames.line]
                first = first_in_row(hunks >= 0, frames.offsets)
                nearest[start:stop] = np.append(hunks, -1)[first]
        return nearest

    def _rows_of(self, i: int, side: int) -> Column:
        """Return the lines of a hunk on one side that have samples, as rows."""
        place, span = self._span(i, side)
        if place is None:
            return np.zeros(0, np.int64)
        line = place.lines.line
        return place.lines.row[(line >= span.start) & (line < span.stop)]

    def cum(self, *hunks: int) -> tuple[int, int]:
        """Return the raw cum of hunks, as (base, new): each sample with a line of any.

        That is what ``pprof -list`` shows, whoever the samples are of otherwise. Lines
        are those of the file, as code of a function may move into a closure.
        """
        return self._cum(hunks, 0), self._cum(hunks, 1)

    def _cum(self, hunks: Sequence[int], side: int) -> int:
        lines = self.both.sides[side]
        marked = np.zeros(lines.rows, np.bool_)
        for i in hunks:
            place, span = self._span(i, side)
            if place is not None:
                of_file, row = lines.of_file(place.lines.file)
                marked[row[(of_file >= span.start) & (of_file < span.stop)]] = True
        if not marked.any():
            return 0
        of_line, values = marked[lines.ids], self.diff.values[side]
        profile = (self.diff.base, self.diff.new)[side].profile
        return sum(
            int(
                values[start:stop][
                    first_in_row(of_line[frames.line], frames.offsets) >= 0
                ].sum()
            )
            for start, stop, frames in walk(profile)
        )

    def _span(self, i: int, side: int) -> tuple[Located | None, range]:
        """Return the place of a hunk on one side, and the numbers of its lines."""
        one = self.changed[i]
        hunk = one.hunk
        start, count = (
            (hunk.base_start, hunk.base_count),
            (hunk.new_start, hunk.new_count),
        )[side]
        place = (one.places.base, one.places.new)[side]
        return place, range(start, start + count)

    def sums(
        self, chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None
    ) -> Runs[Column]:
        """Return the raw sum of each hunk by run, over the chosen samples."""
        base, new = self.innermost
        if chosen is not None:
            base, new = (
                np.where(kept, hunks, -1)
                for kept, hunks in zip(chosen, (base, new), strict=True)
            )
        return self.diff.runs_of((base, new), len(self.changed))

    def with_cost(self, i: int, base: int, new: int) -> ChangedLines:
        """Return a hunk with the cost it carries and the commits that made it."""
        one = self.changed[i]
        hunk, places = one.hunk, one.places
        side = (places.base if not hunk.new_count else places.new) or places.sides[0]
        old, now = places.base or side, places.new or side
        lines = self._lines(side.lines.function, (old.text, now.text), hunk)
        return lines._replace(path=side.path, base=base, new=new)

    def _lines(
        self,
        function: str,
        texts: tuple[SourceText | None, SourceText | None],
        hunk: Hunk,
    ) -> ChangedLines:
        """Return a hunk of a function without a cost."""
        gone = hunk.new_count == 0
        start, count = (
            (hunk.base_start, hunk.base_count)
            if gone
            else (hunk.new_start, hunk.new_count)
        )
        old, now = texts
        text = old if gone else now
        commits: tuple[Commit, ...] = ()
        if old is not None and now is not None:
            commits = self.sources.commits(old, now, hunk)
        return ChangedLines(
            function=function,
            path="" if text is None else text.path,
            start=start,
            end=start + count - 1,
            gone=gone,
            base=0,
            new=0,
            commits=commits,
            build=self._build(text, gone=gone),
            moved_from=_moved_from(hunk, texts),
        )

    @cached_property
    def _callees(self) -> Callees:
        return Callees(self.sources)

    def called(self, rows: Sequence[int]) -> tuple[RelatedLines, ...]:
        """Return the changed lines of functions that `rows` call, by their source text.

        Functions whose samples changed most come first.
        """
        cum = self.diff.paired_functions.raw("cum")
        names = self.diff.paired_functions.names
        moved = {
            _plain(name): -abs(float(delta))
            for name, delta in zip(
                names, self.diff.normalization.delta(*cum), strict=True
            )
        }
        found: list[tuple[float, list[RelatedLines]]] = []
        for row, places in self.looked_up:
            new = places.new
            if row not in rows or new is None or new.text is None or not new.extent:
                continue
            caller = new.lines.function
            for one in self._callees.changed(caller, new.text, new.extent.start):
                lines = [
                    RelatedLines(lines, caller, through=one.through)
                    for lines in self._of_text(one)
                ]
                if lines:
                    found.append((moved.get(_plain(one.name), 0.0), lines))
        found.sort(key=lambda pair: pair[0])
        return tuple(one for _, lines in found[:_RELATED] for one in lines)

    def _of_text(self, function: Differing) -> Iterator[ChangedLines]:
        """Yield the changed lines of a function, which need not have samples."""
        for hunk in function.hunks:
            if says_more(hunk, *function.texts):
                yield self._lines(function.name, function.texts, hunk)

    def on_stacks(self, rows: Sequence[int]) -> tuple[RelatedLines, ...]:
        """Return the changed lines of functions on stacks with those of `rows`."""
        names, of_row = self.diff.paired_functions.names, self.by_row
        wanted = np.zeros(len(names), np.bool_)
        wanted[list(of_row)] = True
        found = [(of, one) for of in rows for one in on_stacks(self.diff, of, wanted)]
        # A changed function on stacks with several is listed with the nearest.
        found.sort(key=lambda pair: pair[1].steps, reverse=True)
        nearest = {one.row: (of, one) for of, one in found}
        related = sorted(nearest.values(), key=lambda pair: pair[1].steps)[:_RELATED]
        return tuple(
            RelatedLines(
                self.with_cost(i, 0, 0),
                names[of],
                one.calls,
                names[one.through] if one.through >= 0 else "",
                one.far,
            )
            for of, one in related
            for i in of_row[one.row]
        )

    def only(self, rows: Sequence[int]) -> tuple[ChangedLines, ...]:
        """Return all differences in the packages of `rows`, if they are few."""
        differing: dict[str, list[Differing]] = {}
        for row, places in self.looked_up:
            new = places.new
            if row in rows and new is not None and new.text is not None and new.named:
                package = package_of(new.lines.function)
                if package not in differing:
                    found = self._callees.differing(new.lines.function, new.text)
                    differing[package] = found
        if sum(map(len, differing.values())) > SEVERAL:
            return ()
        return tuple(
            lines
            for found in differing.values()
            for one in found
            for lines in self._of_text(one)
        )

    @cached_property
    def by_row(self) -> dict[int, list[int]]:
        """The hunks of each function that has any, by row of the union."""
        of_row: dict[int, list[int]] = {}
        for i, one in enumerate(self.changed):
            of_row.setdefault(one.row, []).append(i)
        return of_row

    def _build(self, text: SourceText | None, *, gone: bool) -> str:
        """Return the commit that a text belongs to, or ""."""
        if text is None or text.origin != "git" or self.sources.revisions is None:
            return ""
        return self.sources.revisions[0 if gone else 1]


class Behind(NamedTuple):
    """What the source shows about a comparison.

    Attributes
    ----------
    findings
        The findings, each with the changed lines behind it.
    lines
        The changed lines whose samples changed significantly in the first comparison of
        profiles, over all samples, largest change first.
    unchanged
        Functions on both sides whose own cost changed most although none of their lines
        differ.
    caveats
        Where the source is not that of the profiles.
    same
        Whether no function with samples differs, nor anything else in their packages;
        only looked up without a decided outcome.

    """

    findings: Findings
    lines: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    same: bool = False


def with_source(
    comparison: Comparison, findings: Findings, sources: Sources, *, decided: bool
) -> Behind:
    """Return the findings with the changed lines behind them, and the other lines.

    Without a known cause or changed line, the only functions that ran and changed
    become a finding. Sources are looked up as a whole only if no outcome is `decided`.
    """
    if not comparison.profiles:
        text = (
            "sources say nothing here: there is no profile, whose lines they would be"
        )
        return Behind(findings, caveats=(Caveat("source", text),))
    case = Case(comparison)
    carriers = [_Carriers(diff, sources) for diff in comparison.profiles]
    of_cpu = [c for c in carriers if case.cpu is not None and c.diff is case.cpu.diff]
    carried = []
    for finding in findings.found:
        source = None
        # CPU within noise gives no lines; allocation is counted by line.
        by_cpu = finding.claim is not None and finding.mark != "noise"
        by_cpu &= not _allocates(finding)
        if by_cpu and case.cpu is not None and of_cpu:
            source = _of_claim(case.cpu, of_cpu[0], finding, carriers)
        elif finding.names or finding.functions:
            source = _of_functions(finding, carriers)
        if source is not None and finding.unit:
            # Samples of all units together give no amounts of this one.
            source = source.without_amounts()
        if source is not None and any(source[:3]):
            carried.append(finding._replace(source=source))
        else:
            carried.append(finding)
    known = any(one.severity != "info" or one.source is not None for one in carried)
    every = replace((of_cpu or carriers)[0], least=0.0)
    same = not decided and _nothing_changed(every)
    if (decided or comparison.measured) and not known and not same:
        changed = _changed_alone(every)
        if changed is not None:
            carried.insert(0, changed)
    first = carriers[0]
    movement = own_movement(first.diff)
    movers = np.argsort(-np.abs(movement), kind="stable")[:_LISTED].tolist()
    # A function that only one side calls did not change its own cost.
    cum = first.diff.paired_functions.raw("cum")
    movers = [row for row in movers if movement[row] and cum[0][row] and cum[1][row]]
    others = _with_others(first, movers, ())
    return Behind(
        findings._replace(found=tuple(carried)),
        _all_lines(first),
        others.unchanged,
        tuple(_caveats(first)),
        same=same,
    )


def _nothing_changed(carriers: _Carriers) -> bool:
    """Return whether packages with samples are the same, but for names of files."""
    if carriers.by_row or not _all_read(carriers):
        return False
    return next(_changed_places(carriers), None) is None


def _changed_alone(carriers: _Carriers) -> Finding | None:
    """Return which few functions with samples changed; None if many or unsure.

    Modules may differ in version: nothing is reported unless the text of every function
    outside Go itself is known in both builds. What else changed in the packages is
    listed too, as a constant has no samples.
    """
    diff = carriers.diff
    names, rows = diff.paired_functions.names, list(carriers.by_row)
    if len(rows) > SEVERAL or not _all_read(carriers):
        return None
    functions = tuple(names[row] for row in rows)
    source = _with_others(carriers, rows, ())
    inside = {f"{one.path}:{one.start}" for one in source.near}
    others = [at for at in _changed_places(carriers) if at not in inside]
    if not rows and len(others) > SEVERAL:
        return None
    facts: tuple[Fact, ...] = ()
    who, amount = "none", ""
    if rows:
        who = f"only {listed_functions(functions)}"
    if len(rows) == 1 and diff.is_cpu:
        base, new = (int(side[rows[0]]) for side in diff.paired_functions.raw("cum"))
        cum = words(diff, base, new)
        amount = "" if alike(read(cum)[0]) else f" ({cum} cum)"
        facts = (Fact(f"{functions[0]} (cum)", "cpu profile", base, new, diff.unit),)
    title = f"Of the program's functions with samples, {who} changed{amount}"
    if len(others) > SEVERAL:
        title += f"; {count(len(others))} places without samples changed too"
    elif others:
        title += f"; {listed(others)} changed too"
    finding = Finding(
        "changed-alone",
        title,
        "",
        facts,
        functions=functions,
        source=source if rows else None,
    )
    return with_spans(finding)


def _changed_places(carriers: _Carriers) -> Iterator[str]:
    """Yield what differs in packages of sampled functions, as ``file.go:12``.

    Test files count only if they hold such a function.
    """
    sources = carriers.sources
    found = [place for _, places in carriers.looked_up for place in places.sides]
    texts = [one.text for one in found if one.text is not None and one.named]
    files = {text.path for text in texts}
    for text in {dirname(text.path): text for text in texts}.values():
        here = SourceFile(text.path, text.origin, text.key)
        base, new = ({f.path: f for f in sources.folder(side, here)} for side in (0, 1))
        texts_of = [{file.key for file in side.values()} for side in (base, new)]
        for path in sorted(base.keys() | new.keys()):
            old, now = base.get(path), new.get(path)
            if path.endswith("_test.go") and path not in files:
                continue
            if old is None or now is None:
                # A renamed file has the same text on both sides.
                alone = base.get(path) or new[path]
                if not all(alone.key in keys for keys in texts_of):
                    yield path
            elif old.key != now.key:
                yield from _hunks_of(sources, old, now)


def _hunks_of(sources: Sources, old: SourceFile, now: SourceFile) -> Iterator[str]:
    """Yield where a file differs by more than comments, as ``file.go:12``."""
    base, new = sources.read([old, now])
    if base is None or new is None:
        yield now.path
        return
    hunks = sources.hunks(base, new)
    for hunk in differences(base.lines, new.lines) if hunks is None else hunks:
        if says_more(hunk, base, new):
            line = hunk.new_start if hunk.new_count else hunk.base_start
            yield f"{now.path}:{line}"


def _all_read(carriers: _Carriers) -> bool:
    """Return whether the text of each function outside Go itself is known.

    A module's is known if both builds have functions of that package and version.
    """
    names = carriers.diff.paired_functions.names
    folders: tuple[set[str], set[str]] = set(), set()
    unread = set[str]()
    for row, places in carriers.looked_up:
        for side, found in zip((places.base, places.new), folders, strict=True):
            if side is not None:
                folder = versioned_folder(side.lines.file)
                found.add(folder)
                if row not in carriers.known and _of_program(names[row]):
                    unread.add(folder)
    return unread <= (folders[0] & folders[1]) - {""}


def _of_program(name: str) -> bool:
    """Return whether a function is written in Go outside Go's own tree."""
    package = "" if is_made_up(name) else package_of(name)
    return bool(package) and not is_standard_library(package)


def _all_lines(carriers: _Carriers) -> tuple[ChangedLines, ...]:
    """Return the changed lines with a significant change over all samples."""
    model = carriers.diff.model
    if model is None or not model.sound:
        return ()
    model = model.counting
    runs = carriers.sums(None)
    base, new = merged(runs)
    some = np.flatnonzero((base != 0) | (new != 0))
    judged = model.rows(runs.map(lambda run: run[some]))
    order = np.argsort(-np.abs(judged.delta), kind="stable")
    loud = some[order[~judged.noise[order]]][:_LISTED].tolist()
    cums = {i: carriers.cum(i) for i in loud}
    innermost = model.by.delta(base, new)
    return tuple(
        carriers.with_cost(i, *cum)
        for i, cum in cums.items()
        if float(model.by.delta(*cum)) * innermost[i] > 0
    )


def _caveats(carriers: _Carriers) -> Iterator[Caveat]:
    """Yield caveats if the source has none of the functions, or not where profiles say.

    Neither matters if the build is known to be of this source.
    """
    if carriers.sources.as_built:
        return
    labels = carriers.diff.base.label, carriers.diff.new.label
    for side, label in enumerate(labels):
        known = [places.side(side) for places in carriers.places]
        texts = [one for one in known if one is not None and one.named]
        if not texts:
            yield Caveat(
                "source",
                f"no function of {label} is in the source that was named: is it that "
                "of this program?",
            )
            continue
        astray = [one for one in texts if one.astray]
        if astray:
            lines = astray[0].lines
            yield Caveat(
                "source",
                f"{len(astray)} of {len(texts)} functions of {label} do not stand "
                f"where its profile says, such as {lines.function} in "
                f"{astray[0].path}:{lines.start}: nothing is said of their lines; was "
                "another commit built, or are they generated?",
            )


def _of_claim(
    cpu: CPUComparison,
    carriers: _Carriers,
    finding: Finding,
    all_carriers: list[_Carriers],
) -> SourceOfFinding | None:
    """Return the changed lines that carry the samples a finding claims."""
    claim = finding.claim
    if claim is None:
        return None
    whole = cpu.relative.by.delta(*cpu.sums(claim))
    lines = _lines(carriers, cpu.relative, carriers.sums(claim.sides), whole)
    rows = _rows(carriers.diff, finding) or _owners(cpu, finding)
    source = _with_others(carriers, rows, tuple(lines))
    source = source._replace(diff=all_carriers.index(carriers))
    return _with_related(all_carriers, source)


def _of_functions(
    finding: Finding, all_carriers: list[_Carriers]
) -> SourceOfFinding | None:
    """Return the changed lines that carry the change of a finding's functions.

    It has no samples of its own: the first comparison in which changed lines of the
    functions changed significantly decides. Of allocation, that is one of allocs
    profiles.
    """
    allocates = _allocates(finding)
    counted = [
        (number, carriers)
        for number, carriers in enumerate(all_carriers)
        if not allocates or carriers.diff.sample_type.type in ALLOCATED
    ]
    others = SourceOfFinding()
    for number, carriers in counted:
        rows = _rows(carriers.diff, finding)
        model = carriers.diff.model
        if model is None or not model.sound:
            continue
        lines: list[ChangedLines] = []
        for row in rows:
            lines += _of_function(finding, carriers, model.counting, row)
        source = _with_others(carriers, rows, tuple(lines[:NAMED]))
        if lines:
            return source._replace(diff=number)
        if not any(others[:3]):
            others = source._replace(diff=number)
    if not others.lines and not others.near:
        others = _of_callers(finding, counted) or others
    # What a function allocates itself does not depend on what it calls.
    return _with_related(all_carriers, others, callees=not allocates)


def _allocates(finding: Finding) -> bool:
    """Return whether a finding is about allocation, which allocs profiles count."""
    first = finding.evidence[0].source if finding.evidence else ""
    return first == "allocs profile" or first.endswith(" profile alloc_space")


def _of_function(
    finding: Finding, carriers: _Carriers, model: CountModel, row: int
) -> list[ChangedLines]:
    """Return the changed lines of a function that carry its change.

    Of what it allocates, those that allocate themselves come before those that call.
    """
    diff = carriers.diff
    mine = np.array([one.row == row for one in carriers.changed], np.bool_)
    chosen = [diff.having(np.arange(len(diff.paired_functions.names)) == row)]
    if _allocates(finding):
        owners = diff.ledger.sides("owner")
        chosen.insert(0, (owners[0] == row, owners[1] == row))
    for some in chosen:
        cum = (
            int(values[kept].sum())
            for values, kept in zip(diff.values, some, strict=True)
        )
        whole = float(diff.normalization.delta(*cum))
        if _same_way(finding, whole):
            runs = carriers.sums(some).map(mine.__mul__)
            if lines := list(_lines(carriers, model, runs, whole)):
                return lines
    return []


def _of_callers(
    finding: Finding, numbered: Sequence[tuple[int, _Carriers]]
) -> SourceOfFinding | None:
    """Return the changed lines that call a finding's unchanged functions.

    `numbered` are comparisons with their positions among all.
    """
    for number, carriers in numbered:
        model = carriers.diff.model
        if model is None or not model.sound:
            continue
        for row in _rows(carriers.diff, finding):
            names = carriers.diff.paired_functions.names
            chosen = carriers.diff.having(np.arange(len(names)) == row)
            base, new = (
                int(values[mask].sum())
                for values, mask in zip(carriers.diff.values, chosen, strict=True)
            )
            whole = float(carriers.diff.normalization.delta(base, new))
            if not _same_way(finding, whole):
                continue
            runs = carriers.sums(chosen)
            lines = tuple(_lines(carriers, model.counting, runs, whole))
            if lines:
                source = _with_others(carriers, [], lines[:NAMED])
                return source._replace(diff=number)
    return None


def _same_way(finding: Finding, moved: float) -> bool:
    """Return whether a function's figure changed in the finding's direction.

    A function that allocates more may take less CPU: lines that save one are not those
    that cost the other.
    """
    if finding.direction not in ("worse", "better"):
        return True
    return (moved > 0) == (finding.direction == "worse")


def _lines(
    carriers: _Carriers,
    model: CountModel,
    runs: Runs[Column],
    whole: float,
) -> Iterator[ChangedLines]:
    """Yield the changed lines that carry part of the `whole` change, largest first.

    They are one place in each function, with the cum of all its changed lines.
    """
    base, new = merged(runs)
    some = np.flatnonzero((base != 0) | (new != 0))
    if not len(some) or not whole or not model.sound:
        return
    judged = model.rows(runs.map(lambda run: run[some]))
    delta = model.by.delta(base[some], new[some])
    loud = ~judged.noise & (delta * np.sign(whole) >= _PART * abs(whole))
    order = np.argsort(-np.abs(delta), kind="stable")
    rows = set[int]()
    for carrying in some[order[loud[order]]].tolist():
        row = carriers.changed[carrying].row
        if row in rows or len(rows) == NAMED:
            continue
        rows.add(row)
        # All changes of a function together: what one line saves, another may cost.
        hunks = carriers.by_row[row]
        cum = carriers.cum(*hunks)
        first = carrying
        if cum[1] and not carriers.cum(first)[1]:
            # What replaced it says more than what is gone.
            first = max(hunks, key=lambda hunk: carriers.cum(hunk)[1])
        # Of lines that others pay for too, only a cost of the same way explains it.
        if float(model.by.delta(*cum)) * whole > 0:
            yield carriers.with_cost(first, *cum)


def _rows(diff: ProfileDiff, finding: Finding) -> list[int]:
    """Return a finding's functions as rows of the union."""
    return _named(diff, finding.functions or tuple(sorted(finding.names)))[:NAMED]


def _named(diff: ProfileDiff, wanted: Sequence[str]) -> list[int]:
    """Return the rows of the union with these names."""
    places = {name: row for row, name in enumerate(diff.paired_functions.names)}
    return [places[name] for name in wanted if name in places]


def _owners(cpu: CPUComparison, finding: Finding) -> list[int]:
    """Return the functions of the program with most of a claim's change."""
    if finding.claim is None:
        return []
    size = len(cpu.names)
    columns = []
    for side, values in enumerate(cpu.diff.values):
        owner = cpu.sides[side].owner
        kept = finding.claim.sides[side] & (owner >= 0)
        rows = cpu.diff.paired_functions.union[side][owner[kept]]
        columns.append(sums(rows, values[kept], size))
    delta = cpu.diff.normalization.delta(columns[0], columns[1])
    whole = cpu.delta(finding.claim)
    order = np.argsort(-delta * np.sign(whole), kind="stable").tolist()[:NAMED]
    return [row for row in order if delta[row] * np.sign(whole) >= abs(whole) / 2]


def own_movement(diff: ProfileDiff) -> NDArray[np.float64]:
    """Return the scaled change in own cost of each function of the union.

    If samples are attributed, own cost includes the standard library below a function;
    otherwise it is flat. Changes within noise are 0.
    """
    paired = diff.paired_functions
    if diff.attributions is None:
        runs = paired.runs("flat")
    else:
        base_rows, new_rows = (
            np.append(rows, -1)[side.owner]
            for side, rows in zip(diff.attributions, paired.union, strict=True)
        )
        runs = diff.runs_of((base_rows, new_rows), len(paired.names))
    base, new = merged(runs)
    delta = diff.normalization.delta(base, new)
    some = np.flatnonzero((base != 0) | (new != 0))
    if diff.model is not None:
        judged = diff.model.counting.rows(runs.map(lambda run: run[some]))
        delta[some[judged.noise]] = 0
    return np.asarray(delta, np.float64)


def _with_others(
    carriers: _Carriers, rows: list[int], lines: tuple[ChangedLines, ...]
) -> SourceOfFinding:
    """Return changed lines with the others of their functions and of `rows`.

    Functions of `rows` without a differing line are named.
    """
    names, of_row = carriers.diff.paired_functions.names, carriers.by_row
    shown = {one.place for one in lines}
    carrying = {one.function for one in lines}
    named = [*rows, *(row for row in of_row if names[row] in carrying)]
    near = (
        carriers.with_cost(i, 0, 0)
        for row in dict.fromkeys(named)
        for i in of_row.get(row, ())
    )
    return SourceOfFinding(
        lines,
        tuple(one for one in near if one.place not in shown),
        tuple(
            names[row] for row in rows if row in carriers.known and row not in of_row
        ),
    )


def _with_related(
    all_carriers: list[_Carriers], source: SourceOfFinding, *, callees: bool = True
) -> SourceOfFinding:
    """Return the source of unchanged functions with the changes nearest to them.

    Those of what they call only with `callees`. A change in the same package that
    shares no stack with them is unrelated: it is named only if the package has hardly
    any other.
    """
    if not source.unchanged or source.lines or source.near:
        return source
    own = all_carriers[source.diff]
    rows = _named(own.diff, source.unchanged)
    if callees and (related := own.called(rows)):
        return source._replace(related=related)
    for carriers in (own, *(one for one in all_carriers if one is not own)):
        related = carriers.on_stacks(_named(carriers.diff, source.unchanged))
        related = tuple(one for one in related if callees or one.calls)
        if related:
            return source._replace(related=related)
    return source._replace(only=own.only(rows))


def _plain(name: str) -> str:
    """Return a function's name as declared: ``T.M`` for ``(*T).M``."""
    return name.replace("(*", "").replace(")", "")


def _moved_from(hunk: Hunk, texts: tuple[SourceText | None, SourceText | None]) -> int:
    """Return the first line in base of a hunk whose lines only moved, else 0."""
    old, now = texts
    if old is None or now is None or not (hunk.base_count and hunk.new_count):
        return 0
    return 0 if says_more(hunk, old, now) else hunk.base_start
