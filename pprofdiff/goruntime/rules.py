"""The rules of `rule_table.py` as frozen values; `classify` applies them."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from pprofdiff.goruntime.rule_table import (
    ALIASES,
    DROPPED_LEAVES,
    FIRST,
    GROUPS,
    LAST,
    LEAF_KINDS,
    PROGRAM,
    RELEASES,
    RULES,
    STANDARD_LIBRARY,
    TIERS,
    TRANSPARENT,
    VERSION,
    Group,
    LeafKind,
    Rule,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


class PatternTable(Struct, frozen=True, eq=False):
    """Maps symbol names to numbers: by exact name, else by longest prefix.

    `prefixes` are sorted, with their `numbers`; ``parents[i]`` is the position of the
    longest other prefix that prefix i begins with, -1 for none. The nearest prefix
    before a name in that order begins with every prefix that the name begins with.
    """

    exact: Mapping[str, int]
    prefixes: Sequence[str]
    numbers: Sequence[int]
    parents: Sequence[int]

    def find(self, name: str) -> int:
        """Return the number of `name`, or -1."""
        number = self.exact.get(name)
        if number is not None:
            return number
        at = bisect_right(self.prefixes, name) - 1
        while at >= 0:
            if name.startswith(self.prefixes[at]):
                return self.numbers[at]
            at = self.parents[at]
        return -1


class Heads:
    """Prefixes that names may begin with, at least `least` letters long.

    Few of a program's hundred thousand names have one.
    """

    def __init__(self, heads: tuple[str, ...]) -> None:
        self.heads = heads
        self.least = min(map(len, heads))
        self.first = frozenset(head[: self.least] for head in heads)

    def begin(self, name: str) -> bool:
        """Return whether `name` begins with a head."""
        return name[: self.least] in self.first and name.startswith(self.heads)

    def matching(self, names: Collection[str]) -> list[tuple[int, str]]:
        """Return the names that begin with a head, each with its position."""
        begins = map(itemgetter(slice(self.least)), names)
        some = compress(enumerate(names), map(self.first.__contains__, begins))
        return [(row, name) for row, name in some if name.startswith(self.heads)]


class Rules(Struct, frozen=True, eq=False):
    """All rules of `rule_table.py`; `Classification` refers to them by position.

    - `version` is the rules' version, as shown in reports.
    - `tiers` are the ranks of rules, which are tried one after the other.
    - `groups` and `categories` are in display order; each category is in one group.
    - `leaf_kinds[0]` means none.
    - `rule_table` and `leaf_kind_table` map normalised names to positions in `rules`
      and `leaf_kinds`; `catch_all` is the position of rule ``rt.other``.
    - `heads` cover every name that a rule knows.
    - `dropped_leaves` are dropped at the leaf; `transparent` names have no meaning for
      a stack; `program` are names that look like the runtime's but are the program's.
    - `aliases` maps a function to the position of its present name in `alias_targets`.
    - `standard_library` are the first elements of import paths that ship with Go.
    - `first_release` and `last_release` map plain names to positions in `releases`: the
      first and last Go release with the function. `release_heads` cover these names.
    """

    version: str
    tiers: tuple[str, ...]
    groups: tuple[Group, ...]
    categories: tuple[str, ...]
    category_labels: Mapping[str, str]
    leaf_kinds: tuple[LeafKind, ...]
    rules: tuple[Rule, ...]
    rule_table: PatternTable
    catch_all: int
    heads: Heads
    leaf_kind_table: PatternTable
    dropped_leaves: frozenset[str]
    transparent: PatternTable
    program: frozenset[str]
    aliases: PatternTable
    alias_targets: tuple[str, ...]
    standard_library: frozenset[str]
    releases: tuple[str, ...]
    first_release: PatternTable
    last_release: PatternTable
    release_heads: Heads

    @property
    def group_rows(self) -> list[int]:
        """The position in `groups` of each category's group."""
        return [i for i, group in enumerate(self.groups) for _ in group.categories]

    def members(self, *groups: str) -> tuple[str, ...]:
        """Return the categories of groups, given by id; KeyError for an unknown one."""
        of_group = {group.id: group.categories for group in self.groups}
        return tuple(one for group in groups for one in of_group[group])

    def group_of(self, category: str) -> Group:
        """Return the group of `category`; raises KeyError if there is none."""
        for group in self.groups:
            if category in group.categories:
                return group
        raise KeyError(category)


@cache
def rules() -> Rules:
    """Return the rules that ship with the package, made once of `rule_table.py`."""
    labels = {c: label for group in GROUPS for c, label in group.labels.items()}
    of_rules = [rule.patterns for rule in RULES]
    transparent = TRANSPARENT.split()
    releases = tuple(RELEASES.split())
    first, last = (
        {releases.index(release): names.split() for release, names in bound.items()}
        for bound in (FIRST, LAST)
    )
    return Rules(
        version=VERSION,
        tiers=tuple(TIERS.split()),
        groups=GROUPS,
        categories=tuple(labels),
        category_labels=labels,
        leaf_kinds=LEAF_KINDS,
        rules=RULES,
        rule_table=_table(enumerate(of_rules)),
        catch_all=next(i for i, rule in enumerate(RULES) if rule.id == "rt.other"),
        heads=_heads([transparent, *of_rules]),
        leaf_kind_table=_table(enumerate(kind.patterns for kind in LEAF_KINDS)),
        dropped_leaves=frozenset(DROPPED_LEAVES.split()),
        transparent=_table([(0, transparent)]),
        program=frozenset(PROGRAM.split()),
        aliases=_table(enumerate(map(str.split, ALIASES.values()))),
        alias_targets=tuple(ALIASES),
        standard_library=frozenset(STANDARD_LIBRARY.split()),
        releases=releases,
        first_release=_table(first.items()),
        last_release=_table(last.items()),
        release_heads=_heads([*first.values(), *last.values()]),
    )


def _table(patterns: Iterable[tuple[int, Sequence[str]]]) -> PatternTable:
    exact: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    for index, names in patterns:
        for name in names:
            prefix = name.removesuffix("*")
            (exact if prefix == name else prefixes)[prefix] = index
    ordered = sorted(prefixes)
    return PatternTable(
        exact, ordered, [prefixes[prefix] for prefix in ordered], _parents(ordered)
    )


def _parents(ordered: Sequence[str]) -> list[int]:
    """Return, for each of the sorted words, the longest other one it begins with."""
    parents: list[int] = []
    open_: list[int] = []
    for position, word in enumerate(ordered):
        while open_ and not word.startswith(ordered[open_[-1]]):
            open_.pop()
        parents.append(open_[-1] if open_ else -1)
        open_.append(position)
    return parents


def _heads(patterns: Iterable[Sequence[str]]) -> Heads:
    heads: list[str] = []
    for prefix in sorted({_head(name) for names in patterns for name in names}):
        # In this order, what begins with a head follows it.
        if not heads or not prefix.startswith(heads[-1]):
            heads.append(prefix)
    return Heads(tuple(heads))


def _head(pattern: str) -> str:
    prefix = pattern.removesuffix("*")
    dot = prefix.find(".", prefix.rfind("/") + 1)
    return prefix[: dot + 1] or prefix
