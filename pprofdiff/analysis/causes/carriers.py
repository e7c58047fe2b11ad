"""The changed lines of one comparison, and the samples that belong to each.

A sample belongs to the changed line nearest the leaf of its stack: code called from
there did not change, and changes in its callers did not change its cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.causes.by_text import Texts
from pprofdiff.analysis.causes.inlined import calls_itself, inlined_calls_of
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.graph import walk, walk_some
from pprofdiff.analysis.lines.costs import (
    FunctionLines,
    OnStacks,
    on_stacks,
    side_lines,
)
from pprofdiff.analysis.lines.listing import BothSides, Located, Places, places_of
from pprofdiff.analysis.policy import COVERS, ENOUGH, MINOR, SEVERAL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.source.code import code_changes, says_more
from pprofdiff.analysis.source.differing import Differing, differing
from pprofdiff.analysis.source.extents import hunks_within
from pprofdiff.analysis.source.model import (
    ChangedLines,
    RelatedLines,
    SourceOfFinding,
    numbers_of,
)
from pprofdiff.analysis.source.renamed import only_renames, only_variables
from pprofdiff.analysis.source.text import (
    called_in,
    worded_lines,
)
from pprofdiff.goruntime.names import is_closure, package_of, strip_type_arguments
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import first_in_row
from pprofdiff.model.source import Commit, Hunk, Sources, SourceText

Chosen = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which samples of base and of new, one element per sample."""

# A function with less of both sides' totals has too few samples to judge its lines.
_LEAST = 0.005
_RELATED = 2
# Of more lines than a reader takes in at once, the few that cost most are named.
_MANY, _FEW = 10, 5
# Code that does something: a brace, "else" or "return" alone does not.
_SAYS = re.compile(
    r"\b(?!(?:else|default|return|break|continue)\b)\w+|\breturn[ \t]+[^\s;}]"
)


class ChangedHunk(NamedTuple):
    """A hunk in a function, which is a row of the union of functions."""

    row: int
    places: Places
    hunk: Hunk


@dataclass(frozen=True, eq=False)
class Carriers:
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
    def _checked(self) -> tuple[tuple[ChangedHunk, ...], frozenset[int], set[int]]:
        """The hunks of all functions, and the functions whose text is the built one.

        Apart from these, those that only changed callers of one side call.
        """
        changed: list[ChangedHunk] = []
        known = set[int]()
        for row, places in self.looked_up:
            hunks = self._hunks(places)
            if hunks is not None:
                known.add(row)
                changed += (ChangedHunk(row, places, hunk) for hunk in hunks)
        left = self._called_on_one_side(changed)
        kept = tuple(one for one in changed if one.row not in left)
        return kept, frozenset(known - left), left

    def _called_on_one_side(self, changed: Sequence[ChangedHunk]) -> set[int]:
        """Return the changed functions that only one side's changed callers call.

        Their own changes did not run on both sides. One side has no sample of them, and
        the text of a caller says why; what only they call is like them. What allocates
        on one side only may well run on both.
        """
        if self.diff.sample_type.type in ALLOCATED:
            return set()
        cum = self.diff.paired_functions.raw("cum")
        names = self.diff.paired_functions.names
        alone = {
            one.row
            for one in changed
            if one.places.base
            and one.places.new
            and bool(cum[0][one.row]) != bool(cum[1][one.row])
        }
        wanted = np.zeros(len(names), np.bool_)
        called = {_bare(names[row]) for row in alone}
        for one in changed if alone else ():
            if called & _calls_of_one_side(one):
                wanted[one.row] = True
        if not wanted.any():
            return set()
        return {
            row
            for row in alone
            if any(one.calls for one in on_stacks(self.diff, row, wanted))
        }

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
            return [Hunk.of_one_side(*extent, new=base is None)]
        if base.text is None or new.text is None or not base.extent or not new.extent:
            return None
        texts = base.text, new.text
        hunks = hunks_within(
            self.sources, (texts[0], base.extent), (texts[1], new.extent)
        )
        if hunks and only_variables(texts, (base.extent, new.extent)):
            return []
        return [
            hunk
            for hunk in code_changes(hunks, *texts)
            # What only moved reads the same on both sides.
            if not says_more(hunk, *texts)
            or not only_renames(hunk, *texts, self.renamed)
        ]

    @cached_property
    def renamed(self) -> dict[str, str]:
        """The names of renamed functions in base, and in new, without packages.

        Also of those that got another receiver, or none.
        """
        table = self.diff.paired_functions.table
        return {
            _bare(before): _bare(name)
            for before, name in zip(table.base_names, table.names, strict=True)
            if before is not None and not is_closure(name)
        }

    @property
    def texts(self) -> Texts:
        """Whose text changed, and whose did not, as far as both sides run it."""
        rows = np.arange(len(self.diff.paired_functions.names))
        changed = np.isin(rows, list(self.by_row))
        same = np.isin(rows, list(self.read))
        return Texts(changed, same & ~changed)

    @property
    def read(self) -> frozenset[int]:
        """The functions whose text is the built one, on whichever side they ran."""
        return self.known | self._checked[2]

    @property
    def changed(self) -> tuple[ChangedHunk, ...]:
        """The hunks of all functions."""
        return self._checked[0]

    @property
    def known(self) -> frozenset[int]:
        """The functions whose text is what was profiled on both sides."""
        return self._checked[1]

    @cached_property
    def innermost(self) -> tuple[Column, Column]:
        """The hunk nearest the leaf of each sample, -1 for none, as (base, new)."""
        return self._nearest[0][0], self._nearest[1][0]

    @cached_property
    def _nearest(self) -> tuple[tuple[Column, Column], ...]:
        """The hunk of each sample's changed line nearest the leaf, and its move.

        By side. Moves are indices into `_moves`; -1 for none.
        """
        return self._nearest_on(0), self._nearest_on(1)

    def _nearest_on(self, side: int) -> tuple[Column, Column]:
        lines = self.both.sides[side]
        hunk_of_row = np.full(lines.rows, -1, np.int64)
        for i in range(len(self.changed)):
            hunk_of_row[self._rows_of(i, side)] = i
        row = self._innermost(side, hunk_of_row >= 0)
        hunk, move = (
            np.append(of_row, -1)[row]
            for of_row in (hunk_of_row, self._move_of_row(side))
        )
        return hunk, move

    def _innermost(self, side: int, marked: NDArray[np.bool_]) -> Column:
        """Return the marked line nearest the leaf of each sample, by row.

        It is the row after the last for a sample without one.
        """
        lines = self.both.sides[side]
        profile = (self.diff.base, self.diff.new)[side].profile
        found = np.full(len(profile), lines.rows, np.int64)
        if marked.any():
            for start, stop, frames in walk(profile):
                of_frame = lines.ids[frames.line]
                first = first_in_row(marked[of_frame], frames.offsets)
                found[start:stop] = np.append(of_frame, lines.rows)[first]
        return found

    def _move_of_row(self, side: int) -> Column:
        """Return the move of each line that moved, by row, -1 for the others."""
        lines = self.both.sides[side]
        moves = np.full(lines.rows, -1, np.int64)
        for file in {move[side][0] for move in self._moves}:
            of_file, row = lines.of_file(file)
            for i, move in enumerate(self._moves):
                if move[side][0] == file:
                    moves[row[of_file == move[side][1]]] = i
        return moves

    @cached_property
    def _moves(self) -> tuple[tuple[tuple[str, int], tuple[str, int]], ...]:
        """The lines that moved between hunks: (file, line) in base and in new.

        Their code was removed in one place and added in one, perhaps of another
        function, such as one that its callers now have the code of.
        """
        found: tuple[dict[str, set[tuple[str, int]]], ...] = {}, {}
        for i in range(len(self.changed)):
            sides = self._worded(i, 0), self._worded(i, 1)
            same = set(sides[0].values()) & set(sides[1].values())
            for lines, of_code in zip(sides, found, strict=True):
                for line, code in lines.items():
                    if code not in same:
                        of_code.setdefault(code, set()).add(line)
        gone, came = found
        return tuple(
            (min(lines), min(came[code]))
            for code, lines in gone.items()
            if len(lines) == len(came.get(code, ())) == 1
        )

    def only_moved(self, i: int) -> bool:
        """Return whether a hunk has nothing in new but lines that its function had."""
        hunks = self.by_row[self.changed[i].row]
        had = {code for other in hunks for code in self._worded(other, 0).values()}
        return set(self._worded(i, 1).values()) <= had

    def _worded(self, i: int, side: int) -> dict[tuple[str, int], str]:
        """Return the code of a hunk's lines on one side, by (file, line)."""
        place, span = self._span(i, side)
        if place is None or place.text is None:
            return {}
        lines = worded_lines(place.text, span)
        return {(place.lines.file, number): code for number, code in lines.items()}

    def net(self, i: int, chosen: Chosen, *, own: bool = False) -> tuple[int, int]:
        """Return the raw cum of a hunk over the chosen samples, as (base, new).

        A line that moved here has in base what it cost where it was, and what moved
        away does not count: neither do its samples for lines that call it. With `own`,
        of a recursive function's lines only the one nearest the leaf counts.
        """
        place, span = self._span(i, 1)
        here = [
            move
            for move, (_, (file, number)) in enumerate(self._moves)
            if place is not None and file == place.lines.file and number in span
        ]
        found = []
        for side, kept in enumerate(chosen):
            moves = self._nearest[side][1]
            inner = self._own(self.changed[i].row, side) if own else None
            on = self._on(side, i) if inner is None else inner == i
            mine = on & (moves < 0) | np.isin(moves, here)
            found.append(int(self.diff.values[side][kept & mine].sum()))
        return found[0], found[1]

    @cached_property
    def _own(self) -> Callable[[int, int], Column]:
        return cache(self._own_hunks)

    def _own_hunks(self, row: int, side: int) -> Column:
        """Return the hunk of each sample's line nearest the leaf in a function, or -1.

        Also -1 for a line in none of the function's hunks.
        """
        lines = self.both.sides[side]
        mine = np.zeros(lines.rows, np.bool_)
        hunk_of_row = np.full(lines.rows + 1, -1, np.int64)
        for i in self.by_row[row]:
            place = self._span(i, side)[0]
            if place is not None:
                mine[place.lines.row] = True
                hunk_of_row[self._rows_of(i, side)] = i
        return hunk_of_row[self._innermost(side, mine)]

    def _rows_of(self, i: int, side: int) -> Column:
        """Return the lines of a hunk on one side that have samples, as rows."""
        place, span = self._span(i, side)
        if place is None:
            return np.zeros(0, np.int64)
        line = place.lines.line
        return place.lines.row[(line >= span.start) & (line < span.stop)]

    def cum(self, *hunks: int) -> tuple[int, int]:
        """Return the raw cum of hunks, as (base, new): each sample with a line of any.

        As ``pprof -list``: whichever hunk the samples belong to otherwise. Lines are
        the file's, as code of a function may move into a closure.
        """
        base, new = (
            int(values[self._on(side, *hunks)].sum())
            for side, values in enumerate(self.diff.values)
        )
        return base, new

    def alike(self, *hunks: int) -> bool:
        """Return whether `cum` compares hunks of a function on both sides.

        Not if only one side runs them in a closure that the function itself does not
        call, as on a goroutine of its own: what called that has other lines.
        """
        rows = {self.changed[i].row for i in hunks}
        inside = self.having(rows)
        outside = [
            bool((self._on(side, *hunks) & ~inside[side]).any()) for side in (0, 1)
        ]
        return outside[0] == outside[1]

    @cached_property
    def _on(self) -> Callable[..., NDArray[np.bool_]]:
        return cache(self._walked)

    def _walked(self, side: int, *hunks: int) -> NDArray[np.bool_]:
        """Return which samples of a side have a line of the hunks."""
        lines = self.both.sides[side]
        marked = np.zeros(lines.rows, np.bool_)
        for i in hunks:
            place, span = self._span(i, side)
            if place is not None:
                of_file, row = lines.of_file(place.lines.file)
                marked[row[(of_file >= span.start) & (of_file < span.stop)]] = True
        return self._innermost(side, marked) < lines.rows

    def _span(self, i: int, side: int) -> tuple[Located | None, range]:
        """Return the place of a hunk on one side, and the numbers of its lines."""
        one = self.changed[i]
        return one.places.side(side), one.hunk.sides[side]

    def sums(self, chosen: Chosen | None) -> Runs[Column]:
        """Return the raw sum of each hunk by run, over the chosen samples."""
        base, new = self.innermost
        if chosen is not None:
            base, new = (
                np.where(kept, hunks, -1)
                for kept, hunks in zip(chosen, (base, new), strict=True)
            )
        return self.diff.runs_of((base, new), len(self.changed))

    def in_closure(self, i: int, *, called: bool = False) -> bool:
        """Return whether a hunk of a function belongs to a closure written in it.

        What the closure costs, or allocates, is not the function's own, unless the code
        before it changed as well. With `called`, those that the function calls itself
        are part of it.
        """
        names, one = self.diff.paired_functions.names, self.changed[i]
        return any(
            other.hunk == one.hunk
            and other.places.path == one.places.path
            and names[other.row].startswith(f"{names[one.row]}.func")
            and not _begins_otherwise(other.places)
            and not (called and self._share_stacks(one.row, other.row))
            for other in self.changed
        )

    def _share_stacks(self, one: int, other: int) -> bool:
        """Return whether samples have both functions, given as rows."""
        both = zip(self.having([one]), self.having([other]), strict=True)
        return any(bool((first & second).any()) for first, second in both)

    def having(self, rows: Collection[int]) -> Chosen:
        """Return which samples have any of some functions, given as rows."""
        names = np.arange(len(self.diff.paired_functions.names))
        return self.diff.having(np.isin(names, list(rows)))

    def with_cost(self, i: int, base: int, new: int) -> ChangedLines:
        """Return a hunk with the cost it carries and the commits that made it."""
        one = self.changed[i]
        hunk, places = self._shown(i), one.places
        side = (places.base if not hunk.new_count else places.new) or places.sides[0]
        old, now = places.base or side, places.new or side
        lines = self.lines_of(side.lines.function, (old.text, now.text), hunk)
        added, dropped = places.base is None, places.new is None
        return lines._replace(
            path=side.path,
            base=base,
            new=new,
            added=added,
            dropped=dropped,
            was=lines.was if self._ran(i, 0) else "",
            most=self._most(i, 0 if lines.gone else 1, (base, new)),
        )

    def _most(self, i: int, side: int, cost: tuple[int, int]) -> str:
        """Return the few of a hunk's many lines with about all of a cost, "" for none.

        Of a saving, what is left of it says nothing.
        """
        place, span = self._span(i, side)
        if place is None or len(span) <= _MANY or cost[side] <= cost[1 - side]:
            return ""
        lines = self.both.sides[side]
        numbers, rows = lines.of_file(place.lines.file)
        marked = np.zeros(lines.rows, np.bool_)
        marked[rows[(numbers >= span.start) & (numbers < span.stop)]] = True
        number_of = np.zeros(lines.rows + 1, np.int64)
        number_of[rows] = numbers - span.start + 1
        at = number_of[self._innermost(side, marked)]
        of_line = np.bincount(at, self.diff.values[side], len(span) + 1)[1:]
        summed = np.append(0.0, np.cumsum(of_line))
        for size in range(1, _FEW + 1):
            parts = summed[size:] - summed[:-size]
            first = int(np.argmax(parts))
            if parts[first] >= COVERS * cost[side]:
                return numbers_of(span.start + first, span.start + first + size - 1)
        return ""

    def _ran(self, i: int, side: int) -> bool:
        """Return whether a sample of a side has a line of a hunk."""
        place, span = self._span(i, side)
        if place is None:
            return False
        line, _ = self.both.sides[side].of_file(place.lines.file)
        return bool(((line >= span.start) & (line < span.stop)).any())

    def _shown(self, i: int) -> Hunk:
        """Return a hunk, without what it adds if that is no more than braces."""
        one = self.changed[i]
        text = None if one.places.new is None else one.places.new.text
        if text is None or not one.hunk.base_count or not one.hunk.new_count:
            return one.hunk
        code = " ".join(text.lines[n - 1] for n in one.hunk.sides[1])
        if _SAYS.search(code):
            return one.hunk
        return one.hunk._replace(new_start=one.hunk.new_start - 1, new_count=0)

    def lines_of(
        self,
        function: str,
        texts: tuple[SourceText | None, SourceText | None],
        hunk: Hunk,
    ) -> ChangedLines:
        """Return a hunk of a function or type without a cost."""
        gone = hunk.new_count == 0
        old, now = texts
        text, span = (old, hunk.sides[0]) if gone else (now, hunk.sides[1])
        commits: tuple[Commit, ...] = ()
        if old is not None and now is not None:
            commits = self.sources.commits(old, now, hunk)
        moved = _moved_from(hunk, texts)
        replaces = hunk.base_count and not gone and not moved
        before = hunk.sides[0]
        return ChangedLines(
            function=function,
            path="" if text is None else text.path,
            start=span.start,
            end=span.stop - 1,
            gone=gone,
            base=0,
            new=0,
            commits=commits,
            build=self._build(text, gone=gone),
            moved_from=moved,
            was=numbers_of(before.start, before.stop - 1) if replaces else "",
        )

    def only_signatures(self, rows: Sequence[int]) -> bool:
        """Return whether no more than the signatures of functions differ."""
        return all(
            self._in_signature(i) for row in rows for i in self.by_row.get(row, ())
        )

    def takes_others(self, rows: Sequence[int]) -> bool:
        """Return whether new has other lines only in the signatures of functions.

        What calls them does what their removed lines did, or gives them other values.
        """
        hunks = [i for row in rows for i in self.by_row.get(row, ())]
        written = [i for i in hunks if self.changed[i].hunk.new_count]
        return bool(written) and all(map(self._in_signature, written))

    def _in_signature(self, i: int) -> bool:
        """Return whether a hunk is above the body of its function in new."""
        place, span = self._span(i, 1)
        if place is None or place.text is None or place.extent is None or not span:
            return False
        lines = place.text.lines[place.extent.start - 1 : place.extent.end]
        body = next((n for n, line in enumerate(lines) if line.endswith("{")), -1)
        return span.stop - 1 <= place.extent.start + body

    @cached_property
    def idle(self) -> frozenset[int]:
        """The functions with enough samples, none of them on a changed line.

        Those lines hardly run: they change nothing for what calls the function.
        """
        model, cum = self.diff.model, self.diff.paired_functions.raw("cum")
        if model is None:
            return frozenset()
        return frozenset(
            row
            for row, hunks in self.by_row.items()
            if sum(cum[side][row] / model.worth[side] for side in (0, 1)) >= ENOUGH
            and not any(self.cum(*hunks))
        )

    def _of_text(self, function: Differing) -> Iterator[ChangedLines]:
        """Yield the changed lines of a function: those with samples, or all if none."""
        names = self.diff.paired_functions.names
        ran = [
            one.hunk
            for i, one in enumerate(self.changed)
            if names[one.row] == function.name and any(self.cum(i))
        ]
        for hunk in function.hunks:
            if says_more(hunk, *function.texts) and (not ran or hunk in ran):
                yield self.lines_of(function.name, function.texts, hunk)

    def _changed_with(self, row: int) -> list[OnStacks]:
        """Return the changed functions on stacks with one."""
        wanted = np.zeros(len(self.diff.paired_functions.names), np.bool_)
        wanted[list(self.by_row)] = True
        return on_stacks(self.diff, row, wanted)

    def on_stacks(self, rows: Sequence[int]) -> tuple[RelatedLines, ...]:
        """Return the changed lines of functions on stacks with `rows`."""
        names = self.diff.paired_functions.names
        found = [
            (of, one)
            for of in rows
            for one in self._changed_with(of)
            if one.calls or one.row not in self.idle
        ]
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
                before=before,
                ended=one.calls and self._stopped(one.row, of),
            )
            for of, one in related
            for i, before in self._leading(one, of)
        )

    def _leading(self, changed: OnStacks, to: int) -> list[tuple[int, bool]]:
        """Return a changed function's hunks, and whether it calls `to` after them.

        Of a caller, only those with the call count, or else lines up to the last one:
        later ones run afterwards. Which do is not known of a caller that is on a
        stack twice: any may decide whether it calls itself, if exact counts show that
        all of the change is below it.
        """
        hunks = self.by_row[changed.row]
        if not changed.calls:
            return [(i, False) for i in hunks]
        calling = [self._calling(changed.row, to, side) for side in (0, 1)]
        sides = {
            i: [*zip(calling, self.changed[i].hunk.sides, strict=True)] for i in hunks
        }
        on_call = [
            (i, False)
            for i, both in sides.items()
            if any(line in span for lines, span in both for line in lines)
        ]
        if on_call:
            return on_call
        if self.is_recursive(changed.row):
            caller = self.diff.paired_functions.names[changed.row]
            return [(i, False) for i in hunks if self.pays_all(caller, [to])]
        return [
            (i, True)
            for i, both in sides.items()
            if any(lines and span.start <= max(lines) for lines, span in both)
        ]

    def _stopped(self, caller: int, row: int) -> bool:
        """Return whether a changed function is above one in base's stacks alone.

        Only profiles of every object show that it is in none of new's.
        """
        base, new = (bool(self._calling(caller, row, side)) for side in (0, 1))
        return self.diff.has_every_object and base and not new

    @cached_property
    def is_recursive(self) -> Callable[[int], bool]:
        """Whether a stack has a function, given as a row, more than once."""
        return cache(partial(calls_itself, self.diff))

    def _calling(self, caller: int, to: int, side: int) -> list[int]:
        """Return the lines of a changed caller on a side's stacks with `to`."""
        place = self.places_of(caller).side(side)
        if place is None or not place.extent:
            return []
        lines = self.both.sides[side]
        own = np.arange(len(self.diff.paired_functions.names)) == to
        samples = np.flatnonzero(self.diff.having_on(side, own))
        seen = np.zeros(lines.rows, np.bool_)
        for _, frames in walk_some(
            (self.diff.base, self.diff.new)[side].profile, samples
        ):
            seen[lines.ids[frames.line]] = True
        numbers, rows = lines.of_file(place.lines.file)
        start, end = place.extent
        found = numbers[seen[rows] & (numbers >= start) & (numbers <= end)]
        return [int(line) for line in found]

    def shares_stacks(self, name: str) -> bool:
        """Return whether a function is on stacks with others that changed."""
        rows = np.flatnonzero(np.array(self.diff.paired_functions.names) == name)
        return any(map(self._changed_with, rows.tolist()))

    def pays_all(self, caller: str, rows: Sequence[int]) -> bool:
        """Return whether what functions allocate changed by all of it below a caller.

        Known of profiles of every object, and of callers that both sides call.
        """
        if not self.diff.has_every_object:
            return False
        names = np.array(self.diff.paired_functions.names)
        every = self.diff.ledger
        delta = self.diff.normalization.delta
        below = every.among(self.diff.having(names == caller))
        of_caller, whole = (
            float(delta(int(sums.base[rows].sum()), int(sums.new[rows].sum())))
            for sums in (below.every("place"), every.every("place"))
        )
        return bool(whole) and abs(of_caller - whole) <= MINOR * abs(whole)

    def inlined_once(self, callee: str, rows: Sequence[int] | None = None) -> bool:
        """Return whether one build alone inlines a function, into some others if given.

        What it returns is then allocated on a line of theirs, or on none's.
        """
        row = self.diff.paired_functions.names.index(callee)
        both = (side.callers_of(row) for side in inlined_calls_of(self.diff))
        base, new = (
            bool(value[True if rows is None else np.isin(caller, rows)].any())
            for caller, value in both
        )
        return base != new

    def declaring(self, row: int) -> tuple[int, list[int]]:
        """Return the function that declares a closure, and its hunks in that.

        -1 if the function did not change, or the name is no closure's.
        """
        names = self.diff.paired_functions.names
        outer = [at for at in self.by_row if names[row].startswith(f"{names[at]}.func")]
        if not is_closure(names[row]) or not outer:
            return -1, []
        declared = max(outer, key=lambda at: len(names[at]))
        seen = [
            {
                (one.file, int(line))
                for one in side.functions.get(names[row], ())
                for line in one.line
            }
            for side in self.both.sides
        ]
        return declared, [
            i
            for i in self.by_row[declared]
            if any(
                place is not None
                and any((place.lines.file, line) in own for line in span)
                for own, (place, span) in zip(
                    seen, (self._span(i, side) for side in (0, 1)), strict=True
                )
            )
        ]

    def stays(self, row: int) -> bool:
        """Return whether a function changed, and both builds declare it."""
        return any(
            places.base is not None and places.new is not None
            for places in (self.changed[i].places for i in self.by_row.get(row, ()))
        )

    def calls_nearby(self, caller: int, row: int) -> bool:
        """Return whether a changed function calls one, directly or through one."""
        return any(
            one.calls and not one.far and one.row == caller
            for one in self._changed_with(row)
        )

    def without_changed_callers(self, rows: Sequence[int]) -> list[int]:
        """Return the functions that no changed one calls, directly or through one."""
        return [
            row
            for row in rows
            if not any(one.calls and not one.far for one in self._changed_with(row))
        ]

    def new_callees(self, callers: Sequence[int]) -> list[int]:
        """Return functions that only new declares and lines of `callers` call."""
        called = {
            name
            for row in callers
            for i in self.by_row.get(row, ())
            for place, span in [self._span(i, 1)]
            if place is not None and place.text is not None
            for name in called_in(place.text, span)
        }
        names = self.diff.paired_functions.names
        found: dict[str, list[int]] = {}
        for row in self.by_row:
            name = _bare(names[row])
            if self.places_of(row).base is None and name in called:
                found.setdefault(name, []).append(row)
        # Of methods of one name, the text does not show which is called.
        return [
            row
            for rows in found.values()
            for row in rows
            if len(rows) == 1 and row not in callers
        ]

    def only(self, rows: Sequence[int]) -> tuple[ChangedLines, ...]:
        """Return all differences in the packages of `rows`, if they are few."""
        by_package: dict[str, list[Differing]] = {}
        for row, places in self.looked_up:
            new = places.new
            if row in rows and new is not None and new.text is not None and new.named:
                package = package_of(new.lines.function)
                if package not in by_package:
                    found = differing(self.sources, new.lines.function, new.text)
                    by_package[package] = found
        if sum(map(len, by_package.values())) > SEVERAL:
            return ()
        return tuple(
            lines
            for found in by_package.values()
            for one in found
            for lines in self._of_text(one)
        )

    def places_of(self, row: int) -> Places:
        """Return where a changed function is."""
        return self.changed[self.by_row[row][0]].places

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


@dataclass(frozen=True, eq=False)
class Code:
    """The sources of both builds, with the changed lines of each comparison.

    These are looked up once for all that asks for them.
    """

    sources: Sources

    def of(self, diff: ProfileDiff) -> Carriers:
        """Return the changed lines of a comparison of profiles."""
        if id(diff) not in self._of_diffs:
            self._of_diffs[id(diff)] = Carriers(diff, self.sources)
        return self._of_diffs[id(diff)]

    @cached_property
    def _of_diffs(self) -> dict[int, Carriers]:
        # Each holds its comparison, so that no other one has its id.
        return {}


def with_others(
    carriers: Carriers,
    rows: list[int],
    lines: tuple[ChangedLines, ...],
    *,
    cum: bool = False,
) -> SourceOfFinding:
    """Return changed lines with the others of their functions and of `rows`.

    With `cum`, a function has the lines of closures that it calls as well. Functions of
    `rows` without a differing line are named, and new ones that changed lines call.
    """
    names, of_row = carriers.diff.paired_functions.names, carriers.by_row
    shown = {(one.function, one.place) for one in lines}
    carrying = {one.function for one in lines}
    named = [*rows, *(row for row in of_row if names[row] in carrying)]
    caller_of: dict[int, str] = {}
    for row in dict.fromkeys(named):
        for callee in carriers.new_callees([row]):
            caller_of.setdefault(callee, names[row])
    named += [row for row in caller_of if row not in named]
    hunks = [i for row in dict.fromkeys(named) for i in of_row.get(row, ())]
    own = [i for i in hunks if not carriers.in_closure(i, called=cum)]
    near = (
        carriers.with_cost(i, 0, 0)._replace(
            caller=caller_of.get(carriers.changed[i].row, ""),
            idle=carriers.diff.is_cpu and carriers.changed[i].row in carriers.idle,
        )
        for i in own or hunks
    )
    return SourceOfFinding(
        lines,
        tuple(one for one in near if (one.function, one.place) not in shown),
        tuple(
            names[row] for row in rows if row in carriers.known and row not in of_row
        ),
    )


def _begins_otherwise(closure: Places) -> bool:
    """Return whether the line of a closure differs before it, or one side has none."""
    before = {
        text.lines[at.extent.start - 1].partition("func")[0].strip()
        for at in (closure.base, closure.new)
        if at is not None and (text := at.text) is not None and at.extent is not None
    }
    return len(before) > 1 or closure.base is None or closure.new is None


def _calls_of_one_side(one: ChangedHunk) -> set[str]:
    """Return the names that lines of a hunk call, but the function's other text not."""
    base, new = one.places.base, one.places.new
    if base is None or new is None or base.text is None or new.text is None:
        return set()
    if base.extent is None or new.extent is None:
        return set()
    before, after = (
        called_in(text, range(extent.start, extent.end + 1))
        for text, extent in ((base.text, base.extent), (new.text, new.extent))
    )
    old, now = one.hunk.sides
    return (called_in(base.text, old) - after) | (called_in(new.text, now) - before)


def _bare(name: str) -> str:
    """Return a function's name without its package, receiver and type arguments."""
    return strip_type_arguments(name).rpartition(".")[2]


def _moved_from(hunk: Hunk, texts: tuple[SourceText | None, SourceText | None]) -> int:
    """Return the first line in base of a hunk whose lines only moved, else 0."""
    old, now = texts
    if old is None or now is None or not (hunk.base_count and hunk.new_count):
        return 0
    return 0 if says_more(hunk, old, now) else hunk.base_start
