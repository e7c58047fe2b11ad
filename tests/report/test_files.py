"""Report files: what a name asks for, and each of them replaced whole or not at all."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import stat
from pathlib import Path

import pytest

from pprofdiff.api import diff
from pprofdiff.errors import FetchError, UsageError
from pprofdiff.report import csv
from pprofdiff.report.files import replace_file, writer_for
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
        UsageError, match=r"\.html, \.md, \.json, \.csv, \.svg, \.png, \.pb\.gz, \.perf"
    ):
        writer_for(path)


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
    data = writer_for(path)(report)
    assert isinstance(data, bytes)
    assert data == writer(report)
    assert data


def test_what_ends_between_two_parts_leaves_what_is_there(tmp_path):
    path = tmp_path / "x.json"
    replace_file(str(path), (part for part in (b"one, ", b"two")))
    assert path.read_bytes() == b"one, two"

    def broken():
        yield b"three"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_file(str(path), broken())
    assert path.read_bytes() == b"one, two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_moves_no_cursor():
    with pytest.raises(UsageError) as caught:
        writer_for("x\x1b[2J\n")
    assert str(caught.value).startswith(r"-o x\x1b[2J\n: ")


def test_what_is_there_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("old")
    path.chmod(0o640)
    replace_file(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    mask = os.umask(0o027)
    try:
        replace_file(str(tmp_path / "x.json"), b"new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_one_also_to_nothing(tmp_path, there):
    if there:
        (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    replace_file(str(tmp_path / "link.json"), b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_one_file_under_two_names_holds_what_came_last(tmp_path, held):
    (tmp_path / "link").symlink_to("real")
    for number, name in enumerate(("real", "real", "link")):
        replace_file(str(tmp_path / name), b"%d" % number)
    assert held() == {"link": b"2", "real": b"2"}
    assert (tmp_path / "link").is_symlink()


def test_what_another_run_left_behind_is_neither_in_the_way_nor_removed(tmp_path, held):
    # The names that a run of the same process id once took, in a container always.
    left = [f"x.json.{os.getpid()}.{number}.tmp" for number in range(3)]
    left.append(f".pprofdiff-{os.getpid()}.tmp")
    for name in left:
        (tmp_path / name).write_text("another one's")
    replace_file(str(tmp_path / "x.json"), b"new")
    assert held() == {"x.json": b"new"} | dict.fromkeys(left, b"another one's")


BAD = [
    "nowhere/x.json",
    "file/x.json",
    "folder.json",
    "x" * 300 + ".json",
    "nul\0.json",
]


@pytest.mark.parametrize("path", BAD)
def test_a_place_that_cannot_be_written_leaves_all_as_it_was(tmp_path, held, path):
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FetchError, match="cannot be written") as caught:
        replace_file(str(tmp_path / path), b"new")
    said = str(caught.value)
    assert said.isprintable()
    assert said.startswith(f"{tmp_path / path}: ".replace("\0", r"\x00"))
    assert held() == {"file": b"kept"}
    assert list((tmp_path / "folder.json").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
def test_a_disk_that_is_full_leaves_what_was_there(tmp_path, held):
    path = tmp_path / "x.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(FetchError, match="cannot be written: File too large"):
            replace_file(str(path), bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert held() == {"x.json": b"old"}


def test_a_name_as_long_as_names_may_be(tmp_path, held):
    name = "x" * 250 + ".json"
    replace_file(str(tmp_path / name), b"new")
    assert held() == {name: b"new"}


def test_a_device_is_written_to():
    replace_file(os.devnull, b"new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_full_device_is_said():
    said = "/dev/full: cannot be written: No space left"
    with pytest.raises(FetchError, match=said):
        replace_file("/dev/full", b"new")


def test_a_pipe_gets_the_bytes(tmp_path):
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as read, os.fdopen(writer, "wb"):
        replace_file(f"/dev/fd/{writer}", b"new")
        assert os.read(read.fileno(), 9) == b"new"


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("view", [[], ["-top"], ["-proto"]], ids=" ".join)
@pytest.mark.parametrize("bad", ["nowhere/x.csv", "full.csv", "folder.json"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_output_is_made_by_itself(cli, syncpool, tmp_path, view, bad, place):
    pair = [p / "mutex.pb.gz" for p in (syncpool.base, syncpool.new)]
    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "x.json").write_text("old")
    good = [tmp_path / "x.json", tmp_path / "y.json"]
    names = [*good[:place], tmp_path / bad, *good[place:]]
    done = cli(*pair, *view, *(f"-o={name}" for name in names))
    assert done.status == 2
    assert re.fullmatch(rf"pprofdiff: \S*{bad}: cannot be written: [^\n]*\n", done.err)
    assert done.out == cli(*pair, *view, *(f"-o={name}" for name in good)).out
    first, second = (name.read_bytes() for name in good)
    assert first == second != b"old"


@pytest.mark.slow
def test_what_fails_is_reported_for_each(cli, data_folder, tmp_path):
    logs = [
        data_folder / "sync-pool-gctrace" / f"{n}-pool.log" for n in ("none", "sync")
    ]
    names = [tmp_path / f"x.{ending}" for ending in ("csv", "json", "pb.gz", "html")]
    rule = "--fail-on=figure:p99_pause_us:1us"
    plainly = cli(*logs, rule)
    done = cli(*logs, rule, *(f"-o={name}" for name in names))
    assert (plainly.status, done.status, done.out) == (1, 2, plainly.out)
    assert [line.partition(",")[0] for line in done.err.splitlines()] == [
        f"pprofdiff: {names[0]}: a .csv has functions",
        f"pprofdiff: {names[2]}: a .pb.gz needs profiles on both sides",
    ]
    assert [name.exists() for name in names] == [False, True, False, True]


def test_a_writer_that_is_broken_takes_no_other_with_it(
    cli, syncpool, tmp_path, monkeypatch
):
    # No request makes a writer fail so; a page without its template does.
    monkeypatch.setattr("pprofdiff.report.html.shell.template", lambda name: 1 / 0)
    monkeypatch.setattr("pprofdiff.report.html.page.template", lambda name: 1 / 0)
    pair = [p / "mutex.pb.gz" for p in (syncpool.base, syncpool.new)]
    done = cli(*pair, f"-o={tmp_path / 'x.html'}", f"-o={tmp_path / 'x.json'}")
    assert (done.status, bool(done.out)) == (2, True)
    assert done.err.startswith("pprofdiff: internal error, ZeroDivisionError: ")
    assert json.loads((tmp_path / "x.json").read_text("utf-8"))
