"""The section on traces: as it was last looked at, and what holds for every one."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace

import pytest

import pprofdiff
from pprofdiff.analysis.traces.workers import time_of_workers
from pprofdiff.cli.arguments import parse
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.run import compared as report_of
from pprofdiff.cli.screen import Screen
from pprofdiff.report.model import Scope
from pprofdiff.report.rows import Table
from pprofdiff.report.sections.traces.cells import arrows, compared
from pprofdiff.report.sections.traces.section import trace_parts, trace_tiles
from pprofdiff.report.sections.traces.waits import kind_rows, waits_view
from pprofdiff.report.text.lines import Page
from pprofdiff.report.text.report import report_parts
from pprofdiff.report.text.terminal import render
from tests.conftest import DATA
from tests.examples import daily
from tests.field.capture import PAIRS
from tests.report.golden import check
from tests.report.reading import unstyled
from tests.traces import make

SHOWN = ("health-check", "node-pool")
SIDES = ("base", "new")
STORIES = (*SHOWN, "rss-search", "syncpool", "zstd")


@pytest.mark.slow
@pytest.mark.parametrize("story", SHOWN)
def test_as_it_was_last_looked_at(cli, monkeypatch, story):
    monkeypatch.chdir(DATA / story)
    done = cli("base/trace.out", "new/trace.out", "--full")
    assert (done.status, done.err) == (0, "")
    check(f"trace.{story}", done.out)


def reported(words):
    """Return the report of what a command line asks for."""
    with Waiting(None, enabled=False) as waiting:
        return report_of(parse(words), Screen(None, None), waiting)


def drawn(words, columns):
    """Return the report as a terminal of so many columns shows it, without styles."""
    report, page = reported(words), Page(columns, fit=True)
    return unstyled(
        render(report_parts(report, Scope(full=True)), color=False, page=page)
    )


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("health-check", "zstd")))
def test_kinds_add_up_to_the_time_of_the_goroutines(story):
    base, new = (pprofdiff.load(DATA / story / s / "trace.out") for s in SIDES)
    diff = pprofdiff.diff(base, new).data
    rows = list(kind_rows(diff))
    kinds = [row for row in rows if row.level == 0]
    assert len(kinds) > 3
    for side, whole in enumerate(time_of_workers(diff), 1):
        assert sum(row.cells[side].value for row in kinds) == pytest.approx(whole)
    for row, below in pairwise(rows):
        if below.level:
            assert below.cells[1].value <= row.cells[1].value
            assert below.cells[2].value <= row.cells[2].value


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 100])
def test_waits_alone_as_they_were_last_looked_at(columns):
    sides = [str(PAIRS / "third-edge-one-lock" / side) for side in ("base", "new")]
    parts = waits_view(reported([*sides, "--waits"]))
    text = render(parts, color=False, page=Page(columns, fit=True))
    assert max(map(len, text.splitlines())) <= columns
    check(f"waits.{columns}", text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cpu.pb.gz"], "--waits needs execution traces of both sides"),
        (["trace.out", "--full"], "--full is for the report: leave out -waits"),
        (["trace.out", "-cum"], "-cum goes with -top or -peek: not with -waits"),
    ],
)
def test_waits_of_what_has_none_is_one_line(cli, words, said):
    file, *more = words
    done = cli(*(DATA / "zstd" / side / file for side in SIDES), "--waits", *more)
    assert (done.status, done.out, done.err) == (2, "", f"pprofdiff: {said}\n")


def test_waits_are_printed_alone(cli):
    sides = [DATA / "health-check" / side / "trace.out" for side in SIDES]
    done = cli(*sides, "--waits")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Time of the goroutines that do the work, per second\n")


@pytest.mark.slow
@pytest.mark.parametrize("story", SHOWN)
def test_at_80_columns_as_it_was_last_looked_at(monkeypatch, story):
    monkeypatch.chdir(DATA / story)
    text = drawn(["base/trace.out", "new/trace.out"], 80)
    assert max(map(len, text.splitlines())) <= 80
    check(f"trace.{story}.80", text)


def test_by_operation_every_heading_says_so(monkeypatch, cli):
    monkeypatch.chdir(DATA / "health-check")
    out = cli("base/trace.out", "new/trace.out", "--rps=100:200", "--full").out
    assert "\n\nbase → new   trace, times per op\n\n" in out
    _, _, tables = out.partition("\ngoroutine time per op")
    assert tables.count("per op") == 6
    assert "per second" not in tables


@pytest.mark.parametrize(
    ("pair", "cells"),
    [
        ((12_800, 2_500_000), ["0.013", "2.50 ms", "+2.49", "195×"]),
        ((0, 0), ["0", "0", "0", ""]),
        ((0, 29_500), ["0", "29.5 µs", "+29.5", "new"]),
        ((448_000, 0), ["448", "0 µs", "−448", "gone"]),
        ((1e9, 1.0), ["1,000", "<0.00001 ms", "−1,000", "1/1,000,000,000"]),
        ((128, 2e9), ["0.00013", "2,000 ms", "+2,000", "15,625,000×"]),
        ((1000.0, 1000.0), ["1.00", "1.00 µs", "0", "1.00×"]),
        ((None, 5_000), ["–", "5.00 µs", "", ""]),
        ((None, None), ["–", "–", "", ""]),
        ((4, 118_000), ["4", "118,000 ns", "+117,996", "29,500×"]),
        ((128, 5e6), ["0.13", "5,000 µs", "+5,000", "39,062×"]),
    ],
)
def test_small_numbers_next_to_large_ones_keep_two_digits(pair, cells):
    assert [cell.label for cell in compared("x", pair, "ns")[1:]] == cells


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_a_column_of_a_trace_has_one_unit_of_time(story):
    folder = DATA / story
    files = folder / "base/trace.out", folder / "new/trace.out"
    diff = pprofdiff.compare(*files).comparison.trace
    tables = [part for part in trace_parts(diff) if isinstance(part, Table)]
    seen = set()
    for table in tables:
        for column in zip(*(row.cells for row in table.rows), strict=True):
            ends = (re.search(r"\d ([nµm]?s)$", cell.label) for cell in column)
            units = {end[1] for end in ends if end}
            assert len(units) <= 1, (table.key, units)
            seen |= units
    assert seen


def test_arrows_have_a_unit_where_there_is_anything():
    assert arrows([[0, 0]]) == ["0 → 0"]
    assert arrows([[None, 1_500]]) == ["– → 1.50 µs"]
    assert arrows([[None, None]]) == ["– → –"]


@pytest.mark.go
def test_tasks_and_regions_have_their_tables(cli):
    tasks, plain = make.trace("tasks", "1.26.8"), make.trace("sync", "1.26.8")
    out = cli(plain, tasks, "--full").out
    assert re.search(r"^user tasks, p50 of one +base +new ", out, re.MULTILINE)
    assert re.search(r"^never ended +– +– +– → – +0$", out, re.MULTILINE)
    assert re.search(r"^mail +– +[\d.,]+ [mµ]s ", out, re.MULTILINE)
    assert "user tasks" not in cli(plain, plain, "--full").out
    same = cli(tasks, tasks, "--full").out
    assert "No garbage collection ran in either trace." in same
    # Its goroutines of the runtime neither ran nor could.
    held = pprofdiff.load(tasks).goroutines
    idle = held.index[(held["exec_ns"] == 0) & (held["sched_wait_ns"] == 0)]
    assert len(idle)
    assert not [name for name in idle if name in same]
    # Every row shows something.
    tables = same.partition("\nScheduling")[2]
    assert not re.search(r"(?m)(^|  )0 +0( [nµm]?s)? +0(  |$)", tables)
    assert not re.search(r"\b(nan|inf|None)\b", tables)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "tile"),
    [
        ((50, 20_000), ("longest scheduling latency", "9.00 → 8.00 ms")),
        ((500, 20_000), ("p99 scheduling latency", "300 → 200 ns")),
    ],
)
def test_both_figures_of_a_tile_are_of_one_kind(counts, tile):
    sides = [
        SimpleNamespace(latency=SimpleNamespace(count=n, p99_ns=p99, max_ns=longest))
        for n, p99, longest in zip(counts, (300, 200), (9e6, 8e6), strict=True)
    ]
    section = SimpleNamespace(compared=SimpleNamespace(sides=sides))
    (shown,) = trace_tiles(section)
    assert (shown.name, shown.values) == tile
