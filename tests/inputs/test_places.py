"""What an argument means: an existing path wins, then `label=`, then a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.errors import FetchError, PprofDiffError, UsageError
from pprofdiff.inputs.places import Sort, locate


def means(argument):
    place = locate(argument)
    assert place.argument == argument
    return place.label, place.sort, place.target


def outcome(argument):
    """Return the place, or the error that says why there is none."""
    try:
        return locate(argument)
    except PprofDiffError as error:
        return error


@pytest.mark.parametrize(
    ("argument", "label", "target"),
    [
        ("http://x?y=z", None, "http://x?y=z"),
        ("https://x/debug/pprof/heap", None, "https://x/debug/pprof/heap"),
        ("HTTP://x/p", None, "HTTP://x/p"),
        ("host:6060", None, "http://host:6060"),
        (
            "host:6060/debug/pprof/heap?gc=1",
            None,
            "http://host:6060/debug/pprof/heap?gc=1",
        ),
        ("10.0.0.1:6060/p", None, "http://10.0.0.1:6060/p"),
        ("[::1]:6060/p", None, "http://[::1]:6060/p"),
        ("main=host:6060/p?seconds=5", "main", "http://host:6060/p?seconds=5"),
        ("feature/x=http://h/a=b", "feature/x", "http://h/a=b"),
    ],
)
def test_urls(here, argument, label, target):
    assert means(argument) == (label, Sort.URL, target)


def test_files_folders_and_labels(here):
    (here / "old.pb.gz").touch()
    (here / "runs").mkdir()
    assert means("old.pb.gz") == (None, Sort.FILE, "old.pb.gz")
    assert means("main=old.pb.gz") == ("main", Sort.FILE, "old.pb.gz")
    assert means("feature/x=old.pb.gz") == ("feature/x", Sort.FILE, "old.pb.gz")
    assert means("runs") == (None, Sort.FOLDER, "runs")
    assert means("pr=./runs/") == ("pr", Sort.FOLDER, "./runs/")
    assert means("-") == (None, Sort.STDIN, "-")
    assert means("main=-") == ("main", Sort.STDIN, "-")


def test_an_existing_path_wins_over_label_and_url(here):
    (here / "old.pb.gz").touch()
    (here / "main=old.pb.gz").touch()
    (here / "host:6060").touch()
    assert means("main=old.pb.gz") == (None, Sort.FILE, "main=old.pb.gz")
    assert means("host:6060") == (None, Sort.FILE, "host:6060")


@pytest.mark.parametrize("argument", ["cpu.pb.hz", "main=cpu.pb.hz", "./cpu.pb.hz"])
def test_a_mistyped_name_gets_the_nearest(here, argument):
    (here / "cpu.pb.gz").touch()
    (here / "unrelated.txt").touch()
    with pytest.raises(
        FetchError, match=r"no such file; did you mean \S*cpu\.pb\.gz\?"
    ):
        locate(argument)


def test_a_missing_folder_is_named(here):
    with pytest.raises(FetchError, match=r"^a/b\.pb: no such file, and no folder a$"):
        locate("a/b.pb")


@pytest.mark.parametrize(
    "argument",
    [
        "mem_2023-11-02_03:55:24",
        "nothing",
        "=x",
        "a\0b",
        "x" * 300,
        "host:port",
        "a:b=c",
    ],
)
def test_what_is_neither_file_nor_url_is_not_found(here, argument):
    with pytest.raises(FetchError, match="no such file") as caught:
        locate(argument)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("", "name is empty"),
        ("main=", "no path after the label"),
        ("ftp://x/y", "only http:// and https://"),
        ("file:///etc/passwd", "only http:// and https://"),
        ("https+insecure://x/y", "only http:// and https://"),
    ],
)
def test_what_is_refused(here, argument, message):
    with pytest.raises(UsageError, match=message):
        locate(argument)


@given(st.text(st.sampled_from("ab=:/.?#-[]@1\\\0\n\ud800 é"), max_size=12))
def test_any_argument_is_a_place_or_one_line(argument):
    found = outcome(argument)
    if isinstance(found, PprofDiffError):
        assert str(found).isprintable()
    else:
        assert found.target.endswith(argument.partition("=")[2] or argument)
