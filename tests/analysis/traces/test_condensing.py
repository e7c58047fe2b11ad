"""One trace at a time in memory: reports are the same, and no trace is read twice."""

from __future__ import annotations

import errno
from dataclasses import fields
from itertools import product

import numpy as np
import pytest
from msgspec import Struct

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.traces import condensing
from pprofdiff.inputs import sides
from pprofdiff.inputs.model import ReadOptions
from pprofdiff.inputs.sides import load_sides
from pprofdiff.loaders.traces import decode
from pprofdiff.report.files import writer_for
from pprofdiff.report.model import Scope, report_of
from pprofdiff.report.text.lines import render
from pprofdiff.report.text.report import report_parts
from tests.examples import daily

from .real import DATA

STORIES = ("syncpool", "health-check", "node-pool")
REPORTS = list(product(STORIES, ("short", "full", "json", "md", "html")))
REPORTS.append(("node-pool", "perfetto.json"))
CONDENSED = ReadOptions(condense="full")


@pytest.fixture(name="all_are_large")
def _all_are_large(monkeypatch):
    """Have the captures of tests, which are small, taken for large ones."""
    monkeypatch.setattr(sides, "_LARGE", 1)


def traces(story):
    """Return the paths of both sides."""
    return [str(DATA / story / side / "trace.out") for side in ("base", "new")]


def reported(base, new, condense, kind):
    """Return a report, and the paths of the traces in the order they were read."""
    said = []
    options = ReadOptions(condense=condense, progress=said.append)
    loaded = load_sides(base, new, options)
    report = report_of(compare_sides(loaded.base, loaded.new))
    if kind in ("short", "full"):
        made = render(report_parts(report, Scope(full=kind == "full")))
    else:
        made = writer_for(f"x.{kind}")(report)
        made = made if isinstance(made, bytes) else b"".join(made)
    whole = {f"reading {path}": path for path in (*base, *new)}
    return made, [whole[line] for line in said if line in whole]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("story", "kind"),
    daily(REPORTS, [*REPORTS[::5], ("node-pool", "html")]),
)
@pytest.mark.usefixtures("all_are_large")
def test_a_report_needs_each_trace_once(story, kind):
    base, new = traces(story)
    plain, read = reported([base], [new], "no", kind)
    assert read == [base, new]
    condensed, read = reported(
        [base], [new], "short" if kind == "short" else "full", kind
    )
    assert read == [base, new]
    assert condensed == plain


@pytest.mark.slow
@pytest.mark.usefixtures("all_are_large")
def test_of_several_traces_a_side_each_is_read_once():
    base, new = zip(*map(traces, STORIES), strict=True)
    plain, _ = reported(base, new, "no", "json")
    condensed, read = reported(base, new, "full", "json")
    assert read == [*base, *new]
    assert condensed == plain


def test_small_traces_keep_their_rows():
    base, new = traces("syncpool")
    loaded = load_sides([base], [new], CONDENSED)
    assert all(kept(side.of("trace")[0].content) for side in (loaded.base, loaded.new))


@pytest.mark.usefixtures("all_are_large")
def test_large_traces_let_go_of_their_rows():
    loaded = load_sides(*([path] for path in traces("syncpool")), CONDENSED)
    for side in (loaded.base, loaded.new):
        trace = side.of("trace")[0].content
        assert not kept(trace)
        assert trace.once("rows", lambda trace: len(trace.intervals))
        assert not kept(trace)


def test_without_room_for_a_file_rows_stay(monkeypatch):
    def full():
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(condensing, "TemporaryFile", full)
    trace = decode((DATA / "syncpool/base/trace.out").read_bytes())
    condensing.condense(trace)
    assert kept(trace)


def kept(trace):
    """Tell whether a trace has its rows, without asking for them."""
    try:
        object.__getattribute__(trace, "intervals")
    except AttributeError:
        return False
    return True


def test_rows_come_back_as_they_were():
    data = (DATA / "syncpool/base/trace.out").read_bytes()
    whole, trace = decode(data), decode(data)
    condensing.condense(trace)
    assert not kept(trace)
    for field in fields(whole):
        value, same = getattr(whole, field.name), getattr(trace, field.name)
        if field.init and isinstance(value, Struct):
            for name in value.__struct_fields__:
                np.testing.assert_array_equal(getattr(value, name), getattr(same, name))
