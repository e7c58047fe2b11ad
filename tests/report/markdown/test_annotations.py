"""Workflow commands for what a gate found, read back as GitHub's runner reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.report.markdown.annotations import commands

TRIPS, SILENT, PASSES = "cum:codec.Compress$:+1%", "cum:nothing:+1%", "group:gc:+90pp"
ESCAPES = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


class Command(NamedTuple):
    """One workflow command, its escapes undone."""

    level: str
    properties: dict[str, str]
    message: str


def read(line):
    """Return the command in a line, by the runner's grammar (ActionCommand.cs)."""
    assert line.isprintable()
    head, data = re.fullmatch(r"::(.*?)::(.*)", line).groups()
    level, _, listed = head.partition(" ")
    properties = dict(pair.split("=", 1) for pair in listed.split(","))
    return Command(
        level, {name: plain(value) for name, value in properties.items()}, plain(data)
    )


def plain(text):
    """Return a text with its escapes undone, each once."""
    return re.sub("%(0D|0A|3A|2C|25)", lambda match: ESCAPES[match[0]], text)


@pytest.fixture
def zstd(data_folder, tmp_path, monkeypatch):
    """Stand in an empty folder of a step; return a pair that gets worse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return [data_folder / "zstd" / side / "cpu.pb.gz" for side in ("new", "base")]


def put(path):
    """Make a file of that name in the working directory."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("package codec\n", "utf-8")


def rules(*texts):
    """Return the words that ask for rules."""
    return [f"--fail-on={text}" for text in texts]


def test_what_trips_is_an_error_and_no_data_a_warning(cli, zstd):
    done = cli(*zstd, "--github-summary", "-q", *rules(TRIPS, SILENT, PASSES))
    assert (done.status, done.err) == (1, "")
    error, warning = map(read, done.out.splitlines())
    assert error.level == "error"
    assert error.properties == {"title": f"pprofdiff {TRIPS}"}
    assert re.fullmatch(
        r"example\.com/workloads/zstd/codec\.Compress [\d.]+ → [\d.]+%, .*"
        r"; limit \+1%",
        error.message,
    )
    assert warning.level == "warning"
    assert warning.message.startswith("no function on either side of cpu matches")


@pytest.mark.slow
def test_next_to_a_report_they_are_no_part_of_it(cli, zstd):
    plainly = cli(*zstd, *rules(TRIPS))
    assert plainly.err == ""
    done = cli(*zstd, "--github-summary", *rules(TRIPS))
    assert (done.status, done.out) == (1, plainly.out)
    assert [read(line).level for line in done.err.splitlines()] == ["error"]


def test_there_are_none_without_a_step(cli, zstd, monkeypatch):
    done = cli(*zstd, "-q", *rules(TRIPS))
    assert (done.out, done.err[:6]) == ("", "fail: ")


@pytest.mark.parametrize(
    ("held", "named"),
    [
        # The profile's file is example.com/workloads/zstd/codec/base.go.
        (["codec/base.go"], "codec/base.go"),
        (["codec/base.go", "base.go", "zstd/codec/base.go"], "zstd/codec/base.go"),
        (["base.go"], "base.go"),
        (["codec/new.go", "x/codec/base.go"], None),
    ],
)
def test_a_function_is_shown_where_it_is(cli, zstd, held, named):
    for path in held:
        put(path)
    done = cli(*zstd, "--github-summary", "-q", *rules(TRIPS))
    (error,) = map(read, done.out.splitlines())
    assert error.properties.get("file") == named
    assert ("line" in error.properties) == (named is not None)
    if named:
        # func Compress(…) of tests/workloads, as this build had it.
        assert error.properties["line"] == "12"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "named"),
    [
        ("module example.com/workloads\n", True),
        ('// ours\nmodule "example.com/workloads/zstd" // x\n', True),
        ("module example.com/workloads/zst\n", False),
        ("module example.com/other\n", False),
        ("\x00\udcff", True),
    ],
)
def test_the_module_says_whose_files_these_are(cli, zstd, module, named):
    put("codec/base.go")
    Path("go.mod").write_bytes(module.encode("utf-8", "surrogateescape"))
    done = cli(*zstd, "--github-summary", "-q", *rules(TRIPS))
    assert ("file" in read(done.out.strip()).properties) is named


def test_the_path_is_from_the_repository(cli, zstd, tmp_path, monkeypatch):
    put("modules/zstd/codec/base.go")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.chdir("modules/zstd")
    done = cli(*zstd, "--github-summary", "-q", *rules(TRIPS))
    assert read(done.out.strip()).properties["file"] == "modules/zstd/codec/base.go"


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("net/http/server.go", "net/http.(*conn).serve"),
        ("/usr/local/go/src/net/http/server.go", "net/http.(*conn).serve"),
        ("github.com/a/b@v1.2.3/server.go", "github.com/a/b.Serve"),
        ("example.com/../server.go", "example.com/app.Serve"),
        ("", "example.com/app.Serve"),
    ],
)
def test_a_file_of_the_same_name_is_not_the_one(zstd, file, function):
    put("server.go")
    ruling = Ruling("cum:x:+1%", "fail", function, "1 → 2 cores", "+1%", file=file)
    (line,) = commands(Verdict("fail", (ruling,)))
    assert "file" not in read(line).properties


HOSTILE = [
    "::error::x",
    "a\r\n::stop-commands::t",
    "%0A",
    "%250A",
    "title=,file=/x",
    "\x1b[2J",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_one_command(cli, zstd, name):
    put(Path(name.replace("/", "_")) / "read.go")
    ruling = Ruling(
        f"cum:{name}:+1%", "fail", name, "1 → 2", "+1%",
        file=f"example.com/{name.replace('/', '_')}/read.go",
    )  # fmt: skip
    (line,) = commands(Verdict("fail", (ruling,)))
    output = read(line)
    shown = ascii(name)[1:-1].replace("\\\\", "\\")
    assert output.properties["title"] == f"pprofdiff cum:{shown}:+1%"
    assert output.message == f"{shown} 1 → 2; limit +1%"
    assert set(output.properties) == {"title", "file"}


@settings(derandomize=True)
@given(st.text(), st.text(), st.text())
def test_any_text_comes_back(rule, what, file):
    ruling = Ruling(rule, "fail", what, "1 → 2", "", file=file)
    (line,) = commands(Verdict("fail", (ruling,)))
    output = read(line)
    assert output.level == "error"
    for text, got in ((rule, output.properties["title"]), (what, output.message)):
        if text.isprintable():
            assert text.strip() in got


def test_a_long_message_is_cut():
    ruling = Ruling("finding:minor", "fail", "", "x" * 100_000, "")
    (line,) = commands(Verdict("fail", (ruling,)))
    assert 3_000 < len(line) < 5_000
