"""GC logs and their comparison: `GCLog`, `GCLogDiff`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from pprofdiff.analysis.gclogs.catalogue import FIGURES
from pprofdiff.analysis.gclogs.compare import GCDiff, compare_sides
from pprofdiff.analysis.gclogs.side import GCSide, unusable
from pprofdiff.analysis.gclogs.side import side_of as gc_side_of
from pprofdiff.analysis.judge.judgement import Mark
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.api.reported import KindDiff
from pprofdiff.api.shown import LoadedInput, plotted, side_of
from pprofdiff.errors import FormatError
from pprofdiff.kinds import KindId
from pprofdiff.model import gclogs as columns

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class GCLog(LoadedInput[columns.GCLog]):
    """A GC log (``GODEBUG=gctrace=1``): `data` has the GC cycles of its processes."""

    kind: ClassVar[KindId] = "gctrace"

    path: str = "log"

    def __repr__(self) -> str:
        if not self.data.runs or not self.data.longest.lines_seen:
            return f"<GCLog {self.path!r}: no whole line>"
        run = self.data.longest
        seconds = int(run.cycles.start_ms[-1]) / 1000
        more = f", {len(self.data.runs)} processes" if len(self.data.runs) > 1 else ""
        return (
            f"<GCLog {self.path!r}: {run.lines_seen} of {run.lines_expected} cycles in "
            f"{seconds:.1f} s{more}>"
        )

    def __sub__(self, base: GCLog) -> GCLogDiff:
        """Return what changed from base to this log."""
        return subtracted([base], [self])

    @property
    def cycles(self) -> pd.DataFrame:
        """The longest run, one row per GC cycle; see `model.gclogs.Cycles.to_frame`."""
        return self.data.cycles

    @cached_property
    def side(self) -> GCSide:
        """The data for comparisons. Raises FormatError if no line is complete."""
        side = gc_side_of(self.label or self.path, [self.capture], None)
        if side is None:
            raise FormatError(next(unusable([self.capture])).text)
        return side

    @property
    def _analysed(self) -> GCSide:
        return self.side

    @property
    def figures(self) -> pd.DataFrame:
        """Sums over all lines, and rates under load: one row per figure; index: its id.

        ============== ============================================= ============
        name           description                                   string
        fields         gctrace fields that it is computed from:      string
                       ``gc N @T U%: s+m+t ms clock, S+A/D/I+T ms
                       cpu, H0->H1->H2 MB, G MB goal, P P``
        of             all: every line; load: the cycles under load  categorical
        value          NaN if unknown                                float64
        unit           us, MiB, 1/s, share, percent or count         string
        ============== ============================================= ============
        """
        frame = _figures()
        frame.insert(3, "value", _values(self.side, frame))
        return frame


@dataclass(frozen=True, eq=False, repr=False)
class GCLogDiff(KindDiff[GCDiff]):
    """What changed between two GC logs.

    ``data.factors`` splits the change of GC CPU into its factors, ``data.restored`` is
    the GOGC or GOMEMLIMIT that restores base's GC frequency; `figures` and `cycles` are
    DataFrames.
    """

    kind: ClassVar[KindId] = "gctrace"

    def __repr__(self) -> str:
        sides = (self.data.base.whole, self.data.new.whole)
        cycles = " → ".join(f"{whole.cycles}" for whole in sides)
        cpu = " → ".join(f"{whole.times.gc_cpu_us / 1e6:.3g}" for whole in sides)
        return (
            f"<GCLogDiff {self.data.base.label!r} → {self.data.new.label!r}: {cycles} "
            f"cycles, GC CPU {cpu} s>"
        )

    @property
    def figures(self) -> pd.DataFrame:
        """Sums and rates of both sides: one row per figure; index: its id.

        In place of the value in `GCLog.figures` there are, of all lines or those in the
        requested window:

        ============== ============================================= ============
        base, new,     in `unit`; NaN if unknown                     float64
        delta
        ratio          new / base; NaN if base is 0                  float64
        low, high      95% CI of the ratio over runs, NaN if unknown float64
        mark           more, less, noise or unknown                  categorical
        ============== ============================================= ============
        """
        import pandas as pd

        frame = _figures()
        base, new = (_values(side, frame) for side in (self.data.base, self.data.new))
        estimates = pd.DataFrame(self.data.estimates.values(), frame.index)
        ratio = new / base.where(base != 0)
        values: dict[str, Any]
        values = {"base": base, "new": new, "delta": new - base, "ratio": ratio}
        values |= {name: estimates[name].astype("float64") for name in ("low", "high")}
        values["mark"] = pd.Categorical(estimates["mark"], [*get_args(Mark)])
        for place, (name, column) in enumerate(values.items(), 3):
            frame.insert(place, name, column)
        return frame

    @property
    def cycles(self) -> pd.DataFrame:
        """Both sides' GC cycles: one row per cycle, by side, then in order.

        ============== ============================================= ============
        side           base or new                                   categorical
        number         N of ``gc N``                                 int64
        in_window      whether rates and means include it            bool
        start_ms, …    as in `GCLog.cycles`; the suffix is the unit: int64, bool
                       ``_ms``, ``_us`` or ``_mb`` (MiB)
        ============== ============================================= ============
        """
        import pandas as pd

        parts = []
        for name, side in (("base", self.data.base), ("new", self.data.new)):
            part = side.shown.run.cycles.to_frame().reset_index()
            part.insert(0, "side", name)
            rows = pd.RangeIndex(len(part))
            first, stop = side.shown.window.first, side.shown.window.stop
            part.insert(2, "in_window", (rows >= first) & (rows < stop))
            parts.append(part)
        frame = pd.concat(parts, ignore_index=True)
        frame["side"] = pd.Categorical(frame["side"], ["base", "new"])
        return frame

    plot_pauses = plotted("pauses", "the distribution of pauses")


def subtracted(
    base: Sequence[GCLog], new: Sequence[GCLog], settings: Settings = DEFAULTS
) -> GCLogDiff:
    """Return new minus base; of several logs of a side, uses the run with most cycles.

    Raises FormatError if a side has no complete line, UsageError if an interval holds
    no cycle.
    """
    sides = side_of(base, "base"), side_of(new, "new")
    result = compare_sides(*sides, settings)
    if result is None:
        logs = (log for side in sides for log in side.of("gctrace"))
        raise FormatError("; ".join(caveat.text for caveat in unusable([*logs])))
    return GCLogDiff(result, sides)


def _figures() -> pd.DataFrame:
    """Return the description of figures: index id; name, fields, of, unit."""
    import pandas as pd

    ids = [figure.key for figure in FIGURES]
    of = ["load" if figure.load else "all" for figure in FIGURES]
    return pd.DataFrame(
        {
            "name": [figure.label for figure in FIGURES],
            "fields": [figure.fields for figure in FIGURES],
            "of": pd.Categorical(of, ["all", "load"]),
            "unit": [figure.unit for figure in FIGURES],
        },
        index=pd.Index(ids, name="figure", dtype=object),
    )


def _values(side: GCSide, frame: pd.DataFrame) -> pd.Series[float]:
    """Return one side's figures as a column for the frame of `_figures`."""
    import pandas as pd

    values = [f.of(side) for f in FIGURES]
    return pd.Series(values, frame.index, "float64")
