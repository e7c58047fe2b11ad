"""What ends a run leaves no unfinished file behind, and ends it as it ends any program."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.serving import answering
from tests.cli.test_whole import ENVIRONMENT, PPROFDIFF
from tests.signals import ended, heard

pytestmark = pytest.mark.slow

# Stops for good where a file that is written would take its place.
STOPS = """
import sys, time
from pprofdiff.cli.main import main

def stop(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith("x.json"):
        print("stopped", flush=True)
        time.sleep(600)

sys.addaudithook(stop)
sys.exit(main())
"""
ENDING = ("SIGTERM", "SIGHUP")


@pytest.fixture
def sides(syncpool):
    return [str(side / "mutex.pb.gz") for side in (syncpool.base, syncpool.new)]


@pytest.fixture
def stopped(sides, tmp_path):
    """Return a function: words before the command in, a run stopped while writing out."""
    started = []

    def start(*before):
        out = tmp_path / "out"
        out.mkdir()
        (out / "x.json").write_text("old")
        process = subprocess.Popen(
            [
                *before,
                sys.executable,
                "-c",
                STOPS,
                *sides,
                "-q",
                f"-o={out / 'x.json'}",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        started.append(process)
        assert process.stdout.readline() == b"stopped\n"
        assert len(list(out.iterdir())) == 2
        return process, out

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        *((name, -signal.Signals[name], b"") for name in ENDING),
        ("SIGINT", 2, b"pprofdiff: interrupted\n"),
    ],
)
def test_a_signal_ends_the_process_and_no_file_stays(stopped, name, status, message):
    with heard(name):
        process, out = stopped()
    _, said = ended(process, name)
    assert (process.returncode, said) == (status, message)
    assert [path.name for path in out.iterdir()] == ["x.json"]
    assert (out / "x.json").read_text() == "old"


def test_what_is_ignored_stays_ignored(stopped):
    process, _ = stopped("nohup")
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    ended(process, "SIGTERM")
    assert process.returncode == -signal.SIGTERM


def test_an_input_that_does_not_come_is_no_reason_to_stay(tmp_path, sides):
    os.mkfifo(tmp_path / "pipe")
    with (
        subprocess.Popen(
            [*PPROFDIFF, str(tmp_path / "pipe"), sides[1]], env=ENVIRONMENT
        ) as process,
        (tmp_path / "pipe").open("wb"),
    ):
        ended(process, "SIGTERM")
    assert process.returncode == -signal.SIGTERM


def test_handlers_are_as_they_were(cli, sides):
    before = [signal.getsignal(signal.Signals[name]) for name in ENDING]
    assert cli(*sides, "-q").status == 0
    assert [signal.getsignal(signal.Signals[name]) for name in ENDING] == before


def test_a_thread_may_run_it(sides):
    from pprofdiff.cli.main import main

    statuses = []
    thread = threading.Thread(target=lambda: statuses.append(main([*sides, "-q"])))
    thread.start()
    thread.join()
    assert statuses == [0]


@pytest.mark.whole
@pytest.mark.slow
def test_half_a_copy_is_none(tmp_path):
    size = 1 << 26
    with answering(*[bytes(1 << 20)] * 64) as host:
        saved = tmp_path / "saved"
        environment = {**ENVIRONMENT, "PPROF_TMPDIR": str(saved)}
        with subprocess.Popen([*PPROFDIFF, host, host], env=environment) as process:
            while not any(path.stat().st_size for path in saved.glob("*")):
                assert process.poll() is None
                time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
    assert process.returncode == -signal.SIGTERM
    assert {path.stat().st_size for path in Path(saved).iterdir()} <= {size}


@pytest.mark.parametrize("words", [["-"], ["@-"], ["-", "--max-size=1TB"]])
def test_input_without_end_is_no_reason_to_stay(sides, words):
    """It is refused at the limit, or the signal ends the reading of it."""
    with subprocess.Popen(
        [*PPROFDIFF, *words, sides[1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        feeding = Thread(target=fed, args=(process.stdin,))
        feeding.start()
        ended(process, "SIGTERM")
        feeding.join()
    assert process.returncode in (-signal.SIGTERM, 2)


def fed(pipe):
    """Write lines of a log until nobody reads them."""
    line = b"2026/01/02 03:04:05 request served in 12 ms\n" * 20_000
    with suppress(OSError):
        while True:
            pipe.write(line)
