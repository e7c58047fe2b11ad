"""Work in a second thread; numpy and zlib release the GIL while they work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

# Below this size, in bytes or frames, starting a thread costs more than it saves.
_WORTH_A_THREAD = 1 << 18


def both(work: Callable[[T], R], base: T, new: T, *, size: int) -> tuple[R, R]:
    """Return (work(base), work(new)), in two threads if `size` is large.

    `size` is the amount of work, in bytes or frames. Exceptions from `work` propagate,
    base first.
    """
    if size < _WORTH_A_THREAD:
        return work(base), work(new)
    from threading import Thread

    done: list[R] = []
    failed: list[BaseException] = []

    def aside() -> None:
        try:
            done.append(work(base))
        except BaseException as error:  # noqa: BLE001 - re-raised below
            failed.append(error)

    thread = Thread(target=aside)
    thread.start()
    try:
        second = work(new)
    finally:
        thread.join()
        if failed:
            raise failed[0]
    return done[0], second


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield items; a thread makes the next one while the caller uses the current one.

    An exception while making an item is raised in its place, after the items before it.
    The thread ends when the iterator ends or is closed.
    """
    from concurrent.futures import ThreadPoolExecutor

    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, iterator, end)
            yield cast("T", item)
            # Let the caller free this item's memory before the next one is ready.
            del item
