"""Run both sides in turns, round by round, until the verdict holds or time is up."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pprofdiff.analysis.outcome.model import Outcome, off_cpu
from pprofdiff.errors import FetchError
from pprofdiff.measure.sides import SIDES, SideName, Started
from pprofdiff.units import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pprofdiff.analysis.outcome.model import Outcome
    from pprofdiff.measure.gotest import GoBenchmarks
    from pprofdiff.measure.programs import Commands

Stopped = Literal["sure", "rounds", "time", "interrupted"]
Judge = Callable[[], "Outcome"]
FEWEST_ROUNDS = 5
"""With fewer runs, the spread between them is hardly known."""


class Limits(NamedTuple):
    """The most rounds, and the seconds after which none starts, None for a default."""

    rounds: int = 10
    seconds: float | None = None


class Round(NamedTuple):
    """One round: its number from 1, and when each side's first run started."""

    number: int
    started: Started


class Listener(Protocol):
    """Receives progress and warnings."""

    def warn(self, message: str) -> None:
        """Report a warning to the user."""

    def doing(self, message: str) -> None:
        """Report what is being done now."""

    def round(self, number: int, most: int, left: float) -> None:
        """Report that a round is complete, and the most seconds that may be left."""


def take_turns(
    workload: GoBenchmarks | Commands,
    out: str,
    limits: Limits,
    judge: Judge,
    listener: Listener,
    spent: float = 0.0,
) -> tuple[list[Round], Stopped]:
    """Run both sides until the verdict is sure or a limit is reached.

    Run 1 of base writes to ``out/base/1``. An incomplete round leaves no files. An
    interrupt returns the complete rounds, or propagates if there are none. The command
    started `spent` seconds ago.
    """
    rounds: list[Round] = []
    seconds = limits.seconds
    if seconds is None:
        seconds = workload.seconds(spent)
    began = time.monotonic()
    longest = 0.0
    try:
        while True:
            number = len(rounds)
            listener.doing(f"round {number + 1} of {limits.rounds}")
            start = time.monotonic()
            rounds.append(one_round(workload.round, out, number))
            now = time.monotonic()
            longest = max(longest, now - start)
            in_time = seconds - (now - began)
            left = min((limits.rounds - len(rounds)) * longest, in_time)
            listener.round(len(rounds), limits.rounds, max(left, 0.0))
            if len(rounds) >= limits.rounds:
                return rounds, "rounds"
            if len(rounds) >= FEWEST_ROUNDS and workload.enough and sure(judge()):
                return rounds, "sure"
            # Start no round that would not end in time.
            if in_time < longest:
                return rounds, "time"
    except KeyboardInterrupt:
        if not rounds:
            raise
        return rounds, "interrupted"


def one_round(
    run: Callable[[Mapping[SideName, str]], Started], out: str, number: int
) -> Round:
    """Run both sides, for the `number`-th time from 0; a failure leaves no files."""
    folders = {side: os.path.join(out, side, str(number + 1)) for side in SIDES}
    try:
        with writing(out):
            for folder in folders.values():
                os.makedirs(folder)
            began = run({s: os.path.abspath(f) for s, f in folders.items()})
    except BaseException:
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return Round(number + 1, began)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raise FetchError for an OSError in the block."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise FetchError(f"{printable(path)}: cannot be written: {reason}") from None


def sure(outcome: Outcome) -> bool:
    """Return whether the verdict holds at the stricter level of an interim look.

    Testing after every round would cause several times as many false alarms.
    """
    first = outcome.headline
    decided = first is not None and outcome.verdict != "unknown"
    return decided and first is not None and first.beyond_chance


def unexplained(outcome: Outcome) -> bool:
    """Return whether CPU does not explain the change in time, so a trace is needed."""
    figures = {measure.id: measure for measure in outcome.measures}
    time, cpu = figures.get("time"), figures.get("cpu")
    if time is None or time.verdict not in ("slower", "faster"):
        return False
    return cpu is None or off_cpu(time.judged.ratio, cpu.judged.ratio)


def to_trace(outcome: Outcome) -> tuple[str, ...]:
    """Return which of several benchmarks are worth tracing, each once.

    Sub-benchmarks are left out, as their parents wait for them.
    """
    keys = (unit.key for unit in outcome.units if unit.off_cpu)
    names = (key[0] for key in keys if key is not None)
    return tuple(dict.fromkeys(name for name in names if "/" not in name))
