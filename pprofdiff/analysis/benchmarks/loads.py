"""Load generators' figures compared: rate, failures and latencies, run by run."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff, compare_benchmarks
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.policy import MAJOR
from pprofdiff.analysis.settings import Settings
from pprofdiff.model.benchmarks import Benchmarks, LoadSummary, Result
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side
from pprofdiff.units import rounded

RATE, FAILED, MEAN, LONGEST = "rate", "failed", "mean", "max"
"""Names of rows; latencies at a percentile are named ``p50``, ``p99.9`` …."""

# A profile is within its load if it lasts no longer: started by hand or by a script,
# one may end a little after the other.
_COVERS = 0.9
# The load generator may run on another machine, with another clock.
_CLOCKS_S = 2.0


def compare_sides(base: Side, new: Side, _settings: Settings) -> BenchmarkDiff:
    """Compare the figures of two sides' summaries, each a run, as benchmarks.

    Rows are ``rate`` (req/s), ``failed`` (%), ``mean`` and percentiles (sec). The rate
    of an open or throttled loop is neither better nor worse.
    """
    sides = base.of("load"), new.of("load")
    diff = compare_benchmarks(
        *([Benchmarks(tuple(_results(c.content)), 0) for c in side] for side in sides)
    )
    if all(c.content.loop == "closed" for side in sides for c in side):
        return diff
    return diff.judged(
        lambda _, row: replace(row, better=None) if row.name == RATE else row
    )


def _results(load: LoadSummary) -> Iterator[Result]:
    """Yield the figures of one summary that it has."""
    if load.per_second is not None:
        yield _result(RATE, "req/s", load.per_second)
    if load.failed is not None and load.requests:
        yield _result(FAILED, "%", 100 * load.failed / load.requests)
    if load.mean is not None:
        yield _result(MEAN, "sec", load.mean)
    for rank, seconds in load.latencies:
        # Tools that print whole milliseconds round what is faster to 0.
        if seconds:
            yield _result(name_of(rank), "sec", seconds)


def _result(name: str, unit: str, value: float) -> Result:
    return Result(name, None, (), unit, (value,), (1,))


def name_of(rank: float) -> str:
    """Return the row of a percentile: ``p99.9``, and ``max`` for 100."""
    return LONGEST if rank == 100 else f"p{rank:g}"


def outside(side: Side) -> str:
    """Return why a load is not of the same time as its side's profile, "" if it is.

    It is if it lasted as long, and covers the profile where it says when it began.
    """
    for load in side.of("load"):
        for profile in side.of("profile"):
            if profile.run == load.run and (why := _outside(load, profile)):
                return why
    return ""


def _outside(load: Capture[LoadSummary], profile: Capture[Profile]) -> str:
    seconds, lasted = load.content.seconds, (profile.content.duration_ns or 0) / 1e9
    if seconds is None or not lasted:
        return ""
    if seconds < _COVERS * lasted:
        return (
            f"{load.path} is of {rounded(seconds)} s and {profile.path} of "
            f"{rounded(lasted)} s"
        )
    began, taken = load.content.began, (profile.content.time_ns or 0) / 1e9
    if began is None or not taken:
        return ""
    before = began - taken
    after = taken + lasted - (began + seconds)
    most = _CLOCKS_S + (1 - _COVERS) * lasted
    if max(before, after) <= most:
        return ""
    if before > after:
        return f"{profile.path} began {rounded(before)} s before {load.path} did"
    return f"{profile.path} ended {rounded(after)} s after {load.path} did"


def failed(side: Side) -> tuple[int, int]:
    """Return how many of a side's requests failed, of those whose end is known."""
    known = [c.content for c in side.of("load") if c.content.failed is not None]
    counted = [(one.failed or 0, one.requests) for one in known if one.requests]
    return sum(n for n, _ in counted), sum(n for _, n in counted)


def caveats(base: Side, new: Side, _result: BenchmarkDiff | None) -> Iterator[Caveat]:
    """Yield caveats: failed requests, loads not of the profiles' time, unlike loads."""
    for side in (base, new):
        failures, requests = failed(side)
        if failures:
            loads = side.of("load")
            where = loads[0].path if len(loads) == 1 else f"{len(loads)} runs"
            yield Caveat(
                "load-failed",
                f"{side.label}, {where}: {failures:,} of {requests:,} requests failed; "
                "operations per second count them too",
            )
        if why := outside(side):
            yield Caveat(
                "load-time",
                f"{why}: its requests are not the operations of the profile",
            )
    if (unlike := _unlike(base, new)) is not None:
        yield Caveat(
            "load-unlike", f"the loads differ ({unlike}): so do rates and latencies"
        )


def _unlike(base: Side, new: Side) -> str | None:
    """Return how two sides' loads differ apart from the program, None if not."""
    sides = [[c.content for c in side.of("load")] for side in (base, new)]
    if not all(sides):
        return None
    for what in ("tool", "connections", "loop"):
        kinds = [{getattr(load, what) for load in side} for side in sides]
        if kinds[0] != kinds[1] and not (what == "loop" and "" in kinds[0] | kinds[1]):
            return f"{what} {' → '.join(map(_listed, kinds))}"
    base_rate, new_rate = (
        sum(load.per_second or 0 for load in side) / len(side) for side in sides
    )
    set_outside = all(load.loop == "open" for side in sides for load in side)
    if set_outside and abs(new_rate - base_rate) > MAJOR * max(base_rate, new_rate):
        both = f"{rounded(base_rate)} → {rounded(new_rate)}"
        return f"open loops of {both} requests per second"
    return None


def _listed(values: set[object]) -> str:
    return " and ".join(sorted(str(value or "unknown") for value in values))
