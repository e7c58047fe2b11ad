"""Tasks to parts: in this process, on workers of this machine, or on a cluster."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from pprofdiff._version import __version__
from pprofdiff.errors import ClusterError, UsageError
from pprofdiff.fleets.combine import combine, tree
from pprofdiff.fleets.partial import Part, Task, read_part
from pprofdiff.fleets.progress import Progress
from pprofdiff.inputs.places import without_login
from pprofdiff.units import printable
from pprofdiff.unused_memory import give_back

__all__ = ["HERE", "Where", "parts_of", "reduced"]

HERE = 200
"""Up to so many objects are read in this process: workers take longer to start."""

# Seconds that a scheduler may take to answer, and its workers to come.
_PATIENCE = 30
# Seconds between looks at whether there are workers.
_LOOK = 2
_ANY = "127.0.0.1:0"
# What is Dask's default for workers and does not fit here. They profile themselves and
# keep what they found in the last hour, 0.2 MB a task. They have the C library give
# back each large array at once, which costs a third of the time: that is done after a
# task.
_FOR_WORKERS = {
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}

P = TypeVar("P")


class Reads(Protocol):
    """A task that reads objects."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The names of the objects."""


T = TypeVar("T", bound=Reads)


class Where(NamedTuple):
    """Where to read: `scheduler`, `workers` and `progress` of `parts_of`."""

    scheduler: str
    workers: int | None
    progress: Callable[[str], None]


def parts_of(
    sides: Sequence[Sequence[Task]],
    *,
    scheduler: str = "",
    workers: int | None = None,
    progress: Callable[[str], None],
) -> list[Part]:
    """Return the sum of each side's tasks.

    Parameters
    ----------
    sides
        The tasks of each side, at least one.
    scheduler
        Address of a Dask scheduler, "" for none.
    workers
        How many processes of this machine to start where there is no scheduler: 0 to
        read in this one, None to start one a processor for more than `HERE` objects.
    progress
        Gets what is being done now.

    Raises
    ------
    ClusterError
        Workers cannot be had, die, or go away.
    UsageError
        Dask is not installed, and a scheduler was named.

    """
    where = Where(scheduler, workers, progress)
    return reduced(sides, read_part, combine, where)


def reduced(
    sides: Sequence[Sequence[T]],
    read: Callable[[T], P],
    join: Callable[[Sequence[P]], P],
    where: Where,
) -> list[P]:
    """Return what each side's tasks come to, read and joined as `parts_of` does it.

    `read` and `join` go to workers: functions of modules. Raises what it raises.
    """
    objects = sum(len(task.paths) for side in sides for task in side)
    few = objects <= HERE if where.workers is None else where.workers == 0
    here = partial(_read_here, sides, read, join, where)
    if not where.scheduler and few:
        return here()
    try:
        import dask  # noqa: F401
        import distributed  # noqa: F401
    except ImportError:
        if not where.scheduler:
            return here()
        raise UsageError(
            "--scheduler needs Dask: pip install 'pprofdiff[fleet]'"
        ) from None
    return _read_there(sides, read, join, where)


def _read_here(
    sides: Sequence[Sequence[T]],
    read: Callable[[T], P],
    join: Callable[[Sequence[P]], P],
    where: Where,
) -> list[P]:
    numbered = _numbered(sides)
    progress = _progress(numbered, where)

    def counted(leaf: tuple[int, T]) -> P:
        number, task = leaf
        part = read(task)
        progress.ended(number)
        return part

    return [tree(leaves, counted, join) for leaves in numbered]


def _numbered(sides: Sequence[Sequence[T]]) -> list[list[tuple[int, T]]]:
    """Return each side's tasks with their numbers among those of all sides."""
    numbers = count()
    return [[(next(numbers), task) for task in tasks] for tasks in sides]


def _progress(sides: Sequence[Sequence[tuple[int, T]]], where: Where) -> Progress:
    sizes = {number: len(task.paths) for leaves in sides for number, task in leaves}
    return Progress(sizes, where.progress)


def _read_there(
    sides: Sequence[Sequence[T]],
    read: Callable[[T], P],
    join: Callable[[Sequence[P]], P],
    where: Where,
) -> list[P]:
    """Have workers read; they are asked for one graph of all sides."""
    from dask import delayed
    from distributed import CancelledError, KilledWorker

    numbered = _numbered(sides)
    progress = _progress(numbered, where)
    # What goes wrong is said once, by an error.
    quiet = _without_logs("distributed")
    # Of several who use one scheduler, each hears of its own tasks alone.
    topic = f"pprofdiff-{uuid4()}"
    reading = delayed(partial(_read_and_tell, read, topic), pure=False)
    joined = delayed(partial(_joined, join), pure=False)
    with quiet, _client(where.scheduler, where.workers) as client:
        client.subscribe_topic(topic, lambda event: progress.ended(event[1]))
        roots = [
            tree(leaves, lambda leaf: reading(*leaf), joined) for leaves in numbered
        ]
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
            name = _told(where.scheduler)
            raise ClusterError(f"{name}: went away while reading") from None
        except (ImportError, RuntimeError) as error:
            # So a scheduler says that it cannot read tasks, and a worker likewise.
            name, kind = _told(where.scheduler), type(error).__name__
            raise ClusterError(
                f"{name}: has other software than this machine ({kind}): install "
                f"pprofdiff[fleet] {__version__} with the same Dask there"
            ) from error
        return parts


def _wait(client: Any, futures: list[Any], where: Where) -> None:  # noqa: ANN401
    """Wait for futures; raises ClusterError where there is no worker for long.

    A scheduler without workers keeps its tasks for those that may come.
    """
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
                name = _told(where.scheduler)
                raise ClusterError(
                    f"{name}: no worker for {_PATIENCE} s; start some, where this "
                    "pprofdiff is installed too"
                ) from None
        else:
            return


def _read_and_tell(read: Callable[[T], P], topic: str, number: int, task: T) -> P:
    """Read a task's objects on a worker, and tell the client that it is done."""
    from distributed import get_worker

    part = read(task)
    get_worker().log_event(topic, number)
    give_back()
    return part


def _joined(join: Callable[[Sequence[P]], P], parts: Sequence[P]) -> P:
    """Join parts on a worker."""
    part = join(parts)
    give_back()
    return part


def _told(scheduler: str) -> str:
    return printable(without_login(scheduler)) if scheduler else "the workers here"


@contextmanager
def _without_logs(library: str) -> Iterator[None]:
    """Have a library's loggers say nothing."""
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
    """Yield a client of a scheduler, or of processes that end with the block."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler:
        try:
            _must_answer(scheduler)
            client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ClusterError(
                f"{_told(scheduler)}: no Dask scheduler answers there "
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
                    # Without these, both open a port for a web page, one that is known.
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
    """Raise OSError or ValueError where no Dask answers.

    A client waits for ever for what takes a connection and says nothing, such as a web
    server.
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
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            raised.append(error)

    # A notebook's own thread has a loop already; Ctrl-C does not wait for this one.
    thread = threading.Thread(target=asked, daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Have the threads and processes that are started not see Ctrl-C, which waits.

    A terminal sends it to all of them: workers would say so, each with a traceback. A
    thread has the signals blocked that are blocked where it starts, and so have the
    processes that it starts.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    # Whoever starts it has the signal unblocked after.
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
