"""Attributes that an API object has because its `data` has them."""

from __future__ import annotations

from typing import Any, Generic, Protocol, Self, TypeVar, overload

Value_co = TypeVar("Value_co", covariant=True)


class _HasData(Protocol):
    @property
    def data(self) -> Any: ...  # noqa: ANN401 - of any kind


class OfData(Generic[Value_co]):
    """The attribute of `data` with the same name; `doc` says what it is."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name that it is assigned to."""
        self.name: Any = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: _HasData, owner: type) -> Value_co: ...
    def __get__(self, instance: _HasData | None, owner: type) -> Any:
        """Return the value, or the descriptor itself from the class."""
        return self if instance is None else self.of(instance.data)

    def of(self, data: Any) -> Any:  # noqa: ANN401 - of any kind
        """Return the value of `data`."""
        return getattr(data, self.name)
