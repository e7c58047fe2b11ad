"""`load` and `diff` of every kind: what comes out and holds, and what does not fit."""

from __future__ import annotations

import pickle
from dataclasses import fields

import pandas as pd
import pytest

import pprofdiff
from pprofdiff import UsageError, diff, kinds
from pprofdiff.api.reported import KindDiff
from pprofdiff.api.shown import LoadedInput
from tests.conftest import DATA

PATHS = {
    "Diff": "syncpool/{}/cpu.pb.gz",
    "TraceDiff": "health-check/{}/trace.out",
    "GCLogDiff": "syncpool/{}/gctrace.log",
    "BenchmarksDiff": "zstd/{}/bench.txt",
}
KINDS = sorted(PATHS)
IDS = {
    "Diff": "profile",
    "TraceDiff": "trace",
    "GCLogDiff": "gctrace",
    "BenchmarksDiff": "benchmark",
}


def paths(kind):
    """Return base and new of a kind."""
    return tuple(DATA / PATHS[kind].format(side) for side in ("base", "new"))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_one_diff_for_every_kind(kind):
    base, new = paths(kind)
    loaded = pprofdiff.load(base), pprofdiff.load(new)
    ways = [
        pprofdiff.diff(base, new),
        loaded[1] - loaded[0],
        pprofdiff.diff([loaded[0]], (str(new),)),
        pprofdiff.diff(base.read_bytes(), new.read_bytes()),
    ]
    for way in ways:
        assert isinstance(way, getattr(pprofdiff, kind))
        assert "\n" not in repr(way)
        assert repr(way).startswith(f"<{kind} ")
    texts = [way.to_json() for way in (pprofdiff.diff(base, new), ways[2])]
    assert texts[0] == texts[1]
    assert ways[0].to_text()
    assert ways[0].to_markdown()
    assert ways[0].to_html().startswith("<!doctype html>")
    assert repr(pickle.loads(pickle.dumps(ways[0]))) == repr(ways[0])  # noqa: S301 - made right here


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_in_every_writer(kind):
    base, new = paths(kind)
    d = pprofdiff.diff(
        pprofdiff.load(base, label="main"), pprofdiff.load(new, label="pr")
    )
    assert "main → pr" in d.to_text()
    assert d.report().labels == ("main", "pr")


@pytest.mark.parametrize("kind", KINDS)
def test_findings_match_the_report(kind):
    d = pprofdiff.diff(*paths(kind))
    wanted = d.report().findings.found
    frame = d.findings
    assert frame["title"].tolist() == [f.title for f in wanted]
    assert frame["advice"].tolist() == [f.advice for f in wanted]
    assert frame["severity"].tolist() == [f.severity for f in wanted]
    assert list(frame["severity"].cat.categories) == ["info", "minor", "major"]
    facts = [fact for f in wanted for fact in f.evidence]
    assert d.evidence["what"].tolist() == [fact.what for fact in facts]
    assert d.evidence["new"].dtype == "float64"
    assert isinstance(frame.index, pd.RangeIndex)


def test_a_gate_judges_logs():
    d = pprofdiff.diff(*paths("GCLogDiff"))
    assert not d.check("figure:worst_pause_us:1ns")
    assert d.check("figure:worst_pause_us:1000s")


CPU, NEW_CPU = paths("Diff")
LOG, _ = paths("GCLogDiff")
TRACE, _ = paths("TraceDiff")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: diff(CPU, LOG),
            pprofdiff.IncompatibleProfilesError,
            "base is a profile .*cpu.pb.gz.; new is a GC log .*gctrace.log.*one kind",
        ),
        (
            lambda: diff([TRACE, LOG], [TRACE]),
            pprofdiff.IncompatibleProfilesError,
            "base is an execution trace .*, a GC log .*; new is an execution trace",
        ),
        (
            lambda: diff(CPU, NEW_CPU, window=(1, 2)),
            UsageError,
            "window= does not apply to a profile",
        ),
        (
            lambda: diff(LOG, LOG, focus="x"),
            UsageError,
            "focus= does not apply to a GC log",
        ),
        (
            lambda: diff(TRACE, TRACE, sample_type="cpu"),
            UsageError,
            "sample_type= does not apply to an execution trace",
        ),
        (lambda: diff(CPU, NEW_CPU, work=(1, 1), rps=(1, 1)), UsageError, "give one"),
        (
            lambda: diff(LOG, LOG, window=(1e6, 2e6)),
            UsageError,
            "no collection started within",
        ),
        (
            lambda: diff(*paths("BenchmarksDiff"), rps=(1, 2)),
            UsageError,
            "rps= does not apply to benchmarks",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(call, error, said):
    with pytest.raises(error, match=said) as caught:
        call()
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["Diff", "TraceDiff", "GCLogDiff"])
def test_rates_make_values_by_operation(kind):
    d = pprofdiff.diff(*paths(kind), rps=(1000, 2000))
    text = d.to_text()
    assert "per op" in text or "/op" in text


def test_operations_of_a_trace_were_done_while_it_ran():
    d = pprofdiff.diff(*paths("TraceDiff"), work=(500, 1000))
    assert d.data.mode == "per_work"
    seconds = [side.wall_ns / 1e9 for side in d.data.sides]
    assert d.data.rates == pytest.approx((500 / seconds[0], 1000 / seconds[1]))


@pytest.fixture(scope="module", params=KINDS)
def pair(request):
    """Return a kind's id and both inputs of it, loaded."""
    return IDS[request.param], [pprofdiff.load(path) for path in paths(request.param)]


def frames(thing):
    """Return every frame that an object's properties give, by name."""
    names = [
        name
        for name in dir(type(thing))
        if not name.startswith("_") and not callable(getattr(type(thing), name, None))
    ]
    values = {name: getattr(thing, name) for name in names}
    return {n: v for n, v in values.items() if isinstance(v, pd.DataFrame)}


def test_every_kind_is_built_one_way(pair):
    kind, (base, new) = pair
    for one in (base, new):
        assert isinstance(one, LoadedInput)
        assert [field.name for field in fields(one)] == ["data", "label", "path"]
        assert one.kind == one.capture.kind == kind
        assert one.capture.content is one.data
    changed = new - base
    assert isinstance(changed, KindDiff)
    assert [field.name for field in fields(changed)] == ["data", "sides"]
    assert list(changed.comparison.results) == [kind]
    for side, one in zip(changed.sides, (base, new), strict=True):
        assert [capture.path for capture in side.of(kind)] == [one.path]


@pytest.mark.matrix
@pytest.mark.slow
def test_what_a_caller_does_to_a_frame_stays_with_the_caller(pair):
    _, (base, new) = pair
    for thing in (new, new - base):
        for name, frame in frames(thing).items():
            before = frame.copy()
            for column in list(frame.columns):
                values = frame[column].to_numpy()
                if values.flags.writeable:
                    values[:] = values[::-1].copy()
                del frame[column]
            pd.testing.assert_frame_equal(getattr(thing, name), before)


def test_traces_and_logs_have_frames(pair):
    kind, (base, new) = pair
    if kind != "benchmark":
        assert frames(new)
    assert frames(new - base)


def test_findings_are_drawn_once(pair, monkeypatch):
    from pprofdiff.report import model

    drawn = []

    def counted(*given, find=model.find):
        drawn.append(given)
        return find(*given)

    monkeypatch.setattr(model, "find", counted)
    changed = pair[1][1] - pair[1][0]
    first = changed.findings
    changed.evidence, changed.to_text(), changed.check("total:+1000%")
    pd.testing.assert_frame_equal(changed.findings, first)
    assert len(drawn) == 1


def test_a_gate_changes_no_report_but_its_own():
    changed = pprofdiff.diff(*paths("Diff"))
    assert not changed.check("group:gc:+2pp")
    assert changed.report().verdict.rules == ()
    assert changed.check("total:+1000%")


def test_every_kind_that_is_compared_is_shown():
    every = kinds.KINDS.values()
    assert {kind.id for kind in every if kind.card} == {*IDS.values()}
    compared = {*IDS.values(), "load"}
    assert {kind.id for kind in every if kind.diff} == compared
    assert {kind.id for kind in every if kind.compare} == compared
