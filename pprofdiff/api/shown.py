"""Base class of all API objects: display in Jupyter, plots, and pickling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeGuard, TypeVar

from pprofdiff import plots
from pprofdiff.analysis.side import numbered
from pprofdiff.errors import UsageError
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.model.side import Capture, Side

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.axes import Axes

    from pprofdiff.notebook import Card


class Shown(ABC):
    """A dataclass that Jupyter shows as a card."""

    __slots__ = ()

    @abstractmethod
    def _card(self) -> Card:
        """Return what Jupyter shows."""

    def __getstate__(self) -> dict[str, object]:
        """Return the state to pickle: the fields, without any cached results."""
        own: Any = self
        values = {field.name: getattr(self, field.name) for field in fields(own)}
        return {
            name: replace(value) if _is_one(value) else value
            for name, value in values.items()
        }

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
    ) -> dict[str, str]:
        from pprofdiff.notebook import shown

        return shown(self._card, repr(self), include, exclude)


def _is_one(value: object) -> TypeGuard[DataclassInstance]:
    """Return whether a value is an instance of a dataclass."""
    return is_dataclass(value) and not isinstance(value, type)


def plotted(name: str, what: str) -> Callable[..., Axes]:
    """Return a method that plots its object with `plots.<name>`; `what` it shows.

    ``ax=None`` means ``plt.gca()``.
    """

    def method(self: object, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        drawn: Axes = getattr(plots, name)(self, ax, **options)
        return drawn

    method.__doc__ = f"Plot {what}; see `plots.{name}`."
    return method


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
