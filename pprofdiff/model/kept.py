"""Results that live as long as what they are computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def kept(function: Callable[[T], R]) -> Callable[[T], R]:
    """Return the function, which is called once for each argument.

    The argument has a `__dict__`, which keeps the result: both are freed together.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def once(one: T) -> R:
        results = one.__dict__
        if name not in results:
            results[name] = function(one)
        found: R = results[name]
        return found

    return once
