"""One series of real profiles through every writer: they say the same."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import pprofdiff
from pprofdiff.cli.main import main
from pprofdiff.report.series.sentences import drawn_curve
from tests.fleets import making

pytest.importorskip("ruptures")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("got")
    for build in range(41, 47):
        planted = 0.03 if build >= 44 else 0.0
        place = folder / f"build={build}"
        making.write(place, range(12), samples=1500, again=build, planted=planted)
    return folder


@pytest.fixture(scope="module")
def series(builds):
    return pprofdiff.fleet(str(builds), over="build", workers=0)


@pytest.fixture(scope="module")
def written(builds, tmp_path_factory):
    """Return the folder with a file of each kind, as the command writes them."""
    folder = tmp_path_factory.mktemp("written")
    outputs = [f"-o={folder}/x.{end}" for end in ("html", "json", "csv", "svg", "png")]
    assert main(["--over=build", f"{builds}/**/*.gz", "-q", *outputs]) == 0
    return folder


def test_the_screen_names_the_step_and_the_function(builds, capsys):
    assert main(["--over", "build", f"{builds}/**/*.gz"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    first, _, second, *_ = out.splitlines()
    assert first == "41 → 46, 6 builds: 1 function changed, at 44"
    assert second.startswith("44: tsdb.(*Shard).Write 1.")
    assert "'…/build=43/**' '…/build=44/**'" in out
    row = next(
        line for line in out.splitlines() if line.endswith("tsdb.(*Shard).Write")
    )
    assert re.search(r"▲ \+[23]\.\d\d  44  [▁▂▃]{3}[▆▇█]{3}  tsdb", row)
    assert "72 profiles of 12 hosts, 12 at a step." in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.whole
def test_python_says_what_the_command_says(series, builds, capsys):
    main(["--over", "build", str(builds)])
    assert series.to_text() + "\n" == capsys.readouterr().out + "\n"
    assert repr(series) == "<FleetSeries '41' → '46': 6 builds, 12 hosts: cpu>"
    assert len(series) == 6


@pytest.mark.whole
def test_the_document_has_every_curve(written, series):
    document = json.loads((written / "x.json").read_text("utf-8"))
    assert document["schema"] == "pprofdiff-series/1"
    assert [step["name"] for step in document["steps"]] == [
        str(n) for n in range(41, 47)
    ]
    (kind,) = document["kinds"]
    totals = np.array(kind["totals"])
    curves = {(curve["sort"], curve["name"]): curve for curve in kind["curves"]}
    groups = [c for (sort, _), c in curves.items() if sort == "group"]
    assert (
        np.array([c["values"] for c in groups]).sum(axis=0).tolist() == totals.tolist()
    )
    own = curves["function", making.PLANTED]
    assert np.allclose(own["shares"], np.array(own["values"]) / totals)
    (change,) = own["changes"]
    assert (change["at"], change["step"]) == ("44", 3)
    assert change["low"] < change["after"] - change["before"] < change["high"]
    frame = series.changes.set_index("name").loc[making.PLANTED]
    assert frame["delta"] == change["after"] - change["before"]


def test_rows_of_the_csv_are_tidy(written, series):
    rows = list(csv.DictReader(io.StringIO((written / "x.csv").read_text("utf-8"))))
    frame = series.curves
    assert len(rows) == len(frame)
    assert [int(row["value"]) for row in rows] == frame["value"].tolist()
    changed = [
        (r["name"], r["step"])
        for r in rows
        if r["changed"] == "1" and r["sort"] == "function"
    ]
    assert changed == [(making.PLANTED, "44")]


def test_the_page_is_complete_and_says_it_first(written):
    page = (written / "x.html").read_text("utf-8")
    assert "<h2>41 → 46, 6 builds: 1 function changed, at 44</h2>" in page
    assert page.count("<figure><svg") == 2
    assert "Changed: tsdb.(*Shard).Write +" in page
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    assert len(page.encode()) < 500_000
    assert (written / "x.svg").read_text("utf-8").startswith("<svg")
    assert (written / "x.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_is_the_same_every_time(series, written):
    page = (written / "x.html").read_text("utf-8")
    again = series.to_html()
    # The command names the pattern, Python the folder.
    cut = re.compile(r"<p><code>.*?</code></p>")
    assert cut.sub("", again) == cut.sub("", page)


def test_a_card_has_what_moved_most(series):
    bundle = series._repr_mimebundle_()
    assert "1 function changed, at 44" in bundle["text/plain"]
    assert "<table>" in bundle["text/html"]
    assert "tsdb.(*Shard).Write" in bundle["text/html"]


def test_frames_of_steps(series):
    steps = series.steps
    assert steps["step"].tolist() == [str(n) for n in range(41, 47)]
    assert steps["start"].isna().all()
    assert (steps["hosts"] == 12).all()
    shares = series.curves.query("sort == 'group'").groupby("step")["share"].sum()
    assert np.allclose(shares, 1)
    changes = series.changes.query("sort == 'function'")
    assert changes[["name", "step"]].to_numpy().tolist() == [[making.PLANTED, "44"]]
    assert np.isclose(changes["delta"].iloc[0], 0.03, atol=0.006)


def test_without_a_change_nothing_is_named(builds, capsys):
    assert main(["--over", "build", f"{builds}/build=4[123]/**"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "41 → 43, 3 builds: no function changed beyond how hosts differ\n"
    )
    assert not set("▲▼") & set(out)


@pytest.mark.whole
def test_time_has_doubts_that_builds_have_not(tmp_path, capsys):
    for hour in range(4):
        making.write(
            tmp_path / f"{hour}", range(12), samples=1500, again=hour,
            start_s=3600 * hour, planted=0.05 if hour > 1 else 0.0,
        )  # fmt: skip
    assert main(["--over", "time", "--every=1h", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("11-14 22:00 → 11-15 01:00")
    assert "4 windows of 1 h: 1 function changed" in out
    assert "! the load of an hour moves shares as a build does" in out
    assert "Times are UTC." in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--fail-on=total:+5%"],
            "-fail-on compares two builds: leave it out with --over",
        ),
        (["--group-by=region"], "-group-by compares two builds"),
        (["-diff_base=x"], "-diff_base compares two builds"),
        (["-top"], "leave out -top"),
        (["-o", "x.md"], "-o x.md: of --over there are .html, .json, .csv, .svg, .png"),
        (["--every=5m"], "--every is the width of windows"),
    ],
)
def test_what_is_of_two_builds_is_refused(builds, words, says, capsys):
    assert main(["--over=build", str(builds), *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pprofdiff: ")
    assert says in err
    assert err.count("\n") == 1


def test_without_paths_nothing_names_a_place(builds, tmp_path, capsys):
    page = tmp_path / "x.html"
    assert main(["--over=build", f"{builds}/**/*.gz", "--no-paths", f"-o={page}"]) == 0
    for text in (capsys.readouterr().out, page.read_text("utf-8")):
        assert str(builds) not in text


def test_noise_looks_flat_and_a_gap_is_a_gap(series):
    (kind,) = series.data.kinds
    quiet = next(curve for curve in kind.functions if not curve.changes)
    assert not set(drawn_curve(quiet)) & set("▁█")
    assert len(drawn_curve(quiet)) == 6


@pytest.mark.whole
def test_ddf_adds_up_to_the_same(builds, series):
    pytest.importorskip("dask.dataframe")
    lazy = pprofdiff.ddf(str(builds), over="build")
    assert lazy.npartitions == 2
    own = lazy[lazy["function"] == making.PLANTED]
    by_step = own.groupby("step")["flat"].sum().compute(scheduler="sync").sort_index()
    curve = series.curves.query("sort == 'function' and name == @making.PLANTED")
    assert by_step.tolist() == curve["value"].tolist()
    assert lazy.dtypes.to_dict() == lazy.compute(scheduler="sync").dtypes.to_dict()
    assert "step" not in pprofdiff.ddf(str(builds)).columns


def test_ddf_says_which_object_it_cannot_read(builds, tmp_path):
    pytest.importorskip("dask.dataframe")
    from pprofdiff.errors import FormatError, UsageError

    making.write(tmp_path, [1], samples=50)
    (tmp_path / "host=h00001/bad.pb.gz").write_bytes(b"\x1f\x8bno")
    lazy = pprofdiff.ddf(str(tmp_path))
    with pytest.raises(FormatError, match=r"bad\.pb\.gz: damaged; max_skipped="):
        lazy.compute(scheduler="sync")
    assert len(pprofdiff.ddf(str(tmp_path), max_skipped=0.5).compute(scheduler="sync"))
    with pytest.raises(UsageError, match="needs every="):
        pprofdiff.ddf(str(tmp_path), over="time")
