"""What holds for every diff: zero against itself, odd, additive, exact in integers."""

from collections import Counter
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.profiles.dimensions import paid_by_site
from pprofdiff.analysis.profiles.filters import Filters, filtered
from pprofdiff.analysis.profiles.rows import NO_STACK, Granularity
from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.goruntime.names import package_of
from pprofdiff.goruntime.rules import rules
from pprofdiff.identity.model import Identity, Paired
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.profile import ValueType
from tests.analysis.building import (
    compared,
    given,
    groups_of,
    profile,
    profiles,
    stacks,
)

TABLES = (*get_args(Granularity), "stacks")
SIDES = ("base", "new")


def exact(column):
    """Return the sum of int64 numbers as Python adds them: without wrapping."""
    return sum(column.tolist())


@given(profiles())
def test_a_diff_against_itself_is_zero(same):
    diff = compared(same, same)
    assert diff.totals[0] == diff.totals[1] == exact(same.values[:, 1])
    for granularity in TABLES:
        table = diff.table(granularity)
        for column in ("flat", "cum"):
            base, new = table.raw(column)
            assert (base == new).all()
            assert not table.scaled_delta(column).any()
            assert table.judge(column).noise.all()
        assert not table.status().any()
        assert table.base_names == [None] * len(table)
    for view in views(diff):
        assert (view.base == view.new).all()


DIMENSIONS = ("category", "leaf_kind", "place")


def views(diff):
    """Yield views whose rows have all samples."""
    for dimension in ("category", "group", "leaf_kind"):
        yield diff.ledger.every(dimension)
    for dimension in ("leaf", "owner", "place", "site", "payer", "category"):
        yield diff.ledger.by(dimension)
    yield diff.ledger.by("category", "site", "owner")


def rows(diff, granularity):
    """Return the rows of a table by base's and new's name, None where it has none."""
    table = diff.table(granularity)
    names = [
        (None if status == 1 else b or n, None if status == 2 else n)
        for b, n, status in zip(
            table.base_names, table.names, table.status().tolist(), strict=True
        )
    ]
    numbers = zip(
        *(c.tolist() for c in (*table.raw("flat"), *table.raw("cum"))), strict=True
    )
    return dict(zip(names, numbers, strict=True))


def of_side(table, side):
    """Return (flat, cum) of a table's rows on one side, by their names there."""
    names = table.names
    if side == 0:
        names = [was or n for was, n in zip(table.base_names, names, strict=True)]
    columns = (table.raw(column)[side].tolist() for column in ("flat", "cum"))
    return dict(zip(names, zip(*columns, strict=True), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("granularity", get_args(Granularity))
@given(base=profiles(), new=profiles())
def test_the_other_way_round_changes_the_sign_alone(granularity, base, new):
    there, back = (
        rows(compared(*pair), granularity) for pair in ((base, new), (new, base))
    )
    assert {
        (n, b): (f1, f0, c1, c0) for (b, n), (f0, f1, c0, c1) in there.items()
    } == back


@pytest.mark.slow
@given(profiles(), profiles())
def test_the_other_way_round_in_categories_blame_and_stacks(base, new):
    there, back = compared(base, new), compared(new, base)
    for dimension in ("category", "group", "leaf_kind"):
        view, other = (one.ledger.every(dimension) for one in (there, back))
        assert view.base.tolist() == other.new.tolist()
        assert view.new.tolist() == other.base.tolist()

    def bills(diff):
        sums = paid_by_site(diff.ledger)
        columns = sums["category"], sums.base, sums.new
        return Counter(zip(*(c.tolist() for c in columns), strict=True))

    assert Counter({(c, n, b): k for (c, b, n), k in bills(there).items()}) == bills(
        back
    )
    stacks = [diff.table("stacks").raw("flat") for diff in (there, back)]
    assert [Counter(side.tolist()) for side in stacks[0]] == [
        Counter(side.tolist()) for side in reversed(stacks[1])
    ]


@pytest.mark.slow
@pytest.mark.parametrize("granularity", TABLES)
@given(base=profiles(), new=profiles())
def test_flat_adds_up_to_the_total(granularity, base, new):
    diff = compared(base, new)
    table = diff.table(granularity)
    sums = tuple(exact(column) for column in table.raw("flat"))
    wholes = tuple(sum(v for _, v in stacks(p)) for p in (base, new))
    assert sums == diff.totals == wholes
    assert exact(np.subtract(*table.raw("flat")[::-1])) == wholes[1] - wholes[0]


@pytest.mark.slow
@pytest.mark.parametrize("granularity", TABLES)
@given(base=profiles(), new=profiles())
def test_samples_without_a_frame_are_one_row(granularity, base, new):
    table = compared(base, new).table(granularity)
    wanted = tuple(sum(v for names, v in stacks(p) if not names) for p in (base, new))
    held = [i for i, name in enumerate(table.names) if name == NO_STACK]
    assert len(held) == any(wanted)
    for i in held:
        for column in ("flat", "cum"):
            assert tuple(int(side[i]) for side in table.raw(column)) == wanted
        assert (table.files[i], table.base_names[i]) == ("", None)


def test_a_function_that_new_has_no_samples_of_has_its_name_there():
    """Another profile, or the source, shows that it was renamed."""
    diff = compared(profile([(["p.F"], 5), (["p.G"], 3)]), profile([(["p.G"], 3)]))
    pairs = {"p.(*T).F": Paired("p.F", "p.(*T).F", "source")}
    table = replace(diff, identity=Identity(pairs)).table("functions")
    assert ("p.(*T).F", "p.F") in zip(table.names, table.base_names, strict=True)


def test_a_function_of_that_name_is_another_row():
    plain = profile([(["main.f"], 5), ([], 3)])
    odd = profile([([NO_STACK, "main.f"], 5), ([], 3)])
    for base, new in ((plain, odd), (odd, plain), (odd, odd)):
        diff = compared(base, new)
        for granularity in TABLES:
            table = diff.table(granularity)
            assert tuple(exact(c) for c in table.raw("flat")) == diff.totals


@given(profiles(), profiles())
def test_everything_adds_up(base, new):
    diff = compared(base, new)
    for view in views(diff):
        assert (exact(view.base), exact(view.new)) == diff.totals
        for runs, sums in ((view.runs.base, view.base), (view.runs.new, view.new)):
            assert np.array_equal(sum(runs), sums)
    whole = diff.ledger.by(*DIMENSIONS)
    for dimension in DIMENSIONS:
        view, again = diff.ledger.by(dimension), whole.by(dimension)
        some = (again.base != 0) | (again.new != 0)
        again = again.where(some)
        assert np.array_equal(again[dimension], view[dimension])
        assert np.array_equal(again.base, view.base)
        assert np.array_equal(again.new, view.new)
    assert [c for g in rules().groups for c in g.categories] == list(rules().categories)


@given(profiles(counts=st.integers(0, 10**6)), profiles(counts=st.integers(0, 10**6)))
def test_nobody_pays_more_than_there_is(base, new):
    diff = compared(base, new)
    sums, bill = diff.ledger.every("category"), paid_by_site(diff.ledger)
    user = rules().categories.index("user")
    names = diff.paired_functions.names
    for paid, whole, side in ((bill.base, sums.base, base), (bill.new, sums.new, new)):
        assert user not in bill["category"]
        by_category = np.zeros(len(whole), np.int64)
        np.add.at(by_category, bill["category"], paid)
        assert (by_category <= whole).all()
        present = {name for stack, _ in stacks(side) for name in stack}
        for function, amount in zip(bill["site"].tolist(), paid.tolist(), strict=True):
            assert not names[function].startswith("runtime.")
            if amount and side is new:
                assert names[function] in present
    columns = [column.tolist() for column in bill.codes.values()]
    cells = list(zip(*columns, strict=True))
    assert len(set(cells)) == len(cells)


@given(profiles(), profiles())
def test_functions_by_hand(base, new):
    diff = compared(base, new)
    wanted = {side: (Counter(), Counter()) for side in SIDES}
    for side, given_side in zip(SIDES, (base, new), strict=True):
        flat, cum = wanted[side]
        for names, value in stacks(given_side):
            flat[names[0] if names else NO_STACK] += value
            for name in set(names) or {NO_STACK}:  # however often it recurs
                cum[name] += value
    for (b, n), row in rows(diff, "functions").items():
        assert row == tuple(
            wanted[side][i][name]
            for i in (0, 1)
            for side, name in zip(SIDES, (b, n), strict=True)
        )
    held = {name for pair in rows(diff, "functions") for name in pair}
    assert {
        name for side in SIDES for c in wanted[side] for name, v in c.items() if v
    } <= held


@pytest.mark.slow
@given(profiles(), profiles())
def test_packages_by_hand(base, new):
    table = compared(base, new).table("packages")
    for side, given_side in zip(SIDES, (base, new), strict=True):
        flat, cum = Counter(), Counter()
        for names, value in stacks(given_side):
            packages = [package_of(name) or "<no package>" for name in names]
            packages = packages or [NO_STACK]
            flat.update({packages[0]: value})
            cum.update(dict.fromkeys(packages, value))
        for name, row in of_side(table, side == "new").items():
            assert row == (flat[name], cum[name])


@pytest.mark.slow
@given(profiles(), profiles())
def test_stacks_by_hand(base, new):
    diff = compared(base, new)
    functions = diff.table("functions")
    pairs = zip(functions.base_names, functions.names, strict=True)
    shown = {was or name: name for was, name in pairs}
    table = diff.table("stacks")
    for side, given_side in zip(SIDES, (base, new), strict=True):
        wanted = Counter()
        for names, value in stacks(given_side):
            title = [
                shown.get(name, name) if side == "base" else name for name in names
            ]
            wanted[";".join(reversed(title)) or NO_STACK] += value
        held = Counter()
        # Closures of one name that are not one function have a row each.
        for name, value in zip(
            table.names, table.raw("flat")[side == "new"].tolist(), strict=True
        ):
            held[name] += value
        assert {k: v for k, v in wanted.items() if v} == {
            k: v for k, v in held.items() if v
        }
    assert (table.raw("flat")[0] == table.raw("cum")[0]).all()


@given(profiles(), profiles())
def test_the_order_of_rows_is_the_size_of_the_change(base, new):
    diff = compared(base, new)
    for granularity in TABLES:
        table = diff.table(granularity)
        flat, cum = (np.abs(table.scaled_delta(c)) for c in ("flat", "cum"))
        order = table.order("flat", "cum").tolist()
        keys = [(-flat[i], -cum[i], table.names[i]) for i in order]
        assert keys == sorted(keys)
        assert sorted(order) == list(range(len(table)))


@given(profiles(), profiles())
def test_status_says_which_side_has_the_row(base, new):
    present = [
        {name for names, _ in stacks(p) for name in names or [NO_STACK]}
        for p in (base, new)
    ]
    table = compared(base, new).table("functions")
    for name, before, status in zip(
        table.names, table.base_names, table.status().tolist(), strict=True
    ):
        held = (before or name) in present[0], name in present[1]
        assert STATUSES[status] != "both" or held == (True, True)
        assert held[1] or STATUSES[status] == "gone"
        assert held[0] or STATUSES[status] == "new"


PATTERNS = st.fixed_dictionaries(
    {},
    optional={
        "focus": st.sampled_from(("main", r"\.F$", "runtime", "nothing")),
        "ignore": st.sampled_from(("mallocgc", "fmt", "func1")),
        "hide": st.sampled_from(("runtime", "systemstack|mcall")),
        "show": st.sampled_from(("main|runtime", "a/f.go")),
    },
)


@pytest.mark.slow
@given(profiles(), profiles(), PATTERNS)
def test_filters_commute_with_the_diff(base, new, patterns):
    options = Filters(**patterns)
    one, other = (filtered(p, options).profile for p in (base, new))
    diff = compared(one, other)
    for side, given_side in enumerate((one, other)):
        alone = compared(given_side, given_side)
        held, wanted = (
            {k: v for k, v in of_side(d.table("functions"), side).items() if any(v)}
            for d in (diff, alone)
        )
        assert held == wanted
    both = (merge([filtered(merge([p]), options).profile]) for p in (base, new))
    assert compared(*both).totals == diff.totals
    assert patterns or diff.totals == compared(base, new).totals


@given(profiles(), profiles(), profiles())
def test_runs_of_a_side_add_up(first, second, new):
    assume(all(p.values.max(initial=0) < 1 << 58 for p in (first, second)))
    assert compared(merge([first, second]), new).totals[0] == sum(
        compared(p, new).totals[0] for p in (first, second)
    )


@pytest.mark.slow
@given(
    profiles(),
    profiles(),
    st.sampled_from(["absolute", "per_second", "per_work", "share"]),
)
def test_scaled_is_raw_times_the_factor_of_its_side(base, new, mode):
    how = {"per_work": {"work": (7.0, 9.5)}, "share": {"normalize": True}}.get(mode, {})
    if mode == "absolute":
        base = replace(base, duration_ns=None)
    diff = compared(base, new, **how)
    by = diff.normalization
    for granularity in TABLES:
        table = diff.table(granularity)
        for column in ("flat", "cum"):
            raw, scaled = table.raw(column), table.scaled(column)
            assert (scaled[0] == raw[0] * by.base_factor).all()
            assert (scaled[1] == raw[1] * by.new_factor).all()
            assert (table.scaled_delta(column) == scaled[1] - scaled[0]).all()


def test_sample_types_by_name_and_position():
    one = profile([(["main.f"], 5)])
    assert compared(one, one, sample_type="samples").totals == (5, 5)
    assert compared(one, one, sample_type=0).totals == (5, 5)
    assert (
        compared(one, one, sample_type="1").totals
        == compared(one, one).totals
        == (5 * 10**7, 5 * 10**7)
    )
    with pytest.raises(UsageError, match="speed"):
        compared(one, one, sample_type="speed")


def test_samples_are_classified_too():
    one = profile([(["runtime.mallocgc", "main.f"], 5), (["main.f"], 2)])
    diff = compared(one, one, sample_type="samples")
    assert {g: b for g, b, _ in groups_of(diff) if b} == {
        "alloc": 5,
        "user": 2,
    }


@given(profiles(), profiles(), st.data())
def test_samples_have_the_functions_of_their_stacks(base, new, data):
    diff = compared(base, new)
    functions = diff.paired_functions
    size = len(functions.names)
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    for side, found in enumerate(diff.having(rows)):
        frames = (diff.base, diff.new)[side].profile.frames()
        met = rows[functions.union[side][functions.sides[side].ids]][frames.line]
        bounds = pairwise(frames.offsets.tolist())
        assert found.tolist() == [bool(met[low:high].any()) for low, high in bounds]


@pytest.mark.parametrize(
    "types",
    [
        (ValueType("samples", "count"), ValueType("cpu", "microseconds")),
        (ValueType("samples", "count"), ValueType("wall", "nanoseconds")),
        (ValueType("samples", "count"),),
    ],
)
def test_what_cannot_be_subtracted(types):
    other = profile([(["main.f"], (1,) * len(types))], types=types)
    with pytest.raises(
        IncompatibleProfilesError, match=r"^base\.pb\.gz has no cpu/nanoseconds"
    ):
        compared(other, profile([(["main.f"], 1)]))


def test_the_types_may_stand_in_another_order():
    turned = profile(
        [(["main.f"], (30, 3))],
        types=(ValueType("cpu", "nanoseconds"), ValueType("samples", "count")),
    )
    assert compared(turned, profile([(["main.f"], 5)])).totals == (30, 5 * 10**7)


def test_values_beyond_53_bits_are_exact():
    big = (1 << 62) - 1
    base = profile([(["main.f"], (1, big)), (["main.f", "main.main"], (1, 1))])
    new = profile([(["main.f"], (1, big - 1))])
    diff = compared(base, new)
    assert diff.totals == (big + 1, big - 1)
    table = diff.table("functions")
    base, new = table.raw("cum")
    held = dict(zip(table.names, (new - base).tolist(), strict=True))
    assert held == {"main.f": -2, "main.main": -1}
    assert exact(diff.ledger.every("category").base) == big + 1
