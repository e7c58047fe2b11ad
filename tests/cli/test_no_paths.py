"""``--no-paths``: nothing that is written names a folder or host of this machine."""

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.inputs.trimpath import without_paths
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.loaders.traces import decode
from pprofdiff.model.profiles.profile import Mapping
from pprofdiff.model.side import Capture, Side
from tests.building import Frame, Place, Sample, built
from tests.cli.serving import answering
from tests.examples import daily

HIDDEN = "sekret"
FORMATS = ("x.json", "x.csv", "x.md", "x.html", "x.pb.gz")
VIEWS = (
    *((), ("--explain=inner.Work",), ("-top",), ("-top", "-files"), ("-top", "-lines")),
    *(("-lines",), ("-files",), ("--joined",), ("-peek=.",)),
    *(("--state=running",), ("-top", "-lines", "--state=running")),
)
PROGRAM = """\
package main

import (
\t"bytes"
\t"os"
\t"runtime/pprof"
\t"runtime/trace"
\t"time"

\t"example.com/app/inner"
)

func create(name string) *os.File {
\tfile, err := os.Create(os.Args[1] + "/" + name)
\tif err != nil {
\t\tpanic(err)
\t}
\treturn file
}

func main() {
\tcpu, events := create("cpu.pb.gz"), create("trace.out")
\tpprof.StartCPUProfile(cpu)
\ttrace.Start(events)
\tfor start := time.Now(); time.Since(start) < 400*time.Millisecond; {
\t\tinner.Work(new(bytes.Buffer))
\t}
\ttrace.Stop()
\tpprof.StopCPUProfile()
\tpprof.Lookup("allocs").WriteTo(create("allocs.pb.gz"), 0)
}
"""
INNER = """\
package inner

import "bytes"

func Work(b *bytes.Buffer) {
\tfor i := range 10000 {
\t\tb.WriteString(string(make([]byte, i%50)))
\t}
}
"""
BENCH = "goos: linux\npkg: _/home/{0}/app\ncpu: fast\nBenchmarkA-2 1 {1} ns/op\n"


@pytest.fixture(scope="module")
def built_here(tmp_path_factory):
    """Return both sides' folders: measured, built and kept under a secret name."""
    place = tmp_path_factory.mktemp("no-paths") / HIDDEN
    (place / "app" / "inner").mkdir(parents=True)
    (place / "app" / "go.mod").write_text("module example.com/app\n\ngo 1.22\n")
    (place / "app" / "main.go").write_text(PROGRAM)
    (place / "app" / "inner" / "inner.go").write_text(INNER)
    binary = place / f"app-{HIDDEN}-folder" / "app"
    subprocess.run(["go", "build", "-o", binary, "."], cwd=place / "app", check=True)
    sides = []
    for side in ("base", "new"):
        folder = place / side
        folder.mkdir()
        done = subprocess.run(
            [binary, folder], env={"GODEBUG": "gctrace=1"}, stderr=-1, check=True
        )
        (folder / "gc.log").write_bytes(done.stderr)
        (folder / "bench.txt").write_text(BENCH.format(HIDDEN, len(side)))
        (folder / "unknown.bin").write_bytes(b"\0\1\2")
        sides.append(folder)
    return sides


def paths(side):
    """Return what the inputs of a side are called in x.json."""
    inputs = json.loads(Path("x.json").read_text("utf-8"))["inputs"]
    return [entry["path"] for entry in inputs[side]]


def leaks(data, word=HIDDEN):
    """Return where a word stands in what was written."""
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    at = data.find(word.encode())
    return data[max(at - 80, 0) : at + 80] if at >= 0 else b""


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize("words", VIEWS, ids=" ".join)
def test_no_view_names_a_folder(cli, built_here, words):
    sides = built_here
    if words[:1] in (("-top",), ("-peek=.",)):
        name = "trace.out" if "--state=running" in words else "cpu.pb.gz"
        sides = [f"-diff_base={sides[0] / name}", sides[1] / name]
    done = cli(*sides, *words, "--no-paths")
    assert done.status == 0, done.err
    assert leaks(f"{done.out}{done.err}".encode()) == b""


@pytest.mark.go
@pytest.mark.parametrize(
    "words", [(), pytest.param(("--state=running",), marks=pytest.mark.whole)]
)
def test_no_file_names_a_folder(cli, built_here, monkeypatch, tmp_path, words):
    monkeypatch.chdir(tmp_path)
    outputs = [word for name in FORMATS for word in ("-o", name)]
    plainly = cli(*built_here, *outputs, "-q", *words)
    assert plainly.status == 0, plainly.err
    # The captures do name it: what is hidden was there.
    shown = {name for name in FORMATS if leaks(Path(name).read_bytes())}
    assert shown == set(FORMATS)
    done = cli(*built_here, *outputs, "-q", "--no-paths", *words)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert {name: leaks(Path(name).read_bytes()) for name in FORMATS} == dict.fromkeys(
        FORMATS, b""
    )


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(("syncpool", "zstd", "unchanged"), ["zstd"]))
def test_captures_kept_under_a_name(cli, data_folder, monkeypatch, tmp_path, story):
    shutil.copytree(data_folder / story, tmp_path / HIDDEN)
    monkeypatch.chdir(tmp_path)
    sides = sorted(path for path in (tmp_path / HIDDEN).iterdir() if path.is_dir())[:2]
    outputs = [word for name in FORMATS for word in ("-o", name)]
    done = cli(*sides, *outputs, "--no-paths", "--fail-on=total:+0%")
    assert done.status in (0, 1), done.err
    written = [Path(name).read_bytes() for name in FORMATS]
    for data in (*written, f"{done.out}{done.err}".encode()):
        assert leaks(data) == b""
        # Where these programs were built.
        assert leaks(data, "/dev/shm") == b""  # noqa: S108 - what may not be there


@pytest.mark.go
def test_files_are_as_trimpath_has_them(cli, built_here, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    cli(*built_here, "-o", "x.json", "-o", "x.pb.gz", "-q", "--no-paths")
    report = json.loads(Path("x.json").read_text("utf-8"))
    cpu = next(c for c in report["comparisons"] if c.get("name") == "cpu")
    files = {row["name"]: row["file"] for row in cpu["functions"]}
    assert files["example.com/app/inner.Work"] == "example.com/app/inner/inner.go"
    assert files["main.main"] == "main/main.go"
    assert files["bytes.(*Buffer).WriteString"] == "bytes/buffer.go"
    names = {Path(entry["path"]).name for entry in report["inputs"]["base"]}
    assert names == {entry["path"] for entry in report["inputs"]["base"]}
    assert {"cpu.pb.gz", "trace.out", "gc.log", "bench.txt"} <= names
    assert all(e["build_id"] for e in report["inputs"]["new"] if e["kind"] == "cpu")
    listed = subprocess.run(
        ["go", "tool", "pprof", "-top", "x.pb.gz"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert listed.startswith("File: app\n")


@pytest.mark.go
def test_frames_of_a_trace_are_so_too(built_here):
    trace = decode((built_here[0] / "trace.out").read_bytes(), "x")
    (run,) = without_paths(Side("base", (Capture("x", "trace", trace),))).captures

    def frames(trace):
        stacks, strings = trace.stacks, trace.strings
        pairs = zip(stacks.function.tolist(), stacks.file.tolist(), strict=True)
        return [(strings[name], strings[file]) for name, file in pairs]

    got = dict(frames(run.content))
    assert got["example.com/app/inner.Work"] == "example.com/app/inner/inner.go"
    of_go = {file for name, file in got.items() if name.startswith("runtime.")}
    assert of_go
    assert all(file.startswith("runtime/") for file in of_go)
    assert any(HIDDEN in file for _, file in frames(trace))
    assert not any(HIDDEN in file for _, file in frames(run.content))
    assert [name for name, _ in frames(trace)] == [
        name for name, _ in frames(run.content)
    ]


def test_inputs_of_one_name_stay_apart(cli, data_folder, tmp_path, monkeypatch):
    cpu = [data_folder / "unchanged" / f"run{i}" / "cpu.pb.gz" for i in (1, 2, 3)]
    words = [f"-diff_base={path}" for path in cpu[:2]]
    monkeypatch.chdir(tmp_path)
    cli(*words, cpu[2], "--no-paths", "-o", "x.json", "-q")
    assert paths("base") == ["cpu.pb.gz", "cpu.pb.gz (2)"]
    assert paths("new") == ["cpu.pb.gz"]


@pytest.mark.slow
def test_a_url_is_its_last_part(cli, data_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PPROF_TMPDIR", str(tmp_path / HIDDEN))
    data = (data_folder / "syncpool" / "base" / "cpu.pb.gz").read_bytes()
    with answering(data) as host:
        base = f"http://me:{HIDDEN}@{host}/{HIDDEN}/cpu?token={HIDDEN}"
        new = f"http://{host}/debug/pprof/profile"
        done = cli(base, new, "--no-paths", "-o", "x.json")
    assert (done.status, done.err) == (0, "")
    written = done.out + Path("x.json").read_text("utf-8")
    assert leaks(written.encode()) == b""
    assert host not in written
    assert (paths("base"), paths("new")) == (["cpu"], ["profile"])
    assert list((tmp_path / HIDDEN).iterdir())


folders = st.sampled_from(
    [
        "/home/{}/",
        "C:\\{}\\x\\",
        "c:/{}/",
        "../{}/",
        "./{}/",
        "~/{}/",
        "/{}//",
        "a/../{}/",
    ]
)
packages = st.sampled_from(
    ["main", "net/http", "example.com/a.b/c%2ed", "_/home/sekret/p"]
)


@pytest.mark.slow
@settings(derandomize=True)
@given(st.lists(st.tuples(folders, packages, st.booleans()), min_size=1, max_size=6))
def test_no_string_is_left(chosen):
    samples = [
        Sample(
            (
                Place(
                    (Frame(f"{package}.(*T).f", f"{folder.format(HIDDEN)}x.go", 3),), i
                ),
            ),
            (1, 1),
            (("file", "label"),) if labelled else (),
        )
        for i, (folder, package, labelled) in enumerate(chosen, 1)
    ]
    profile = built(
        samples,
        mappings=(Mapping(0, 100, 0, f"/opt/{HIDDEN}/app"),),
        comments=(f"taken in /home/{HIDDEN}",),
        doc_url=f"https://{HIDDEN}.example/doc",
    )
    assert HIDDEN.encode() in encode(profile)
    (run,) = without_paths(Side("base", (Capture("x", "profile", profile),))).captures
    assert HIDDEN.encode() not in encode(run.content)
    assert len(run.content) == len(profile)


@pytest.mark.parametrize(
    "file",
    [
        "net/http/server.go",
        "example.com/app@v1.2.3/x.go",
        "<autogenerated>",
        "_cgo_gotypes.go",
        "",
    ],
)
def test_what_names_no_folder_of_a_machine_stays(file):
    profile = built([Sample((Place((Frame("main.f", file, 3),), 1),), (1, 1))])
    (run,) = without_paths(Side("base", (Capture("x", "profile", profile),))).captures
    functions = run.content.functions
    assert [run.content.strings[i] for i in functions.filename.tolist()] == [file]
