"""What a script or a notebook meets: load, diff, frames, writers, errors."""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pprofdiff
from pprofdiff import FormatError, UsageError, diff, load
from pprofdiff.goruntime.rules import rules
from tests.conftest import DATA
from tests.examples import daily

VALUES = ["base_flat", "new_flat", "delta_flat", "base_cum", "new_cum", "delta_cum"]


@pytest.fixture
def paths(syncpool):
    """Return the two CPU captures."""
    return syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz"


@pytest.fixture
def cpu(paths):
    """Return their diff."""
    return pprofdiff.diff(*paths)


def test_public_names():
    assert set(pprofdiff.__all__) <= set(dir(pprofdiff))
    for name in pprofdiff.__all__:
        assert getattr(pprofdiff, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'dif'"):
        pprofdiff.dif  # noqa: B018 - the access is the test


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    daily(
        [
            "pprofdiff.load",
            "pprofdiff.diff",
            "pprofdiff.Diff",
            "pprofdiff.UsageError",
            "__import__('pprofdiff.analysis.profiles.diff')",
            "__import__('pprofdiff.cli')",
            "__import__('pprofdiff.cli.run')",
            "from pprofdiff.analysis.comparison import compare_sides",
            "from pprofdiff.analysis.ledger import graph",
            "import pprofdiff.analysis.profiles.diff, pprofdiff.api",
        ],
        # A name of the package, the command line, and a module below both.
        [
            "pprofdiff.load",
            "__import__('pprofdiff.cli')",
            "__import__('pprofdiff.analysis.profiles.diff')",
        ],
    ),
)
def test_names_stand_for_the_same_whichever_is_asked_for_first(first, paths):
    program = (
        f"import sys, pprofdiff\n{first}\nfrom pprofdiff import diff\n"
        "assert diff is pprofdiff.diff is pprofdiff.api.diff\n"
        "print(diff(*sys.argv[1:]).data.totals, pprofdiff.load(sys.argv[1]))"
    )
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, paths)],
        check=False,
        capture_output=True,
        env=settings,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(")


def test_a_profile_from_wherever_it_is(paths):
    wanted = pprofdiff.load(paths[0])
    data = paths[0].read_bytes()
    with paths[0].open("rb") as file:
        sources = [str(paths[0]), data, io.BytesIO(data), file, f"main={paths[0]}"]
        for source in sources:
            found = pprofdiff.load(source)
            assert found.data.strings == wanted.data.strings
            assert (found.data.values == wanted.data.values).all()
    assert pprofdiff.load(f"main={paths[0]}").label == "main"
    assert pprofdiff.load(paths[0], label="x").label == "x"
    assert (
        repr(wanted)
        == "<Profile samples/count, cpu/nanoseconds: " + repr(wanted).partition(": ")[2]
    )


def test_the_other_direction_and_several_of_a_side(paths, cpu):
    base, new = map(pprofdiff.load, paths)
    assert (base - new).data.totals == cpu.data.totals[::-1]
    twice = pprofdiff.diff([base, base], new)
    assert twice.data.totals == (2 * cpu.data.totals[0], cpu.data.totals[1])


def test_a_folder_of_several_kinds_is_refused_in_one_short_line(syncpool):
    with pytest.raises(pprofdiff.IncompatibleProfilesError) as caught:
        pprofdiff.load(syncpool.base)
    said = str(caught.value)
    assert said.isprintable()
    assert len(said.removeprefix(str(syncpool.base))) < 160
    assert "load one file" in said
    assert "pprofdiff.compare(base, new)" in said
    assert all(kind in said for kind in ("allocs", "cpu", "heap"))


def test_a_folder_is_merged(paths, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.pb.gz").write_bytes(paths[0].read_bytes())
    one = pprofdiff.load(paths[0])
    both = pprofdiff.load(tmp_path)
    assert (both.data.values.sum(axis=0) == 2 * one.data.values.sum(axis=0)).all()


@pytest.mark.parametrize(
    ("path", "kind", "rows"),
    [
        ("syncpool/base/gctrace.log", "GCLog", 72),
        ("zstd/new/bench.txt", "Benchmarks", 80),
        ("load/hey.txt", "LoadSummary", 2000),
    ],
)
def test_logs_load_as_what_they_are(data_folder, path, kind, rows):
    place = data_folder / path
    with place.open("rb") as file:
        loaded = [
            pprofdiff.load(x) for x in (place, str(place), place.read_bytes(), file)
        ]
    for log in loaded:
        assert type(log).__name__ == kind
        counted = {
            "GCLog": lambda held: len(held.data.cycles),
            "Benchmarks": lambda held: len(held.data.to_frame()),
            "LoadSummary": lambda held: held.data.requests,
        }[kind]
        assert counted(log) == rows


@pytest.mark.parametrize("name", ["functions", "lines", "files", "packages", "stacks"])
def test_frames_of_values(cpu, name):
    frame = getattr(cpu, name)
    assert [str(frame[c].dtype) for c in VALUES] == ["int64"] * 6
    assert (frame["delta_flat"] == frame["new_flat"] - frame["base_flat"]).all()
    assert (frame["delta_cum"] == frame["new_cum"] - frame["base_cum"]).all()
    assert frame["status"].dtype == "category"
    assert list(frame["status"].cat.categories) == ["both", "new", "gone"]
    assert all(type(label) is str for label in frame.index)
    assert frame["ratio_flat"].isna().equals(frame["base_flat"] == 0)
    assert frame["noise_flat"].dtype == bool
    by = cpu.data.normalization
    for column in ("flat", "cum"):
        base, new = (frame[f"{s}_{column}_scaled"] for s in ("base", "new"))
        assert base.equals(frame[f"base_{column}"] * by.base_factor)
        assert new.equals(frame[f"new_{column}"] * by.new_factor)
        assert (new - base).equals(frame[f"delta_{column}_scaled"])
    order = frame["delta_flat_scaled"].abs().to_numpy()
    assert (np.diff(order) <= 0).all()
    frame.loc[:, "base_flat"] = 0
    assert getattr(cpu, name)["base_flat"].sum() > 0  # a copy each time


def test_frames_of_the_runtime(paths, cpu):
    categories, blame = cpu.categories, cpu.blame
    sums = categories["base"].sum(), categories["new"].sum()
    assert sums == cpu.data.totals
    assert categories["base_share"].sum() == pytest.approx(1)
    assert set(categories["group"]) <= {g.id for g in rules().groups}
    assert set(blame["category"]) <= set(categories.index)
    paid = blame.groupby("category")[["base", "new"]].sum()
    assert (paid <= categories.loc[paid.index, ["base", "new"]]).all(axis=None)
    heap = pprofdiff.diff(*(path.with_name("heap.pb.gz") for path in paths))
    assert len(heap.categories) == len(heap.blame) == 0


def test_summary(paths, cpu):
    s = cpu.summary
    assert (s.name, s.sample_type) == ("cpu", "cpu")
    assert (s.unit, s.mode) == ("nanoseconds", "about")
    assert (s.base, s.new) == cpu.data.totals
    assert s.delta == s.new - s.base
    # It is what about equal work costs; by operation what an operation costs.
    inferred = cpu.data.normalization.inferred
    assert s.ratio == pytest.approx(s.new / s.base / inferred.ratio, rel=1e-12)
    known = cpu.normalize(work=(2, 3)).summary
    assert known.ratio == pytest.approx(s.new / 3 / (s.base / 2))
    status = cpu.functions["status"].value_counts()
    assert (s.functions_new, s.functions_gone) == (status["new"], status["gone"])
    nothing = pprofdiff.load(paths[0]).filter(focus="^no such function$")
    assert pprofdiff.diff(nothing, nothing).summary.ratio is None


def test_top(cpu):
    for by in ("flat", "cum"):
        top = cpu.top(5, by=by)
        assert len(top) == 5
        largest = cpu.functions[f"delta_{by}_scaled"].abs().nlargest(5)
        assert top[f"delta_{by}_scaled"].abs().tolist() == largest.tolist()
    with pytest.raises(pprofdiff.UsageError, match=r"flat.*cum"):
        cpu.top(by="size")


@pytest.mark.slow
def test_filter_is_the_same_before_and_after(paths, cpu):
    for patterns in (
        {"focus": "mallocgc"},
        {"ignore": "gcBgMarkWorker"},
        {"hide": "runtime"},
        {"focus": "main", "show": "main"},
    ):
        late = cpu.filter(**patterns)
        early = pprofdiff.diff(*paths, **patterns)
        mine = pprofdiff.diff(*(pprofdiff.load(p).filter(**patterns) for p in paths))
        assert late.data.totals == early.data.totals == mine.data.totals
        assert late.data.totals[0] <= cpu.data.totals[0]
        pd.testing.assert_frame_equal(late.functions, early.functions)
        pd.testing.assert_frame_equal(late.functions, mine.functions)
        pd.testing.assert_frame_equal(late.categories, early.categories)


def test_a_filter_keeps_what_was_chosen_before(paths, syncpool):
    chosen = pprofdiff.diff(*paths, sample_type="samples", work=syncpool.work)
    late = chosen.filter(focus="mallocgc")
    assert late.data.sample_type == chosen.data.sample_type
    assert late.data.normalization == chosen.data.normalization
    share = pprofdiff.diff(*paths, normalize=True)
    early = pprofdiff.diff(*paths, normalize=True, focus="mallocgc")
    assert (
        share.filter(focus="mallocgc").data.normalization.mode
        == early.data.normalization.mode
        == "share"
    )


def test_normalize(cpu, syncpool):
    share = cpu.normalize()
    assert share.data.normalization.mode == "share"
    assert share.summary.ratio == pytest.approx(1)
    work = cpu.normalize(work=syncpool.work)
    assert work.data.normalization.mode == "per_work"
    assert cpu.data.normalization.mode == "about"  # nothing is changed in place


def test_a_profile_written_and_read_again(paths):
    base = pprofdiff.load(paths[0])
    again = pprofdiff.load(base.to_pprof())
    assert (again.data.values == base.data.values).all()
    assert again.data.function_names() == base.data.function_names()
    before, after = pprofdiff.diff(base, again).data.totals
    assert before == after


def test_profiles_and_comparisons_go_to_other_processes(paths):
    again = pickle.loads(pickle.dumps(load(paths[0])))  # noqa: S301 - made right here
    assert again.data.values.shape[1] == 2
    both = pprofdiff.compare(*(DATA / f"service/{side}" for side in ("base", "new")))
    assert repr(pickle.loads(pickle.dumps(both))) == repr(both)  # noqa: S301


def test_nothing_can_be_changed_in_place(cpu):
    with pytest.raises(AttributeError):
        cpu.data = None
    with pytest.raises(AttributeError):
        cpu.data.base.profile.values = None


def test_repr_has_the_delta(cpu):
    assert f"delta {cpu.data.totals[1] - cpu.data.totals[0]:+d}" in repr(cpu)


@pytest.mark.slow
def test_writers_give_or_write_what_the_command_line_writes(cpu, tmp_path, cli, paths):
    writers = {
        "json": cpu.to_json,
        "csv": cpu.to_csv,
        "md": cpu.to_markdown,
        "html": cpu.to_html,
        "pb.gz": cpu.to_pprof,
    }
    for method, ending in ((cpu.to_text, "txt"), *((m, e) for e, m in writers.items())):
        data, path = method(), tmp_path / f"x.{ending}"
        assert method(path) is None
        assert path.read_bytes() == (data if isinstance(data, bytes) else data.encode())
    outputs = [f"-o={tmp_path / 'y'}.{ending}" for ending in writers]
    assert cli(*paths, *outputs) == (0, cpu.to_text(), "")
    for ending in writers:
        given, typed = ((tmp_path / f"{n}.{ending}").read_bytes() for n in "xy")
        assert given == typed


def test_rules_from_python_match_the_command_line(cpu, cli, paths, tmp_path):
    rules = ("group:gc:+2pp", "total:+5%", "figure:p99_pause_us:+10%")
    verdict = cpu.check(*rules)
    assert not verdict
    assert [rule.rule for rule in verdict.tripped] == ["group:gc:+2pp"]
    words = [f"--fail-on={rule}" for rule in rules]
    cli(*paths, *words, "-q", "-o", tmp_path / "x.json")
    got = json.loads((tmp_path / "x.json").read_text("utf-8"))["verdict"]
    assert verdict.outcome == got["outcome"] == "fail"
    assert [(r.rule, r.outcome, r.figure, r.base, r.new) for r in verdict.rules] == [
        (r["rule"], r["outcome"], r["figure"], r["base_scaled"], r["new_scaled"])
        for r in got["rules"]
    ]
    assert cpu.check("total:+5%")
    assert cpu.check()
    # What cannot be judged is no failure, unless the gate is strict.
    assert cpu.check("figure:p99_pause_us:+10%").outcome == "none"
    assert not cpu.check("figure:p99_pause_us:+10%", strict=True)
    with pytest.raises(pprofdiff.UsageError, match="there is no rule cpu"):
        cpu.check("cpu:+5%")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda p: load("none.pb.gz"), pprofdiff.FetchError, "none.pb.gz"),
        (lambda p: load(b""), FormatError, "bytes"),
        (lambda p: load(b"hello"), FormatError, "neither a profile"),
        (lambda p: load(io.BytesIO(p[0].read_bytes()[:900])), FormatError, "bytes"),
        (lambda p: diff(*p, sample_type="speed"), UsageError, "samples, cpu"),
        (lambda p: diff(*p, sample_type=-1), UsageError, "samples, cpu"),
        (lambda p: diff(*p, fokus="x"), UsageError, "focus"),
        (lambda p: diff(*p, focus="["), UsageError, "focus"),
        (lambda p: diff(*p, work=(0, 1)), UsageError, "work"),
        (lambda p: diff(*p, work=(math.inf, 1)), UsageError, "work"),
        (lambda p: diff(*p, work=(1, 1), normalize=True), UsageError, "give one"),
        (lambda p: diff([], p[1]), UsageError, "base"),
        (
            lambda p: diff(p[0].with_name("heap.pb.gz"), p[1]),
            pprofdiff.IncompatibleProfilesError,
            "heap.pb.gz",
        ),
        (
            lambda p: load(p[0].with_name("work.json")),
            FormatError,
            "JSON with the keys",
        ),
    ],
)
def test_errors_are_ours_and_one_line(paths, call, error, said):
    with pytest.raises(error) as caught:
        call(paths)
    assert said in str(caught.value)
    assert str(caught.value).isprintable()
    assert isinstance(caught.value, pprofdiff.PprofDiffError)
