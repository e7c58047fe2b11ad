"""What a figure is: the one declaration that all outputs read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Literal, TypeVar

from pprofdiff.analysis.judge.calibration import Spread

S = TypeVar("S")

Worse = Literal["more", "less", ""]


@dataclass(frozen=True)
class Figure(Generic[S]):
    """One figure of one kind of evidence.

    `key` is the stable name of rows in tables, JSON, DataFrames, plots and gate rules;
    `label` needs no table around it. `unit` is ns, us, bytes, MiB, count, 1/s, share or
    percent. `of` is the value in a run, or in a side that adds runs up, None if
    unknown. `worse` says whether ``more`` or ``less`` is. `spread` is how far runs of
    one build differ, None if the figure is not judged. `level` is 1 for a part of the
    figure before it.
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

    @property
    def declaration(self) -> dict[str, Any]:
        """What JSON says about it; ``worse_if`` is None if neither way is worse."""
        return {
            "id": self.key,
            "label": self.label,
            "unit": self.unit,
            "worse_if": self.worse or None,
        }
