"""Standard streams that are closed or full: no traceback, and the verdict stays."""

import json
import os
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.test_whole import ENVIRONMENT, PPROFDIFF

pytestmark = pytest.mark.slow

CLOSED = "pprofdiff: standard output: cannot be written: Bad file descriptor\n"
FULL = "pprofdiff: standard output: cannot be written: No space left on device\n"
PASS, FAIL = "--fail-on=group:alloc:+900%", "--fail-on=group:gc:+0%"


@pytest.fixture
def sides(syncpool):
    """Return two CPU captures; new's costs more GC."""
    return [str(side / "cpu.pb.gz") for side in (syncpool.base, syncpool.new)]


def run(redirected, *words):
    """Run the command line in a shell that redirects its streams."""
    command = f"{shlex.join([*PPROFDIFF, *map(str, words)])} {redirected}"
    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=ENVIRONMENT,
    )
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("redirected", "said"),
    [(">&- <&-", CLOSED), (">/dev/full", FULL), (">&- 2>&-", "")],
)
def test_a_report_that_cannot_be_printed_is_an_error_and_files_are_written(
    sides, tmp_path, redirected, said
):
    path = tmp_path / "x.json"
    assert run(redirected, *sides, PASS, f"-o={path}") == (2, "", said)
    verdict = json.loads(path.read_text("utf-8"))["verdict"]
    assert verdict["outcome"] == "pass"


@pytest.mark.matrix
@pytest.mark.parametrize(
    "words", ["--help", "--version", "-top", "-proto", "-explain=gc", "--color=always"]
)
def test_whatever_would_be_printed_is_an_error(sides, words):
    assert run(">&-", words, *sides) == (2, "", CLOSED)


def test_help_for_a_full_disk_is_an_error():
    assert run(">/dev/full", "--help") == (2, "", FULL)


@pytest.mark.parametrize(
    ("redirected", "rule", "status"),
    [(">&-", PASS, 0), (">&- 2>&- <&-", PASS, 0), (">&- 2>&- <&-", FAIL, 1)],
)
def test_what_prints_nothing_needs_no_standard_output(
    sides, tmp_path, redirected, rule, status
):
    path = tmp_path / "x.json"
    assert run(redirected, *sides, rule, "-q", f"-o={path}")[0] == status
    assert json.loads(path.read_text("utf-8"))["verdict"]["rules"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("redirected", "rule", "status"), [("2>&-", FAIL, 1), ("2>/dev/full", PASS, 0)]
)
def test_messages_that_go_nowhere_change_nothing(sides, redirected, rule, status):
    plainly = run("", *sides, rule)
    assert plainly[0] == status
    assert run(redirected, *sides, rule) == (status, plainly[1], "")
    assert run(redirected, *sides, rule, "-q") == (status, "", "")


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full"])
def test_an_error_that_goes_nowhere_is_one(redirected):
    assert run(redirected, "no-such-file", "x") == (2, "", "")


def test_the_demo_has_its_report_without_messages():
    status, out, _ = run("2>&-", "demo")
    assert status == 0
    assert "GC runs" in out
    assert run(">&-", "demo")[0] == 2


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_no_file_takes_the_number_of_a_closed_stream(tmp_path, closed):
    # C libraries write to 1 and 2: that must not land in an input or output. A pipe is
    # an input that stays open until its writers are gone.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    words = shlex.join([*PPROFDIFF, str(pipe), str(pipe), "-q"])
    with subprocess.Popen(
        ["sh", "-c", f"exec {words} {closed}"], env=ENVIRONMENT
    ) as process:
        folder = Path(f"/proc/{process.pid}/fd")
        numbers = {}
        while process.poll() is None and str(pipe) not in numbers.values():
            with suppress(FileNotFoundError):
                numbers = {int(n.name): os.readlink(n) for n in folder.iterdir()}
        os.write(writer, b"no profile")
        process.kill()
        os.close(writer)
    assert {0, 1, 2} <= set(numbers)
    assert min(n for n, path in numbers.items() if path == str(pipe)) > 2


@pytest.mark.parametrize(("rule", "status"), [(PASS, 0), (FAIL, 1)])
def test_a_reader_that_leaves_does_not_change_the_verdict(sides, rule, status):
    with subprocess.Popen(
        [*PPROFDIFF, *sides, rule],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (status, b"")
