"""GC CPU as bytes × price: parts add up, and change sign with the sides."""

from math import fsum, isclose, log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.ledger.gc_price import Cycle, gc_price, log_mean

EXACT = 1e-12

sizes = st.floats(1e-3, 1e12)
pairs = st.tuples(sizes, sizes)
# Parts of a whole, which the rest of the whole is never below.
shares = st.lists(st.tuples(st.floats(0, 0.4), st.floats(0, 0.4)), max_size=2)
cycles = st.builds(Cycle, pairs, pairs, st.none() | pairs)


@st.composite
def priced(draw):
    """Draw what a split is made of: arguments of `gc_price`."""
    cpu, allocated = draw(pairs), draw(pairs)
    parts = draw(shares)
    other = {
        name: (cpu[0] * base, cpu[1] * new)
        for name, (base, new) in zip(("sweeping", "idle"), parts, strict=False)
    }
    rest = [(1.0, 1.0), *draw(st.lists(pairs, max_size=4))]
    whole = [fsum(one[side] for one in rest) for side in (0, 1)]
    places = {
        f"p{i}": (allocated[0] * base / whole[0], allocated[1] * new / whole[1])
        for i, (base, new) in enumerate(rest)
    }
    cycle = draw(st.none() | cycles)
    return cpu, allocated, {"other": other, "cycle": cycle, "places": places}


def turned(pair):
    return None if pair is None else pair[::-1]


def swapped(cpu, allocated, more):
    """Return the arguments with both sides exchanged."""
    cycle = more["cycle"]
    named = {
        key: {name: turned(pair) for name, pair in more[key].items()}
        for key in ("other", "places")
    }
    if cycle is not None:
        cycle = Cycle(turned(cycle.cpu), turned(cycle.allocated), turned(cycle.live))
    return turned(cpu), turned(allocated), {**named, "cycle": cycle}


def near(value, wanted, *parts):
    """Return whether both are the same, to the rounding of what they are made of."""
    size = max(map(abs, (value, wanted, *parts)))
    return isclose(value, wanted, rel_tol=0, abs_tol=EXACT * size)


@given(priced())
def test_parts_add_up_to_the_change(drawn):
    cpu, allocated, more = drawn
    split = gc_price(cpu, allocated, **more)
    both = split.allocated.part, split.price.part
    assert near(fsum(both), cpu[1] - cpu[0], *both, *cpu)
    for whole, parts in (
        (split.price, split.factors),
        (split.allocated, split.places),
    ):
        amounts = [one.part for one in parts]
        assert near(fsum(amounts), whole.part, *amounts, *cpu)


@given(priced())
def test_parts_change_sign_with_the_sides(drawn):
    forward, backward = (
        gc_price(*drawn[:2], **drawn[2]),
        gc_price(*(turn := swapped(*drawn))[:2], **turn[2]),
    )
    ahead = (forward.allocated, forward.price, *forward.factors, *forward.places)
    back = (backward.allocated, backward.price, *backward.factors, *backward.places)
    most = max(abs(one.part) for one in ahead)
    for one, other in zip(ahead, back, strict=True):
        assert (one.id, one.base, one.new) == (other.id, other.new, other.base)
        assert near(one.part, -other.part, most, *drawn[0])


@given(sizes, sizes, cycles)
def test_without_a_change_all_parts_are_0(cpu, allocated, cycle):
    same = Cycle(*(pair and (pair[0], pair[0]) for pair in cycle))
    split = gc_price((cpu, cpu), (allocated,) * 2, cycle=same, places={"f": (1.0, 1.0)})
    every = (split.allocated, split.price, *split.factors, *split.places)
    assert {one.part for one in every} == {0}


@given(pairs, pairs, cycles)
def test_factors_multiply_to_the_price(cpu, allocated, cycle):
    split = gc_price(cpu, allocated, cycle=cycle)
    by = {one.id: (one.base, one.new) for one in split.factors}
    divided = {"live", "pace", "per_cycle"} & set(by)
    for side, price in enumerate((split.price.base, split.price.new)):
        product = prod(by[name][side] for name in by if name not in divided)
        product /= prod(by[name][side] for name in divided)
        assert isclose(product, price, rel_tol=1e-9)


@given(pairs)
def test_the_mean_lies_between_both(pair):
    low, high = sorted(pair)
    assert low * (1 - EXACT) <= log_mean(*pair) <= high * (1 + EXACT)


def test_a_part_is_the_logarithm_of_its_ratio():
    cycle = Cycle((8.0, 8.0), (16.0, 8.0), (16.0, 4.0))
    split = gc_price((1.0, 4.0), (2.0, 4.0), cycle=cycle)
    mean = 3 / log(4)
    assert split.allocated.part == pytest.approx(mean * log(2))
    assert {one.id: one.part for one in split.factors} == pytest.approx(
        {"live": mean * log(4), "pace": -mean * log(2), "cycle": 0.0, "measured": 0.0}
    )


@pytest.mark.parametrize(
    ("cpu", "allocated"),
    [((0, 1), (1, 1)), ((1, 0), (1, 1)), ((1, 1), (0, 1)), ((1, 1), (1, 0)), ((1, float("inf")), (1, 1))],
)  # fmt: skip
def test_without_gc_or_bytes_on_a_side_nothing_is_split(cpu, allocated):
    assert gc_price(cpu, allocated) is None


@pytest.mark.parametrize(
    "cycle", [None, Cycle((0, 1), (1, 1), (1, 1)), Cycle((1, 1), (1, 0), (1, 1))]
)
def test_without_cycles_the_price_is_of_marking(cycle):
    split = gc_price((1, 2), (1, 1), other={"sweeping": (0.5, 0)}, cycle=cycle)
    assert [one.id for one in split.factors] == ["marking", "sweeping"]


def test_a_side_without_marking_has_no_cycles():
    cycle = Cycle((1, 1), (1, 1), (1, 1))
    split = gc_price((1, 2), (1, 1), other={"sweeping": (1, 1)}, cycle=cycle)
    assert [(one.id, one.part) for one in split.factors] == [
        ("marking", pytest.approx(1)),
        ("sweeping", 0),
    ]
