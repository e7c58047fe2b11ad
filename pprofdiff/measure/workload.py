"""The protocol for what is measured: both sides run the same work, repeatedly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pprofdiff.measure.sides import SideName

Started = tuple[tuple[SideName, float], ...]
"""When each side started in a round, in Unix seconds, in run order."""


class Workload(Protocol):
    """Runs both sides, as often as requested."""

    def seconds(self, spent: float) -> float:
        """Return the seconds that rounds may take by default.

        `spent` is the number of seconds since the command started.
        """

    @property
    def traceable(self) -> bool:
        """Return whether one traced run of each side represents everything timed."""

    @property
    def enough(self) -> bool:
        """Return whether there are enough samples to attribute time to functions."""

    def round(self, folders: Mapping[SideName, str]) -> Started:
        """Run both sides in turns; write each side's captures to its empty folder.

        Folders are absolute paths, as programs run elsewhere. Raises MeasureError if a
        side fails.
        """

    def trace(self, side: SideName, folder: str) -> None:
        """Run a side once more, with an execution trace; raises MeasureError."""

    def doubts(self) -> list[str]:
        """Return warnings about conditions during the runs that distort results."""

    def notes(self) -> dict[str, Any]:
        """Return what is run, for `measure.json`."""
