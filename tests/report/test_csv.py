"""The CSV report says what the JSON report says."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.api import diff
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.csv import render as as_csv
from pprofdiff.report.json.document import render as as_json
from pprofdiff.report.model import report_of
from tests.building import CPU, MS, Frame, Place, Sample, built

NUMBERS = ("base_flat", "new_flat", "delta_flat", "base_cum", "new_cum", "delta_cum")
SCALED = ("delta_flat_scaled", "delta_cum_scaled")


@pytest.mark.parametrize("kind", ["cpu", "allocs", "mutex"])
def test_the_same_rows_in_the_same_order(kind, syncpool):
    report = diff(
        syncpool.base / f"{kind}.pb.gz",
        syncpool.new / f"{kind}.pb.gz",
        work=syncpool.work,
    ).report()
    (entry,) = json.loads(as_json(report))["comparisons"]
    rows = list(csv.DictReader(io.StringIO(as_csv(report))))
    assert len(rows) == len(entry["functions"]) > 0
    for row, function in zip(rows, entry["functions"], strict=True):
        of = [row[name] for name in ("comparison", "sample_type", "unit")]
        assert of == [entry[name] for name in ("name", "sample_type", "unit")]
        for name in ("name", "status", "base_name", "file"):
            assert (row[name] or None) == function.get(name)
        assert [int(row[n]) for n in NUMBERS] == [function[n] for n in NUMBERS]
        assert [float(row[n]) for n in SCALED] == [function[n] for n in SCALED]
    assert any(int(row["delta_flat"]) < 0 for row in rows)
    words = {"comparison", "sample_type", "unit", "name", "base_name", "file", "status"}
    assert set(rows[0]) == words | {*NUMBERS, *SCALED}


@pytest.mark.slow
def test_every_comparison_of_a_bundle_is_there(cli, syncpool, tmp_path):
    path = tmp_path / "x.csv"
    assert cli(syncpool.base, syncpool.new, "-q", f"-o={path}").status == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    kinds = {"cpu", "allocs", "heap", "block", "mutex", "goroutine"}
    assert {row["comparison"] for row in rows} == kinds
    assert path.read_bytes().count(b"\r") == 0


HOSTILE = {
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
    '=HYPERLINK("http://x";"y")': '\'=HYPERLINK("http://x";"y")',
    "+1+1": "'+1+1",
    "-2+3": "'-2+3",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\\t=1",
    "\r=1": "'\\r=1",
    "\n=1": "'\\n=1",
    "＝1+1": "'＝1+1",
    "main.f\r\n=1": "main.f\\r\\n=1",
    "main.\x1b[2Jf\x00": "main.\\x1b[2Jf\\x00",
    "main.\u202egnp": "main.\\u202egnp",
}
ORDINARY = [
    "main.main",
    "example.com/a-b.(*T[go.shape.struct { X int; Y, Z string }]).F-fm",
    'main.(*T["a"]).f',
    "main.世界.Größe",
    "a, b",
    " =1",
    "'quoted'",
    "<unknown>",
    "[libc.so.6]",
    "",
]


def report_of_names(names):
    """Return the report on profiles whose functions, and their files, are so called."""
    places = [Place((Frame(name, name, 1),), i) for i, name in enumerate(names, 1)]
    sides = []
    for value in (10, 20):
        samples = [Sample((place,), (value, value * MS)) for place in places]
        sides.append(built(samples, CPU, duration_ns=10**10))
    base, new = (
        Side(s, (Capture(s, "profile", p),)) for s, p in zip("ab", sides, strict=True)
    )
    return report_of(compare_sides(base, new))


def test_no_cell_is_run_and_ordinary_names_are_as_they_are():
    names = {**HOSTILE, **{name: name for name in ORDINARY if name}}
    text = as_csv(report_of_names(list(names)))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    frame = pd.read_csv(io.StringIO(text, newline=""), keep_default_na=False)
    for column in ("name", "file"):
        got = [row[column] for row in rows]
        assert sorted(got) == sorted(names.values())
        assert frame[column].tolist() == got
        assert all(cell.isprintable() for cell in got)
        assert not any(cell.startswith(tuple("=+-@\t\r\n＝＋－＠")) for cell in got)
    assert text.count("\n") == len(names) + 1
    assert frame["delta_flat"].tolist() == [10 * MS] * len(names)
    assert frame["base_flat"].dtype == frame["delta_cum"].dtype == "int64"


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5)
)
def test_whatever_a_function_is_called_it_is_one_cell(names):
    text = as_csv(report_of_names(names))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(cell.isprintable() for row in rows for cell in row)
    assert not any(row[3].startswith(tuple("=+-@")) for row in rows)
