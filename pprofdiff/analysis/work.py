"""How much work each side did, without which no build can be called slower."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pprofdiff.analysis.judge.totals import InTurns
from pprofdiff.errors import UsageError
from pprofdiff.units import rounded

# Beyond these, values per op would be indistinguishable from 0 or infinity.
_LEAST, _MOST = 1e-9, 1e18
# From here on, people need no decimals.
_WHOLE = 1e5


Pair = tuple[float, float]
# A proxy could not be pickled.
_NONE: Mapping[Any, Any] = {}


class Work(NamedTuple):
    """Operations of (base, new): done while profiled, or done per second.

    One of `counts` and `rates` is set; `reason` says, for people, where it comes from.
    `closed` means that each operation started when the previous one ended, so
    operations per second show the program's speed, not the load. `by_run` are
    operations per second by run number, as far as known. `seconds` is how long counted
    operations took, `ages` how long each process had run when captured, `counted` until
    when its allocations are counted; None if unknown. `allocation` is what both
    allocated per second in the second half of that time, if GC logs say. `whole` means
    that these are all operations of both processes, `throughout` that both allocated
    all that time, as far as known. `allocated` is what an op of (base, new) costs, by
    sample type, `holds` one type's. `turns` are the costs per op in each turn of
    (base, new), by sample type, if sides were measured in turns.
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
    allocated: Mapping[str, Pair] = _NONE
    holds: Pair | None = None
    whole: bool = False
    throughout: bool = True
    turns: Mapping[str, InTurns] = _NONE

    @property
    def is_whole(self) -> bool:
        """Whether it is all that the processes did; if not, counts include set-up."""
        return self.whole or self.per_second(self.seconds) is None

    @property
    def with_set_up(self) -> bool:
        """Whether turns show that CPU is used outside the timer as well as in it."""
        return "cpu" in self.turns and "cpu" not in self.allocated

    def of(self, sample_type: str) -> Work:
        """Return the same work for values of a sample type."""
        return self._replace(holds=self.allocated.get(sample_type))

    def done(
        self,
        durations_ns: tuple[int | None, int | None],
        *,
        allocations: bool = False,
    ) -> Pair | None:
        """Return the operations in the windows that a profile counts.

        `durations_ns` are its durations; without them it counts since process start,
        `allocations` or other things. None if the operations of that time are unknown.
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

    Raises UsageError for numbers out of range.
    """
    _check("--work", done, "the operations that each side did")
    base, new = (_number(value) for value in done)
    return Work(done, None, f"--work: {base} and {new} operations")


def rated(rates: Pair, source: str = "--rps", *, closed: bool = False) -> Work:
    """Return work known as operations per second, and where it comes from.

    `closed` is as in `Work`. Raises UsageError for numbers out of range.
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
    """Return a number of operations as typed, without needless decimals."""
    whole = value == int(value) or value >= _WHOLE
    return f"{value:,.0f}" if whole else f"{value:,.6g}"
