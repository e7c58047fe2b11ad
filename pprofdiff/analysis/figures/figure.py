"""What a figure is: the one declaration that all outputs read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Generic, Literal, TypeVar

from pprofdiff.analysis.judge.calibration import Spread

S = TypeVar("S")

Worse = Literal["more", "less", ""]


@dataclass(frozen=True)
class Figure(Generic[S]):
    """One figure of one kind of evidence.

    Attributes
    ----------
    key
        The stable name: of rows in tables, in JSON, DataFrames, plots and gate rules.
    label
        What it is, in words that need no table around them.
    unit
        The unit of the value: ns, us, bytes, MiB, count, 1/s, share or percent.
    of
        The value in a run, or in a side that adds runs up; None if unknown.
    worse
        Whether ``more`` or ``less`` is worse, "" for neither.
    spread
        How far runs of one build differ; None if the figure is not judged.
    level
        1 for a part of the figure before it.

    """

    key: str
    label: str
    unit: str
    of: Callable[[S], float | None]
    _: KW_ONLY
    worse: Worse = ""
    spread: Spread | None = None
    level: int = 0

    @property
    def shown(self) -> str:
        """The unit in which tables show it."""
        return self.unit
