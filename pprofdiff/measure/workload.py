"""What is measured: something that both sides can run, each time the same work."""

from __future__ import annotations

from typing import Any, Protocol

from pprofdiff.measure.sides import SideName

__all__ = ["Workload"]


class Workload(Protocol):
    """One run of a side, as often as it is asked for."""

    def run(self, side: SideName, folder: str) -> None:
        """Run a side once and write what it tells into an empty folder.

        It runs elsewhere, so that the folder is an absolute path.

        Raises MeasureError where it fails.
        """

    def trace(self, side: SideName, folder: str) -> None:
        """Run a side once more, with an execution trace; raises MeasureError."""

    def notes(self) -> dict[str, Any]:
        """Return what is run, for `measure.json`."""
