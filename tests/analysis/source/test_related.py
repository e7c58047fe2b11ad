"""A function that costs more and did not change: which change is said to be near it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from msgspec.structs import replace

from pprofdiff.analysis.causes.carriers import Carriers, Code, with_others
from pprofdiff.analysis.causes.changed_alone import (
    Ran,
    _Place,
    _silent,
    changed_alone,
)
from pprofdiff.analysis.causes.finding import CHANGED_ALONE, Finding, Findings
from pprofdiff.analysis.causes.sources import (
    _changed_first,
    _without_lines,
    with_source,
)
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.lines.listing import Located, Places
from pprofdiff.analysis.outcome.model import Unit as OfBenchmark
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.source.extents import Extent
from pprofdiff.analysis.source.model import ChangedLines, SourceOfFinding
from pprofdiff.analysis.work import counted
from pprofdiff.inputs.sources.lookup import sources_of
from pprofdiff.model.side import Capture, Side
from pprofdiff.model.source import Hunk, SourceText
from pprofdiff.report.json.document import render as document
from pprofdiff.report.markdown.comment import render as comment
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.changed_lines import source_notes
from pprofdiff.report.sections.findings import why
from pprofdiff.report.text.lines import render
from pprofdiff.report.text.report import report_parts
from tests.analysis.measuring import PACKAGE, Unit, compared, path
from tests.building import CPU, MS, Frame, Place, Sample, built
from tests.repository import repository

# F costs twice as much; its callers call it by a variable, so that no text shows it.
OWN = "package m\n\nvar call = F\n\nfunc F() {\n	work()\n}\n"
OUTER = (
    "package m\n\ntype T int\n\nfunc (t *T) Outer() {\n	call()\n	second()\n}\n"
)
FAR = "package m\n\nfunc Far() {\n	first()\n}\n"
FILES = {"go.mod": "module m\n", "f.go": OWN, "outer.go": OUTER, "far.go": FAR}
FRAMES = {
    "m.F": Frame("m.F", "/b/m/f.go", 6, 5),
    "m.(*T).Outer": Frame("m.(*T).Outer", "/b/m/outer.go", 6, 5),
    "m.Far": Frame("m.Far", "/b/m/far.go", 4, 3),
    "m.X": Frame("m.X", "/b/m/none.go", 4, 3),
    "m.Y": Frame("m.Y", "/b/m/none.go", 9, 8),
}
CHANGED = {"outer.go": OUTER.replace("Outer()", "Outer(n int)")}
LATER = {"outer.go": OUTER.replace("second()", "second()\n	third()")}
ITSELF = {"outer.go": CHANGED["outer.go"].replace("second()", "t.Outer(1)")}
CHANGED_FAR = {"far.go": FAR.replace("first()", "second()")}
TESTS = {"far_test.go": FAR.replace("Far", "TestFar").replace("first", "third")}


def committed(tmp_path, module, *versions):
    """Return the sources of two commits of a module, given the files that each writes."""
    repo = repository(tmp_path / "repo")
    repo.write({"go.mod": f"module {module}\n"})
    refs = [repo.commit("c", files) for files in versions]
    return sources_of("..".join(refs), str(repo.folder), "")


def differing(tmp_path, versions, samples, runs=1):
    """Return two commits' profiles compared, and their sources.

    `versions` are the files that each commit writes, `samples` each side's numbers of
    samples by stack, leaf first: of frames, or of names in `FRAMES`. With several
    `runs` a side, all have these.
    """
    at: dict[Frame, int] = {}
    sides = []
    for label, stacks in zip(("base", "new"), samples, strict=True):
        profile = built(
            [
                Sample(
                    tuple(
                        Place((frame,), 100 + at.setdefault(frame, len(at)))
                        for frame in (FRAMES.get(one, one) for one in stack)
                    ),
                    (count, count * 10 * MS),
                )
                for stack, count in stacks.items()
            ],
            CPU,
            duration_ns=10**11,
        )
        captures = (
            Capture(f"{label}/{run}", "profile", profile, run=run, run_known=runs > 1)
            for run in range(runs)
        )
        sides.append(Side(label, tuple(captures)))
    comparison = compare_sides(*sides, Settings(work=counted((1000, 1000))))
    return comparison, committed(tmp_path, "m", *versions)


def reported(tmp_path, stack, changes, called=10, far=("m.Far",)):
    """Return the report where F costs twice as much, and the commit's id.

    `stack` is leaf first: F is what costs more, with what calls it or what it calls. Far
    has samples of its own, on the stack `far`.
    """
    samples = [own(stack, n, called) | {far: 250} for n in (500, 1000)]
    comparison, sources = differing(tmp_path, (FILES, changes), samples)
    report = report_of(comparison, sources=sources)
    first = report.findings.found[0]
    assert "m.F" in first.source.unchanged
    return report, f'; {sources.revisions[1][:9]} "c".'


def own(stack, samples, called):
    """Return samples of F on a stack, or of F alone next to some of what it calls."""
    if stack[0] == "m.F":
        return {stack: samples}
    return {("m.F",): samples, stack: called}


def with_changed(comparison, sources, causes=()):
    """Return causes with what is said of changed functions that ran."""
    findings = Findings(causes, None)
    return with_source(comparison, findings, Code(sources), whole=False).findings


def of_functions(tmp_path, changes, *, file="", ran=None, causes=()):
    """Return `causes` with what is said of functions with samples and no known lines.

    With `ran`, those are the names of functions that the benchmark that changed ran.
    """
    stacks = {("m.F", "m.(*T).Outer"): 2000, ("m.Far",): 1}
    samples = stacks, stacks | dict(elsewhere(file))
    comparison, sources = differing(tmp_path, (FILES, changes), samples)
    if ran is not None:
        carriers = Carriers(comparison.cpu, sources, least=0.0)
        return changed_alone(carriers, Ran(frozenset(ran), ("Get", "Put")))
    return with_changed(comparison, sources, causes)


def elsewhere(file):
    """Return a stack of a function in a file that is in no tree."""
    if file:
        yield (Frame("x.org/d.G", file, 6, 5),), 1


@pytest.mark.parametrize(
    ("changes", "which"),
    [
        (
            CHANGED,
            "m.(*T).Outer changed and is in the CPU profile",
        ),
        (
            CHANGED_FAR,
            "m.Far changed and is in the CPU profile",
        ),
        (
            CHANGED | CHANGED_FAR,
            "m.Far and m.(*T).Outer changed and are in the CPU profile",
        ),
        (
            {"README": "what it does"},
            "The diff changes no function in the CPU profile",
        ),
        # A constant has no samples, and may be what costs.
        (
            {"x.go": "package m\n\nvar x int\n"},
            "The diff changes no function in the CPU profile; it changes x.go",
        ),
        (
            CHANGED | {"x.go": "package m\n"},
            "m.(*T).Outer changed and is in the CPU profile; the diff also changes x.go",
        ),
        (
            {"f.go": OWN.replace("var call = F", "var call, n = F, 1")},
            "The diff changes no function in the CPU profile; it changes call (f.go:3, used in m.(*T).Outer)",
        ),
        (
            CHANGED | TESTS,
            "m.(*T).Outer changed and is in the CPU profile",
        ),
        # Go ignores such files.
        (
            CHANGED | {"_x.go": "package m\n"},
            "m.(*T).Outer changed and is in the CPU profile",
        ),
        # Lines right below a function are not in it.
        (
            {"outer.go": OUTER.replace("second()\n}", "third()\n}\nvar x int")},
            "m.(*T).Outer changed and is in the CPU profile; the diff also changes outer.go:9",
        ),
    ],
)
def test_without_a_cause_the_functions_that_ran_and_changed_are_named(
    tmp_path, changes, which
):
    (found,) = of_functions(tmp_path, changes).found
    assert found.title == which
    assert found.severity == "info"
    near = () if found.source is None else found.source.near
    assert {one.path for one in near} == set(changes) & {"outer.go", "far.go"}


def test_causes_without_changed_lines_are_followed_by_what_changed(tmp_path):
    """What makes F allocate more may be elsewhere, such as a reset."""
    cause = Finding("x", "m.F allocates more", "", (), severity="major")
    findings = of_functions(tmp_path, CHANGED_FAR, causes=(cause,)).found
    assert [one.id for one in findings] == ["x", CHANGED_ALONE]
    assert findings[1].title.startswith("m.Far changed")
    info = cause._replace(severity="info")
    findings = of_functions(tmp_path, CHANGED_FAR, causes=(info,)).found
    assert [one.id for one in findings] == [CHANGED_ALONE, "x"]


def test_a_closure_that_changed_is_named_without_its_function(tmp_path):
    body = "package m\n\nfunc F() {\n	sort(func() {\n		%s()\n	})\n}\n"
    frames = Frame("m.F", "/b/m/f.go", 4, 3), Frame("m.F.func1", "/b/m/f.go", 5, 4)
    (found,) = of_one_file(tmp_path, [body % one for one in "xy"], frames).found
    assert found.functions == ("m.F.func1",)
    assert found.title.startswith("m.F.func1 changed")


def test_instances_of_a_generic_function_are_one_function_that_changed(tmp_path):
    body = "package m\n\nfunc F[T any](t T) {\n	%s(t)\n}\n"
    frames = (Frame(f"m.F[{kind}]", "/b/m/f.go", 4, 3) for kind in ("int", "string"))
    (found,) = of_one_file(tmp_path, [body % one for one in "xy"], frames).found
    assert found.title.startswith("m.F changed")


@pytest.mark.parametrize("taking", ["n int", ""])
def test_what_a_function_takes_now_is_made_by_its_callers(tmp_path, taking):
    """Where nothing but its signature has another text, their calls are named too."""
    own = OWN.replace("	work()", "	setup()\n	work()")
    now = own.replace("F() {\n	setup()", f"F({taking}) {{")
    calling = {"outer.go": OUTER.replace("call()", "call(1)")}
    stack = "m.F", "m.(*T).Outer"
    samples = [{stack: count, ("m.Far",): 1000} for count in (2000, 1000)]
    versions = FILES | {"f.go": own}, {"f.go": now} | calling
    comparison, sources = differing(tmp_path, versions, samples)
    report = report_of(comparison, sources=sources)
    (note, *_) = source_notes(report, report.findings.found[0])
    assert (note.added == ", and its caller m.(*T).Outer (outer.go:6)") == bool(taking)


def test_another_name_of_a_receiver_changes_nothing_elsewhere(tmp_path):
    """Nor does it in a function that the profile has."""
    method = "func (x *T) Idle() string {\n	return x.name\n}\n"
    old = OUTER + "\n" + method
    new = old.replace("x", "other").replace("(t *T)", "(u *T)")
    stacks = {("m.F", "m.(*T).Outer"): 2000, ("m.Far",): 1}
    files = FILES | {"outer.go": old}, CHANGED_FAR | {"outer.go": new}
    comparison, sources = differing(tmp_path, files, (stacks, stacks))
    (found,) = with_changed(comparison, sources).found
    assert found.title == "m.Far changed and is in the CPU profile"


def test_fields_that_are_only_aligned_otherwise_are_no_change(tmp_path):
    old = "package m\n\ntype t struct {\n	a int\n}\n\nfunc F() {\n	x()\n}\n"
    new = old.replace("	a int\n", "	a    int\n	long int\n")
    frames = [Frame("m.F", "/b/m/f.go", 8, 7)], [Frame("m.F", "/b/m/f.go", 9, 8)]
    stacks = [{(one,): 9 for one in side} for side in frames]
    versions = [FILES | {"f.go": text} for text in (old, new)]
    (found,) = with_changed(*differing(tmp_path, versions, stacks)).found
    assert found.title.endswith("; it changes f.go:5")


def test_many_places_are_counted_in_their_files(tmp_path):
    texts = [
        "\n\n".join(
            [
                "package m",
                *(f"var v{i} = {n}" for i in range(4)),
                "func F() {\n	x()\n}\n",
            ]
        )
        for n in (1, 2)
    ]
    frames = [Frame("m.F", "/b/m/f.go", 12, 11)]
    (found,) = of_one_file(tmp_path, texts, frames).found
    assert found.title.endswith("; it changes 4 places in f.go")


def test_a_table_that_changed_is_named_with_what_uses_it(tmp_path):
    table = "package m\n\nvar table = []int{\n\t%s1,\n\t2,\n}\n\n"
    text = f"{table}func F() {{\n\tx(table)\n}}\n"
    frames = [Frame("m.F", "/b/m/f.go", 9, 8)]
    versions = [text % "0, ", text % "3, "]
    (found,) = of_one_file(tmp_path, versions, frames).found
    assert found.title.endswith("; it changes table (f.go:4, used in m.F)")
    at = _Place(("f.go", "f.go"), Hunk(4, 1, 4, 0))
    assert at.name == "f.go:4 (removed)"


def of_one_file(tmp_path, texts, frames):
    """Return what is said of two commits of a file with as many samples of `frames`."""
    stacks = {(one,): 9 for one in frames}
    versions = [FILES | {"f.go": text} for text in texts]
    comparison, sources = differing(tmp_path, versions, (stacks, stacks))
    return with_changed(comparison, sources)


@pytest.mark.parametrize(
    ("ran", "which"),
    [
        (
            {"m.F", "m.Far"},
            "m.Far changed and is in the profiles of Get and Put; the diff also changes outer.go:5",
        ),
        (
            {"m.F"},
            "The diff changes no function in the profiles of Get and Put; it changes far.go:4 and outer.go:5",
        ),
    ],
)
def test_functions_that_a_benchmark_did_not_run_are_no_reason_for_its_change(
    tmp_path, ran, which
):
    found = of_functions(tmp_path, CHANGED | CHANGED_FAR, ran=ran)
    assert found.title == which
    assert set(found.functions) == ran - {"m.F"}


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize(("own", "lines"), [("work", ["f.go:8"]), ("more", ["f.go:6"])])
def test_lines_of_a_closure_are_not_its_function_s(tmp_path, own, lines, called):
    """But of what a function costs with all that it calls, they are."""
    body = "	work()\n	second()\n	g(func() { x() })\n"
    text = OWN.replace("	work()\n", body)
    changes = {"f.go": text.replace("x()", "y()").replace("work", own)}
    frames = FRAMES["m.F"], Frame("m.F.func1", "/b/m/f.go", 8, 8)
    stacks = dict.fromkeys([frames[::-1]] if called else [(one,) for one in frames], 9)
    versions = FILES | {"f.go": text}, changes
    comparison, sources = differing(tmp_path, versions, (stacks, stacks))
    carriers = Carriers(comparison.cpu, sources)
    row = comparison.cpu.paired_functions.names.index("m.F")
    # If nothing but the closure changed, its lines are all there is to name.
    assert [one.place for one in with_others(carriers, [row], ()).near] == lines
    if called and own == "more":
        lines = ["f.go:6", "f.go:8"]
    near = with_others(carriers, [row], (), cum=True).near
    assert sorted(one.place for one in near) == lines


@pytest.mark.parametrize("sort", ["sort", "slices"])
def test_a_closure_s_first_line_may_be_its_function_s(tmp_path, sort):
    """The function passes it to another one now."""
    body = "	%s(func() {\n		%s()\n	})\n"
    old, new = (
        OWN.replace("	work()\n", body % one) for one in (("sort", "x"), (sort, "y"))
    )
    frames = Frame("m.F", "/b/m/f.go", 6, 5), Frame("m.F.func1", "/b/m/f.go", 7, 6)
    stacks = {(one,): 9 for one in frames}
    versions = [FILES | {"f.go": text} for text in (old, new)]
    comparison, sources = differing(tmp_path, versions, (stacks, stacks))
    carriers = Carriers(comparison.cpu, sources)
    row = comparison.cpu.paired_functions.names.index("m.F")
    (i,) = carriers.by_row[row]
    assert carriers.in_closure(i) is (sort == "sort")


def of_declared(tmp_path, base, new, **samples):
    """Return the finding on functions of one file, each with a sample in a line."""
    sides = []
    for text in (base, new):
        lines = text.split("\n")
        starts = {
            name: lines.index(f"func {name}() {{") + 1
            for name in samples
            if f"func {name}()" in text
        }
        sides.append(
            {
                (Frame(f"m.{name}", "/b/m/f.go", at + 1, at),): samples[name]
                for name, at in starts.items()
            }
        )
    versions = {"f.go": base}, {"f.go": new}
    comparison, sources = differing(tmp_path, versions, sides)
    (found,) = with_changed(comparison, sources).found
    return found.title


def declared(**bodies):
    """Return a file of functions that call others by name."""
    functions = [
        "\n".join(
            [f"func {name}() {{", *(f"	{one}()" for one in body.split()), "}", ""]
        )
        for name, body in bodies.items()
    ]
    return "\n".join(["package m", "", *functions])


def test_of_many_functions_those_with_most_samples_are_named(tmp_path):
    base = declared(A="a x", B="b x", C="c x", D="d x", E="e x")
    said = of_declared(
        tmp_path, base, base.replace("x()", "y()"), A=1, B=5, C=4, D=3, E=2
    )
    assert said == "m.B, m.C, m.D and 2 others changed and are in the CPU profile"


def test_a_function_whose_changed_lines_did_not_run_is_named_last(tmp_path):
    """All samples are in the first line of each."""
    base = declared(F="a x", G="x c")
    said = of_declared(tmp_path, base, base.replace("x()", "y()"), F=90, G=9)
    assert said.startswith("m.G and m.F changed")


def test_functions_of_one_side_are_named_after_those_that_changed(tmp_path):
    base, new = declared(F="a b c"), declared(F="a g", g="b c")
    are = "are in the diff and in the CPU profile"
    assert of_declared(tmp_path, base, new, F=1, g=9) == f"m.F and m.g (new) {are}"
    back = of_declared(tmp_path / "back", new, base, F=1, g=9)
    assert back == f"m.F and m.g (removed) {are}"


def test_the_line_of_a_recursive_function_that_costs_is_named_before_its_call(tmp_path):
    """The call has the cost of all lines below it."""
    texts = declared(F="a k F l c"), declared(F="b k G l d").replace("G()", "F(1)")
    first, call, last = (Frame("m.F", "/b/m/f.go", line, 3) for line in (4, 6, 8))
    sides = [{(first, call): 3 * n, (last, call): 2 * n} for n in (40, 400)]
    versions = [{"f.go": one} for one in texts]
    comparison, sources = differing(tmp_path, versions, sides, runs=5)
    (cause, *_) = report_of(comparison, sources=sources).findings.found
    assert [one.place for one in cause.source.lines] == ["f.go:4"]


def test_a_closure_that_one_side_runs_has_the_lines_in_it(tmp_path):
    """Which closure of new it is, is unknown: the lines are its function's."""
    base = (
        "package m\n\nfunc F() {\n	g(func() {\n		x()\n		y()\n	})\n}\n"
    )
    outer, inner = (
        Frame("m.F", "/b/m/f.go", 4, 3),
        Frame("m.F.func1", "/b/m/f.go", 5, 4),
    )
    sides = [{(inner, outer): 9, (outer,): 1}, {(outer,): 1}]
    versions = [{"f.go": one} for one in (base, base.replace("		x()\n", ""))]
    comparison, sources = differing(tmp_path, versions, sides)
    carriers = Carriers(comparison.cpu, sources)
    names = comparison.cpu.paired_functions.names
    declaring, hunks = carriers.declaring(names.index("m.F.func1"))
    assert names[declaring] == "m.F"
    assert [carriers.changed[i].hunk.base_start for i in hunks] == [5]
    assert carriers.declaring(names.index("m.F")) == (-1, [])


@pytest.mark.parametrize(("amounts", "lacking"), [((), ["B"]), (("B",), None)])
def test_a_benchmark_that_moved_without_a_cause_gets_what_changed_in_it(
    amounts, lacking
):
    """Unless the cause of another one has its amount."""
    cost = Estimate(1.0, 2.0, 2.0, 1.5, 2.5)
    units = [
        OfBenchmark.of(name, "time", cost, (1.6, 2.4), 0.02) for name in ("A", "B")
    ]
    assert all(unit.moved for unit in units)
    lines = ChangedLines("m.F", "f.go", 1, 1, False, 0, 0, ())
    cause = Finding("place", "A: m.F", "", (), severity="major", unit="A")
    cause = cause._replace(source=SourceOfFinding((lines,)), with_units=amounts)
    found = _without_lines([cause], units)
    assert (found and [one.name for one in found]) == lacking


@pytest.mark.parametrize("both", [True, False])
def test_a_closure_that_one_side_runs_is_not_said_to_have_changed(tmp_path, both):
    base = "package m\n\nfunc F() {\n	g(func() {\n		x()\n	})\n}\n"
    inner = Frame("m.F.func1", "/b/m/f.go", 5, 4)
    sides = [{(inner,): 9, ("m.Far",): 1}, {("m.Far",): 1}]
    sides[1] |= {(inner,): 9} if both else {}
    versions = [FILES | {"f.go": one} for one in (base, base.replace("x()", "y()"))]
    comparison, sources = differing(tmp_path, versions, sides)
    titles = [one.title for one in with_changed(comparison, sources).found]
    assert titles == (["m.F.func1 changed and is in the CPU profile"] if both else [])


@pytest.mark.parametrize(("body", "origin"), [("b c d", True), ("p q r", False)])
def test_a_dearer_new_function_has_the_code_of_another(tmp_path, body, origin):
    # Lines that are spelled alike are removed in E as well.
    texts = declared(F="a b c d e", E="b c y"), declared(F="a g e", E="y", g=body)
    own, inner = Frame("m.F", "/b/m/f.go", 4, 3), Frame("m.g", "/b/m/f.go", 14, 13)
    sides = [{(own,): 900}, {(own,): 900, (inner, own): 900}]
    versions = [{"f.go": one} for one in texts]
    comparison, sources = differing(tmp_path, versions, sides, runs=5)
    said = text(report_of(comparison, sources=sources))
    assert "1. m.g (f.go:13-17" in said
    assert ("It has code that was in m.F." in said) == origin


@pytest.mark.parametrize("calls", [True, False])
def test_a_function_with_another_signature_is_behind_what_calls_it(tmp_path, calls):
    """Far's first line differs alone: Outer, which calls it, does so less often."""
    far = "package m\n\nfunc Far(%s) {\n\tslow()\n}\n"
    outer = "package m\n\nfunc Outer() {\n\t%s\n\tFar()\n}\n"
    changed = "if some() {" if calls else "all()"
    texts = [
        {"far.go": far % "", "outer.go": outer % "all()"},
        {"far.go": far % "n int", "outer.go": outer % changed},
    ]
    stack = Frame("m.Far", "/b/m/far.go", 4, 3), Frame("m.Outer", "/b/m/outer.go", 5, 3)
    comparison, sources = differing(tmp_path, texts, [{stack: 3000}, {stack: 900}])
    found = text(report_of(comparison, sources=sources))
    said = "Changed before the call: outer.go:4 in m.Outer, which calls m.Far"
    assert (said in found) is calls


SPLIT = declared(F="store one two three four five six")


@pytest.mark.parametrize(
    ("text", "base", "new", "line"),
    [
        # The dearest changed line moved, and costs what it did.
        ("split one two store four five six", {4: 900, 5: 90}, {4: 400, 5: 90, 7: 900}, "f.go:4"),
        # Moved to a helper, which the changed lines in its place call.
        ("g two three four five six", {4: 900, 5: 90}, {4: 400, 5: 90, "g": 900}, "f.go:4"),
        # What a line that is gone cost is its change.
        ("one two three five six", {4: 900, 5: 90}, {4: 9, 5: 90}, "lines removed: f.go:4"),
        # The code that costs more did not change.
        ("split one two three four five six", {4: 90, 6: 300}, {4: 120, 6: 900}, ""),
    ],
    ids=["moved", "helper", "gone", "elsewhere"],
)  # fmt: skip
def test_a_title_has_the_line_that_holds_most_of_the_change(
    tmp_path, text, base, new, line
):
    changed = declared(F=text) + ("\n" + declared(g="store one").split("\n", 2)[2])
    texts = SPLIT, changed if "g" in text.split() else declared(F=text)
    sides = []
    for one, costs in zip(texts, (base, new), strict=True):
        stacks = {}
        for at, cost in costs.items():
            frames = [Frame("m.F", "/b/m/f.go", 4 if at == "g" else at, 3)]
            if at == "g":
                start = one.split("\n").index("func g() {") + 1
                frames.insert(0, Frame("m.g", "/b/m/f.go", start + 1, start))
            stacks[tuple(frames)] = cost
        sides.append(stacks)
    versions = [{"f.go": one} for one in texts]
    # Several alike runs: one may differ by that much.
    comparison, sources = differing(tmp_path, versions, sides, runs=5)
    reasons = why(report_of(comparison, sources=sources)).reasons
    place = reasons[0].title.partition(" (")[2].partition(",")[0]
    assert reasons[0].title.startswith("m.F")
    assert (place if ".go" in place else "") == line


@pytest.mark.parametrize("file", ["/b/d/g.go", "/go/pkg/mod/x.org/d@v1.2.3/g.go"])
def test_nothing_is_said_where_one_that_ran_may_have_changed(tmp_path, file):
    assert of_functions(tmp_path, CHANGED, file=file).found == ()


def text(report):
    return " ".join(render(report_parts(report)).split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stack", "sentence"),
    [
        (("m.F", "m.(*T).Outer"), "which calls m.F"),
        (("m.F", "m.X", "m.(*T).Outer"), "which calls m.F through m.X"),
        (("m.F", "m.X", "m.Y", "m.(*T).Outer"), "which calls m.F indirectly"),
        (("m.(*T).Outer", "m.F"), "which m.F calls"),
    ],
)
def test_the_relation_on_stacks_is_said(tmp_path, stack, sentence):
    report, commit = reported(tmp_path, stack, CHANGED | CHANGED_FAR)
    written = text(report)
    calls = sentence.startswith("which calls")
    changed = "Changed before the call" if calls else "Changed"
    assert f"{changed}: outer.go:5 in m.(*T).Outer, {sentence}{commit}" in written
    # What changed too, and is on no stack with it, is none of its.
    assert "far.go" not in written
    source = json.loads(document(report))["findings"][0]["source"]
    (related,) = source["related"]
    way = "calls" if calls else "called_by"
    assert (related["function"], related[way]) == ("m.(*T).Outer", "m.F")
    assert (related["through"] or "") == ("m.X" if "through" in sentence else "")
    assert related["direct"] == (len(stack) == 2)


@pytest.mark.parametrize(
    ("changes", "outer"), [(LATER, 1), (ITSELF, 2)], ids=["after", "recursive"]
)
def test_lines_that_may_run_after_the_last_call_are_no_reason(tmp_path, changes, outer):
    report, _ = reported(tmp_path, ("m.F", *["m.(*T).Outer"] * outer), changes)
    cause, changed = report.findings.found
    assert not cause.source.related
    assert changed.id == CHANGED_ALONE
    assert "Also: m.(*T).Outer (outer.go:" in text(report)


def test_a_method_of_that_name_may_be_anothers(tmp_path):
    """t.Outer may call that of a field: no stack has it twice."""
    report, _ = reported(tmp_path, ("m.F", "m.(*T).Outer"), ITSELF)
    assert "Changed before the call: outer.go:5 in m.(*T).Outer" in text(report)


@pytest.mark.parametrize("between", [("m.X",), ("m.X", "m.Y")])
def test_of_several_changes_on_stacks_only_one_next_to_it_is_named(tmp_path, between):
    """How often Outer's callee calls F may be up to Far, which Outer calls too."""
    of_far = {"far": ("m.Far", "m.(*T).Outer")}
    changes = CHANGED | CHANGED_FAR
    stack = ("m.F", *between, "m.(*T).Outer")
    distant, _ = reported(tmp_path / "distant", stack, changes, **of_far)
    assert "Changed" not in text(distant)
    stack = ("m.F", "m.(*T).Outer")
    near, _ = reported(tmp_path / "near", stack, changes, **of_far)
    said = "Changed before the call: outer.go:5 in m.(*T).Outer, which calls m.F;"
    assert said in text(near)


def test_changed_lines_that_hardly_run_explain_nothing(tmp_path):
    """Outer is called often, and all of its samples are on a line that is the same."""
    report, _ = reported(tmp_path, ("m.(*T).Outer", "m.F"), LATER, called=100)
    assert "which m.F calls" not in text(report)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (CHANGED_FAR, ["Its code is unchanged; only function changed in package m, tests aside: far.go:4 in m.Far"]),
        # What tests alone are built with is no change of the package.
        (CHANGED_FAR | TESTS, ["Its code is unchanged; only function changed in package m, tests aside: far.go:4 in m.Far"]),
        # New and removed functions are changes, moved ones are not.
        ({"far.go": "package m\n", "g.go": FAR, "h.go": "package m\n\nfunc H() {\n}\n"},
         ["Its code is unchanged; only function changed in package m, tests aside: h.go:3-4 in m.H"]),
        ({"far.go": "package m\n", "h.go": "package m\n\nfunc H() {\n}\n"},
         ["2 functions changed in package m, tests aside: removed far.go:3-5 in m.Far; h.go:3-4 in m.H"]),
        ({"h.go": "package m\n" + "".join(f"\nfunc H{i}() {{\n}}\n" for i in range(4))}, []),
        ({"x.go": "package m\n\nvar x int\n"}, []),
    ],
    ids=["one", "tests", "moved", "two", "many", "none"],
)  # fmt: skip
def test_a_small_change_elsewhere_is_named_for_what_it_is(tmp_path, changes, words):
    report, commit = reported(tmp_path, ("m.F", "m.(*T).Outer"), changes)
    written = " ".join(note.text for one in why(report).reasons for note in one.notes)
    # The subject of a commit is said once.
    for sentence, said in zip(words, (commit, commit.partition(' "')[0]), strict=False):
        assert sentence + said in written
    assert written.count("tests aside") == len(words)
    assert "Changed:" not in written
    assert ("tests aside" in text(report)) == bool(words)


@pytest.mark.parametrize(
    ("changes", "unchanged"), [(CHANGED, ()), (CHANGED_FAR, ("m.F",))]
)
def test_what_a_changed_function_calls_is_not_said_to_cost_more_by_itself(
    tmp_path, changes, unchanged
):
    report, _ = reported(tmp_path, ("m.F", "m.X", "m.(*T).Outer"), changes)
    assert report.unchanged == unchanged


def test_a_new_function_is_listed_with_the_lines_that_call_it(tmp_path):
    texts = declared(F="a b c"), declared(F="a g c", g="x y")
    outer, inner = Frame("m.F", "/b/m/f.go", 5, 3), Frame("m.g", "/b/m/f.go", 10, 9)
    samples = {(outer,): 2000}, {(outer,): 4000, (inner, outer): 400}
    versions = [{"f.go": one} for one in texts]
    comparison, sources = differing(tmp_path, versions, samples)
    written = text(report_of(comparison, sources=sources))
    assert "with the new g (9-12)" in written


@pytest.mark.parametrize(
    ("outer", "inner", "said"),
    [
        ("m.(*T).Run", "m.(*T).run", "with the new run (11-13)"),
        ("m.Run", "m.(*T).Run", "with the new m.(*T).Run (11-13)"),
    ],
)
def test_a_new_method_of_another_type_has_its_type(tmp_path, outer, inner, said):
    def declaration(name, *calls):
        receiver = "(t *T) " if "*T" in name else ""
        body = "".join(f"	{one}\n" for one in calls)
        return f"func {receiver}{name.rpartition('.')[2]}() {{\n{body}}}\n"

    head = "package m\n\ntype T int\n\n"
    old = head + declaration(outer, "a()", "b()", "c()")
    call = f"t.{inner.rpartition('.')[2]}()"
    new = (
        head + declaration(outer, "a()", call, "c()") + "\n" + declaration(inner, "x()")
    )
    frames = Frame(outer, "/b/m/f.go", 7, 5), Frame(inner, "/b/m/f.go", 12, 11)
    samples = {frames[:1]: 2000}, {frames[:1]: 4000, frames[::-1]: 400}
    comparison, sources = differing(tmp_path, [{"f.go": old}, {"f.go": new}], samples)
    assert said in text(report_of(comparison, sources=sources))


def test_all_changed_lines_of_a_function_are_listed(tmp_path):
    """Those that carry its cost with their amount, the others behind them."""
    lines = [f"	line{i}()" for i in range(12)]
    old = "\n".join(["package m", "", "func Far() {", *lines, "}", ""])
    for i in (0, 4, 8):
        lines[i] = f"	other{i}()"
    del lines[11]
    new = "\n".join(["package m", "", "func Far() {", *lines, "}", ""])
    samples = [{(Frame("m.Far", "/b/m/far.go", 8, 3),): n} for n in (2000, 4000)]
    versions = {"far.go": old}, {"far.go": new}
    comparison, sources = differing(tmp_path, versions, samples)
    commit = sources.revisions[1]
    report = report_of(comparison, sources=sources)
    sentence = 'Changed: 8 (also 4, 12; base\'s 15 removed); "c".'
    assert f"1. m.Far (far.go:8, {commit[:9]}) " in text(report)
    assert sentence in text(report)
    assert f"`m.Far` (`far.go:8`, `{commit[:9]}`) " in comment(report)


@pytest.mark.parametrize(("first", "most"), [(9000, "8"), (3000, "8-9")])
def test_of_many_changed_lines_those_that_cost_most_are_named(tmp_path, first, most):
    """Line 30 is another change: their costs are one amount.

    In base, the lines before them cost next to nothing: all of it is new.
    """
    body = [f"	line{n}()" for n in range(4, 34)]
    texts = ["\n".join(["package m", "", "func Far() {", *body, "}", ""])]
    body[1:13] = [f"	other{n}()" for n in range(12)]
    body[26] = "	changed()"
    texts.append("\n".join(["package m", "", "func Far() {", *body, "}", ""]))
    samples = {18: 1000, 30: 100}, {8: first, 9: 1500, 14: 300, 30: 300}
    written = of_lines(tmp_path, texts, samples)
    assert "Changed: 5-16" in written
    assert f"most of it in {most};" in written


def of_lines(tmp_path, texts, samples):
    """Return the report of m.Far with these texts and samples by line, (base, new)."""
    stacks = [
        {(Frame("m.Far", "/b/m/far.go", line, 3),): n for line, n in lines.items()}
        for lines in samples
    ]
    versions = [{"far.go": text} for text in texts]
    comparison, sources = differing(tmp_path, versions, stacks)
    return text(report_of(comparison, sources=sources))


def test_an_amount_is_that_of_the_lines_that_change_it(tmp_path):
    """The last line costs as much as before; the first is the change."""
    old = "package m\n\nfunc Far() {\n	a()\n	b()\n	c()\n}\n"
    new = old.replace("a()", "aa()").replace("c()", "cc()")
    samples = {4: 1000, 6: 500}, {4: 3000, 6: 500}
    said = 'Changed: 4, cum 10.00 → 30.00 ms/op (also 6); "c".'
    assert said in of_lines(tmp_path, (old, new), samples)


@pytest.mark.parametrize(
    ("new", "only"),
    [
        ("func Far(n int) {\n	a()\n}", True),
        ("func Far(\n	n int,\n) {\n	a()\n}", True),
        ("func Far(n int) {\n	b()\n}", False),
        ("func Far() {\n	b()\n}", False),
    ],
)
def test_a_signature_is_no_code_of_its_function(tmp_path, new, only):
    line = new[: new.index("()\n}")].count("\n") + 3
    texts = "func Far() {\n	a()\n}", new
    versions = [{"far.go": f"package m\n\n{text}\n"} for text in texts]
    samples = [{(Frame("m.Far", "/b/m/far.go", at, 3),): 9} for at in (4, line)]
    comparison, sources = differing(tmp_path, versions, samples)
    assert Carriers(comparison.profiles[0], sources).only_signatures([0]) is only


def test_a_recursive_function_allocates_on_its_inner_line(tmp_path):
    old = "package m\n\nfunc Far() {\n	a()\n	x()\n	Far()\n}\n"
    new = old.replace("a()", "aa()").replace("	Far()", "	Far(1)")
    stack = tuple(Frame("m.Far", "/b/m/far.go", n, 3) for n in (4, 6))
    versions = {"far.go": old}, {"far.go": new}
    samples = {stack: 100}, {stack: 300}
    comparison, sources = differing(tmp_path, versions, samples)
    carriers = Carriers(comparison.profiles[0], sources)
    every = tuple(np.ones(1, np.bool_) for _ in samples)
    hunks = sorted(range(2), key=lambda i: carriers.changed[i].hunk.new_start)
    values = 100 * 10 * MS, 300 * 10 * MS
    assert [carriers.net(i, every) for i in hunks] == [values, values]
    assert [carriers.net(i, every, own=True) for i in hunks] == [values, (0, 0)]


CALLER = "package m\n\nfunc Outer() {\n	%s()\n	Inner()\n	Other()\n}\n"
CALLEE = "package m\n\nfunc Inner() {\n	%s()\n}\n"


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        # All cost less, none of them most: the caller is the cause.
        (({4: 400, 5: 350, 6: 390}, {4: 100, 5: 80, 6: 100}), True),
        # The callee is the cause: its caller's changed line does not even call it.
        (({4: 100, 5: 900, 6: 100}, {4: 100, 5: 100, 6: 100}), False),
    ],
)
def test_changed_callees_of_a_cause_have_their_lines(tmp_path, samples, said):
    versions = [
        {"outer.go": CALLER % one, "inner.go": CALLEE % one} for one in ("a", "b")
    ]
    callees = {5: ("m.Inner", "inner"), 6: ("m.Other", "other")}

    def frames(line):
        outer = Frame("m.Outer", "/b/m/outer.go", line, 3)
        if line not in callees:
            return (outer,)
        name, file = callees[line]
        return Frame(name, f"/b/m/{file}.go", 4, 3), outer

    stacks = [{frames(line): n for line, n in lines.items()} for lines in samples]
    comparison, sources = differing(tmp_path, versions, stacks)
    report = text(report_of(comparison, sources=sources))
    assert ("Changed: inner.go:4 in m.Inner, cum 3.50 → 0.80 ms/op" in report) is said
    first = "m.Outer " if said else "m.Inner "
    assert report.partition("1. ")[2].startswith(first)


def _slow(lines):
    """Return texts of Far; new has `lines` in place of base's 6 and 7, and others."""
    body = ["a()", "one()", "slow()", "slow2()", "two()", "b()"]
    old = "package m\n\nfunc Far() {\n" + "".join(f"	{x}\n" for x in body) + "}\n"
    new = old.replace("	slow()\n	slow2()\n", lines).replace("	b()", "	bb()")
    return old, new


def test_of_a_saving_the_lines_of_base_are_named_that_cost_it(tmp_path):
    """New has a cheap line in another place: base's numbers lead to what was dear."""
    texts, samples = _slow("	fast()\n"), ({6: 2000, 7: 1000}, {6: 300})
    assert "Changed: 6 (also 8; in base 6-7);" in of_lines(tmp_path, texts, samples)
    # Where new costs more, its own lines are the ones to read.
    (tmp_path / "worse").mkdir()
    worse = of_lines(tmp_path / "worse", texts[::-1], samples[::-1])
    assert "Changed: 6-7 (also 9);" in worse


@pytest.mark.parametrize(
    ("left", "work", "first"),
    [
        (0, 1300, "Changed: 10 (also 6-8"),
        (60, 1300, "Changed: 6-8 (also 10"),
    ],
)
def test_a_hunk_that_does_not_run_leads_only_where_no_other_does_its_work(
    tmp_path, left, work, first
):
    """Far skips what it did at lines 6 and 7 of base, and does it in line 10."""
    texts = _slow("	if rare() {\n		continue\n	}\n")
    samples = {6: 2000, 7: 1000, 9: work // 2}, {6: left, 10: work}
    assert first in of_lines(tmp_path, texts, samples)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("	{\n	}\n", "Removed: 6-7, cum 30.00 → 0.00 ms/op (changed in new: 4)"),
        # That is code, though it has no name.
        ('	return ""\n', "Changed: 6, cum 30.00 → 0.00 ms/op (also 4; in base 6-7)"),
    ],
)
def test_what_braces_replace_is_what_was_removed(tmp_path, lines, said):
    body = ["a()", "one()", "slow()", "slow()", "two()", "b()"]
    old = "package m\n\nfunc Far() {\n" + "".join(f"	{x}\n" for x in body) + "}\n"
    new = old.replace("	slow()\n	slow()\n", lines).replace("a()", "aa()")
    last = 8 + lines.count("\n") - 1
    samples = {9: 500, 6: 3000}, {last: 500}
    assert said in of_lines(tmp_path, (old, new), samples)


def test_lines_that_only_moved_do_not_come_first(tmp_path):
    """Slow ran for all; now only for one kind, and the rest is not indented."""
    rest = "	one()\n	two()\n"
    old = f"package m\n\nfunc Far() {{\n	if slow() {{\n		x()\n	}} else {{\n	{rest.replace(chr(10) + chr(9), chr(10) + chr(9) * 2)}	}}\n}}\n"
    new = f"package m\n\nfunc Far() {{\n	if kind() && slow() {{\n		x()\n		return\n	}}\n\n{rest}}}\n"
    samples = {4: 3000, 7: 500, 8: 500}, {9: 500, 10: 500}
    found = of_lines(tmp_path, (old, new), samples)
    assert "Changed: 4, cum 30.00 → 0.00 ms/op" in found


TESTS_OF_F = "package p\n\nfunc BenchmarkAll(b *testing.B) {\n\tF()\n}\n"
OTHER_TEST = f"{TESTS_OF_F}\nfunc BenchmarkOther(b *testing.B) {{\n}}\n"
COMMENTED = "package p\n\n// %s\nfunc F() {\n\twork()\n}\n"


SAME = (
    "Comments and local names aside, the code of all packages with samples is the same "
    "in both builds"
)


def in_f(line=5):
    """Return the stack of F, at a line of its file, in its benchmark."""
    _, benchmark, *loop = path("F")
    own = f"{PACKAGE}.F", "/b/p/f.go", line
    return (own, (benchmark, "/b/p/f_test.go", 4), *loop)


def line_of(called, text):
    """Return the line of a file in which a function is called."""
    return text.split("\n").index(f"\t{called}()") + 1


def reported_in_p(tmp_path, comparison, *versions):
    """Return the report on package p, given the files that each commit writes."""
    sources = committed(tmp_path, "example.com/p", *versions)
    return report_of(comparison, sources=sources)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"f.go": COMMENTED % "F works."}, f"{SAME}."),
        ({"g_test.go": "package p\n"}, f"{SAME}, except for g_test.go."),
        ({"f_test.go": OTHER_TEST}, f"{SAME}, except for f_test.go."),
        ({"f.go": COMMENTED.replace("work()", "work(1)") % "F works."}, None),
    ],
)
def test_builds_of_the_same_code_are_not_slower(tmp_path, changes, said):
    """Whatever benchmarks show: nothing but a comment changed, or another test."""
    comparison = compared(Unit({in_f(): 600}), Unit({in_f(): 900}))
    files = {"f_test.go": TESTS_OF_F, "f.go": COMMENTED % "F"}
    report = reported_in_p(tmp_path, comparison, files, changes)
    assert report.outcome.verdict == ("unknown" if said else "slower")
    assert (said or "") in text(report)
    assert (SAME in text(report)) == (said is not None)
    assert any(one.severity != "info" for one in report.findings.found) == (not said)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"re/parse/p.go": "package parse\n\nvar Less = 2\n"}, False),
        ({"re/parse/p.go": "package parse\n\n// Less is less.\nvar Less = 1\n"}, True),
        ({"re/parse/p_test.go": "package parse\n"}, True),
        ({"re/other/o.go": "package other\n"}, True),
    ],
    ids=["code", "comment", "test", "not imported"],
)
def test_what_a_package_imports_may_change_what_its_functions_cost(
    tmp_path, changes, same
):
    """What set-up compiles decides how long a match takes: imports of imports."""
    files = {
        "f_test.go": TESTS_OF_F,
        "f.go": COMMENTED % "F",
        "re.go": 'package p\n\nimport (\n\t"fmt"\n\n\tr "example.com/p/re"\n)\n',
        "re/re.go": 'package re\n\nimport "example.com/p/re/parse"\n',
        "re/parse/p.go": "package parse\n\nvar Less = 1\n",
    }
    comparison = compared(Unit({in_f(): 600}), Unit({in_f(): 900}))
    report = reported_in_p(tmp_path, comparison, files, changes)
    assert report.outcome.verdict == ("unknown" if same else "slower")
    assert (SAME in text(report)) == same


def test_where_benchmarks_were_rewritten_no_line_of_the_program_is_named(tmp_path):
    files = {"f_test.go": TESTS_OF_F, "f.go": COMMENTED % "F"}
    changed = {"f.go": COMMENTED.replace("work()", "work(1)") % "F"}
    comparison = compared(Unit({in_f(): 600}), Unit({in_f(): 900}))
    sources = committed(tmp_path, "example.com/p", files, changed)
    assert "(f.go:5, " in text(report_of(comparison, sources=sources))
    turns = replace(comparison.turns, rewritten="data (in BenchmarkAll)")
    written = text(report_of(replace(comparison, turns=turns), sources=sources))
    assert "data (in BenchmarkAll) is written differently" in written
    assert "f.go" not in written


@pytest.mark.parametrize("slower", ["All", "Other"])
def test_the_calls_of_another_benchmark_are_not_said(tmp_path, slower):
    """G calls F only in BenchmarkAll."""
    caller = "package p\n\nfunc G() {\n\tcall()\n}\n"
    files = {"g.go": caller, "f.go": COMMENTED % "F"}
    changed = {"g.go": caller.replace("call()", "call(1)")}
    own = (f"{PACKAGE}.F", "/b/p/f.go", 5)
    stacks = {
        "All": (own, (f"{PACKAGE}.G", "/b/p/g.go", 4), *path("F")[1:]),
        "Other": (own, *path("F", bench="Other")[1:]),
    }
    sides = [
        [
            Unit({stack: 900 if name == more else 600}, name=name)
            for name, stack in stacks.items()
        ]
        for more in ("", slower)
    ]
    sources = committed(tmp_path, "example.com/p", files, changed)
    written = text(report_of(compared(*sides), sources=sources))
    named = "All: p.G (g.go:4, " if slower == "All" else "Other: p.F "
    assert f"1. {named}" in written
    assert "Changed: g.go:4" not in written


def test_a_benchmark_s_cause_has_the_changed_lines_of_its_callees(tmp_path):
    """F itself is unchanged, and no callee has most of what it costs less."""
    body = "package p\n\nfunc %s() {\n\twork%s()\n}\n"
    changed = [
        {f"{one}.go": body % (one, mark) for one in "GHIJ"} for mark in ("", "2")
    ]
    changed[0] |= {"f_test.go": TESTS_OF_F, "f.go": body % ("F", "")}
    (own, *loop), (_, *other) = path("F"), path("F", bench="Other")
    frame = (own, "/b/p/f.go", 5)
    sides = [
        [
            Unit(
                {
                    ((f"{PACKAGE}.{one}", f"/b/p/{one}.go", 4), frame, *loop): cost
                    for one in "GHIJ"
                },
                name="All",
            ),
            Unit({(frame, *other): 300}, name="Other"),
        ]
        for cost in (500, 200)
    ]
    sources = committed(tmp_path, "example.com/p", *changed)
    written = text(report_of(compared(*sides), sources=sources))
    assert "1. All: p.F uses 60% less CPU" in written
    assert re.search("Changed: [GHIJ].go:4 in p.[GHIJ], cum [^ ]* → ", written)


def test_a_closure_of_one_side_may_be_another_ones_code(tmp_path):
    """What F's closure cost is what that of New costs now."""
    old = "package p\n\nfunc F() {\n\teach(func() {\n\t\twork()\n\t})\n}\n"
    new = old.replace("each", "all").replace("work()", "New(work)") + (
        "\nfunc New(f func()) {\n\teach(func() {\n\t\tf()\n\t})\n}\n"
    )
    (own, *loop) = path("F")
    at = [(own, "/b/p/f.go", line) for line in (4, 5)]
    closures = [
        (f"{PACKAGE}.{one}.func1", "/b/p/f.go", n) for one, n in (("F", 5), ("New", 11))
    ]
    sides = [
        Unit({(at[0], *loop): 900, (closures[0], at[0], *loop): 500}),
        Unit({(at[0], *loop): 100, (closures[1], at[0], *loop): 480}),
    ]
    sources = committed(
        tmp_path, "example.com/p", {"f_test.go": TESTS_OF_F, "f.go": old}, {"f.go": new}
    )
    written = text(report_of(compared(*sides), sources=sources))
    assert "in p.F.func1" not in written


@pytest.mark.parametrize("called", [True, False])
def test_a_changed_function_that_is_called_no_longer_gives_way_to_its_caller(
    tmp_path, called
):
    """Its own change says nothing: new has no sample of it."""
    old = declared(F="rest G", G="work").replace("package m", "package p")
    new = declared(F="rest2 G", G="work2").replace("package m", "package p")
    lines = {name: old.split("\n").index(f"func {name}() {{") + 2 for name in "FG"}
    (own, *loop) = path("F")
    frame = (own, "/b/p/f.go", lines["F"])
    stack = ((f"{PACKAGE}.G", "/b/p/f.go", lines["G"]), frame, *loop)
    sides = [
        Unit({(frame, *loop): 300, stack: cost} if cost else {(frame, *loop): 300})
        for cost in (900, 200 if called else 0)
    ]
    files = {"f_test.go": TESTS_OF_F, "f.go": old}, {"f.go": new}
    sources = committed(tmp_path, "example.com/p", *files)
    written = text(report_of(compared(*sides), sources=sources))
    assert ("p.G (f.go:9" in written) == called
    assert ("in p.F, which called p.G" in written) == (not called)


@pytest.mark.parametrize(("more", "carries"), [(300, True), (40, False)])
def test_changed_lines_have_their_cost_in_the_benchmark_if_they_carry_it(
    tmp_path, more, carries
):
    """Of 300 samples that F costs more, they have all or few."""
    sides = [
        [
            Unit(
                {
                    ((f"{PACKAGE}.F", "/b/p/f.go", line), *path("F", bench=name)[1:]): n
                    for line, n in ((5, 600 + own), (6, 300 + rest))
                },
                name=name,
            )
            for name, own, rest in (("All", changed, others), ("Other", 0, 0))
        ]
        for changed, others in ((0, 0), (more, 300 - more))
    ]
    body = COMMENTED.replace("work()", "work()\n\trest()") % "F"
    files = {"f.go": body}, {"f.go": body.replace("work()", "work(1)")}
    sources = committed(tmp_path, "example.com/p", *files)
    written = text(report_of(compared(*sides), sources=sources))
    (changed,) = re.findall("Changed: ([^;]*);", written)
    assert changed == ("5, cum 6.12 → 9.18 ms/op" if carries else "f.go:5")


def test_where_no_function_that_ran_changed_nothing_asks_for_more_time(tmp_path):
    files = {"f_test.go": TESTS_OF_F, "f.go": COMMENTED % "F"}
    files |= {"g.go": "package p\n\nfunc G() {\n}\n"}
    changed = {"g.go": "package p\n\nfunc G() {\n\tF()\n}\n"}
    comparison = compared(*[Unit({in_f(): 600}, noise=0.2)] * 2)
    assert report_of(comparison).outcome.needs
    report = reported_in_p(tmp_path, comparison, files, changed)
    assert report.outcome.needs == ""
    said = "The diff changes no function in the CPU profile; it changes g.go"
    assert said in text(report)


@pytest.mark.parametrize(
    ("work", "named"), [("runtime.mallocgc", True), ("strings.Index", False)]
)
def test_where_allocation_costs_more_the_line_that_allocates_is_named(
    tmp_path, work, named
):
    """Allocations are counted: F's own line that changed costs nothing."""
    callee, own = (
        "package p\n\nfunc G() {\n\tmake%s()\n}\n",
        "package p\n\nfunc F(%s) {\n\tcall()\n}\n",
    )
    below = in_f(4)
    made = ("runtime.mallocgc", (f"{PACKAGE}.G", "/b/p/g.go", 4), *below)
    sides = [
        Unit(
            {(work, f"{PACKAGE}.{one}", *below): cpu for one in "XYZ"},
            {made: counted},
        )
        for cpu, counted in ((200, (1, 64)), (400, (3, 192)))
    ]
    files = {"f_test.go": TESTS_OF_F, "f.go": own % "", "g.go": callee % "One"}
    changed = {"f.go": own % "n int", "g.go": callee % "Three"}
    sources = committed(tmp_path, "example.com/p", files, changed)
    written = text(report_of(compared(*sides), sources=sources))
    assert written.count("p.F ") == 1
    assert ("Changed: g.go:4 in p.G, cum 64.0 → 192.0 B/op" in written) is named
    assert ("g.go" in written) is named


OF_TYPES = """\
package p

type T struct {
	n int
}

type (
	Of struct {
		n, m int
	}
	Unused struct {
		n int
	}
)

type Many []*T

func F(t *T, of Of, many Many) {
	work()
}
"""


@pytest.mark.parametrize("objects", [100, 130])
@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("n, m int", "n, m, o int", "f.go:9 in p.Of"),
        ("[]*T", "[]T", "f.go:16 in p.Many"),
    ],
)
def test_a_type_is_named_whose_values_are_larger_now(
    tmp_path, objects, old, new, place
):
    """If F makes more of them, their size is no reason alone."""
    texts = OF_TYPES, OF_TYPES.replace(old, new)
    stack = in_f(line_of("work", texts[0]))
    made = (("runtime.mallocgc", "/go/src/runtime/malloc.go", 9), *stack)
    comparison = compared(
        Unit({stack: 600}, {made: (100, 1600)}),
        Unit({stack: 600}, {made: (objects, 24 * objects)}),
    )
    files = {"f_test.go": TESTS_OF_F, "f.go": texts[0]}
    found = text(reported_in_p(tmp_path, comparison, files, {"f.go": texts[1]}))
    assert "p.F allocates more: " in found
    said = f"Changed: {place}, which p.F makes"
    assert (said in found) == (objects == 100)


@pytest.mark.parametrize(
    ("hunk", "elsewhere"),
    [
        (Hunk(4, 4, 6, 16), True),
        (Hunk(9, 2, 23, 4), False),
        (Hunk(4, 4, 5, 0), False),
    ],
    ids=["above", "inside", "gone"],
)
def test_what_replaces_a_function_s_first_lines_above_it_is_elsewhere(hunk, elsewhere):
    """The lines of a change that follow each other are one hunk."""
    text = SourceText("f.go", (), "git", "")
    base, new = (Located(None, text, Extent(start, start + 40)) for start in (4, 23))
    place = _Place(("f.go", "f.go"), hunk)
    assert _silent([Places(base, new)], place) == elsewhere


def test_of_single_benchmarks_causes_those_with_changed_lines_are_first():
    """Amounts of two benchmarks do not compare; what follows stays below its cause."""
    lines = ChangedLines("p.F", "f.go", 3, 3, gone=False, base=0, new=0)
    source = SourceOfFinding(lines=(lines,))
    one, below, two = (
        Finding(id_, "", "", (), severity="major", unit=unit)
        for id_, unit in (("a", "A"), ("a-gc", "A"), ("b", "B"))
    )
    found = [one, below._replace(parent="a"), two._replace(source=source)]
    assert [f.id for f in _changed_first(found)] == ["b", "a", "a-gc"]
    whole = [f._replace(unit="") for f in found]
    assert _changed_first(whole) == whole


@pytest.mark.parametrize("costs", [5, 4])
def test_a_type_whose_values_are_larger_is_named_where_they_cost_more(tmp_path, costs):
    """Of a line that changed and has the cost, no type is a likelier reason."""
    old = "package p\n\ntype T struct {\n\tn int\n}\n\nfunc F(t T) {\n\tfirst()\n\tlast()\n}\n"
    new = old.replace("\tn int", "\tn, m int").replace("first", "other")
    stack = in_f(line_of("last" if costs == 5 else "first", old))
    sides = [Unit({stack: cost}, {}) for cost in (300, 900)]
    files = {"f_test.go": TESTS_OF_F, "f.go": old}
    found = text(reported_in_p(tmp_path, compared(*sides), files, {"f.go": new}))
    assert (", and the type p.T (4)" in found) == (costs == 5)


def test_unchanged_code_that_allocates_against_changed_code_comes_after_it(tmp_path):
    """Without the room that New made before, append grows the slice."""
    make = "package p\n\nfunc New() {\n\tmake%s()\n}\n"
    grow = "package p\n\nfunc Insert() {\n\tgrow()\n}\n"
    malloc = ("runtime.mallocgc", "/go/src/runtime/malloc.go", 9)
    new, insert = (
        (malloc, (f"{PACKAGE}.{name}", f"/b/p/{file}.go", 4), *in_f(4))
        for name, file in (("New", "new"), ("Insert", "insert"))
    )
    comparison = compared(
        Unit({in_f(4): 600}, {new: (1, 20_000)}, noise=0.2),
        Unit({in_f(4): 600}, {new: (1, 32), insert: (9, 32_000)}, noise=0.2),
    )
    files = {
        "f_test.go": TESTS_OF_F,
        "f.go": declared(F="New Insert").replace("package m", "package p"),
        "new.go": make % "Room",
        "insert.go": grow,
    }
    changed = {"new.go": make % "Little"}
    found = text(reported_in_p(tmp_path, comparison, files, changed))
    assert "1. p.New (new.go:4" in found
    assert "2. p.Insert allocates now: 0.0 → 31.2 KiB/op" in found
    assert found.count("Its code is unchanged.") == 1


@pytest.mark.parametrize("calls", [("Same", "Same"), ("Same", "Other")])
def test_a_caller_without_samples_on_a_side_stays_if_nothing_above_it_changed(
    tmp_path, calls
):
    """Equal allocates nothing in base, so that no profile shows that it ran."""
    equal = "package p\n\nfunc Equal() {\n\t%s\n}\n"
    malloc = ("runtime.mallocgc", "/go/src/runtime/malloc.go", 9)
    name = (f"{PACKAGE}.String", "/b/p/string.go", 4)
    caller = (f"{PACKAGE}.Equal", "/b/p/equal.go", 4)
    comparison = compared(
        Unit({in_f(4): 600}, {(malloc, *in_f(4)): (1, 32)}),
        Unit(
            {in_f(4): 600},
            {(malloc, *in_f(4)): (1, 32), (malloc, name, caller, *in_f(4)): (9, 9_000)},
        ),
    )
    f = "package p\n\nfunc F() {\n\tEqual(%s)\n}\n"
    files = {
        "f_test.go": TESTS_OF_F,
        "f.go": f % calls[0],
        "string.go": "package p\n\nfunc String() {\n\tgrow()\n}\n",
        "equal.go": equal % "compare()",
    }
    changed = {"f.go": f % calls[1], "equal.go": equal % "String()"}
    found = text(reported_in_p(tmp_path, comparison, files, changed))
    assert "p.String allocates now" in found
    assert ("Changed: equal.go:4 in p.Equal" in found) == (calls[0] == calls[1])


def test_what_a_benchmark_passes_escapes_by_the_code_that_it_calls(tmp_path):
    """The benchmark's own text is the same, and what F does with it is not."""
    keep = "package p\n\nfunc F() {\n\t%s()\n}\n"
    _, *benchmark = in_f(4)
    made = (("runtime.mallocgc", "/go/src/runtime/malloc.go", 9), *benchmark)
    comparison = compared(
        Unit({in_f(4): 600}, {(made[0], *in_f(4)): (2, 64)}, noise=0.2),
        Unit({in_f(4): 600}, {(made[0], *in_f(4)): (2, 64), made: (1, 48)}, noise=0.2),
    )
    files = {"f_test.go": TESTS_OF_F, "f.go": keep % "read"}
    found = text(reported_in_p(tmp_path, comparison, files, {"f.go": keep % "keep"}))
    assert "1. p.BenchmarkAll allocates now: 0 → 48 B/op" in found
    assert "Changed: f.go:4 in p.F, which p.BenchmarkAll calls" in found


def test_code_that_only_moved_is_what_changed(tmp_path):
    """Far returned after slow, and now before it."""
    slow, early = "\tslow()\n\tslow2()\n", "\tif done() {\n\t\treturn\n\t}\n"
    text_of = "package m\n\nfunc Far() {\n%s%s\tlast()\n}\n"
    texts = text_of % (slow, early), text_of % (early, slow)
    samples = {4: 2000, 5: 1000, 6: 500}, {4: 500}
    said = of_lines(tmp_path, texts, samples)
    assert "1. m.Far (moved: far.go:7-8" in said
    assert "Moved: 7-8 (from 4)" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [(5, "Changed: far.go:4, without samples;"), (4, "Changed: 4, cum")],
)
def test_changed_lines_that_no_sample_has_are_said_to_have_none(tmp_path, line, said):
    """What Far costs more may be by what another function left behind."""
    old = "package m\n\nfunc Far() {\n\ta()\n\tslow()\n\tb()\n}\n"
    samples = {5: 500, 6: 100}, {line: 2000, 5: 500, 6: 100}
    if line == 5:
        samples[1][5] = 2500
    assert said in of_lines(tmp_path, (old, old.replace("a()", "aa()")), samples)


@pytest.mark.parametrize(
    ("alone", "said"), [((0, 0), True), ((50, 50), True), ((50, 90), False)]
)
def test_a_changed_caller_far_away_is_named_if_all_of_the_change_is_below_it(
    tmp_path, alone, said
):
    """Far changed too and calls Outer. Both have more below them than A allocates."""
    body = "package p\n\nfunc %s() {\n\t%s()\n}\n"
    files = [
        {f"{one.lower()}.go": body % (one, call) for one in ("Outer", "Far")}
        for call in ("one", "two")
    ]
    files[0] |= {f"{n.lower()}.go": body % (n, "work") for n in "ABCXYZ"}

    def stack(*names):
        frames = ((f"{PACKAGE}.{n}", f"/b/p/{n.lower()}.go", 4) for n in names)
        return (*frames, *path("A")[1:])

    sides = []
    for made, other in zip((100, 200), alone, strict=True):
        counts = {stack(n, *"XYZ", "Outer", "Far"): made for n in "ABC"}
        counts |= {stack("A", *"XYZ", "Far"): other} if other else {}
        allocated = {one: (count, 64 * count) for one, count in counts.items()}
        sides.append(Unit({stack("A"): 600}, allocated))
    written = text(reported_in_p(tmp_path, compared(*sides), *files))
    assert ("outer.go:4 in p.Outer, which calls p.A indirectly" in written) is said


@pytest.mark.parametrize("noisy", [False, True])
def test_of_a_recursive_caller_any_changed_line_may_decide_how_often(tmp_path, noisy):
    """Outer returns early now, before it calls itself."""
    old = "package p\n\nfunc Outer() {\n\tbegin()\n\tA()\n\tx()\n\tOuter()\n}\n"
    new = old.replace("\tx()", "\tif same() {\n\t\treturn\n\t}\n\tx()")
    (_, *loop) = path("A")
    a = (f"{PACKAGE}.A", "/b/p/a.go", 4)
    calls = (f"{PACKAGE}.Outer", "/b/p/outer.go", 5)
    sides = []
    for side, line in enumerate((7, 10)):
        again = (f"{PACKAGE}.Outer", "/b/p/outer.go", line)
        count = 50 if side else 100
        stacks = {
            (a, calls, *loop): (10, 640),
            (a, calls, again, *loop): (count, 64 * count),
        }
        if noisy:
            stacks[(a, *loop)] = (20 * side + 10, 64 * (20 * side + 10))
        sides.append(Unit({(a, calls, *loop): 600}, stacks))
    files = {"f_test.go": TESTS_OF_F, "outer.go": old}
    files["a.go"] = "package p\n\nfunc A() {\n\twork()\n}\n"
    written = text(reported_in_p(tmp_path, compared(*sides), files, {"outer.go": new}))
    said = "outer.go:6-8 in p.Outer, which calls p.A"
    assert (said in written) is not noisy


def test_causes_without_lines_have_what_changed_in_their_benchmark(tmp_path):
    """A is dearer in One by its own line; in Two, B allocates less with the same code."""
    body = "package p\n\nfunc %s() {\n\twork%s()\n}\n"
    tests = "package p\n" + "".join(
        f"\nfunc Benchmark{one}(b *testing.B) {{\n\tA()\n}}\n" for one in ("One", "Two")
    )
    files = [
        {"f_test.go": tests, "a.go": body % ("A", mark), "b.go": body % ("B", "")}
        for mark in ("", "2")
    ]
    a, b = ((f"{PACKAGE}.{n}", f"/b/p/{n.lower()}.go", 4) for n in "AB")
    sides = []
    for size in (1, 2):
        one, two = (
            ((f"{PACKAGE}.Benchmark{n}", "/b/p/f_test.go", at), *path(bench=n)[1:])
            for n, at in (("One", 4), ("Two", 8))
        )
        sides.append(
            [
                Unit(
                    {(a, *one): 600}, {(a, *one): (10 * size, 640 * size)}, name="One"
                ),
                Unit(
                    {(b, *two): 600, (a, *two): 60},
                    {(b, *two): (20 // size, 9600 // size)},
                    name="Two",
                ),
            ]
        )
    written = text(reported_in_p(tmp_path, compared(*sides), *files))
    said = "Also: p.A (a.go:4) changed and is in the profiles of Two"
    assert said in written


@pytest.mark.parametrize(
    ("rest", "kept", "said"),
    [
        ((500, 500), 0, "7.4% of the samples in new are at f.go:7-8, none in base."),
        # Too few, or as many on other lines before, changed or not.
        ((5000, 5000), 0, ""),
        ((540, 460), 0, ""),
        ((500, 500), 80, ""),
    ],
)
def test_changed_lines_that_one_side_alone_runs_are_said(tmp_path, rest, kept, said):
    """The verdict is open: F's first changed line costs what it did."""
    old = "package m\n\nfunc F() {\n\ta()\n\tkeep()\n\tlast()\n}\n"
    new = old.replace("a()", "a2()").replace("last()", "last()\n\tif b() {\n\t}")
    sides = []
    for count, same, more in zip(rest, (kept, 0), (0, 80), strict=True):
        at = {4: count, 5: same, 7: more}
        stacks = {(Frame("m.F", "/b/m/f.go", n, 3),): c for n, c in at.items() if c}
        sides.append(stacks | {("m.Far",): 500})
    comparison, sources = differing(
        tmp_path, ({"f.go": old, "far.go": FAR}, {"f.go": new}), sides, runs=1
    )
    changed = changed_alone(Carriers(comparison.cpu, sources, least=0.0), None)
    assert changed.text == said


def test_of_several_changed_places_the_one_with_most_samples_leads(tmp_path):
    calls = [f"\tf{n}()\n\tkeep{n}()\n" for n in range(4)]
    old = "package m\n\nfunc F() {\n" + "".join(calls) + "}\n"
    new = re.sub(r"\tf(\d)", r"\tg\1", old)
    counts = {4: 10, 8: 900}
    stacks = {(Frame("m.F", "/b/m/f.go", n, 3),): c for n, c in counts.items()}
    comparison, sources = differing(
        tmp_path, ({"f.go": old}, {"f.go": new}), [stacks, stacks]
    )
    changed = changed_alone(Carriers(comparison.cpu, sources, least=0.0), None)
    (first,) = changed.source.lines
    assert first.numbers == "8"
    assert [one.numbers for one in changed.source.near] == ["4", "6", "10"]


@pytest.mark.parametrize("inlined", [True, False])
def test_what_one_build_alone_inlines_is_known_by_the_frames_of_a_location(inlined):
    frames = Frame("m.F", "/b/m/f.go", 6, 5), FRAMES["m.(*T).Outer"]
    apart = tuple(Place((frame,), 100 + i) for i, frame in enumerate(frames))
    together = (Place(frames, 100),) if inlined else apart
    sides = [
        Side(
            label,
            (Capture(label, "profile", built([Sample(stack, (9, 90 * MS))], CPU)),),
        )
        for label, stack in (("base", apart), ("new", together))
    ]
    comparison = compare_sides(*sides, Settings(work=counted((1000, 1000))))
    names = comparison.cpu.paired_functions.names
    carriers = Carriers(comparison.cpu, sources=None)
    outer = names.index("m.(*T).Outer")
    assert carriers.inlined_once("m.F", [outer]) is inlined
    assert carriers.inlined_once("m.F") is inlined
    assert not carriers.inlined_once("m.(*T).Outer")


@pytest.mark.parametrize(("cost", "said"), [(300, True), (10, False)])
def test_where_time_is_open_changed_code_with_much_of_the_cpu_is_named(
    tmp_path, cost, said
):
    """A allocates more by its own line; B changed as well, and the CPU is open."""
    body = "package p\n\nfunc %s() {\n\twork%s()\n}\n"
    files = [{f"{n.lower()}.go": body % (n, mark) for n in "AB"} for mark in ("", "2")]
    files[0]["f_test.go"] = TESTS_OF_F
    loop = path("F")[1:]
    a, b = (((f"{PACKAGE}.{n}", f"/b/p/{n.lower()}.go", 4), *loop) for n in "AB")
    rest = path("Rest")
    sides = [
        Unit({b: cost, rest: 600}, {a: (10 * size, 640 * size)}, noise=0.3)
        for size in (1, 2)
    ]
    written = text(reported_in_p(tmp_path, compared(*sides), *files))
    assert "1. p.A (a.go:4, " in written
    also = "Also: p.B (b.go:4) changed and is in the CPU profile"
    assert (also in written) is said
