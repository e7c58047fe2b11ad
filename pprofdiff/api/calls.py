"""What a notebook or script uses: `load`, `diff`, `compare` and `load_many`.

What is given may be a path, bytes, a file, or something loaded; what it holds decides
what comes back.

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
-14727616
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO, cast

from pprofdiff.analysis.gclogs.window import Span
from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.analysis.work import Work, counted, rated
from pprofdiff.api.benchmarks import Benchmarks, compare_outputs
from pprofdiff.api.builds import Builds
from pprofdiff.api.comparison import Comparison, Paths, compare_paths
from pprofdiff.api.logs import GCLog, as_gc_log, compare_gc_logs
from pprofdiff.api.profiles import Profile, compare_profiles, merged
from pprofdiff.api.tracediff import compare_traces
from pprofdiff.api.traces import Trace
from pprofdiff.errors import FormatError, IncompatibleProfilesError, UsageError
from pprofdiff.inputs import DEFAULT_MAX_SIZE, Source, read
from pprofdiff.inputs.intake import take
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model import benchmarks, gclogs
from pprofdiff.model.benchmarks import Load
from pprofdiff.model.profiles import profile as columns
from pprofdiff.units import printable

__all__ = ["compare", "diff", "load", "load_many"]

Loadable = str | os.PathLike[str] | bytes | BinaryIO
Loaded = Profile | Trace | GCLog | Benchmarks | Load
Side = Loadable | Loaded | Sequence[Loadable | Loaded]
Seconds = tuple[float | None, float | None]

_KINDS: dict[type, str] = {
    Profile: "a profile",
    Trace: "an execution trace",
    GCLog: "a GC log",
    Benchmarks: "benchmarks",
    Load: "a load generator's summary",
}


def load(source: Loadable, *, label: str | None = None) -> Any:  # noqa: ANN401
    """Return what a path or URL, bytes or a binary file hold.

    That is a `Profile`, several of one folder merged, wherever there is one; else an
    execution `Trace`; else the `GCLog`, the `Benchmarks` or the load generator's
    summary of a text. Raises FetchError or FormatError, in one line, where there is
    none, and IncompatibleProfilesError where a folder's profiles are of several kinds.

    >>> load("syncpool/base/cpu.pb.gz").top(1).index[0]
    'memeqbody'
    >>> load("syncpool/base/gctrace.log")
    <GCLog 'syncpool/base/gctrace.log': 72 of 72 cycles in ... s>
    """
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        comparison = read([name])
        label, sources = label or comparison.label, list(comparison.sources)
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
        _of_one_kind(profiles, name)
        return merged(profiles, label, name)
    for found in (s for s in sources if s.kind == "trace"):
        return _as_trace(found, label)
    for found in (s for s in sources if s.log is not None):
        logs = cast("Sequence[gclogs.GCLog | benchmarks.Benchmarks | Load]", found.log)
        return _as_log(next(log for log in logs if log is not None), label, found.path)
    raise FormatError(f"{name}: neither a profile, trace, GC log nor benchmark output")


def _of_one_kind(profiles: Sequence[columns.Profile], name: str) -> None:
    """Raise IncompatibleProfilesError where profiles are of several kinds."""
    kinds = dict.fromkeys(map(kind_name, profiles))
    if len(kinds) > 1:
        raise IncompatibleProfilesError(
            f"{printable(name)}: profiles of several kinds ({', '.join(kinds)}): load "
            "one file, or give both folders to pprofdiff.compare(base, new)"
        )


def _as_trace(source: Source, label: str | None) -> Trace:
    """Return the trace that a source holds."""
    from pprofdiff.loaders.traces import decode as decode_trace

    return Trace(decode_trace(source.content(), source.path), label, source.path)


def _as_log(
    log: gclogs.GCLog | benchmarks.Benchmarks | Load, label: str | None, path: str
) -> GCLog | Benchmarks | Load:
    """Return what a text holds, with where it is from."""
    if isinstance(log, gclogs.GCLog):
        return as_gc_log(log, label, path)
    return (
        Benchmarks(log, label, path) if isinstance(log, benchmarks.Benchmarks) else log
    )


def load_many(sources: Mapping[str, Loadable] | Sequence[Loadable]) -> Builds:
    """Return profiles of several builds, side by side, in the order given.

    A mapping names the builds; of a sequence, paths name them (without the parts that
    all share), or the labels of `Profile` objects do. Folders are merged. Raises
    UsageError where names or sample types do not fit together.

    >>> builds = load_many([f"versions/go1.{n}/cpu.pb.gz" for n in (21, 24, 27)])
    >>> builds.groups_scaled["gc"].div(1e9).round(2).to_dict()
    {'go1.21': 0.36, 'go1.24': 0.3, 'go1.27': 0.2}
    """
    if isinstance(sources, Mapping):
        named = list(sources.items())
    else:
        named = list(zip(_names(sources), sources, strict=True))
    profiles = []
    for name, source in named:
        loaded = _loaded(source)
        if not isinstance(loaded, Profile):
            raise UsageError(f"{name}: it is {_kind(loaded)}, and builds are profiles")
        profiles.append((str(name), loaded))
    return Builds.of(profiles)


def diff(  # noqa: PLR0913 - the options of a comparison, by keyword
    base: Side,
    new: Side,
    *,
    sample_type: str | int | None = None,
    normalize: bool = False,
    work: tuple[float, float] | None = None,
    rps: tuple[float, float] | None = None,
    window: Seconds | tuple[Seconds, Seconds] | None = None,
    **patterns: str,
) -> Any:  # noqa: ANN401 - which of four, the inputs say
    """Return new minus base: two profiles, traces, GC logs or outputs of benchmarks.

    Each side is what `load` takes or returns, or a list of it: profiles of a list are
    merged, benchmarks pooled, of traces the longest stands for the side, of logs the
    process with most collections. The result is a `Diff`, `TraceDiff`, `GCLogDiff` or
    `BenchmarksDiff`.

    `work` gives the operations that (base, new) did while measured, `rps` those they
    did a second. For profiles, `sample_type` is as ``-sample_index``, `normalize`
    brings new to the base's total, and `patterns` are focus, ignore, hide, show,
    show_from, tagfocus, tagignore. For GC logs, `window` is (from, to), seconds since
    the process started, None for an end that is open; or two of these, base's and
    new's. Raises UsageError or IncompatibleProfilesError where the two cannot be
    subtracted.
    """
    sides = [_several(given, word) for given, word in ((base, "base"), (new, "new"))]
    kind = _common_kind(sides[0], sides[1])
    profile_only = {"sample_type": sample_type, "normalize": normalize, **patterns}
    _fits(kind, {name for name, value in profile_only.items() if value}, {Profile})
    _fits(kind, {"window"} if window is not None else set(), {GCLog})
    done = _work(work, rps)
    _fits(kind, {"work" if work else "rps"} if done else set(), {Profile, Trace, GCLog})
    held: Any = sides
    if kind is Trace:
        return compare_traces(*held, work=done)
    if kind is GCLog:
        return compare_gc_logs(*held, spans=_spans(window), work=done)
    if kind is Benchmarks:
        return compare_outputs(*held)
    return compare_profiles(
        *held,
        sample_type=sample_type,
        normalize=normalize,
        work=done,
        patterns=patterns,
    )


def compare(
    base: Paths,
    new: Paths,
    *,
    normalize: bool = False,
    work: tuple[float, float] | None = None,
    rps: tuple[float, float] | None = None,
    window: Seconds | tuple[Seconds, Seconds] | None = None,
) -> Comparison:
    """Return everything that two folders, or lists of files, tell, as the command does.

    What lies there is told from its content and paired by kind. Options are as for
    `diff`. Raises UsageError where nothing pairs, FetchError or FormatError for what
    cannot be read.

    >>> both = compare("syncpool/base", "syncpool/new")
    >>> both
    <Comparison 'base' → 'new': cpu, allocs, ...
    >>> both["cpu"].name
    'cpu'
    >>> both.findings["id"][0]
    'gc-frequency'
    """
    return compare_paths(
        base, new, normalize=normalize, work=_work(work, rps), spans=_spans(window)
    )


def _several(given: Side, word: str) -> list[Loaded]:
    """Return what stands on one side, loaded."""
    alone = not isinstance(given, list | tuple)
    sources = [given] if alone else list(cast("Sequence[Any]", given))
    if not sources:
        raise UsageError(f"{word}: there is nothing on this side")
    return [_loaded(source) for source in sources]


def _loaded(source: Any) -> Loaded:  # noqa: ANN401 - whatever `load` takes or returns
    known: Loaded = source if type(source) in _KINDS else load(source)
    return known


def _kind(loaded: Loaded) -> str:
    """Return what something loaded is, and where from, in words."""
    path = getattr(loaded, "path", None)
    word = _KINDS[type(loaded)]
    return f"{word} ({printable(str(path))})" if path else word


def _common_kind(base: Sequence[Loaded], new: Sequence[Loaded]) -> type:
    """Return what both sides are; raise IncompatibleProfilesError if they differ."""
    kinds = {type(loaded) for loaded in (*base, *new)}
    if len(kinds) > 1:
        sides = "; ".join(
            f"{word} is {', '.join(dict.fromkeys(map(_kind, side)))}"
            for word, side in (("base", base), ("new", new))
        )
        raise IncompatibleProfilesError(f"{sides}: both must be of one kind")
    if kinds == {Load}:
        raise IncompatibleProfilesError(
            "load generators' summaries are not compared: give their operations a "
            "second as rps=(base, new)"
        )
    return kinds.pop()


def _fits(kind: type, names: set[str], kinds: set[type]) -> None:
    """Raise UsageError where an option means nothing for a kind of input."""
    if names and kind not in kinds:
        raise UsageError(f"{min(names)}= means nothing for {_KINDS[kind]}")


def _work(
    work: tuple[float, float] | None, rps: tuple[float, float] | None
) -> Work | None:
    if work is not None and rps is not None:
        raise UsageError("work= and rps= both say what was done: give one")
    if work is not None:
        return counted(work)
    return None if rps is None else rated(rps)


def _spans(
    window: Seconds | tuple[Seconds, Seconds] | None,
) -> tuple[Span | None, Span | None]:
    """Return each side's seconds."""
    if window is None:
        return None, None
    first, second = window
    if isinstance(first, tuple) and isinstance(second, tuple):
        return Span(*first), Span(*second)
    span = Span(cast("float | None", first), cast("float | None", second))
    return span, span


def _names(sources: Sequence[Loadable]) -> list[str]:
    """Return what tells sources apart: the parts of their paths that differ."""
    given = []
    for place, source in enumerate(sources, 1):
        label = getattr(source, "label", None)
        named = isinstance(source, str | os.PathLike)
        given.append(label or (str(source) if named else str(place)))
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
