"""A fleet over several steps: `FleetSeries`, which `fleet` returns with ``over``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.series.judged import JudgedSeries
from pprofdiff.api.reported import Path, delivered
from pprofdiff.api.shown import Shown, plotted
from pprofdiff.report.series.model import SeriesReport, series_report
from pprofdiff.report.series.sentences import series_parts
from pprofdiff.report.text.plain import render

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.notebook import Card

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
        from pprofdiff.notebook.series import series_card

        return series_card(self._report)


def _categorical(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    return frame.assign(sort=pd.Categorical(frame["sort"], _SORTS))
