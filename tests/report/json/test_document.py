"""The JSON report: every field that other tools may rely on, and sums that add up."""

from __future__ import annotations

import math
from numbers import Number
from typing import get_args

import numpy as np
import pytest

from pprofdiff.analysis.outcome.model import Verdict
from pprofdiff.analysis.profiles.rows import NO_STACK
from pprofdiff.identity.model import PairedBy
from pprofdiff.report.json.document import SCHEMA
from tests.report.json.shapes import ANY, FLAG, FLOAT, INPUT, INT, TEXT, check

AMOUNTS = {"base": INT, "new": INT, "delta": INT}
VERDICT = {"z": FLOAT, "q": FLOAT, "noise": FLAG}
FUNCTION = {
    "name": TEXT, "base_name?": TEXT, "file": "text?", "status": TEXT, "paired_by": "text?", "base_flat": INT, "new_flat": INT,
    "delta_flat": INT, "base_cum": INT, "new_cum": INT, "delta_cum": INT, "delta_flat_scaled": FLOAT, "delta_cum_scaled": FLOAT,
    "significance": ({"flat": VERDICT, "cum": VERDICT},),
}  # fmt: skip
SCALED = {"base_scaled": FLOAT, "new_scaled": FLOAT, "delta_scaled": FLOAT}
PROFILE = {
    "kind": TEXT, "name": TEXT, "sample_type": TEXT, "unit": TEXT, "total": AMOUNTS,
    "normalization": {
        "mode": TEXT, "base_factor": FLOAT, "new_factor": FLOAT, "reason": TEXT,
        "inferred_work": ({"ratio": FLOAT, "low": FLOAT, "high": FLOAT, "sigma": FLOAT, "rows": INT},),
    },
    "groups": [{"id": TEXT, "label": TEXT, **AMOUNTS}],
    "categories": [{"id": TEXT, **AMOUNTS, **SCALED, "significance": VERDICT}],
    "leaf_kinds": [{"category": TEXT, "kind": TEXT, **AMOUNTS}],
    "functions": [FUNCTION],
    "blame": [{"category": TEXT, "function": TEXT, "caller": "text?", **AMOUNTS}],
}  # fmt: skip
MEASURE = {
    "id": TEXT, "figure": TEXT, "unit": "text?", "base": "float?", "new": "float?", "ratio": FLOAT,
    "low": FLOAT, "high": FLOAT, "source": TEXT, "runs": {"base": INT, "new": INT},
}  # fmt: skip
OUTCOME = {
    "verdict": TEXT, "needs": "text?", "scaled_alike": "float?", "cpu_a_second": "float?", "busy": "float?",
    "same_within": "float?", "confidence": "float?", "measures": [MEASURE],
    **dict.fromkeys(("contrary", "together", "counted", "units", "builds"), ANY),
}  # fmt: skip
PART = {"id": TEXT, "label": TEXT, "base": FLOAT, "new": FLOAT, "delta": FLOAT, "source": TEXT}  # fmt: skip
PARTS = [PART | {"paths?": [PART]}]
WHOLE = {
    "schema": TEXT, "version": TEXT, "rules": TEXT, "outcome": OUTCOME | MEASURE,
    "inputs": {"base": [INPUT], "new": [INPUT]}, "warnings": [{"id": TEXT, "text": TEXT}],
    "account": {"of": TEXT, "unit": TEXT, "total": ANY, "parts": PARTS, "within": PARTS, "beside": PARTS, "gaps": [TEXT]},
    **dict.fromkeys(("labels", "units", "gc", "filters", "comparisons", "findings", "unexplained", "unpaired", "verdict"), ANY),
}  # fmt: skip


@pytest.fixture(scope="module")
def of_story(written, load_story):
    """Return a function: words in, the report of syncpool, or of one kind of it, out."""
    story = load_story("syncpool")

    def write(*words, kinds=""):
        return written(f"main={story.base / kinds}", f"pr={story.new / kinds}", *words)

    return write


@pytest.fixture(scope="module")
def whole(of_story, load_story):
    """Return the report on everything in both folders, by operation."""
    work = load_story("syncpool").work
    return of_story(f"--work={work[0]}:{work[1]}")


def test_the_frame(whole):
    check(whole, WHOLE)
    assert whole["schema"] == SCHEMA == "pprofdiff/1"
    assert whole["labels"] == {"base": "main", "new": "pr"}
    assert whole["verdict"] == {"outcome": "none", "rules": []}
    assert whole["filters"] == whole["unpaired"] == []
    for side in ("base", "new"):
        profiles_of = {"cpu", "allocs", "heap", "block", "mutex", "goroutine"}
        kinds = {entry["kind"] for entry in whole["inputs"][side]}
        assert kinds == profiles_of | {"gctrace", "trace"}
    cpu = next(e for e in whole["inputs"]["base"] if e["kind"] == "cpu")
    assert cpu["go_version"] == "go1.26"
    assert cpu["period"] == 10_000_000
    assert len(cpu["build_id"]) == 40


def test_the_outcome_rests_on_its_first_figure(whole):
    outcome = whole["outcome"]
    assert outcome["verdict"] in get_args(Verdict)
    assert outcome["runs"] == {"base": 1, "new": 1}
    assert outcome["confidence"] == 0.95
    assert outcome["same_within"] == 0.02
    assert outcome["contrary"] == outcome["counted"] == []
    assert {unit["label"] for unit in outcome["units"]} == {"handler"}
    first, *others = outcome["measures"]
    assert {name: outcome[name] for name in first} == first
    assert others
    for measure in outcome["measures"]:
        assert measure["low"] < measure["ratio"] < measure["high"]
        if measure["base"] is not None:
            assert measure["new"] / measure["base"] == pytest.approx(measure["ratio"])


@pytest.mark.parametrize("kinds", ["heap.pb.gz", "goroutine.pb.gz", "gctrace.log"])
def test_what_shows_no_cost_has_no_outcome_and_nothing_is_null_by_half(of_story, kinds):
    document = of_story(kinds=kinds)
    outcome = document["outcome"]
    check(outcome, OUTCOME | dict.fromkeys(MEASURE, "text?"))
    assert {outcome[n] for n in (*MEASURE, "confidence", "same_within")} == {None}
    for name in ("measures", "contrary", "counted", "units"):
        assert outcome[name] == []
    assert outcome["verdict"] == "unknown"
    assert outcome["needs"].endswith(" give cost per op")
    assert document["account"] is None


def test_without_work_the_control_alone_speaks_and_scales_the_account(of_story):
    document = of_story(kinds="cpu.pb.gz")
    (measure,) = document["outcome"]["measures"]
    assert measure["id"] == "control"
    by = document["comparisons"][0]["normalization"]
    check(document["comparisons"], [PROFILE])
    inferred = by["inferred_work"]
    assert inferred["low"] < inferred["ratio"] < inferred["high"]
    assert by["new_factor"] == 1 / inferred["ratio"]
    account = document["account"]
    assert account["unit"] == "ns"
    whole = document["comparisons"][0]["total"]
    assert account["total"]["base"] == whole["base"]
    assert account["total"]["new"] == pytest.approx(whole["new"] * by["new_factor"])
    ratio = account["total"]["new"] / account["total"]["base"]
    assert ratio == pytest.approx(measure["ratio"], rel=1e-9)


def test_where_nothing_shows_the_work_the_account_is_of_shares(written, data_folder):
    sides = (data_folder / "zstd" / side / "cpu.pb.gz" for side in ("base", "new"))
    account = written(*sides)["account"]
    assert account["unit"] == "%"
    for side in ("base", "new"):
        assert account["total"][side] == pytest.approx(100, rel=1e-12)
    assert account["total"]["delta"] == 0


def test_the_account_is_a_list_that_adds_up(whole):
    account = whole["account"]
    for part in (*account["parts"], *account["within"], *account["beside"]):
        assert part["delta"] == pytest.approx(part["new"] - part["base"])
        for name in ("base", "new", "delta") if "paths" in part else ():
            sums = math.fsum(path[name] for path in part["paths"])
            assert sums == pytest.approx(part[name], rel=1e-9)
    assert any("paths" in part for part in account["parts"])
    ids = [part["id"] for part in account["parts"]]
    assert len(ids) == len(set(ids)) > 1
    for name in ("base", "new", "delta"):
        whole_sum = math.fsum(part[name] for part in account["parts"])
        assert whole_sum == pytest.approx(account["total"][name], rel=1e-9)


def test_findings_name_the_cause_that_they_follow_from(whole):
    ids = [finding["id"] for finding in whole["findings"]]
    for i, finding in enumerate(whole["findings"]):
        assert finding["parent"] is None or finding["parent"] in ids[:i]
        assert finding["detail"] is (finding["parent"] is not None)
    assert any(finding["parent"] for finding in whole["findings"])


def profiles(report):
    """Return the comparisons of profiles."""
    return [c for c in report["comparisons"] if c["kind"] == "profile"]


def test_every_comparison(whole):
    kinds = [(c["name"], c["sample_type"]) for c in profiles(whole)]
    assert len(set(kinds)) == len(kinds)
    memory = {
        f"{what}_{of}" for what in ("alloc", "inuse") for of in ("space", "objects")
    }
    assert {kind for _, kind in kinds} == {"cpu", "delay", "goroutine", *memory}
    check(profiles(whole), [PROFILE])
    for entry in profiles(whole):
        assert entry["kind"] == "profile"
        # What is asked for, or known, is not inferred.
        assert entry["normalization"]["inferred_work"] is None
        for row in entry["functions"]:
            assert row["status"] in ("both", "new", "gone")
            assert row["paired_by"] in (*get_args(PairedBy), None)
            assert (row["paired_by"] == "name") == (
                row["status"] == "both" and "base_name" not in row
            )


def test_no_number_is_text_and_no_text_is_a_number(whole):
    def walk(value):
        inside = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict | list):
            for inner in inside:
                yield from walk(inner)
        yield value

    texts = [v for v in walk(whole) if isinstance(v, str)]
    assert not [t for t in texts if t in ("NaN", "nan", "inf", "None")]
    assert all(math.isfinite(v) for v in walk(whole) if isinstance(v, Number))


def without_a_stack(profile, column):
    """Return what samples without any frame are worth."""
    return int(profile.values[np.diff(profile.stack_offsets) == 0, column].sum())


def test_sums_add_up(whole, load_capture, load_story):
    story = load_story("syncpool")
    for entry in profiles(whole):
        total = entry["total"]
        for side, folder in (("base", story.base), ("new", story.new)):
            measured = load_capture(folder / f"{entry['name']}.pb.gz")
            column = measured.sample_index(entry["sample_type"])
            assert total[side] == int(measured.values[:, column].sum())
            bare = [f for f in entry["functions"] if f["name"] == NO_STACK]
            for name in (f"{side}_flat", f"{side}_cum"):
                assert sum(f[name] for f in bare) == without_a_stack(measured, column)
            assert all(f["file"] is None for f in bare)
        for side in ("base", "new", "delta"):
            assert sum(f[f"{side}_flat"] for f in entry["functions"]) == total[side]
            for table in ("groups", "categories", "leaf_kinds"):
                assert (
                    not entry[table]
                    or sum(r[side] for r in entry[table]) == total[side]
                )
        for name in ("groups", "categories", "leaf_kinds", "blame"):
            for row in (*entry[name], total):
                assert row["delta"] == row["new"] - row["base"]
        for row in entry["functions"]:
            assert row["delta_flat"] == row["new_flat"] - row["base_flat"]
            assert row["delta_cum"] == row["new_cum"] - row["base_cum"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "kinds", "mode"),
    [
        ((), "cpu.pb.gz", "about"),
        (("-normalize",), "cpu.pb.gz", "share"),
        (("--work=3:4",), "cpu.pb.gz", "per_work"),
        (("--work=3:4",), "heap.pb.gz", "absolute"),
        ((), "allocs.pb.gz", "about"),
        (("--work=3:4",), "allocs.pb.gz", "per_work"),
        (("--rps=3:4",), "allocs.pb.gz", "composition"),
        ((), "block.pb.gz", "absolute"),
    ],
)
def test_the_mode_is_said(of_story, words, kinds, mode):
    document = of_story(*words, kinds=kinds)
    assert document["comparisons"][0]["normalization"]["mode"] == mode


def test_filters_are_said_as_typed(of_story):
    document = of_story("-focus=mallocgc", "-hide", "xyzzy", kinds="cpu.pb.gz")
    assert document["filters"] == ["-focus=mallocgc", "-hide=xyzzy"]
    assert [w["text"] for w in document["warnings"] if w["id"] == "filter"] == [
        "hide=xyzzy matched no samples"
    ]
    entry = document["comparisons"][0]
    assert 0 < entry["total"]["base"] < 20_000_000_000
    assert any("mallocgc" in f["name"] for f in entry["functions"])


def test_a_kind_of_one_side_is_said(written, tmp_path, load_story):
    story = load_story("syncpool")
    for side, names in (("a", ("cpu", "mutex")), ("b", ("cpu", "heap"))):
        (tmp_path / side).mkdir()
        for name in names:
            (tmp_path / side / f"{name}.pb.gz").write_bytes(
                (story.base / f"{name}.pb.gz").read_bytes()
            )
    held = written(f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}")["unpaired"]
    assert sorted(held, key=str) == [
        {"kind": "heap", "side": "b"},
        {"kind": "mutex", "side": "a"},
    ]
