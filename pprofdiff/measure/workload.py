"""What is measured: something that both sides can run, each time the same work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pprofdiff.measure.sides import SideName

__all__ = ["Begun", "Workload"]

Begun = tuple[tuple[SideName, float], ...]
"""When each side began in a round, seconds since 1970, in the order of the runs."""


class Workload(Protocol):
    """Runs both sides, as often as it is asked to.

    `enough` is whether rounds that are over have enough samples to say where time went.
    """

    def seconds(self, spent: float) -> float:
        """Return how long rounds go on where the user does not say.

        `spent` seconds went by since the command began, for building most of all.
        """

    @property
    def traceable(self) -> bool:
        """Return whether one traced run of each side stands for all that was timed."""

    @property
    def enough(self) -> bool:
        """Return whether there are enough samples."""

    def round(self, folders: Mapping[SideName, str]) -> Begun:
        """Run both sides in turns; write each side's captures into its empty folder.

        Programs run elsewhere, so that folders are absolute paths. Which side begins
        follows `turns.order`. Raises MeasureError where a side fails.
        """

    def trace(self, side: SideName, folder: str) -> None:
        """Run a side once more, with an execution trace; raises MeasureError."""

    def doubts(self) -> list[str]:
        """Return what the runs showed that makes figures worth less."""

    def notes(self) -> dict[str, Any]:
        """Return what is run, for `measure.json`."""
