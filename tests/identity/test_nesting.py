"""Closures in closures: who is a child of whom stays when numbers change."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from pprofdiff.identity.deciding import identify
from pprofdiff.identity.nesting import Nesting
from pprofdiff.identity.symbols import Symbols
from tests.analysis.building import given
from tests.identity.test_deciding import sampled

NAMES = st.builds(
    lambda links: "main.run" + "".join(links),
    st.lists(
        st.sampled_from([".func1", ".func2", ".func3", "-range1"]), min_size=1, max_size=3
    ),
) | st.builds(
    lambda function, first, second: f"main.{function}.func{first}.{second}",
    st.sampled_from(["run", "walk"]),
    st.integers(1, 4),
    st.integers(1, 3),
)  # fmt: skip
STACKS = st.lists(
    st.tuples(
        st.integers(1, 60),
        st.sampled_from(["b.Hash:2", "c.Parse:7", "d.New:1"]),
        st.builds(lambda name, line: f"{name}:{line}", NAMES, st.integers(1, 4)),
        st.sampled_from(["main.run:3", "main.walk:3"]),
    ),
    min_size=1,
    max_size=8,
)
STARTS = st.dictionaries(NAMES, st.integers(1, 90))


def chain(name):
    """Return what a function is nested in, itself last."""
    symbol = Symbols([name], {})[0]
    depths = range(len(symbol.kinds) + 1)
    return [
        (symbol.prefix, *zip(symbol.kinds[:n], symbol.numbers[:n], strict=True))
        for n in depths
    ]


@given(STACKS, STACKS, STARTS, STARTS)
def test_all_pairs_agree_on_what_stands_in_what(base, new, before, after):
    sides = sampled(*base, starts=before), sampled(*new, starts=after)
    identity = identify(*([side] for side in sides))
    partner = {}, {}
    for name in sides[1].function_names():
        old = identity.base_of(name)
        if old is None:
            continue
        assert len(chain(old)) == len(chain(name))
        for outer, now in zip(chain(old), chain(name), strict=True):
            assert partner[0].setdefault(outer, now) == now
            assert partner[1].setdefault(now, outer) == outer


def test_a_child_goes_where_its_parent_goes():
    """What the child calls is called in func2 of new too, by a child of its number."""
    base = sampled(
        (60, "b.Hash:2", "main.run.func1:4", "main.run:3"),
        (40, "c.Parse:7", "main.run.func1.1:2", "main.run.func1:9", "main.run:3"),
        starts={"main.run": 10, "main.run.func1": 12, "main.run.func1.1": 20},
    )
    new = sampled(
        (60, "b.Hash:2", "main.run.func3:4", "main.run:3"),
        (40, "c.Parse:7", "main.run.func2.1:2", "main.run.func3:9", "main.run:3"),
        starts={"main.run": 10, "main.run.func3": 62, "main.run.func2.1": 20},
    )
    identity = identify([base], [new])
    assert identity.base_of("main.run.func3") == "main.run.func1"
    assert identity.base_of("main.run.func2.1") is None


@pytest.mark.parametrize(
    ("sibling", "agrees"),
    [("f.func3.2", True), ("f.func4.2", False), ("f.func3", False), ("g.func3.2", False)],
)  # fmt: skip
def test_a_pair_decides_of_its_parents(sibling, agrees):
    names = ["f.func4.1", "f.func3.1", "f.func4.2", sibling]
    symbols = Symbols([f"main.{name}" for name in names], {})
    nesting = Nesting()
    nesting.take(symbols[0], symbols[1])
    assert nesting.agrees(symbols[2], symbols[3]) == agrees
