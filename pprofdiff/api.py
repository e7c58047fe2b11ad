"""What a notebook or script uses: `load`, `diff`, and the objects they return.

Nothing is changed in place: every method returns something new.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from pprofdiff.diff.bundle import BundleDiff
from pprofdiff.diff.compare import ProfileDiff, compare
from pprofdiff.diff.evidence import Evidence
from pprofdiff.diff.filters import filtered
from pprofdiff.diff.side import Run, side
from pprofdiff.diff.work import counted
from pprofdiff.errors import FormatError, UsageError
from pprofdiff.loaders.encode import compress, encode
from pprofdiff.loaders.pprof import decode
from pprofdiff.model import profile as columns
from pprofdiff.model.merge import merge
from pprofdiff.options import Options
from pprofdiff.report.files import replace_files
from pprofdiff.report.model import ReportModel, report_of
from pprofdiff.sources import DEFAULT_MAX_SIZE, Source, read
from pprofdiff.sources.intake import take

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.model.benchmark import Benchmarks, Load
    from pprofdiff.model.gclog import GCLog
    from pprofdiff.tracing import Trace

__all__ = ["Diff", "Profile", "Summary", "diff", "load"]

Text = TypeVar("Text", str, bytes)
Loadable = str | os.PathLike[str] | bytes | BinaryIO
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
    """A loaded profile: the columns of `model.profile.Profile`, and where from.

    ``new - base`` is ``diff(base, new)``: the direction is always new minus base.
    """

    label: str | None = None
    path: str = "profile"

    def __sub__(self, base: Profile) -> Diff:
        """Return what changed from base to this."""
        return diff(base, self)

    def filter(self, **patterns: str) -> Profile:
        """Return the samples and frames that patterns leave, as on the command line.

        `patterns`: focus, ignore, hide, show, show_from, tagfocus, tagignore.
        """
        return _as_loaded(
            filtered(self, _options(patterns)).profile, self.label, self.path
        )

    def to_pprof(self, path: str | os.PathLike[str] | None = None) -> bytes | None:
        """Return the profile as ``.pb.gz`` bytes, or write them to `path`."""
        return _delivered(compress(encode(self)), path)


Side = Loadable | Profile | Sequence[Loadable | Profile]


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
class Diff(ProfileDiff):
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
        if by not in ("flat", "cum"):
            raise UsageError(f"by={by!r}: it is 'flat' or 'cum'")
        table = self.table("functions")
        order = table.order(by)[:n]
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

    def report(self) -> ReportModel:
        """Return the report that writers take."""
        base, new = (Evidence(s.label, s.runs) for s in (self.base, self.new))
        return report_of(BundleDiff(base, new, (self,)))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the report as JSON (schema ``pprofdiff/1``), or write it to `path`."""
        from pprofdiff.report.json import render

        return _delivered(render(self.report()), path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return all functions as CSV, or write it to `path`."""
        from pprofdiff.report.csv import render

        return _delivered(render(self.report()), path)

    def to_pprof(self, path: str | os.PathLike[str] | None = None) -> bytes | None:
        """Return the diff as a profile with ``pprof::base`` labels, or write it."""
        from pprofdiff.report.pprof import render

        return _delivered(render(self.report()), path)

    def to_text(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the report that the command line prints, or write it to `path`."""
        from pprofdiff.report.plain import render
        from pprofdiff.report.text import blocks

        return _delivered(render(blocks(self.report())), path)

    def _plain(self) -> ProfileDiff:
        return ProfileDiff(**{f.name: getattr(self, f.name) for f in fields(self)})


def load(
    source: Loadable, *, label: str | None = None
) -> Profile | Trace | GCLog | Benchmarks | Load:
    """Return what a path or URL, bytes or a binary file hold.

    That is a `Profile`, several of one folder merged, wherever there is one; else an
    execution `Trace`; else the GC log, the benchmarks or the load generator's summary
    of a text. Raises FetchError or FormatError, in one line, where there is none.
    """
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        bundle = read([name])
        label, sources = label or bundle.label, list(bundle.sources)
    else:
        file = BytesIO(source) if isinstance(source, bytes) else source
        name = str(getattr(source, "name", "bytes"))
        held = take(file, name, DEFAULT_MAX_SIZE)
        sources = [
            Source(name, None, name, held.data, kind, log=held.log)
            for kind in held.kinds
        ]
    profiles = [decode(s.content(), s.path) for s in sources if s.kind == "profile"]
    if profiles:
        return _as_loaded(merge(profiles), label, name)
    for found in (s for s in sources if s.kind == "trace"):
        return _as_trace(found, label)
    for log in (s.log for s in sources if s.log is not None):
        return cast("GCLog | Benchmarks | Load", next(filter(None, log)))
    raise FormatError(f"{name}: neither a profile, trace, GC log nor benchmark output")


def _as_trace(source: Source, label: str | None) -> Trace:
    """Return the trace that a source holds."""
    from pprofdiff.loaders.trace import decode as decode_trace
    from pprofdiff.tracing import Trace

    return Trace(decode_trace(source.content(), source.path), label, source.path)


def _profile(source: Loadable | Profile) -> Profile:
    """Return the profile that something is or holds."""
    loaded = source if isinstance(source, Profile) else load(source)
    if not isinstance(loaded, Profile):
        name = source if isinstance(source, str) else getattr(source, "name", "bytes")
        raise FormatError(f"{name}: there is no pprof profile in it")
    return loaded


def diff(
    base: Side,
    new: Side,
    *,
    sample_type: str | int | None = None,
    normalize: bool = False,
    work: tuple[float, float] | None = None,
    **patterns: str,
) -> Diff:
    """Return new minus base; a list on a side is merged.

    `sample_type` is as ``-sample_index``; `normalize` brings new to the base's total;
    `work` gives the operations that (base, new) did; `patterns` are focus, ignore,
    hide, show, show_from, tagfocus, tagignore. Raises UsageError or
    IncompatibleProfilesError where the two cannot be subtracted.
    """
    options = _options(patterns)
    sides = []
    for given, word in ((base, "base"), (new, "new")):
        loaded = [_profile(x) for x in _several(given)]
        if not loaded:
            raise UsageError(f"{word}: there is no profile on this side")
        runs = [Run(p.path, filtered(p, options).profile) for p in loaded]
        sides.append(side(loaded[0].label or word, runs))
    return _as_diff(
        compare(
            sides[0],
            sides[1],
            sample_type=sample_type,
            normalize=normalize,
            work=None if work is None else counted(work),
        )
    )


def _several(given: Side) -> Sequence[Loadable | Profile]:
    """Return what stands on one side as a sequence."""
    if isinstance(given, list | tuple):
        return given
    return [cast("Loadable | Profile", given)]


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


def _delivered(data: Text, path: str | os.PathLike[str] | None) -> Text | None:
    """Return data, or write it to `path` and return None, as pandas does."""
    if path is None:
        return data
    raw = data if isinstance(data, bytes) else data.encode()
    replace_files([(os.fspath(path), raw)])
    return None
