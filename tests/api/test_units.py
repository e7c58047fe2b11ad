"""Units of work in Python, in JSON, in the comment and in the gate: one set of figures.

The captures are of a package with one planted benchmark: see `tests.analysis.ledger`.
"""

from __future__ import annotations

import json

import pytest

import pprofdiff
from pprofdiff.errors import UsageError
from tests.analysis.ledger.capture import CAPTURES

NAMES = ["Encode", "Sum", "Sorted", "SortedBy/n=100", "SortedBy/n=1000", "ParallelSum"]


@pytest.fixture(scope="module")
def planted():
    return pprofdiff.compare(CAPTURES / "base", CAPTURES / "new")


@pytest.fixture(scope="module")
def unchanged():
    return pprofdiff.compare(CAPTURES / "base", CAPTURES / "again")


def test_the_frame_has_a_row_a_benchmark(planted):
    units = planted.units
    assert units["unit"].tolist() == NAMES
    assert dict(units.dtypes.astype(str)) == {
        "label": "string",
        "unit": "string",
        "figure": "category",
        **dict.fromkeys(("base", "new", "ratio", "low", "high"), "float64"),
        "verdict": "category",
        "mark": "category",
    }
    marked = units[units["mark"] != "noise"]
    assert marked[["unit", "verdict", "mark"]].values.tolist() == [
        ["Encode", "slower", "more"]
    ]
    assert units["ratio"].tolist() == pytest.approx(
        (units["new"] / units["base"]).tolist(), rel=1e-9
    )


def test_json_says_the_same(planted):
    document = json.loads(planted.to_json())
    assert document["units"] == document["outcome"]["units"]
    frame = planted.units
    for row, unit in zip(document["units"], frame.itertuples(), strict=True):
        assert (row["name"], row["verdict"]) == (unit.unit, unit.verdict)
        assert (row["base"], row["new"]) == (unit.base, unit.new)
        assert row["low"] <= row["ratio"] <= row["high"]
    encode = document["units"][0]
    assert [one["unit"] for one in encode["counted"]] == ["B/op", "allocs/op"]


def test_the_comment_has_a_line_for_each(planted):
    page = planted.to_markdown()
    assert "**Slower: Encode, CPU/op 2.8" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for name in NAMES:
        assert any(name in row.split("|")[1] for row in rows)


@pytest.mark.slow
def test_the_gate_judges_a_unit_by_itself(planted, unchanged):
    verdict = planted.check("unit:^Encode$:+5%")
    (ruling,) = verdict.tripped
    assert ruling.what == "Encode"
    assert planted.check("unit:^Encode$:+500%").outcome == "pass"
    assert planted.check("unit:^Sum$:+5%").outcome == "cannot tell"
    for rule in ("unit:.:+5%", "unit:Encode:+5%"):
        assert unchanged.check(rule).outcome != "fail"
    assert planted.check("unit:Decode:+5%").outcome == "none"
    with pytest.raises(UsageError, match="percentage; type unit:Encode:"):
        planted.check("unit:Encode:+5ns")


def test_one_benchmark_is_a_unit_of_the_gate_too(tmp_path):
    for side, time in (("base", 100), ("new", 400)):
        path = tmp_path / f"{side}.txt"
        path.write_text(f"BenchmarkA-2 1000 {time} ns/op\n" * 5)
    d = pprofdiff.compare(tmp_path / "base.txt", tmp_path / "new.txt")
    assert d.units.empty
    (ruling,) = d.check("unit:^A$:+5%").tripped
    assert ruling.what == "A"
    assert (ruling.base, ruling.new) == pytest.approx((100, 400))
