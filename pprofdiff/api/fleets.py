"""Compare two builds on many hosts as the command line does: `FleetComparison`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pprofdiff.analysis import comparison as analysis
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.runs.groups import group_diffs, moved_in_any
from pprofdiff.analysis.series.judged import JudgedSeries
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import Comparison, Paths, words_of
from pprofdiff.api.reported import Path, delivered
from pprofdiff.api.shown import Shown, plotted
from pprofdiff.errors import FormatError, UsageError
from pprofdiff.report.rows import tables_of
from pprofdiff.report.series.sentences import (
    SeriesReport,
    headline,
    kind_tables,
    over_words,
    series_parts,
    series_report,
    step_sentences,
)
from pprofdiff.report.text.lines import render
from pprofdiff.units import printable

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.fleets.sides import FleetOptions
    from pprofdiff.fleets.tallies import Cell, TallyTask
    from pprofdiff.notebook import Card


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
    places: Sequence[str], over: str, every: float | timedelta | None, how: FleetOptions
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


_CELL = ("host", "step", "kind", "unit")


def ddf(
    paths: Paths,
    *,
    by: str | None = None,
    over: str = "",
    every: float | timedelta | None = None,
    max_skipped: float = 0.0,
) -> Any:  # noqa: ANN401 - a dask.dataframe.DataFrame, which is not imported here
    """Return the sums of hosts' profiles as a lazy `dask.dataframe.DataFrame`.

    `paths` are as `base` of `fleet`, `by`, `over` and `every` as there, but windows of
    time need a width. Objects are listed now and read when Dask computes, 50 per
    partition, by the scheduler in effect then. If more than `max_skipped`, a fraction,
    of a partition's objects are damaged, missing or not profiles, computing raises
    FormatError. A host may be in several partitions:
    ``ddf(…).groupby(["host", "kind", "function"])[["flat", "cum"]].sum()`` adds it up.

    ============== ============================================= ===================
    host           its name                                      string
    step           with `over`: a build, or a window's start     string, or
                                                                 datetime64[ns, UTC]
    kind           kind of profile, such as cpu                  string
    unit           unit of the values                            string
    function       its name                                      string
    flat, cum      raw sums, in the default sample type          int64
    ============== ============================================= ===================

    Raises FetchError or UsageError if there are no objects, hosts cannot be identified,
    or dask.dataframe is missing.
    """
    try:
        import dask.dataframe as dd
    except ImportError:
        raise UsageError(
            "ddf needs more: pip install 'pprofdiff[fleet]' 'dask[dataframe]'"
        ) from None
    import pandas as pd

    from pprofdiff.fleets.over import series_tasks
    from pprofdiff.fleets.sides import FleetOptions
    from pprofdiff.fleets.steps import in_seconds, step_rule

    seconds = in_seconds(every)
    if over == "time" and seconds is None:
        raise UsageError('ddf: over="time" needs every=, the width of a window')
    steps = step_rule(over, seconds) if over else None
    listed = series_tasks(words_of(paths), steps, FleetOptions(by=by))
    empty = pd.DataFrame(columns=[*_CELL, "function", "flat", "cum"])
    return dd.from_map(
        _rows, listed.tasks, max_skipped=max_skipped, meta=_typed(empty, over)
    )


def _rows(task: TallyTask, max_skipped: float) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from pprofdiff.fleets.tallies import read_tally

    tally = read_tally(task)
    left = sum(tally.skipped.values())
    if left > max_skipped * len(task.paths):
        reason = max(tally.skipped, key=lambda one: (tally.skipped[one], one))
        raise FormatError(
            f"{printable(tally.first[reason])}: {reason}; max_skipped= leaves some out"
        )
    sums = tally.sums
    cells, names = (np.empty(len(one), object) for one in (sums.cells, sums.names))
    cells[:], names[:] = [*map(_words, sums.cells)], sums.names
    cell, name = np.divmod(sums.entries, max(len(names), 1))
    frame = pd.DataFrame(cells[cell].tolist(), columns=[*_CELL])
    frame["function"] = names[name]
    frame["flat"], frame["cum"] = sums.flat, sums.cum
    rule = task.steps
    return _typed(frame, "" if rule is None else "time" if rule.width_s else "build")


def _words(cell: Cell) -> tuple[str, str | int, str, str]:
    return cell.unit, cell.step, cell.kind, cell.sample_type.unit


def _typed(frame: pd.DataFrame, over: str) -> pd.DataFrame:
    """Return a frame with the dtypes that `ddf` documents, even if it is empty."""
    import pandas as pd

    words = dict.fromkeys(("host", "kind", "unit", "function"), "str")
    frame = frame.astype({**words, "flat": "int64", "cum": "int64"})
    if over == "time":
        seconds = frame["step"].astype("int64")
        starts = pd.to_datetime(seconds, unit="s", utc=True)
        return frame.assign(step=starts.astype("datetime64[ns, UTC]"))
    return frame.astype({"step": "str"}) if over else frame.drop(columns="step")


_SORTS = ("group", "category", "function")


@dataclass(frozen=True, eq=False, repr=False)
class FleetSeries(Shown):
    """Profiles of many hosts by step: builds in order, or windows of time."""

    data: JudgedSeries
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        series = self.data.series
        first, last = (series.steps[i].name for i in (0, -1))
        noun = "windows" if series.width_s else "builds"
        kinds = ", ".join(kind.kind for kind in series.kinds)
        return (
            f"<FleetSeries {first!r} → {last!r}: {len(series.steps)} {noun}, "
            f"{series.hosts:,} hosts: {kinds}>"
        )

    def __len__(self) -> int:
        return len(self.data.series.steps)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """The data in each step: one row per step, in order.

        ============== ============================================= ===================
        step           its name                                      string
        start          start of a window; NaT for builds             datetime64[ns, UTC]
        hosts          number of hosts                               int64
        profiles       number of profiles, of all kinds              int64
        ============== ============================================= ===================
        """
        import pandas as pd

        steps = self.data.series.steps
        known = [step.start_ns for step in steps]
        starts = [pd.NaT if ns is None else pd.Timestamp(ns, tz="UTC") for ns in known]
        return pd.DataFrame(
            {
                "step": [step.name for step in steps],
                "start": pd.Series(starts, dtype="datetime64[ns, UTC]"),
                "hosts": [step.hosts for step in steps],
                "profiles": [step.profiles for step in steps],
            }
        )

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The curves: one row per curve and step.

        Curves are groups and categories of runtime costs, and the flat values of
        functions that reach 0.1% of the total at some step.

        ============== ============================================= ============
        kind           kind of profile, such as cpu                  string
        sort           group, category or function                   categorical
        name           id of a group or category, or a function      string
        step           the step's name                               string
        value          sum over all hosts, raw                       int64
        share          fraction of the step's total; NaN without     float64
                       profiles
        deviation      standard deviation of the share, from how     float64
                       hosts vary; NaN if unknown
        ============== ============================================= ============
        """
        import pandas as pd

        every = [(kind, curve) for kind in self.data.kinds for curve in kind.curves]
        count = len(self)

        def joined(columns: list[np.ndarray], dtype: type) -> np.ndarray:
            return np.concatenate([np.zeros(0, dtype), *columns])

        columns = {
            "kind": np.repeat([kind.measured.kind for kind, _ in every], count),
            "sort": np.repeat([curve.sort for _, curve in every], count),
            "name": np.repeat([curve.key for _, curve in every], count),
            "step": self._step_names * len(every),
            "value": joined([curve.raw for _, curve in every], np.int64),
            "share": joined([curve.shares for _, curve in every], np.float64),
            "deviation": joined([curve.deviation for _, curve in every], np.float64),
        }
        return _categorical(pd.DataFrame(columns))

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Where curves changed: one row per change, functions first, largest first.

        ============== ============================================= ============
        kind           kind of profile                               string
        sort           group, category or function                   categorical
        name           as in `curves`                                string
        step           the first step with the new share             string
        before, after  the share before and from that step on        float64
        delta          their difference                              float64
        low, high      its 95% CI                                    float64
        false_rate     the false discovery rate at which the change  float64
                       is significant
        ============== ============================================= ============
        """
        import pandas as pd

        names = self._step_names
        rows = [
            (
                *(kind.measured.kind, curve.sort, curve.key, names[change.step]),
                *(change.before, change.after, change.delta, change.low, change.high),
                change.q,
            )
            for kind in self.data.kinds
            for curve in kind.curves
            for change in curve.changes
        ]
        rows.sort(key=lambda row: (-_SORTS.index(row[1]), -abs(row[6])))
        columns = [
            *("kind", "sort", "name", "step", "before", "after", "delta"),
            *("low", "high", "false_rate"),
        ]
        return _categorical(pd.DataFrame(rows, columns=columns))

    plot = plotted("curves", "the curves of functions, or of groups")

    def to_text(self, path: Path | None = None, *, full: bool = False) -> str | None:
        """Return what the command line prints, or write it to `path`."""
        return delivered(render(series_parts(self._report, full=full)), path)

    def to_json(self, path: Path | None = None) -> str | None:
        """Return the series as JSON (``pprofdiff-series/1``), or write it to `path`."""
        from pprofdiff.report.series.document import render as document

        return delivered(document(self._report), path)

    def to_html(self, path: Path | None = None) -> str | None:
        """Return the series as one self-contained page, or write it to `path`."""
        from pprofdiff.report.series.page import render as page

        return delivered(page(self._report), path)

    @property
    def _step_names(self) -> list[str]:
        return [step.name for step in self.data.series.steps]

    @cached_property
    def _report(self) -> SeriesReport:
        return series_report(self.data, self.notes)

    def _card(self) -> Card:
        from pprofdiff.notebook import ROWS, Card

        report, kind = self._report, self.data.kinds[0]
        tables = tables_of(kind_tables(report, kind, most=ROWS))
        warnings = [printable(one.text) for one in report.warnings]
        steps = self._step_names
        return Card(
            labels=(steps[0], steps[-1]),
            kind=kind.measured.kind,
            lead=headline(report),
            table=tables[-1],
            below=" ".join([over_words(self.data.series), *warnings]),
            findings=tuple((0, printable(words)) for words in step_sentences(report)),
        )


def _categorical(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    return frame.assign(sort=pd.Categorical(frame["sort"], _SORTS))
