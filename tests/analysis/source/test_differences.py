"""What differs in a function: hunks that turn base into new, and never reach over it."""

from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.source.extents import Extent, differences, hunks_within, matched
from pprofdiff.model.source import Hunk, SourceText

LINES = st.lists(st.sampled_from(["a", "b", "c", "{", "}", ""]), max_size=12)
SOME = st.lists(st.sampled_from(["a", "b", "c", "{", "}", ""]), min_size=1, max_size=8)


class Told:
    """A repository that shows these hunks, None for a folder."""

    def __init__(self, hunks):
        """Take what it shows."""
        self.got = hunks

    def hunks(self, _base, _new):
        """Return what it shows."""
        return self.got


def applied(base, new, hunks):
    """Return new, made of base by hunks as ``git diff -U0`` numbers them."""
    made, at = [], 0
    for hunk in hunks:
        start = hunk.base_start - 1 if hunk.base_count else hunk.base_start
        made += base[at:start]
        at = start + hunk.base_count
        first = hunk.new_start - 1 if hunk.new_count else hunk.new_start
        assert len(made) == first
        made += new[first : first + hunk.new_count]
    return made + base[at:]


@given(LINES, LINES)
def test_differences_turn_base_into_new(base, new):
    hunks = differences(tuple(base), tuple(new))
    assert applied(base, new, hunks) == new
    assert all(one.base_count or one.new_count for one in hunks)
    pairs = matched(hunks, Extent(1, len(base)), None)
    assert all(base[i - 1] == new[j - 1] for i, j in pairs.items())
    assert list(pairs.values()) == sorted(set(pairs.values()))


@given(st.tuples(LINES, SOME, LINES), st.tuples(LINES, SOME, LINES), st.booleans())
def test_hunks_of_a_function_turn_its_text_into_the_other(before, after, of_repository):
    """Whatever stands around it, and whatever lines the whole files have in common."""
    (above, base, below), (over, new, under) = before, after
    old, now = (*above, *base, *below), (*over, *new, *under)
    extents = (
        Extent(len(above) + 1, len(above) + len(base)),
        Extent(len(over) + 1, len(over) + len(new)),
    )
    whole = differences(old, now)
    hunks = hunks_within(
        Told(whole if of_repository else None),
        (SourceText("f.go", old, "git", "1"), extents[0]),
        (SourceText("f.go", now, "git", "2"), extents[1]),
    )
    shifted = [Hunk(h[0] - len(above), h[1], h[2] - len(over), h[3]) for h in hunks]
    assert applied(base, new, shifted) == new
    pairs = matched(hunks, *extents)
    assert all(old[i - 1] == now[j - 1] for i, j in pairs.items())
    assert all(extents[0].has(i) and extents[1].has(j) for i, j in pairs.items())


def test_a_function_that_only_moved_did_not_change():
    """Git shows it as gone in one place and new in the other."""
    body = ("func f() {", "work()", "}")
    old = ("package p", *body, "x", "y", "z", "u", "v")
    now = ("package p", "x", "y", "z", "u", "v", *body)
    got = (Hunk(2, 3, 1, 0), Hunk(9, 0, 7, 3))
    sides = (
        (SourceText("p.go", old, "git", "1"), Extent(2, 4)),
        (SourceText("p.go", now, "git", "2"), Extent(7, 9)),
    )
    assert hunks_within(Told(got), *sides) == ()


def test_hunks_of_the_repository_are_taken_as_they_are():
    """Of several readings that a text allows, the pull request's."""
    old = ("package p", "func f() {", "a", "a", "}", "x")
    now = ("package p", "// f", "func f() {", "a", "a", "a", "}", "x")
    got = (Hunk(1, 0, 2, 1), Hunk(3, 0, 5, 1))
    sides = (
        (SourceText("p.go", old, "git", "1"), Extent(2, 5)),
        (SourceText("p.go", now, "git", "2"), Extent(3, 7)),
    )
    assert hunks_within(Told(got), *sides) == (Hunk(3, 0, 5, 1),)
    assert hunks_within(Told(None), *sides) != (Hunk(3, 0, 5, 1),)
