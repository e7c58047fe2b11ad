"""Show progress on a terminal for work that takes longer than a second.

With ``PPROFDIFF_PROGRESS=lines`` progress is lines, on any file: a program reads them.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from threading import Timer

    from rich.status import Status

_PATIENCE_S = 1.0


def in_lines() -> bool:
    """Return whether progress is to be lines."""
    return os.environ.get("PPROFDIFF_PROGRESS") == "lines"


class Waiting:
    """Shows what is being done after the first second.

    Unless the file is a terminal it does nothing, and rich is not imported; as lines,
    there is at most one a second.
    """

    def __init__(self, file: TextIO, *, enabled: bool) -> None:
        self._file = file
        self._enabled = enabled and file.isatty()
        self._lines = enabled and in_lines()
        self._next = time.monotonic() + _PATIENCE_S
        self._message = "working"
        self._status: Status | None = None
        self._timer: Timer | None = None

    def __enter__(self) -> Self:
        if self._enabled:
            from threading import Timer

            self._timer = Timer(_PATIENCE_S, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._status is not None:
            self._status.stop()

    def say(self, message: str) -> None:
        """Set what is being done now."""
        self._message = message
        if self._lines and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PATIENCE_S
            self._file.write(f"{message}\n")
            self._file.flush()
        if self._status is not None:
            self._status.update(message)

    def _begin(self) -> None:
        from rich.console import Console
        from rich.text import Text

        status = Console(file=self._file).status(Text(self._message))
        status.start()
        self._status = status
