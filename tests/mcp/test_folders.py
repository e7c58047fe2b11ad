"""Nothing outside of the given folders is named, whatever way leads there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pprofdiff.errors import UsageError
from pprofdiff.mcp.folders import Folders
from tests.repository import repository


@pytest.fixture
def place(tmp_path):
    """Return a folder with a sibling, and ways out of it."""
    inside, outside = tmp_path / "in", tmp_path / "in-not"
    for folder in (inside / "runs" / "1", inside / "plain", outside):
        folder.mkdir(parents=True)
        (folder / "cpu.pb.gz").write_bytes(b"x")
    (inside / "way").symlink_to(outside)
    (inside / "runs" / "1" / "heap.pb.gz").symlink_to(outside / "cpu.pb.gz")
    (inside / "back").symlink_to(inside / "plain")
    return inside


WAYS = (
    *("..", "../in-not/cpu.pb.gz", "way", "way/cpu.pb.gz", "runs", "runs/1"),
    *("runs/1/heap.pb.gz", "/etc", "plain/../../in-not", "../in-not/*", "way/*.gz"),
    *("*/../../in-not/*", "runs/*/cpu.pb.gz", "new=/etc/passwd", "@/etc/passwd"),
    *("http://127.0.0.1:6060/debug/pprof/profile", "127.0.0.1:6060", "-", "a\0b"),
    *("file:///etc/*", "zip://**/*.gz::/etc/x.zip", "s3://other/*", "~/x", ""),
    *(
        "s3://kept/api/../../other/x",
        "s3://kept/apis/x",
        "s3://kept/api/x::file:///etc",
    ),
)


@pytest.mark.parametrize("way", [way for way in WAYS if way])
def test_ways_out_are_refused(place, way):
    folders = Folders.of([str(place), "s3://kept/api/"])
    with pytest.raises(UsageError):
        folders.capture(way)


def test_what_is_inside_has_its_real_path(place, monkeypatch):
    monkeypatch.chdir(place.parent)
    folders = Folders.of(["in", "s3://kept/api/"])
    plain = str(place / "plain")
    for way in ("plain", "back", f"{place}/plain/", "plain/../back"):
        assert folders.capture(way) == plain
    assert folders.capture("plain/build=*/**") == f"{plain}/build=*/**"
    assert folders.capture("s3://kept/api/**/*.gz") == "s3://kept/api/**/*.gz"
    assert folders.output("plain/x.html") == f"{plain}/x.html"
    for way in ("way/x.html", "../x.html", "none/x.html", "runs/1/heap.pb.gz"):
        with pytest.raises(UsageError):
            folders.output(way)


def test_a_repository_is_inside_with_its_objects(tmp_path, monkeypatch):
    repo = repository(tmp_path / "whole")
    repo.commit("begin", {"go.mod": "module m\n", "part/x.go": "package part\n"})
    whole, part = repo.folder, repo.folder / "part"
    repo.run("worktree", "add", "-q", str(tmp_path / "tree"))
    assert Folders.of([str(whole)]).repository("part") == str(part)
    both = [str(tmp_path / "tree"), str(whole)]
    assert Folders.of(both).repository(".") == both[0]
    for folder in (part, tmp_path / "tree"):
        with pytest.raises(UsageError):
            Folders.of([str(folder)]).repository(".")


def test_a_link_made_by_a_path_is_no_folder(place):
    """The folders given at start are followed once, there."""
    link = place.parent / "link"
    os.symlink(place, link)
    assert Folders.of([str(link)]).local == (str(place),)
    for wrong in ([], ["s3://kept/api"], [str(place / "none")]):
        with pytest.raises(UsageError):
            Folders.of(wrong)
    assert Path(Folders.of([str(link)]).inside("plain")).parent == place
