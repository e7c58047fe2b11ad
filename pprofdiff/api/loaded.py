"""The base class of what `load` returns: the decoded data and its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar

from pprofdiff.analysis.side import numbered
from pprofdiff.api.shown import Shown
from pprofdiff.errors import UsageError
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.model.side import Capture, Side

if TYPE_CHECKING:
    from pprofdiff.notebook import Card

Data = TypeVar("Data")


@dataclass(frozen=True, eq=False, repr=False)
class LoadedInput(Shown, Generic[Data]):
    """One loaded input: its decoded `data`, a `pprofdiff.model` object.

    `label` is its name in tables, None for base or new.
    """

    kind: ClassVar[KindId]

    data: Data
    label: str | None = None
    path: str = "input"

    @property
    def capture(self) -> Capture[Data]:
        """The input as one capture of a side."""
        return Capture(self.path, self.kind, self.data)

    @property
    def _analysed(self) -> object:
        """What the card shows."""
        return self.data

    @classmethod
    def of(
        cls,
        captures: Sequence[Capture[Data]],
        label: str | None,
        name: str,  # noqa: ARG003 - what profiles are merged from
    ) -> Self:
        """Return the first capture, as `load` does."""
        return cls(captures[0].content, label, captures[0].path)

    def _card(self) -> Card:
        kind = KINDS[self.kind]
        if not kind.card:
            raise UsageError(f"unknown table {kind.noun}")
        card: Card = resolve(kind.card)(self._analysed, self.label or self.path)
        return card


def side_of(inputs: Sequence[LoadedInput[Data]], word: str) -> Side:
    """Return inputs as a side, named after the first input's label or `word`."""
    return numbered(Side(inputs[0].label or word, tuple(one.capture for one in inputs)))
