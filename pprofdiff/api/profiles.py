"""Profiles and their comparison: `Profile`, `Diff`, `Summary`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec.structs import replace

from pprofdiff.analysis.control.about_work import at_about_equal_work, shows_work
from pprofdiff.analysis.profiles.diff import ProfileDiff, compare
from pprofdiff.analysis.profiles.filters import Filters, filtered
from pprofdiff.analysis.profiles.groups import blame_frame, categories_frame
from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.analysis.profiles.labels import labels_frame
from pprofdiff.analysis.profiles.rows import Granularity
from pprofdiff.analysis.profiles.side import side
from pprofdiff.analysis.profiles.single import profile_sums, stacks_frame
from pprofdiff.analysis.profiles.tables import VALUE_COLUMNS, ValueColumn
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.analysis.work import counted
from pprofdiff.api.reported import KindDiff, Path, delivered
from pprofdiff.api.shown import LoadedInput, plotted, side_of
from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.kinds import KindId
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.model.profiles import profile as columns
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.files import writer_for
from pprofdiff.units import printable

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.notebook.flames import FlameGraph


@dataclass(frozen=True, eq=False, repr=False)
class Profile(LoadedInput[columns.Profile]):
    """A profile; for its columns see `data`, a `model.profiles.profile.Profile`.

    ``new - base`` is ``diff(base, new)``: the direction is always new minus base.
    """

    kind: ClassVar[KindId] = "profile"

    path: str = "profile"

    @classmethod
    def of(
        cls, captures: Sequence[Capture[columns.Profile]], label: str | None, name: str
    ) -> Profile:
        """Return merged captures.

        Raises IncompatibleProfilesError if they are of several kinds.
        """
        profiles = [capture.content for capture in captures]
        names = dict.fromkeys(map(kind_name, profiles))
        if len(names) > 1:
            raise IncompatibleProfilesError(
                f"{printable(name)}: profiles of several kinds ({', '.join(names)}): "
                "load one file, or give both folders to pprofdiff.compare(base, new)"
            )
        return Profile(merge(profiles), label, name)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return repr(self.data)

    def __sub__(self, base: Profile) -> Diff:
        """Return what changed from base to this profile."""
        return subtracted([base], [self])

    def top(self, n: int | None = 20, by: ValueColumn = "flat") -> pd.DataFrame:
        """Return the top `n` functions by ``flat`` or ``cum``; None for all.

        Index: function. In the default sample type:

        ============== ============================================= ============
        flat           the function alone, in the type's unit        int64
        cum            including its callees                         int64
        file           its source file, "" if not recorded           string
        ============== ============================================= ============
        """
        frame = profile_sums(self.data).functions_frame()
        return frame.sort_values(_flat_or_cum(by), ascending=False, kind="stable")[:n]

    @property
    def categories(self) -> pd.DataFrame:
        """What the Go runtime did: one row per category; empty if not CPU time.

        ============== ============================================= ============
        group          group of categories that it belongs to        string
        value          in the default sample type's unit             int64
        share          fraction of the total                         float64
        ============== ============================================= ============
        """
        return profile_sums(self.data).categories_frame()

    @property
    def stacks(self) -> pd.DataFrame:
        """One row per distinct stack, root first; one int64 column per sample type.

        ``data.to_frame()`` has one row per sample, with its labels.
        """
        return stacks_frame(self.data)

    def filter(self, **patterns: str) -> Profile:
        """Return the profile with patterns applied, as on the command line.

        `patterns`: focus, ignore, hide, show, show_from, tagfocus, tagignore.
        """
        return dataclasses.replace(
            self, data=filtered(self.data, filters_of(patterns)).profile
        )

    def to_pprof(self, path: Path | None = None) -> bytes | None:
        """Return the profile as ``.pb.gz`` bytes, or write them to `path`."""
        return delivered(compress(encode(self.data)), path)


@dataclass(frozen=True, slots=True)
class Summary:
    """A diff in a few numbers: raw totals in `unit`; `ratio` is scaled new/base."""

    name: str
    sample_type: str
    unit: str
    mode: str
    base: int
    new: int
    delta: int
    ratio: float | None
    functions_new: int
    functions_gone: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Diff(KindDiff[ProfileDiff]):
    """What changed between two profiles, in one sample type.

    `functions`, `lines`, `files`, `packages`, `stacks`, `categories` and `blame` are
    DataFrames (see `analysis.profiles.tables.Table.to_frame`), built on demand; raw
    numbers are int64. `data` has the rest: totals, sample type, normalization, warnings
    and both sides' profiles.
    """

    kind: ClassVar[KindId] = "profile"

    def __repr__(self) -> str:
        base, new = self.data.totals
        return (
            f"<Diff {self.data.sample_type.type}/{self.data.unit}: "
            f"base {base}, new {new}, delta {new - base:+d}>"
        )

    @property
    def _results(self) -> tuple[ProfileDiff, ...]:
        return (self.data,)

    @property
    def functions(self) -> pd.DataFrame:
        """One row per function."""
        return self._table("functions")

    @property
    def lines(self) -> pd.DataFrame:
        """One row per source line, named ``function file:line``."""
        return self._table("lines")

    @property
    def files(self) -> pd.DataFrame:
        """One row per source file."""
        return self._table("files")

    @property
    def packages(self) -> pd.DataFrame:
        """One row per Go package."""
        return self._table("packages")

    @property
    def stacks(self) -> pd.DataFrame:
        """One row per stack, function names joined with ``;``, root first."""
        return self._table("stacks")

    def _table(self, granularity: Granularity | Literal["stacks"]) -> pd.DataFrame:
        return self.data.table(granularity).to_frame()

    @property
    def categories(self) -> pd.DataFrame:
        """One row per runtime category; see `groups.categories_frame`."""
        return categories_frame(self.data)

    @property
    def blame(self) -> pd.DataFrame:
        """One row per category and call site; see `groups.blame_frame`."""
        return blame_frame(self.data)

    @property
    def summary(self) -> Summary:
        """Totals, mode, and how many functions are new or gone."""
        base, new = self.data.totals
        by = self.data.normalization
        status = self.data.table("functions").status()
        return Summary(
            name=self.data.name,
            sample_type=self.data.sample_type.type,
            unit=self.data.unit,
            mode=by.mode,
            base=base,
            new=new,
            delta=new - base,
            ratio=by.ratio(base, new),
            functions_new=int((status == 1).sum()),
            functions_gone=int((status == 2).sum()),
            warnings=tuple(caveat.text for caveat in self.data.warnings),
        )

    def top(self, n: int = 20, by: ValueColumn = "flat") -> pd.DataFrame:
        """Return the `n` functions whose ``flat`` or ``cum`` changed most."""
        table = self.data.table("functions")
        order = table.order(_flat_or_cum(by))[:n]
        return table.to_frame().loc[[table.names[i] for i in order.tolist()]]

    def filter(self, **patterns: str) -> Diff:
        """Return the diff with patterns applied to both sides (`Profile.filter`)."""
        filters = filters_of(patterns)
        base, new = (
            side(one.label, [_filtered(run, filters) for run in one.runs])
            for one in (self.data.base, self.data.new)
        )
        mode = self.data.normalization.mode
        if mode != "composition" and not (mode == "about" and shows_work(self.data)):
            return diff_of(replace(self.data, base=base, new=new))
        # Shares refer to the filtered total, and so does the code that estimates the
        # work.
        kind, identity = self.data.sample_type.type, self.data.identity
        diff = compare(base, new, sample_type=kind, identity=identity)
        return diff_of(at_about_equal_work((diff,), *self.sides)[0])

    def normalize(self, *, work: tuple[float, float] | None = None) -> Diff:
        """Return the diff per op of (base, new), or with new scaled to base's total."""
        return diff_of(
            compare(
                self.data.base,
                self.data.new,
                sample_type=self.data.sample_type.type,
                normalize=work is None,
                work=None if work is None else counted(work),
                identity=self.data.identity,
            )
        )

    @property
    def labels(self) -> pd.DataFrame:
        """Sums per sample label: one row per key and value, largest change first.

        ============== ============================================= ============
        key, value     of the label; value "" means all samples      string
                       without that key
        base, new,     raw sums, in `unit`; 0 if a side has none     int64
        delta
        status         both, new or gone                             categorical
        base_scaled,   per second, per op … (see `summary`)          float64
        new_scaled,
        delta_scaled
        z, noise       standard deviations; within noise (if there   float64,
                       is a noise model)                             bool
        ============== ============================================= ============
        """
        return labels_frame(self.data)

    plot_top = plotted("movers", "the functions that changed most")
    plot_waterfall = plotted("waterfall", "how base's total becomes new's")
    plot_flamegraph = plotted("flamegraph", "both sides' stacks as one flame graph")

    def flamegraph(self, height: int = 560, *, budget: int = 1_500) -> FlameGraph:
        """Return the interactive flame graph for Jupyter, `height` CSS pixels high.

        Where frames are not supported, as on GitHub, a picture is shown instead. A
        smaller `budget` of functions makes a smaller notebook.
        """
        from pprofdiff.notebook.flames import FlameGraph

        return FlameGraph(self.data, height, budget, self._causes)

    def to_csv(self, path: Path | None = None) -> str | None:
        """Return all functions as CSV, or write it to `path`."""
        return self._rendered(".csv", path)

    def to_pprof(self, path: Path | None = None) -> bytes | None:
        """Return the diff as a profile with ``pprof::base`` labels, or write it."""
        return delivered(writer_for(".pb.gz")(self.report()), path)


def subtracted(
    base: Sequence[Profile], new: Sequence[Profile], settings: Settings = DEFAULTS
) -> Diff:
    """Return new minus base, each side's profiles merged; see `pprofdiff.diff`."""
    sides = side_of(base, "base"), side_of(new, "new")
    old, current = (side(of.label, of.of("profile")) for of in sides)
    diff = compare(
        old,
        current,
        sample_type=settings.sample_type,
        normalize=settings.normalize,
        work=settings.work,
        identity=settings.identity_of([old.profile], [current.profile]),
    )
    if settings.work is None and not settings.normalize:
        (diff,) = at_about_equal_work((diff,), *sides)
    return diff_of(diff)


def diff_of(data: ProfileDiff) -> Diff:
    """Return the `Diff` of an analysed pair of profiles."""
    base, new = (Side(one.label, one.runs) for one in (data.base, data.new))
    return Diff(data, (base, new))


def filters_of(patterns: Mapping[str, str]) -> Filters:
    """Return filters by name; raises UsageError for unknown names."""
    names = [field.name for field in fields(Filters)]
    unknown = sorted(set(patterns) - set(names))
    if unknown:
        raise UsageError(
            f"no pattern named {unknown[0]!r}; choose from: {', '.join(names)}"
        )
    return Filters(**patterns)


def _filtered(
    capture: Capture[columns.Profile], filters: Filters
) -> Capture[columns.Profile]:
    return replace(capture, content=filtered(capture.content, filters).profile)


def _flat_or_cum(by: str) -> ValueColumn:
    for column in VALUE_COLUMNS:
        if by == column:
            return column
    raise UsageError(f"by={by!r}: must be 'flat' or 'cum'")
