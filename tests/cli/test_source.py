"""Source lines on the command line: listings, findings' changed lines, bad requests."""

import json
import re
import shutil
import subprocess
import sys
from io import StringIO

import pytest

from pprofdiff.cli.options import Options
from pprofdiff.cli.run import run
from pprofdiff.cli.screen import Screen
from pprofdiff.inputs.sources.git import Repository
from pprofdiff.inputs.sources.lookup import sources_at
from tests.repository import Repo, built, git, measured, repository

pytestmark = pytest.mark.go

# A line that only new has: no number of base, then its own.
ADDED = re.compile(r" {6}\d+ \+ (.*)")
PLACE = "store/price.go:17-19"


@pytest.fixture
def words(planted_repo, monkeypatch):
    """Stand in the planted repository, and return what compares its builds."""
    monkeypatch.chdir(planted_repo.repo.folder)
    for name in (
        "GITHUB_SERVER_URL",
        "GITHUB_REPOSITORY",
        "GITHUB_REF",
        "CI_PROJECT_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    return planted_repo.words


def test_the_first_finding_names_its_lines_and_commit(cli, words, planted_repo):
    done = cli(*words)
    assert (done.status, done.err) == (0, "")
    text = " ".join(done.out.split())
    first = text[text.index(" 1. ") : text.index("The rest, ")]
    commit = planted_repo.culprit[:9]
    assert first.startswith(f" 1. store.Price ({PLACE}, {commit}) uses ")
    assert 'Commit: "store: price twice, to be sure".' in first


def test_json_has_lines_and_commits(cli, words, planted_repo, tmp_path):
    cli(*words, "-q", "-o", tmp_path / "x.json")
    first, *_ = json.loads((tmp_path / "x.json").read_text("utf-8"))["findings"]
    (lines,) = first["source"]["lines"]
    assert (lines["file"], lines["start"], lines["end"]) == ("store/price.go", 17, 19)
    assert lines["side"] == "new"
    assert lines["commits"] == [
        {"id": planted_repo.culprit, "subject": "store: price twice, to be sure"}
    ]
    assert first["source"]["unchanged"] == []


def test_the_comment_links_to_the_lines(
    cli, words, planted_repo, tmp_path, monkeypatch
):
    cli(*words, "-q", "-o", tmp_path / "x.md")
    plain = (tmp_path / "x.md").read_text("utf-8")
    assert f"`store.Price` (`{PLACE}`, `{planted_repo.culprit[:9]}`) uses " in plain
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "o/shop")
    cli(*words, "-q", "-o", tmp_path / "x.md")
    linked = (tmp_path / "x.md").read_text("utf-8")
    at = f"https://github.com/o/shop/blob/{planted_repo.refs[1]}/store/price.go"
    assert f"[`17-19`]({at}#L17-L19)" in linked
    commit = planted_repo.culprit
    assert f"[`{commit[:9]}`](https://github.com/o/shop/commit/{commit})" in linked
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")
    cli(*words, "-q", "-o", tmp_path / "x.md")
    pulled = (tmp_path / "x.md").read_text("utf-8")
    # The SHA-256 of store/price.go.
    file = "c8fbadaba682917573eb4da429fd53e7037a32b3dd47d90c1c673872e0f2ce11"
    assert f"(https://github.com/o/shop/pull/7/files#diff-{file}R17-R19)" in pulled


def test_the_page_names_lines_and_commit(cli, words, planted_repo, tmp_path):
    done = cli(*words, "-q", "-o", tmp_path / "x.html")
    assert done.status == 0
    page = (tmp_path / "x.html").read_text("utf-8")
    answer = page[page.index('<div class="answer">') :]
    answer = re.sub("<[^>]*>", "", answer[: answer.index("</div>")])
    assert f"store.Price ({PLACE}, {planted_repo.culprit[:9]}) uses " in answer
    assert "Changed: 17-19" in answer


def test_a_listing_marks_what_changed_and_folds_the_rest(cli, words):
    done = cli(*words, "--list", r"store\.Price$|main\.main$")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [text.strip() for text in ADDED.findall(done.out)] == [
        "for i := range 5_000 * Rounds {",
        "price = price*13 + uint64(i)",
        "}",
    ]
    assert any("⋮ 9 lines" in line for line in lines)
    assert not re.search(r"\d       - ", done.out)
    cum = next(line.split() for line in lines if "price*13" in line)
    # Base has nothing there: a dot; new and delta are one number.
    assert (cum[0], cum[3], cum[5]) == (".", ".", f"+{cum[4]}")


def test_the_work_tree_is_neither_read_nor_touched(
    cli, words, planted_repo, tmp_path, monkeypatch
):
    """Refs are read: whatever the work tree and the index hold, the result is the same."""
    repo = Repo(tmp_path / "repo")
    shutil.copytree(planted_repo.repo.folder, repo.folder)
    monkeypatch.chdir(repo.folder)
    before = cli(*words, "--list", "store")
    price = repo.folder / "store" / "price.go"
    text = price.read_text("utf-8")
    try:
        price.write_text("package nonsense\n", "utf-8")
        (repo.folder / "new.txt").write_text("x", "utf-8")
        status = repo.run("status", "--porcelain=v2")
        index = (repo.folder / ".git" / "index").read_bytes()
        assert cli(*words, "--list", "store") == before
        assert (repo.folder / ".git" / "index").read_bytes() == index
        assert repo.run("status", "--porcelain=v2") == status
        # Without refs the text of today is all there is: it is not the one profiled.
        done = cli(*words[:2], "--list", "store")
        assert "The source found is not what was profiled" in " ".join(done.out.split())
        assert "nonsense" not in done.out
    finally:
        price.write_text(text, "utf-8")
        (repo.folder / "new.txt").unlink()


def test_without_refs_the_text_of_today_is_said_to_be_that(cli, words, planted_repo):
    done = cli(planted_repo.faster, planted_repo.new, "--list", r"store\.Price$")
    assert "The source is today's, for both builds" in done.out
    assert "price*13" in done.out


def test_without_sources_the_numbers_alone(cli, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    done = cli(*words[:2], "--list", r"store\.Price$", "--source", f"{empty}:{empty}")
    assert done.status == 0
    assert "The source was not found.\n" in done.out
    assert "price*13" not in done.out
    # Lines 13 of base and 18 of new, in which a loop's body is.
    numbers = {tuple(line.split()[6:]) for line in done.out.splitlines()}
    assert ("13",) in numbers
    assert ("18",) in numbers


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--git=none..HEAD"], "there is no commit none in the repository"),
        (["--git=HEAD..none"], "there is no commit none in the repository"),
        (["--git=HEAD"], "must be BASE..NEW, the commits of both"),
        (["--git=HEAD...HEAD"], "must be BASE..NEW, the commits of both"),
        (["--git=--all..HEAD"], "'--all' is not a ref"),
        (["--git=HEAD:go.mod..HEAD"], "there is no commit HEAD:go.mod"),
        (["--git=HEAD..HEAD", "--repo=/none"], "/none is not in a git repository"),
        (["--git=HEAD..HEAD", "--source=.:."], "--git and --source exclude each other"),
        (["--repo=."], "--repo goes with --git"),
        (["--source=a:b:c"], "must be BASEDIR:NEWDIR"),
        (["--source=.:none"], "none is not a folder"),
        (["--list=("], "list: '(' is not a Go regular expression"),
        (["--list=nowhere"], "no matches found for regexp: nowhere"),
        (["--list=main", "-top"], "give one"),
        (["--list=main", "--explain=gc"], "give one"),
        (["--list=main", "-nodecount=3"], "not with -list"),
        (["--list=main", "--fail-on=total:+1%"], "leave out -list"),
    ],
)
def test_what_cannot_be_is_one_line(cli, words, flags, says):
    done = cli(*words[:2], *flags)
    assert done.status == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert says in done.err


def test_a_shallow_clone_says_how_to_get_the_rest(cli, words, planted_repo, tmp_path):
    origin = planted_repo.repo.folder.as_uri()
    git(tmp_path, "clone", "-q", "--depth=1", origin, "shallow")
    done = cli(*words, f"--repo={tmp_path / 'shallow'}")
    assert done.status == 2
    assert "the clone is shallow; git fetch --unshallow" in done.err


def test_without_git(words):
    """Where there is no program git, that is said."""
    done = subprocess.run(
        [sys.executable, "-m", "pprofdiff", *words],
        capture_output=True, text=True, check=False, env={"PATH": "/none"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "pprofdiff: --git: git cannot be started: No such file or directory\n"
    )


def test_nothing_that_a_repository_configures_runs(cli, words, planted_repo, tmp_path):
    """External differs, text conversion, monitors, signatures: git starts none."""
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "-q", planted_repo.repo.folder.as_uri(), "clone")
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n", "utf-8")
    program.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.go.command",
        "diff.go.textconv",
        "filter.go.smudge",
        "filter.go.clean",
        "gpg.program",
        "core.sshCommand",
    ):
        git(folder, "config", name, str(program))
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "blame.ignoreRevsFile", "none")
    attributes = folder / ".git" / "info" / "attributes"
    attributes.write_text("*.go diff=go filter=go\n", "utf-8")
    done = cli(*words, f"--repo={folder}")
    assert (done.status, done.err) == (0, "")
    assert PLACE in done.out
    assert planted_repo.culprit[:9] in done.out
    assert not ran.exists()


def test_a_renamed_file_is_one_file(cli, planted_repo, tmp_path, monkeypatch):
    """The lines that moved with it did not change; those that were planted did."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "-q", planted_repo.repo.folder.as_uri(), "clone")
    git(folder, "mv", "store/price.go", "store/prices.go")
    git(folder, "commit", "-q", "-m", "store: rename")
    built(folder, tmp_path / "program")
    measured(tmp_path / "program", tmp_path / "new.pb")
    span = f"{planted_repo.refs[0]}..HEAD"
    flags = [f"--git={span}", f"--repo={folder}"]
    done = cli(planted_repo.base, tmp_path / "new.pb", *flags, "--work=1:1")
    assert "store/prices.go:17-19" in done.out
    assert planted_repo.culprit[:9] in done.out
    done = cli(planted_repo.base, tmp_path / "new.pb", *flags, "--list=Price")
    text = " ".join(done.out.split())
    assert "store.Price in store/prices.go (was store/price.go)" in text
    assert len(ADDED.findall(done.out)) == 3


def test_a_repository_without_commits(cli, words, tmp_path):
    repository(tmp_path / "empty")
    done = cli(*words[:2], "--git=HEAD..HEAD", f"--repo={tmp_path / 'empty'}")
    assert done.status == 2
    assert "there is no commit HEAD in the repository" in done.err


def test_another_repository_has_nothing_of_it(cli, words, tmp_path):
    """Files of the same names, other functions: nothing is said of their lines."""
    repo = repository(tmp_path / "other")
    repo.commit(
        "begin", {"go.mod": "module example.com/shop\n", "main.go": "package main\n"}
    )
    repo.commit("price", {"store/price.go": "package store\n" + "\n" * 40})
    flags = ["--git=HEAD~1..HEAD", f"--repo={repo.folder}", "--work=1:1"]
    done = cli(*words[:2], *flags)
    assert done.status == 0
    assert "Changed:" not in done.out
    assert "No line of" not in done.out
    done = cli(*words[:2], *flags[:2], "--list", r"store\.Price$")
    assert "The source" in done.out
    assert "price*13" not in done.out


def test_the_page_lists_what_moved_most(cli, words, tmp_path):
    cli(*words, "-q", "-o", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text("utf-8")
    section = page[page.index('<section id="source">') :]
    section = section[: section.index("</section>")]
    assert "<summary>store.Price in store/price.go: flat" in section
    added = re.findall(r'<span class="worse">(.*)</span>', section)
    assert [line.split(" + ", 1)[1].strip() for line in added] == [
        "for i := range 5_000 * Rounds {",
        "price = price*13 + uint64(i)",
        "}",
    ]
    assert '<a href="#source">' in page
    cli(*words, "--no-source", "-q", "-o", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text("utf-8")
    assert 'id="source"' not in page
    assert "price*13" not in page
    # What findings say of lines is no source.
    assert PLACE in page


HOSTILE = "</pre></details><script>alert(1)</script> ``` [x](javascript:y) \x1b[31m"


def test_sources_and_commits_are_escaped(cli, words, planted_repo, tmp_path):
    """What a source or a commit says is neither markup nor moves the cursor."""
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "-q", planted_repo.repo.folder.as_uri(), "clone")
    price = folder / "store" / "price.go"
    text = price.read_text("utf-8")
    line = "		price = price*13 + uint64(i)\n"
    price.write_text(text.replace(line, f"{line[:-1]} // {HOSTILE}\n"), "utf-8")
    git(folder, "commit", "-qam", f"store: {HOSTILE}")
    flags = [*words[:2], f"--git={planted_repo.refs[0]}..HEAD", "--work=1:1"]
    flags.append(f"--repo={folder}")
    outputs = [f"-o={tmp_path / name}" for name in ("x.html", "x.md")]
    done = cli(*flags, *outputs, "--full")
    assert done.status == 0
    listed = cli(*flags, "--list=Price")
    for got in (done.out, listed.out):
        assert "alert(1)" in got
        assert "\x1b" not in got
    page = (tmp_path / "x.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "\x1b" not in page
    comment = (tmp_path / "x.md").read_text("utf-8")
    code = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
    assert any("<script>" in span[0] for span in code.finditer(comment))
    plain = code.sub("", comment)
    assert "<script>" not in plain
    assert "[x](javascript:y)" not in plain
    assert "\x1b" not in comment


def test_annotations_stand_on_the_changed_lines(
    cli, words, planted_repo, tmp_path, monkeypatch
):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(planted_repo.repo.folder))
    gate = ["--fail-on=flat:store.Price:+5%", "--github-summary", "-q"]
    done = cli(*words, *gate)
    assert done.status == 1
    (line,) = done.out.splitlines()
    assert line.startswith("::error ")
    assert ",file=store/price.go,line=17,endLine=19::" in line
    # Of a repository that is not the one checked out, the function's own file.
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    done = cli(*words, *gate)
    assert "endLine" not in done.out


def test_refs_that_are_not_the_builds_are_reported(cli, words, planted_repo):
    """The culprit's parent is not what base was built from: its lines stand elsewhere."""
    done = cli(*words[:2], "--git=HEAD..HEAD")
    text = " ".join(done.out.split())
    assert "1 of 4 functions of base do not stand where its profile says" in text
    assert "store.Price in store/price.go:10: nothing is said of their lines" in text
    assert "functions of new do not stand" not in text


def test_refs_that_were_built_are_not_doubted(planted_repo, words):
    """As `measure` has them: what cannot be matched is of another kind."""
    options = Options(
        base=(str(words[0]),), new=(str(words[1]),), git="HEAD..HEAD",
        repo=str(planted_repo.repo.folder),
    )  # fmt: skip
    shown = {}
    repository = Repository(str(planted_repo.repo.folder))
    head = repository.commit("HEAD")
    for known in (False, True):
        screen = Screen(StringIO(), StringIO())
        run(options, screen, sources_at(repository, head, head) if known else None)
        shown[known] = " ".join(screen.out.getvalue().split())
    assert "do not stand where its profile says" in shown[False]
    assert "do not stand where its profile says" not in shown[True]


def test_what_no_finding_names_is_in_a_table(cli, planted_repo, words, tmp_path):
    """Of profiles too short for any finding, only changed lines that moved are reported."""
    flags = [planted_repo.new, planted_repo.new, words[2], "-o", tmp_path / "x.json"]
    done = cli(*flags)
    assert done.status == 0
    report = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert "changed_lines" not in report
    done = cli(*words, "-q", "-o", tmp_path / "x.json")
    report = json.loads((tmp_path / "x.json").read_text("utf-8"))
    (lines,) = report["changed_lines"]
    (got,) = report["findings"][0]["source"]["lines"]
    assert lines == got


def test_without_a_profile_sources_say_nothing(cli, words, data_folder):
    log = data_folder / "syncpool" / "base" / "gctrace.log"
    done = cli(log, log, words[2])
    assert done.status == 0
    assert "there is no profile, whose lines they would be" in " ".join(
        done.out.split()
    )


GENERATED = {
    "go.mod": "module example.com/made\n\ngo 1.24\n",
    "main.go": """package main

// int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
import "C"

import (
	"os"
	"runtime/pprof"
)

func main() {
	out, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(out)
	for i := range 3_000 {
		sum += viaC(i) + grammar(i)
	}
	pprof.StopCPUProfile()
	out.Close()
}

var sum int

//go:noinline
func viaC(i int) int {
	return int(C.work(100_000)) + i
}
""",
    "grammar.y.go": """package main

//go:noinline
func grammar(i int) int {
	s := i
//line grammar.y:3
	for j := range 100_000 {
		s += j * s
	}
	return s
}
""",
    "grammar.y": "a\nb\n\tfor j := range 100_000 { // of the grammar\n\t\ts += j * s\n",
}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="cgo needs a C compiler: gcc")
def test_generated_code_and_cgo(cli, tmp_path, monkeypatch):
    """Of cgo, Go's lines are listed; what ``//line`` says is elsewhere is not."""
    monkeypatch.setenv("CGO_ENABLED", "1")
    monkeypatch.chdir(tmp_path)
    repo = repository(tmp_path / "repo")
    repo.commit("begin", GENERATED)
    built(repo.folder, tmp_path / "program")
    measured(tmp_path / "program", "x.pb")
    flags = ["x.pb", "x.pb", "--git=HEAD..HEAD", f"--repo={repo.folder}"]
    done = cli(*flags, "--list", "main[.](viaC|grammar|_C)")
    assert done.status == 0
    assert "return int(C.work(100_000)) + i" in done.out
    parts = re.split(r"\n\n(?=main[.])", done.out)
    grammar = next(part for part in parts if part.startswith("main.grammar "))
    assert "The source found is not what was profiled." in " ".join(grammar.split())
    assert "of the grammar" not in done.out
    stub = next(part for part in parts if part.startswith("main._Cfunc_work "))
    assert "The source was not found." in stub
    assert "Changed:" not in cli(*flags).out
