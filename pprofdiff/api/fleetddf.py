"""A fleet as a lazy Dask DataFrame: `ddf`, sums per host and function."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pprofdiff.api.comparison import Paths, words_of
from pprofdiff.errors import FormatError, UsageError
from pprofdiff.units import printable

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.fleets.cells import Cell
    from pprofdiff.fleets.tallies import TallyTask

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
