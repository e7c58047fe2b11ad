"""`load`, `diff`, `compare` and `load_many`.

Inputs may be paths, bytes, files or loaded objects; the content decides the result's
type.

>>> d = diff("syncpool/base/cpu.pb.gz", "syncpool/new/cpu.pb.gz")
>>> d.categories.loc["gc.mark.assist", ["base", "new"]].to_dict()
{'base': 140000000, 'new': 1540000000}
>>> d.functions.query("status == 'gone'").empty
False
>>> logs = diff("syncpool/base/gctrace.log", "syncpool/new/gctrace.log")
>>> logs.figures.loc["stw_cpu_us", "fields"]
'S+T'
>>> t = diff("health-check/base/trace.out", "health-check/new/trace.out")
>>> int(t.latency.loc["p99", "delta_ns"])
-14717184
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO, TypedDict, Unpack, cast, overload

from msgspec.structs import replace

from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.settings import Settings, Span
from pprofdiff.analysis.work import Work, counted, rated
from pprofdiff.api.benchmarks import Benchmarks, BenchmarksDiff, LoadsDiff, LoadSummary
from pprofdiff.api.builds import Builds
from pprofdiff.api.comparison import Comparison, Paths, compare_paths
from pprofdiff.api.gclogs import GCLog, GCLogDiff
from pprofdiff.api.profiles import Diff, Profile, filters_of
from pprofdiff.api.reported import sources_named
from pprofdiff.api.shown import LoadedInput
from pprofdiff.api.traces import Trace, TraceDiff
from pprofdiff.errors import FormatError, IncompatibleProfilesError, UsageError
from pprofdiff.inputs import (
    DEFAULT_MAX_SIZE,
    Foreign,
    Input,
    SideInputs,
    displayed,
    read,
)
from pprofdiff.inputs.intake import take
from pprofdiff.inputs.sides import decoded
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.units import printable

Loadable = str | os.PathLike[str] | bytes | BinaryIO
Loaded = Profile | Trace | GCLog | Benchmarks | LoadSummary
AnyDiff = Diff | TraceDiff | GCLogDiff | BenchmarksDiff | LoadsDiff
Side = Loadable | Loaded | Sequence[Loadable | Loaded]
Seconds = tuple[float | None, float | None]
Pair = tuple[float, float]


class _Options(TypedDict, total=False):
    """All options of `diff`; `KINDS` says which of them apply to which kind."""

    sample_type: str | int | None
    normalize: bool
    work: Pair | None
    rps: Pair | None
    window: Seconds | tuple[Seconds, Seconds] | None
    pair_names: Mapping[str, str] | None
    pairing: bool
    focus: str
    ignore: str
    hide: str
    show: str
    show_from: str
    tagfocus: str
    tagignore: str


def load(source: Loadable, *, label: str | None = None) -> Loaded:
    """Load a path, URL, bytes or binary file.

    Returns a `Profile` if there is one (a folder's are merged), else an
    execution `Trace`, else the `GCLog`, `Benchmarks` or `LoadSummary` of a text. Raises
    FetchError or FormatError if there is nothing to load or a file of the folder is
    damaged, IncompatibleProfilesError if a folder's profiles are of several kinds; the
    message is one line.

    >>> load("syncpool/base/cpu.pb.gz").top(1).index[0]
    'memeqbody'
    >>> load("syncpool/base/gctrace.log")
    <GCLog 'syncpool/base/gctrace.log': 72 of 72 cycles in ... s>
    """
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        named = read([name])
        name = displayed(name)
        for entry in named.skipped:
            if entry.unread:
                raise FormatError(entry.reason)
    else:
        file = BytesIO(source) if isinstance(source, bytes) else source
        name = str(getattr(source, "name", "bytes"))
        named = SideInputs(None, _inputs_of(file, name))
    if not named.inputs:
        raise FormatError(
            f"{name}: neither a profile, trace, GC log nor benchmark output"
        )
    kind = _kind_named(named)
    # A folder is loaded completely or not at all.
    named = named._replace(
        inputs=tuple(replace(one, of_folder=False) for one in named.inputs)
    )
    captures = decoded(named, "", kinds=(kind,)).side.of(kind)
    return cast(
        "Loaded", resolve(KINDS[kind].loaded).of(captures, label or named.label, name)
    )


def _inputs_of(file: BinaryIO, name: str) -> tuple[Input, ...]:
    """Return a file's inputs, one per kind that it holds."""
    intake = take(file, name, DEFAULT_MAX_SIZE)
    return tuple(
        Input(name, None, name, intake.data, kind, scanned=intake.scanned.get(kind))
        for kind in intake.kinds
        if not isinstance(kind, Foreign)
    )


def _kind_named(named: SideInputs) -> KindId:
    """Return the kind to load: profile, else trace, else the first text's."""
    there = {one.kind for one in named.inputs}
    binary = (kind.id for kind in KINDS.values() if not kind.is_text)
    return next((kind for kind in binary if kind in there), named.inputs[0].kind)


def load_many(sources: Mapping[str, Loadable] | Sequence[Loadable]) -> Builds:
    """Load profiles of several builds, in the given order.

    The keys of a mapping name the builds. In a sequence, builds are named by their
    paths (without the parts they share) or by the labels of `Profile` objects. Folders
    are merged. Raises UsageError if names or sample types do not fit together.

    >>> builds = load_many([f"versions/go1.{n}/cpu.pb.gz" for n in (21, 24, 27)])
    >>> builds.groups_scaled["gc"].round(1).to_dict()  # % of each build's CPU
    {'go1.21': 18.3, 'go1.24': 16.3, 'go1.27': 10.4}
    """
    if isinstance(sources, Mapping):
        named = list(sources.items())
    else:
        named = list(zip(_names(sources), sources, strict=True))
    profiles = []
    for name, source in named:
        loaded = _loaded(source)
        if not isinstance(loaded, Profile):
            raise UsageError(f"{name}: load_many takes profiles, not {_noun(loaded)}")
        profiles.append((str(name), loaded))
    return Builds.of(profiles)


@overload
def diff(
    base: Profile | Sequence[Profile],
    new: Profile | Sequence[Profile],
    **options: Unpack[_Options],
) -> Diff: ...
@overload
def diff(
    base: Trace | Sequence[Trace],
    new: Trace | Sequence[Trace],
    **options: Unpack[_Options],
) -> TraceDiff: ...
@overload
def diff(
    base: GCLog | Sequence[GCLog],
    new: GCLog | Sequence[GCLog],
    **options: Unpack[_Options],
) -> GCLogDiff: ...
@overload
def diff(
    base: Benchmarks | Sequence[Benchmarks], new: Benchmarks | Sequence[Benchmarks]
) -> BenchmarksDiff: ...
@overload
def diff(
    base: LoadSummary | Sequence[LoadSummary], new: LoadSummary | Sequence[LoadSummary]
) -> LoadsDiff: ...
@overload
def diff(base: Side, new: Side, **options: Unpack[_Options]) -> AnyDiff: ...


def diff(  # noqa: PLR0913 - the options of a comparison, by keyword
    base: Side,
    new: Side,
    *,
    sample_type: str | int | None = None,
    normalize: bool = False,
    work: Pair | None = None,
    rps: Pair | None = None,
    window: Seconds | tuple[Seconds, Seconds] | None = None,
    pair_names: Mapping[str, str] | None = None,
    pairing: bool = True,
    **patterns: str,
) -> AnyDiff:
    """Return new minus base, for two profiles, traces, GC logs or benchmark outputs.

    Each side is what `load` takes or returns, or a list of it. Profiles in a list are
    merged, benchmarks pooled, and traces added up; of GC logs, the process with most
    cycles is used. The result is a `Diff`, `TraceDiff`, `GCLogDiff`, `BenchmarksDiff`
    or, of summaries of load generators, `LoadsDiff`.

    `work` is the number of operations of (base, new) during the measurement, `rps`
    their operations per second. For profiles, `sample_type` is like ``-sample_index``,
    `normalize` scales new to the base's total, and `patterns` are focus, ignore, hide,
    show, show_from, tagfocus, tagignore. For GC logs, `window` is (from, to) in seconds
    since the process started, None for an open end, or one such pair for each side. For
    profiles and traces, `pair_names` maps names of base's functions to new's (or
    patterns with one ``*`` each); without `pairing`, no other functions with different
    names are matched. Raises UsageError or IncompatibleProfilesError if the sides
    cannot be subtracted.
    """
    old, current = _several(base, "base"), _several(new, "new")
    kind = _common_kind(old, current)
    given = {
        "sample_type": sample_type is not None,
        "normalize": normalize,
        "work": work is not None,
        "rps": rps is not None,
        "window": window is not None,
        "pair_names": pair_names is not None,
        "pairing": not pairing,
        **dict.fromkeys(patterns, True),
    }
    filters = filters_of(patterns)
    settings = Settings(
        sample_type,
        normalize,
        _work(work, rps),
        _spans(window),
        tuple((pair_names or {}).items()),
        pairing,
    )
    useless = {name for name, is_given in given.items() if is_given}
    useless -= KINDS[kind].options
    if useless:
        raise UsageError(f"{min(useless)}= does not apply to {KINDS[kind].noun}")
    if filters:
        old, current = _filtered(old, patterns), _filtered(current, patterns)
    return cast("AnyDiff", resolve(KINDS[kind].diff)(old, current, settings))


def compare(  # noqa: PLR0913 - the options of a comparison, by keyword
    base: Paths,
    new: Paths,
    *,
    normalize: bool = False,
    work: Pair | None = None,
    rps: Pair | None = None,
    window: Seconds | tuple[Seconds, Seconds] | None = None,
    pair_names: Mapping[str, str] | None = None,
    pairing: bool = True,
    same_within: float = SAME_WITHIN,
    by: str = "",
    git: str = "",
    repo: str = "",
    source: str = "",
) -> Comparison:
    """Compare two folders, or lists of files, as the command line does.

    The content of each file decides its kind, and kinds are paired. Options are as for
    `diff`. Builds are the same if the outcome's figure differs by no more than
    `same_within`, a fraction of base, with its whole interval. `by` is the key of the
    sample label that separates units of work, such as ``endpoint``; "" looks for one.
    `git` is ``BASE..NEW``, the commits of both builds, in `repo` or the repository of
    the working directory; `source` is ``BASEDIR:NEWDIR``, folders with their source.
    With either, `Comparison.changed` has the changed lines behind each finding. A
    damaged file of a folder is left out and listed in `Comparison.unread`. Raises
    UsageError if nothing pairs, FetchError or FormatError if a file that was named
    explicitly cannot be read.

    >>> both = compare("syncpool/base", "syncpool/new")
    >>> both
    <Comparison 'base' → 'new': cpu, allocs, ...
    >>> both["cpu"].data.name
    'cpu'
    >>> both.findings["id"][0]
    'gc-frequency'
    """
    if not 0 < same_within < 1:
        raise UsageError("same_within= must be a fraction of base, such as 0.02")
    settings = Settings(
        None,
        normalize,
        _work(work, rps),
        _spans(window),
        tuple((pair_names or {}).items()),
        pairing,
        same_within=same_within,
        by=by,
        sources=sources_named((git, repo, source)),
    )
    return compare_paths(base, new, settings, (git, repo, source))


def _several(given: Side, word: str) -> list[Loaded]:
    alone = not isinstance(given, list | tuple)
    sources: list[Any] = [given] if alone else list(cast("Sequence[Any]", given))
    if not sources:
        raise UsageError(f"{word}: no inputs")
    return [_loaded(source) for source in sources]


def _loaded(source: Loadable | Loaded) -> Loaded:
    if isinstance(source, LoadedInput):
        return source
    return load(source)


def _filtered(side: Sequence[Loaded], patterns: Mapping[str, str]) -> list[Loaded]:
    """Return profiles with the patterns applied; only profiles take patterns."""
    return [cast("Profile", loaded).filter(**patterns) for loaded in side]


def _noun(loaded: Loaded) -> str:
    """Return the kind and path of a loaded object, as messages name it."""
    return f"{KINDS[loaded.kind].noun} ({printable(loaded.path)})"


def _common_kind(base: Sequence[Loaded], new: Sequence[Loaded]) -> KindId:
    """Return the common kind; raises IncompatibleProfilesError if kinds differ."""
    kinds = {loaded.kind for loaded in (*base, *new)}
    if len(kinds) > 1:
        sides = "; ".join(
            f"{word} is {', '.join(dict.fromkeys(map(_noun, side)))}"
            for word, side in (("base", base), ("new", new))
        )
        raise IncompatibleProfilesError(f"{sides}: both must be of one kind")
    kind = kinds.pop()
    if not KINDS[kind].diff:
        raise IncompatibleProfilesError(
            f"{KINDS[kind].plural} are not compared: give their operations a "
            "second as rps=(base, new)"
        )
    return kind


def _work(work: Pair | None, rps: Pair | None) -> Work | None:
    if work is not None and rps is not None:
        raise UsageError("work= and rps= exclude each other: give one")
    if work is not None:
        return counted(work)
    return None if rps is None else rated(rps)


def _spans(
    window: Seconds | tuple[Seconds, Seconds] | None,
) -> tuple[Span | None, Span | None]:
    if window is None:
        return None, None
    first, second = window
    if isinstance(first, tuple) and isinstance(second, tuple):
        return Span(*first), Span(*second)
    span = Span(cast("float | None", first), cast("float | None", second))
    return span, span


def _names(sources: Sequence[Loadable]) -> list[str]:
    """Return names for sources: the parts of their paths that differ."""
    given = []
    for place, source in enumerate(sources, 1):
        label = getattr(source, "label", None)
        named = isinstance(source, str | os.PathLike)
        given.append(label or (displayed(str(source)) if named else str(place)))
    parts = [os.path.normpath(name).split(os.sep) for name in given]
    while (
        len(parts) > 1 and min(map(len, parts)) > 1 and len({p[-1] for p in parts}) == 1
    ):
        parts = [part[:-1] for part in parts]
    while (
        len(parts) > 1 and min(map(len, parts)) > 1 and len({p[0] for p in parts}) == 1
    ):
        parts = [part[1:] for part in parts]
    return ["/".join(part) for part in parts]
