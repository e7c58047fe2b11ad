"""Report files: what a name asks for, and replacement of all of them or of none."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from pprofdiff.api import diff
from pprofdiff.errors import FetchError, UsageError
from pprofdiff.report import csv
from pprofdiff.report.files import renderer_for, replace_files
from pprofdiff.report.json import document as report_json
from pprofdiff.report.markdown import comment as markdown
from pprofdiff.report.pprof import profile as pprof


@pytest.fixture
def held(tmp_path):
    """Return a function: what every file in the folder holds, by its path there."""

    def read():
        return {
            str(path.relative_to(tmp_path)): path.read_bytes()
            for path in sorted(tmp_path.rglob("*"))
            if path.is_file()
        }

    return read


@pytest.mark.parametrize("path", ["x.htm", "x.JSON ", "x", "x.gz", "json", "x.pb", ""])
def test_an_ending_that_nothing_writes(path):
    with pytest.raises(
        UsageError, match=r"\.html, \.md, \.json, \.csv, \.svg, \.png, \.pb\.gz"
    ):
        renderer_for(path)


@pytest.mark.parametrize(
    ("path", "writer"),
    [
        ("x.json", lambda report: report_json.render(report).encode()),
        ("x.md", lambda report: markdown.render(report).encode()),
        ("a/b.csv", lambda report: csv.render(report).encode()),
        (".pb.gz", pprof.render),
        ("x.json.pb.gz", pprof.render),
        ("x.csv.json", lambda report: report_json.render(report).encode()),
    ],
)
def test_the_ending_says_what_is_written(path, writer, syncpool):
    report = diff(syncpool.base / "mutex.pb.gz", syncpool.new / "mutex.pb.gz").report()
    data = renderer_for(path)(report)
    assert isinstance(data, bytes)
    assert data == writer(report)
    assert data


def test_a_name_moves_no_cursor():
    with pytest.raises(UsageError) as caught:
        renderer_for("x\x1b[2J\n")
    assert str(caught.value).startswith(r"-o x\x1b[2J\n: ")


def test_what_is_there_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("old")
    path.chmod(0o640)
    replace_files([(str(path), b"new")])
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    mask = os.umask(0o027)
    try:
        replace_files([(str(tmp_path / "x.json"), b"new")])
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == 0o640


def test_a_link_stays_one(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    replace_files([(str(tmp_path / "link.json"), b"new")])
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_a_link_to_nothing_is_filled(tmp_path):
    (tmp_path / "link.json").symlink_to("real.json")
    replace_files([(str(tmp_path / "link.json"), b"new")])
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_several_files_at_once(tmp_path, held):
    (tmp_path / "b").write_text("old")
    replace_files([(str(tmp_path / name), name.encode()) for name in "abc"])
    assert held() == {"a": b"a", "b": b"b", "c": b"c"}


def test_one_file_under_two_names_holds_what_came_last(tmp_path, held):
    (tmp_path / "link").symlink_to("real")
    names = ("real", "real", "link")
    replace_files([(str(tmp_path / n), b"%d" % i) for i, n in enumerate(names)])
    assert held() == {"link": b"2", "real": b"2"}
    assert (tmp_path / "link").is_symlink()


def test_what_another_run_left_behind_is_neither_in_the_way_nor_removed(tmp_path, held):
    # The names that a run of the same process id once took, in a container always.
    left = [f"x.json.{os.getpid()}.{number}.tmp" for number in range(3)]
    left.append(f".pprofdiff-{os.getpid()}.tmp")
    for name in left:
        (tmp_path / name).write_text("another one's")
    replace_files([(str(tmp_path / "x.json"), b"new")])
    assert held() == {"x.json": b"new"} | dict.fromkeys(left, b"another one's")


def test_no_files_at_all(held):
    replace_files([])
    assert held() == {}


BAD = [
    "nowhere/x.json",
    "file/x.json",
    "folder.json",
    "x" * 300 + ".json",
    "nul\0.json",
]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("path", BAD)
def test_one_place_that_cannot_be_written_leaves_all_as_they_were(
    tmp_path, held, path, place
):
    (tmp_path / "file").write_text("kept")
    (tmp_path / "there.json").write_text("old")
    (tmp_path / "folder.json").mkdir()
    paths = ["there.json", "fresh.csv"]
    paths.insert(place, path)
    with pytest.raises(FetchError, match="cannot be written") as caught:
        replace_files([(str(tmp_path / p), b"new") for p in paths])
    said = str(caught.value)
    assert said.isprintable()
    assert said.startswith(f"{tmp_path / path}: ".replace("\0", r"\x00"))
    assert held() == {"file": b"kept", "there.json": b"old"}
    assert list((tmp_path / "folder.json").iterdir()) == []


def test_a_name_as_long_as_names_may_be(tmp_path, held):
    name = "x" * 250 + ".json"
    replace_files([(str(tmp_path / name), b"new")])
    assert held() == {name: b"new"}


def test_a_device_is_written_to():
    replace_files([(os.devnull, b"new")])
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_full_device_is_said_and_nothing_else_is_written(tmp_path, held):
    (tmp_path / "x.json").write_text("old")
    with pytest.raises(
        FetchError, match=r"/dev/full: cannot be written: No space left"
    ):
        replace_files([(str(tmp_path / "x.json"), b"new"), ("/dev/full", b"new")])
    assert held() == {"x.json": b"old"}


def test_a_pipe_gets_the_bytes(tmp_path):
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as read, os.fdopen(writer, "wb"):
        replace_files([(f"/dev/fd/{writer}", b"new"), (str(tmp_path / "x"), b"x")])
        assert os.read(read.fileno(), 9) == b"new"
    assert (tmp_path / "x").read_bytes() == b"x"


def test_the_command_line_writes_all_or_none(cli, syncpool, tmp_path, held):
    pair = [p / "mutex.pb.gz" for p in (syncpool.base, syncpool.new)]
    outputs = [f"-o={tmp_path / name}" for name in ("x.json", "y.json")]
    (tmp_path / "x.json").write_text("old")
    (tmp_path / "full.csv").symlink_to("/dev/full")
    for view in ([], ["-top"], ["-proto"]):
        for bad in ("nowhere/x.csv", "full.csv"):
            done = cli(*pair, *view, *outputs, f"-o={tmp_path / bad}")
            assert (done.status, done.out) == (2, "")
            assert f"{bad}: cannot be written: " in done.err
            assert held() == {"x.json": b"old"}
    done = cli(*pair, *outputs)
    assert (done.status, done.err) == (0, "")
    assert json.loads(Path(tmp_path / "x.json").read_text("utf-8"))
    assert held()["x.json"] == held()["y.json"]
