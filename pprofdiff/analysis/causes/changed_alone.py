"""Which functions with samples changed, where no cause is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename, dirname
from typing import NamedTuple

from pprofdiff.analysis.causes.carriers import Carriers, with_others
from pprofdiff.analysis.causes.finding import (
    CHANGED_ALONE,
    Fact,
    Finding,
    with_spans,
)
from pprofdiff.analysis.causes.wording import (
    count,
    listed,
    listed_functions,
    others,
)
from pprofdiff.analysis.lines.listing import Located, Places
from pprofdiff.analysis.policy import MOST, SEVERAL
from pprofdiff.analysis.source.code import (
    is_constrained,
    of_imports,
    only_imports,
    says_more,
)
from pprofdiff.analysis.source.declarations import uncommented
from pprofdiff.analysis.source.extents import differences, go_file
from pprofdiff.analysis.source.imports import imported_by
from pprofdiff.analysis.source.model import RelatedLines
from pprofdiff.analysis.source.moved import (
    Declared,
    declared_in,
    is_of_head,
    only_declares,
)
from pprofdiff.analysis.source.text import WORD, code_lines, plain_lines, worded_lines
from pprofdiff.goruntime.names import (
    is_closure,
    is_made_up,
    is_standard_library,
    package_of,
    strip_type_arguments,
    versioned_folder,
)
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.model.source import Hunk, SourceFile, Sources, SourceText

# A method's type, without type arguments, and its name.
_METHOD = re.compile(r"\.\(?\*?(\w+)(?:\[[^\]]*\])?\)?\.(\w+)$")


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
    """The names of functions with CPU samples in benchmarks, and what these are."""

    functions: frozenset[str]
    benchmarks: tuple[str, ...]


def changed_alone(carriers: Carriers, ran: Ran | None) -> Finding | None:
    """Return which functions with samples changed; None if unsure.

    Modules may differ in version, so the text of every function outside Go must be
    known in both builds. Where else code changed in the packages is added, as a
    constant has no samples. Only functions that `ran` are named, if given.
    """
    if not _all_read(carriers):
        return None
    diff = carriers.diff
    names, cum = list(diff.paired_functions.names), diff.paired_functions.raw("cum")
    size = {
        row: sum(diff.normalization.scaled(*(int(side[row]) for side in cum)))
        for row in carriers.by_row
        if (ran is None or names[row] in ran.functions)
        and not _of_renamed_type(carriers, row)
    }
    # Code of tests is not the program's: it comes last.
    rows = sorted(size, key=lambda row: (_of_tests(carriers, row), -size[row]))
    rows = _each_once(carriers, rows, names)
    silent = [at for at in _changed_places(carriers) if _silent(carriers, rows, at)]
    every, moved = _without_moved(silent)
    places = [at for at in every if not _renames(carriers, at)]
    types = _types((at for _, at in carriers.looked_up), places)
    elsewhere = [at for at in places if at.built and at not in types]
    changed = [row for row in rows if all(_sides(carriers, row))]
    profile = "CPU profile" if diff.is_cpu else f"{diff.name} profile"
    if ran is not None:
        several = "s" if len(ran.benchmarks) > 1 else ""
        profile = f"CPU profile{several} of {listed(ran.benchmarks)}"
    title = _who(names, changed, profile)
    if not changed and any(at.imports for at in places):
        title += ", except by imports"
    facts: tuple[Fact, ...] = ()
    if len(changed) == 1 and diff.is_cpu:
        base, new = (int(side[changed[0]]) for side in cum)
        what = f"{names[changed[0]]} (cum)"
        facts = (Fact(what, "cpu profile", base, new, diff.unit),)
    clauses = [title, *_one_sided(carriers, rows), *_of_types(types)]
    if elsewhere:
        how = "added" if all(at.added for at in elsewhere) else "changed"
        clauses.append(f"code {how} elsewhere: {_where(elsewhere)}")
    if moved:
        clauses.append(f"code only moved between files: {listed(moved)}")
    if not rows and len(places) < len(every):
        clauses.append(f"only renamed: {_renamed(carriers)}")
    named = _first_of_each(carriers, rows)
    source = None
    if named:
        # What the title says of the functions is that these lines changed.
        source = with_others(carriers, named, ())
        source = source._replace(holding=frozenset(one.place for one in source.near))
    finding = Finding(
        CHANGED_ALONE,
        "; ".join(clauses),
        "",
        facts,
        functions=tuple(names[row] for row in named),
        source=source,
    )
    return with_spans(finding)


def _renamed(carriers: Carriers) -> str:
    """Return which functions got another name or receiver, the first ones by name."""
    table = carriers.diff.paired_functions.table
    said = [
        " to ".join(distinct_names([before, name]))
        for before, name in zip(table.base_names, table.names, strict=True)
        if before is not None and not is_closure(name)
    ]
    return listed([*said[:SEVERAL], *others(len(said) - SEVERAL)])


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
    return [
        row
        for row in kept
        if not all(carriers.in_closure(i) for i in carriers.by_row[row])
    ]


def _who(names: Sequence[str], changed: Sequence[int], profile: str) -> str:
    """Return which functions with samples changed, the first ones by name."""
    if not changed:
        return f"The code of no function in the {profile} changed"
    if len(changed) > SEVERAL:
        first = distinct_names([names[row] for row in changed[:SEVERAL]])
        return (
            f"The code of {count(len(changed))} functions in the {profile} changed: "
            f"{listed([*first, f'{count(len(changed) - SEVERAL)} more'])}"
        )
    who = listed_functions([names[row] for row in changed])
    what = "is the only function" if len(changed) == 1 else "are the only functions"
    return f"{who} {what} in the {profile} whose code changed"


def _sides(carriers: Carriers, row: int) -> tuple[bool, bool]:
    """Return whether base and new declare a function that differs."""
    places = carriers.places_of(row)
    return places.base is not None, places.new is not None


def _of_tests(carriers: Carriers, row: int) -> bool:
    """Return whether a function is in a file of tests."""
    places = carriers.places_of(row)
    return places.path.endswith("_test.go")


def _first_of_each(carriers: Carriers, rows: Sequence[int]) -> list[int]:
    """Return the functions to name: changed, new and gone ones, a few of each."""
    kinds: dict[tuple[bool, bool], list[int]] = {(True, True): []}
    for row in rows:
        kinds.setdefault(_sides(carriers, row), []).append(row)
    return [row for some in kinds.values() for row in some[:SEVERAL]]


def _one_sided(carriers: Carriers, rows: Sequence[int]) -> Iterator[str]:
    """Yield which functions only one side declares, and whose code they have."""
    names = carriers.diff.paired_functions.names
    for sides, verb in (((False, True), "new"), ((True, False), "gone")):
        some = [row for row in rows if _sides(carriers, row) == sides]
        if verb == "new":
            some += _new_closures(carriers)
        by_origin = dict[int | None, list[str]]()
        for row in some[:SEVERAL]:
            known = verb == "new" and row in carriers.by_row
            source = moved_from(carriers, row) if known else None
            by_origin.setdefault(source, []).append(names[row])
        for source, found in by_origin.items():
            are = "is" if len(found) == 1 else "are"
            if source is None:
                yield f"{listed_functions(found)} {are} {verb}"
            else:
                *alike, origin = distinct_names([*found, names[source]])
                yield f"{listed(alike)} {are} new, with code of {origin}"
        if len(some) > SEVERAL:
            yield f"{count(len(some) - SEVERAL)} more are {verb}"


def _new_closures(carriers: Carriers) -> list[int]:
    """Return the closures that are new with the lines of a function that changed.

    Their names are numbers: base may use the same one for another closure.
    """
    return [
        row
        for row, places in carriers.looked_up
        if row not in carriers.by_row
        and places.base is None
        and places.new is not None
        and is_closure(carriers.diff.paired_functions.names[row])
        and _is_added(carriers, places.new)
    ]


def _is_added(carriers: Carriers, place: Located) -> bool:
    """Return whether all lines of a place are added by one hunk."""
    return place.extent is not None and any(
        one.places.path == place.path
        and not one.hunk.base_count
        and one.hunk.new_start <= place.extent.start
        and place.extent.end < one.hunk.new_start + one.hunk.new_count
        for one in carriers.changed
    )


def _of_renamed_type(carriers: Carriers, row: int) -> bool:
    """Return whether a method that one side lacks is there, with another type's name.

    Its code is the same but for that name.
    """
    names, sides = carriers.diff.paired_functions.names, _sides(carriers, row)
    places = carriers.places_of(row)
    at = places.base or places.new
    own = _METHOD.search(names[row])
    if all(sides) or own is None or at is None or not (at.text and at.extent):
        return False
    kind, method = own.groups()
    lines = at.text.lines[at.extent.start - 1 : at.extent.end]
    wanted = _code_of(kind, "\n".join(lines))
    other = int(sides[0])
    here = SourceFile(at.text.path, at.text.origin, at.text.key)
    files = [
        file
        for file in carriers.sources.folder(other, here)
        if dirname(file.path) == dirname(here.path) and file.path.endswith(".go")
    ]
    for text in filter(None, carriers.sources.read(files)):
        file = go_file(text.lines)
        for one in file.functions:
            receiver, _, name = one.name.rpartition(".")
            code = file.code(one.start, one.end)
            renamed = receiver not in ("", kind) and name == method
            if renamed and _code_of(receiver, code) == wanted:
                return True
    return False


def _code_of(receiver: str, code: str) -> list[str]:
    """Return the words of a method without comments and without its type's name."""
    return re.sub(rf"\b{re.escape(receiver)}\b", "", uncommented(code)).split()


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

    A path is None where a side does not have the file. It is not `built` if only some
    systems or tags have the file, and it has no samples. A `test` has none either.
    `imports` says that one package replaces another under its name. `texts` are those
    of the hunk's files.
    """

    paths: tuple[str | None, str | None]
    hunk: Hunk | None = None
    built: bool = True
    test: bool = False
    imports: bool = False
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
    def lines(self) -> str:
        """The place without a note, as ``file.go:12-14``: in new, if it has lines."""
        if self.hunk is None:
            return self.path
        base, new = self.hunk.sides
        lines = new or base
        last = f"-{lines[-1]}" if len(lines) > 1 else ""
        return f"{self.path}:{lines.start}{last}"

    def span(self, side: int) -> range:
        """Return its lines on a side that has the file."""
        if self.hunk is not None:
            return self.hunk.sides[side]
        text = self.texts[side]
        return range(0) if text is None else range(1, len(text.lines) + 1)

    @property
    def added(self) -> bool:
        """Whether base has no lines there."""
        return self.paths[0] is None or (self.hunk is not None and not self.span(0))

    @property
    def removed(self) -> bool:
        """Whether new has no lines there."""
        return self.hunk is not None and not self.hunk.new_count

    @property
    def name(self) -> str:
        """The place for display, with a note on imports or removed lines."""
        name = f"{self.lines} (imports)" if self.imports else self.lines
        return f"{name} (removed)" if self.removed else name


def _renames(carriers: Carriers, place: _Place) -> bool:
    """Return whether a place only names functions otherwise that were renamed."""
    base, new = place.texts
    if place.hunk is None or base is None or new is None:
        return False
    return carriers.only_renames(place.hunk, (base, new))


def _silent(carriers: Carriers, rows: Sequence[int], place: _Place) -> bool:
    """Return whether a place is outside of the changed functions in `rows`.

    Its lines in new decide, if it has any: what they replaced may be a function's.
    Tests have no code of the program.
    """
    if place.of_tests:
        return False
    changed = [one for one in carriers.changed if one.row in rows]
    if place.hunk is None:
        return not any(
            at.text is not None and at.text.path == place.path
            for one in changed
            for at in one.places.sides
        )
    side = 1 if place.hunk.new_count else 0
    path, lines = place.paths[side], place.hunk.sides[side]
    return not any(
        at is not None
        and at.text is not None
        and at.text.path == path
        and at.extent is not None
        and max(lines.start, at.extent.start) < min(lines.stop, at.extent.end + 1)
        for at in (one.places.side(side) for one in changed)
    )


def _types(functions: Iterable[Places], places: Sequence[_Place]) -> dict[_Place, str]:
    """Return the struct types that changed and that functions name, by place.

    How large a type is decides what its values cost, though no function changed.
    """
    words = set[str]()
    for at in (side for one in functions for side in one.sides):
        if at is not None and at.text is not None and at.extent is not None:
            lines = range(at.extent.start, at.extent.end + 1)
            words.update(WORD.findall("\n".join(plain_lines(at.text, lines))))
    types = {
        place: _struct_at(place)
        for place in places
        if place.built and not place.of_tests
    }
    return {
        place: name for place, name in types.items() if name.rpartition(".")[2] in words
    }


def made_types(carriers: Carriers, rows: Sequence[int]) -> tuple[RelatedLines, ...]:
    """Return the types with other fields that functions of `rows` name.

    Where they make as many values as before, these are larger or smaller for that.
    """
    names = carriers.diff.paired_functions.names
    places = list(_changed_places(carriers))
    found = dict[_Place, RelatedLines]()
    for row, function in carriers.looked_up:
        for place, name in _types([function], places).items() if row in rows else ():
            if place.hunk is not None:
                lines = carriers.lines_of(name, place.texts, place.hunk)
                made = RelatedLines(lines, names[row], makes=True)
                found.setdefault(place, made)
    return tuple(found.values())[:SEVERAL]


def _struct_at(place: _Place) -> str:
    """Return the struct type whose fields a place has, ``ast.Leaf``, "" for none.

    A first line with another name alone is that of a renamed type.
    """
    if place.hunk is None:
        return ""
    side = 1 if place.hunk.new_count else 0
    text, lines = place.texts[side], place.hunk.sides[side]
    if text is None:
        return ""
    file = go_file(text.lines)
    for one in file.structs:
        inside = one.line <= lines.start and lines.stop - 1 <= one.last
        if inside and (lines.stop - 1 > one.line or one.line == one.last):
            return f"{file.package}.{one.name}"
    return ""


def _where(places: Sequence[_Place]) -> str:
    """Return places by name; of many, how many there are, and in which few files."""
    if len(places) <= SEVERAL:
        return listed([at.name for at in places])
    files = list(dict.fromkeys(at.path for at in places))
    many = f"{count(len(places))} places"
    return f"{many} in {listed(files)}" if len(files) <= SEVERAL else many


def _of_types(types: Mapping[_Place, str]) -> Iterator[str]:
    """Yield which types have other fields, the first ones by name."""
    if not types:
        return
    places: dict[str, str] = {}
    for place, name in types.items():
        at = f"removed {place.lines}" if place.removed else place.lines
        places.setdefault(name, at)
    shown = [f"{name} ({at})" for name, at in list(places.items())[:SEVERAL]]
    rest = len(places) - len(shown)
    of = "type" if len(places) == 1 else "types"
    more = [f"{count(rest)} more"] if rest else []
    yield f"the fields of {of} {listed([*shown, *more])} changed"


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
                    yield _alone(sources, (old, now), sampled=sampled, test=test)
            elif old.key != now.key:
                for place in _hunks_of(sources, old, now):
                    yield place._replace(built=place.built or sampled, test=test)


def _alone(
    sources: Sources,
    files: tuple[SourceFile | None, SourceFile | None],
    *,
    sampled: bool,
    test: bool,
) -> _Place:
    """Return a file that one side has."""
    texts = tuple(None if one is None else sources.read([one])[0] for one in files)
    built = sampled or not any(one and is_constrained(one) for one in texts)
    old, now = (one and one.path for one in files)
    return _Place((old, now), built=built, test=test, texts=(texts[0], texts[1]))


def _without_moved(places: Sequence[_Place]) -> tuple[list[_Place], list[str]]:
    """Return places without those where functions only moved, and the files of these.

    Not files that are not built.
    """
    declared = _declared(places)
    left, moved = list[_Place](), set[str]()
    for place in places:
        if not _only_moves(place, declared):
            left.append(place)
        elif place.built:
            moved.add(basename(place.path))
    for folder in {dirname(place.path) for place in left}:
        here = [one for one in left if one.built and dirname(one.path) == folder]
        if len(here) > 1 and _same_code(here):
            left = [one for one in left if one not in here]
            moved |= {basename(one.path) for one in here}
    return left, sorted(moved)


def _same_code(places: Sequence[_Place]) -> bool:
    """Return whether places have the same lines of code in base and in new, in all."""
    base, new = (
        Counter(
            code
            for place in places
            for text in [place.texts[side]]
            if text is not None
            for code in code_lines(text, place.span(side))
            if not is_of_head(code)
        )
        for side in (0, 1)
    )
    return base == new


def _declared(places: Sequence[_Place]) -> tuple[Declared, Declared]:
    """Return the functions of files that differ and are built, in base and in new."""
    built = [at.texts for at in places if at.built]
    base, new = ({texts[side] for texts in built} for side in (0, 1))
    return declared_in(filter(None, base)), declared_in(filter(None, new))


def _only_moves(place: _Place, declared: tuple[Declared, Declared]) -> bool:
    """Return whether functions of a place only moved to another file, or came of one.

    `declared` are the functions of base and of new that may be theirs.
    """
    return any(place.texts) and all(
        text is None or only_declares(text, place.span(side), declared[1 - side])
        for side, text in enumerate(place.texts)
    )


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
    """Yield where a file differs by more than comments and imports."""
    paths = old.path, now.path
    base, new = sources.read([old, now])
    if base is None or new is None:
        yield _Place(paths)
        return
    built = not (is_constrained(base) or is_constrained(new))
    hunks = sources.hunks(base, new)
    for hunk in differences(base.lines, new.lines) if hunks is None else hunks:
        if says_more(hunk, base, new) and not only_imports(hunk, base, new):
            imports = of_imports(hunk, base, new)
            yield _Place(paths, hunk, built, imports=imports, texts=(base, new))


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
                unknown = row not in carriers.known and _of_program(names[row])
                # Closures of Go's own generic functions have their caller's package.
                unknown &= side.text is None or side.text.origin != "goroot"
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
