"""Two builds on many hosts compared, as the command line does it: `FleetComparison`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, overload

from pprofdiff.analysis import comparison as analysis
from pprofdiff.analysis.outcome.model import SAME_WITHIN
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import Comparison, Paths, words_of
from pprofdiff.api.series import FleetSeries
from pprofdiff.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.fleets.sides import FleetOptions

__all__ = ["FleetComparison", "fleet"]


@dataclass(frozen=True, eq=False, repr=False)
class FleetComparison(Comparison):
    """Everything that two builds' profiles of many hosts tell, kind by kind.

    A run is a host, or a group of hosts where there are more than 64. `notes` say what
    was left out.
    """

    def __repr__(self) -> str:
        """Return one line: the two sides, and of how many hosts they are."""
        sides = [
            f"{side.label!r} ({len(side.fleet.names):,} hosts)"
            for side in (self.data.base, self.data.new)
            if side.fleet is not None
        ]
        kinds = ", ".join(self.profiles)
        return f"<FleetComparison {' → '.join(sides)}: {kinds}>"

    @cached_property
    def hosts(self) -> pd.DataFrame:
        """What was read of each host: one row a side, host and kind of profile.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        side           base or new                                   categorical
        host           its name                                      string
        kind           of profile, such as cpu                       string
        profiles       how many                                      int64
        seconds        the sum of their durations; 0 where they      float64
                       tell none
        total          the sum of their values, raw, in the default  int64
                       sample type
        ============== ============================================= ============
        """
        import pandas as pd

        words = "base", "new"
        rows = [
            (word, host, kind, sums.profiles, sums.duration_ns / 1e9, sums.total)
            for word, side in zip(words, (self.data.base, self.data.new), strict=True)
            if side.fleet is not None
            for (host, kind), sums in sorted(side.fleet.hosts.items())
        ]
        names = ["side", "host", "kind", "profiles", "seconds", "total"]
        frame = pd.DataFrame(rows, columns=names)
        frame["side"] = pd.Categorical(frame["side"], words)
        return frame

    @cached_property
    def groups(self) -> pd.DataFrame:
        """The functions that moved in the CPU profiles, in each group.

        One row for each function that moved beyond noise over all, or in one group, and
        each group: ``function``, ``group`` ("" for all), ``base_hosts``, ``new_hosts``
        (int64), ``base``, ``new``, ``delta`` (% of the group's total, float64), and
        ``noise`` (whether the change is within noise, None where that is not known).
        Empty without ``group_by``. A group that one side lacks has NaN there.
        """
        from pprofdiff.api.fleetframes import groups_frame

        return groups_frame(self.data)


@overload
def fleet(
    base: Paths,
    new: Paths,
    *,
    by: str | None = ...,
    group_by: str = ...,
    scheduler: str = ...,
    workers: int | None = ...,
    max_skipped: float = ...,
    labels: bool = ...,
    normalize: bool = ...,
    work: tuple[float, float] | None = ...,
    pair_names: Mapping[str, str] | None = ...,
    pairing: bool = ...,
    same_within: float = ...,
) -> FleetComparison: ...
@overload
def fleet(
    base: Paths,
    *,
    over: str,
    every: float | timedelta | None = ...,
    by: str | None = ...,
    scheduler: str = ...,
    workers: int | None = ...,
    max_skipped: float = ...,
) -> FleetSeries: ...


def fleet(  # noqa: PLR0913 - the options of a comparison, by keyword
    base: Paths,
    new: Paths | None = None,
    *,
    over: str = "",
    every: float | timedelta | None = None,
    by: str | None = None,
    group_by: str = "",
    scheduler: str = "",
    workers: int | None = None,
    max_skipped: float = 0.01,
    labels: bool = False,
    normalize: bool = False,
    work: tuple[float, float] | None = None,
    pair_names: Mapping[str, str] | None = None,
    pairing: bool = True,
    same_within: float = SAME_WITHIN,
) -> FleetComparison | FleetSeries:
    """Compare two builds by the pprof profiles of all hosts that ran them.

    With `over`, compare many builds in order, or windows of time: shares of the total
    become curves, with the steps at which they changed.

    Parameters
    ----------
    base, new
        Patterns or names of objects, ``s3://bucket/build=41/**/*.pb.gz``, in any store
        that fsspec knows; folders, or lists of names as ``@names.txt``.
        With `over`, `base` names all objects, and there is no `new`.
    over
        ``time``, or what tells builds, in the words of `by`. Builds are in the order of
        the names in `base`, then of the numbers in their own.
    every
        The width of a window of time, in seconds or as a timedelta; None for one that
        makes 48 windows at most.
    by
        What tells hosts, which are the unit that builds are judged by: a label of
        samples or a part ``KEY=…`` of paths, or a pattern for paths with a group. None
        for parts such as ``host=…``.
    group_by
        What tells groups beside hosts, in the same words; "" for none. See
        `FleetComparison.groups`.
    scheduler
        Address of a Dask scheduler, "" for processes of this machine.
    workers
        How many processes to start here, 0 for none; None for as many as processors
        where there is enough to read. A script that starts some has an
        ``if __name__ == "__main__":`` around the call, as `multiprocessing` asks.
    max_skipped
        The largest share of objects that may be damaged, missing or no profiles.
    labels
        Whether samples keep their labels.
    normalize, work, pair_names, pairing, same_within
        As of `compare`; `work` are the operations of all hosts. None of them, nor
        `group_by` and `labels`, means anything with `over`.

    Raises
    ------
    FetchError, FormatError, UsageError
        Nothing is there or can be read; more is left out than `max_skipped`; hosts are
        not told; or nothing pairs.
    ClusterError
        Workers cannot be had, or went away.

    """
    from pprofdiff.fleets.sides import FleetOptions, load_fleets

    if not over and new is None:
        raise UsageError("give two fleets, or over= for many builds or windows of time")
    if over:
        if any((new, group_by, work, pair_names, labels, normalize, not pairing)):
            raise UsageError("over= goes with by, every, scheduler, workers alone")
    elif every is not None:
        raise UsageError('every= is the width of windows: it goes with over="time"')
    if not 0 < same_within < 1:
        raise UsageError("same_within= is a share of base, such as 0.02")
    if not 0 <= max_skipped < 1:
        raise UsageError("max_skipped= is a share of objects, such as 0.01")
    how = FleetOptions(by, scheduler, workers, max_skipped, labels, group_by=group_by)
    if over:
        return _series(words_of(base), over, every, how)
    loaded = load_fleets(words_of(base), words_of(new or ()), how)
    if loaded.base is None:
        raise UsageError("base: there is nothing on this side")
    settings = Settings(
        normalize=normalize,
        work=None if work is None else counted(work),
        pair_names=tuple((pair_names or {}).items()),
        pairing=pairing,
        same_within=same_within,
    )
    data = analysis.compare_sides(loaded.base, loaded.new, settings)
    return FleetComparison(data, loaded.notes, loaded.unread)


def _series(
    places: Sequence[str],
    over: str,
    every: float | timedelta | None,
    how: FleetOptions,
) -> FleetSeries:
    from pprofdiff.analysis.series.changes import need_ruptures
    from pprofdiff.analysis.series.judged import judge_series
    from pprofdiff.fleets.over import load_series
    from pprofdiff.fleets.steps import in_seconds

    need_ruptures()
    if not places:
        raise UsageError("fleet: there is nothing to read")
    loaded = load_series(places, over, how, every=in_seconds(every))
    return FleetSeries(judge_series(loaded.series), loaded.notes)
