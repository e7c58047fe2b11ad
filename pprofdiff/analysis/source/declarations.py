"""Declarations in the source of both builds, to match functions in profiles."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from posixpath import basename, dirname
from typing import NamedTuple

from pprofdiff.goruntime.names import package_of
from pprofdiff.identity.declared import Declared, Key, Literal, Place, Tree
from pprofdiff.identity.evidence import SideEvidence
from pprofdiff.identity.symbols import Symbol, Symbols
from pprofdiff.model.source import SourceFile, Sources, SourceText

# Text to skip: comments, and string and rune literals.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*(?:`|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?',
    re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_FUNCTION = re.compile(
    r"^func\b[ \t]*(?:\(([^()]*)\)[ \t]*)?(\w++)(?=\s*+[\[(])", re.MULTILINE
)
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\Z")
# Types whose values are of other sizes with other fields or elements.
_COMPOUND = r"(?:\[[^{\n]*\])?[ \t]+(?:struct[ \t]*\{|\[|map\[)"
_VALUE = r"(?=[ \t,].*=)"
# gofmt puts the closing brace on its own line.
_CLOSING = re.compile(r"\n\}(?=[ \t\r]*(?:\n|\Z))")
_BRACKET = re.compile(r"[(){}\[\]\n]")
_CLOSURE = re.compile(r"\b(?:func|go|defer|for)\b")
_PACKAGE = re.compile(r"^package[ \t]+(\w+)", re.MULTILINE)
# Gives a declared function the name of one of another package.
_LINKNAME = re.compile(r"^//go:linkname[ \t]+(\S+)[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_PARENTHESIS = re.compile(r"[()]")
_OPENING = re.compile(r"\s*\(")
_EMPTY_TYPE = re.compile(r"\b(?:interface|struct)\s*\{\s*\}")
_AFTER_PARAMETERS = re.compile(r"[{}=;,\n()]")
# The result types of a function literal are shorter than this.
_LONGEST_RESULT = 1_000


class Function(NamedTuple):
    """A declared function, `F` or `T.M`, or type: offsets in the text, lines from 1."""

    name: str
    start: int
    end: int
    line: int
    last: int


class _Closure(NamedTuple):
    """Code that may compile to a closure, by the keyword that it begins with."""

    kind: str
    start: int
    end: int
    line: int


class GoFile:
    """The text of a Go file, and what it declares.

    `plain` has the same length, with blanks for comments and literals.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = _OPAQUE.sub(_blank, text)

    def code(self, start: int, end: int) -> str:
        """Return a part of the text without comments."""
        return uncommented(self.text[start:end])

    @property
    def package(self) -> str:
        """The name of its package, "" if it has none."""
        named = _PACKAGE.search(self.plain)
        return "" if named is None else named[1]

    @property
    def in_test_package(self) -> bool:
        """Whether its package tests another one from outside."""
        return self.package.endswith("_test")

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line, and of the end of the text."""
        lines = self.text.split("\n")
        return [0, *accumulate(len(line) + 1 for line in lines)]

    @cached_property
    def linked(self) -> list[tuple[str, str]]:
        """The functions that linkname renames, as (name in the program, declared)."""
        return [(match[2], match[1]) for match in _LINKNAME.finditer(self.text)]

    @cached_property
    def functions(self) -> list[Function]:
        """The functions that start at the beginning of a line, as gofmt writes them."""
        found = list(_FUNCTION.finditer(self.plain))
        limits = [match.start() for match in found[1:]] + [len(self.plain)]
        functions = []
        line = at = 0
        for match, limit in zip(found, limits, strict=False):
            start, end = match.start(), self._end(match.start(), limit)
            line += self.plain.count("\n", at, start)
            last = line + self.plain.count("\n", start, end)
            at = start
            receiver = _RECEIVER.search(match[1]) if match[1] is not None else None
            name = f"{receiver[1]}.{match[2]}" if receiver else match[2]
            functions.append(Function(name, start, end, line + 1, last + 1))
        return functions

    @cached_property
    def compound(self) -> list[Function]:
        """The types of structs, slices, arrays and maps, as functions are."""
        return list(self._specified("type", _COMPOUND))

    @property
    def values(self) -> list[Function]:
        """The variables and constants that have a value, as functions are."""
        return list(self._specified("var|const", _VALUE))

    def _specified(self, keywords: str, rest: str) -> Iterator[Function]:
        """Yield what declarations of a kind name, alone or in a group as gofmt has it.

        After the name there is `rest`, a pattern.
        """
        opened = re.finditer(rf"^(?:{keywords})[ \t]*\(", self.plain, re.MULTILINE)
        groups = [(one.start(), self.balanced(one.start())) for one in opened]
        spec = rf"^((?:{keywords})[ \t]+|\t)(\w+){rest}"
        for match in re.finditer(spec, self.plain, re.MULTILINE):
            start, end = match.start(2), self.balanced(match.start(2))
            grouped = any(first < start < last for first, last in groups)
            if grouped == (match[1] == "\t"):
                line = self.plain.count("\n", 0, start) + 1
                last = line + self.plain.count("\n", start, end)
                yield Function(match[2], start, end, line, last)

    def _end(self, start: int, limit: int) -> int:
        """Return where a declaration ends: at a line that leaves no bracket open."""
        newline = self.plain.find("\n", start)
        first = self.plain[start : newline if newline >= 0 else limit]
        if all(first.count(o) == first.count(c) for o, c in ("{}", "()", "[]")):
            return start + len(first)
        end = _CLOSING.search(self.plain, start, limit)
        return end.end() if end else self.balanced(start)

    def balanced(self, start: int) -> int:
        """Return the end of the first line from here that leaves no bracket open."""
        depth = 0
        for bracket in _BRACKET.finditer(self.plain, start):
            if bracket[0] == "\n":
                if depth <= 0:
                    return bracket.start()
            else:
                depth += 1 if bracket[0] in "([{" else -1
                if depth < 0:
                    return bracket.start()
        return len(self.plain)

    def closures(self, start: int, end: int) -> Iterator[_Closure]:
        """Yield what may compile to a closure in a part of the text, in order."""
        line, at = self.plain.count("\n", 0, start) + 1, start
        for word in self.keywords(start, end):
            line += self.plain.count("\n", at, word.start())
            at = word.start()
            yield _Closure(word[0], at, min(self.balanced(word.end()), end), line)

    def keywords(self, start: int, end: int) -> Iterator[re.Match[str]]:
        """Yield the keywords that begin closures in a part of the text."""
        for word in _CLOSURE.finditer(self.plain, start, end):
            if word[0] != "func" or self._is_literal(word.end()):
                yield word

    def _is_literal(self, at: int) -> bool:
        """Return whether a literal follows the keyword `func`, rather than a type."""
        plain, opening = self.plain, _OPENING.match(self.plain, at)
        if opening is None:
            return False
        after = self._closing(opening.end() - 1)
        rest = _EMPTY_TYPE.sub("", plain[after : after + _LONGEST_RESULT])
        depth = 0
        for match in _AFTER_PARAMETERS.finditer(rest):
            mark = match[0]
            if mark == "(":
                depth += 1
            elif mark == ")" and depth:
                depth -= 1
            elif depth == 0:
                return mark == "{"
        return False

    def _closing(self, opening: int) -> int:
        """Return the offset after the parenthesis that closes the one at `opening`."""
        depth = 0
        for match in _PARENTHESIS.finditer(self.plain, opening):
            depth += 1 if match[0] == "(" else -1
            if depth == 0:
                return match.end()
        return len(self.plain)


def uncommented(text: str) -> str:
    """Return a text with blanks for comments, except directives (``//go:``)."""
    return _OPAQUE.sub(_without_comment, text)


def _without_comment(match: re.Match[str]) -> str:
    text = match[0]
    if not text.startswith(("//", "/*")) or text.startswith("//go:"):
        return text
    return " " + "\n" * text.count("\n")


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    return _NOT_NEWLINE.sub(" ", text) if "\n" in text else " " * len(text)


_VERSION = re.compile(r"@v[^/]*")
_MAJOR = re.compile(r"/v\d+(?=/|@|$)")
_KINDS = {
    ".func": ("func", "go", "defer"),
    ".gowrap": ("go",),
    ".deferwrap": ("defer",),
    "-range": ("for",),
}
# Origins that have the text as built, wherever the build ran.
_CERTAIN = ("git", "folder", "module")
_TEST = " [test]"
# A package may have any number of these functions.
_INIT = re.compile(r"\.init\.\d+\Z")


def trees_of(
    sources: Sources, base: SideEvidence, new: SideEvidence
) -> tuple[Tree, Tree]:
    """Return what the source of each side declares in the packages of its profile.

    Only folders whose files differ are read: others declare the same on both sides.
    """
    sides = _Side(sources, 0, base), _Side(sources, 1, new)
    for one, other in (sides, sides[::-1]):
        one.look_up(other.found)
    differ = {
        folder
        for side in sides
        for folder in side.folders
        if not _equal(*(s.folders.get(folder, ()) for s in sides))
    }
    return sides[0].tree(differ), sides[1].tree(differ)


def _equal(base: Sequence[SourceFile], new: Sequence[SourceFile]) -> bool:
    """Return whether two folders are known to have the same files."""
    return [(basename(f.path), f.key) for f in base] == [
        (basename(f.path), f.key) for f in new
    ]


class _Found(NamedTuple):
    """A function's file in the tree, and a name for its folder shared by both sides."""

    folder: str
    file: SourceFile


class _Function(NamedTuple):
    """A function in a scanned file, or all the text between functions; lines from 1."""

    key: Key
    file: str
    start: int
    end: int
    text: str
    closures: tuple[Literal, ...]


class _Scanned:
    """A scanned file: its `functions` in order, and last the text around them."""

    def __init__(self, folder: str, text: SourceText) -> None:
        file = GoFile("\n".join(text.lines))
        folder += _TEST if file.in_test_package else ""
        name = basename(text.path)
        self.functions: list[_Function] = []
        inits = 0
        around, at = [], 0
        outer: list[Literal] = []

        def literals(start: int, end: int, line: int) -> list[Literal]:
            return [
                Literal(one.line - line, one.kind, file.text[one.start : one.end])
                for one in file.closures(start, end)
            ]

        for one in file.functions:
            called = one.name
            if called == "init":
                # A package may have any number of them.
                inits += 1
                called = f"init {name} {inits}"
            self.functions.append(
                _Function(
                    Key(folder, called),
                    text.path,
                    one.line,
                    one.last,
                    file.text[one.start : one.end],
                    tuple(literals(one.start, one.end, one.line)),
                )
            )
            around.append(file.text[at : one.start])
            outer += literals(at, one.start, 1)
            at = one.end
        outer += literals(at, len(file.text), 1)
        around.append(file.text[at:])
        self._starts = [one.start for one in self.functions]
        self.functions.append(
            _Function(
                Key(folder, f"var {name}"),
                text.path,
                1,
                len(text.lines),
                "".join(around),
                tuple(outer),
            )
        )

    def place(self, symbol: Symbol, start: int) -> Place | None:
        """Return the place of the closure or `init` that starts in a line, from 1."""
        at = bisect_right(self._starts, start) - 1
        inside = at >= 0 and start <= self.functions[at].end
        function = self.functions[at if inside else -1]
        if not symbol.kinds:
            is_it = function.key.name.startswith("init ") and function.start == start
            return Place(function.key) if is_it else None
        for kind in _KINDS.get(symbol.kinds[-1], ()):
            line = start - function.start
            here = [c for c in function.closures if (c.line, c.kind) == (line, kind)]
            if here:
                # Nothing distinguishes several of a kind in one line.
                return Place(function.key, line, kind) if len(here) == 1 else None
        return None


class _Side:
    """One side's functions and the folders of their packages."""

    def __init__(self, sources: Sources, side: int, evidence: SideEvidence) -> None:
        self._sources = sources
        self._side = side
        self._evidence = evidence
        self._symbols = Symbols(evidence.names, {})
        self.found = [
            self._file(name, file)
            for name, file in zip(evidence.names, evidence.files, strict=True)
        ]
        self.folders: dict[str, tuple[SourceFile, ...]] = {}
        self.look_up(self.found)

    def _file(self, name: str, path: str) -> _Found | None:
        file = self._sources.file(self._side, name, path)
        if file is None or file.origin not in _CERTAIN:
            return None
        # A module is the same in another version, wherever it is stored.
        folder = dirname(file.path)
        if file.origin == "module":
            folder = _MAJOR.sub("", _VERSION.sub("", f"module {folder}"))
        return _Found(folder, file)

    def look_up(self, found: Sequence[_Found | None]) -> None:
        """Add the files of those folders that this side's tree has."""
        for one in found:
            if one is not None and one.folder not in self.folders:
                files = self._sources.folder(self._side, one.file)
                if files:
                    self.folders[one.folder] = files

    def tree(self, differ: set[str]) -> Tree:
        """Return what the side declares in the folders that differ."""
        read = [
            (folder, file)
            for folder in sorted(differ & self.folders.keys())
            for file in self.folders[folder]
            if file.path.endswith(".go")
        ]
        texts = self._sources.read([file for _, file in read])
        scanned = {
            text.path: _Scanned(folder, text)
            for (folder, _), text in zip(read, texts, strict=True)
            if text is not None
        }
        declared: dict[Key, list[_Function]] = defaultdict(list)
        for file in scanned.values():
            for function in file.functions:
                declared[function.key].append(function)
        places = list(self._places(differ, scanned, declared))
        closures = {
            (place.key, found.file.path)
            for place, found in zip(places, self.found, strict=True)
            if place and place.kind and found
        }
        return Tree(
            places,
            frozenset(self.folders) | {f"{folder}{_TEST}" for folder in self.folders},
            {
                key: [
                    Declared(
                        key,
                        one.file,
                        one.start,
                        one.text,
                        one.closures if (key, one.file) in closures else (),
                    )
                    for one in several
                ]
                for key, several in declared.items()
            },
        )

    def _places(
        self,
        differ: set[str],
        scanned: dict[str, _Scanned],
        declared: dict[Key, list[_Function]],
    ) -> Iterator[Place | None]:
        starts = self._evidence.start.tolist()
        for row, (found, start) in enumerate(zip(self.found, starts, strict=True)):
            if found is None:
                yield None
                continue
            symbol = self._symbols[row]
            test = package_of(self._evidence.names[row]).endswith("_test")
            folder = found.folder + (_TEST if test else "")
            numbered = bool(symbol.kinds) or _INIT.search(self._evidence.names[row])
            if symbol.function == "init" and not numbered:
                # Variable initialization is in no single place.
                yield Place(Key(folder, "init"))
            elif found.folder not in differ:
                yield _unchanged(folder, found.file.path, symbol, start)
            elif numbered:
                file = scanned.get(found.file.path)
                yield file.place(symbol, start) if file and start else None
            else:
                place = _named(folder, symbol)
                known = declared.get(place.key, ())
                yield place if _as_built(known, found.file.path, start) else None


def _named(folder: str, symbol: Symbol) -> Place:
    """Return the place of a function by its name: `T.M` for `(*T).M`.

    A method value, `T.M-fm`, has the same place but is not the method.
    """
    name = symbol.function.replace("(*", "").replace("(", "").replace(")", "")
    return Place(Key(folder, name), -1 if symbol.prefix.endswith("-fm") else 0)


def _unchanged(folder: str, path: str, symbol: Symbol, start: int) -> Place | None:
    """Return the place of a function in a folder that does not differ."""
    if not symbol.kinds and symbol.function != "init":
        return _named(folder, symbol)
    if not start:
        return None
    return Place(Key(folder, f"in {basename(path)}"), start, "".join(symbol.kinds))


def _as_built(known: Sequence[_Function], path: str, start: int) -> bool:
    """Return whether a function is declared where its profile says, if it does say."""
    here = [one.start for one in known if one.file == path]
    return bool(known) and (not start or not here or start in here)
