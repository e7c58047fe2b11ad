"""Progress of reading many objects, as text with the time left."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

# A shorter time mostly reflects how long workers take to start.
_TELLING_S = 5.0


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
