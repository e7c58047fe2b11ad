"""The report where a load generator's summary lies next to the profiles."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.report.golden import check


@pytest.fixture
def load(data_folder, tmp_path, monkeypatch):
    """Stand in a copy of what load generators printed, with profiles taken meanwhile."""
    shutil.copytree(data_folder / "load", tmp_path / "load")
    monkeypatch.chdir(tmp_path / "load")
    return tmp_path / "load"


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_as_it_was_last_looked_at(cli, load, loop):
    done = cli(f"{loop}/base", f"{loop}/new", "--full")
    assert (done.status, done.err) == (0, "")
    check(f"load.{loop}", done.out)


def test_requests_that_failed_are_said(cli, load):
    assert "121 of 600" in cli("hey.txt", "hey-errors.txt").out


def test_loads_of_two_tools_are_said_to_differ(cli, load):
    assert "the loads differ (tool hey → wrk)" in cli("hey.txt", "wrk.txt").out
    slower = cli("vegeta.json", "open/new/vegeta.json").out
    assert "open loops of 200.6 → 401.3 requests per second" in slower


def of_work(cli):
    """Return what the CPU is per in JSON, and the caveats on loads' times."""
    assert cli("open/base", "open/new", "-o", "open.json").status == 0
    report = json.loads(Path("open.json").read_text("utf-8"))
    (cpu,) = (one for one in report["comparisons"] if one["kind"] == "profile")
    said = [w["text"] for w in report["warnings"] if w["id"] == "load-time"]
    return cpu["normalization"]["mode"], said


def test_a_load_is_work_only_where_it_lasts_as_long_as_the_profile(cli, load):
    assert of_work(cli) == ("per_work", [])
    shutil.copy("vegeta.txt", "open/base/vegeta.json")
    mode, (said,) = of_work(cli)
    assert mode == "composition"
    assert re.search(r"is of 1\.996 s and .*cpu.pb.gz of 3", said)


@pytest.mark.parametrize(
    ("hours", "said"), [(-1, "ended 3,59. s after"), (1, "began 3,60. s before")]
)
def test_a_load_is_work_only_where_the_profile_was_taken_meanwhile(
    cli, load, hours, said
):
    path = load / "open" / "base" / "vegeta.json"
    text = path.read_text("utf-8")
    began = re.search(r'"earliest":"\S+?T(\d\d):', text)
    other = f"{int(began[1]) + hours:02}"
    start, end = began.span(1)
    path.write_text(text[:start] + other + text[end:], "utf-8")
    mode, (why,) = of_work(cli)
    assert mode == "composition"
    assert re.search(said, why)


def test_runs_are_tested_and_shown_everywhere(cli, load):
    assert cli("runs/base", "runs/new", "-o", "runs.json").status == 0
    report = json.loads(Path("runs.json").read_text("utf-8"))
    (found,) = (one for one in report["comparisons"] if one["kind"] == "load")
    p50 = next(row for row in found["rows"] if row["name"] == "p50")
    assert (p50["unit"], p50["n_base"], p50["n_new"]) == ("sec", 4, 4)
    assert (p50["significant"], p50["worse"]) == (True, True)
    for ending in ("md", "html"):
        assert cli("runs/base", "runs/new", "-o", f"load.{ending}").status == 0
        text = (load / f"load.{ending}").read_text("utf-8")
        assert "p50 latency" in text


def test_the_headline_and_the_rate_of_runs_are_one_judgement(cli, load):
    """One run of base was slower than one of new."""
    got = cli("runs/base", "runs/new").out
    (ratio,) = re.findall(r"Can't tell: (\S+)× the ops/s \(\S+ to 1\.00×\)", got)
    base, new, change = re.search(
        r"([\d,]+) +([\d.]+) +~ −(\d+)% +p=0\.057 +requests per second", got
    ).groups()
    assert f"From hey: {base} and {new} operations per second" in got
    assert 100 * (1 - float(ratio)) == pytest.approx(float(change), abs=1)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_side_is_not_faster_for_requests_that_fail(cli, load, swapped):
    """A fifth of requests failed at 2,724 per second, none at 356.5."""
    pair = "closed/new/hey.txt", "hey-errors.txt"
    got = " ".join(cli(*pair[:: -1 if swapped else 1]).out.split())
    shares = "20.2% → 0%" if swapped else "0% → 20.2%"
    assert "Can't tell: " in got
    assert f"{shares} of requests failed, and one that fails mostly does less" in got


def test_a_figure_that_a_summary_lacks_is_no_change(cli, load):
    got = cli("wrk.txt", "wrk-errors.txt").out
    assert re.search(r"37\.0 µs +p50 latency", got)


def test_whole_milliseconds_are_no_latency_of_0(cli, load):
    assert re.search(
        r"(?m)^ +2\.00 ms +p50 latency", cli("ab.txt", "ab-errors.txt").out
    )


def test_a_mean_is_shown_where_no_quantile_is_known(cli, load):
    out = cli("h2load.txt", "h2load-errors.txt").out
    assert re.search(r"0\.21 ms  +3\.39 ms .* mean latency", out)
    assert "mean latency" not in cli("hey.txt", "hey-errors.txt").out


def test_a_load_without_a_known_loop_asks_for_no_load(cli, load):
    out = cli("oha.txt", "oha.json").out
    assert (
        "No outcome: 4.60× the ops/s.\nOps/s show speed only in a closed loop;" in out
    )
