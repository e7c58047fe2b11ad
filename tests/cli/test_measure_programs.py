"""``pprofdiff measure --cmd``: programs that end, and servers under load."""

import json
import re
import socket
import subprocess
import sys

import pytest

from pprofdiff import load
from tests.cli.serving import answering
from tests.examples import daily
from tests.measure.shop import FILES, SLOWER, state
from tests.repository import repository

pytestmark = pytest.mark.go

REPLAY = """package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"

	"example.com/shop/store"
)

var sum uint64

func main() {
	if len(os.Args) > 1 && os.Args[1] == "fail" {
		fmt.Fprintln(os.Stderr, "no such log")
		os.Exit(3)
	}
	if len(os.Args) > 1 && os.Args[1] == "nothing" {
		return
	}
	out, err := os.Create(filepath.Join(os.Getenv("PPROFDIFF_OUT"), "cpu.pb.gz"))
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(out)
	for op := range 40_000 {
		sum += store.Price(op)
	}
	pprof.StopCPUProfile()
	out.Close()
	fmt.Println("done")
}
"""
SERVER = """package main

import (
	"fmt"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"time"

	"example.com/shop/store"
)

var sum uint64

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		for i := range 100 {
			fmt.Fprintln(w, store.Price(i))
		}
	})
	// On a busy machine a load may hardly begin while the server is profiled.
	go func() {
		for ; ; time.Sleep(20 * time.Millisecond) {
			for i := range 1000 {
				sum += store.Price(i)
			}
			runtime.GC()
		}
	}()
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
"""
# Asks for some seconds.
LOAD = """
import sys, time, urllib.request
url, seconds = sys.argv[1], float(sys.argv[2])
began, count = time.monotonic(), 0
while time.monotonic() - began < seconds:
    urllib.request.urlopen(url).read()
    count += 1
print("asked", count)
"""


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """Stand in a repository with two programs, whose last commit made them slower."""
    made = repository(tmp_path / "repo")
    programs = {"cmd/replay/main.go": REPLAY, "cmd/served/main.go": SERVER}
    made.commit("begin", FILES | programs | {"load.py": LOAD})
    made.commit("store: price thoroughly", {"store/price.go": SLOWER})
    monkeypatch.chdir(made.folder)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = state(made.folder)
    yield made
    assert state(made.folder) == before
    assert list(temporary.iterdir()) == []


def where(path):
    """Return where functions lie that samples are in, by their names."""
    profile = load(str(path)).data
    names, places = profile.function_names(), profile.locations
    functions = places.line_function[places.line_offsets[:-1]]
    return {
        names[f]: int(a) >> 12 for f, a in zip(functions, places.address, strict=True)
    }


def test_a_program_that_ends(cli, repo, tmp_path):
    out = tmp_path / "runs"
    words = ("--cmd", "replay 'a b'", "--rounds", 2, "-o-runs", out)
    done = cli("measure", *words, "HEAD~1", "HEAD", "--", "./cmd/replay")
    assert done.status == 0
    notes = json.loads((out / "measure.json").read_text("utf-8"))
    assert notes["command"] == ["replay", "a b"]
    for side in ("base", "new"):
        for number in "12":
            names = [p.name for p in (out / side / number).iterdir()]
            assert "cpu.pb.gz" in names
            # What it prints is no evidence.
            assert "output.txt" not in names
    assert "base → new" in done.out
    # Both sides are linked again between rounds, with functions in another order.
    first, second = (where(out / "base" / number / "cpu.pb.gz") for number in "12")
    assert any(first[name] != second[name] for name in first.keys() & second.keys())
    # Each run did the same: what 40 000 prices cost is comparable.
    page = tmp_path / "x.json"
    command = re.search(r"again: pprofdiff (.*)", done.err)[1].split()
    assert cli(*command, "--work=1:1", "-q", "-o", page).status == 0
    assert json.loads(page.read_text("utf-8"))["outcome"]["ratio"] > 2


@pytest.mark.parametrize(
    ("command", "got"),
    [
        ("replay fail", r"base \(HEAD~1, \w{9}\): replay fails: exit status 3: no such log"),
        ("replay nothing", r"base \(HEAD~1, \w{9}\): replay wrote nothing to the folder"),
        ("none", r"none: cannot be started: No such file"),
        ("replay '", r"--cmd: No closing quotation"),
        ("", r"--cmd needs a program"),
    ],
)  # fmt: skip
def test_programs_that_show_nothing(cli, repo, command, got):
    words = ("--rounds", 1, "--cmd", command, "HEAD~1", "HEAD", "--", "./cmd/replay")
    done = cli("measure", *words)
    assert (done.status, done.out) == (2, "")
    assert re.search(got, done.err.splitlines()[-1])


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def served(port, seconds=1.5):
    """Return the words that measure the server."""
    load = f"{sys.executable} load.py http://127.0.0.1:{port}/ {seconds}"
    url = f"http://127.0.0.1:{port}/debug/pprof"
    command = f"served 127.0.0.1:{port}"
    return ("--cmd", command, "--url", url, "--load", load)


def test_a_server_under_load(cli, repo, tmp_path):
    out, port = tmp_path / "runs", free_port()
    words = (*served(port), "--rounds", 1, "--trace", "-o-runs", out)
    done = cli("measure", *words, "HEAD~1", "HEAD", "--", "./cmd/served")
    assert done.status == 0
    for side in ("base", "new"):
        names = sorted(p.name for p in (out / side / "1").iterdir())
        assert {"allocs.pb.gz", "cpu.pb.gz", "gctrace.log"} <= set(names)
        traced = {p.name for p in (out / "trace" / side).iterdir()}
        assert "trace.out" in traced
        assert "cpu.pb.gz" not in traced
    profile = str(out / "new" / "1" / "cpu.pb.gz")
    top = subprocess.run(
        ["go", "tool", "pprof", "-top", profile],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "example.com/shop/store.Price" in top.stdout
    # It is ended: its port is free.
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.whole
def test_a_server_of_somebody_else_is_not_measured(cli, repo):
    with answering() as host:
        words = served(host.rpartition(":")[2])
        done = cli("measure", *words, "HEAD~1", "HEAD", "--", "./cmd/served")
    assert done.status == 2
    assert "something already listens there" in done.err.splitlines()[-1]


@pytest.mark.whole
def test_a_server_that_does_not_start_says_why(cli, repo):
    words = ("--cmd", "served 127.0.0.1:none", *served(free_port())[2:])
    done = cli("measure", *words, "HEAD~1", "HEAD", "--", "./cmd/served")
    assert done.status == 2
    got = done.err.splitlines()[-1]
    assert re.search(r"served fails: exit status 1: listen tcp.*none", got)


@pytest.mark.parametrize("path", daily(("/other", "/"), ("/other",)))
def test_a_wrong_url_is_found_before_the_first_round(cli, repo, tmp_path, path):
    port, out = free_port(), tmp_path / "runs"
    asked = tmp_path / "asked"
    load = f"{sys.executable} -c \"open('{asked}', 'w')\""
    url = f"http://user:SECRET@127.0.0.1:{port}{path}"
    words = ("--cmd", f"served 127.0.0.1:{port}", "--url", f"{url}//", "--load", load)
    words += ("--rounds", 1, "-o-runs", out, "HEAD~1", "HEAD")
    done = cli("measure", *words, "--", "./cmd/served")
    if path == "/":  # a host's profiles are where net/http/pprof has them
        assert asked.exists()
        assert "SECRET" not in (out / "measure.json").read_text("utf-8")
    else:
        got = done.err.splitlines()[-1]
        assert (done.status, asked.exists()) == (2, False)
        assert re.search(
            r"base \(.*\): http://127.*/allocs: is not a profile; --url is", got
        )
    assert "SECRET" not in done.out + done.err


@pytest.mark.whole
def test_a_load_that_fails_says_why(cli, repo):
    words = (*served(free_port())[:4], "--load", f"{sys.executable} none.py")
    done = cli("measure", *words, "HEAD~1", "HEAD", "--", "./cmd/served")
    assert done.status == 2
    assert re.search(r"fails: exit status 2: .*none.py", done.err.splitlines()[-1])


@pytest.mark.parametrize(
    ("words", "got"),
    [
        (("--url", "http://127.0.0.1:1/debug/pprof"), "a server needs all three"),
        (("--cmd", "x", "--load", "y"), "a server needs all three"),
        (("--cmd", "x", "--trace", "-o-runs", "z"), "--trace is not for --cmd"),
        (("--cmd", "x", "--", "-bench=Price"), "no benchmark is run"),
    ],
)
def test_what_contradicts_itself(cli, repo, words, got):
    done = cli("measure", "HEAD~1", "HEAD", *words)
    assert (done.status, got in done.err) == (2, True)
