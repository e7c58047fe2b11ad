"""Arguments become inputs: files, folders, pipes and standard input, without a network."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest

from pprofdiff.errors import FetchError, FormatError, UsageError
from pprofdiff.inputs import ReadOptions, read, read_sides
from tests.inputs.conftest import LISTS
from tests.test_imports import imported

PROFILE = b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x03cpu"
GC_LOG = (
    b"gc 1 @0.011s 0%: 0.026+0.65+0.015 ms clock, 0.41+0.24/1.1/0.50+0.25 ms cpu, "
    b"4->4->1 MB, 5 MB goal, 16 P\n"
)
BENCH = b"BenchmarkX-8 \t 100 \t 12 ns/op\n"


def test_a_file_is_handed_on_as_it_is(here):
    packed = gzip.compress(PROFILE)
    (here / "old.pb.gz").write_bytes(packed)
    comparison = read(["main=old.pb.gz"])
    assert (comparison.label, comparison.skipped) == ("main", ())
    (source,) = comparison.inputs
    assert (source.argument, source.label) == ("main=old.pb.gz", "main")
    assert (source.path, source.kind, source.data) == ("old.pb.gz", "profile", packed)
    assert source.saved_to is None
    assert "data" not in repr(source)


def test_a_folder_gives_its_files_by_name_and_says_what_it_left_out(here):
    run = here / "run"
    (run / "deeper").mkdir(parents=True)
    (run / "b.log").write_bytes(GC_LOG)
    (run / "a.pb").write_bytes(PROFILE)
    (run / "c.html").write_bytes(b"<html>")
    (run / "bad.log.gz").write_bytes(b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 9)
    (run / "d").write_bytes(b"")
    (run / ".hidden").write_bytes(PROFILE)
    os.mkfifo(run / "pipe")
    (run / "gone").symlink_to(run / "nowhere")
    (run / "far").symlink_to("x" * 300)
    (run / "linked").symlink_to(run / "a.pb")
    comparison = read(["run"])
    assert [(s.path, s.kind) for s in comparison.inputs] == [
        ("run/a.pb", "profile"),
        ("run/b.log", "gctrace"),
        ("run/linked", "profile"),
    ]
    left_out = {entry.path: entry.reason for entry in comparison.skipped}
    assert {path.removeprefix("run/"): reason for path, reason in left_out.items()} == {
        ".hidden": "run/.hidden: hidden; name it to read it",
        "c.html": left_out["run/c.html"],
        "bad.log.gz": left_out["run/bad.log.gz"],
        "d": "run/d: empty; nothing was written to it",
        "deeper": "run/deeper: a nested folder; name it to read it",
        "far": "run/far: file name too long",
        "gone": "run/gone: not a regular file, or a broken link",
        "pipe": "run/pipe: not a regular file, or a broken link",
    }
    assert "web page" in left_out["run/c.html"]
    assert "damaged" in left_out["run/bad.log.gz"]


def test_a_folder_without_anything_usable_is_an_error(here):
    (here / "run").mkdir()
    with pytest.raises(FormatError, match=r"^run: empty folder$"):
        read(["run"])
    for name in "abcde":
        (here / "run" / name).write_bytes(b"")
    with pytest.raises(FormatError, match=r"^run: nothing .*run/a: empty.*and 2 more"):
        read(["run"])


def test_several_arguments_keep_their_order(here):
    (here / "b").write_bytes(BENCH)
    (here / "a").write_bytes(PROFILE)
    base, new = read_sides(["main=b", "a"], ["a", "b"])
    assert [s.path for s in base.inputs] == ["b", "a"]
    assert [s.path for s in new.inputs] == ["a", "b"]
    assert (base.label, new.label) == ("main", None)


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        ([], ["a"], "no input is given"),
        (["a"], [], "no input is given"),
        (["x=a", "y=a"], ["a"], "two labels, x and y"),
        (["-"], ["-"], "standard input can be read only once"),
        (["a", "-", "l=-"], ["a"], "standard input can be read only once"),
    ],
)
def test_requests_that_contradict_themselves(here, base, new, message):
    (here / "a").write_bytes(PROFILE)
    with pytest.raises(UsageError, match=message):
        read_sides(base, new)


@pytest.mark.parametrize("option", ["seconds", "timeout", "max_size"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_are_positive(option, value):
    with pytest.raises(UsageError, match="must be more than 0"):
        ReadOptions(**{option: value})


def test_the_size_limit_holds_for_files(here):
    (here / "a").write_bytes(PROFILE)
    assert read(["a"], ReadOptions(max_size=len(PROFILE))).inputs
    with pytest.raises(FormatError, match=r"^a: holds more than 12 bytes; raise --max"):
        read(["a"], ReadOptions(max_size=12))


def test_an_endless_file_stops_at_the_limit():
    with pytest.raises(FormatError, match=r"^/dev/zero: holds more than 1 MiB"):
        read(["/dev/zero"], ReadOptions(max_size=1 << 20))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_named(here):
    (here / "a").write_bytes(PROFILE)
    (here / "a").chmod(0)
    with pytest.raises(FetchError, match=r"^a: permission denied$"):
        read(["a"])


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux")
def test_a_file_that_fails_while_it_is_read_is_named():
    # Nothing is mapped at address 0, so its first byte cannot be read.
    with pytest.raises(FetchError, match=r"^/proc/self/mem: input/output error$"):
        read(["/proc/self/mem"])


def test_a_profile_through_a_named_pipe_is_handed_on_as_it_is(here):
    data = gzip.compress(PROFILE) + bytes(300_000)
    os.mkfifo(here / "pipe")
    (here / "file").write_bytes(data)
    with subprocess.Popen(["cp", "file", "pipe"]):
        (source,) = read(["pipe"]).inputs
    assert (source.kind, source.data, source.scanned) == ("profile", data, None)


def test_the_import_is_light():
    loaded = imported(f"import pprofdiff.inputs\n{LISTS}")
    assert "pprofdiff.inputs.recognition" in loaded
    heavy = {"numpy", "urllib.request", "urllib.parse", "http", "ssl", "socket"}
    heavy |= {"concurrent.futures", "threading", "tempfile", "difflib"}
    assert not loaded & heavy
