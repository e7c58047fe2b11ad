"""Endpoints as units of work: /search of `endpoints` got dearer, the others did not."""

import json
import re

import pytest

import pprofdiff
from tests.conftest import DATA

BASE, NEW, AGAIN = (
    str(DATA / "endpoints" / f"{name}.pb.gz") for name in ("base", "new", "again")
)
WORK = "--work=533217:384055"
"""Requests that each side served while it was profiled."""


def test_the_endpoint_that_got_dearer_is_named_and_no_other(cli):
    got = cli(WORK, BASE, NEW).out
    assert (
        "By endpoint: /search 1.03 → 5.16 µs CPU/op, 5.00×; 2 others within noise."
        in got
    )
    rows = {line.split()[0]: line for line in got.splitlines() if line.startswith("/")}
    assert {name: "▲" in row or "▼" in row for name, row in rows.items()} == {
        "/search": True, "/orders": False, "/cart": False,
    }  # fmt: skip


def test_of_one_build_no_endpoint_moved(cli):
    words = "--work=533217:568077", BASE, AGAIN
    assert "endpoint, in" not in cli(*words).out
    got = cli("--by=endpoint", *words).out
    assert "cpu by endpoint, in µs/op" in got
    assert "By endpoint:" not in got
    assert "cpu by endpoint, in µs/op" in cli("--full", *words).out


def test_shares_are_a_table_only(cli):
    """A share of one endpoint is no cost of it."""
    got = cli(BASE, NEW).out
    assert "cpu by endpoint, in %" in got
    assert "By endpoint:" not in got
    assert "cpu by endpoint" not in cli(BASE, AGAIN).out
    assert "cpu by endpoint, in %" in cli("--by=endpoint", BASE, AGAIN).out


def test_json_python_and_the_gate_have_the_same_units(cli, tmp_path):
    out = tmp_path / "x.json"
    rule = "--fail-on=unit:^/search$:+50%"
    assert cli("-q", WORK, BASE, NEW, "-o", str(out), rule).status == 1
    units = {unit["name"]: unit for unit in json.loads(out.read_text())["units"]}
    assert {unit["label"] for unit in units.values()} == {"endpoint"}
    frame = pprofdiff.compare(BASE, NEW, work=(533217, 384055)).units.set_index("unit")
    for name, unit in units.items():
        row = frame.loc[name]
        assert (row.ratio, row.verdict) == (unit["ratio"], unit["verdict"])
        assert unit["ratio"] == pytest.approx(unit["new"] / unit["base"], rel=1e-12)
    assert frame.verdict.to_dict() == {
        "/cart": "unknown", "/orders": "unknown", "/search": "slower",
    }  # fmt: skip


# /search compiles its pattern for each request, and waits for nothing.
UNITS = (
    r"/search [\d.]+ → [\d.]+ µs, [\d.]+× \(running [\d.]+ → [\d.]+ µs\); "
    r"2 others within noise\."
)


def test_a_label_that_is_not_there_is_one_line(cli):
    got = cli("--by=endpoin", BASE, NEW)
    assert got.status == 2
    assert (
        got.err
        == "pprofdiff: --by endpoin: no label has this name: labels are endpoint\n"
    )


def test_user_tasks_are_units_by_their_names(cli):
    got = cli(DATA / "endpoints" / "base.trace", DATA / "endpoints" / "new.trace").out
    first, second = got.splitlines()[:2]
    assert "Slower: 3.78× the time per task /search" in first
    assert re.fullmatch(f"By task: {UNITS}", second)


def test_without_tasks_regions_are(cli):
    sides = (DATA / "endpoints" / f"{side}.regions.trace" for side in ("base", "new"))
    first, second = cli(*sides).out.splitlines()[:2]
    # A region may be any part of an operation: it is no outcome.
    assert first.endswith("No outcome: operation count unknown.")
    assert re.fullmatch(f"By region: {UNITS}", second)


def test_a_task_that_waits_runs_for_less_than_it_lasts(cli):
    """In new, /cart encodes while it holds the lock of all carts."""
    out = cli(*(DATA / f"service/{side}/trace.out" for side in ("base", "new"))).out
    assert "/cart 0.160 → 5.72 ms, 35.8× (running 56.2 → 357 µs)" in out
