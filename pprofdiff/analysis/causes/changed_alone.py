"""Which functions with samples changed, where no cause is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from posixpath import basename, dirname
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.causes.carriers import Carriers, with_others
from pprofdiff.analysis.causes.finding import (
    CHANGED_ALONE,
    OF_CPU,
    Fact,
    Finding,
    with_spans,
)
from pprofdiff.analysis.causes.wording import (
    count,
    listed,
    others,
    percent,
)
from pprofdiff.analysis.lines.listing import Located, Places
from pprofdiff.analysis.policy import FEW_SAMPLES, MAJOR, MOST, NAMED, SEVERAL
from pprofdiff.analysis.source.aligned import ignoring_space
from pprofdiff.analysis.source.code import (
    is_constrained,
    only_imports,
    says_more,
    without_space,
)
from pprofdiff.analysis.source.declarations import Function, GoFile
from pprofdiff.analysis.source.extents import differences, go_file, is_closure
from pprofdiff.analysis.source.imports import imported_by
from pprofdiff.analysis.source.model import ChangedLines, RelatedLines, numbers_of
from pprofdiff.analysis.source.renamed import with_other_variables
from pprofdiff.analysis.source.text import WORD, plain_lines, worded_lines
from pprofdiff.goruntime.names import (
    is_made_up,
    is_standard_library,
    package_of,
    strip_type_arguments,
    versioned_folder,
)
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.model.source import Hunk, SourceFile, Sources, SourceText

# ``go test`` generates it (cmd/go/internal/load/test.go).
_TEST_MAIN = "_testmain.go"


def only_tests_changed(
    carriers: Carriers, *, measured: bool = False
) -> tuple[str, ...] | None:
    """Return the test files that differ in packages with samples.

    They have no samples, or benchmarks were `measured` that are the same in both
    builds. None if anything else differs but the names of files, or may.
    """
    if carriers.by_row or not _all_read(carriers):
        return None
    places = list(_changed_places(carriers))
    if not all(place.test or (measured and place.of_tests) for place in places):
        return None
    return tuple(dict.fromkeys(place.path for place in places))


class Ran(NamedTuple):
    """The names of functions in benchmarks' profiles, and what these are."""

    functions: frozenset[str]
    benchmarks: tuple[str, ...]


def changed_alone(
    carriers: Carriers, ran: Ran | None, known: Collection[str] = ()
) -> Finding | None:
    """Return which functions with samples changed; None if unsure.

    Modules may differ in version, so the text of every function outside Go must be
    known in both builds. Where else code changed in the packages is added, as a
    constant has no samples. Only functions that `ran` are named, if given. Next to
    causes with lines of `known` functions, only others with much of the CPU are.
    """
    if not (known or _all_read(carriers)):
        return None
    diff = carriers.diff
    names, cum = list(diff.paired_functions.names), diff.paired_functions.raw("cum")
    # Callers have the cost of all that they call, whatever changed in them.
    own = diff.paired_functions.raw("flat")
    if diff.attributions is not None:
        by_owner = diff.ledger.every("owner")
        own = by_owner.base, by_owner.new
    size = {
        row: sum(diff.normalization.scaled(*(int(side[row]) for side in own)))
        for row in carriers.by_row
        if ran is None or names[row] in ran.functions
    }
    if known:
        whole = sum(diff.normalization.scaled(*diff.totals))
        size = {
            row: own
            for row, own in size.items()
            if names[row] not in known and own >= MAJOR * whole
        }
        if not size:
            return None
    # What both sides declare comes first, and last what is not the program's own.
    alone = {row: not all(_sides(carriers, row)) for row in size}
    order = {
        row: (_of_tests(carriers, row), alone[row], row in carriers.idle, -size[row])
        for row in size
    }
    rows = _each_once(carriers, sorted(size, key=order.__getitem__), names)
    if size and not rows:
        return None
    same = carriers.known.difference(carriers.by_row)
    changed = [one.places for one in carriers.changed if one.row in rows]
    # A profile has functions that changed only in names too.
    named = [found for row, found in carriers.looked_up if row in same]
    places = [
        place
        for place in (() if known else _changed_places(carriers))
        if _silent([*changed, *(named if place.hunk else ())], place)
    ]
    profile = "CPU profile" if diff.is_cpu else f"{diff.name} profile"
    if ran is not None:
        profile = f"profiles of {listed(ran.benchmarks)}"
    title = _who(carriers, rows, names, profile)
    if places:
        also = "the diff also changes" if rows else "it changes"
        title += f"; {also} {_where(carriers, places)}"
    facts: tuple[Fact, ...] = ()
    if len(rows) == 1 and not alone[rows[0]] and diff.is_cpu:
        base, new = (int(side[rows[0]]) for side in cum)
        what = f"{names[rows[0]]} (cum)"
        facts = (Fact(what, OF_CPU, base, new, diff.unit),)
    first = rows[:SEVERAL]
    source = None
    if first:
        # What the title says of the functions is that these lines changed.
        source = with_others(carriers, first, _leading(carriers, first))
        source = source._replace(holding=frozenset(one.place for one in source.own))
    finding = Finding(
        CHANGED_ALONE,
        title,
        _on_one_side(carriers, first) if diff.is_cpu else "",
        facts,
        functions=tuple(names[row] for row in first),
        source=source,
    )
    return with_spans(finding)


def _on_one_side(carriers: Carriers, rows: Sequence[int]) -> str:
    """Return the changed lines with most samples of those that one side alone runs.

    They are a large part of a side's, and too many for chance. Lines that only moved
    have samples elsewhere, and what is written anew has them on other changed lines.
    """
    diff = carriers.diff
    base, new = (np.ones(len(values), np.bool_) for values in diff.values)
    found = list[tuple[float, int, int]]()
    for i in (i for row in rows for i in carriers.by_row[row]):
        cum, net = carriers.cum(i), carriers.net(i, (base, new))
        side = int(cum[0] == 0)
        several = diff.model is not None and net[side] >= (
            FEW_SAMPLES * diff.model.worth[side]
        )
        if several and not (cum[1 - side] or net[1 - side]):
            found.append((cum[side] / diff.totals[side], i, side))
    part, i, side = max(found, default=(0.0, 0, 0))
    if part < MAJOR:
        return ""
    one = carriers.changed[i]
    # Its other lines may do the same on the other side: what a defer ran at its end.
    whole = (values[one.row] for values in diff.paired_functions.raw("cum"))
    parts = [own / total for own, total in zip(whole, diff.totals, strict=True)]
    if parts[side] - parts[1 - side] < MOST * part:
        return ""
    span, place = one.hunk.sides[side], one.places.side(side)
    lines = numbers_of(span.start, span.stop - 1)
    path = "" if place is None else f"{basename(place.path)}:"
    labels = diff.base.label, diff.new.label
    of = f"of the samples in {labels[side]} are at {path}{lines}"
    return f"{percent(part)} {of}, none in {labels[1 - side]}."


def _leading(carriers: Carriers, rows: Sequence[int]) -> tuple[ChangedLines, ...]:
    """Return the changed lines of functions that most samples of each one's have.

    Of a function with several places, a reader looks at all.
    """
    found = []
    for row in rows:
        hunks = [i for i in carriers.by_row[row] if not carriers.in_closure(i)]
        size = {i: sum(carriers.cum(i)) for i in hunks}
        first = max(hunks, key=size.__getitem__, default=-1)
        if len(hunks) > SEVERAL and size[first] > MOST * sum(size.values()):
            found.append(carriers.with_cost(first, 0, 0))
    return tuple(found)


def _each_once(carriers: Carriers, rows: Sequence[int], names: list[str]) -> list[int]:
    """Return `rows` with one instance of a generic function, which loses its types.

    A function of which only closures changed is left out for them.
    """
    of_place = dict[object, list[int]]()
    for row in rows:
        sides = carriers.places_of(row).sides
        at = tuple((side.path, side.extent) for side in sides)
        of_place.setdefault(at, []).append(row)
    for first, *rest in of_place.values():
        if rest:
            names[first] = strip_type_arguments(names[first])
    kept = [instances[0] for instances in of_place.values()]
    base, new = carriers.diff.paired_functions.raw("cum")
    return [
        row
        for row in kept
        if not all(carriers.in_closure(i) for i in carriers.by_row[row])
        # Which closure of the other side it is, is unknown.
        and (not is_closure(names[row]) or (base[row] and new[row]))
    ]


def _who(
    carriers: Carriers, rows: Sequence[int], names: Sequence[str], profile: str
) -> str:
    """Return which functions with samples differ, the first ones by name."""
    if not rows:
        renamed = any(old != new for old, new in carriers.renamed.items())
        but = " but for names" if renamed else ""
        return f"The diff changes no function in the {profile}{but}"
    said = distinct_names([names[row] for row in rows[:SEVERAL]])
    both = [_sides(carriers, row) for row in rows[:SEVERAL]]
    for i, (base, new) in enumerate(both):
        if not (base and new):
            said[i] += " (new)" if new else " (removed)"
    who = listed([*said, *others(len(rows) - SEVERAL)])
    is_ = "is" if len(rows) == 1 else "are"
    if all(map(all, both)):
        return f"{who} changed and {is_} in the {profile}"
    return f"{who} {is_} in the diff and in the {profile}"


def _sides(carriers: Carriers, row: int) -> tuple[bool, bool]:
    """Return whether base and new declare a function that differs."""
    places = carriers.places_of(row)
    return places.base is not None, places.new is not None


def _of_tests(carriers: Carriers, row: int) -> bool:
    """Return whether a function is in a file of tests."""
    places = carriers.places_of(row)
    return places.path.endswith("_test.go")


def moved_from(carriers: Carriers, row: int) -> int | None:
    """Return the function that most of a new function's lines were removed from.

    If several lost such lines, as loops that are spelled alike, the one that lost most.
    """
    new = carriers.places_of(row).new
    if new is None or new.text is None or new.extent is None:
        return None
    # The signature is its own.
    span = range(new.extent.start + 1, new.extent.end + 1)
    lines = worded_lines(new.text, span).values()
    lost = dict[int, int]()
    for other, hunks in carriers.by_row.items():
        removed = set[str]()
        for i in hunks:
            _, places, hunk = carriers.changed[i]
            if other != row and places.base is not None and places.base.text:
                found = worded_lines(places.base.text, hunk.sides[0])
                removed |= set(found.values())
        lost[other] = sum(line in removed for line in lines)
    most = max(lost, key=lost.__getitem__, default=row)
    return most if lines and lost.get(most, 0) >= MOST * len(lines) else None


class _Place(NamedTuple):
    """Where a file differs; without a `hunk` the whole file does.

    A path is None where a side does not have the file. A `test` has no samples.
    `texts` are those of the hunk's files.
    """

    paths: tuple[str | None, str | None]
    hunk: Hunk | None = None
    test: bool = False
    texts: tuple[SourceText | None, SourceText | None] = (None, None)

    @property
    def of_tests(self) -> bool:
        """Whether it is in a file of tests."""
        return self.path.endswith("_test.go")

    @property
    def path(self) -> str:
        """The path in new, or in base if only base has the file."""
        return self.paths[1] or self.paths[0] or ""

    @property
    def name(self) -> str:
        """The place, as ``file.go:12-14``: lines of base if new has none."""
        return f"{self.lines} (removed)" if self.removed else self.lines

    @property
    def removed(self) -> bool:
        """Whether new has none of it."""
        return not (self.paths[1] if self.hunk is None else self.hunk.sides[1])

    @property
    def lines(self) -> str:
        """The lines in new, or in base if new has none; the path of a whole file."""
        if self.hunk is None:
            return self.path
        base, new = self.hunk.sides
        lines = new or base
        last = f"-{lines[-1]}" if len(lines) > 1 else ""
        return f"{self.path}:{lines.start}{last}"


def _silent(functions: Sequence[Places], place: _Place) -> bool:
    """Return whether a place is outside of `functions`.

    Its lines in new decide, if it has any: what they replaced may be a function's.
    Tests have no code of the program.
    """
    if place.of_tests:
        return False
    if place.hunk is None:
        return not _are_most(functions, place)
    side = 1 if place.hunk.new_count else 0
    path, lines = place.paths[side], place.hunk.sides[side]
    return not any(
        at is not None
        and at.text is not None
        and at.text.path == path
        and at.extent is not None
        and max(lines.start, at.extent.start) < min(lines.stop, at.extent.end + 1)
        for at in (one.side(side) for one in functions)
    )


def _are_most(functions: Sequence[Places], place: _Place) -> bool:
    """Return whether functions have most lines of a file that one side has."""
    named = {
        (at.text.path, at.extent.start): (len(at.text.lines), at.extent)
        for one in functions
        for at in one.sides
        if at is not None and at.text is not None and at.extent is not None
        if at.text.path == place.path
    }
    own = sum(extent.end - extent.start + 1 for _, extent in named.values())
    return any(own >= MOST * lines for lines, _ in named.values())


def _types(functions: Iterable[Places], places: Sequence[_Place]) -> dict[_Place, str]:
    """Return the types that changed and that functions name, by place.

    How large a type is decides what its values cost, though no function changed.
    """
    words = set[str]()
    for at in (side for one in functions for side in one.sides):
        if at is not None and at.text is not None and at.extent is not None:
            lines = range(at.extent.start, at.extent.end + 1)
            words.update(WORD.findall("\n".join(plain_lines(at.text, lines))))
    types = {
        place: _type_at(place)
        for place in places
        if not (place.of_tests or any(map(is_constrained, filter(None, place.texts))))
    }
    return {
        place: name for place, name in types.items() if name.rpartition(".")[2] in words
    }


def changed_types(
    carriers: Carriers, rows: Sequence[int], handles: str
) -> tuple[RelatedLines, ...]:
    """Return the types with other fields or elements that functions of `rows` name.

    Where they make as many values as before, these are larger or smaller for that, and
    cost more or less where they are passed.
    """
    names = carriers.diff.paired_functions.names
    places = list(_changed_places(carriers))
    found = dict[_Place, RelatedLines]()
    for row, function in carriers.looked_up:
        for place, name in _types([function], places).items() if row in rows else ():
            if place.hunk is not None:
                lines = carriers.lines_of(name, place.texts, place.hunk)
                named = RelatedLines(lines, names[row], handles=handles)
                found.setdefault(place, named)
    return tuple(found.values())[:SEVERAL]


def _type_at(place: _Place) -> str:
    """Return the type whose fields or elements a place has, ``ast.Leaf``, or "".

    A first line with another name alone is that of a renamed type.
    """
    if (found := _file_at(place)) is None:
        return ""
    file, lines = found
    for one in file.compound:
        own = lines.stop - 1 > one.line or one.line == one.last
        if own and _is_inside(lines, one):
            return f"{file.package}.{one.name}"
    return ""


def _where(carriers: Carriers, places: Sequence[_Place]) -> str:
    """Return places by name; of many, how many there are, and in which few files.

    Those in one variable or constant are one, with the functions that name it.
    """
    found = dict[str, list[str]]()
    for place in places:
        value = _value_at(place)
        inside = f"removed {place.lines}" if place.removed else place.lines
        found.setdefault(value, []).append(inside if value else place.name)
    values = [
        f"{name} ({', '.join(at)}{_using(carriers, name)})"
        for name, at in found.items()
        if name
    ]
    named = [*values, *found.get("", ())]
    if len(named) <= SEVERAL:
        return listed(named)
    files = list(dict.fromkeys(at.path for at in places))
    many = f"{count(len(places))} places"
    return f"{many} in {listed(files)}" if len(files) <= SEVERAL else many


def _value_at(place: _Place) -> str:
    """Return the variable or constant whose value a place has, or ""."""
    if (found := _file_at(place)) is None:
        return ""
    file, lines = found
    return next((one.name for one in file.values if _is_inside(lines, one)), "")


def _file_at(place: _Place) -> tuple[GoFile, range] | None:
    """Return a place's file and lines, of base if new has none; None if not known."""
    if place.hunk is None:
        return None
    side = 1 if place.hunk.new_count else 0
    text = place.texts[side]
    return None if text is None else (go_file(text.lines), place.hunk.sides[side])


def _is_inside(lines: range, declared: Function) -> bool:
    """Return whether a declaration has all of some lines."""
    return declared.line <= lines.start and lines.stop - 1 <= declared.last


def _using(carriers: Carriers, value: str) -> str:
    """Return the first functions with samples that name a value, after a comma."""
    names, used = carriers.diff.paired_functions.names, list[str]()
    for row, places in carriers.looked_up:
        at = places.new or places.base
        if at is not None and at.text is not None and at.extent is not None:
            lines = range(at.extent.start, at.extent.end + 1)
            words = WORD.findall("\n".join(plain_lines(at.text, lines)))
            # A closure's text is its function's as well.
            if value in words and not is_closure(names[row]):
                used.append(names[row])
    return f", used in {listed(distinct_names(used[:NAMED]))}" if used else ""


def _changed_places(carriers: Carriers) -> Iterator[_Place]:
    """Yield what differs in packages of sampled functions, and in those they import.

    What set-up makes, such as a compiled regexp, decides what functions cost. Files
    that Go ignores do not count.
    """
    sources = carriers.sources
    texts = list(_sampled(carriers))
    files = {text.path for _, text in texts}
    for here in _folders(sources, texts):
        base, new = ({f.path: f for f in sources.folder(side, here)} for side in (0, 1))
        texts_of = [{file.key for file in side.values()} for side in (base, new)]
        for path in sorted(base.keys() | new.keys()):
            old, now = base.get(path), new.get(path)
            sampled = path in files
            # See "go help packages".
            if not sampled and basename(path).startswith(("_", ".")):
                continue
            test = path.endswith("_test.go") and not sampled
            if old is None or now is None:
                # A renamed file has the same text on both sides.
                alone = base.get(path) or new[path]
                if not all(alone.key in keys for keys in texts_of):
                    paths = old and old.path, now and now.path
                    yield _Place(paths, test=test)
            elif old.key != now.key:
                for place in _hunks_of(sources, old, now):
                    yield place._replace(test=test)


def _sampled(carriers: Carriers) -> Iterator[tuple[str, SourceText]]:
    """Yield the texts of sampled functions, each with the path of its package."""
    for _, places in carriers.looked_up:
        for at in places.sides:
            if at is not None and at.text is not None and at.named:
                yield package_of(at.lines.function).removesuffix("_test"), at.text


def _folders(
    sources: Sources, texts: Sequence[tuple[str, SourceText]]
) -> list[SourceFile]:
    """Return a file in the folder of each text, and of each package that they import.

    A module's folder names its version, so that what its packages import is the same.
    """
    packages = {
        dirname(text.path): (package, SourceFile(text.path, text.origin, text.key))
        for package, text in texts
    }
    own = [one for one in packages.values() if one[1].origin != "module"]
    imported = (one for side in (0, 1) for one in imported_by(sources, side, own))
    folders = {dirname(one.path): one for one in imported}
    return [*(here for _, here in packages.values()), *folders.values()]


def _hunks_of(sources: Sources, old: SourceFile, now: SourceFile) -> Iterator[_Place]:
    """Yield where a file differs by more than comments, imports and local names."""
    paths = old.path, now.path
    base, new = sources.read([old, now])
    if base is None or new is None:
        yield _Place(paths)
        return
    hunks = sources.hunks(base, new)
    if hunks is None:
        hunks = differences(base.lines, new.lines)
    same = with_other_variables(base, new)
    for whole in ignoring_space(hunks, base, new):
        hunk = without_space(whole, base, new)
        if all(map(set.issuperset, same, hunk.sides)):
            continue
        if says_more(hunk, base, new) and not only_imports(hunk, base, new):
            yield _Place(paths, hunk, texts=(base, new))


def _all_read(carriers: Carriers) -> bool:
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
                unknown = row not in carriers.read and _of_program(names[row])
                # Closures of Go's own generic functions have their caller's package.
                unknown &= side.text is None or side.text.origin != "goroot"
                unknown &= side.lines.file != _TEST_MAIN
                if unknown and not _within_changed(carriers, side):
                    unread.add(folder)
    return unread <= (folders[0] & folders[1]) - {""}


def _within_changed(carriers: Carriers, inner: Located) -> bool:
    """Return whether a place is inside a function that changed, as a closure is."""
    return inner.extent is not None and any(
        at.text is not None
        and inner.text is not None
        and at.text.key == inner.text.key
        and at.extent is not None
        and at.extent.start <= inner.extent.start
        and inner.extent.end <= at.extent.end
        for one in carriers.changed
        for at in one.places.sides
    )


def _of_program(name: str) -> bool:
    """Return whether a function is written in Go outside Go's own tree."""
    package = "" if is_made_up(name) else package_of(name)
    return bool(package) and not is_standard_library(package)
