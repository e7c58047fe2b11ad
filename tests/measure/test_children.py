"""Programs end with all that they started, and no signal is lost while one starts."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile

import pytest

from pprofdiff.errors import MeasureError
from pprofdiff.measure.children import Program, first_lines, has_ended, run, started

# Steps of 10 ms: on a busy machine a program starts late.
PATIENCE = 12_000
# Starts a program that would go on for long, says which, and ends.
LEAVES = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
"""


# Leaves its session behind, its environment, and the one that started it.
DAEMON = """
import os, subprocess, sys
code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        subprocess.Popen([sys.executable, "-c", code], env={{}}, start_new_session=True)
    os._exit(0)
os.wait()
sys.stdin.read()
{rest}
"""


def program(code, folder):
    return Program([sys.executable, "-c", code], str(folder), dict(os.environ))


def alive(pid):
    """Return whether a process runs; one that waits to be collected does not."""
    with suppress(OSError):
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )
    return False


@pytest.fixture
def out(tmp_path):
    """Return the file that a program prints to."""
    with (tmp_path / "out").open("w+b") as file:
        yield file


@pytest.fixture
def errors(tmp_path):
    """Return the file that a program complains in."""
    with (tmp_path / "errors").open("w+b") as file:
        yield file


def test_what_a_program_left_running_ends_with_it(tmp_path, out, errors):
    assert run(program(LEAVES, tmp_path), out, errors).status == 0
    out.seek(0)
    pid = int(out.read())
    for _ in range(PATIENCE):
        if not alive(pid):
            break
        time.sleep(0.01)
    assert not alive(pid)


def said(file):
    """Wait for a line of a program, and return it."""
    for _ in range(PATIENCE):
        file.seek(0)
        if (line := file.readline()).endswith(b"\n"):
            return line
        time.sleep(0.01)
    raise AssertionError("it says nothing")


LINUX = pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="prctl and /proc are Linux's"
)
SLEEPS = "import time; print(1, flush=True); time.sleep(600)"


@LINUX
@pytest.mark.parametrize("rest", ["", "import time; time.sleep(600)"])
def test_what_left_its_session_ends_with_the_program(tmp_path, out, errors, rest):
    words = [sys.executable, "-c", SLEEPS]
    with ExitStack() as stack:
        # One of another session, and one of ours.
        before = [
            stack.enter_context(Popen(words, stdout=PIPE, start_new_session=new))
            for new in (True, False)
        ]
        with started(program(DAEMON.format(rest=rest), tmp_path), out, errors):
            pid = int(said(out))
            assert alive(pid)
            during = stack.enter_context(Popen(words, stdout=PIPE))
        # It is gone when the block is left, collected too, and nothing else is.
        assert not os.path.exists(f"/proc/{pid}")
        assert [one.poll() for one in (*before, during)] == [None] * 3
        for one in (*before, during):
            one.kill()
    assert is_reaper() == 0


@LINUX
def test_what_a_server_left_is_not_its_loads(tmp_path, out, errors):
    """With two programs, orphans end with the last one."""
    daemon = program(DAEMON.format(rest="import time; time.sleep(600)"), tmp_path)
    with TemporaryFile() as other, started(daemon, out, errors) as server:
        pid = int(said(out))
        assert run(program("", tmp_path), other, other).status == 0
        assert (alive(pid), has_ended(server)) == (True, False)
    assert not os.path.exists(f"/proc/{pid}")


def is_reaper():
    """Return 1 where orphans of this process's descendants become its children."""
    got = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(37, ctypes.byref(got), 0, 0, 0)
    return got.value


def test_status_folder_and_streams(tmp_path, out, errors):
    code = "import os, sys; print(os.getcwd()); sys.stderr.write('e'); sys.exit(7)"
    assert run(program(code, tmp_path), out, errors).status == 7
    assert (tmp_path / "out").read_text().strip() == os.path.realpath(tmp_path)
    assert (tmp_path / "errors").read_text() == "e"


# Takes 0.2 s of CPU itself, and has a child that takes as much.
BURNS = """
import subprocess, sys, time
while time.process_time() < 0.2: pass
code = "import time\\nwhile time.process_time() < 0.2: pass"
sys.exit(subprocess.run([sys.executable, "-c", code]).returncode)
"""


@pytest.mark.slow
def test_the_cpu_time_of_a_program_and_its_children_is_counted(tmp_path, out, errors):
    idle = run(program("import time; time.sleep(0.5)", tmp_path), out, errors)
    busy = run(program(BURNS, tmp_path), out, errors)
    assert (idle.status, busy.status) == (0, 0)
    # Each counts in steps of its own, at most 10 ms; the rest is what starting takes.
    assert busy.cpu_s >= 0.38
    assert idle.cpu_s < busy.cpu_s
    assert min(idle.preempted, busy.preempted) >= 0


def test_a_signal_is_a_negative_status(tmp_path, out, errors):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run(program(code, tmp_path), out, errors).status == -signal.SIGKILL


def test_a_program_that_is_not_there(tmp_path, out, errors):
    with pytest.raises(MeasureError, match="nothing-here: cannot be star"):
        run(Program(["nothing-here"], str(tmp_path), {}), out, errors)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_it_starts_is_handled_then(
    tmp_path, out, errors, name, monkeypatch
):
    """The signal comes between fork and return: the child is known, and ended."""

    class Signalled(BaseException):
        pass

    def handle(*_):
        raise Signalled

    number = signal.Signals[name]
    before = signal.signal(number, handle)
    pids = []

    def record(event, arguments):
        # Raised in the parent, once, before the program is started.
        if event == "subprocess.Popen" and armed:
            armed.clear()
            os.kill(os.getpid(), number)

    armed = [True]
    sys.addaudithook(record)
    leaves = program(LEAVES, tmp_path)
    leaves = leaves._replace(words=[*leaves.words, str(tmp_path)])
    try:
        with (
            out,
            errors,
            pytest.raises(Signalled),
            started(leaves, out, errors) as process,
        ):
            pids.append(process.pid)
    finally:
        signal.signal(number, before)
    assert pids == []
    assert not [
        p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path) in _text(p)
    ]


def _text(path):
    with suppress(OSError):
        return path.read_text(errors="replace")
    return ""


def test_to_ask_whether_it_ended_keeps_its_number(tmp_path, out, errors):
    with started(program("", tmp_path), out, errors) as process:
        while not has_ended(process):
            time.sleep(0.01)
        assert process.returncode is None
        assert Path(f"/proc/{process.pid}").exists()
    assert process.returncode == 0


def test_first_lines_are_printable_and_few():
    said = b"\n\n".join(b"%d\t\x1b[31m" % n for n in range(30))
    got = first_lines(said, b"rest")
    assert len(got) == 10
    assert got[0] == "0   \\x1b[31m"
