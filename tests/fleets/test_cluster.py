"""Real workers in processes of their own: whatever becomes of them, sums are the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from pprofdiff.errors import ClusterError
from pprofdiff.fleets import sides
from pprofdiff.fleets.engine import Where, reduced, tree
from pprofdiff.fleets.partial import combine, read_part
from tests.examples import daily
from tests.fleets import making
from tests.fleets.s3 import free_port
from tests.fleets.test_sums import tables
from tests.signals import heard

distributed = pytest.importorskip("distributed")
# Its sockets and loops are closed by threads that end after the test.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "default::ResourceWarning", "default::pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    making.write(folder, range(24), count=5, samples=1500)
    objects = making.objects_in(folder)
    return [
        making.task(objects.store, objects.paths[start : start + 5])
        for start in range(0, len(objects.paths), 5)
    ]


@pytest.fixture(scope="module")
def expected(tasks):
    return summary(tree(tasks, read_part, combine))


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1",
        dashboard_address=None, silence_logs=50,
    ) as cluster:  # fmt: skip
        yield cluster


def summary(part):
    return tables(part), dict(part.hosts), dict(part.skipped)


def parts_of(sides, read=read_part, **where):
    return reduced(sides, read, combine, Where(**where))


@pytest.mark.parametrize("workers", daily((0, 1, 2), (2,)))
def test_the_number_of_workers_changes_nothing(tasks, expected, workers):
    said = []
    both = parts_of([tasks, tasks[:3]], workers=workers, progress=said.append)
    assert summary(both[0]) == expected
    assert said[0] == "reading: 0 of 135 objects"
    done = [int(text.split()[1]) for text in said]
    # What the last tasks say may come after their results.
    assert done == [*range(0, 5 * len(done), 5)]
    assert 100 < done[-1] <= 135
    assert sum(sums.profiles for sums in both[1].hosts.values()) == 15


@contextmanager
def killing(cluster):
    """Kill a worker while it reads; yield the process ids of those that were."""
    killed = []

    def kill():
        with distributed.Client(cluster, set_as_default=False) as watcher:
            pids = watcher.run(os.getpid)
            while not killed:
                busy = [w for w, keys in watcher.processing().items() if keys]
                if busy:
                    os.kill(pids[busy[0]], signal.SIGKILL)
                    killed.append(pids[busy[0]])
                time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    yield killed
    thread.join()


@pytest.mark.whole
def test_a_worker_that_is_killed_changes_no_number(tasks, expected, cluster):
    scheduler = cluster.scheduler_address
    with killing(cluster) as killed:
        (part,) = parts_of([tasks], scheduler=scheduler)
    assert killed
    assert summary(part) == expected


def die(_task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.whole
def test_a_task_that_kills_every_worker_is_one_line(tasks, cluster):
    with pytest.raises(
        ClusterError, match=r"^4 workers died, one after the other"
    ) as error:
        parts_of([tasks[:1]], die, scheduler=cluster.scheduler_address)
    assert "\n" not in str(error.value)


HOST = ("--host", "127.0.0.1", "--no-dashboard")


@contextmanager
def started(*words, folder=None):
    """Run one of Dask's programs; it is killed in the end."""
    with subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.whole  # it waits for workers that do not come
@pytest.mark.slow
@pytest.mark.parametrize(
    ("dies", "said"),
    [("scheduler", "went away while reading"), ("worker", "no worker for 8 s; start")],
)
def test_a_cluster_that_goes_away_is_one_line(tasks, capfd, monkeypatch, dies, said):
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    monkeypatch.setattr("pprofdiff.fleets.engine._PATIENCE", 8)
    with (
        started("scheduler", *HOST, "--port", str(port)) as scheduler,
        started("worker", address, *HOST, "--nthreads", "1", "--no-nanny") as worker,
    ):
        with distributed.Client(address, set_as_default=False, timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
        victim = {"scheduler": scheduler, "worker": worker}[dies].pid

        def kill(_task):
            """End it while a task is read, which is sent as it is: nested."""
            os.kill(victim, signal.SIGKILL)
            time.sleep(600)

        with pytest.raises(ClusterError, match=rf"^{address}: {said}") as error:
            parts_of([tasks], kill, scheduler=address)
        assert "\n" not in str(error.value)
        assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_scheduler_without_this_package_is_one_line(tasks, tmp_path):
    (tmp_path / "pprofdiff.py").write_text("raise ModuleNotFoundError('pprofdiff')")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    # Its folder comes first among those that Python looks in.
    with (
        started("scheduler", *HOST, "--port", str(port), folder=tmp_path),
        pytest.raises(ClusterError, match=f"^{address}: runs other software") as error,
    ):
        parts_of([tasks], scheduler=address)
    assert "\n" not in str(error.value)


PROGRAM = """
import distributed, sys, time
from pprofdiff.cli.main import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_ends_workers_too(tasks, tmp_path):
    folder = os.path.dirname(os.path.dirname(tasks[0].paths[0]))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n")
    words = [f"{folder}/**/*.gz"] * 2
    with heard("SIGINT"), subprocess.Popen(
        [sys.executable, program, *words], text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        # 240 objects: workers of this machine are started.
        deadline = time.monotonic() + 300
        while not (children := descendants(process.pid)):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (2, "", "pprofdiff: interrupted\n")
    # What Python has next to workers ends when it sees that nobody is left.
    while any(map(alive, children)):
        assert time.monotonic() < deadline + 300
        time.sleep(0.05)


def descendants(pid):
    got = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    children = [int(line) for line in got.stdout.split()]
    return children + [c for child in children for c in descendants(child)]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.whole
def test_few_objects_start_no_worker(tasks, monkeypatch):
    monkeypatch.setattr("pprofdiff.fleets.engine._read_there", None)
    (part,) = parts_of([tasks])
    assert len(part.hosts) == 24
    assert sides._AT_ONCE * 4 == 200
