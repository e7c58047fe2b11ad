"""Units of work by a label: which key gives them, and that its values add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.labels import by_label
from pprofdiff.errors import UsageError
from tests.analysis.building import compared
from tests.building import MS, Sample, built, parsed


def made(*samples):
    """Return a CPU profile of (labels, samples)."""
    return built(
        Sample(parsed(f"main.main;main.f{i}"), (count, 10 * MS * count), tuple(labels))
        for i, (labels, count) in enumerate(samples)
    )


def of_keys(*keys, covered=9, values=("a", "b")):
    """Return two profiles; 9 in 10 samples have the keys, each two values."""
    one = made(
        *(([(key, value) for key in keys], covered) for value in values),
        ([], 2 * (10 - covered)),
    )
    return compared(one, one)


LABELLED = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.just("endpoint"), st.sampled_from(["/a", "/b", "/c"])),
            max_size=1,
        ),
        st.integers(1, 99),
    ),
    min_size=1,
)


@given(LABELLED, LABELLED)
def test_the_values_of_a_label_and_what_has_none_add_up_to_the_total(base, new):
    diff = compared(made(*base), made(*new), work=(3, 5))
    if not any(labels for labels, _ in (*base, *new)):
        return
    output = by_label(diff, "endpoint")
    sums = merged(output.runs)
    assert tuple(int(side.sum()) for side in sums) == diff.totals
    for value, *both in zip(output.values, *sums, strict=True):
        for side, got in zip((base, new), both, strict=True):
            of_it = (
                n
                for labels, n in side
                if [v for _, v in labels] == [value][: bool(value)]
            )
            assert got == 10 * MS * sum(of_it)


@pytest.mark.parametrize(
    ("diff", "key"),
    [
        (of_keys("endpoint"), "endpoint"),
        (of_keys("colour"), "colour"),
        (of_keys("zone", "route", "endpoint"), "endpoint"),
        # Two keys that nobody knows: either may be the one.
        (of_keys("colour", "zone"), None),
        # Where a sample was taken is no work.
        (of_keys("thread"), None),
        (of_keys("endpoint", covered=4), None),
        (of_keys("endpoint", values=("a",)), None),
        (of_keys("colour", values=tuple("abcdefghijklmnopqrstuvwxyz")), None),
        (of_keys("endpoint", values=tuple("abcdefghijklmnopqrstuvwxyz")), "endpoint"),
    ],
)
def test_a_key_that_shows_the_work_is_found(diff, key):
    output = by_label(diff)
    assert (None if output is None else output.key) == key


def test_a_key_that_is_asked_for_is_taken_whatever_it_covers():
    assert by_label(of_keys("thread", covered=1), "thread").key == "thread"


def test_a_key_that_no_sample_has_is_an_error():
    with pytest.raises(UsageError, match="no label has this name: labels are endpoint"):
        by_label(of_keys("endpoint"), "endpoin")
    with pytest.raises(UsageError, match="samples have no labels"):
        by_label(compared(made(([], 1)), made(([], 1))), "endpoint")
