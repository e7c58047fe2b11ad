"""GC logs as objects: their frames are the JSON report's numbers, with plain indexes."""

from __future__ import annotations

import json

import pytest

import pprofdiff
from pprofdiff.analysis.gclogs.catalogue import RATES, SUMS
from tests.conftest import DATA

BASE = DATA / "sync-pool-gctrace/none-pool.log"
NEW = DATA / "sync-pool-gctrace/sync-pool.log"


@pytest.fixture(scope="module")
def logs():
    """Return both published logs compared."""
    return pprofdiff.diff(BASE, NEW)


# JSON's name, the frame's, and how many of the frame's unit make one of JSON's.
SAME = [
    ("cycles", "cycles", 1),
    ("mark_wall_ms", "mark_wall_us", 1000),
    ("stw_wall_ms", "stw_wall_us", 1000),
    ("stw_cpu_ms", "stw_cpu_us", 1000),
    ("assist_cpu_ms", "assist_cpu_us", 1000),
    ("background_cpu_ms", "background_cpu_us", 1000),
    ("idle_cpu_ms", "idle_cpu_us", 1000),
    ("worst_pause_ms", "worst_pause_us", 1000),
    ("allocated_mb", "allocated", 1),
    ("gc_cpu_share", "gc_cpu_share", 1),
    ("cycles_per_second", "cycles_per_second", 1),
    ("effective_gogc", "effective_gogc", 1),
]


@pytest.mark.parametrize(("name", "figure", "times"), SAME)
def test_figures_are_the_report_s(logs, name, figure, times):
    (entry,) = json.loads(logs.to_json())["comparisons"]
    row = logs.figures.loc[figure]
    for side in ("base", "new"):
        assert entry[side][name] * times == pytest.approx(row[side], rel=1e-12)
    assert row["delta"] == row["new"] - row["base"]
    assert row["ratio"] == row["new"] / row["base"]


def test_figures_of_one_log_match_its_side(logs):
    for side, path in (("base", BASE), ("new", NEW)):
        alone = pprofdiff.load(path).figures
        assert alone["value"].equals(logs.figures[side])
        assert alone["fields"].equals(logs.figures["fields"])


def test_every_figure_has_a_name_fields_and_a_unit(logs):
    frame = logs.figures
    assert len(frame) == len(SUMS) + len(RATES)
    assert frame.index.is_unique
    assert (frame[["name", "fields", "unit"]] != "").all(axis=None)
    assert set(frame["unit"]) <= {"us", "MiB", "1/s", "share", "percent", "count"}
    assert frame.loc["stw_cpu_us", "fields"] == "S+T"
    assert frame["of"].tolist() == ["all"] * len(SUMS) + ["load"] * len(RATES)


def test_cycles_of_both_sides(logs):
    frame = logs.cycles
    counts = frame["side"].value_counts()
    assert (counts["base"], counts["new"]) == (38, 64)
    for name, path in (("base", BASE), ("new", NEW)):
        own = frame[frame["side"] == name]
        whole = pprofdiff.load(path).data.cycles
        assert own["number"].tolist() == whole.index.tolist()
        assert own["assist_cpu_us"].tolist() == whole["assist_cpu_us"].tolist()
        assert own["assist_cpu_us"].dtype == "int64"
    held = frame[frame["in_window"]]
    assert len(held) == logs.data.base.steady.cycles + logs.data.new.steady.cycles


def test_a_window_is_as_on_the_command_line(cli):
    windowed = pprofdiff.diff(BASE, NEW, window=(10, 30))
    assert cli(BASE, NEW, "--window", "10:30", "-o", "/dev/stdout", "-q").status in (
        0,
        2,
    )
    started = windowed.cycles[windowed.cycles["in_window"]]["start_ms"] / 1000
    assert started.min() >= 10
    assert started.max() < 30
    each = pprofdiff.diff(BASE, NEW, window=((10, 30), (15, None)))
    assert each.figures["base"].equals(windowed.figures["base"])
    assert not each.figures["new"].equals(windowed.figures["new"])
    text = cli(BASE, NEW, "--window", "10:30").out
    assert "sums of the windows" in text
    assert f"{windowed.data.base.whole.cycles}" in text


def test_a_log_without_a_whole_line(tmp_path):
    torn = tmp_path / "torn.log"
    torn.write_text("gc 1 @0.1s 1%: 0.01+1.1+0.01 ms clo\n" * 3)
    try:
        log = pprofdiff.load(torn)
    except pprofdiff.FormatError as error:
        assert "torn.log" in str(error)  # noqa: PT017 - both ways are right
        return
    assert "no whole line" in repr(log)
    assert list(log._repr_mimebundle_()) == ["text/plain"]
    with pytest.raises(pprofdiff.FormatError, match=r"torn\.log"):
        pprofdiff.diff(torn, BASE)


def test_figures_say_how_sure_their_ratios_are(data_folder):
    sides = [data_folder / "pauses" / side for side in ("base", "new")]
    figures = pprofdiff.compare(*sides).gc.figures
    sure = figures[figures["mark"] == "more"]
    assert "p99_pause_us" in sure.index
    assert (sure["low"] > 1).all()
    known = figures[figures["low"].notna() & figures["ratio"].notna()]
    assert ((known["low"] <= known["ratio"]) & (known["ratio"] <= known["high"])).all()
    assert figures.loc["effective_gogc", "mark"] == "unknown"
