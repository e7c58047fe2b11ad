"""Keep pairs of closures consistent with the pairs of their enclosing functions.

`F.func4.1` is in `F.func4`, which is in `F`, sampled or not. If `F.func4.1` of base is
`F.func3.1` of new, `F.func4` can only be `F.func3`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pprofdiff.identity.symbols import Symbol

# Package and function, then the kinds and numbers of the links down to a closure.
_Node = tuple[str, str, tuple[str, ...], tuple[int, ...]]


class Nesting:
    """What the pairs so far imply about closures and their enclosing functions."""

    def __init__(self) -> None:
        self._new_of: dict[_Node, _Node] = {}
        self._base_of: dict[_Node, _Node] = {}

    def agrees(self, base: Symbol, new: Symbol) -> bool:
        """Return whether two functions may be one."""
        return len(base.kinds) == len(new.kinds) and all(
            self._new_of.get(old, now) == now and self._base_of.get(now, old) == old
            for old, now in _nodes(base, new)
        )

    def knows(self, side: int, symbol: Symbol) -> bool:
        """Return whether a pair implies anything about one side's function."""
        known = self._base_of if side else self._new_of
        return any(node in known for node in _chain(symbol))

    def take(self, base: Symbol, new: Symbol) -> None:
        """Accept a pair, and the pairs of its enclosing functions."""
        for old, now in _nodes(base, new):
            self._new_of.setdefault(old, now)
            self._base_of.setdefault(now, old)


def implied(
    pairs: Iterable[tuple[Symbol, Symbol]],
    base: Iterable[Symbol],
    new: Iterable[Symbol],
) -> Nesting:
    """Return what pairs imply about some functions of each side, and those around."""
    asked = [{place for one in side for place in _places(one)} for side in (base, new)]
    nesting = Nesting()
    for old, now in pairs:
        disjoint = asked[0].isdisjoint(_places(old)), asked[1].isdisjoint(_places(now))
        if not all(disjoint):
            nesting.take(old, now)
    return nesting


def _places(symbol: Symbol) -> tuple[tuple[str, str], ...]:
    """Return what the nodes of a function begin with."""
    return (symbol.package, symbol.function), (symbol.package, symbol.prefix)


def _nodes(base: Symbol, new: Symbol) -> Iterator[tuple[_Node, _Node]]:
    """Yield two functions' enclosing functions, outermost first, and themselves."""
    yield from zip(_chain(base), _chain(new), strict=False)


def _chain(symbol: Symbol) -> Iterator[_Node]:
    # A closure's prefix differs where its function is inlined: numbers count per
    # prefix.
    yield symbol.package, symbol.function, (), ()
    for depth in range(1, len(symbol.kinds) + 1):
        kinds, numbers = symbol.kinds[:depth], symbol.numbers[:depth]
        yield symbol.package, symbol.prefix, kinds, numbers
