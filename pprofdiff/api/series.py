"""A fleet step by step: `FleetSeries`, which `fleet` returns with ``over``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pprofdiff.analysis.series.judged import JudgedSeries
from pprofdiff.api.reported import Path, delivered
from pprofdiff.api.shown import Shown
from pprofdiff.report.series.model import SeriesReport, series_report
from pprofdiff.report.series.told import series_parts
from pprofdiff.report.text.plain import render

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pprofdiff.notebook import Card

__all__ = ["FleetSeries"]


@dataclass(frozen=True, eq=False, repr=False)
class FleetSeries(Shown):
    """Profiles of many hosts, step by step: builds in order, or windows of time.

    `notes` say what was left out.
    """

    data: JudgedSeries
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the first and last step, and how many there are."""
        series = self.data.series
        first, last = (series.steps[i].name for i in (0, -1))
        noun = "windows" if series.width_s else "builds"
        kinds = ", ".join(kind.kind for kind in series.kinds)
        return (
            f"<FleetSeries {first!r} → {last!r}: {len(series.steps)} {noun}, "
            f"{series.hosts:,} hosts: {kinds}>"
        )

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.data.series.steps)

    @property
    def drawable(self) -> JudgedSeries:
        """What `pprofdiff.plots.curves` draws."""
        return self.data

    @cached_property
    def steps(self) -> pd.DataFrame:
        """What there is of each step: one row a step, in order.

        ============== ============================================= ===================
        column         meaning                                       type
        ============== ============================================= ===================
        step           its name                                      string
        start          when a window begins; NaT for builds          datetime64[ns, UTC]
        hosts          how many                                      int64
        profiles       how many, of all kinds                        int64
        ============== ============================================= ===================
        """
        from pprofdiff.api.seriesframes import steps_frame

        return steps_frame(self.data)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Each curve step by step: one row a curve and step.

        Curves are groups and categories of runtime costs, and functions by their flat
        value that have 0.1 % of the total at some step.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        kind           of profile, such as cpu                       string
        sort           group, category or function                   categorical
        name           the id of a group or category, or a function  string
        step           the step's name                               string
        value          the sum over all hosts, raw                   int64
        share          of the step's total; NaN without profiles     float64
        deviation      of the share, as hosts spread; NaN where      float64
                       that is not known
        ============== ============================================= ============
        """
        from pprofdiff.api.seriesframes import curves_frame

        return curves_frame(self.data)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Where curves changed: one row a change, functions by falling size first.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        kind           of profile                                    string
        sort           group, category or function                   categorical
        name           as in `curves`                                string
        step           the first step with the new share             string
        before, after  the share until then, and from then on        float64
        delta          their difference                              float64
        low, high      its 95 % interval                             float64
        false_rate     the rate of false discoveries at which this   float64
                       is one
        ============== ============================================= ============
        """
        from pprofdiff.api.seriesframes import changes_frame

        return changes_frame(self.data)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw the curves of functions, or of groups; see `plots.curves`."""
        from pprofdiff.plots import curves

        return curves(self.data, ax, **options)

    def to_text(self, path: Path | None = None, *, full: bool = False) -> str | None:
        """Return what the command line prints, or write it to `path`.

        `full` is its ``--full``: every function and category.
        """
        return delivered(render(series_parts(self._report, full=full)), path)

    def to_json(self, path: Path | None = None) -> str | None:
        """Return it as JSON (``pprofdiff-series/1``), or write it to `path`."""
        from pprofdiff.report.series.document import render as document

        return delivered(document(self._report), path)

    def to_html(self, path: Path | None = None) -> str | None:
        """Return it as one page without links out, or write it to `path`."""
        from pprofdiff.report.series.page import render as page

        return delivered(page(self._report), path)

    @cached_property
    def _report(self) -> SeriesReport:
        return series_report(self.data, self.notes)

    def _card(self) -> Card:
        from pprofdiff.notebook.series import series_card

        return series_card(self._report)
