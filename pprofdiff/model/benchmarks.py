"""Benchmark results and load summaries: measurements of whole operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Result(NamedTuple):
    """One benchmark's measurements in one unit, one value per run, as printed.

    `name` is without ``Benchmark`` and the GOMAXPROCS suffix ``-P``, such as
    ``Compress/size=1k``; `procs` is P, None if not printed; `config` holds the
    ``key: value`` lines in effect (goos, goarch, pkg, cpu).
    """

    name: str
    procs: int | None
    config: tuple[tuple[str, str], ...]
    unit: str
    values: tuple[float, ...]
    iterations: tuple[int, ...]


class Round(NamedTuple):
    """A round of ``pprofdiff measure``, which runs both sides in turns.

    `began` is when, in UTC as in RFC 3339, the same on both sides; `side` is ``base``
    or ``new``.
    """

    began: str
    side: str


class Benchmarks(NamedTuple):
    """All results of one ``go test -bench`` output, in the order they first appear.

    `torn` counts lines that name a benchmark whose values were not found. `rounds` are
    those that printed the results, none if ``pprofdiff measure`` did not write them.
    """

    results: tuple[Result, ...]
    torn: int
    rounds: tuple[Round, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measurement: name, procs, unit, run, value, iterations."""
        import pandas as pd

        rows = [
            (r.name, r.procs, r.unit, run, value, r.iterations[run])
            for r in self.results
            for run, value in enumerate(r.values)
        ]
        names = ["name", "procs", "unit", "run", "value", "iterations"]
        return pd.DataFrame(rows, columns=names)


Loop = Literal["closed", "open", ""]
"""How requests are sent: ``closed`` means that each connection sends its next one as
soon as its last one is answered, ``open`` that a rate is set whatever the answers."""

# The part of the time that connections of a closed loop wait for answers. At full speed
# ab, bombardier, fortio, ghz and k6 had 0.91 to 1 in the captures of tests/data/load,
# and wrk more, as its mean makes up for late starts; at a set rate it was 0.01 to 0.43.
_WAITING = 0.8


class LoadSummary(NamedTuple):
    """A load generator's counts and latencies over one run; None is not printed.

    `requests` are all that ended, `failed` those that are errors or have no status
    below 400; `per_second` is their rate, with those that failed. `latencies` are pairs
    of a percentile and seconds, ascending, where 100 is the longest; `mean` is in
    seconds. `connections` send requests at once, also called threads, workers or VUs.
    `loop` is "" if unknown. `began` is in seconds since 1970.
    """

    tool: str
    seconds: float | None
    requests: int | None
    failed: int | None
    per_second: float | None
    latencies: tuple[tuple[float, float], ...] = ()
    mean: float | None = None
    connections: int | None = None
    loop: Loop = ""
    began: float | None = None


def loop_of(
    per_second: float | None, mean: float | None, connections: int | None
) -> Loop:
    """Return whether connections wait for answers nearly all the time, a closed loop.

    By Little's law, requests per second × mean latency are waited for at a time. Tools
    that send the next request after an answer may be slowed to a rate.
    """
    if per_second is None or mean is None or not connections:
        return ""
    return "closed" if per_second * mean >= _WAITING * connections else ""
