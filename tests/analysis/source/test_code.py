"""Comments, line breaks and the order of lines are no change of code."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.source.code import (
    called_in,
    code_changes,
    codes,
    only_imports,
    says_more,
)
from pprofdiff.analysis.source.extents import differences
from pprofdiff.model.source import Hunk, SourceText


def texts(base, new):
    """Return both texts of a file."""
    return [
        SourceText("f.go", tuple(text.split("\n")), "git", str(i))
        for i, text in enumerate((base, new))
    ]


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


def test_calls_are_found_by_name():
    _, text = texts("", "go f(x)\n\tt.m[int](g (2), h[0]) // k()\nn()")
    assert called_in(text, range(1, 3)) == {"f", "m"}
