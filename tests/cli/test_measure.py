"""``pprofdiff measure``: real repositories, real benchmarks, and what is left of both."""

import gzip
import json
import os
import pty
import re
import resource
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.profile import operations_of
from tests.cli.test_whole import ENVIRONMENT
from tests.examples import daily
from tests.measure.shop import FILES, MODULE, shop, state
from tests.measure.short import PROGRAM, ROUND_S
from tests.repository import STORE, go_env, repository
from tests.signals import heard

pytestmark = pytest.mark.go

SHORT = ("--per-run", "0.1s")
ENDS_S = 300
FOLDERS = ["BenchmarkPrice", "BenchmarkList_one", "BenchmarkList_two"]
FILES_OF_A_RUN = sorted([*FOLDERS, "bench.txt"])
# Price allocates, which is the same in every turn: time changes with other programs.
KEEPING = STORE.replace("price := uint64(item)", "price := *keep(uint64(item))") + (
    "\nvar kept *uint64\n\nfunc keep(n uint64) *uint64 { kept = &n; return kept }\n"
)
TESTING = 'package store\n\nimport "testing"\n\n'


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return the folder for temporary files, which must be empty in the end."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    # Go's own, of the link step, are gone too.
    assert [path.name for path in folder.iterdir()] == []


@pytest.fixture
def repo(tmp_path, monkeypatch, temporary):
    """Stand in a repository whose last commit made a function slower; it stays as it is."""
    made = shop(tmp_path / "repo")
    monkeypatch.chdir(made.folder)
    monkeypatch.setattr("pprofdiff.measure.planning._ROUND_S", ROUND_S)
    # Linking again takes longer than turns: `test_measure_factor.py` has it.
    monkeypatch.setattr("pprofdiff.measure.layouts.toolchain", lambda _: "go1.21")
    return made


def runs(folder):
    """Return when each run began, as (side, number), of `measure.json`."""
    notes = json.loads((folder / "measure.json").read_text("utf-8"))
    got = [
        (run["started"], run["side"], one["number"])
        for one in notes["rounds"]
        for run in one["runs"]
    ]
    assert got == sorted(got)
    return [(side, number) for _, side, number in got]


def test_two_refs_are_measured_in_turns_and_reported(cli, repo, tmp_path):
    before = state(repo.folder)
    out, page = tmp_path / "runs", tmp_path / "x.json"
    words = ("--rounds", 3, "-o-runs", out, "-o", page, "HEAD~1", "HEAD", "--")
    # Iterations by the clock have hardly a sample on a busy machine.
    done = cli("measure", *words, "-benchtime=5000x", "./...")
    assert state(repo.folder) == before
    assert done.status == 0
    # Four times the work a price: no machine hides that.
    report = json.loads(page.read_text("utf-8"))
    assert report["outcome"]["ratio"] > 2
    sources = [one["source"] for one in report["findings"] if one.get("source")]
    # On a busy machine nothing is decided, and no cause need be named.
    assert sources or report["outcome"]["verdict"] == "unknown"
    for source in sources[:1]:
        # A processor may count the cost of a loop on the line behind the one that changed.
        (lines, *_) = source["lines"] + source["near"]
        assert lines["file"] == "store/price.go"
        assert [c["subject"] for c in lines["commits"]] == ["store: price thoroughly"]
    assert [number for _, number in runs(out)] == [1, 1, 2, 2, 3, 3]
    for side in ("base", "new"):
        assert sorted(p.name for p in (out / side).iterdir()) == ["1", "2", "3"]
        for number in "123":
            folder = out / side / number
            assert sorted(p.name for p in folder.iterdir()) == FILES_OF_A_RUN
    notes = json.loads((out / "measure.json").read_text("utf-8"))
    assert [unit["folder"] for unit in notes["benchmarks"]] == FOLDERS
    for side in ("base", "new"):
        counted = [
            found
            for path in (out / side).rglob("bench.txt")
            for found in re.findall(
                r"^(\S+?)(?:-\d+)?\s+(\d+)\t", path.read_text(), re.MULTILINE
            )
        ]
        # Each benchmark has one number of iterations in all turns of a side.
        wanted = {(u["name"], str(u["timed"][side])) for u in notes["benchmarks"]}
        assert set(counted) == wanted
        assert len(counted) == 3 * 3 * notes["turns_a_round"]


@pytest.mark.whole
@pytest.mark.parametrize(
    ("stays", "committed"), daily([(False, True), (True, False)], [(False, True)])
)
def test_trees_show_which_functions_were_renamed(cli, repo, tmp_path, stays, committed):
    """Cost does what Price did: it is Price unless Price still stands in the tree."""
    price, test = (repo.folder / "store" / n for n in ("price.go", "price_test.go"))
    old = price.read_text("utf-8")
    text = old.replace("Price", "Cost")
    if stays:
        text += "\n" + old[old.index("// Price") :]
    called = test.read_text("utf-8").replace("+= Price(", "+= Cost(")
    files = {"store/price.go": text, "store/price_test.go": called}
    if committed:
        repo.commit("store: x", files)
    else:
        repo.write(files)
    before = state(repo.folder)
    words = ("--rounds", 1, "-o", tmp_path / "x.json")
    refs = ("HEAD~1", "HEAD") if committed else ("HEAD",)
    words += (*refs, "--", "-benchtime=20000x", "-bench=Price", "./store")
    done = cli("measure", *words)
    assert (done.status, state(repo.folder)) == (0, before)
    report = json.loads((tmp_path / "x.json").read_text("utf-8"))
    names = {
        row["name"]: row.get("base_name")
        for compared in report["comparisons"]
        for row in compared.get("functions", ())
    }
    before = None if stays else "example.com/shop/store.Price"
    assert names["example.com/shop/store.Cost"] == before


@pytest.mark.whole
def test_the_same_report_again(cli, repo, tmp_path):
    out = tmp_path / "runs"
    options = ("-o", tmp_path / "x.html", "-o", tmp_path / "x.json")
    words = ("measure", *SHORT, "--rounds", 2, "-o-runs", out, *options)
    first = cli(*words, "HEAD~1", "HEAD", "--", "-bench=Price", "./store")
    written = [Path(path).read_bytes() for path in options[1::2]]
    command = re.search(r"again: pprofdiff (.*)", first.err)[1].split()
    assert command[:2] == [f"{out}/base", f"{out}/new"]
    again = cli(*command, *options)
    assert (again.status, again.out) == (first.status, first.out)
    assert [Path(path).read_bytes() for path in options[1::2]] == written


def test_the_working_tree_is_new_and_stays_as_it_is(cli, repo, tmp_path):
    repo.run("reset", "-q", "--hard", "HEAD~1")
    repo.write({"store/half.go": "package store\n"})
    repo.run("stash", "-u", "-q")
    repo.write({"store/price.go": KEEPING, "store/rest.go": "package store\n"})
    repo.run("add", "store/rest.go")
    before = state(repo.folder)
    page = tmp_path / "x.json"
    words = ("--rounds", 2, "-q", "-o", page, "--", "-bench=Price", "./store")
    done = cli("measure", *SHORT, *words)
    assert (done.status, state(repo.folder)) == (0, before)
    assert repo.run("worktree", "list").count("\n") == 1
    report = json.loads(page.read_text("utf-8"))
    sources = [one["source"] for one in report["findings"] if one.get("source")]
    (lines, *_) = next(source["lines"] + source["near"] for source in sources)
    # No commit has it, and none is named.
    assert (lines["file"], lines["commits"]) == ("store/price.go", [])


@pytest.mark.whole
def test_a_gate_trips(cli, repo):
    repo.commit("store: keep it", {"store/price.go": KEEPING})
    words = ("--rounds", 2, "-q", "--fail-on", "bench:allocs/op:+50%", "HEAD~2", "HEAD")
    done = cli("measure", *SHORT, *words, "--", "-bench=Price", "./store")
    assert done.status == 1


@pytest.mark.whole
def test_runs_are_kept_where_a_path_from_here_says(cli, repo, tmp_path):
    words = ("--rounds", 1, "-q", "--trace", "-o-runs", "../kept", "HEAD", "HEAD")
    done = cli("measure", *SHORT, *words, "--", "-bench=Price", "./store")
    assert done.status == 0
    assert re.search(r"again: pprofdiff \.\./kept/base \.\./kept/new", done.err)
    for side in ("base", "new"):
        folder = tmp_path / "kept" / side / "1"
        assert sorted(path.name for path in folder.iterdir()) == [
            "BenchmarkPrice", "bench.txt",
        ]  # fmt: skip
        assert (tmp_path / "kept" / "trace" / side / "trace.out").exists()


@pytest.mark.whole  # four processes a turn
def test_each_gomaxprocs_has_a_process_and_profiles_of_its_own(cli, repo, tmp_path):
    out, page = tmp_path / "runs", tmp_path / "x.json"
    words = ("--rounds", 2, "-o-runs", out, "-o", page, "HEAD~1", "HEAD")
    done = cli("measure", *SHORT, *words, "--", "-bench=Price", "-cpu=1,2", "./store")
    assert done.status == 0
    notes = json.loads((out / "measure.json").read_text("utf-8"))
    names = ["BenchmarkPrice", "BenchmarkPrice-2"]
    assert [(u["name"], u["folder"]) for u in notes["benchmarks"]] == [
        (name, name) for name in names
    ]
    for side in ("base", "new"):
        for number in "12":
            folder = out / side / number
            assert sorted(p.name for p in folder.iterdir()) == [*names, "bench.txt"]
            for name in names:
                profile = decode_file(folder / name / "cpu.pb.gz")
                assert operations_of(profile).name == f"example.com/shop/store {name}"
            text = (folder / "bench.txt").read_text("utf-8")
            counted = Counter(re.findall(r"^(Benchmark\S+)", text, re.MULTILINE))
            assert counted == dict.fromkeys(names, notes["turns_a_round"])
            # The kernel counts the CPU time of a process with one benchmark.
            assert text.count("cpu-ns/op") == 2 * notes["turns_a_round"]
    report = json.loads(page.read_text("utf-8"))
    assert [one["name"] for one in report["outcome"]["units"]] == ["Price", "Price-2"]
    assert min(one["ratio"] for one in report["outcome"]["units"]) > 2


def decode_file(path):
    return decode(gzip.decompress(path.read_bytes()), str(path))


@pytest.mark.whole  # a measurement for one warning
def test_benchmarks_that_were_rewritten_are_named(cli, repo):
    tests = FILES["store/price_test.go"]
    less = tests.replace("sum += Price(i)", "sum += Price(i / 2)")
    assert less != tests
    repo.commit("store: half of it", {"store/price_test.go": less})
    words = ("--rounds", 1, "HEAD~1", "HEAD", "--", "./store")
    done = cli("measure", *SHORT, *words)
    assert done.status == 0
    got = re.findall(r"warning: (.*) is written differently in base and new", done.err)
    assert got == ["BenchmarkPrice"]
    said = "The builds differ: BenchmarkPrice is written differently, so an op may do"
    assert said in " ".join(done.out.split())
    # What is not kept has no place.
    assert re.search(r"^base  base/1[; ]", done.out, re.MULTILINE)


@pytest.mark.whole  # rounds until it is sure: `tests/measure/test_rounds.py` has the rule
def test_a_sure_verdict_ends_it(cli, repo, monkeypatch):
    """It is sure after five rounds: until there are samples enough, more are made."""
    monkeypatch.setattr("pprofdiff.measure.gotest._SAMPLED_S", 1.0)
    words = ("--per-run", "0.15s", "--rounds", 40, "--time", "15m", "-q")
    done = cli("measure", *words, "HEAD~1", "HEAD", "--", "-bench=Price", "./store")
    got = re.search(r"measured (\d+) rounds in .*", done.err)
    assert 5 <= int(got[1]) < 40
    assert got[0].endswith(": the verdict is sure")


@pytest.mark.whole
@pytest.mark.parametrize("more", daily((False, True), (True,)))
def test_traces_are_apart_from_timed_runs(cli, repo, tmp_path, monkeypatch, more):
    """One that waits may explain is made too: on a busy machine time moves like that."""
    monkeypatch.setattr("pprofdiff.measure.session.unexplained", lambda _: more)
    out = tmp_path / "runs"
    words = ("--rounds", 1, "-q", "--trace", "-o-runs", out)
    done = cli("measure", *SHORT, *words, "HEAD~1", "--", "-bench=Price", "./store")
    assert done.status == 0
    for side in ("base", "new"):
        kept = sorted(path.name for path in (out / side).iterdir())
        assert kept == ["1", *(["traced"] if more else [])]
        traced = out / "trace" / side
        assert [path.name for path in traced.iterdir()] == ["trace.out"]
    compared = cli(out / "trace" / "base", out / "trace" / "new")
    assert compared.status == 0


@pytest.mark.whole  # two measurements of many benchmarks
def test_benchmarks_of_unlike_length_and_of_packages_are_one_run(cli, repo, tmp_path):
    """Each process has its own iterations; a run's profiles are added up."""
    slow = FILES["store/price_test.go"].replace(
        "sum += Price(i)", "for range 50 { sum += Price(i) }"
    )
    repo.write({"a/price.go": STORE, "a/price_test.go": slow})
    words = (*SHORT, "--rounds", 1, "-q")
    done = cli("measure", *words, "HEAD", "--", "./...")
    assert done.status == 0
    got = "only new has BenchmarkPrice, BenchmarkList/one, BenchmarkList/two: not meas"
    assert got in done.err
    repo.commit("a", {})
    out, page = tmp_path / "runs", tmp_path / "x.json"
    words = ("--rounds", 1, "-q", "-o-runs", out, "-o", page, "HEAD", "HEAD")
    done = cli("measure", *words, "--", "./...")
    assert done.status == 0
    units = json.loads((out / "measure.json").read_text("utf-8"))["benchmarks"]
    assert [(u["package"][-2:], u["name"]) for u in units] == [
        (package, f"Benchmark{name}")
        for package in ("/a", "re")
        for name in ("Price", "List/one", "List/two")
    ]
    # 50 prices, or one.
    assert units[3]["timed"]["base"] > 5 * units[0]["timed"]["base"]
    assert len({u["folder"] for u in units}) == 6
    report = json.loads(page.read_text("utf-8"))
    functions = {
        row["name"] for one in report["comparisons"] for row in one.get("functions", ())
    }
    assert {"example.com/shop/a.Price", "example.com/shop/store.Price"} <= functions
    assert len(report["outcome"]["units"]) == 6
    assert (out / "base" / "1" / "bench.txt").read_text().count("\npkg: ") >= 2


def started(*words, **how):
    """Start the command line in a process of its own."""
    how.setdefault("env", {**ENVIRONMENT, "TMPDIR": os.environ["TMPDIR"]})
    return subprocess.Popen(
        [*PROGRAM, "measure", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
    )  # fmt: skip


def test_binaries(folder):
    """Return the processes that run a program of a folder: (pid, command line)."""
    running = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if words[0].startswith(os.fsencode(folder)):
                running.append((int(place.name), b" ".join(words).decode()))
    return running


test_binaries.__test__ = False


@pytest.mark.whole
def test_on_a_terminal_there_is_one_line(repo, tmp_path):
    ours, theirs = pty.openpty()
    words = (
        *SHORT,
        "--rounds",
        2,
        "-q",
        "HEAD~1",
        "HEAD",
        "--",
        "-bench=Price",
        "./store",
    )
    # On a dumb terminal nothing moves where the report takes longer than a second.
    process = subprocess.Popen(
        [*PROGRAM, "measure", *map(str, words)], stderr=theirs,
        env={**ENVIRONMENT, "TMPDIR": os.environ["TMPDIR"], "TERM": "dumb"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    with suppress(OSError):  # Linux: the other end is closed
        while part := os.read(ours, 4096):
            said += part
    os.close(ours)
    assert process.wait(ENDS_S) == 0
    text = said.decode()
    for doing in ("building base (HEAD~1, ", "round 1 of 2", "round 2 of 2"):
        assert re.search(rf"(^|\n|\x1b\[K){re.escape(doing)}", text)
    *warnings, last = text.strip().split("\x1b[K")[-1].splitlines()
    assert last.startswith("measured 2 rounds in ")
    # Only what a busy machine is warned of stays above it.
    assert all(line.startswith("pprofdiff: warning: ") for line in warnings)


def after_rounds(process, count):
    """Read what a process says until a round is whole."""
    for line in process.stderr:
        if line.startswith(f"round {count} "):
            return
    pytest.fail("it ended before")


def wait_for_a_run(folder):
    """Return the process that runs a benchmark."""
    deadline = time.monotonic() + ENDS_S
    while time.monotonic() < deadline:
        running = [p for p in test_binaries(folder) if "-test.cpuprofile" in p[1]]
        if running:
            return running[0][0]
        time.sleep(0.01)
    return pytest.fail("nothing ran")


@pytest.mark.whole
def test_an_interrupt_reports_whole_rounds(repo, tmp_path, temporary):
    before = state(repo.folder)
    out = tmp_path / "runs"
    words = (*SHORT, "--rounds", 500, "-o-runs", out, "HEAD~1")
    with heard("SIGINT"):
        process = started(*words, "--", "-bench=Price", "./store")
    after_rounds(process, 2)
    wait_for_a_run(temporary)
    process.send_signal(signal.SIGINT)
    got, said = process.communicate(timeout=ENDS_S)
    assert process.returncode == 0
    assert "interrupted; complete rounds are reported" in said
    assert "base → new" in got
    # Which side begins a round follows the turns before it.
    numbers = [number for _, number in runs(out)]
    whole = len(numbers) // 2
    assert 2 <= whole < 500
    assert numbers == [number for number in range(1, whole + 1) for _ in "bn"]
    for side in ("base", "new"):
        kept = sorted(int(path.name) for path in (out / side).iterdir())
        assert kept == list(range(1, whole + 1))
    assert (state(repo.folder), test_binaries(temporary)) == (before, [])


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_building_leaves_nothing(repo, tmp_path, temporary, name):
    before = state(repo.folder)
    with heard(name):
        process = started("-o-runs", tmp_path / "runs", "HEAD~1", "--", "./store")
    for _ in range(1000):
        # Folders come and go meanwhile, which os.walk does not mind.
        inside = (folder for _, folders, _ in os.walk(temporary) for folder in folders)
        if any(folder.startswith("go-build") for folder in inside):
            break
        time.sleep(0.01)
    process.send_signal(signal.Signals[name])
    _, said = process.communicate(timeout=ENDS_S)
    if name == "SIGINT":
        assert (process.returncode, said.splitlines()[-1]) == (
            2,
            "pprofdiff: interrupted",
        )
    else:
        assert process.returncode == -signal.Signals[name]
    assert (state(repo.folder), (tmp_path / "runs").exists()) == (before, False)
    # Go's own folders, which it removes at its end, are gone too.
    assert list(temporary.iterdir()) == []


@pytest.mark.whole
def test_a_child_that_is_killed_is_an_error(repo, temporary):
    before = state(repo.folder)
    process = started("--per-run", "5s", "HEAD~1", "--", "-bench=Price", "./store")
    os.kill(wait_for_a_run(temporary), signal.SIGKILL)
    _, said = process.communicate(timeout=ENDS_S)
    assert process.returncode == 2
    assert "the benchmarks of example.com/shop/store fail: ended by signal 9" in said
    assert (state(repo.folder), test_binaries(temporary)) == (before, [])


@pytest.mark.whole  # ends as a child does that is killed
def test_a_full_disk_is_an_error(repo, temporary, tmp_path):
    """A process that may write no file longer than 300 bytes stands for a full disk."""
    before = state(repo.folder)
    words = ("--per-run", "5s", "--rounds", 1, "-o-runs", tmp_path / "runs", "HEAD~1")
    process = started(*words, "--", "-bench=Price", "./store")
    resource.prlimit(wait_for_a_run(temporary), resource.RLIMIT_FSIZE, (300, 300))
    _, said = process.communicate(timeout=ENDS_S)
    assert process.returncode == 2
    assert re.search(r"fail: .*|is the disk full", said)
    assert (state(repo.folder), (tmp_path / "runs").exists()) == (before, False)


def bad(cli, *words):
    """Return the last line of what a measurement that is refused says."""
    done = cli("measure", *SHORT, "--rounds", 1, *words)
    assert (done.status, done.out) == (2, "")
    # It costs nobody the time of a measurement.
    assert "measured" not in done.err
    return done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "got"),
    [
        (("nothing",), r"^pprofdiff: measure: there is no commit nothing"),
        (("--", "./none"), r"base \(HEAD~1, \w{9}\): packages cannot be listed .*none"),
        (("--", "-bench=Nothing", "./store"), r"no benchmark of ./store matches -bench=N"),
        (("--", "-bench=(", "./store"), r"fail: .*\("),
        (("--", "-tags"), r"-tags needs a value"),
        (("--", "-count=3"), r"-count is not for pprofdiff measure: --rounds sets"),
        (("--", "."), r"packages cannot be listed .*: no Go files in \.$"),
        (("--", "/etc"), r"/etc: name packages from here"),
        (("HEAD", "HEAD", "--", "./store"), r"3 refs: give BASE and NEW"),
        (("--rounds", "0"), r"--rounds 0: must be 1 or more"),
        (("--time", "soon"), r"-time=soon: must be a time"),
        (("--trace",), r"--trace needs -o-runs DIR"),
        (("--work", "1:1"), r"leave out --work"),
        (("-o-runs", "store"), r"-o-runs store: is not empty"),
        (("--git", "a..b"), r"leave out --git"),
        (("--fail-on", "totl:+5%"), r"--fail-on totl:\+5%: there is no rule totl"),
        (("-o", "x.htm"), r"-o x.htm: the ending says what to write"),
        (("-o", "none/x.md"), r"none/x.md: cannot be written: there is no folder none"),
        (("--focus", "("), r"focus: '\(' is not a Go regular expression"),
        (("--page-url", "x"), r"--page-url x: must be the address"),
    ],
)  # fmt: skip
def test_bad_requests_are_one_line(cli, repo, words, got):
    before = state(repo.folder)
    assert re.search(got, bad(cli, "HEAD~1", *words))
    assert state(repo.folder) == before


def test_outside_of_a_repository(cli, tmp_path, monkeypatch, temporary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "measure: . is not in a git repository" in bad(cli)


def test_without_go(cli, repo, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert bad(cli, "HEAD~1").startswith("pprofdiff: measure: there is no go on PATH")


def test_commits_without_a_module(cli, repo):
    repo.run("rm", "-q", "go.mod")
    repo.run("commit", "-q", "-m", "no module")
    said = bad(cli, "HEAD~1", "HEAD", "--", "./store")
    assert "no module here (measure commits with a go.mod, from its folder)" in said


@pytest.mark.parametrize("side", daily(("base", "new"), ["new"]))
@pytest.mark.parametrize(
    ("path", "text", "got"),
    [
        (
            "store/price.go", "package store\n\nfunc Price(int) uint64 { return 1 + }\n",
            ": store/price.go:3:37: syntax error: unexpected }",
        ),
        (
            "store/price_test.go",
            TESTING + 'func BenchmarkPrice(b *testing.B) { b.Fatal("sold out") }\n',
            "the benchmarks of example.com/shop/store fail: --- FAIL: BenchmarkPrice",
        ),
        (
            "store/price_test.go",
            TESTING + 'func BenchmarkPrice(b *testing.B) { if b.N > 9 { panic("torn") } }\n',
            # Now and then the program exits before it says what the panic was.
            "the benchmarks of example.com/shop/store fail: ",
        ),
        (
            "store/price_test.go",
            TESTING.replace('"testing"', '("runtime"; "testing")')
            + 'func BenchmarkPrice(b *testing.B) { if b.N > 9 { runtime.Goexit() } }\n',
            "the benchmarks of example.com/shop/store fail: a benchmark ended before its",
        ),
        (
            "store/none.go", 'package store\n\nimport _ "example.com/none"\n',
            "store/none.go:3:8: no required module provides package example.com/none",
        ),
    ],
    ids=["syntax", "fatal", "panic", "exit", "requirement"],
)  # fmt: skip
def test_a_side_that_fails_is_named_with_what_it_said(cli, repo, side, path, text, got):
    good = repo.run("rev-parse", "HEAD").strip()
    broken = repo.commit("break it", {path: text})
    before = state(repo.folder)
    refs = (broken, good) if side == "base" else (good, broken)
    done = cli("measure", *SHORT, *refs, "--", "./store")
    assert done.status == 2
    *said, last = done.err.splitlines()
    assert last.startswith(f"pprofdiff: {side} ({broken[:9]}): ")
    assert got in last
    assert any(line.startswith("  ") for line in said)
    assert state(repo.folder) == before


def test_what_does_not_compile_names_the_toolchain_and_offers_another(cli, repo):
    """Where go.mod asks for an older Go, that one is offered."""
    broken = {"store/price.go": "package store\n\nfunc Price(int) uint64 { x }\n"}
    repo.commit("break it", broken | {"go.mod": MODULE.replace("1.24", "1.21")})
    last = bad(cli, "HEAD~1", "HEAD", "--", "./store")
    release = go_env("GOVERSION")
    assert f"does not compile with {release}: store/price.go:3:" in last
    got = "its go.mod says go 1.21: try GOTOOLCHAIN=go1.21.13 pprofdiff measure …"
    assert last.endswith(got)
    minor = release.removeprefix("go").rpartition(".")[0]
    repo.commit("as new", {"go.mod": MODULE.replace("1.24", minor)})
    last = bad(cli, "HEAD~2", "HEAD", "--", "./store")
    assert re.search(r"; take another release with GOTOOLCHAIN=go1\S+ pprofdiff", last)


@pytest.mark.whole
def test_vendored_modules_are_taken(cli, repo):
    """What ``vendor`` has is built, without any network."""
    files = {
        "go.mod": MODULE + "\nrequire example.com/dep v1.0.0\n",
        "vendor/modules.txt": "# example.com/dep v1.0.0\n## explicit; go 1.24\nexample.com/dep\n",
        "vendor/example.com/dep/dep.go": "package dep\n\nfunc Add(a uint64) uint64 { return a + 1 }\n",
        "store/dep.go": 'package store\n\nimport "example.com/dep"\n\nvar Added = dep.Add(1)\n',
    }  # fmt: skip
    repo.commit("vendored", files)
    words = ("-q", "--rounds", 1, "HEAD~1", "HEAD", "--", "-bench=Price", "./store")
    assert cli("measure", *SHORT, *words).status == 0
    repo.run("rm", "-q", "--cached", "-r", "vendor")
    repo.commit("ignored", {".gitignore": "vendor\n"})
    last = bad(cli, "HEAD~2", "HEAD", "--", "./store")
    assert re.search(r"new \(HEAD, \w{9}\): .*example.com/dep", last)


@pytest.mark.whole
def test_a_workspace_of_the_repository_is_each_sides_own(
    cli, repo, tmp_path, monkeypatch
):
    files = {
        "go.work": "go 1.24\n\nuse .\nuse ./dep\n",
        "dep/go.mod": "module example.com/dep\n\ngo 1.24\n",
        "dep/dep.go": "package dep\n\nfunc Add(a uint64) uint64 { return a + 1 }\n",
        "go.mod": MODULE + "\nrequire example.com/dep v1.0.0\n",
        "store/dep.go": 'package store\n\nimport "example.com/dep"\n\nvar Added = dep.Add(1)\n',
    }  # fmt: skip
    repo.commit("work", files)
    repo.commit("work: more", {"dep/dep.go": files["dep/dep.go"] + "// more\n"})
    words = ("-q", "--rounds", 1, "HEAD~1", "HEAD", "--", "-bench=Price", "./store")
    assert cli("measure", *SHORT, *words).status == 0
    # One that belongs to the user alone is not theirs.
    repo.run("rm", "-q", "--cached", "go.work")
    repo.commit("not ours", {".gitignore": "go.work\n"})
    done = cli("measure", *SHORT, *words[:3], "HEAD", "HEAD", "--", "./store")
    assert done.status == 2
    assert "go.work is in .gitignore, or is not committed: base (HEAD, " in done.err


@pytest.mark.whole
def test_unlike_toolchain_lines_are_a_warning(cli, repo, tmp_path):
    repo.commit("go: newer", {"go.mod": MODULE.replace("1.24", "1.25")})
    words = ("-q", "--rounds", 1, "-o-runs", tmp_path / "runs", "HEAD~1", "HEAD")
    done = cli("measure", *SHORT, *words, "--", "-bench=Price", "./store")
    got = "go.mod has go 1.24 in base, 1.25 in new"
    assert (done.status, got in done.err) == (0, True)
    notes = json.loads((tmp_path / "runs" / "measure.json").read_text("utf-8"))
    assert any(got in warning for warning in notes["warnings"])
    assert notes["go_mod"] == {"base": {"go": "1.24"}, "new": {"go": "1.25"}}
    assert notes["toolchains"]["base"].startswith("go1.")


def test_help_names_all_flags(cli):
    from pprofdiff.cli.options import MEASURE_FLAGS

    done = cli("measure", "--help")
    assert (done.status, done.err) == (0, "")
    for flag in MEASURE_FLAGS:
        assert f"  -{flag.name}" in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    assert "pprofdiff measure" in cli("--help").out


def test_a_repository_without_commits(cli, tmp_path, monkeypatch, temporary):
    monkeypatch.chdir(repository(tmp_path / "none").folder)
    assert "the repository has no commit yet" in bad(cli)
