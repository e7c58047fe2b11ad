"""Profiles and their comparison: `Profile`, `Diff`, `Summary`.

Nothing is changed in place: every method returns something new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.profiles.diff import ProfileDiff, compare
from pprofdiff.analysis.profiles.filters import filtered
from pprofdiff.analysis.profiles.side import Run, side
from pprofdiff.analysis.profiles.tables import VALUE_COLUMNS, ValueColumn
from pprofdiff.analysis.side import Side
from pprofdiff.analysis.work import Work, counted
from pprofdiff.api.plotted import PlottedProfiles
from pprofdiff.api.reported import Path, Reported, delivered
from pprofdiff.cli.options import Options
from pprofdiff.errors import UsageError
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.model.profiles import profile as columns
from pprofdiff.model.profiles.merge import merge
from pprofdiff.report.files import renderer_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Diff", "Profile", "Summary", "compare_profiles", "merged"]

_PATTERNS = (
    "focus",
    "ignore",
    "hide",
    "show",
    "show_from",
    "tagfocus",
    "tagignore",
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile(columns.Profile):
    """A loaded profile: its columns (`model.profiles.profile.Profile`), and its path.

    ``new - base`` is ``diff(base, new)``: the direction is always new minus base.
    """

    label: str | None = None
    path: str = "profile"

    def __sub__(self, base: Profile) -> Diff:
        """Return what changed from base to this."""
        return compare_profiles([base], [self])

    def top(self, n: int | None = 20, by: str = "flat") -> pd.DataFrame:
        """Return the `n` dearest functions by ``flat`` or ``cum``; None for all.

        Index: function. In the default sample type:

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        flat           by the function itself, in the type's unit    int64
        cum            with all that it calls                        int64
        file           where it is, "" if the profile does not say   string
        ============== ============================================= ============
        """
        from pprofdiff.analysis.profiles.single import profile_sums

        frame = profile_sums(self).functions_frame()
        return frame.sort_values(_flat_or_cum(by), ascending=False, kind="stable")[:n]

    @property
    def categories(self) -> pd.DataFrame:
        """What the Go runtime did: one row a category; empty if not CPU time.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        group          the group of categories it is shown under     string
        value          in the default sample type's unit             int64
        share          of the total                                  float64
        ============== ============================================= ============
        """
        from pprofdiff.analysis.profiles.single import profile_sums

        return profile_sums(self).categories_frame()

    @property
    def stacks(self) -> pd.DataFrame:
        """One row a distinct stack, named root first; one int64 column a sample type.

        `to_frame` has one row a sample, with its labels.
        """
        from pprofdiff.analysis.profiles.single import stacks_frame

        return stacks_frame(self)

    def filter(self, **patterns: str) -> Profile:
        """Return the samples and frames that patterns leave, as on the command line.

        `patterns`: focus, ignore, hide, show, show_from, tagfocus, tagignore.
        """
        return _as_loaded(
            filtered(self, _options(patterns)).profile, self.label, self.path
        )

    def to_pprof(self, path: Path | None = None) -> bytes | None:
        """Return the profile as ``.pb.gz`` bytes, or write them to `path`."""
        return delivered(compress(encode(self)), path)

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
    ) -> dict[str, str]:
        """Return what Jupyter shows: a table, and its twin in text."""
        from pprofdiff.notebook import shown
        from pprofdiff.notebook.inputs import profile_card

        return shown(
            lambda: profile_card(self, self.label or self.path),
            repr(self),
            include,
            exclude,
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A diff in a few numbers: totals raw, in `unit`; `ratio` is scaled new/base."""

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
class Diff(Reported, PlottedProfiles, ProfileDiff):
    """What changed between two profiles, in one sample type.

    `functions`, `lines`, `files`, `packages`, `stacks`, `categories` and `blame` are
    DataFrames (see `diff.tables.Table.to_frame`); raw numbers are int64 in `unit`.
    """

    @property
    def summary(self) -> Summary:
        """Totals, mode, and how many functions are new or gone."""
        base, new = self.totals
        by = self.normalization
        status = self.table("functions").status()
        return Summary(
            name=self.name,
            sample_type=self.sample_type.type,
            unit=self.unit,
            mode=by.mode,
            base=base,
            new=new,
            delta=new - base,
            ratio=new * by.new_factor / (base * by.base_factor) if base else None,
            functions_new=int((status == 1).sum()),
            functions_gone=int((status == 2).sum()),
            warnings=tuple(caveat.text for caveat in self.warnings),
        )

    def top(self, n: int = 20, by: str = "flat") -> pd.DataFrame:
        """Return the `n` functions whose ``flat`` or ``cum`` changed most."""
        table = self.table("functions")
        order = table.order(_flat_or_cum(by))[:n]
        return table.to_frame().loc[[table.names[i] for i in order.tolist()]]

    def filter(self, **patterns: str) -> Diff:
        """Return the diff of what patterns leave of both sides (`Profile.filter`)."""
        options = _options(patterns)
        sides = [
            side(
                s.label,
                [Run(r.path, filtered(r.profile, options).profile) for r in s.runs],
            )
            for s in (self.base, self.new)
        ]
        return _as_diff(replace(self._plain(), base=sides[0], new=sides[1]))

    def normalize(self, *, work: tuple[float, float] | None = None) -> Diff:
        """Return the diff by operation done (base, new), or brought to base's total."""
        return _as_diff(
            compare(
                self.base,
                self.new,
                sample_type=self.sample_type.type,
                normalize=work is None,
                work=None if work is None else counted(work),
            )
        )

    @property
    def labels(self) -> pd.DataFrame:
        """By the samples' labels: one row a key and value, most changed first.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        key, value     of the label; value "" stands for all         string
                       samples without such a key
        base, new,     raw sums, in `unit`; 0 where a side has       int64
        delta          none
        status         both, new or gone                             categorical
        base_scaled,   per second, per operation … (see              float64
        new_scaled,    `summary`)
        delta_scaled
        z, noise       standard deviations; within chance (where     float64,
                       chance has a model)                           bool
        ============== ============================================= ============
        """
        from pprofdiff.analysis.profiles.labels import labels_frame

        return labels_frame(self)

    @property
    def comparison(self) -> Comparison:
        """The comparison by itself, as `pprofdiff.analysis.comparison` holds it."""
        base, new = (Side(s.label, s.runs) for s in (self.base, self.new))
        return Comparison(base, new, (self,))

    def to_csv(self, path: Path | None = None) -> str | None:
        """Return all functions as CSV, or write it to `path`."""
        return self._rendered(".csv", path)

    def to_pprof(self, path: Path | None = None) -> bytes | None:
        """Return the diff as a profile with ``pprof::base`` labels, or write it."""
        return delivered(renderer_for(".pb.gz")(self.report()), path)

    def _plain(self) -> ProfileDiff:
        return ProfileDiff(**{f.name: getattr(self, f.name) for f in fields(self)})


def compare_profiles(
    base: Sequence[Profile],
    new: Sequence[Profile],
    *,
    sample_type: str | int | None = None,
    normalize: bool = False,
    work: Work | None = None,
    patterns: Mapping[str, str] | None = None,
) -> Diff:
    """Return new minus base, each side's profiles merged; see `pprofdiff.diff`."""
    options = _options(dict(patterns or {}))
    sides = []
    for profiles, word in ((base, "base"), (new, "new")):
        runs = [Run(p.path, filtered(p, options).profile) for p in profiles]
        sides.append(side(profiles[0].label or word, runs))
    return _as_diff(
        compare(
            sides[0],
            sides[1],
            sample_type=sample_type,
            normalize=normalize,
            work=work,
        )
    )


def merged(
    profiles: Sequence[columns.Profile], label: str | None, path: str
) -> Profile:
    """Return profiles (at least one) as one that knows where it is from."""
    return _as_loaded(merge(profiles), label, path)


def _flat_or_cum(by: str) -> ValueColumn:
    for column in VALUE_COLUMNS:
        if by == column:
            return column
    raise UsageError(f"by={by!r}: it is 'flat' or 'cum'")


def _as_loaded(profile: columns.Profile, label: str | None, path: str) -> Profile:
    held = {f.name: getattr(profile, f.name) for f in fields(columns.Profile)}
    return Profile(**held, label=label, path=path)


def _as_diff(plain: ProfileDiff) -> Diff:
    return Diff(**{f.name: getattr(plain, f.name) for f in fields(ProfileDiff)})


def _options(patterns: dict[str, str]) -> Options:
    """Return options with these patterns; raises UsageError for other names."""
    unknown = sorted(set(patterns) - set(_PATTERNS))
    if unknown:
        raise UsageError(
            f"no pattern is called {unknown[0]!r}; there are: {', '.join(_PATTERNS)}"
        )
    return Options()._replace(**patterns)  # type: ignore[arg-type]
