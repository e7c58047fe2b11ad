"""How much work each side did: what makes "is the build slower?" answerable."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pprofdiff.analysis.stats.turns import InTurns
from pprofdiff.errors import UsageError
from pprofdiff.units import rounded

__all__ = ["Work", "counted", "possible", "rated"]

# Beyond these, values by operation could not be told from 0 or infinity.
_LEAST, _MOST = 1e-9, 1e18
# From here on, people need no decimals.
_WHOLE = 1e5


Pair = tuple[float, float]
_NONE: Mapping[int, float] = MappingProxyType({})
_NO_TURNS: Mapping[str, InTurns] = MappingProxyType({})
_NO_PAIRS: Mapping[str, Pair] = MappingProxyType({})


class Work(NamedTuple):
    """Operations of (base, new): done while profiled, or done per second.

    One of `counts` and `rates` is set; `reason` says where it is from, for people.
    `seconds` is how long counted operations took, and `ages` how long each process had
    run when it was captured, `counted` until when its allocations are; None where that
    is not known. `whole` tells that these are all operations of both processes,
    `throughout` that both allocated all that time, as far as is known. `allocation` is
    what both allocated a second in the second half of it, where GC logs tell. `by_run`
    are the operations a second of each run, by its number, as far as they are known.
    `turns` are what an operation costs in each turn of (base, new), by sample type,
    where sides were measured in turns. `closed` tells that the next operation began
    when one ended, so that operations a second are how fast the program is rather than
    what was asked of it.
    """

    counts: Pair | None
    rates: Pair | None
    reason: str
    closed: bool = False
    by_run: tuple[Mapping[int, float], Mapping[int, float]] = (_NONE, _NONE)
    seconds: tuple[float | None, float | None] = (None, None)
    ages: tuple[float | None, float | None] = (None, None)
    counted: tuple[float | None, float | None] = (None, None)
    allocation: Pair | None = None
    allocated: Mapping[str, Pair] = _NO_PAIRS
    holds: Pair | None = None
    whole: bool = False
    throughout: bool = True
    turns: Mapping[str, InTurns] = _NO_TURNS

    @property
    def is_whole(self) -> bool:
        """Whether it is all that the processes did, since they began.

        Else what counts since then has set-up, and other loads, in it.
        """
        return self.whole or self.per_second(self.seconds) is None

    def of(self, sample_type: str) -> Work:
        """Return the same for values of a sample type."""
        return self._replace(holds=self.allocated.get(sample_type))

    def done(
        self,
        durations_ns: tuple[int | None, int | None],
        *,
        allocations: bool = False,
    ) -> Pair | None:
        """Return the operations in the windows that a profile counts.

        `durations_ns` are its durations; without them it counts since the process
        began, `allocations` or other things. None where the operations of that time are
        not known.
        """
        base, new = durations_ns
        rates = self.per_second(self.seconds)
        if rates is None:
            return self.counts
        if base and new:
            return rates[0] * base / 1e9, rates[1] * new / 1e9
        base_s, new_s = self.counted if allocations else self.ages
        return (rates[0] * base_s, rates[1] * new_s) if base_s and new_s else None

    def per_second(self, seconds: tuple[float | None, float | None]) -> Pair | None:
        """Return operations per second, given how long the counted ones took."""
        if self.rates is not None:
            return self.rates
        base, new = seconds
        if self.counts is None or not base or not new:
            return None
        return self.counts[0] / base, self.counts[1] / new


def counted(done: Pair) -> Work:
    """Return the work of ``--work BASE:NEW``, operations done while profiled.

    Raises UsageError for numbers that nothing can be divided by.
    """
    _check("--work", done, "the operations that each side did")
    base, new = (_number(value) for value in done)
    return Work(done, None, f"--work: {base} and {new} operations")


def rated(rates: Pair, source: str = "--rps", *, closed: bool = False) -> Work:
    """Return work that is known as operations per second, and from where.

    `closed` is as in `Work`.

    Raises UsageError for numbers that nothing can be divided by.
    """
    _check(source, rates, "the operations that each side did in a second")
    typed = source == "--rps"
    base, new = (_number(value) if typed else rounded(value) for value in rates)
    reason = f"{source}: {base} and {new} operations per second"
    return Work(None, rates, reason, closed)


def possible(pair: Pair) -> bool:
    """Return whether values can be divided by both numbers."""
    return all(_LEAST <= value <= _MOST for value in pair)


def _check(source: str, pair: Pair, what: str) -> None:
    if not possible(pair):
        raise UsageError(
            f"{source} {pair[0]:g}:{pair[1]:g}: give {what}, "
            f"numbers from {_LEAST:g} to {_MOST:g}"
        )


def _number(value: float) -> str:
    """Return a number of operations as it was typed, without needless decimals."""
    whole = value == int(value) or value >= _WHOLE
    return f"{value:,.0f}" if whole else f"{value:,.6g}"
