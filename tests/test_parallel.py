"""A second thread: the same answers and the same errors as one after the other."""

from __future__ import annotations

import threading

import pytest

from pprofdiff.parallel import ahead, both

SMALL, LARGE = 0, 1 << 40


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_the_answers_stand_in_order(size):
    assert both(lambda side: f"{side}!", "base", "new", size=size) == ("base!", "new!")


def test_large_work_is_done_side_by_side():
    # Each side waits for the other: one after the other, neither would end.
    meeting = threading.Barrier(2, timeout=60)

    def work(side):
        meeting.wait()
        return side, threading.current_thread()

    (base, one), (new, other) = both(work, "base", "new", size=LARGE)
    assert (base, new) == ("base", "new")
    assert one is not other
    assert not one.is_alive()


def test_small_work_stays_in_this_thread():
    here = threading.current_thread()
    seen = both(lambda _: threading.current_thread(), 1, 2, size=SMALL)
    assert seen == (here, here)


class Failed(BaseException):
    """What no `except Exception` catches, as KeyboardInterrupt is."""


@pytest.mark.parametrize("kind", [ValueError, Failed])
@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize(
    ("bad", "first"),
    [({"base"}, "base"), ({"new"}, "new"), ({"base", "new"}, "base")],
    ids=["base", "new", "both"],
)
def test_what_a_side_raises_is_raised_here_base_first(kind, size, bad, first):
    def work(side):
        if side in bad:
            raise kind(side)
        return side

    threads = threading.active_count()
    with pytest.raises(kind, match=f"^{first}$"):
        both(work, "base", "new", size=size)
    assert threading.active_count() == threads


def test_a_failure_of_new_waits_for_base():
    done = []
    failing = threading.Event()

    def work(side):
        if side == "new":
            failing.set()
            raise ValueError(side)
        failing.wait(60)
        done.append(side)

    with pytest.raises(ValueError, match=r"^new$"):
        both(work, "base", "new", size=LARGE)
    assert done == ["base"]


def test_the_next_item_is_made_while_one_is_used():
    # The second item waits for the first to be used: after it, neither would end.
    meeting = threading.Barrier(2, timeout=60)

    def items():
        yield 0
        meeting.wait()
        yield 1

    for item in ahead(items()):
        if item == 0:
            meeting.wait()
    assert item == 1


@pytest.mark.parametrize("kind", [ValueError, Failed])
def test_what_an_item_raises_comes_after_the_items_before_it(kind):
    def items():
        yield from range(3)
        raise kind("damaged")

    threads, used = threading.active_count(), []
    with pytest.raises(kind, match=r"^damaged$"):
        used.extend(iter(ahead(items()).__next__, None))
    assert used == [0, 1, 2]
    assert list(ahead(range(5))) == [*range(5)]
    assert list(ahead(())) == []
    assert threading.active_count() == threads


def test_the_thread_ends_where_the_caller_stops():
    made, threads = [], threading.active_count()

    def items():
        for number in range(10):
            made.append(number)
            yield number

    coming = ahead(items())
    assert next(coming) == 0
    coming.close()
    assert made == [0, 1]
    assert threading.active_count() == threads
