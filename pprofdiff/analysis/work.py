"""How much work each side did: what makes "is the build slower?" answerable."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.errors import UsageError

__all__ = ["Work", "counted", "possible", "rated"]

# Beyond these, values by operation could not be told from 0 or infinity.
_LEAST, _MOST = 1e-9, 1e18
# From here on, people need no decimals.
_WHOLE = 1e5


class Work(NamedTuple):
    """Operations of (base, new): done while profiled, or done per second.

    One of `counts` and `rates` is set; `reason` says where it is from, for people.
    """

    counts: tuple[float, float] | None
    rates: tuple[float, float] | None
    reason: str

    def done(
        self, durations_ns: tuple[int | None, int | None]
    ) -> tuple[float, float] | None:
        """Return the operations done in these times; None where a time is missing."""
        if self.counts is not None:
            return self.counts
        base, new = durations_ns
        if self.rates is None or not base or not new:
            return None
        return self.rates[0] * base / 1e9, self.rates[1] * new / 1e9

    def per_second(
        self, seconds: tuple[float | None, float | None]
    ) -> tuple[float, float] | None:
        """Return operations per second, given how long the counted ones took."""
        if self.rates is not None:
            return self.rates
        base, new = seconds
        if self.counts is None or not base or not new:
            return None
        return self.counts[0] / base, self.counts[1] / new


def counted(done: tuple[float, float]) -> Work:
    """Return the work of ``--work BASE:NEW``, operations done while profiled.

    Raises UsageError for numbers that nothing can be divided by.
    """
    _check("--work", done, "the operations that each side did")
    base, new = (_number(value) for value in done)
    return Work(done, None, f"--work: {base} and {new} operations")


def rated(rates: tuple[float, float], source: str = "--rps") -> Work:
    """Return work that is known as operations per second, and from where.

    Raises UsageError for numbers that nothing can be divided by.
    """
    _check(source, rates, "the operations that each side did in a second")
    base, new = (_number(value) for value in rates)
    return Work(None, rates, f"{source}: {base} and {new} operations per second")


def possible(pair: tuple[float, float]) -> bool:
    """Return whether values can be divided by both numbers."""
    return all(_LEAST <= value <= _MOST for value in pair)


def _check(source: str, pair: tuple[float, float], what: str) -> None:
    if not possible(pair):
        raise UsageError(
            f"{source} {pair[0]:g}:{pair[1]:g}: give {what}, "
            f"numbers from {_LEAST:g} to {_MOST:g}"
        )


def _number(value: float) -> str:
    """Return a number of operations as people write it."""
    whole = value == int(value) or value >= _WHOLE
    return f"{value:,.0f}" if whole else f"{value:,.6g}"
