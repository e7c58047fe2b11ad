"""Evidence in a folder that cannot be read: it is named, and nothing passes for it."""

import gzip
import json
import re
import shutil
import zlib
from pathlib import Path

import pytest

import pprofdiff
from pprofdiff.errors import FormatError
from tests.cli.test_hostile import SOUND
from tests.cli.test_whole import complaint
from tests.examples import daily

GC_LINE = (
    b"gc 1 @0.011s 0%: 0.026+0.65+0.015 ms clock, 0.41+0.24/1.1/0.50+0.25 ms cpu, "
    b"4->4->1 MB, 5 MB goal, 16 P\n"
)
FORMATS = ("x.json", "x.md", "x.html", "x.csv", "x.pb.gz")


def flipped(data, place):
    """Return data with one byte changed."""
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def broken(whole):
    """Return files, by name, that begin like evidence and are cut or broken.

    `whole` is a large profile. With each stands what is said of it.
    """
    plain = gzip.decompress(whole)
    stray = zlib.compress(plain)
    return {
        "head.pb.gz": (whole[:100], "gzip stream is cut off after 100 bytes"),
        "late.pb.gz": (
            whole[: len(whole) * 3 // 4],
            f"gzip stream is cut off after {len(whole) * 3 // 4} bytes",
        ),
        "sum.pb.gz": (
            flipped(whole, len(whole) - 6),
            "gzip stream is damaged (incorrect data check)",
        ),
        "tail.pb.gz": (
            whole + stray[:50],
            "50 bytes that are not gzip follow its gzip stream",
        ),
        "cut.pb": (plain[: len(plain) // 2], "damaged, or not a pprof profile"),
        "cut-inside.pb.gz": (
            gzip.compress(plain[: len(plain) // 2]),
            "damaged, or not a pprof profile",
        ),
        "trace.out": (
            b"go 1.22 trace\0\0\0",
            "no whole part of this trace can be read",
        ),
        "log.gz": (gzip.compress(GC_LINE * 50)[:-9], "gzip stream is cut off after "),
    }


DAMAGED = tuple(broken(gzip.compress(SOUND)))


@pytest.fixture
def here(syncpool, tmp_path, monkeypatch):
    """Stand next to two folders, each with a CPU profile, a GC log and a foreign file."""
    for name, side in (("b", syncpool.base), ("n", syncpool.new)):
        (tmp_path / name).mkdir()
        for file in ("cpu.pb.gz", "gctrace.log", "metrics.json"):
            shutil.copy(side / file, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spoil(folder, name):
    """Put a broken file into a folder, and return what is said of it."""
    data, said = broken(Path(folder, "cpu.pb.gz").read_bytes())[name]
    Path(folder, name).write_bytes(data)
    return said


def error_line(done):
    """Return the one line on standard error."""
    assert re.fullmatch(r"pprofdiff: [^\n]+\n", done.err)
    return done.err.removeprefix("pprofdiff: ").rstrip()


def report():
    return json.loads(Path("x.json").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("side", daily(("b", "n"), ["b"]))
@pytest.mark.parametrize("name", daily(DAMAGED, [*DAMAGED][::3]))
def test_what_is_whole_is_compared_and_the_damage_is_reported(cli, here, name, side):
    assert cli("b", "n", "-q", "-o=x.json").status == 0
    sound = report()
    said = spoil(side, name)
    done = cli("b", "n", *(f"-o={path}" for path in FORMATS))
    assert done.status == 2
    label = {"b": "base", "n": "new"}[side]
    line = error_line(done)
    assert re.match(rf"{label}: {side}/{re.escape(name)}: damaged[:,] ", line)
    assert said in line
    assert line.count("damaged: damaged") == 0
    assert f"! {line}" in " ".join(done.out.split())
    assert report()["comparisons"] == sound["comparisons"]
    assert report()["inputs"] == sound["inputs"]
    assert {"id": "unread", "text": line} in report()["warnings"]
    assert report()["verdict"] == {"outcome": "none", "rules": []}
    answer, folded = Path("x.md").read_text("utf-8").split("<details>", 1)
    assert "damaged" in answer
    assert "damaged" in folded
    summary = Path("x.html").read_text("utf-8").partition('id="summary"')[2]
    assert "damaged" in summary.partition("</section>")[0]
    written = gzip.decompress(Path("x.pb.gz").read_bytes()).decode("utf-8", "replace")
    assert f"Not read: {line}" in written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "outcome"), [("group:alloc:+900%", "none"), ("group:gc:+0%", "fail")]
)
def test_no_gate_passes(cli, here, rule, outcome):
    sound = cli("b", "n", f"--fail-on={rule}", "-o=x.json", "-q")
    assert sound.status == {"none": 0, "fail": 1}[outcome]
    assert report()["verdict"]["outcome"] == {"none": "pass", "fail": "fail"}[outcome]
    spoil("n", "late.pb.gz")
    done = cli("b", "n", f"--fail-on={rule}", "-o=x.json")
    assert done.status == 2
    assert report()["verdict"]["outcome"] == outcome
    tripped = int(outcome == "fail")
    assert (
        f"Verdict   {outcome}: {tripped} of 1 rule tripped; not all evidence could be read\n"
        in done.out
    )


def test_damage_is_no_change_that_may_be_passed_over(cli, here):
    words = ("b", "b", "--only-if-changed", "-o=x.json")
    assert cli(*words) == (0, "", "")
    assert not Path("x.json").exists()
    spoil("b", "late.pb.gz")
    done = cli(*words)
    assert done.status == 2
    assert done.out
    assert "unread" in {warning["id"] for warning in report()["warnings"]}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_side_with_nothing_whole_is_an_error(cli, here, name):
    said = spoil("n", name)
    for file in ("cpu.pb.gz", "gctrace.log"):
        Path("n", file).unlink()
    line = complaint(cli("b", "n", "-o=x.json"))
    assert f"n/{name}: damaged" in line
    assert said in line
    assert not Path("x.json").exists()


def test_what_keeps_the_rest_from_being_compared_is_reported(cli, here):
    spoil("n", "late.pb.gz")
    Path("n/cpu.pb.gz").unlink()
    Path("b/gctrace.log").unlink()
    done = cli("b", "n")
    assert (done.status, done.out) == (2, "")
    damage, why = done.err.splitlines()
    assert damage.startswith("pprofdiff: new: n/late.pb.gz: damaged: ")
    assert re.match(r"pprofdiff: .*base has cpu; new has gctrace", why)


def test_views_of_pprof_say_it_too(cli, here):
    whole = cli("-top", "-diff_base=b", "n").out
    spoil("n", "late.pb.gz")
    done = cli("-top", "-diff_base=b", "n")
    assert (done.status, done.out) == (2, whole)
    assert error_line(done).startswith("new: n/late.pb.gz: damaged: ")


def test_traces_of_a_state_say_it_too(cli, here, load_story):
    story = load_story("health-check")
    for name, side in (("b", story.base), ("n", story.new)):
        shutil.copy(side / "trace.out", f"{name}/whole.out")
    spoil("n", "trace.out")
    done = cli("--state=running", "b", "n", "-o=x.json")
    assert done.status == 2
    assert error_line(done).startswith("new: n/trace.out: damaged: ")
    assert report()["comparisons"]
    Path("n/whole.out").unlink()
    assert complaint(cli("--state=running", "b", "n")).startswith(
        "new: n/trace.out: damaged: "
    )


@pytest.mark.slow
def test_no_paths_leaves_the_name_alone(cli, here):
    (here / "n").rename(here / "sekret")
    spoil("sekret", "late.pb.gz")
    spoil("sekret", "head.pb.gz")
    done = cli("b", "sekret", "--no-paths", *(f"-o={path}" for path in FORMATS))
    assert done.status == 2
    assert [line.partition("; ")[0] for line in done.err.splitlines()] == [
        "pprofdiff: new: head.pb.gz: damaged: gzip stream is cut off after 100 bytes",
        f"pprofdiff: new: late.pb.gz: damaged: gzip stream is cut off after {Path('sekret/late.pb.gz').stat().st_size} bytes",
    ]
    for path in FORMATS:
        data = Path(path).read_bytes()
        data = gzip.decompress(data) if path.endswith(".gz") else data
        assert b"sekret" not in data
    assert "sekret" not in done.out


def test_many_damaged_files_are_counted(cli, here):
    for i in range(105):
        Path("n", f"x{i:03}.pb.gz").write_bytes(b"\x1f\x8b\x08")
    done = cli("b", "n", "-q")
    assert done.status == 2
    *named, rest = done.err.splitlines()
    assert [line.split(": ")[2] for line in named] == [
        f"n/x00{i}.pb.gz" for i in range(5)
    ]
    assert rest == "pprofdiff: new: 100 more files are damaged or cannot be read"


@pytest.mark.whole
@pytest.mark.slow
def test_many_foreign_files_are_counted(cli, here):
    sound = cli("b", "n")
    for i in range(10_000):
        Path("n", f"x{i:04}.txt").write_bytes(b"hello\n")
    done = cli("b", "n")
    assert (done.status, done.err) == (0, "")
    assert len(done.out.splitlines()) <= len(sound.out.splitlines()) + 2
    said = " ".join(done.out.split())
    assert (
        "new: not used, unknown format: metrics.json, x0000.txt, x0001.txt, "
        "x0002.txt, x0003.txt and 9,996 more" in said
    )


def test_what_is_no_evidence_is_no_damage(cli, here):
    Path("n/program").write_bytes(b"\x7fELF\2\1\1" + bytes(3 << 20))
    Path("n/empty.pb.gz").touch()
    Path("n/old.tar").write_bytes(b"PK\x03\x04" + bytes(3 << 20))
    done = cli("b", "n", "--max-size=1MB")
    assert (done.status, done.err) == (0, "")
    said = " ".join(done.out.split())
    assert "format: empty.pb.gz, metrics.json, old.tar, program" in said


def test_evidence_over_the_limit_is_not_read_and_that_is_reported(cli, here):
    whole = Path("n/gctrace.log").read_bytes()
    Path("n/big.log").write_bytes(whole * (1 + (1 << 20) // len(whole)))
    done = cli("b", "n", "--max-size=1MB", "-o=x.json")
    assert done.status == 2
    assert error_line(done) == (
        "new: n/big.log: holds more than 1 MiB; raise --max-size to read it"
    )
    assert report()["comparisons"]


def test_a_step_of_github_is_annotated(cli, here, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    spoil("n", "late.pb.gz")
    done = cli("b", "n", "-q", "--github-summary")
    assert done.status == 2
    assert done.out.startswith("::error title=pprofdiff::new: n/late.pb.gz: damaged: ")
    assert "damaged" in Path("summary.md").read_text("utf-8")


def test_a_summary_that_cannot_be_read_is_named(cli, here, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here))
    done = cli("b", "n", "-q", "--github-summary")
    assert done.status == 2
    assert done.err == f"pprofdiff: {here}: cannot be read: Is a directory\n"


@pytest.mark.slow
def test_python_has_it_as_well(here):
    assert pprofdiff.compare("b", "n").check("total:+900%")
    spoil("n", "late.pb.gz")
    both = pprofdiff.compare("b", "n")
    (line,) = both.unread
    assert line.startswith("new: n/late.pb.gz: damaged: ")
    assert both.notes == ("base and new: not used, unknown format: metrics.json",)
    verdict = both.check("total:+900%")
    assert not verdict
    assert (verdict.outcome, verdict.unread) == ("none", (line,))
    assert json.loads(both.to_json())["warnings"][0]["text"] == line


@pytest.mark.parametrize("name", ["head.pb.gz", "late.pb.gz"])
def test_one_object_is_never_made_of_a_part_of_a_folder(here, name):
    assert pprofdiff.load("n")
    spoil("n", name)
    with pytest.raises(FormatError, match=rf"n/{name}: .*cut off"):
        pprofdiff.load("n")
