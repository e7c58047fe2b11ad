"""Benchmarks of one file under two names, from Python as from the command line."""

from __future__ import annotations

import json

import pytest

import pprofdiff
from tests.conftest import DATA

BENCH = DATA / "zstd/new/bench.txt"


def test_a_pair_is_the_command_s(cli, tmp_path):
    d = pprofdiff.load(BENCH).pair("Old")
    assert isinstance(d, pprofdiff.BenchmarksDiff)
    path = tmp_path / "x.json"
    assert cli("--pair", "suffix=Old", BENCH, "-q", "-o", path).status == 0
    assert json.loads(d.to_json()) == json.loads(path.read_text("utf-8"))
    assert d.to_text() == cli("--pair", "suffix=Old", BENCH).out
    assert repr(d).startswith("<BenchmarksDiff 'base' → 'new': ")


def test_a_pair_s_rows_are_the_medians_by_name():
    loaded = pprofdiff.load(BENCH)
    medians = loaded.data.to_frame().groupby(["unit", "name"])["value"].median()
    rows = loaded.pair("Old").rows
    assert set(rows["unit"]) == set(medians.index.get_level_values("unit"))
    for row in rows.itertuples():
        assert row.name.startswith("Compress-")
        assert row.base == pytest.approx(medians[row.unit, "CompressOld"])
        assert row.new == pytest.approx(medians[row.unit, "Compress"])


def test_no_partner_is_said_in_one_line():
    with pytest.raises(pprofdiff.UsageError, match="suffix=Former") as caught:
        pprofdiff.load(BENCH).pair("Former")
    assert str(caught.value).isprintable()
