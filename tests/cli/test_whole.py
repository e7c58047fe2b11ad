"""The command line from outside: exit statuses, one-line errors, streams, terminals."""

import gzip
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import threading
from fcntl import ioctl
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from pprofdiff import __version__
from pprofdiff.goruntime.readable import short
from tests.examples import daily
from tests.loaders.profiles.spelling import CANONICAL

ROOT = Path(__file__).parents[2]
PPROFDIFF = [sys.executable, "-W", "error", "-m", "pprofdiff"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


def command(*words, **how):
    """Run the command line in a process of its own, anywhere."""
    how.setdefault("env", ENVIRONMENT)
    return subprocess.run(
        [*PPROFDIFF, *map(str, words)], check=False, capture_output=True, **how
    )


@pytest.fixture
def cpu(syncpool):
    """Return two CPU captures."""
    return syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz"


@pytest.fixture
def here(cpu, tmp_path, monkeypatch):
    """Stand in a folder with base.pb.gz, new.pb.gz, and what is no profile."""
    for path, name in zip(cpu, ("base", "new"), strict=True):
        shutil.copy(path, tmp_path / f"{name}.pb.gz")
    whole = cpu[0].read_bytes()
    files = {
        "cut.pb.gz": whole[: len(whole) // 2],
        "empty.pb.gz": b"",
        "text.txt": b"heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2 [3: 4] @ 0x1 0x2\n",
        "notes.txt": b"hello\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(done):
    """Return the one line of a run that failed, and check that it is one."""
    assert done.status == 2
    assert done.out == ""
    assert re.fullmatch(r"pprofdiff: .+\n", done.err)
    assert "internal error" not in done.err
    return done.err.removeprefix("pprofdiff: ").rstrip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("bose.pb.gz", "new.pb.gz"),
            r"bose\.pb\.gz: no such file; did you mean base\.pb\.gz\?",
        ),
        (("text.txt", "new.pb.gz"), r"text\.txt: .*debug=1"),
        (
            ("cut.pb.gz", "new.pb.gz"),
            r"cut\.pb\.gz: .*(cut off|truncated|incomplete|ends)",
        ),
        (("notes.txt", "new.pb.gz"), r"notes\.txt: .*hello"),
        (("a=cut.pb.gz", "b=new.pb.gz"), r"cut\.pb\.gz: "),
        (("base.pb.gz", "new.pb.gz", "-focus=["), r"focus"),
        (("base.pb.gz", "new.pb.gz", "-explain=["), r"explain"),
        (("base.pb.gz", "new.pb.gz", "-explain=no.such.thing"), r"no\.such\.thing"),
        (("base.pb.gz", "new.pb.gz", "-sample_index=speed"), r"speed.*samples, cpu"),
        (("base.pb.gz", "new.pb.gz", "-o=x.docx"), r"x\.docx.*\.json"),
        (("base.pb.gz", "new.pb.gz", "-o=folder/"), r"folder"),
        (("base.pb.gz", "new.pb.gz", "--max-size=1KB"), r"base\.pb\.gz: .*--max-size"),
        (
            ("base.pb.gz", "new.pb.gz", "-normalize", "--work=1:2"),
            r"-normalize and --work",
        ),
        (("base.pb.gz", "new.pb.gz", "--work=1:1e999"), r"work 1:"),
        (("base.pb.gz", "new.pb.gz", "--seconds=0"), r"seconds"),
        (
            ("ftp://host/profile", "new.pb.gz"),
            r"ftp://host/profile: .*(?:not known|fsspec|resolution)",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_one_line_says_what_is_wrong(cli, here, words, said):
    assert re.search(said, complaint(cli(*words)))


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize(
    ("words", "by_hand"),
    [
        (["-tree", "base.pb.gz", "new.pb.gz"], ["-tree"]),
        (["base.pb.gz", "new.pb.gz", "-raw"], ["-raw"]),
        (["-traces", "--diff-base=base.pb.gz", "new.pb.gz"], ["-traces"]),
        (["-tags", "main=base.pb.gz", "pr=new.pb.gz"], ["-tags"]),
        (
            ["-raw", "-tagroot", "key", "base.pb.gz", "new.pb.gz"],
            ["-raw", "-tagroot=key"],
        ),
        (
            ["-tree", "-focus", "main", "base.pb.gz", "new.pb.gz"],
            ["-tree", "-focus=main"],
        ),
    ],
    ids=" ".join,
)
def test_the_offered_command_does_the_same(cli, here, words, by_hand):
    _, _, offered = complaint(cli(*words)).partition("type: ")
    hand = ["go", "tool", "pprof", *by_hand, "-diff_base=base.pb.gz", "new.pb.gz"]
    assert shlex.split(offered) == hand
    offer, wanted = (
        subprocess.run(w, capture_output=True, text=True, check=False)
        for w in (shlex.split(offered), hand)
    )
    assert offer.stdout
    # pprof has no order for equal edges of -tree: each run draws another one.
    assert sorted(offer.stdout.splitlines()) == sorted(wanted.stdout.splitlines())


def test_help_and_version(cli):
    for word in ("--help", "-h", "-help", "help"):
        assert cli(word) == (0, cli("--help").out, "")
    for word in ("--version", "-V", "-version"):
        assert cli(word) == (0, f"pprofdiff {__version__}\n", "")


@pytest.mark.slow
def test_a_report_is_data_and_nothing_else_is(cli, here):
    done = cli("base.pb.gz", "new.pb.gz")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("base → new")
    quiet = cli("base.pb.gz", "new.pb.gz", "-q", "-o", "x.json")
    assert quiet == (0, "", "")
    assert json.loads(Path("x.json").read_text("utf-8"))["schema"] == "pprofdiff/1"


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(here):
    endings = "json", "csv", "pb.gz", "html", "md", "svg", "png"
    runs = []
    for seed in ("1", "2"):
        words = (f"-o=x.{ending}" for ending in endings)
        env = {**ENVIRONMENT, "PYTHONHASHSEED": seed}
        done = command("base.pb.gz", "new.pb.gz", *words, env=env)
        assert done.returncode == 0
        written = (Path(f"x.{ending}").read_bytes() for ending in endings)
        runs.append([done.stdout, *written])
    assert runs[0] == runs[1]


def test_labels_are_the_words_of_the_tables(cli, here):
    out = cli("main=base.pb.gz", "pr=new.pb.gz").out
    assert out.startswith("main → pr")
    assert re.search(r"^main +base\.pb\.gz", out, re.MULTILINE)
    assert re.search(r" +main +pr +Δ", out)


@pytest.mark.slow
def test_standard_input(here):
    for words in (("-", "new.pb.gz"), ("was=-", "new.pb.gz")):
        done = command(*words, input=Path("base.pb.gz").read_bytes())
        assert (done.returncode, done.stderr) == (0, b"")
    plain = gzip.decompress(Path("new.pb.gz").read_bytes())
    assert command("base.pb.gz", "-", input=plain).returncode == 0
    nothing = command("-", "new.pb.gz", input=b"")
    assert nothing.returncode == 2
    assert re.fullmatch(rb"pprofdiff: standard input: empty.*\n", nothing.stderr)


@pytest.mark.slow
def test_from_another_folder(here, cpu):
    done = command(*cpu, cwd="/")
    assert (done.returncode, done.stderr) == (0, b"")
    assert str(cpu[0]).encode() in done.stdout


@pytest.fixture
def server(here):
    """Serve the folder; return ``127.0.0.1:port``."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_both_sides_from_urls(cli, server, scheme):
    urls = (f"main={scheme}{server}/base.pb.gz", f"pr={scheme}{server}/new.pb.gz")
    done = cli(*urls, "--full")
    assert done.status == 0
    copies = re.findall(r"\(copy: (.+?)\)", done.out)
    assert [Path(p).read_bytes() for p in copies] == [
        Path(f"{n}.pb.gz").read_bytes() for n in ("base", "new")
    ]
    assert all(path in done.err for path in copies)
    assert done.out.startswith("main → pr")


def test_one_url_twice_is_two_copies(cli, server):
    done = cli(
        f"-diff_base={server}/base.pb.gz",
        f"-diff_base={server}/base.pb.gz",
        f"{server}/base.pb.gz",
        "-o=x.json",
        "--full",
    )
    assert done.status == 0
    saved = re.findall(r"^Saved (.+)$", done.err, re.MULTILINE)
    assert len(set(saved)) == 3
    assert sorted(re.findall(r"\(copy: (.+?)\)", done.out)) == sorted(saved)
    inputs = json.loads(Path("x.json").read_text("utf-8"))["inputs"]
    got = [entry["saved_to"] for side in ("base", "new") for entry in inputs[side]]
    assert sorted(got) == sorted(saved)


@pytest.mark.slow
def test_local_files_have_no_copies(cli, here, server):
    done = cli("base.pb.gz", f"{server}/new.pb.gz", "-o=x.json", "--full")
    (copy,) = re.findall(r"\(copy: (.+?)\)", done.out)
    inputs = json.loads(Path("x.json").read_text("utf-8"))["inputs"]
    assert [inputs[s][0]["saved_to"] for s in ("base", "new")] == [None, copy]


def test_a_fetched_diff_is_one_copy_on_both_sides(cli, server):
    assert cli("base.pb.gz", "new.pb.gz", "-q", "-o=both.pb.gz").status == 0
    done = cli(f"{server}/both.pb.gz", "--full")
    assert done.status == 0
    (saved,) = re.findall(r"^Saved (.+)$", done.err, re.MULTILINE)
    assert re.findall(r"\(copy: (.+?)\)", done.out) == [saved, saved]


def test_an_output_survives_a_run_that_fails(cli, here):
    for name in ("x.json", "x.csv", "x.pb.gz"):
        Path(name).write_text("kept")
    for words in (
        ("base.pb.gz", "cut.pb.gz", "-o=x.json"),
        ("base.pb.gz", "new.pb.gz", "-o=x.json", "-o=x.docx"),
        ("base.pb.gz", "new.pb.gz", "-o=x.csv", "-focus=["),
        ("base.pb.gz", "new.pb.gz", "-o=x.json", "-explain=no.such.thing"),
    ):
        complaint(cli(*words))
        assert {Path(f"x.{end}").read_text() for end in ("json", "csv", "pb.gz")} == {
            "kept"
        }, words
    assert not [
        p for p in here.iterdir() if p.name.startswith(("tmp", ".tmp", ".pprofdiff"))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("color", ["never", "always"])
def test_output_that_cannot_spell_everything(here, color):
    done = command(
        "base.pb.gz",
        "new.pb.gz",
        f"--color={color}",
        env={
            **ENVIRONMENT,
            "PYTHONIOENCODING": "",
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
    )
    assert (done.returncode, done.stderr) == (0, b"")
    drawn = bare(done.stdout.decode("ascii"))
    assert "base > new" in drawn
    assert "\\" not in drawn
    assert re.search(r"^GC  .* \^ \+\d+\.\d+  ", drawn, re.MULTILINE)
    assert re.search(r" ~ -\d+\.\d+  ", drawn, re.MULTILINE)


# Terminals.

NAME = "example.com/x.(*Cache[go.shape.string]).Get"
# Of known work: what moved alike has moved, and is named.
EQUAL = "--work=1:1"
NAMES = [
    NAME,
    "example.com/x.[red]bold[/red]",
    "example.com/x.</script><b>",
    "example.com/x.世界.Größe",
    "example.com/x." + "f" * 10_000,
    "example.com/x.[/x]",
    ":smile:.f",
]


@pytest.fixture
def named(tmp_path):
    """Return two profiles in which functions with awkward names cost 10 s more."""
    words = [
        b"",
        b"samples",
        b"count",
        b"cpu",
        b"nanoseconds",
        *(name.encode() for name in NAMES),
    ]
    head = [
        (1, [(1, 1), (2, 2)]),
        (1, [(1, 3), (2, 4)]),
        (11, [(1, 3), (2, 4)]),
        (12, 10_000_000),
        (10, 10_000_000_000),
    ]
    head += [(6, word) for word in words]
    for i in range(len(NAMES)):
        head += [(5, [(1, i + 1), (2, 5 + i)]), (4, [(1, i + 1), (4, [(1, i + 1)])])]
    paths = []
    for name, count in (("base", 1000), ("new", 2000)):
        samples = [
            (2, [(1, (i + 1,)), (2, (count + i, (count + i) * 10_000_000))])
            for i in range(len(NAMES))
        ]
        paths.append(tmp_path / f"{name}.pb.gz")
        paths[-1].write_bytes(gzip.compress(CANONICAL.write([*head, *samples], None)))
    return paths


def terminal(words, columns=80, **environment):
    """Run the command line on a terminal; return its exit status and what it drew."""
    leader, follower = pty.openpty()
    ioctl(follower, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {k: v for k, v in ENVIRONMENT.items() if k not in ("COLUMNS", "LINES")}
    settings |= {"TERM": "xterm-256color", **environment}
    drawn = bytearray()
    with subprocess.Popen(
        [*PPROFDIFF, *map(str, words)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=settings,
    ) as process:
        os.close(follower)
        try:
            while chunk := os.read(leader, 1 << 16):
                drawn += chunk
        except OSError:  # how Linux says that nobody has the terminal open any more
            pass
    os.close(leader)
    # On a busy machine a line says what is waited for, and is taken away again.
    waited = r"\x1b\[\?25l.*?\x1b\[\?25h\s*\x1b\[1A\x1b\[2K"
    text = re.sub(waited, "", drawn.decode(), flags=re.DOTALL)
    return process.returncode, text.replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["measure", "--help"]])
@pytest.mark.parametrize("columns", daily((40, 60, 80), (60,)))
def test_help_fits_the_terminal_and_says_the_same(cli, words, columns):
    status, drawn = terminal(words, columns)
    assert status == 0
    lines = drawn.splitlines()
    # A word alone may be longer: a flag, and what it takes.
    assert all(len(line) <= columns or len(line.split()) <= 2 for line in lines)
    assert drawn.split() == cli(*words).out.split()
    # A terminal's width may be the width of a part of it.
    assert terminal(words, 200, COLUMNS=str(columns)) == (status, drawn)
    assert terminal(words, 100)[1] == cli(*words).out


def bare(drawn):
    """Return the text without its colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", drawn)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120, 40])
def test_a_terminal_gets_colour_and_lines_that_fit(named, columns):
    status, drawn = terminal(named, columns)
    assert status == 0
    assert "\x1b[" in drawn
    assert "\x1b" not in bare(drawn)
    if columns >= 80:
        # East Asian characters are two columns wide.
        assert (
            max(
                len(line) + sum(c in "世界" for c in line)
                for line in bare(drawn).splitlines()
            )
            <= columns
        )


@pytest.mark.slow
def test_real_reports_fit_a_terminal(cpu):
    status, drawn = terminal(cpu)
    assert status == 0
    lines = bare(drawn).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("…" in line for line in lines)
    # Numbers are whole: the total line shows both totals and the delta.
    total = next(line for line in lines if line.startswith("total"))
    assert re.findall(r"\d+\.\d{2}\b", total) == ["23.39", "25.09", "1.70"]


@pytest.mark.slow
def test_a_narrow_terminal_keeps_the_end_of_names(named):
    _, drawn = terminal([*named, EQUAL, "--full"])
    assert "(*Cache[string]).Get" in bare(drawn)
    assert "[red]bold[/red]" in bare(drawn)
    assert "</script><b>" in bare(drawn)
    assert ":smile:" in bare(drawn)


def test_files_and_pipes_get_names_verbatim(cli, named):
    out = cli(*named, EQUAL, "--full").out
    assert "\x1b" not in out
    for name in map(short, NAMES):
        assert re.search(rf"(^|  ){re.escape(name)}$", out, re.MULTILINE), name[:40]


WIDE = "example.com/" + "世界" * 60 + ".(*T).Größe"


@pytest.fixture
def wide(named):
    """Return the same with a wide name in place of the long one."""
    for path in named:
        held = gzip.decompress(path.read_bytes())
        path.write_bytes(held.replace(*(_field(n) for n in (NAMES[4], WIDE))))
    return named


@pytest.mark.slow
@pytest.mark.parametrize("words", [["-full"], ["-explain=example"]], ids=str)
def test_a_pipe_gets_wide_names_whole(wide, words):
    done = command(*wide, EQUAL, *words, env={**ENVIRONMENT, "FORCE_COLOR": "1"})
    assert (done.returncode, done.stderr) == (0, b"")
    text = bare(done.stdout.decode())
    shown = WIDE.removeprefix("example.com/")
    assert re.search(rf"  {re.escape(shown)}(  .*)?$", text, re.MULTILINE)
    # Sentences may cut a name, tables do not.
    tables = text[text.find("Got slower") if "Got slower" in text else 0 :]
    assert "…" not in tables.replace("pprofdiff …", "")


def _field(name):
    """Return a name as the string table of a profile holds it."""
    return CANONICAL.write([(6, name.encode())], None)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 60])
def test_a_terminal_cuts_wide_names_at_the_front(wide, columns):
    _, drawn = terminal([*wide, EQUAL], columns)
    assert re.search(r"…世?界?.*\.\(\*T\)\.Größe *$", bare(drawn), re.MULTILINE)


@pytest.mark.slow
def test_control_characters_in_a_file_name_stay_off_the_terminal(tmp_path):
    path = tmp_path / "a\x1b]0;owned\x07\nb.pb.gz"
    path.write_bytes(b"")
    status, drawn = terminal([path, path])
    assert status == 2
    assert drawn.startswith("pprofdiff: ")
    assert "\x1b" not in drawn
    assert len(drawn.splitlines()) == 1
