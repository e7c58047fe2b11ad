"""Work in a second thread: numpy and zlib let go of the interpreter while they work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

__all__ = ["ahead", "both"]

T = TypeVar("T")
R = TypeVar("R")

# Below this many bytes or frames a thread costs more than it brings.
_WORTH_A_THREAD = 1 << 18


def both(work: Callable[[T], R], base: T, new: T, *, size: int) -> tuple[R, R]:
    """Return (work(base), work(new)), in two threads where `size` is large.

    `size` is what there is to do in bytes or frames. What `work` raises is raised
    here, base first.
    """
    if size < _WORTH_A_THREAD:
        return work(base), work(new)
    from threading import Thread

    done: list[R] = []
    failed: list[BaseException] = []

    def aside() -> None:
        try:
            done.append(work(base))
        except BaseException as error:  # noqa: BLE001 - raised again below
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
    """Yield items; a thread makes the next one while the caller works on this one.

    What making an item raises is raised in its turn, after the items before it. The
    thread has ended when the iterator has, or is closed.
    """
    from concurrent.futures import ThreadPoolExecutor

    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, iterator, end)
            yield cast("T", item)
            # The caller may want its memory before the next one is there.
            del item
