"""What a refactoring does to the functions of a profile, done in decoded memory."""

from __future__ import annotations

import random
import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from posixpath import basename
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace

from pprofdiff.goruntime.names import (
    is_runtime_like,
    is_standard_library,
    package_end,
    package_of,
    strip_type_arguments,
)
from pprofdiff.goruntime.versions import disjoint, infer_go_version
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import Profile

T = TypeVar("T")
_CLOSURE = re.compile(
    r"(?:[.·](?:func|gowrap|deferwrap)\d+|[.·]dwrap[.·]\d+|-fm|-range\d+|\.\d+)+$"
)
_NUMBER = re.compile(r"\.func(\d+)")
_SIGMA = 10


class Head(NamedTuple):
    """The function that a symbol names first: `receiver` is ``""``, ``T`` or ``(*T)``."""

    package: str
    receiver: str
    function: str

    @property
    def type(self) -> str:
        """The receiver's type, without a star and type arguments."""
        return strip_type_arguments("x." + self.receiver.strip("(*)"))[2:]

    @property
    def plain(self) -> Head:
        """The function without type arguments."""
        bare = strip_type_arguments("x." + self.function)[2:]
        receiver = strip_type_arguments("x." + self.receiver)[2:]
        return Head(self.package, receiver, bare)


class Symbol(NamedTuple):
    """A symbol taken apart: `inner` is inlined into `head`, `end` numbers a closure."""

    head: Head
    inner: Head | None
    end: str


class Edit(NamedTuple):
    """How one side's profiles change; all keys are the names before.

    `names` and `files` are new ones, `down` is the number of lines by which a function
    moves, `gone` are functions whose frames are left out of the stacks. Without `lines`
    all lines are unknown.
    """

    names: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    down: Mapping[str, int] = {}
    gone: frozenset[str] = frozenset()
    lines: bool = True


def _tokens(rest: str) -> Iterator[str]:
    """Yield what stands between the dots that are in no brackets."""
    depth = start = 0
    for i, char in enumerate(rest):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "." and not depth:
            yield rest[start:i]
            start = i + 1
    yield rest[start:]


def _symbol(name: str, known: frozenset[str]) -> Symbol | None:
    """Take a symbol apart; `known` separates a method of a value from an inlined function."""
    end = package_end(name)
    if not end or is_runtime_like(name) or name.startswith(("type:", "go:", "type..")):
        return None
    path, rest = name[:end], name[end + 1 :]
    closure = _CLOSURE.search(rest, 1)
    stop = closure.start() if closure else len(rest)
    words = list(_tokens(rest[:stop]))
    if not all(words) or any("-fm" in word for word in words):
        return None

    def take(at: int) -> tuple[Head, int]:
        method = at + 1 < len(words) and (
            words[at].startswith("(")
            or (not closure and len(words) == 2)
            or f"{path}.{words[at]}.{words[at + 1]}" in known
            or f"{path}.(*{words[at]})." in known
        )
        if method:
            return Head(path, words[at], words[at + 1]), at + 2
        return Head(path, "", words[at]), at + 1

    head, at = take(0)
    inner = None
    if at < len(words):
        inner, at = take(at)
    return Symbol(head, inner, rest[stop:]) if at == len(words) else None


def _text(head: Head) -> str:
    return f"{head.receiver}.{head.function}" if head.receiver else head.function


def _spelled(symbol: Symbol) -> str:
    inner = f".{_text(symbol.inner)}" if symbol.inner else ""
    return f"{symbol.head.package}.{_text(symbol.head)}{inner}{symbol.end}"


Places = dict[str, tuple[str, int]]


def _places(profiles: Sequence[Profile]) -> Places:
    places: Places = {}
    for profile in profiles:
        strings, functions = profile.strings, profile.functions
        for name, file, line in zip(
            functions.name.tolist(),
            functions.filename.tolist(),
            functions.start_line.tolist(),
            strict=True,
        ):
            places.setdefault(strings[name], (strings[file], line))
    return places


@dataclass(frozen=True, eq=False)
class Subject:
    """A pair of captures whose functions are to be hidden: names, files and lines."""

    base: tuple[Profile, ...]
    new: tuple[Profile, ...]

    @cached_property
    def sides(self) -> tuple[Places, Places]:
        """File and first line of the functions of base and of new."""
        return _places(self.base), _places(self.new)

    @cached_property
    def places(self) -> Places:
        """File and first line of all functions, in new if both sides have one."""
        return self.sides[0] | self.sides[1]

    @cached_property
    def names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The symbols of base and of new."""
        return frozenset(self.sides[0]), frozenset(self.sides[1])

    @cached_property
    def uncertain(self) -> frozenset[str]:
        """Symbols that equal names do not identify.

        Numbers of closures change when the source does: one of both sides is the same
        if it moved by as many lines as what stands before it in its file and is no
        closure. Where the body of a function went into an internal package and its name
        stayed, as in strings and strconv in Go 1.23 and 1.26, it may be either.
        """
        base, new = self.sides
        by_file: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for name in self.common:
            file, line = base[name]
            if not self.symbols[name].end and line > 0 and new[name][1] > 0:
                by_file[file].append((line, new[name][1] - line))
        uncertain = set()
        for name in self.common:
            file, line = base[name]
            if self.symbols[name].end:
                before = [spot for spot in by_file[file] if spot[0] <= line]
                shift = max(before)[1] if before else 0
                if (
                    not line
                    or new[name][1] - line != shift
                    or basename(file) != basename(new[name][0])
                ):
                    uncertain.add(name)
        return frozenset(uncertain | self._bodies_moved())

    def _bodies_moved(self) -> set[str]:
        """Return `P.F` and `internal/P….F` where one side alone has the latter.

        They are of two Go releases, whose runtimes have other lines: with one
        release, a side has not sampled it.
        """
        base, new = self.sides
        both = [name for name in base if name in new and name.startswith("runtime.")]
        if all(base[name][1] == new[name][1] for name in both):
            return set()
        public: dict[str, list[str]] = defaultdict(list)
        for name in self.places:
            public[name[package_end(name) :]].append(name)
        moved = set()
        for name in self.names[0] ^ self.names[1]:
            if name.startswith("internal/"):
                last = name[: package_end(name)].rpartition("/")[2]
                for other in public[name[package_end(name) :]]:
                    path = other[: package_end(other)]
                    if path and last.startswith(path):
                        moved |= {name, other}
        return moved

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """The symbols of both sides outside the runtime, taken apart."""
        every = self.names[0] | self.names[1]
        plain = {strip_type_arguments(name) for name in every}
        types = {name[: name.index(").") + 2] for name in plain if ".(*" in name}
        known = frozenset(every | plain | types)
        symbols = {name: _symbol(name, known) for name in sorted(every)}
        return {name: symbol for name, symbol in symbols.items() if symbol}

    @cached_property
    def common(self) -> list[str]:
        """The symbols that both sides have."""
        return [n for n in self.symbols if n in self.names[0] and n in self.names[1]]

    @cached_property
    def units(self) -> list[Head]:
        """The functions on both sides that can get another name, without closures.

        The standard library's get one in another release only.
        """
        spans = [infer_go_version(names) for names in self.names]
        released = disjoint(*spans)
        heads = {
            self.symbols[name].head.plain
            for name in self.common
            if released or not is_standard_library(package_of(name))
        }
        return sorted(h for h in heads if h.receiver or h.function not in _FIXED)

    @cached_property
    def members(self) -> dict[Head, list[str]]:
        """The symbols of each function: itself, its instances and its closures."""
        members: dict[Head, list[str]] = defaultdict(list)
        for name, symbol in self.symbols.items():
            members[symbol.head.plain].append(name)
        return dict(members)

    def renamed(self, heads: Mapping[Head, Head]) -> dict[str, str]:
        """Return the symbols that other names of functions change; none collide."""
        names: dict[str, str] = {}
        taken = set(self.names[0] | self.names[1])
        for name, symbol in self.symbols.items():
            head, inner = symbol.head, symbol.inner
            if head.plain in heads:
                head = _put(head, heads[head.plain])
            if inner and inner.plain in heads:
                inner = _put(inner, heads[inner.plain])
            now = _spelled(Symbol(head, inner, symbol.end))
            if now != name and now not in taken:
                names[name] = now
                taken.add(now)
        return names


_MODULE = re.compile(r"(?<!golang\.org/toolchain)@v")
_FIXED = frozenset(("main", "init", "glob", "TestMain"))


def _put(head: Head, now: Head) -> Head:
    """Return `now` with the type arguments of `head`."""
    function = now.function
    if "[" in head.function and "[" not in function:
        function += head.function[head.function.index("[") :]
    receiver = now.receiver
    if "[" in head.receiver and receiver and "[" not in receiver:
        arguments = head.receiver[head.receiver.index("[") :]
        receiver = receiver.rstrip(")") + arguments
    return Head(now.package, receiver, function)


def edited(profiles: Sequence[Profile], edit: Edit) -> tuple[Profile, ...]:
    """Return the profiles after the edit."""
    return tuple(_edited(profile, edit) for profile in profiles)


def _edited(profile: Profile, edit: Edit) -> Profile:
    strings, functions, locations = (
        profile.strings,
        profile.functions,
        profile.locations,
    )
    known: dict[str, int] = {}

    def place(text: str) -> int:
        return known.setdefault(text, len(strings) + len(known))

    columns = functions.name.copy(), functions.system_name.copy()
    file, down = functions.filename.copy(), np.zeros(len(functions) + 1, np.int64)
    gone = np.zeros(len(functions) + 1, np.bool_)
    for row, number in enumerate(functions.name.tolist()):
        name = strings[number]
        if name in edit.names:
            columns[0][row] = columns[1][row] = place(edit.names[name])
        path = edit.files.get(name, strings[file[row]])
        if edit.names and _MODULE.search(path):
            # A module's functions get other names in another version of it only.
            path = _MODULE.sub("@v9.", path)
        if path != strings[file[row]]:
            file[row] = place(path)
        down[row] = edit.down.get(name, 0)
        gone[row] = name in edit.gone
    rows = locations.line_function
    start, line = functions.start_line, locations.line_number
    if edit.lines:
        start = np.where(start > 0, np.maximum(start + down[:-1], 1), start)
        line = np.where(line > 0, np.maximum(line + down[rows], 1), line)
    else:
        start, line = np.zeros_like(start), np.zeros_like(line)
    profile = replace(
        profile,
        strings=(*strings, *known),
        functions=replace(
            functions,
            name=columns[0],
            system_name=columns[1],
            filename=file,
            start_line=start,
        ),
        locations=replace(locations, line_number=line),
    )
    return _without(profile, gone) if gone.any() else profile


def _without(profile: Profile, gone: np.ndarray) -> Profile:
    """Return the profile without the frames of some functions, as if inlined away."""
    functions, locations = profile.functions, profile.locations
    stays = ~gone[locations.line_function]
    counts = np.add.reduceat(stays, locations.line_offsets[:-1], dtype=np.int64)
    # A location whose lines are all gone keeps one of no function; no stack has it.
    empty = counts == 0
    first = locations.line_offsets[:-1][empty]
    function, number = locations.line_function.copy(), locations.line_number.copy()
    function[first], number[first] = -1, 0
    stays[first] = True
    kept = np.flatnonzero(~gone[:-1])
    position = np.full(len(functions) + 1, -1, np.int32)
    position[kept] = np.arange(len(kept), dtype=np.int32)
    shown = ~empty[profile.stack_locations]
    ends = np.concatenate(([0], np.cumsum(shown)))
    return replace(
        profile,
        functions=replace(
            functions,
            name=functions.name[kept],
            system_name=functions.system_name[kept],
            filename=functions.filename[kept],
            start_line=functions.start_line[kept],
        ),
        locations=replace(
            locations,
            line_offsets=offsets_of(np.maximum(counts, 1)),
            line_function=position[function[stays]],
            line_number=number[stays],
            line_column=locations.line_column[stays],
        ),
        stack_offsets=ends[profile.stack_offsets],
        stack_locations=profile.stack_locations[shown],
    )


Variant = Callable[[Subject, random.Random], tuple[Edit, Edit]]
"""What a variant does to base and to new."""


def _fifth(items: Sequence[T], chance: random.Random, share: float = 0.2) -> list[T]:
    """Return a random share of the items, at least one of them."""
    chosen = [item for item in items if chance.random() < share]
    return chosen or list(items[: chance.randint(0, 1)])


def _word(chance: random.Random, like: str = "a") -> str:
    """Return a random name, exported if `like` is."""
    word = "".join(chance.choices(string.ascii_lowercase, k=9))
    return word.capitalize() if like[:1].isupper() else word


def _hidden(subject: Subject, chance: random.Random) -> dict[str, str]:
    """Give a fifth of the functions a random name; their closures follow."""
    heads = _fifth(subject.units, chance)
    return subject.renamed(
        {h: h._replace(function=_word(chance, h.function)) for h in heads}
    )


def _renamed(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    return Edit(), Edit(_hidden(subject, chance))


def _file_renamed(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Rename the files of hidden functions; others in them and all lines stay."""
    names = _hidden(subject, chance)
    old = sorted({subject.places[name][0] for name in names})
    to = {file: _sibling(file, chance) for file in old if _is_source(file)}
    files = {
        name: to[file]
        for name, (file, _) in subject.places.items()
        if file in to and name in subject.symbols
    }
    return Edit(), Edit(names, files)


def _file_moved(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Move hidden functions to other places in new files, one for each old file."""
    names = _hidden(subject, chance)
    old = sorted({subject.places[name][0] for name in names})
    to = {file: _sibling(file, chance) for file in old if _is_source(file)}
    moved = {name for name in names if subject.places[name][0] in to}
    files = {name: to[subject.places[name][0]] for name in moved}
    down = {}
    for members in subject.members.values():
        mine = [name for name in members if name in moved]
        if mine:
            line = min(subject.places[name][1] for name in mine)
            by = chance.randint(10, 900) - line
            down |= dict.fromkeys(mine, by)
    return Edit(), Edit(names, files, down)


def _is_source(file: str) -> bool:
    return file.endswith((".go", ".s"))


def _sibling(file: str, chance: random.Random) -> str:
    folder, slash, base = file.rpartition("/")
    return f"{folder}{slash}{_word(chance)}{base[base.rindex('.') :]}"


def _shifts(subject: Subject, chance: random.Random) -> dict[str, int]:
    """Move all functions of a file by one number of lines, another in each file."""
    least: dict[str, int] = {}
    for name in subject.symbols:
        file, line = subject.places[name]
        least[file] = min(least.get(file, line), line)
    by = {
        file: max(chance.randint(-40, 120), 1 - line)
        for file, line in sorted(least.items())
        if _is_source(file)
    }
    return {name: by.get(subject.places[name][0], 0) for name in subject.symbols}


def _noise(subject: Subject, chance: random.Random) -> dict[str, int]:
    """Move each function by a normal number of lines.

    A closure moves with the function that it is written in, and by a number of its
    own; closures of one function stay in their order, in which they are numbered.
    """
    down: dict[str, int] = {}
    for head in sorted(subject.members):
        own = round(chance.gauss(0, _SIGMA))
        lines = sorted((subject.places[n][1], n) for n in subject.members[head])
        closures = [
            (line, n) for line, n in lines if subject.symbols[n].end and line > 0
        ]
        moved = sorted(
            line + round(chance.gauss(0, _SIGMA / 3)) for line, _ in closures
        )
        down |= dict.fromkeys(subject.members[head], own)
        for (line, name), now in zip(closures, moved, strict=True):
            down[name] = own + now - line
    return down


def _added(*downs: Mapping[str, int]) -> dict[str, int]:
    names = {name for down in downs for name in down}
    return {name: sum(down.get(name, 0) for down in downs) for name in names}


def _shifted(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    names = _hidden(subject, chance)
    return Edit(), Edit(names, down=_shifts(subject, chance))


def _noisy(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    names = _hidden(subject, chance)
    return Edit(), Edit(names, down=_noise(subject, chance))


def _no_lines(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    return Edit(lines=False), Edit(_hidden(subject, chance), lines=False)


def _extras(
    subject: Subject, chance: random.Random, names: Mapping[str, str]
) -> tuple[Edit, Edit]:
    """Add shifted and noisy lines, and functions that are really gone or new.

    One in twenty is gone from new and one in twenty from base: their frames are left
    out, as wrappers do that somebody took away, so that their callers call what
    they called. New functions have names of their own.
    """
    down = _added(_shifts(subject, chance), _noise(subject, chance))
    now = dict(names)
    gone: tuple[set[str], set[str]] = (set(), set())
    for unit in subject.units:
        members = subject.members[unit]
        if chance.random() < 0.1 and not any(name in names for name in members):
            gone[chance.randint(0, 1)].update(members)
    return Edit(gone=frozenset(gone[0])), Edit(now, {}, down, frozenset(gone[1]))


def _all_at_once(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    return _extras(subject, chance, _hidden(subject, chance))


def _packages(subject: Subject) -> list[str]:
    """Return the packages of modules that both sides show."""
    paths = {subject.symbols[name].head.package for name in subject.common}
    return sorted(
        p for p in paths - {"main"} if not is_standard_library(package_of(f"{p}.x"))
    )


def _package_renamed(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Rename a third of the modules' packages, with the folders of their files."""
    paths = _fifth(_packages(subject), chance, 1 / 3)
    to = {path: f"example.org/{_word(chance)}/{_word(chance)}" for path in paths}
    names, files = _moved(subject, to)
    base, new = _extras(subject, chance, names)
    return base, new._replace(files=files)


def _moved(
    subject: Subject, to: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    heads = {
        head: head._replace(package=to[head.package])
        for head in subject.members
        if head.package in to
    }
    names = subject.renamed(heads)
    files = {}
    for name in names:
        file = subject.places[name][0]
        path = subject.symbols[name].head.package
        if path in to and _is_source(file):
            files[name] = f"/src/{to[path]}/{file.rpartition('/')[2]}"
    return names, files


def _major_version(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Give a third of the modules their next major version."""
    module: dict[str, str] = {}
    for path in _packages(subject):
        words = path.split("/")
        many = (3 if words[0] in _HOSTS else 2) if "." in words[0] else 1
        if len(words) > many and re.fullmatch(r"v\d+", words[many]):
            many += 1
        module[path] = "/".join(words[:many])
    chosen = _fifth(sorted(set(module.values())), chance, 1 / 3)
    to = {}
    for path, root in module.items():
        if root in chosen:
            to[path] = _next_major(root) + path[len(root) :]
    return Edit(), Edit(*_moved(subject, to))


_HOSTS = ("github.com", "golang.org", "example.com", "gitlab.com")


def _next_major(root: str) -> str:
    major = re.search(r"(?:/|%2e|\.)v(\d+)$", root)
    if major:
        return f"{root[: major.start(1)]}{int(major[1]) + 1}"
    return f"{root}/v2"


def _receiver(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Rename a fifth of the types: all their methods' names change."""
    methods: dict[tuple[str, str], list[Head]] = defaultdict(list)
    for head in subject.members:
        if head.receiver:
            methods[head.package, head.type].append(head)
    shown = {(h.package, h.type) for h in subject.units if h.receiver}
    chosen = _fifth(sorted(shown), chance)
    heads = {}
    for key in chosen:
        word = _word(chance, key[1])
        for head in methods[key]:
            star = head.receiver.startswith("(*")
            heads[head] = head._replace(receiver=f"(*{word})" if star else word)
    return _extras(subject, chance, subject.renamed(heads))


def _renumbered(
    subject: Subject, chance: random.Random, *, lines: bool
) -> tuple[Edit, Edit]:
    """Insert a closure into each function that has some: later ones count one more."""
    names: dict[str, str] = {}
    inserted: dict[str, int] = {}
    common = set(subject.common)
    for head in sorted(subject.members):
        numbers = {
            name: int(_NUMBER.match(end)[1])
            for name in subject.members[head]
            for _, inner, end in (subject.symbols[name],)
            if _NUMBER.match(end) and not inner
        }
        shown = [number for name, number in numbers.items() if name in common]
        if not shown or not subject.members[head]:
            continue
        at, by = chance.choice(shown), chance.randint(3, 30)
        later = {name: n for name, n in numbers.items() if n >= at}
        for name, number in later.items():
            symbol = subject.symbols[name]
            end = f".func{number + 1}" + symbol.end[len(f".func{number}") :]
            names[name] = _spelled(symbol._replace(end=end))
        file, line = subject.places[min(later, key=lambda n: subject.places[n][1])]
        for name in subject.symbols:
            other, start = subject.places[name]
            if other == file and start >= line > 0:
                inserted[name] = inserted.get(name, 0) + by
    if not lines:
        return Edit(), Edit(names)
    down = _added(inserted, _shifts(subject, chance), _noise(subject, chance))
    return Edit(), Edit(names, down=down)


def _method(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Make functions methods of a type of their package, and methods functions."""
    types: dict[str, set[str]] = defaultdict(set)
    for head in subject.members:
        if head.receiver:
            types[head.package].add(f"(*{head.type})")
    heads = {}
    for head in _fifth(subject.units, chance):
        if head.receiver:
            # A function of that name is what initialises the package.
            if head.function != "init":
                heads[head] = head._replace(receiver="")
        else:
            known = sorted(types[head.package])
            own = chance.choice(known) if known else f"(*{_word(chance, 'T')})"
            heads[head] = head._replace(receiver=own)
    return Edit(), Edit(subject.renamed(heads))


def _generic(subject: Subject, chance: random.Random) -> tuple[Edit, Edit]:
    """Give functions and the types of methods a type parameter."""
    heads = {}
    for head in _fifth(subject.units, chance):
        if head.receiver.startswith("("):
            receiver = f"{head.receiver[:-1]}[go.shape.int])"
            heads[head] = head._replace(receiver=receiver)
        elif head.receiver:
            heads[head] = head._replace(receiver=f"{head.receiver}[go.shape.int]")
        else:
            function = f"{head.function}[go.shape.int]"
            heads[head] = head._replace(function=function)
    return Edit(), Edit(subject.renamed(heads))


VARIANTS: dict[str, Variant] = {
    "renamed": _renamed,
    "+ file renamed": _file_renamed,
    "+ moved to another file": _file_moved,
    "+ constant shift of lines": _shifted,
    "+ noise on lines": _noisy,
    "+ no lines": _no_lines,
    "+ shift, noise, 10 % gone or new": _all_at_once,
    "package renamed (shift, noise, 10 %)": _package_renamed,
    "major version /vN": _major_version,
    "receiver renamed (shift, noise, 10 %)": _receiver,
    "closures renumbered": partial(_renumbered, lines=False),
    "closures renumbered, shift, noise": partial(_renumbered, lines=True),
    "function a method, or the reverse": _method,
    "generic": _generic,
}
