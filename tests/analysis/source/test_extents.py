"""Where a function stands in its text, and that it is refused where it does not."""

from pathlib import Path

import pytest

from pprofdiff import api
from pprofdiff.analysis.lines.costs import side_lines
from pprofdiff.analysis.source.extents import extent_of, has_declaration
from tests.repository import go_env

WRITTEN = """package p

type T[K any] struct{ k K }

func (t *T[K]) Add(k K) {
	t.k = k
}

func plain(a int) (x interface{ M() }, err error) { return nil, nil }

func many(
	a int,
	b map[string]struct{},
) (
	x int,
) {
	s := `}
}
` // } a brace
	r := '}' + '\\'' /* } */
	go func() {
		for range 3 {
			println(s, r)
		}
	}()
	return use(func(i int) bool {
		return i < 2
	}, 3)
}

func generic[K comparable, V interface{ ~int }](k K) V {
	return 0
}

func (T[K]) Value() {}

func init() {
}

func init() {
}

var known = map[string]int{
	"a": 1,
}
"""
TEXT = WRITTEN.split("\n")


def line_of(start):
    """Return the number of the line that begins so."""
    return next(i for i, text in enumerate(TEXT, 1) if text.strip().startswith(start))


@pytest.mark.parametrize(
    ("function", "start", "lines"),
    [
        ("x/p.(*T[...]).Add", "func (t *T", 3),
        ("x/p.(*T[go.shape.int]).Add", "func (t *T", 3),
        ("x/p.plain", "func plain", 1),
        ("x/p.many", "func many", 19),
        ("x/p.many.func1", "go func", 5),
        ("x/p.many.gowrap1", "go func", 5),
        ("x/p.many.func2", "return use(func", 3),
        ("x/p.many.func1-range1", "for range 3", 3),
        ("x/p.generic[...]", "func generic", 3),
        ("x/p.T[...].Value", "func (T[K])", 1),
        ("x/p.init.0", "func init", 2),
        ("x/p.map.init.3", "var known", 3),
    ],
)
def test_a_function_that_stands_there(function, start, lines):
    at = line_of(start)
    found = extent_of(TEXT, function, "p.go", at, ())
    assert found == (at, at + lines - 1)
    # A line that costs something outside of it: another text was built.
    assert extent_of(TEXT, function, "p.go", at, [at + lines - 1]) == found
    assert extent_of(TEXT, function, "p.go", at, [at + lines]) is None
    assert extent_of(TEXT, function, "p.go", at, [at - 1]) is None


@pytest.mark.parametrize(
    ("function", "start"),
    [
        ("x/p.plain", "func many"),
        ("x/p.man", "func many"),
        ("x/p.many2", "func many"),
        ("x/p.Add", "func (t *T"),
        ("x/p.(*Other).Add", "func (t *T"),
        ("x/p.(*T).Ad", "func (t *T"),
        ("x/p.many.func1", "s := `}"),
        ("x/p.many.gowrap1", "return use(func"),
        ("x/p.many", "package p"),
        ("x/p.map.init.3", "func plain"),
    ],
)
def test_a_function_that_stands_elsewhere(function, start):
    assert extent_of(TEXT, function, "p.go", line_of(start), ()) is None


def test_a_start_behind_the_end():
    assert extent_of(TEXT, "x/p.many", "p.go", len(TEXT) + 1, ()) is None
    assert extent_of([], "x/p.many", "p.go", 1, ()) is None


def test_a_start_allows_some_lines_elsewhere():
    """Compilers give instructions the lines of what they inlined."""
    at = line_of("func many")
    inside, outside = [at + 3, at + 4, at + 5], [1, 2]
    assert extent_of(TEXT, "x/p.many", "p.go", at, inside + outside) == (at, at + 18)
    assert extent_of(TEXT, "x/p.many", "p.go", at, [*inside, 1, 2, 3, 4]) is None
    assert extent_of(TEXT, "x/p.many", "p.go", 0, inside + outside) is None


def test_without_a_start_the_only_declaration_counts():
    at = line_of("func many")
    assert extent_of(TEXT, "x/p.many", "p.go", 0, [at + 3]) == (at, at + 18)
    assert extent_of(TEXT, "x/p.many.func2", "p.go", 0, [at + 15]) == (at, at + 18)
    assert extent_of(TEXT, "x/p.init.0", "p.go", 0, ()) is None
    assert extent_of(TEXT, "x/p.nowhere", "p.go", 0, ()) is None


def test_assembly():
    text = [
        '#include "textflag.h"',
        "// func add(x, y int64) int64",
        "TEXT ·add(SB),NOSPLIT,$0-24",
        "	RET",
        "TEXT runtime·memmove<ABIInternal>(SB), NOSPLIT, $0-24",
        "	MOVQ AX, DI",
        "	RET",
    ]
    assert extent_of(text, "x/p.add", "a.s", 3, [4]) == (3, 4)
    assert extent_of(text, "x/p.add.abi0", "a.s", 3, [4]) == (3, 4)
    assert extent_of(text, "runtime.memmove", "a.s", 5, [7]) == (5, 7)
    assert extent_of(text, "runtime.memmove", "a.s", 0, [7]) == (5, 7)
    assert extent_of(text, "runtime.memmov", "a.s", 5, [7]) is None
    assert extent_of(text, "x/p.add", "a.s", 3, [5]) is None


@pytest.mark.parametrize(
    ("function", "path", "first", "declared"),
    [
        ("x/p.many", "p.go", "", True),
        ("x/p.(*T[...]).init", "p.go", "", True),
        ("x/p.init.0", "p.go", "", True),
        ("x/p.init.func1", "p.go", "", True),
        ("x/p.add", "add_amd64.s", "", True),
        ("x/p.init", "p.go", "", False),
        ("x/p.many", "p.rl", "", False),
        ("x/p.many", "p.go", "//line p.rl:4", False),
        ("x/p.many", "p.go", "// line p.rl:4", True),
    ],
)
def test_which_texts_declare_what_they_cost(function, path, first, declared):
    assert has_declaration(function, path, [first, *TEXT]) == declared


LINKED = """package p

//go:linkname reflect_move reflect.move
func reflect_move(p, q *int) {
	*p = *q
}
"""


@pytest.mark.slow
def test_a_function_that_the_linker_calls_otherwise():
    text = LINKED.splitlines()
    assert extent_of(text, "reflect.move", "p.go", 4, [5]) == (4, 6)
    assert extent_of(text, "reflect.mov", "p.go", 4, [5]) is None


@pytest.mark.go
def test_all_functions_of_a_real_profile_of_go_itself(planted_repo):
    """Each function of the standard library stands where a profile says it does."""
    diff = api.diff(planted_repo.base, planted_repo.new).comparison.profiles[0]
    root = Path(go_env("GOROOT")) / "src"
    known = 0
    for functions in side_lines(diff, 1).functions.values():
        for one in functions:
            # A build with -trimpath calls files of the standard library from there.
            if one.start and (root / one.file).is_file():
                text = (root / one.file).read_text("utf-8").split("\n")
                found = extent_of(
                    text, one.function, one.file, one.start, one.line.tolist()
                )
                assert found is not None, one.function
                known += 1
    assert known


def test_a_line_of_many_literals_is_read_once():
    # What began as often as there are words took a minute and more.
    line = "func() {}; " * 60_000 + "func() {"
    lines = [line, *["x()"] * 3_000, "}"]
    assert extent_of(lines, "x/p.f.func1", "p.go", 1, ()) == (1, 3_002)
    assert extent_of([line], "x/p.f.func1", "p.go", 1, ()) == (1, 1)
    words = ["func " * 60_000 + "{"]
    assert extent_of(words, "x/p.f.func1", "p.go", 1, ()) is None


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("a(func() {}); b(func() {", 3),  # the second is open
        ("a(func() {", 3),
        ("a(func() {}, func() {})", 1),
        ("a(func(f func()) { b(func() {", 4),
        ("}); a(func() {", 3),
        ("func() {}(); func() int { return 1 }()", 1),
        ('a(func() { b("func {")', 3),
    ],
)
def test_several_literals_in_a_line(line, end):
    lines = [line, "x()", "})", "})", "}"]
    assert extent_of(lines, "x/p.f.func1", "p.go", 1, ()) == (1, end)


@pytest.mark.parametrize("name", ["x/p.f", "x/p.T.f", "x/p.(*T[...]).f"])
def test_a_line_of_spaces_is_looked_at_once(name):
    spaces = " " * 400_000
    lines = [
        f"func ({spaces}x",
        f"func{spaces}f{spaces}x",
        f"func (T{spaces}[{spaces}x",
    ]
    assert extent_of(lines, name, "p.go", 0, ()) is None


def test_a_signature_may_span_lines_with_a_brace_of_their_own():
    text = """package p

func encode(w interface {
	Close() error
}, parts [][]byte) {
	work()
}
""".splitlines()
    assert extent_of(text, "p.encode", "p.go", 3, ()).end == 7
