"""Comments, line breaks and the order of lines are no change of code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.source.aligned import ignoring_space
from pprofdiff.analysis.source.code import code_changes, codes, only_imports, says_more
from pprofdiff.analysis.source.extents import differences
from pprofdiff.analysis.source.renamed import only_renames
from pprofdiff.analysis.source.text import called_in, code_of, unnamed
from pprofdiff.model.source import Hunk, SourceText


def texts(base, new):
    """Return both texts of a file."""
    return [
        SourceText("f.go", tuple(text.split("\n")), "git", str(i))
        for i, text in enumerate((base, new))
    ]


RENAMED = [
    # A method became a function, and is called as one.
    ("func (p *T) day(y int) int {", "func day(y int) int {", True),
    ("return p.day(2) + p.day(y)", "return day(2) + day(y)", True),
    ("return p.day(2)", "return day(3)", False),
    # Renamed, in another package.
    ("x := get(b)", "x := cache.For(b)", True),
    ("x := get(b)", "x := cache.For(b, 1)", False),
    ("x := got(b)", "x := For(b)", False),
    ("s.day = 1", "s.year = 1", False),
]


@pytest.mark.parametrize(("base", "new", "same"), RENAMED)
def test_calls_of_a_renamed_function_are_no_change(base, new, same):
    old, now = texts(base, new)
    (hunk,) = differences(old.lines, now.lines)
    assert only_renames(hunk, old, now, {"day": "day", "get": "For"}) == same


SPLIT = [
    ('f(a, "b c")', 'f(\n\ta,\n\t"b c",\n)', False),
    ("return T{1, 2}", "return T{\n\t1, 2,\n}", False),
    ("x := 1", "x := 1 // one", False),
    ("x := 1", "x := /* one */ 1", False),
    ("x := 1", "/* one,\nor\ntwo */\nx := 1", False),
    ('u := "a//b"', 'u := "a//c"', True),
    ("u := `/*`\nv()\nw(`*/`)", "u := `/*`\nx()\nw(`*/`)", True),
    ("func f() {", "//go:noinline\nfunc f() {", True),
    ('f("b c")', 'f("bc")', True),
    ("f(a, b)", "f(b, a)", True),
]


@pytest.mark.parametrize(("base", "new", "more"), SPLIT)
def test_comments_and_line_breaks_are_no_change(base, new, more):
    both = texts(base, new)
    hunk = Hunk(1, len(both[0].lines), 1, len(both[1].lines))
    assert says_more(hunk, *both) is more


IMPORTS = [
    ('import "sort"', 'import "slices"', True),
    ('"fmt"\n"sort"', '"fmt"\nb "bytes"', True),
    ("", 'import (\n"fmt"\n)\n', True),
    # Another package under a similar name, and what runs without being named.
    ('"encoding/json"', '"github.com/goccy/go-json"', False),
    ('"math/rand"', '"math/rand/v2"', False),
    ("", '_ "embed"', False),
    ('"fmt"', '"fmt"\nx := 1', False),
    ('"a",', '"b",', False),
    # Only its name in the file is another.
    ('_ "unsafe"', '"unsafe"', True),
    ('_ "x.org/a"', '_ "x.org/b"', False),
]


@pytest.mark.parametrize(("base", "new", "only"), IMPORTS)
def test_imports_are_no_change_unless_one_may_replace_another(base, new, only):
    both = texts(base, new)
    hunk = Hunk(1, len(both[0].lines), 1, len(both[1].lines))
    assert only_imports(hunk, *both) is only


def test_an_import_that_replaces_another_in_other_lines_is_a_change():
    """As where sync/atomic replaces go.uber.org/atomic."""
    both = texts('"sync"\n\n"x.org/atomic"', '"sync"\n"sync/atomic"')
    for hunk in (Hunk(2, 2, 2, 0), Hunk(1, 0, 2, 1)):
        assert not only_imports(hunk, *both)
    both = texts('"sync"\n\n"x.org/atomic"', '"sync"\n"sort"')
    assert only_imports(Hunk(1, 0, 2, 1), *both)


def test_a_hunk_inside_a_comment_has_no_code():
    both = texts("/*\nold\n*/\nf()", "/*\nnew\n*/\nf()")
    assert codes(Hunk(2, 1, 2, 1), *both) == ("", "")


MOVES = [
    # Other changes are left where there are some, moves where there are none.
    ("c()\na()\nb()\nd()\nf()", "a()\nb()\nc()\nd()\ne()", [Hunk(5, 1, 5, 1)]),
    ("lock()\na()\nb()", "a()\nb()\nlock()", [Hunk(1, 1, 3, 1)]),
    # What returns earlier or later decides which other lines run.
    ("return\na()\nb()", "a()\nb()\nreturn", [Hunk(1, 1, 0, 0), Hunk(3, 0, 3, 1)]),
    # First and last lines that differ in nothing but space are none of a hunk.
    ("a()\nb()", "\ta()\n\tc()", [Hunk(2, 1, 2, 1)]),
    ("a()\nb()", "c()\n\ta()\n\tb()", [Hunk(0, 0, 1, 1)]),
    ("c()\na()\nb()", "\ta()\n\tb()", [Hunk(1, 1, 0, 0)]),
    ("x:  1,\ny: a(),", "x: 1,\nyy: a(),", [Hunk(2, 1, 2, 1)]),
]


@pytest.mark.parametrize(("base", "new", "left"), MOVES)
def test_moved_lines_are_no_change_next_to_others(base, new, left):
    both = texts(base, new)
    hunks = differences(both[0].lines, both[1].lines)
    assert code_changes(hunks, *both) == left


MOVED_INTO = [
    # A condition decides whether they run: they are of its hunk.
    ("\ta()\n\tb()", "\tif c {\n\t\ta()\n\t\tb()\n\t}", [Hunk(2, 2, 2, 4)]),
    ("\tfor {\n\t\ta()\n\t}", "\ta()", [Hunk(2, 3, 2, 1)]),
    # A brace alone decides nothing.
    ("\ta()\n\tb()", "\t{\n\t\ta()\n\t\tc()\n\t}", [Hunk(3, 1, 4, 2)]),
    # The line with a word counts, not that git pairs the braces before it.
    (
        "\tif c {\n\t\ta()\n\t}\n\tb()",
        "\tx()\n\n\t// Why.\n\tif c {\n\t\ta()\n\t}\n\ty()",
        [Hunk(1, 0, 2, 1), Hunk(5, 1, 8, 1)],
    ),
    # Of two lines with the same code, the one that is indented as before is the old one.
    (
        "\tif c {\n\t\ta()\n\t}\n\tb()",
        "\tif d {\n\t\tif c {\n\t\t\ta()\n\t\t}\n\t\tx()\n\t}\n\tif c {\n\t\ta()\n\t}\n\tb()",
        [Hunk(1, 0, 2, 6)],
    ),
    # Neither comments nor what ends a block before it are the first line of a change.
    (
        "\tif c {\n\t\ta()\n\t}",
        "\tif c {\n\t\ta()\n\t}\n\n\t// Why.\n\tif d {\n\t\tb()\n\t}",
        [Hunk(4, 0, 7, 3)],
    ),
]


@pytest.mark.parametrize(("base", "new", "left"), MOVED_INTO)
def test_lines_that_moved_into_a_block_pair_by_their_code(base, new, left):
    both = texts(*(f"func f() {{\n{body}\n}}" for body in (base, new)))
    hunks = differences(both[0].lines, both[1].lines)
    assert code_changes(hunks, *both) == left


BODIES = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.sampled_from(["a()", "b()", "if c {", "}", "{", "", "// Why."]),
    ),
    max_size=12,
).map(lambda lines: "\n".join("\t" * depth + code for depth, code in lines))


@given(BODIES, BODIES)
def test_what_is_in_no_hunk_is_the_same_code_in_order(base, new):
    both = texts(*(f"func f() {{\n{body}\n}}" for body in (base, new)))
    hunks = ignoring_space(differences(both[0].lines, both[1].lines), *both)
    left = []
    for side, text in enumerate(both):
        inside = {line for hunk in hunks for line in hunk.sides[side]}
        numbers = range(1, len(text.lines) + 1)
        kept = [text.lines[n - 1] for n in numbers if n not in inside]
        left.append(code_of([line.replace("// Why.", "") for line in kept]))
    assert left[0] == left[1]


@pytest.mark.parametrize(
    ("base", "new", "alike"),
    [
        (
            "func f(min, n int) {\n\tg(min)\n}",
            "func f(least, n int) {\n\tg(least)\n}",
            True,
        ),
        ("func f() {\n\tx := a\n\tg(x)\n}", "func f() {\n\ty := a\n\tg( y )\n}", True),
        (
            "func (c *C) S() string {\n\treturn c.x\n}",
            "func (d *C) S() string {\n\treturn d.x\n}",
            True,
        ),
        # The other one's value, another constant, field, function or table.
        ("func f(a, b int) {\n\tg(a)\n}", "func f(a, b int) {\n\tg(b)\n}", False),
        ("func f() {\n\tg(small)\n}", "func f() {\n\tg(large)\n}", False),
        ("func f(t T) {\n\tg(t.a)\n}", "func f(t T) {\n\tg(t.b)\n}", False),
        ("func f(x int) {\n\tg(x)\n}", "func f(x int) {\n\th(x)\n}", False),
        (
            "func f(i int) {\n\tg(i, a[i], b * i)\n}",
            "func f(i int) {\n\tg(i, c[i], b * i)\n}",
            False,
        ),
        (
            "func f(i int) {\n\tg(i, b * i)\n}",
            "func f(i int) {\n\tg(i, c * i)\n}",
            False,
        ),
    ],
)
def test_what_a_function_s_variables_are_called_is_no_code(base, new, alike):
    assert (unnamed(base) == unnamed(new)) == alike


def test_calls_are_found_by_name():
    _, text = texts("", "go f(x)\n\tt.m[int](g (2), h[0]) // k()\nn()")
    assert called_in(text, range(1, 3)) == {"f", "m"}


@pytest.mark.parametrize(
    ("between", "found"),
    [("", [Hunk(2, 4, 3, 1)]), ("s()", [Hunk(2, 1, 1, 0), Hunk(4, 2, 3, 1)])],
    ids=["blank", "code"],
)
def test_lines_removed_up_to_replaced_ones_are_one_change(between, found):
    """A blank line that both sides have does not part them."""
    both = texts(f"a()\nb()\n{between}\nc()\nd()\ne()", f"a()\n{between}\nx()\ne()")
    hunks = differences(*(text.lines for text in both))
    assert code_changes(hunks, *both) == found
