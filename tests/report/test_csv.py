"""The CSV report says what the JSON report says."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pprofdiff.api import diff
from pprofdiff.report.csv import render as as_csv
from pprofdiff.report.json.document import render as as_json

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
        assert (row["comparison"], row["sample_type"], row["unit"]) == (
            entry["name"],
            entry["sample_type"],
            entry["unit"],
        )
        assert (row["name"], row["status"]) == (function["name"], function["status"])
        assert (row["base_name"] or None, row["file"] or None) == (
            function.get("base_name"),
            function["file"],
        )
        assert [int(row[n]) for n in NUMBERS] == [function[n] for n in NUMBERS]
        assert [float(row[n]) for n in SCALED] == [function[n] for n in SCALED]
    assert [set(row) for row in rows[:1]] == [
        {
            "comparison",
            "sample_type",
            "unit",
            "name",
            "base_name",
            "file",
            "status",
            *NUMBERS,
            *SCALED,
        }
    ]


def test_every_comparison_of_a_bundle_is_there(cli, syncpool, tmp_path):
    path = tmp_path / "x.csv"
    assert cli(syncpool.base, syncpool.new, "-q", f"-o={path}").status == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    assert {r["comparison"] for r in rows} == {
        "cpu",
        "allocs",
        "heap",
        "block",
        "mutex",
        "goroutine",
    }
    assert path.read_bytes().count(b"\r") == 0
