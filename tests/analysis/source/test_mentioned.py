"""An unchanged function that costs more: the changed ones that it calls are named."""

import pytest

from pprofdiff.report.model import report_of
from pprofdiff.report.text.plain import render
from pprofdiff.report.text.report import report_parts
from tests.analysis.source.test_related import differing
from tests.building import Frame

MODULE = "module example.com/m\n"
IMPORTS = 'import (\n	"strings"\n	other "example.com/m/sub/v2"\n	"example.com/m/sub"\n)\n'
CALLER = f"""package m

{IMPORTS}
type T struct{{ n int }}

func F(t *T) int {{
	// changed() is not called here: "changed()"
	CALLS
	return t.n
}}
"""
STEP = "package m\n\nfunc step(t *T) int {\n	return changed()\n}\n"
OLD = "package m\n\nfunc changed() int {\n	return 1\n}\n"
NEW = OLD.replace("	return 1", "	// Twice.\n	return 1 + 1")
METHOD = "package m\n\nfunc (t *T) count() int {\n	return 1\n}\n"
SUB = "package sub\n\nfunc Of(n int) int {\n	return 1\n}\n"
FILES = {
    "go.mod": MODULE,
    "step.go": STEP,
    "changed.go": OLD,
    "method.go": METHOD,
    "sub/sub.go": SUB,
    "sub/v2/sub.go": SUB,
}


def report_on(tmp_path, calls, changes, **more):
    """Return the report where F costs twice as much, and the commit that did it."""
    files = FILES | {"f.go": CALLER.replace("CALLS", calls)}
    files |= {f"{name}.go": text for name, text in more.items()}
    stack = (Frame("example.com/m.F", "/b/m/f.go", 13, 11),)
    samples = {stack: 2000}, {stack: 4000}
    comparison, sources = differing(tmp_path, (files, changes), samples)
    report = report_of(comparison, sources=sources)
    assert report.findings.found[0].source.unchanged == ("example.com/m.F",)
    text = " ".join(render(report_parts(report)).split())
    return text, sources.revisions[1][:9]


TWICE = {"changed.go": NEW}
OF_METHOD = {"method.go": METHOD.replace("return 1", "return t.n")}
OF_SUB = {"sub/sub.go": SUB.replace("return 1", "return n")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("calls", "changes", "sentence"),
    [
        ("_ = changed()", TWICE, "Changed: changed.go:5 in m.changed, which m.F calls"),
        ("_ = step(t)", TWICE, "Changed: changed.go:5 in m.changed, which m.F calls through m.step"),
        ("_ = t.count()", OF_METHOD, "Changed: method.go:4 in m.(*T).count, which m.F calls"),
        ("_ = sub.Of(1)", OF_SUB, "Changed: sub/sub.go:4 in sub.Of, which m.F calls"),
    ],
    ids=["call", "two steps", "method", "package"],
)  # fmt: skip
def test_what_it_calls_is_named(tmp_path, calls, changes, sentence):
    text, commit = report_on(tmp_path, calls, changes)
    assert f'{sentence}; {commit} "c".' in text


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("calls", "changes"),
    [
        # A comment, a literal, a name that is not called, and one of another package.
        ("_ = strings.changed", TWICE),
        ("_ = other.Of(1)", OF_SUB),
        ("_ = step(t)", {"method.go": OF_METHOD["method.go"]}),
        # Comments alone.
        ("_ = changed()", {"changed.go": OLD.replace("func", "// Why.\nfunc")}),
        ("_ = changed()", {"changed.go": OLD.replace("	return", "	// Why.\n	return")}),
        # Two types have such a method.
        (
            "_ = t.count()",
            OF_METHOD | {"u.go": "package m\n\ntype U int\n\nfunc (U) count() int { return 1 }\n"},
        ),
        # Of two systems, which is built is not known.
        ("_ = changed()", TWICE | {"changed_arm64.go": OLD}),
    ],
    ids=["no call", "other package", "not in it", "above", "comment", "types", "systems"],
)  # fmt: skip
def test_else_nothing_is_said(tmp_path, calls, changes):
    text, _ = report_on(tmp_path, calls, changes)
    assert "Changed:" not in text
    assert "No line of" not in text


@pytest.mark.slow
@pytest.mark.parametrize("third", [False, True])
def test_no_more_than_two_steps(tmp_path, third):
    more = "package m\n\nfunc more(t *T) int {\n	return step(t)\n}\n"
    calls = "_ = more(t)" if third else "_ = step(t)"
    text, _ = report_on(tmp_path, calls, TWICE, more=more)
    assert ("Changed:" in text) is not third
