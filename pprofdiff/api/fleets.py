"""Compare two builds on many hosts as the command line does: `FleetComparison`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, overload

from pprofdiff.analysis import comparison as analysis
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.runs.groups import group_diffs, moved_in_any
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import Comparison, Paths, words_of
from pprofdiff.api.series import FleetSeries
from pprofdiff.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.fleets.sides import FleetOptions

# Columns of `FleetComparison.groups`.
_GROUPS = (
    *("function", "group", "base_hosts", "new_hosts"),
    *("base", "new", "delta", "noise"),
)


@dataclass(frozen=True, eq=False, repr=False)
class FleetComparison(Comparison):
    """The comparison of two builds by profiles of many hosts, kind by kind.

    A run is a host, or a group of hosts if there are more than 64.
    """

    def __repr__(self) -> str:
        sides = [
            f"{side.label!r} ({len(side.fleet.names):,} hosts)"
            for side in (self.data.base, self.data.new)
            if side.fleet is not None
        ]
        kinds = ", ".join(self.profiles)
        return f"<FleetComparison {' → '.join(sides)}: {kinds}>"

    @cached_property
    def hosts(self) -> pd.DataFrame:
        """What was read from each host: one row per side, host and kind of profile.

        ============== ============================================= ============
        side           base or new                                   categorical
        host           its name                                      string
        kind           kind of profile, such as cpu                  string
        profiles       number of profiles                            int64
        seconds        sum of their durations, 0 if they have none   float64
        total          sum of their values, raw, in the default      int64
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
        """The functions that changed in CPU profiles, for each group.

        One row per group for each function that changed significantly overall or in one
        group: ``function``, ``group`` ("" for all), ``base_hosts``, ``new_hosts``
        (int64), ``base``, ``new``, ``delta`` (% of the group's total, float64), and
        ``noise`` (whether the change is within noise, None if unknown). Empty without
        ``group_by``. Values are NaN if a side lacks the group.
        """
        import pandas as pd

        rows: list[tuple[object, ...]] = []
        groups = list(group_diffs(self.data))
        for name in moved_in_any(groups):
            for group in groups:
                shares: tuple[object, ...] = (nan, nan, nan, None)
                if group.diff is not None:
                    value = group.value(name)
                    base, new = group.diff.normalization.scaled(*value[:2])
                    shares = (base, new, new - base, value.noise)
                rows.append((name, group.name, *group.hosts, *shares))
        return pd.DataFrame(rows, columns=list(_GROUPS))


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

    `base` and `new` are patterns or names of objects, such as
    ``s3://bucket/build=41/**/*.pb.gz``, in any store that fsspec supports; folders, or
    lists of names as ``@names.txt``. With `over`, compare many builds in order, or
    windows of time, all named by `base`: each share of the total becomes a curve, and
    the steps at which it changed are found.

    `over` is ``time``, or what identifies builds, with the syntax of `by`; they are
    sorted by their order in `base`, then by the numbers in their names. `every` is the
    width of a window of time, in seconds or as a timedelta; None chooses one that makes
    at most 48 windows. `by` identifies hosts, the units that builds are judged by: a
    label of samples, a part ``KEY=…`` of paths, or a pattern for paths with a group.
    None uses parts such as ``host=…``. `group_by` identifies groups in addition, see
    `FleetComparison.groups`.

    `scheduler` is the address of a Dask scheduler, "" for processes on this machine.
    `workers` is how many processes to start here, 0 for none; None starts one per
    processor if there is enough to read. A script that starts some needs an
    ``if __name__ == "__main__":`` around the call, as `multiprocessing` requires.
    `max_skipped` is the largest fraction of objects that may be damaged, missing or not
    profiles. `labels` says whether samples keep their labels. `normalize`, `work` (of
    all hosts), `pair_names`, `pairing` and `same_within` are as in `compare`. These,
    `group_by` and `labels` cannot be combined with `over`.

    Raises FetchError, FormatError or UsageError if nothing can be read, more than
    `max_skipped` is left out, hosts cannot be identified, or nothing pairs;
    ClusterError if workers are unavailable or were lost.
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
        raise UsageError("same_within= must be a fraction of base, such as 0.02")
    if not 0 <= max_skipped < 1:
        raise UsageError("max_skipped= is a share of objects, such as 0.01")
    how = FleetOptions(by, scheduler, workers, max_skipped, labels, group_by=group_by)
    if over:
        return _series(words_of(base), over, every, how)
    loaded = load_fleets(words_of(base), words_of(new or ()), how)
    if loaded.base is None:
        raise UsageError("base: no inputs")
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
