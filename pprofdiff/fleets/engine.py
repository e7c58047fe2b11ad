"""Run tasks in this process, on local workers, or on a Dask cluster."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from uuid import uuid4

from pprofdiff._version import __version__
from pprofdiff.errors import ClusterError, UsageError
from pprofdiff.inputs.model import silent
from pprofdiff.inputs.places import without_login
from pprofdiff.units import printable
from pprofdiff.unused_memory import give_back

if TYPE_CHECKING:
    from pprofdiff.fleets.partial import Task
    from pprofdiff.fleets.tallies import TallyTask

HERE = 200
"""Up to this many objects are read in this process: workers take longer to start."""

# Seconds to wait for a scheduler to answer, and for workers to appear.
_PATIENCE = 30
# Seconds between checks for workers.
_LOOK = 2
_ANY = "127.0.0.1:0"
# A shorter time mostly reflects how long workers take to start.
_TELLING_S = 5.0
# Dask's defaults for workers that do not fit here. They profile themselves, keep an
# hour of results (0.2 MB per task) and make malloc return each large array at once,
# which costs a third of the time: memory is trimmed after each task instead.
_FOR_WORKERS = {
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}

L = TypeVar("L")
P = TypeVar("P")
T = TypeVar("T", "Task", "TallyTask")


class Where(NamedTuple):
    """Where to read: on a Dask scheduler, given by its address, or "" for none.

    Without one, `workers` local processes read: 0 reads in this process, None starts
    one per CPU for more than `HERE` objects. `progress` gets what is being done.
    """

    scheduler: str = ""
    workers: int | None = None
    progress: Callable[[str], None] = silent


def reduced(
    sides: Sequence[Sequence[T]],
    read: Callable[[T], P],
    join: Callable[[Sequence[P]], P],
    where: Where,
) -> list[P]:
    """Read each side's tasks, at least one, and return what joins them.

    `read` and `join` are sent to workers, so they must be module-level functions.
    Raises ClusterError if workers are unavailable, die or are lost, UsageError if Dask
    is not installed.
    """
    numbers = count()
    numbered = [[(next(numbers), task) for task in tasks] for tasks in sides]
    sizes = {number: len(task.paths) for leaves in numbered for number, task in leaves}
    there = _with_workers(sum(sizes.values()), where)
    progress = Progress(sizes, where.progress)
    if there:
        return _read_there(numbered, read, join, where, progress)

    def counted(leaf: tuple[int, T]) -> P:
        number, task = leaf
        part = read(task)
        progress.ended(number)
        return part

    return [tree(leaves, counted, join) for leaves in numbered]


def tree(tasks: Sequence[L], read: Callable[[L], P], join: Callable[[list[P]], P]) -> P:
    """Read all tasks (at least one) and join the results in pairs.

    Each branch is joined before the next one starts: at most one sum of each size waits
    in memory for its partner.
    """
    if len(tasks) <= 2:
        return join([read(task) for task in tasks])
    half = 1 << ((len(tasks) - 1).bit_length() - 1)
    return join([tree(tasks[:half], read, join), tree(tasks[half:], read, join)])


class Progress:
    """Counts objects as tasks end, each task once, however often it runs."""

    def __init__(self, sizes: dict[int, int], say: Callable[[str], None]) -> None:
        self._sizes = sizes
        self._count = sum(sizes.values())
        self._say = say
        self._ended: set[int] = set()
        self._done = 0
        self._began = monotonic()
        self._report()

    def ended(self, task: int) -> None:
        """Count the objects of a finished task."""
        if task in self._ended:
            return
        self._ended.add(task)
        self._done += self._sizes[task]
        self._report()

    def _report(self) -> None:
        text = f"reading: {self._done:,} of {self._count:,} objects"
        passed = monotonic() - self._began
        left = self._count - self._done
        if passed > _TELLING_S and self._done and left:
            text += f", about {_in_words(passed * left / self._done)} left"
        self._say(text)


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def _with_workers(objects: int, where: Where) -> bool:
    """Return whether workers read; raises UsageError for a scheduler without Dask."""
    few = objects <= HERE if where.workers is None else where.workers == 0
    if few and not where.scheduler:
        return False
    try:
        import dask  # noqa: F401
        import distributed  # noqa: F401
    except ImportError:
        if not where.scheduler:
            return False
        raise UsageError(
            "--scheduler needs Dask: pip install 'pprofdiff[fleet]'"
        ) from None
    return True


def _read_there(
    sides: Sequence[Sequence[tuple[int, T]]],
    read: Callable[[T], P],
    join: Callable[[Sequence[P]], P],
    where: Where,
    progress: Progress,
) -> list[P]:
    """Read on workers; one graph covers all sides."""
    from dask import delayed
    from distributed import CancelledError, KilledWorker

    # Errors are reported once, by an exception.
    quiet = _without_logs("distributed")
    # Users that share a scheduler see only their own tasks.
    topic = f"pprofdiff-{uuid4()}"
    reading = delayed(partial(_read_and_report, read, topic), pure=False)
    joined = delayed(partial(_joined, join), pure=False)
    with quiet, _client(where.scheduler, where.workers) as client:
        client.subscribe_topic(topic, lambda event: progress.ended(event[1]))
        roots = [tree(leaves, lambda leaf: reading(*leaf), joined) for leaves in sides]
        try:
            futures = client.compute(roots)
            _wait(client, futures, where)
            parts: list[P] = client.gather(futures)
        except KilledWorker as error:
            raise ClusterError(
                f"{error.allowed_failures + 1} workers died, one after the other, on "
                "the same objects: give each more memory, install this pprofdiff "
                "there too, or find the object with fewer of them"
            ) from None
        except (CancelledError, OSError):
            name = _shown(where.scheduler)
            raise ClusterError(f"{name}: went away while reading") from None
        except (ImportError, RuntimeError) as error:
            # Raised if a scheduler or worker cannot deserialise tasks.
            name, kind = _shown(where.scheduler), type(error).__name__
            raise ClusterError(
                f"{name}: runs other software than this machine ({kind}): install "
                f"pprofdiff[fleet] {__version__} with the same Dask there"
            ) from error
        return parts


def _wait(client: Any, futures: list[Any], where: Where) -> None:  # noqa: ANN401
    """Wait for futures; raises ClusterError if there is no worker for too long."""
    from distributed import wait

    began = None
    while True:
        try:
            with client.as_current():
                wait(futures, timeout=_LOOK)
        except TimeoutError:
            if client.scheduler_info(n_workers=1)["workers"]:
                began = None
                continue
            began = began or monotonic()
            if monotonic() - began >= _PATIENCE:
                name = _shown(where.scheduler)
                raise ClusterError(
                    f"{name}: no worker for {_PATIENCE} s; start some, where this "
                    "pprofdiff is installed too"
                ) from None
        else:
            return


def _read_and_report(read: Callable[[T], P], topic: str, number: int, task: T) -> P:
    """Read a task's objects on a worker, and notify the client."""
    from distributed import get_worker

    part = read(task)
    get_worker().log_event(topic, number)
    give_back()
    return part


def _joined(join: Callable[[Sequence[P]], P], parts: Sequence[P]) -> P:
    part = join(parts)
    give_back()
    return part


def _shown(scheduler: str) -> str:
    return printable(without_login(scheduler)) if scheduler else "the workers here"


@contextmanager
def _without_logs(library: str) -> Iterator[None]:
    names = [*logging.root.manager.loggerDict]
    loggers = [
        logger
        for name in names
        if name.partition(".")[0] == library
        and not (logger := logging.getLogger(name)).disabled
    ]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger in loggers:
            logger.disabled = False


@contextmanager
def _client(scheduler: str, workers: int | None) -> Iterator[Any]:
    """Yield a client of a scheduler, or of local processes that end with the block."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler:
        try:
            _must_answer(scheduler)
            client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ClusterError(
                f"{_shown(scheduler)}: no Dask scheduler answers there "
                f"({type(error).__name__})"
            ) from None
        with client:
            yield client
        return
    with ExitStack() as stack:
        with _interrupts_for_us_alone(), dask.config.set(_FOR_WORKERS):
            try:
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs=50,
                    # Otherwise both open a port for a web page, one of them a fixed
                    # port.
                    scheduler_kwargs={"dashboard": False, "dashboard_address": _ANY},
                    worker_dashboard_address=_ANY,
                )
            except (OSError, RuntimeError) as error:
                raise ClusterError(
                    f"no worker starts on this machine ({error}): a script has its "
                    'call under if __name__ == "__main__":; workers=0 reads without'
                ) from None
            stack.enter_context(cluster)
        yield stack.enter_context(Client(cluster, set_as_default=False))


def _must_answer(scheduler: str) -> None:
    """Raise OSError or ValueError if no Dask scheduler answers.

    A client would wait forever for a server that says nothing, such as a web server.
    """
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    how = Security().get_connection_args("client")
    raised: list[Exception] = []

    async def ask() -> None:
        comm = await asyncio.wait_for(
            connect(scheduler, timeout=_PATIENCE, **how), _PATIENCE
        )
        comm.abort()

    def asked() -> None:
        try:
            asyncio.run(ask())
        except Exception as error:  # noqa: BLE001 - re-raised after the join
            raised.append(error)

    # A notebook's thread already has a loop; Ctrl-C does not wait for this thread.
    thread = threading.Thread(target=asked, daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Shield threads and processes started in the block from Ctrl-C.

    Terminals send it to all processes, and each worker would print a traceback. Threads
    and processes inherit the signal mask.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    # Starting it unblocks the signal.
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
