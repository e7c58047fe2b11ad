"""Base class of all API objects: display in Jupyter, plots, and pickling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from pprofdiff import plots

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
