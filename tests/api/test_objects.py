"""What `load` and `diff` return holds one object of the library, and cannot be spoilt."""

from __future__ import annotations

from dataclasses import fields

import pandas as pd
import pytest

import pprofdiff
from pprofdiff.api.loaded import LoadedInput
from pprofdiff.api.reported import KindDiff
from pprofdiff.kinds import KINDS
from tests.conftest import DATA

PATHS = {
    "profile": "syncpool/{}/cpu.pb.gz",
    "trace": "health-check/{}/trace.out",
    "gctrace": "syncpool/{}/gctrace.log",
    "benchmark": "zstd/{}/bench.txt",
}


@pytest.fixture(scope="module", params=sorted(PATHS))
def pair(request):
    """Return a kind's id and both inputs of it, loaded."""
    paths = (DATA / PATHS[request.param].format(side) for side in ("base", "new"))
    return request.param, [pprofdiff.load(path) for path in paths]


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
    paths = (DATA / PATHS["profile"].format(side) for side in ("base", "new"))
    changed = pprofdiff.diff(*paths)
    assert not changed.check("group:gc:+2pp")
    assert changed.report().verdict.rules == ()
    assert changed.check("total:+1000%")


def test_every_kind_that_is_compared_is_shown():
    assert {k.id for k in KINDS.values() if k.card} == set(PATHS)
    compared = {*PATHS, "load"}
    assert {k.id for k in KINDS.values() if k.diff} == compared
    assert {k.id for k in KINDS.values() if k.compare} == compared
