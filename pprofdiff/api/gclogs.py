"""GC logs and their comparison: `GCLog`, `GCLogDiff`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pprofdiff.analysis.gclogs.compare import (
    Factors,
    GCDiff,
    Restored,
    compare_sides,
)
from pprofdiff.analysis.gclogs.side import GCSide, unusable
from pprofdiff.analysis.gclogs.side import side_of as gc_side_of
from pprofdiff.analysis.gclogs.window import Span
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.analysis.work import rated
from pprofdiff.api.loaded import LoadedInput, side_of
from pprofdiff.api.plotted import PlottedLogs
from pprofdiff.api.reported import KindDiff
from pprofdiff.errors import FormatError
from pprofdiff.kinds import KindId
from pprofdiff.model import gclogs as columns
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.sections.gclogs import RATES, SUMS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GCLog", "GCLogDiff", "loaded", "subtracted"]


@dataclass(frozen=True, eq=False, repr=False)
class GCLog(LoadedInput[columns.GCLog]):
    """A GC log (``GODEBUG=gctrace=1``): its runs, and where it is from.

    `cycles` is a DataFrame of the longest run, one row a collection; ``new - base`` is
    ``diff(base, new)``.
    """

    kind: ClassVar[KindId] = "gctrace"

    path: str = "log"

    def __repr__(self) -> str:
        """Return one line: where from, cycles and how long."""
        if not self.runs or not self.longest.lines_seen:
            return f"<GCLog {self.path!r}: no whole line>"
        run = self.longest
        seconds = int(run.cycles.start_ms[-1]) / 1000
        more = f", {len(self.runs)} processes" if len(self.runs) > 1 else ""
        return (
            f"<GCLog {self.path!r}: {run.lines_seen} of {run.lines_expected} cycles in "
            f"{seconds:.1f} s{more}>"
        )

    def __sub__(self, base: GCLog) -> GCLogDiff:
        """Return what changed from base to this."""
        return subtracted([base], [self])

    @property
    def runs(self) -> tuple[columns.GCRun, ...]:
        """The collections of each process in the log, in the order they begin."""
        return self.data.runs

    @property
    def longest(self) -> columns.GCRun:
        """The run with the most collections, the first of equals."""
        return self.data.longest

    @property
    def cycles(self) -> pd.DataFrame:
        """The collections of the longest run; see `model.gclogs.Cycles.to_frame`."""
        return self.data.cycles

    @cached_property
    def side(self) -> GCSide:
        """What is compared of it. Raises FormatError where no line is whole."""
        side = gc_side_of(self.label or self.path, [self.capture], None)
        if side is None:
            raise FormatError(next(unusable([self.capture])).text)
        return side

    @property
    def drawable(self) -> GCSide:
        """What `pprofdiff.plots` draws."""
        return self.side

    @property
    def figures(self) -> pd.DataFrame:
        """Sums of all lines, and rates under load: one row a figure; index: its id.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        name           what it is, in words                          string
        fields         the fields of a gctrace line it is made of:   string
                       ``gc N @T U%: s+m+t ms clock, S+A/D/I+T ms
                       cpu, H0->H1->H2 MB, G MB goal, P P``
        of             all: every line; load: the cycles under load  categorical
        value          NaN where the log cannot say                  float64
        unit           us, MiB, 1/s, share, percent or count         string
        ============== ============================================= ============
        """
        frame = _figures()
        frame.insert(3, "value", _values(self.side, frame))
        return frame


@dataclass(frozen=True, eq=False, repr=False)
class GCLogDiff(KindDiff[GCDiff], PlottedLogs):
    """What changed between two GC logs.

    `factors` says which factor moved the GC's CPU, `restored` which GOGC or GOMEMLIMIT
    gives the base's cadence back; `figures` and `cycles` are DataFrames.
    """

    kind: ClassVar[KindId] = "gctrace"

    def __repr__(self) -> str:
        """Return one line: cycles and GC CPU of both sides."""
        sides = (self.base.whole, self.new.whole)
        cycles = " → ".join(f"{whole.cycles}" for whole in sides)
        cpu = " → ".join(f"{whole.times.gc_cpu_us / 1e6:.3g}" for whole in sides)
        return (
            f"<GCLogDiff {self.base.label!r} → {self.new.label!r}: {cycles} cycles, "
            f"GC CPU {cpu} s>"
        )

    @property
    def base(self) -> GCSide:
        """Base's collections: the run that is compared, and the window in it."""
        return self.data.base

    @property
    def new(self) -> GCSide:
        """New's collections: the run that is compared, and the window in it."""
        return self.data.new

    @property
    def rates(self) -> tuple[float, float] | None:
        """Operations a second of (base, new); None where they are not known."""
        return self.data.rates

    @property
    def factors(self) -> Factors | None:
        """Which factor moved the GC's CPU; None where a side has no rate."""
        return self.data.factors

    @property
    def restored(self) -> Restored | None:
        """The GOGC and heap that give the base's cadence back; None where unknown."""
        return self.data.restored

    @property
    def figures(self) -> pd.DataFrame:
        """Sums and rates of both sides: one row a figure; index: its id.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        name           what it is, in words                          string
        fields         the fields of a gctrace line it is made of:   string
                       ``gc N @T U%: s+m+t ms clock, S+A/D/I+T ms
                       cpu, H0->H1->H2 MB, G MB goal, P P``
        of             all: every line, or those of the window that  categorical
                       was asked for; load: the cycles under load
        base, new,     in `unit`; NaN where a log cannot say         float64
        delta
        ratio          new / base; NaN where the base is 0           float64
        low, high      95 % interval of the ratio over runs; NaN     float64
                       where none is known
        mark           more, less, noise or unknown                  categorical
        unit           us, MiB, 1/s, share, percent or count         string
        ============== ============================================= ============
        """
        frame = _figures()
        base, new = (_values(side, frame) for side in (self.base, self.new))
        ratio = new / base.where(base != 0)
        values = {"base": base, "new": new, "delta": new - base, "ratio": ratio}
        values |= self._judged()
        for place, (name, column) in enumerate(values.items(), 3):
            frame.insert(place, name, column)
        return frame

    def _judged(self) -> dict[str, Any]:
        """Return the columns of `figures` that say how sure its ratios are."""
        import pandas as pd

        changes = [self.data.changes.get(f.path) for f in (*SUMS, *RATES)]
        bounds = [
            (None, None) if c is None or c.low is None else (c.low, c.high)
            for c in changes
        ]
        low, high = np.exp(np.array(bounds, np.float64)).T
        marks = ["unknown" if c is None else c.mark for c in changes]
        mark = pd.Categorical(marks, ["more", "less", "noise", "unknown"])
        return {"low": low, "high": high, "mark": mark}

    @property
    def cycles(self) -> pd.DataFrame:
        """Both sides' collections: one row a collection, by side, then in order.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        side           base or new                                   categorical
        number         N of ``gc N``                                 int64
        in_window      whether rates and means count it              bool
        start_ms, …    as in `GCLog.cycles`: ``_ms``, ``_us`` and    int64, bool
                       ``_mb`` (MiB) say the unit
        ============== ============================================= ============
        """
        import pandas as pd

        parts = []
        for name, side in (("base", self.base), ("new", self.new)):
            part = side.run.cycles.to_frame().reset_index()
            part.insert(0, "side", name)
            rows = pd.RangeIndex(len(part))
            first, stop = side.window.first, side.window.stop
            part.insert(2, "in_window", (rows >= first) & (rows < stop))
            parts.append(part)
        frame = pd.concat(parts, ignore_index=True)
        frame["side"] = pd.Categorical(frame["side"], ["base", "new"])
        return frame

    def window(
        self,
        start: float | None = None,
        end: float | None = None,
        *,
        new: tuple[float | None, float | None] | None = None,
    ) -> GCLogDiff:
        """Return the comparison of what began in these seconds since process start.

        `new` gives the new side seconds of its own, as ``--window`` does. Raises
        UsageError where no collection began then.
        """
        span = Span(start, end)
        spans = span, span if new is None else Span(*new)
        work = None if self.rates is None else rated(self.rates)
        return _compared(*self.sides, Settings(work=work, spans=spans))


def loaded(
    captures: Sequence[Capture[columns.GCLog]], label: str | None, _name: str
) -> GCLog:
    """Return the first of the captures as `load` does."""
    return GCLog(captures[0].content, label, captures[0].path)


def subtracted(
    base: Sequence[GCLog], new: Sequence[GCLog], settings: Settings = DEFAULTS
) -> GCLogDiff:
    """Return new minus base; of several logs of a side, the run with most cycles.

    Operations counted in `settings.work` were done in the span, or else the window.
    Raises FormatError where a side has no whole line, UsageError where a span holds no
    collection.
    """
    return _compared(side_of(base, "base"), side_of(new, "new"), settings)


def _compared(base: Side, new: Side, settings: Settings) -> GCLogDiff:
    result = compare_sides(base, new, settings)
    if result is None:
        raise FormatError(
            "; ".join(
                caveat.text
                for side in (base, new)
                for caveat in unusable(side.of("gctrace"))
            )
        )
    return GCLogDiff(result, (base, new))


def _figures() -> pd.DataFrame:
    """Return what names the figures: index id; name, fields, of, unit."""
    import pandas as pd

    rows = [(f, of) for of, table in (("all", SUMS), ("load", RATES)) for f in table]
    ids = [figure.key for figure, _ in rows]
    return pd.DataFrame(
        {
            "name": [figure.name for figure, _ in rows],
            "fields": [figure.fields for figure, _ in rows],
            "of": pd.Categorical([of for _, of in rows], ["all", "load"]),
            "unit": [figure.unit for figure, _ in rows],
        },
        index=pd.Index(ids, name="figure", dtype=object),
    )


def _values(side: GCSide, frame: pd.DataFrame) -> pd.Series[float]:
    """Return one side's figures as a column of the frame that names them."""
    import pandas as pd

    values = [
        figure.of(sums)
        for table, sums in ((SUMS, side.whole), (RATES, side.steady))
        for figure in table
    ]
    return pd.Series(values, frame.index, "float64")
