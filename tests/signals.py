"""Signals that processes started by tests hear, and that end them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PAUSE_S, _TIMES = 10, 6


@contextmanager
def heard(*names: str) -> Iterator[None]:
    """Have processes that start meanwhile hear signals, though tests may ignore them.

    What a process ignores, such as SIGHUP under ``nohup``, those that it starts ignore.
    """
    numbers = [signal.Signals[name] for name in names]
    before = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def ended(process: subprocess.Popen[bytes], name: str) -> tuple[bytes, bytes]:
    """Send a signal until a process has ended, and return what it said.

    Python handles a signal between two of its instructions: one that comes right before
    a system call that blocks is not heard before that returns. It was so in 1 of 150
    interrupts on a busy machine.
    """
    for _ in range(_TIMES):
        process.send_signal(signal.Signals[name])
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_PAUSE_S)
    process.kill()
    process.communicate()
    raise AssertionError(f"{name} does not end it")
